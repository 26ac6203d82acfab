"""From an ONNX model to a graph."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np
import onnx

from .. import te
from ..errors import CompileError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..graph import Graph, GraphBuilder, Model, TensorType, Value, compile_graph
from ..messages.progress import progress
from ..target import Target
from ..te import Var
from . import converters as converters
from .dtypes import dtype_name
from .load import initializers_of, load_model
from .narrow import NARROW, Narrow
from .scope import Scope

__all__ = ["compile_onnx", "import_onnx"]


def compile_onnx(
    model: Any, target: Target | str | None = "cpu", constants: Mapping[str, np.ndarray] | None = None,
    dynamic_shapes: Mapping[str, Mapping[int, Any]] | None = None, without: Iterable[str] = (),
) -> Model:  # fmt: skip
    """Compiles an ONNX `model`, as `tw.compile` does: `import_onnx` with `constants` and `dynamic_shapes`, then
    `tilewright.graph.compile_graph` for `target`, `without` some passes."""
    return compile_graph(import_onnx(model, constants, dynamic_shapes), target, without)


@progress("reading the model")
def import_onnx(
    model: Any, constants: Mapping[str, np.ndarray] | None = None,
    dynamic_shapes: Mapping[str, Mapping[int, Any]] | None = None, tf32: Collection[str] = (),
) -> Graph:  # fmt: skip
    """The graph of an ONNX model.

    Parameters
    ----------
    model
        An `onnx.ModelProto`, or the path of a file.
    constants
        By input, its value, where shapes depend on it. The compiled model takes the input all the same, and is right
        for this value alone.
    dynamic_shapes
        By input and dimension, what the extent is: a number, a `te.var`, or a name, which makes it symbolic. A name
        given twice is one extent.
    tf32
        Which of "matmul" and "conv" tensor cores may multiply in tf32 where they are of float32.

    Raises
    ------
    TypeError, ValueError
        Where `model` is neither; where `constants` or `dynamic_shapes` name what is no input.
    CompileError
        Where the model is damaged, or has what is not supported: the message lists all of it.
    """
    path: str | None = None
    if isinstance(model, (str, os.PathLike)):
        path = str(os.fspath(model))  # pyright: ignore[reportUnknownArgumentType]
        model = load_model(path)
    if not isinstance(model, onnx.ModelProto):
        raise TypeError(f"expected an onnx.ModelProto or a path, got {type(model).__name__}")
    return _Import(model, path, dict(constants or {}), dynamic_shapes or {}, tf32).graph()


class _Import:
    def __init__(
        self, model: onnx.ModelProto, path: str | None, constants: dict[str, np.ndarray], dynamic: Mapping[str, Any],
        tf32: Collection[str],
    ) -> None:  # fmt: skip
        self._tf32 = tf32
        self._model, self._constants, self._dynamic = model, constants, dynamic
        self._arrays = initializers_of(model, path)
        self._symbols: dict[str, Var] = {}
        self._names: dict[str, Var] = {}
        self._stored: dict[str, str] = {}

    def graph(self) -> Graph:
        proto = self._model.graph
        inputs = [one for one in proto.input if one.name not in self._arrays]
        names = [one.name for one in inputs]
        for what, given in (("constants", self._constants), ("dynamic_shapes", self._dynamic)):
            unknown = [name for name in given if name not in names]
            if unknown:
                raise ValueError(f"{what}: expected names of inputs ({', '.join(names)}), got {', '.join(unknown)}")
        types = [(one.name, self._type(one)) for one in inputs]
        name = "".join(c if c.isalnum() and c.isascii() else "_" for c in proto.name) or "main"
        name = name if name[0].isalpha() else f"main_{name}"
        opsets = {"" if one.domain == "ai.onnx" else one.domain: one.version for one in self._model.opset_import}
        functions = {(one.domain, one.name): one for one in self._model.functions}
        with GraphBuilder(name, types, self._symbols, self._tf32) as builder:
            scope = Scope(builder, opsets, functions=functions)
            for each, value in builder.inputs.items():
                if each in self._stored:
                    value = Narrow(value.value, value.type, self._stored[each])
                known = self._constants.get(each)
                scope.put_input(each, value, None if known is None else np.asarray(known))
            scope.add_initializers(proto, self._arrays)
            scope.run(proto.node)
            outputs: list[tuple[str, Value]] = []
            for one in proto.output:
                if not scope.errors and scope.sequence(one.name) is not None:
                    raise CompileError(
                        f"output {one.name!r}: expected a tensor, got a sequence, which no function returns",
                        stage="graph",
                    )
                if not scope.errors:
                    outputs.append((one.name, scope.tensor(one.name)))
            if scope.errors:
                raise CompileError("\n".join(dict.fromkeys(scope.errors)), stage="graph")
            stored = self._stored | {each: value.stored for each, value in outputs if isinstance(value, Narrow)}
            return replace(builder.finish(outputs), stored=stored)

    def _type(self, info: Any) -> TensorType:
        kind = info.type
        if kind.WhichOneof("value") != "tensor_type":
            raise CompileError(
                f"input {info.name!r}: expected a tensor, got {kind.WhichOneof('value') or 'no type'}", stage="graph"
            )
        tensor = kind.tensor_type
        try:
            dtype = dtype_name(tensor.elem_type)
        except CompileError as error:
            raise CompileError(f"input {info.name!r}: {error}", stage="graph") from None
        if dtype in NARROW:
            self._stored[info.name] = dtype
            dtype = "uint8"
        if not tensor.HasField("shape"):
            if info.name in self._constants:
                return TensorType(np.asarray(self._constants[info.name]).shape, dtype)
            raise CompileError(f"input {info.name!r}: expected a shape, got none", stage="graph")
        rank, given = len(tensor.shape.dim), self._dynamic.get(info.name, {})
        for d in given:
            if not isinstance(d, int) or not 0 <= d < rank:
                raise ValueError(
                    f"dynamic_shapes: input {info.name!r}: expected a dimension below {rank}, its rank, got {d!r}"
                )
        extents = [
            self._given(info.name, d, given[d]) if d in given else self._extent(info.name, d, one)
            for d, one in enumerate(tensor.shape.dim)
        ]
        for extent in extents:
            if isinstance(extent, Var):
                self._symbols.setdefault(extent.name, extent)
        return TensorType(tuple(extents), dtype)

    def _given(self, name: str, d: int, extent: Any) -> int | Var:
        if isinstance(extent, str) and extent.isidentifier():
            return self._names.setdefault(extent, te.var(extent))
        if isinstance(extent, Var):
            return self._names.setdefault(extent.name, copy(extent))
        if isinstance(extent, int) and not isinstance(extent, bool) and extent >= 0:
            return extent
        raise ValueError(
            f"dynamic_shapes: input {name!r}, dimension {d}: expected a number of at least 0, a name or a te.var, got "
            f"{extent!r}"
        )

    def _extent(self, name: str, d: int, dim: Any) -> int | Var:
        if dim.WhichOneof("value") == "dim_value" and dim.dim_value >= 0:
            return dim.dim_value
        text = dim.dim_param if dim.WhichOneof("value") == "dim_param" else ""
        symbol = "".join(c if c.isalnum() and c.isascii() else "_" for c in text) or f"{name}_{d}".replace(".", "_")
        symbol = symbol if symbol.isidentifier() else f"n_{symbol}"
        symbol = "".join(c if c.isalnum() and c.isascii() else "_" for c in symbol)
        if symbol not in self._symbols:
            self._symbols[symbol] = te.var(symbol)
        return self._symbols[symbol]
