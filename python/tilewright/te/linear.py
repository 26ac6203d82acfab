"""Sums of multiples of axes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from .expr import Call, Cast, Const, Expr, IterVar
from .walks import Steps, run

__all__ = ["Linear", "linear_of"]


class Linear:
    """A number plus multiples of axes."""

    __slots__ = ("constant", "terms")

    terms: dict[int, tuple[IterVar, int]]
    constant: int

    def __init__(self, terms: Mapping[int, tuple[IterVar, int]], constant: int) -> None:
        self.terms = {key: term for key, term in terms.items() if term[1]}
        self.constant = constant

    @staticmethod
    def variable(axis: IterVar) -> Linear:
        return Linear({id(axis): (axis, 1)}, 0)

    @staticmethod
    def number(value: int) -> Linear:
        return Linear({}, value)

    def of(self, axis: IterVar) -> int:
        """What the axis is multiplied by."""
        return self.terms.get(id(axis), (axis, 0))[1]

    def is_just(self, axis: IterVar) -> bool:
        """True where it is that axis and nothing else."""
        return len(self.terms) == 1 and self.of(axis) == 1 and self.constant == 0

    def __add__(self, other: Linear) -> Linear:
        terms = dict(self.terms)
        for key, (axis, count) in other.terms.items():
            terms[key] = (axis, self.of(axis) + count)
        return Linear(terms, self.constant + other.constant)

    def __mul__(self, factor: int) -> Linear:
        return Linear(
            {key: (axis, count * factor) for key, (axis, count) in self.terms.items()}, self.constant * factor
        )

    def __sub__(self, other: Linear) -> Linear:
        return self + other * -1

    def replace(self, axis: IterVar, value: Linear) -> Linear:
        """It with `value` for the axis."""
        count = self.of(axis)
        if not count:
            return self
        return Linear({key: term for key, term in self.terms.items() if key != id(axis)}, self.constant) + value * count

    def expr(self) -> Expr:
        """It as an expression, those that are added before those that are taken away."""
        result: Expr | None = None
        for axis, count in sorted(self.terms.values(), key=lambda term: term[1] < 0):
            term = axis if abs(count) == 1 else axis * abs(count)
            if result is None:
                result = term if count > 0 else 0 - term
            else:
                result = result + term if count > 0 else result - term
        if result is None:
            from ..dtypes import dtype_of
            from ..messages.location import user_source

            return Const(self.constant, dtype_of("int32"), user_source(), is_index=True)
        if not self.constant:
            return result
        return result + self.constant if self.constant > 0 else result - -self.constant


# What is one of numbers alone. No divisor is 0.
_OF_NUMBERS: dict[str, Callable[[int, int], int]] = {
    "floordiv": operator.floordiv,
    "floormod": operator.mod,
    "truncdiv": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "truncmod": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
    "min": min,
    "max": max,
}


def linear_of(expr: Expr) -> Linear | None:
    """The expression as a sum of multiples of axes, or None where it is none."""
    return run(_linear(expr))


def _linear(expr: Expr) -> Steps[Linear | None]:
    if isinstance(expr, IterVar):
        return Linear.variable(expr)
    if isinstance(expr, Const):
        return Linear.number(int(expr.value))
    if isinstance(expr, Cast) and expr.value.is_index:
        return (yield _linear(expr.value))
    if not isinstance(expr, Call) or (expr.op not in ("add", "sub", "mul") and expr.op not in _OF_NUMBERS):
        return None
    lhs, rhs = (yield _linear(expr.args[0])), (yield _linear(expr.args[1]))
    if lhs is None or rhs is None:
        return None
    if expr.op in _OF_NUMBERS:
        return None if lhs.terms or rhs.terms else Linear.number(_OF_NUMBERS[expr.op](lhs.constant, rhs.constant))
    if expr.op != "mul":
        return lhs + rhs if expr.op == "add" else lhs - rhs
    if lhs.terms and rhs.terms:
        return None
    return lhs * rhs.constant if lhs.terms else rhs * lhs.constant
