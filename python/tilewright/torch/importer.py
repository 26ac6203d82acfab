"""From a module of FX, whose calls are ATen's, to a graph."""

from __future__ import annotations

import operator
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx import GraphModule, Node

from ..errors import CompileError, TilewrightError
from ..graph import Graph, GraphBuilder, TensorType, Value
from ..graph.random import RandomNumbers
from ..graph.torch_tensors import array_of
from ..guards import is_listed
from ..te import Expr, Var
from . import converters as converters
from . import linear_algebra
from .call import CONVERTERS, Call, of_shape, real_dtype, refused, whole
from .control import CONTROL, Known
from .converters.complex_numbers import Pair, convert_complex, joined
from .converters.complex_numbers import parted as parts_of
from .dtypes import dtype_name
from .equal_counts import unite_counts
from .extents import Extents, SymbolicFloat, guards_of, is_loose
from .orders import order_of

__all__ = ["import_fx", "is_random", "label_of", "refusals"]

_SEED = "random seed"
_NUMBERS = (torch.ops.aten.item.default, torch.ops.aten._local_scalar_dense.default)
_with_effects: Any = torch.ops.higher_order.with_effects
_TORCH = os.path.dirname(os.path.abspath(torch.__file__)) + os.sep
_FRAME = re.compile(r'File "(.*?)", line (\d+)')


def import_fx(
    module: GraphModule, name: str, held: Mapping[str, tuple[str, Any]], outputs: Sequence[str] | None = None,
    names: Mapping[str, str] | None = None, seeded: bool = False, parted: bool = False,
    bounds: Mapping[str, tuple[int, int | None, int]] | None = None, tf32: Collection[str] = (),
    movable: Collection[str] = (),
) -> Graph:  # fmt: skip
    """The graph of a module of FX whose calls are ATen's, such as `compile_fx` gets.

    Parameters
    ----------
    module
        The module; each node has a value with shapes and types in `meta["val"]`.
    name
        The function's name.
    held
        By placeholder, a weight's name and its tensor. The others are the inputs.
    outputs
        The names of nodes that are outputs; where they are left out, those that are returned.
    names
        By symbol of the module, what it is called in the graph.
    seeded
        Whether the graph's last input is an int64, from which random numbers are made; otherwise these are refused.
    parted
        Whether an input whose extent is a product of symbols and numbers comes with a dimension for each factor. A
        number that is a symbol, which no input has as an extent, then comes as a vector of so many elements of int8.
        What `order_of` has an order for comes transposed by it.
    bounds
        By symbol of the module, how small it may be, and how large, where that is bounded; then what divides it.
    tf32
        Which of "matmul" and "conv" tensor cores may multiply in tf32 where they are of float32.
    movable
        The names of nodes whose values may be returned as another transposition.
    """
    return _Import(module, name, held, outputs, Extents(names, bounds), seeded, parted, tf32, movable).graph()


def refusals(module: GraphModule) -> dict[Node, str]:
    """By node that `import_fx` refuses, the reason, with the source line; for nodes that use its result, nothing.

    Parameters
    ----------
    module
        A module of FX whose calls are ATen's.

    Raises
    ------
    CompileError
        Where an input is refused.
    """
    one = _Import(module, "forward", {}, None, Extents(), is_random(module), parted=True)
    try:
        one.graph()
    except CompileError:
        if not one.errors:
            raise
    return one.errors


def is_random(module: GraphModule) -> bool:
    """Whether a module of FX has operators whose results are random."""
    tags = (getattr(node.target, "tags", ()) for node in module.graph.nodes if node.op == "call_function")
    return any(torch.Tag.nondeterministic_seeded in one for one in tags)


class _Failed(TilewrightError):
    """What a call needs was told to be wrong."""


