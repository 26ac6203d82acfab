"""The values that symbols may have: those of their definitions, or of a class of them that a schedule is made for."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["Ranged", "narrowed"]

_NARROWED: ContextVar[Mapping[Any, tuple[int, int | None]] | None] = ContextVar("_NARROWED", default=None)


@contextmanager
def narrowed(ranges: Mapping[Any, tuple[int, int | None]]) -> Generator[None]:
    """Symbols have these least and greatest values for what is scheduled and emitted in the ``with`` block.

    >>> from tilewright import te
    >>> n = te.var("n", max=4096)
    >>> with narrowed({n: (1, 16)}):
    ...     print(n.minimum, n.maximum)
    1 16
    >>> n.minimum, n.maximum
    (0, 4096)
    """
    token = _NARROWED.set({**(_NARROWED.get() or {}), **ranges})
    try:
        yield
    finally:
        _NARROWED.reset(token)


class Ranged:
    """What has a least value, and a greatest one or None."""

    __slots__ = ()

    _minimum: int
    _maximum: int | None

    def _range(self) -> tuple[int, int | None]:
        ranges = _NARROWED.get()
        return (self._minimum, self._maximum) if not ranges or self not in ranges else ranges[self]

    @property
    def minimum(self) -> int:
        return self._range()[0]

    @minimum.setter
    def minimum(self, value: int) -> None:
        self._minimum = value

    @property
    def maximum(self) -> int | None:
        return self._range()[1]

    @maximum.setter
    def maximum(self, value: int | None) -> None:
        self._maximum = value
