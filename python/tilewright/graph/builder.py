"""Builds a model as IR of the graph dialect, one operator after the other."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from mlir import ir

from .. import te
from ..dtypes import dtype_of
from ..errors import CompileError, TilewrightError
from ..errors import TilewrightTypeError as TypeError
from ..ir import context
from ..messages.location import Source, at_source, user_source
from ..te import Var
from ..te.emit_types import constant_attr
from ..te.walks import parts
from .definitions import model_function
from .operators import OPERATORS
from .operators.common import accumulator
from .operators.extents import normal
from .types import Extent, TensorType, attribute_of, to_ir

__all__ = ["Graph", "GraphBuilder", "Value"]

_NO_SOURCE = Source("model", 0)


@dataclass(frozen=True, slots=True)
class Value:
    """A tensor of a model that a `GraphBuilder` makes: the value in the IR, and its type."""

    value: ir.Value
    type: TensorType

    @property
    def shape(self) -> tuple[Extent, ...]:
        """The extents."""
        return self.type.shape

    @property
    def dtype(self) -> str:
        """NumPy's name of the element type."""
        return self.type.dtype

    @property
    def rank(self) -> int:
        """How many dimensions there are."""
        return self.type.rank


@dataclass(frozen=True, slots=True)
class Graph:
    """A model as IR, which a `GraphBuilder` makes.

    Outside of the IR stand the weights by their names, and the symbols of the extents.

    Inputs and outputs in `stored` are of types that te does not have; in the IR they are bytes.
    """

    module: ir.Module
    weights: Mapping[str, np.ndarray]
    symbols: Mapping[str, Var]
    name: str
    stored: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def counts(self) -> tuple[str, ...]:
        """The symbols of the extents that data decide. The last results of the function are their numbers.

        Raises KeyError for a module without the model's function.
        """
        results = ir.ArrayAttr(model_function(self.module, self.name).attributes["res_attrs"])
        marked = (ir.DictAttr(one) for one in results)
        return tuple(ir.StringAttr(one["graph.name"]).value for one in marked if "graph.count" in one)

    def clone(self) -> Graph:
        """The same model in a module of its own, which passes may change. The weights are those of this one.

        >>> from tilewright.graph import GraphBuilder, TensorType
        >>> with GraphBuilder("double", [("x", TensorType((4,), "float32"))]) as b:
        ...     graph = b.finish([("y", b.op("add", b.inputs["x"], b.inputs["x"]))])
        >>> other = graph.clone()
        >>> str(other.module) == str(graph.module), other.module == graph.module
        (True, False)
        """
        with self.module.context, ir.Location.unknown():
            module = ir.Module.create()
            attributes = self.module.operation.attributes
            for number in range(len(attributes)):
                module.operation.attributes[attributes[number].name] = attributes[number].attr
            for operation in self.module.body:
                operation.operation.clone(ir.InsertionPoint(module.body))
        return replace(self, module=module)


