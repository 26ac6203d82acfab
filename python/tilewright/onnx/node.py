"""One node of an ONNX model, as its converter sees it, and the table of converters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from .. import te
from ..dtypes import stored_dtype
from ..errors import CompileError
from ..graph import GraphBuilder, TensorType, Value
from ..te import Var
from .failures import AlreadyFailed

if TYPE_CHECKING:
    from .scope import Scope

__all__ = [
    "CLASSICAL", "CONTRIB", "CONVERTERS", "Converter", "Node", "classical", "constant_of", "contrib", "converter",
    "without_inputs",
]  # fmt: skip

Results = Value | Sequence[Value] | None
Converter = Callable[["Node"], Any]

CONVERTERS: dict[str, Converter] = {}
"""By ONNX operator of the default domain, what makes operators of the graph of a node."""
CONTRIB: dict[str, Converter] = {}
"""The same for ONNX Runtime's own operators, those of the domain com.microsoft."""
CLASSICAL: dict[str, Converter] = {}
"""The same for the operators of classical machine learning, those of the domain ai.onnx.ml."""


def converter(*operators: str) -> Callable[[Converter], Converter]:
    """Puts a function into `CONVERTERS` for some operators."""
    return _into(CONVERTERS, operators)


def contrib(*operators: str) -> Callable[[Converter], Converter]:
    """Puts a function into `CONTRIB` for some operators."""
    return _into(CONTRIB, operators)


def classical(*operators: str) -> Callable[[Converter], Converter]:
    """Puts a function into `CLASSICAL` for some operators."""
    return _into(CLASSICAL, operators)


def _into(table: dict[str, Converter], operators: Sequence[str]) -> Callable[[Converter], Converter]:
    def put(function: Converter) -> Converter:
        table.update(dict.fromkeys(operators, function))
        return function

    return put


