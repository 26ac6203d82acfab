"""`tw.compile`: a whole model becomes one function."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .errors import TilewrightTypeError as TypeError
from .errors import TilewrightValueError as ValueError
from .runtime.device import cuda
from .target import Target

if TYPE_CHECKING:
    from .graph import Model

__all__ = ["compile"]


def compile(
    model: Any,
    example_inputs: Sequence[Any] | Mapping[str, Any] | None = None,
    target: Target | str | None = None,
    dynamic_shapes: Any = None,
    *,
    constants: Mapping[str, Any] | None = None,
    without: Iterable[str] = (),
    calibration: Sequence[Any] | None = None,
    quantized: str = "int8",
    weights: str | None = None,
    cuda_graphs: bool = True,
    libraries: Sequence[str] | Mapping[str, str | os.PathLike[str]] = (),
    database: str | os.PathLike[str] | None = None,
    precision: str | None = None,
) -> Model:
    """Compiles a whole model to one function.

    Parameters
    ----------
    model
        A ``torch.nn.Module``, a ``torch.export.ExportedProgram``, an ``onnx.ModelProto``, the path of an .onnx file, or
        a `tilewright.graph.Graph`.
    example_inputs
        For a module the arguments of its ``forward``: a tuple, or a dict of arguments by name. The others do not need
        them: their inputs have types.
    target
        "cpu", "sim", "cuda" or a `Target`, as of `tw.build`.
    dynamic_shapes
        Of ONNX, by input and dimension, what the extent is: a number, or a name or `te.var`, which make it symbolic:
        ``{"x": {0: "batch"}}``. Of a module, what torch.export takes, with names and `te.var`s for dimensions, too.
    constants
        Of ONNX, by input, its value, where shapes depend on it. The compiled model is for this value alone.
    without
        Passes on the graph that are left out, of `tilewright.graph.PASSES`.
    calibration
        Inputs of calls, each a tuple or a dict: matmuls and convolutions by weights are computed in 8 bits, with scales
        from these calls, as `tilewright.graph.quantize_graph` does it. The calls run on the GPU for target cuda where
        there is one, else on the processor.
    quantized
        The type of the operands that are quantised with `calibration`, "int8" or "float8_e4m3fn".
    weights
        "int4" stores the weights of matmuls in four bits, with a scale for each 128 elements along K, as
        `tilewright.graph.quantize_weights` does it.
    cuda_graphs
        For target cuda, whether calls launch their kernels as CUDA graphs; False leaves out the pass `form-cuda-graph`.
    libraries
        For target cuda, libraries that compute the groups for which `database` says that they are faster:
        ``["cublaslt"]``, or ``{"cublaslt": "/path/to/libcublasLt.so.13"}``. A library is found at run time. Where it
        is missing, or returns an error, the group's own kernel runs.
    database
        The file that `Model.tune_libraries` writes.
    precision
        How matmuls and convolutions of float32 are multiplied on a GPU. "tf32" lets tensor cores round factors to tf32,
        with 10 bits behind the point; sums stay in float32. "ieee" is float32 throughout. By default, models of PyTorch
        follow its settings: ``torch.set_float32_matmul_precision``, and ``torch.backends.cudnn.allow_tf32``, which is
        on unless you change it. ONNX models are "ieee" by default. A Graph takes none: its operators have theirs.

    Returns
    -------
    Model
        Call it with arrays or tensors: ``compiled(x)``. ``compiled.ir("graph")`` is the model as IR,
        ``compiled.groups`` says what is computed together and why, ``compiled.plan`` where each intermediate result
        lies.

    Raises
    ------
    TypeError, ValueError
        Where an argument is not one of those above.
    CompileError
        Where the model has what is not supported: all of it is listed, by the names of its nodes.
    ImportError
        Where the package is missing that reads such models.

    >>> import onnx, numpy as np
    >>> x = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, (3,))
    >>> y = onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (3,))
    >>> relu = onnx.helper.make_node("Relu", ["x"], ["y"], name="relu")
    >>> model = onnx.helper.make_model(onnx.helper.make_graph([relu], "small", [x], [y]))
    >>> compiled = compile(model, target="cpu")
    >>> compiled(np.array([-1, 0, 2], np.float32))
    array([0., 0., 2.], dtype=float32)
    """
    from .graph import Graph, compile_graph, quantize_graph, quantize_weights

    if weights not in (None, "int4"):
        raise ValueError(f"expected weights to be None or 'int4', got {weights!r}")
    if precision not in (None, "ieee", "tf32"):
        raise ValueError(f"expected a precision of 'ieee' or 'tf32', or None, got {precision!r}")
    tf32 = ("matmul", "conv") if precision == "tf32" else ()

    def compiled(graph: Graph) -> Model:
        if calibration is not None:
            where = Target.of(target)
            runs = where.kind == "cuda" and cuda().exist
            graph = quantize_graph(graph, calibration, to=quantized, target=where if runs else "cpu")
        if weights is not None:
            graph = quantize_weights(graph)
        off = [*without, *(() if cuda_graphs else ("form-cuda-graph",))]
        return compile_graph(graph, target, off, libraries=libraries, database=database)

    if isinstance(model, Graph):
        if precision is not None:
            raise ValueError(f"precision: expected none with a Graph, whose operators have theirs, got {precision!r}")
        return compiled(model)
    if isinstance(model, (str, os.PathLike)) or type(model).__module__.split(".")[0] == "onnx":
        from .onnx import import_onnx

        return compiled(import_onnx(model, constants, dynamic_shapes, tf32))
    if _is_of_torch(model):
        from .torch import import_torch, tf32_of
        from .torch.structure import structure_of

        if constants is not None:
            raise ValueError("constants: expected none with a model of PyTorch, whose example inputs decide shapes")
        tf32 = tf32_of(target) if precision is None else tf32
        made = compiled(import_torch(model, example_inputs, dynamic_shapes, tf32))
        made.structure = structure_of(model, example_inputs, len(made.inputs))
        return made
    raise TypeError(
        "expected a torch.nn.Module, an ExportedProgram, an onnx.ModelProto, the path of an .onnx file or a Graph, got "
        f"{type(model).__name__}"
    )


def _is_of_torch(model: Any) -> bool:
    """Whether it is a module or an exported program; who has one has imported torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, (torch.nn.Module, torch.export.ExportedProgram))