class GraphBuilder:
    """Makes the function of a model, called `name`.

    `inputs` are their names and types, and `symbols` the variables of their extents. `tf32` says which of "matmul" and
    "conv" tensor cores may multiply in tf32 where they are of float32.

    >>> from tilewright.graph import GraphBuilder, TensorType
    >>> with GraphBuilder("double", [("x", TensorType((4,), "float32"))]) as b:
    ...     graph = b.finish([("y", b.op("add", b.inputs["x"], b.inputs["x"]))])
    >>> print(graph.module)
    module {
      func.func @double(%arg0: tensor<4xf32> {graph.name = "x"}) -> (tensor<4xf32> {graph.name = "y"}) {
        %0 = graph.add %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        return %0 : tensor<4xf32>
      }
    }
    <BLANKLINE>
    """

    module: ir.Module
    inputs: dict[str, Value]
    tf32: frozenset[str]

    def __init__(
        self, name: str, inputs: Sequence[tuple[str, TensorType]], symbols: Mapping[str, Var] | None = None,
        tf32: Collection[str] = (),
    ) -> None:  # fmt: skip
        self.tf32 = frozenset(tf32)
        self.context: ir.Context = context(front_end=True)
        _ = self.context.dialects["graph"]
        self.symbols: dict[str, Var] = dict(symbols or {})
        self.weights: dict[str, np.ndarray] = {}
        self.counts: dict[str, Value] = {}
        self.name = name
        self._names = inputs
        self._weights: dict[str, Value] = {}
        self._extents: set[str] = set()
        self._source, self._label = _NO_SOURCE, ""
        with self.context, ir.Location.unknown():
            self.module = ir.Module.create()
            types = [to_ir(kind) for _, kind in inputs]
            function_type = ir.FunctionType.get(types, [])
            with ir.InsertionPoint(self.module.body):
                self._function = ir.Operation.create(
                    "func.func",
                    attributes={
                        "sym_name": ir.StringAttr.get(name),
                        "function_type": ir.TypeAttr.get(function_type),
                        "arg_attrs": ir.ArrayAttr.get(
                            [ir.DictAttr.get({"graph.name": ir.StringAttr.get(each)}) for each, _ in inputs]
                        ),
                    },
                    regions=1,
                )
            self._block = ir.Block.create_at_start(self._function.regions[0], types)
        self.inputs = {
            each: Value(argument, kind) for (each, kind), argument in zip(inputs, self._block.arguments)
        }  # fmt: skip

    def __enter__(self) -> GraphBuilder:
        self.context.__enter__()
        self._location = ir.Location.unknown()
        self._location.__enter__()
        self._point = ir.InsertionPoint(self._block)
        self._point.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._point.__exit__(*error)
        self._location.__exit__(*error)
        self.context.__exit__(*error)

    @contextmanager
    def node(self, label: str, position: int) -> Generator[None]:
        """In the `with` block operators are those of a node of the model. Errors and locations name its `label` and its
        `position`, a number.
        """
        before = self._source, self._label
        self._source, self._label = Source(label, position), label
        try:
            yield
        finally:
            self._source, self._label = before

    def accumulator(self, what: str, dtype: str) -> str:
        """What a "matmul" or a "conv" (`what`) of elements of type `dtype` is accumulated in, as its attribute `acc`.

        >>> GraphBuilder("empty", [], tf32=["conv"]).accumulator("conv", "float32")
        'tf32'
        """
        return "tf32" if what in self.tf32 and dtype == "float32" else accumulator(dtype)

    def op(self, name: str, *operands: Value, **attributes: Any) -> Value:
        """The result of an operator that has one: `name`, `operands` and `attributes` are those of `ops`. Raises what
        `ops` raises: CompileError and TypeError.
        """
        return self.ops(name, *operands, **attributes)[0]

    def ops(self, name: str, *operands: Value, **attributes: Any) -> tuple[Value, ...]:
        """The results of the operator ``graph.<name>``: their types are those that its function of te gives.

        `operands` are values of this builder, and `attributes` the operator's own. Raises CompileError for operands
        that the operator does not take, TypeError for an element type that te does not have.
        """
        operator = OPERATORS[name]
        if name.startswith("attention") and self.accumulator("matmul", operands[0].dtype) == "tf32":
            attributes["acc"] = "tf32"
        with at_source(self._source):
            placeholders = [te.placeholder(one.shape, one.dtype, name=f"x{i}") for i, one in enumerate(operands)]
            try:
                results = [TensorType.of(tensor) for tensor in operator(*placeholders, **attributes)]
            except TilewrightError as error:
                raise self.error(f"{name}: {_told(error)}") from error
        made = ir.Operation.create(
            f"graph.{name}",
            results=[to_ir(kind) for kind in results],
            operands=[one.value for one in operands],  # pyright: ignore[reportUnknownArgumentType]
            attributes={key: attribute_of(key, value) for key, value in attributes.items()},
            loc=self._location_of(name),
        )
        self._extents |= {str(normal(one)) for kind in results for one in kind.shape if not isinstance(one, int)}
        return tuple(Value(value, kind) for value, kind in zip(made.results, results))

    def is_extent(self, extent: Extent) -> bool:
        """Whether a tensor that an operator made has this extent, which is not negative then."""
        return str(normal(extent)) in self._extents

    def error(self, message: str) -> CompileError:
        """An error of the node that is being made, with this `message`."""
        return CompileError(f"{self._label}: {message}" if self._label else message, stage="graph")

    def _location_of(self, name: str) -> ir.Location:
        return ir.Location.name(self._label or f"{user_source()} (graph.{name})")

    def constant(self, value: object, dtype: str | None = None) -> Value:
        """The constant `value`, a number or an array: in the IR where it has one element, otherwise a weight. Raises
        TypeError for a `dtype` that te does not have.
        """
        array = np.asarray(value, dtype=dtype)
        kind = TensorType(array.shape, array.dtype.name)  # pyright: ignore[reportUnknownArgumentType]
        if array.size != 1:
            return self.weight(f"constant{len(self.weights)}", np.ascontiguousarray(array).reshape(array.shape))
        element = array.reshape(-1)[0].item()
        attr = constant_attr(element, dtype_of(kind.dtype))
        number = str(element) if array.dtype.kind == "u" else str(attr).split(" : ")[0]
        elements = ir.Attribute.parse(f"dense<{number}> : {to_ir(kind)}")
        made = ir.Operation.create(
            "graph.constant", results=[to_ir(kind)], attributes={"value": elements}, loc=self._location_of("constant")
        )
        return Value(made.result, kind)

    def weight(self, name: str, array: np.ndarray) -> Value:
        """A tensor whose contents, `array`, are kept outside of the IR, once a `name`."""
        if name in self._weights and self.weights[name] is array:
            return self._weights[name]
        while name in self.weights:
            name += "_"
        kind = TensorType(array.shape, array.dtype.name)  # pyright: ignore[reportUnknownArgumentType]
        self.weights[name] = array
        with ir.InsertionPoint.at_block_begin(self._block):
            made = ir.Operation.create(
                "graph.weight", results=[to_ir(kind)], attributes={"name": ir.StringAttr.get(name)}
            )
        self._weights[name] = Value(made.result, kind)
        return self._weights[name]

    def count(self, symbol: Var, value: Value) -> Var:
        """Makes `symbol` stand for a number that the model computes: `value`, an int64 of no dimension.

        What is made afterwards may have the symbol among its extents. A call reads the number on the host, before the
        first group runs that needs it. Raises CompileError for another value.
        """
        if value.type != TensorType((), "int64"):
            raise self.error(f"expected an int64 of no dimension as the number of {symbol.name}, got {value.type}")
        self.symbols[symbol.name] = symbol
        self.counts[symbol.name] = value
        return symbol

    def require_elements(self, extents: Iterable[Extent]) -> None:
        """Makes the symbols of inputs that are in `extents` at least 1, for an operator that has no result without an
        element. A call with a smaller one is refused.

        >>> from tilewright import te
        >>> from tilewright.graph import GraphBuilder, TensorType
        >>> n = te.var("n")
        >>> GraphBuilder("largest", [("x", TensorType((n,), "float32"))]).require_elements([n])
        >>> n.minimum
        1
        """
        for part in parts(one for one in extents if not isinstance(one, int)):
            if isinstance(part, Var) and part.name not in self.counts:
                self.require(part, least=1)

    def require(self, symbol: Var, least: int = 0, most: int | None = None) -> None:
        """Makes a symbol of inputs at least and at most so large. A call with another value is refused.

        >>> from tilewright import te
        >>> from tilewright.graph import GraphBuilder, TensorType
        >>> n = te.var("n", max=64)
        >>> GraphBuilder("part", [("x", TensorType((n,), "float32"))]).require(n, least=2, most=16)
        >>> n.minimum, n.maximum
        (2, 16)
        """
        symbol.minimum = max(symbol.minimum or 0, least)
        bounds = [one for one in (symbol.maximum, most) if one is not None]
        symbol.maximum = min(bounds) if bounds else None

    def finish(self, outputs: Sequence[tuple[str, Value]], movable: Collection[str] = ()) -> Graph:
        """Ends the function with the model's outputs. Those named in `movable` may be returned before they are
        transposed; `Model.orders` then has the permutation."""
        returned = [*(value for _, value in outputs), *self.counts.values()]
        results: list[ir.Value] = [each.value for each in returned]
        types: list[ir.Type] = [value.type for value in results]
        ir.Operation.create("func.return", operands=results)  # pyright: ignore[reportUnknownArgumentType]
        attributes = self._function.attributes
        arguments = [to_ir(kind) for _, kind in self._names]
        attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(arguments, types))
        names: list[dict[str, ir.Attribute]] = [{"graph.name": ir.StringAttr.get(each)} for each, _ in outputs]
        for one, (each, value) in zip(names, outputs):
            if each in movable:
                one["graph.order"] = ir.DenseI64ArrayAttr.get(range(value.rank))
        counts = [{"graph.name": ir.StringAttr.get(each), "graph.count": ir.UnitAttr.get()} for each in self.counts]
        attributes["res_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in (*names, *counts)])
        self.module.operation.verify()
        return Graph(self.module, self.weights, self.symbols, self.name)


def _told(error: Exception) -> str:
    """What an error says, without the place that it names: that is the node's."""
    text = str(error)
    return text.split(": ", 1)[1] if text.startswith(("model:", "node ")) and ": " in text else text


def checked_type(what: str, shape: Sequence[Extent], dtype: str) -> TensorType:
    """A type whose element type is one that te has."""
    try:
        return TensorType(tuple(shape), dtype_of(dtype).name)
    except TypeError:
        raise TypeError(f"{what}: expected an element type that te has, got {dtype}") from None