class _Import:
    def __init__(
        self, module: GraphModule, name: str, held: Mapping[str, tuple[str, Any]], outputs: Sequence[str] | None,
        extents: Extents, seeded: bool, parted: bool, tf32: Collection[str] = (), movable: Collection[str] = (),
    ) -> None:  # fmt: skip
        self._tf32, self._movable = tf32, movable
        self._seeded, self._parted = seeded, parted
        self._random: RandomNumbers | None = None
        self._module, self._name, self._held, self._outputs = module, name, held, outputs
        self._extents = extents
        self._values: dict[Node, Any] = {}
        self.errors: dict[Node, str] = {}
        self._labels: dict[Node, str] = {}
        self._known = Known(self._constant)

    def graph(self) -> Graph:
        unite_counts(self._module)
        self._extents.unite(guards_of(self._module))
        nodes = list(self._module.graph.nodes)
        values = [node.meta.get("val") for node in nodes if node.op == "placeholder"]
        inputs = [
            (node, self._type(node)) for node in nodes if node.op == "placeholder" and self._is_input(node)
        ]  # fmt: skip
        for node, kind in inputs:
            for extent in kind.shape:
                if isinstance(extent, Expr) and not isinstance(extent, Var):
                    raise CompileError(f"input {node.name!r}: expected symbols and numbers, got {kind}", stage="graph")
        given = [(node.name, kind) for node, kind in inputs]
        for node in nodes:
            if self._parted and node.op == "placeholder" and is_loose(node.meta.get("val"), values):
                given.append((node.name, TensorType((self._extents.of(node.meta["val"]),), "int8")))
        if self._seeded:
            given.append((_SEED, TensorType((), "int64")))
        self._extents.end_of_inputs()
        with GraphBuilder(self._name, given, self._extents.symbols, self._tf32) as builder:
            self._builder = builder
            self._extents.build_with(builder)
            if self._seeded:
                self._random = RandomNumbers(builder, builder.inputs[_SEED])
            for node, _ in inputs:
                given_value: Any = builder.inputs[node.name]
                call = self._call_of(node, f"input {node.name!r}")
                order = order_of(node.meta["val"]) if self._parted else None
                if order is not None:
                    back = [order.index(d) for d in range(len(order))]
                    given_value = call.op("transpose", given_value, permutation=back)
                elif self._parted:
                    given_value = whole(call, given_value, node.name)
                if node.meta["val"].is_complex():
                    given_value = parts_of(call, given_value)
                self._values[node] = given_value
            for node in nodes:
                try:
                    self._node(node)
                except _Failed:
                    pass
                except TilewrightError as error:
                    text, label = str(error), str(self._labels.get(node, node.name))
                    self.errors[node] = text if text.startswith(label) else f"{label}: {text}"
            if self.errors:
                raise CompileError("\n".join(dict.fromkeys(self.errors.values())), stage="graph")
            (last,) = (node for node in nodes if node.op == "output")
            results = [(one.name, self._output(one)) for one in self._results(last)]
            taken: dict[str, int] = {}
            outputs: list[tuple[str, Value]] = []
            for each, value in results:
                taken[each] = taken.get(each, -1) + 1
                outputs.append((f"{each}_{taken[each]}" if taken[each] else each, value))
            builder.symbols.update(self._extents.symbols)
            return builder.finish(outputs, self._movable)

    def _is_input(self, node: Node) -> bool:
        if node.name in self._held or not isinstance(node.meta.get("val"), torch.Tensor):
            return False
        # An exported program has tokens that are none of its inputs.
        is_token = node.users and all(one.target is _with_effects for one in node.users)
        return self._outputs is None or not is_token

    def _results(self, last: Node) -> list[Node]:
        flat: list[Node] = []

        def walk(one: Any) -> None:
            if isinstance(one, Node) and isinstance(one.meta.get("val"), torch.Tensor):
                flat.append(one)
            elif is_listed(one):
                for each in one:
                    walk(each)

        walk(last.args[0])
        return flat if self._outputs is None else [one for one in flat if one.name in self._outputs]

    def _type(self, node: Node) -> TensorType:
        value = node.meta["val"]
        shape = (*value.shape, 2) if value.is_complex() else value.shape
        order = order_of(value) if self._parted else None
        shape = shape if order is None else [shape[d] for d in order]
        try:
            if self._parted:
                parts = [self._extents.parts(size, f"{node.name}__{d}") for d, size in enumerate(shape)]
                extents = tuple(extent for some in parts for extent in some)
            else:
                extents = self._extents.shape(shape)
            return TensorType(extents, dtype_name(real_dtype(value.dtype)))
        except CompileError as error:
            raise CompileError(f"input {node.name!r}: {error}", stage="graph") from None

    # Nodes.

    def _node(self, node: Node) -> None:
        if node.op == "placeholder":
            if node.name in self._held:
                name, tensor = self._held[node.name]
                self._values[node] = self._weight(name, tensor)
        elif node.op == "get_attr":
            attribute = _attribute(node)
            if isinstance(attribute, torch.Tensor):
                with unset_fake_temporarily():  # AOTAutograd has the mode on, and a constant is no fake tensor
                    self._values[node] = self._weight(str(node.target), attribute)
        elif node.op == "call_function":
            self._call(node)

    def _call_of(self, node: Node, label: str, name: str = "") -> Call:
        return Call(self._builder, self._extents, name, label, node.meta["val"], self._random)

    def _output(self, node: Node) -> Value:
        value = self._value(node)
        return joined(self._call_of(node, f"output {node.name!r}"), value) if isinstance(value, Pair) else value

    def _weight(self, name: str, tensor: torch.Tensor) -> Any:
        if tensor.is_complex():
            whole = tensor.resolve_conj()
            return Pair(self._weight(f"{name}.real", whole.real), self._weight(f"{name}.imag", whole.imag))
        try:
            dtype_name(tensor.dtype)
        except CompileError as error:
            raise CompileError(f"weight {name!r}: {error}", stage="graph") from None
        array = array_of(tensor.detach().cpu())
        return self._builder.constant(array) if array.size == 1 else self._builder.weight(name, array)

    def _call(self, node: Node) -> None:
        target: Any = node.target
        if target is operator.getitem:
            self._values[node] = self._value(node.args[0])[node.args[1]]
            return
        if isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool, int, float, bool)):
            if target in _NUMBERS:
                self._take(node)
            return  # what it is stands in the value
        if target is _with_effects and node.args[1] is torch.ops.aten._linalg_check_errors.default:
            token: Any = node.args[0]
            self._values[node] = [self._values.get(token)]  # whether a matrix was singular is not checked
            return
        if target in CONTROL:
            self._labels[node] = label = label_of(node, str(target))
            with self._builder.node(label, 0):
                values = [self._argument(one) for one in node.args]
                self._values[node] = CONTROL[target](self._call_of(node, label), node, self._known, values, self._body)
            return
        if getattr(target, "_schema", None) is None:
            if node.meta.get("val") is None and not node.users:
                return  # a check of torch's, of a size
            self._labels[node] = label = label_of(node, str(target))
            raise CompileError(f"{label}: {target} is not supported", stage="graph")
        name = f"{target.namespace}.{target._schema.name.split('::')[1]}.{target._overloadname}"
        short = name.removeprefix("aten.")
        self._labels[node] = label = label_of(node, name)
        if short in refused:
            raise CompileError(f"{label}: cannot be compiled: {refused[short]}", stage="graph")
        if short not in CONVERTERS:
            if node.meta.get("val") is None and not node.users:
                return
            reason = linear_algebra.refusal(node)
            raise CompileError(f"{label}: {reason or 'the operator is not supported'}", stage="graph")
        arguments = [self._argument(one) for one in _arguments(node)]
        with self._builder.node(label, 0):
            call = self._call_of(node, label, short)
            if _has_no_elements(node):  # whatever the operator is
                call, arguments = self._call_of(node, label, "zeros.default"), []
            with_complex = any(isinstance(one, Pair) for one in _flat(arguments)) or _is_complex(node)
            made = convert_complex(call, arguments) if with_complex else CONVERTERS[call.target](call, *arguments)
            if isinstance(made, Value) and any(map(self._extents.is_united, getattr(node.meta["val"], "shape", ()))):
                made = of_shape(call, made, call.shape)
        self._values[node] = made

    def _body(
        self, module: GraphModule, values: Sequence[Any], known: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:  # fmt: skip
        """Makes operators of a branch or of an iteration of a loop: its results, and which are known."""
        nodes = list(module.graph.nodes)
        given = [node for node in nodes if node.op == "placeholder"]
        self._known.forget(nodes)
        for node, value, own in zip(given, values, known, strict=True):
            self._values[node] = value
            self._known.put(node, own)
        for node in nodes:
            if node.op not in ("placeholder", "output"):
                self._node(node)
        results = nodes[-1].args[0]
        results = results if is_listed(results) else [results]
        return [self._argument(one) for one in results], [self._known.of(one) for one in results]

    def _constant(self, node: Node) -> torch.Tensor | None:
        """A constant of the model of one element, None for another node. A parameter or a buffer is none."""
        is_lifted = node.op == "placeholder" and node.name.startswith("c_")  # as torch.export names them
        held = self._held.get(node.name) if is_lifted else None
        tensor = _attribute(node) if node.op == "get_attr" else None if held is None else held[1]
        return tensor.detach() if isinstance(tensor, torch.Tensor) and tensor.numel() == 1 else None

    def _take(self, node: Node) -> None:
        """A number of Python that is an element of a tensor."""
        self._labels[node] = label = label_of(node, "item")
        with self._builder.node(label, 0):
            CONVERTERS["item.default"](self._call_of(node, label), self._value(node.args[0]))

    def _value(self, node: Any) -> Any:
        if node not in self._values:
            raise _Failed
        return self._values[node]

    def _argument(self, given: Any) -> Any:
        if isinstance(given, Node):
            if _is_module(given):
                return None
            value = given.meta.get("val")
            if isinstance(value, (torch.SymInt, int)) and not isinstance(value, bool):
                return self._extents.of(value)
            if isinstance(value, (float, bool)):
                return value
            if isinstance(value, torch.SymFloat):
                return SymbolicFloat(value.node.expr)
            if isinstance(value, torch.SymBool):
                raise CompileError(f"expected numbers that are known, got {value}", stage="graph")
            return self._value(given)
        if is_listed(given):
            return [self._argument(one) for one in given]
        return given


def _attribute(node: Node) -> Any:
    found: Any = node.graph.owning_module
    for piece in str(node.target).split("."):
        found = getattr(found, piece)
    return found


def _is_module(given: Any) -> bool:
    return isinstance(given, Node) and given.op == "get_attr" and isinstance(_attribute(given), torch.nn.Module)


def _flat(arguments: Iterable[Any]) -> Iterator[Any]:
    for one in arguments:
        yield from _flat(one) if isinstance(one, list) else (one,)  # pyright: ignore[reportUnknownArgumentType]


def _has_no_elements(node: Node) -> bool:
    """Whether the result is a tensor that has no elements in any call."""
    value = node.meta["val"]
    if not isinstance(value, torch.Tensor) or any(isinstance(one, torch.SymInt) for one in value.shape):
        return False  # data may decide the others, as of nonzero of a number
    return not all(value.shape)


def _is_complex(node: Node) -> bool:
    value = node.meta["val"]
    first = value[0] if isinstance(value, (tuple, list)) and value else value  # pyright: ignore[reportUnknownVariableType]
    return isinstance(first, torch.Tensor) and first.is_complex()


def _arguments(node: Node) -> list[Any]:
    """The arguments in the order of the schema, with its defaults."""
    found: list[Any] = []
    for position, one in enumerate(node.target._schema.arguments):  # type: ignore[union-attr]
        if position < len(node.args):
            found.append(node.args[position])
        else:
            found.append(node.kwargs.get(one.name, one.default_value if one.has_default_value() else None))  # pyright: ignore[reportUnknownArgumentType]
    return found


def label_of(node: Node, name: str) -> str:
    """The operator and the line of the user's program that calls it; where that is torch's own, the module's name."""
    frames = [(file, int(line)) for file, line in _FRAME.findall(node.meta.get("stack_trace") or "")]
    own = [frame for frame in frames if not frame[0].startswith((_TORCH, "<"))]  # torch.cond and others make "<…>"
    if own:
        return f"{own[-1][0]}:{own[-1][1]} ({name})"
    modules: list[str] = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values() if path]  # pyright: ignore[reportUnknownVariableType]
    return f"module {modules[-1]!r} ({name})" if modules else f"node {node.name!r} ({name})"
