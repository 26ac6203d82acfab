"""Between which numbers an expression of integers lies: where its arithmetic cannot wrap around."""

from __future__ import annotations

from ..dtypes import DType
from .expr import Call, Cast, Const, Expr, IterVar, Select, Var

__all__ = ["Intervals"]

Interval = tuple[int, int]


class Intervals:
    """What expressions may be, each found once.

    Index arithmetic is that of 64 bits and counts as exact; data wraps around in its own type.
    """

    def __init__(self) -> None:
        # With an expression the object itself: what is freed might leave its id to another.
        self._known: dict[int, tuple[Expr, Interval]] = {}

    def of(self, expr: Expr) -> Interval:
        """The least and the largest value of an integer expression, after it has wrapped around."""
        todo = [expr]
        while todo:
            top = todo[-1]
            if id(top) in self._known:
                todo.pop()
                continue
            waiting = [child for child in _children(top) if id(child) not in self._known]
            if waiting:
                todo.extend(waiting)
                continue
            exact = self._exact(top)
            fits = exact is not None and (top.is_index or _lies_in(exact, _range_of(top.element_type)))
            self._known[id(top)] = (
                top,
                exact if exact is not None and fits else _range_of(top.element_type, top.is_index),
            )
            todo.pop()
        return self._known[id(expr)][1]

    def wraps(self, expr: Expr) -> bool:
        """Whether the last operation of an expression may leave the type."""
        for operand in expr.operands():
            self.of(operand)
        exact = self._exact(expr)
        return exact is None or not expr.is_index and not _lies_in(exact, _range_of(expr.element_type))

    def _exact(self, expr: Expr) -> Interval | None:
        """What an expression is without wrapping around, where that is known."""
        if isinstance(expr, Const):
            return int(expr.value), int(expr.value)
        if isinstance(expr, IterVar):
            if expr.dom is None:
                return None
            first, extent = expr.dom
            count = self._known[id(extent)][1][1] if isinstance(extent, Expr) else extent
            return first, max(first, first + count - 1)
        if isinstance(expr, Var):
            low, high = _range_of(expr.element_type)
            if not expr.is_index:
                return low, high
            return expr.minimum, high if expr.maximum is None else expr.maximum
        if isinstance(expr, Cast):
            return self._known[id(expr.value)][1] if _is_integer(expr.value) else None
        if isinstance(expr, Select):
            both = [self._known[id(value)][1] for value in (expr.true_value, expr.false_value)]
            return min(low for low, _ in both), max(high for _, high in both)
        if isinstance(expr, Call) and _is_integer(expr) and len(expr.args) == 2 and all(map(_is_integer, expr.args)):
            return _of_call(expr.op, *(self._known[id(arg)][1] for arg in expr.args))
        return None


def _children(expr: Expr) -> tuple[Expr, ...]:
    if isinstance(expr, IterVar):
        extent = None if expr.dom is None else expr.dom.extent
        return (extent,) if isinstance(extent, Expr) else ()
    if isinstance(expr, Select):
        return (expr.true_value, expr.false_value) if _is_integer(expr) else ()
    if isinstance(expr, (Call, Cast)) and _is_integer(expr):
        return tuple(operand for operand in expr.operands() if _is_integer(operand))
    return ()


def _is_integer(expr: Expr) -> bool:
    return expr.element_type.is_integer or expr.element_type.kind == "bool"


def _range_of(dtype: DType, is_index: bool = False) -> Interval:
    bits = 64 if is_index else dtype.bits
    return (0, (1 << bits) - 1) if dtype.is_unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)


def _lies_in(inner: Interval, outer: Interval) -> bool:
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _of_call(op: str, lhs: Interval, rhs: Interval) -> Interval | None:
    if op == "add":
        return lhs[0] + rhs[0], lhs[1] + rhs[1]
    if op == "sub":
        return lhs[0] - rhs[1], lhs[1] - rhs[0]
    if op == "mul":
        products = [a * b for a in lhs for b in rhs]
        return min(products), max(products)
    if op in ("min", "max"):
        choose = min if op == "min" else max
        return choose(lhs[0], rhs[0]), choose(lhs[1], rhs[1])
    if rhs[0] <= 0:
        return None
    if op == "floordiv":
        quotients = [a // b for a in lhs for b in rhs]
        return min(quotients), max(quotients)
    if op == "floormod":
        return lhs if 0 <= lhs[0] and lhs[1] < rhs[0] else (0, rhs[1] - 1)
    return None
