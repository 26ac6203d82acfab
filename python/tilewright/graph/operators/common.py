"""What the operators share: the table of them, and arithmetic on shapes."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ... import te
from ...errors import TilewrightValueError as ValueError
from ...guards import is_listed
from ...te import Expr, Tensor
from ...te.definitions import ElementFunction
from ...te.expr import Read
from ...te.tensor import ComputeOp
from .extents import Extent, difference, same

__all__ = [
    "OPERATORS", "Extent", "Operator", "accumulator", "at", "broadcast", "broadcast_shapes", "difference", "digits",
    "elements", "from_start", "in_range", "is_one", "normalized", "operator", "same", "sums_in", "untransposed",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator of the graph dialect: its name there, and the function that returns it as tensor expressions."""

    name: str
    function: Callable[..., Any]
    attributes: tuple[str, ...]
    asks_for_threads: bool = False
    """Whether the function has statements, which stand in thread axes for a GPU and for the simulator."""

    def __call__(self, *operands: Tensor, by_threads: bool = False, **attributes: Any) -> tuple[Tensor, ...]:
        """The results on these operands: for a processor, or, `by_threads`, for a GPU or the simulator."""
        if self.asks_for_threads:
            attributes["by_threads"] = by_threads
        made = self.function(*operands, **attributes)
        return tuple(made) if is_listed(made) else (made,)


OPERATORS: dict[str, Operator] = {}
"""Every operator by its name: the op `graph.NAME`, whose attributes are the function's keyword arguments but for
`by_threads`."""


def operator(function: Callable[..., Any]) -> Callable[..., Any]:
    """Puts a function into `OPERATORS`, under its name without the `_` that tells it from Python's own."""
    name = function.__name__.rstrip("_")
    parameters = inspect.signature(function).parameters.values()
    keywords = [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]
    attributes = tuple(one for one in keywords if one != "by_threads")
    OPERATORS[name] = Operator(name, function, attributes, "by_threads" in keywords)
    return function


def is_one(extent: Extent) -> bool:
    """Whether an extent is the number 1."""
    return isinstance(extent, int) and extent == 1


def broadcast_shapes(*shapes: Sequence[Extent]) -> list[Extent]:
    """The shape that several have together, as NumPy broadcasts them.

    >>> broadcast_shapes((4, 1), (3,))
    [4, 3]
    """
    rank = max(map(len, shapes), default=0)
    result: list[Extent] = [1] * rank
    for number, shape in enumerate(shapes):
        for d, extent in enumerate(shape, rank - len(shape)):
            if is_one(result[d]):
                result[d] = extent
            elif not is_one(extent) and not same(extent, result[d]):
                raise ValueError(f"operand {number}, dimension {d}: expected 1 or {result[d]}, got {extent}")
    return result


def at(tensor: Tensor, axes: Sequence[Any], shape: Sequence[Extent]) -> Expr:
    """The element of a tensor that is broadcast to `shape`, at its place `axes`."""
    skipped = len(shape) - tensor.ndim
    return tensor(*[
        0 if is_one(extent) and not is_one(shape[d + skipped]) else axes[d + skipped]
        for d, extent in enumerate(tensor.shape)
    ])  # fmt: skip


def untransposed(element: Expr) -> Expr:
    """An element that is read of the result of transposes, read of what they transpose.

    >>> from tilewright import te
    >>> x = te.placeholder((3, 4), name="x")
    >>> y = te.compute((4, 3), lambda i, j: x[j, i], name="y")
    >>> print(untransposed(y[1, 2]))
    x[2, 1]
    """
    while isinstance(element, Read):
        op = element.tensor.op
        body = op.body[0] if isinstance(op, ComputeOp) and op.num_outputs == 1 and op.reduction is None else None
        places = {id(axis): index for axis, index in zip(op.axis, element.indices)}
        if not isinstance(body, Read) or sorted(map(id, body.indices)) != sorted(places):
            break
        element = body.tensor(*(places[id(axis)] for axis in body.indices))
    return element


def broadcast(name: str, function: ElementFunction, *tensors: Tensor) -> Tensor:
    """The tensor of a function of one element of each."""
    of_elements = cast(Callable[..., Expr], function)
    shape = broadcast_shapes(*(tensor.shape for tensor in tensors))
    return te.compute(shape, lambda *i: of_elements(*(at(tensor, i, shape) for tensor in tensors)), name=name)


def normalized(axis: int, rank: int) -> int:
    """An axis counted from 0, of one that may count from the end.

    >>> normalized(-1, 4)
    3
    """
    if not -rank <= axis < max(rank, 1):
        raise ValueError(f"expected an axis from {-rank} to {rank - 1}, got {axis}")
    return axis % rank if rank else 0


def elements(shape: Sequence[Extent]) -> Extent:
    """How many elements a shape has."""
    symbols = [extent for extent in shape if isinstance(extent, Expr)]
    number = math.prod(extent for extent in shape if isinstance(extent, int))
    result: Extent = number
    for position, symbol in enumerate(symbols):
        result = symbol if position == 0 and number == 1 else result * symbol
    return result


def digits(index: Any, extents: Sequence[Extent]) -> list[Any]:
    """The place in a tensor of these extents that an index counts, in row-major order."""
    found: list[Any] = []
    for d in reversed(range(len(extents))):
        rest = elements(extents[:d])
        if is_one(extents[d]):
            found.append(0)
            continue
        found.append(index if is_one(rest) else index % extents[d])
        index = index // extents[d]
    return found[::-1]


def accumulator(dtype: str) -> str:
    """The type in which elements of a type are summed: float32 for floats of 16 bits, otherwise the type."""
    return "float32" if dtype in ("float16", "bfloat16") else dtype


def sums_in(acc: str) -> tuple[str, dict[str, str]]:
    """The type of the sums of a contraction that is accumulated in `acc`, and the notes of its stage. ``"tf32"`` is
    float32 whose factors tensor cores may round to tf32."""
    return ("float32", {"precision": "tf32"}) if acc == "tf32" else (acc, {})


def from_start(index: Any, extent: Extent) -> Expr:
    """An index that may count from the end, counted from the start."""
    return te.select(index < 0, index + extent, index)


def in_range(index: Any, extent: Extent) -> Expr:
    """An index that may count from the end, and that is cut to what there is: no index leaves the tensor."""
    last = extent - 1
    return te.max(te.min(from_start(index, extent), last), 0)
