"""Extents that a program calls by a name: what they are in a case, and how te says them."""

from __future__ import annotations


class Extent(int):
    """An integer with a text, such as ``(n0 + 2)``, which its arithmetic keeps; `divisor` is known to divide it."""

    text: str
    divisor: int

    def __new__(cls, value: int, text: str, divisor: int = 1) -> Extent:
        made = super().__new__(cls, value)
        made.text, made.divisor = text, divisor
        return made

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(self.text, spec)

    def __add__(self, other: int) -> Extent:  # type: ignore[override]
        return self if other == 0 else Extent(int(self) + int(other), f"({self} + {other})")

    def __radd__(self, other: int) -> Extent:  # type: ignore[override]
        return self if other == 0 else Extent(int(self) + int(other), f"({other} + {self})")

    def __sub__(self, other: int) -> Extent:  # type: ignore[override]
        return self if other == 0 else Extent(int(self) - int(other), f"({self} - {other})")

    def __mul__(self, other: int) -> Extent:  # type: ignore[override]
        return self if other == 1 else Extent(int(self) * int(other), f"({self} * {other})")

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> Extent:  # type: ignore[override]
        return self if other == 1 else Extent(int(self) // int(other), f"({self} // {other})")


def ceildiv(extent: int, number: int) -> int:
    """The quotient, rounded up."""
    return (extent + (number - 1)) // number
