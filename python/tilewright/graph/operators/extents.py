"""Arithmetic on extents: two that are the same number whatever the symbols are have one normal form."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce

from ...te import Expr
from ...te.expr import Call, Const

__all__ = ["Extent", "difference", "normal", "quotient", "same"]

Extent = int | Expr


def same(a: Extent, b: Extent) -> bool:
    """Whether two extents are known to be one number.

    >>> from tilewright import te
    >>> n = te.var("n")
    >>> same(n * 2, n * 2), same(n, 4), same(1 + n, n + 1)
    (True, False, True)
    >>> same(n * 8 * 2 // 16, n), same((n - 1) // 2 + 1, (n + 1) // 2)
    (True, True)
    """
    return str(a) == str(b) or _sum_of(a).terms == _sum_of(b).terms


def difference(a: Extent, b: Extent) -> int | None:
    """How much larger an extent is than another one, None where that is no number that is known.

    >>> from tilewright import te
    >>> n = te.var("n")
    >>> difference(n * 2, n * 2 - 3), difference(n, 4)
    (3, None)
    """
    return _sum_of(a).plus(_sum_of(b), -1).number


def normal(extent: Extent) -> Extent:
    """An extent in its normal form: a sum of products, whose quotients are as small as they may be.

    >>> from tilewright import te
    >>> n = te.var("n")
    >>> print(normal(0 + n * 4 * 4 // 16 + 0), normal((n + 2 - 2 - 1) // 2 + 1), normal(n * 0 + 3))
    n (n + 1) // 2 3
    """
    return extent if isinstance(extent, int) else _sum_of(extent).extent()


def quotient(a: Extent, b: Extent) -> Extent:
    """a // b in its normal form, where factors that both have are left out.

    >>> from tilewright import te
    >>> n, m = te.var("n"), te.var("m")
    >>> print(quotient(n * m * 8, m * 4), quotient(n * m - n, m - 1), quotient(n, m))
    n * 2 n n // m
    """
    divided = _sum_of(a).over(_sum_of(b))
    return normal(a) // normal(b) if divided is None else divided.extent()


@dataclass(frozen=True, slots=True)
class _Quotient:
    """What a factor of an extent is, where it is a sum over a number, rounded down."""

    above: _Sum
    below: int


@dataclass(slots=True)
class _Sum:
    """A sum of products. Each is its factors, as texts in their order, and how often it is in the sum."""

    terms: dict[tuple[str, ...], int]
    factors: dict[str, Expr | _Quotient] = field(default_factory=dict[str, "Expr | _Quotient"])

    @property
    def number(self) -> int | None:
        """The sum, where it is a number."""
        return None if {*self.terms} - {()} else self.terms.get((), 0)

    def plus(self, other: _Sum, sign: int = 1) -> _Sum:
        total = {one: self.terms.get(one, 0) + sign * other.terms.get(one, 0) for one in {**self.terms, **other.terms}}
        return _Sum({one: count for one, count in total.items() if count}, self.factors | other.factors)

    def times(self, other: _Sum) -> _Sum:
        total = _Sum({}, self.factors | other.factors)
        for left, many in self.terms.items():
            for right, more in other.terms.items():
                total = total.plus(_Sum({tuple(sorted(left + right)): many * more}))
        return total

    def first(self) -> tuple[tuple[str, ...], int]:
        """The term with the most factors."""
        return max(self.terms.items(), key=lambda one: (len(one[0]), one[0]))

    def over(self, other: _Sum) -> _Sum | None:
        """The sum over another one, None where that is no sum of products: by division of their first terms."""
        left, made = self, _Sum({}, self.factors)
        while left.terms:
            found = _over(left.first(), other.first()) if other.terms else None
            if found is None or len(made.terms) > len(self.terms):
                return None
            made = made.plus(_Sum(dict([found])))
            left = left.plus(other.times(_Sum(dict([found]))), -1)
        return made

    def rounded(self, below: int) -> _Sum:
        """The sum over a number that is not negative, rounded down."""
        whole = {one: count // below for one, count in self.terms.items() if one == () or count % below == 0}
        rest = {one: count if one else count % below for one, count in self.terms.items()}
        rest = {one: count for one, count in rest.items() if count and (not one or count % below)}
        made = _Sum({one: count for one, count in whole.items() if count}, self.factors)
        if not {*rest} - {()}:
            return made
        left = _Sum(rest, self.factors)
        only = [one for one in rest if one]
        inner = self.factors.get(only[0][0]) if len(only) == 1 and len(only[0]) == 1 and rest[only[0]] == 1 else None
        if isinstance(inner, _Quotient):  # (x // a + b) // c is (x + a b) // (a c)
            moved = inner.above.plus(_Sum({(): rest.get((), 0) * inner.below}))
            return made.plus(moved.rounded(inner.below * below))
        text = f"({left.text()}) // {below}"
        return made.plus(_Sum({(text,): 1}, {text: _Quotient(left, below)}))

    def text(self) -> str:
        return " + ".join(" * ".join([*one, str(count)]) for one, count in sorted(self.terms.items()))

    def extent(self) -> Extent:
        """The sum as an extent: what is subtracted stands behind what is added."""
        total: Extent | None = None
        number = self.terms.get((), 0)
        for factors, count in sorted(self.terms.items(), key=lambda one: one[1] < 0):
            if not factors:
                continue
            product = reduce(lambda a, b: a * b, map(self._factor, factors))
            product = product if abs(count) == 1 else product * abs(count)
            if total is None and count < 0:
                total, number = number, 0
            if total is None:
                total = product
            else:
                total = total + product if count > 0 else total - product
        if total is None:
            return number
        return total + number if number > 0 else total - -number if number else total

    def _factor(self, text: str) -> Expr:
        found = self.factors[text]
        if not isinstance(found, _Quotient):
            return found
        above = found.above.extent()
        assert isinstance(above, Expr)  # a number over a number is one
        return above // found.below


def _over(above: tuple[tuple[str, ...], int], below: tuple[tuple[str, ...], int]) -> tuple[tuple[str, ...], int] | None:
    """One term over another one."""
    left = list(above[0])
    for factor in below[0]:
        if factor not in left:
            return None
        left.remove(factor)
    return (tuple(left), above[1] // below[1]) if above[1] % below[1] == 0 else None


def _sum_of(extent: Extent) -> _Sum:
    if isinstance(extent, (int, Const)):
        number = int(extent)
        return _Sum({(): number} if number else {})
    if isinstance(extent, Call) and extent.op in ("add", "sub", "mul", "floordiv"):
        a, b = map(_sum_of, extent.args)
        if extent.op == "mul":
            return a.times(b)
        if extent.op != "floordiv":
            return a.plus(b, 1 if extent.op == "add" else -1)
        number = b.number
        if number is not None and number > 0:
            return a.rounded(number)
    text = str(extent)
    return _Sum({(text,): 1}, {text: extent})