class Node:
    """A node: its attributes as values of Python, its inputs as tensors of the graph or as values known now."""

    scope: Scope
    proto: Any
    label: str
    attributes: dict[str, Any]

    def __init__(self, scope: Scope, proto: Any, label: str, attributes: dict[str, Any]) -> None:
        self.scope, self.proto, self.label, self.attributes = scope, proto, label, attributes
        self.op: str = proto.op_type
        self.version: int = scope.version_of(proto.domain)

    @property
    def builder(self) -> GraphBuilder:
        """What the operators are made with."""
        return self.scope.builder

    @property
    def input_count(self) -> int:
        """How many inputs are named, those that are left out included."""
        return len(self.proto.input)

    @property
    def output_count(self) -> int:
        """How many outputs there are, up to the last that has a name."""
        names = list(self.proto.output)
        while names and not names[-1]:
            names.pop()
        return len(names)

    def has(self, position: int) -> bool:
        """Whether an input is given."""
        return position < len(self.proto.input) and self.proto.input[position] != ""

    def has_output(self, position: int) -> bool:
        """Whether an output is asked for."""
        return position < len(self.proto.output) and self.proto.output[position] != ""

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute, or what it is where it is left out."""
        return self.attributes.get(name, default)

    def tensor(self, position: int) -> Value:
        """An input as a tensor of the graph."""
        if not self.has(position):
            raise self.error(f"expected an input {position}, got none")
        return self.scope.tensor(self.proto.input[position])

    def tensors(self) -> list[Value]:
        """All inputs as tensors of the graph."""
        return [self.tensor(position) for position in range(self.input_count)]

    def type(self, position: int) -> TensorType:
        """The type of an input."""
        return self.scope.type_of(self.proto.input[position])

    def host(self, position: int) -> np.ndarray:
        """The value of an input that has to be known now, as what decides shapes."""
        return self.scope.host(self.proto.input[position])

    def is_known(self, position: int) -> bool:
        """Whether the value of an input is known now."""
        return self.has(position) and self.scope.is_known(self.proto.input[position])

    def integers(self, position: int, name: str = "", default: Any = None) -> Any:
        """A list of extents or numbers: an input whose value is known, or an attribute, as older versions have it."""
        if self.has(position):
            return [
                one if not isinstance(one, np.generic) else int(one)  # pyright: ignore[reportUnknownArgumentType]
                for one in self.host(position).reshape(-1).tolist()  # pyright: ignore[reportUnknownArgumentType]
            ]
        return self.attr(name, default) if name else default

    def number(self, position: int, default: Any = None) -> Any:
        """An input of one element whose value is known."""
        return self.host(position).reshape(-1)[0].item() if self.has(position) else default

    def error(self, message: str) -> CompileError:
        """An error that names the node."""
        return CompileError(f"{self.label}: {message}", stage="graph")

    # What many converters need.

    def op_(self, name: str, *operands: Value, **attributes: Any) -> Value:
        """An operator of the graph with one result."""
        return self.builder.op(name, *operands, **attributes)

    def constant(self, value: object, like: Value | str) -> Value:
        """A constant of the type of a tensor."""
        dtype = like if isinstance(like, str) else like.dtype
        return self.builder.constant(np.asarray(value).astype(stored_dtype(dtype)))

    def cast(self, value: Value, to: str) -> Value:
        """A tensor in another element type."""
        return value if value.dtype == to else self.op_("cast", value, to=to, saturate=True)

    def reshape(self, value: Value, shape: Sequence[Any]) -> Value:
        """A tensor in another shape."""
        return self.op_("reshape", value, shape=list(shape))

    def counted(self, count: Value) -> Var:
        """A symbol for the extent of a result that data decide: it stands for `count` from here on."""
        name = f"count{len(self.builder.counts)}"
        while name in self.builder.symbols:
            name += "_"
        return self.builder.count(te.var(name), count)

    def apply(
        self, op: str, *inputs: Value | None, results: int = 1, version: int | None = None, **attributes: Any
    ) -> list[Value]:  # fmt: skip
        """The results of an operator of ai.onnx on tensors of the graph; attributes that are None are left out."""
        names = ["" if one is None else f"x{i}" for i, one in enumerate(inputs)]
        given = {name: one for name, one in attributes.items() if one is not None}
        proto = onnx.helper.make_node(op, names, [f"y{i}" for i in range(results)], **given)
        scope = self.scope.inner(self.label)
        if version is not None:
            scope.opsets[""] = version
        for name, one in zip(names, inputs):
            if one is not None:
                scope.put(name, one)
        before = len(scope.errors)
        scope.run([proto])
        if len(scope.errors) > before:
            raise AlreadyFailed
        return [scope.tensor(name) for name in proto.output]

    def axes(self, axes: Sequence[int] | None, rank: int) -> list[int]:
        """Axes counted from 0, in order; all of them where none are given."""
        if axes is None:
            return list(range(rank))
        return sorted(self.axis(int(one), rank) for one in axes)

    def axis(self, axis: int, rank: int) -> int:
        """An axis counted from 0."""
        if not -rank <= axis < max(rank, 1):
            raise self.error(f"expected an axis from {-rank} to {rank - 1}, got {axis}")
        return axis % rank if rank else 0


def constant_of(node: Node) -> np.ndarray:
    """The value of a Constant."""
    for name, value in node.attributes.items():
        if name == "value":
            return numpy_helper.to_array(value)
        if name in ("value_float", "value_floats"):
            return np.asarray(value, np.float32)
        if name in ("value_int", "value_ints"):
            return np.asarray(value, np.int64)
    raise node.error(f"expected a constant of numbers, got {', '.join(node.attributes) or 'nothing'}")


def without_inputs(nodes: Sequence[Any], absent: set[str]) -> list[Any]:
    """Nodes with the inputs that a call leaves out left out."""
    result: list[Any] = []
    for node in nodes:
        if any(name in absent for name in node.input):
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            for position, name in enumerate(copy.input):
                if name in absent:
                    copy.input[position] = ""
            node = copy
        result.append(node)
    return result
