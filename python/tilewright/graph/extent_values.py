"""The value of a symbolic extent in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..errors import TilewrightValueError as ValueError
from ..te import Expr
from ..te.expr import Call, Const, Var

__all__ = ["evaluate", "shape_of"]

_INTEGER: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "floormod": lambda a, b: a % b,
    "min": min,
    "max": max,
}


def shape_of(shape: Sequence[int | Expr], values: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of a tensor where each symbol has a value.

    >>> from tilewright import te
    >>> shape_of([3, te.var("n")], {"n": 4})
    (3, 4)
    """
    return tuple(int(extent) if isinstance(extent, int) else evaluate(extent, values) for extent in shape)


def evaluate(extent: Expr, values: Mapping[str, int]) -> int:
    """What an expression of symbols is where each symbol has a value.

    >>> from tilewright import te
    >>> evaluate(te.var("n") * 2 + 1, {"n": 4})
    9
    """
    if isinstance(extent, Const):
        return int(extent)
    if isinstance(extent, Var):
        if extent.name not in values:
            raise ValueError(f"expected an input that has the symbol {extent.name} as an extent, got none")
        return values[extent.name]
    if isinstance(extent, Call) and extent.op in _INTEGER:
        a, b = (evaluate(one, values) for one in extent.args)
        return _INTEGER[extent.op](a, b)
    raise ValueError(f"expected an extent of sums, products, quotients, minima and maxima, got {extent}")
