"""From a module or an exported program of PyTorch to a graph."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from ..errors import CompileError
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..graph import Graph, Model, compile_graph
from ..guards import is_listed, is_mapping
from ..messages.progress import progress
from ..target import Target
from ..te import Var
from .decompositions import decompositions
from .extents import is_decided_by_data
from .importer import import_fx
from .in_place import with_copies, without_writes
from .precision import tf32_of
from .structure import bound_to, given_by, structure_of

__all__ = ["compile_torch", "import_torch"]

_RENORM = "aten.embedding_renorm.default"
_TRACING = threading.Lock()  # torch.export fails where another thread exports
_Range = tuple[int, int | None, int]
"""How small and how large an extent may be, and what divides it."""


def compile_torch(
    model: Any, example_inputs: Sequence[Any] | Mapping[str, Any] | None = None, target: Target | str | None = "cpu",
    dynamic_shapes: Any = None, without: Iterable[str] = (),
) -> Model:  # fmt: skip
    """Compiles a `model` of PyTorch, as `tw.compile` does: `import_torch` with `example_inputs` and `dynamic_shapes`,
    then `tilewright.graph.compile_graph` for `target`, `without` some passes."""
    graph = import_torch(model, example_inputs, dynamic_shapes, tf32_of(target))
    made = compile_graph(graph, target, without)
    made.structure = structure_of(model, example_inputs, len(made.inputs))
    return made


@progress("reading the model")
def import_torch(
    model: Any, example_inputs: Sequence[Any] | Mapping[str, Any] | None = None, dynamic_shapes: Any = None,
    tf32: Collection[str] = (),
) -> Graph:  # fmt: skip
    """The graph of a model of PyTorch.

    Parameters
    ----------
    model
        A `torch.nn.Module`, which torch.export exports, or a `torch.export.ExportedProgram`.
    example_inputs
        The arguments of the module's `forward`, a tuple, or a dict of those by name. An exported program has its own.
    dynamic_shapes
        As of torch.export; by argument and dimension a `torch.export.Dim`, or a name for the extent, or a `te.var`.
    tf32
        Which of "matmul" and "conv" tensor cores may multiply in tf32 where they are of float32.

    Raises
    ------
    TypeError, ValueError, CompileError
        For other arguments; for operators that are not supported: all of them are listed, with their source lines.
    """
    ranges: dict[str, _Range] = {}
    arguments: dict[str, Any] = {}
    if isinstance(model, torch.export.ExportedProgram):
        if dynamic_shapes:
            raise ValueError("expected no dynamic_shapes with an exported program, which has its own")
        program = model
    elif isinstance(model, torch.nn.Module):
        if example_inputs is None or isinstance(example_inputs, torch.Tensor):
            got = "none" if example_inputs is None else "a tensor"
            raise TypeError(f"example_inputs: expected a tuple of the arguments of {type(model).__name__}, got {got}")
        ranges = dict(_ranges(dynamic_shapes))
        dynamic_shapes = _dimensions(dynamic_shapes, {})
        with _TRACING:
            program = _functional(model, *given_by(example_inputs), dynamic_shapes)
        if dynamic_shapes:
            unnamed, named = given_by(example_inputs)
            arguments = named or bound_to(model, unnamed, {})
    else:
        raise TypeError(f"expected a torch.nn.Module or an ExportedProgram, got {type(model).__name__}")
    name = type(model).__name__ if isinstance(model, torch.nn.Module) else "exported"
    if program is model:
        with _TRACING:
            program = _decomposed(program, name)
    return _of_program(program, name, _names(program, dynamic_shapes, arguments), ranges, tf32)


def _functional(
    module: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], dynamic_shapes: Any
) -> torch.export.ExportedProgram:
    """A program of the operators that have converters, of a module.

    PyTorch exports what is before autograd. Where that fails, as it does of `torch.func.grad`, it exports what autograd
    makes.
    """
    first: CompileError | None = None
    functorch: Any = importlib.import_module("torch._C._functorch")
    depth = functorch.get_dynamic_layer_stack_depth()
    for is_before in (True, False):
        try:
            program = _exported(module, inputs, named, dynamic_shapes, is_before)
            return _decomposed(program, type(module).__name__)
        except CompileError as error:
            first = first or error
            functorch.pop_dynamic_layer_stack_and_undo_to_depth(depth)  # an error leaves its layers there
    assert first is not None
    raise first


def _decomposed(program: torch.export.ExportedProgram, name: str) -> torch.export.ExportedProgram:
    """A program of the operators that have converters."""
    try:
        return program.run_decompositions(decompositions())
    except Exception as error:
        # PyTorch cannot always make a function of a write to a view, nor of a loop that reads a tensor twice.
        if (functional := without_writes(program) or with_copies(program)) is not None:
            return _decomposed(functional, name)
        raise CompileError(f"{name}: PyTorch does not decompose it: {error}", stage="graph") from error


def _bounds(
    program: torch.export.ExportedProgram, names: Mapping[str, str], given: Mapping[str, _Range]
) -> dict[str, _Range]:
    """By symbol of the program, how small and how large it may be: a call with another extent is refused.

    PyTorch traces every symbol as 2 or more, and 0 and 1 are right, too, unless the user's own dimension, `given` by
    its name, says otherwise.
    """
    ranges: dict[Any, Any] = dict(program.range_constraints)  # pyright: ignore[reportUnknownArgumentType]
    found: dict[str, _Range] = {
        str(symbol): (
            0 if is_decided_by_data(symbol) or one.lower <= 2 else int(one.lower),
            int(one.upper) if one.upper.is_Integer else None,
            1,
        )
        for symbol, one in ranges.items()
    }
    for symbol, name in names.items():
        if name in given:
            found[symbol] = _both(found.get(symbol, (0, None, 1)), given[name])
    return found


def _both(a: _Range, b: _Range) -> _Range:
    """The extents that are in a range and in another, which may say what divides them."""
    upper = [one for one in (a[1], b[1]) if one is not None]
    return max(a[0], b[0]), min(upper, default=None), b[2]


def _ranges(spec: Any) -> Iterator[tuple[str, _Range]]:
    """By name of a dimension how small and how large it may be, and what divides it."""
    if isinstance(spec, Var):
        yield str(spec.name), (spec.minimum or 0, spec.maximum, spec.divisible_by)
    elif isinstance(spec, torch.export.Dim):
        least: Any = getattr(spec, "min", 0)
        most: Any = getattr(spec, "max", None)
        yield str(getattr(spec, "__name__", "")), (least, most if isinstance(most, int) else None, 1)
    elif is_mapping(spec) or is_listed(spec):
        for one in spec.values() if is_mapping(spec) else spec:
            yield from _ranges(one)


def _dimensions(spec: Any, known: dict[str, Any]) -> Any:
    """What torch.export takes of dynamic shapes in which names and variables stand for dimensions."""
    if isinstance(spec, (Var, str)):
        name = str(spec.name) if isinstance(spec, Var) else spec
        least, most = (spec.minimum or 0, spec.maximum) if isinstance(spec, Var) else (0, None)
        # PyTorch traces extents from 2 on.
        return known.setdefault(name, torch.export.Dim(name, min=least if least > 2 else None, max=most))
    if is_mapping(spec):
        return {key: _dimensions(one, known) for key, one in spec.items()}
    if is_listed(spec):
        return type(spec)(_dimensions(one, known) for one in spec)
    return spec


def _exported(
    module: torch.nn.Module, inputs: tuple[Any, ...], named: dict[str, Any], dynamic_shapes: Any, is_before: bool
) -> torch.export.ExportedProgram:
    """The program of a module: of the operators before autograd, or of those that it makes."""
    apart, named = _apart((inputs, named), {id(one) for one in (*module.parameters(), *module.buffers())})
    try:
        with torch.no_grad():
            if is_before:
                return torch.export.export(module, apart, named, dynamic_shapes=dynamic_shapes, strict=False)
            export: Any = importlib.import_module("torch.export._trace")._export
            return export(module, apart, named, dynamic_shapes=dynamic_shapes, strict=False, pre_dispatch=False)
    except Exception as error:
        raise CompileError(
            f"{type(module).__name__}: torch.export does not export it: {error}", stage="graph"
        ) from error  # fmt: skip


def _apart(inputs: tuple[Any, ...], taken: set[int]) -> tuple[Any, ...]:
    """Inputs each of which is a tensor of its own. PyTorch takes two that are one tensor for the same in every call."""

    def own(x: torch.Tensor) -> torch.Tensor:
        if id(x) in taken:
            return x.detach()
        taken.add(id(x))
        return x

    return tree_map_only(torch.Tensor, own, inputs)


def _of_program(
    program: torch.export.ExportedProgram, name: str, names: Mapping[str, str], ranges: Mapping[str, _Range],
    tf32: Collection[str],
) -> Graph:  # fmt: skip
    signature = program.graph_signature
    # An embedding with rows of bounded norm writes them, and each call computes them again.
    bounded = {str(node) for node in program.graph.nodes if str(node.meta.get("original_aten")) == _RENORM}
    written = [
        *signature.buffers_to_mutate.values(), *signature.user_inputs_to_mutate.values(),
        *(place for node, place in signature.parameters_to_mutate.items() if node not in bounded),
    ]  # fmt: skip
    if written:
        raise CompileError(
            f"{name}: expected a model that writes to none of its parameters, buffers and inputs, got writes to "
            f"{', '.join(written)}: call eval() where the model is trained, or call the model "
            "once before where its first call prepares them",
            stage="graph",
        )
    held: dict[str, Any] = {}
    for each, place in signature.inputs_to_parameters.items():
        held[each] = place, program.state_dict[place]
    for each, place in signature.inputs_to_buffers.items():
        kept = program.state_dict if place in program.state_dict else program.constants
        held[each] = place, kept[place]
    for each, place in signature.inputs_to_lifted_tensor_constants.items():
        held[each] = place, program.constants[place]
    outputs = [str(one) for one in signature.user_outputs if isinstance(one, str)]
    bounds = _bounds(program, names, ranges)
    return import_fx(program.graph_module, name, held, outputs, names, bounds=bounds, tf32=tf32)


def _of_tensors(arguments: Any, spec: Any) -> Iterator[Any]:
    """What dynamic shapes say of each tensor among arguments, in their order."""
    if isinstance(arguments, torch.Tensor):
        yield spec
    elif is_mapping(arguments):
        specs = [spec.get(key) for key in arguments] if is_mapping(spec) else spec or [None] * len(arguments)
        for one, own in zip(arguments.values(), specs):
            yield from _of_tensors(one, own)
    elif is_listed(arguments):
        for one, own in zip(arguments, spec if is_listed(spec) else [None] * len(arguments)):
            yield from _of_tensors(one, own)


def _names(program: torch.export.ExportedProgram, dynamic_shapes: Any, arguments: Mapping[str, Any]) -> dict[str, str]:
    """By symbol of the program, the name that its dimension was given."""
    names: dict[str, str] = {}
    held = program.graph_signature.user_inputs
    inputs = [node for node in program.graph.nodes if node.op == "placeholder" and node.name in held]
    inputs = [node for node in inputs if isinstance(node.meta.get("val"), torch.Tensor)]
    for node, spec in zip(inputs, _of_tensors(arguments, dynamic_shapes)):
        value = node.meta.get("val")
        dims = spec.items() if is_mapping(spec) else enumerate(spec or ())
        for d, dim in dims:
            name = getattr(dim, "__name__", None)
            if name and isinstance(value, torch.Tensor) and isinstance(value.shape[d], torch.SymInt):
                size: Any = value.shape[d]
                names.setdefault(str(size.node.expr), name)
    return names
