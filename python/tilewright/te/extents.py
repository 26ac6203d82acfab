"""What shapes and axes are made of, with the attributes that scripts for TVM read of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..guards import is_list

if TYPE_CHECKING:
    from .expr import Expr

__all__ = ["Array", "IntExtent", "Range", "as_extent"]

Item = TypeVar("Item")


class IntExtent(int):
    """An extent that is a number: an int, and what TVM's ``IntImm`` is, ``A.shape[0].value``.

    >>> from tilewright import te
    >>> n = te.placeholder((64, 32), name="A").shape[0]
    >>> n == 64, n.value, (n // 4).value
    (True, 64, 16)
    """

    __slots__ = ()
    dtype = "int32"

    @property
    def value(self) -> int:
        """The number itself."""
        return int(self)


def _closed(name: str) -> Any:
    of_int = getattr(int, name)

    def method(self: int, *args: Any) -> Any:
        made = of_int(self, *args)
        return IntExtent(made) if type(made) is int else made

    method.__name__ = method.__qualname__ = name
    return method


# What is made of extents by whole numbers is an extent again.
for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(IntExtent, f"__{_name}__", _closed(f"__{_name}__"))
    setattr(IntExtent, f"__r{_name}__", _closed(f"__r{_name}__"))
IntExtent.__neg__ = _closed("__neg__")


def as_extent(extent: Any) -> Any:
    """An int as an extent; an expression is one."""
    return IntExtent(extent) if isinstance(extent, int) else extent


class Range(NamedTuple):
    """The values of an axis, ``axis.dom``: from `min` on, `extent` of them.

    >>> from tilewright import te
    >>> te.reduce_axis((2, 10), name="k").dom
    Range(min=2, extent=8)
    """

    min: int
    extent: int | Expr


class Array(tuple[Item, ...]):
    """Axes, or extents: a tuple that may be added to a list, as ``op.axis + [k]``."""

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return [*self, *other] if is_list(other) else Array((*self, *other))

    def __radd__(self, other: Iterable[Any]) -> Any:
        return [*other, *self]
