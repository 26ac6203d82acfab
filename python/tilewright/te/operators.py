"""Python's operators on expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import TilewrightTypeError as TypeError
from ..messages.location import user_source
from .numpy_calls import NumpyOfScalars

if TYPE_CHECKING:
    from .expr import Expr, ExprLike

__all__ = ["SYMBOLS", "Operators"]

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "floormod": "%", "and": "&", "or": "|",
    "xor": "^", "shl": "<<", "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip


def _binary(op: str, a: object, b: object) -> Expr:
    from .arithmetic import binary

    return binary(op, a, b)


class Operators(NumpyOfScalars):
    """What can be computed with as Python does with numbers: each operator makes an expression."""

    __slots__ = ()

    def __add__(self, other: ExprLike) -> Expr:
        return _binary("add", self, other)

    def __radd__(self, other: ExprLike) -> Expr:
        return _binary("add", other, self)

    def __sub__(self, other: ExprLike) -> Expr:
        return _binary("sub", self, other)

    def __rsub__(self, other: ExprLike) -> Expr:
        return _binary("sub", other, self)

    def __mul__(self, other: ExprLike) -> Expr:
        return _binary("mul", self, other)

    def __rmul__(self, other: ExprLike) -> Expr:
        return _binary("mul", other, self)

    def __truediv__(self, other: ExprLike) -> Expr:
        return _binary("div", self, other)

    def __rtruediv__(self, other: ExprLike) -> Expr:
        return _binary("div", other, self)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return _binary("floordiv", self, other)

    def __rfloordiv__(self, other: ExprLike) -> Expr:
        return _binary("floordiv", other, self)

    def __mod__(self, other: ExprLike) -> Expr:
        return _binary("floormod", self, other)

    def __rmod__(self, other: ExprLike) -> Expr:
        return _binary("floormod", other, self)

    def __and__(self, other: ExprLike) -> Expr:
        return _binary("and", self, other)

    def __rand__(self, other: ExprLike) -> Expr:
        return _binary("and", other, self)

    def __or__(self, other: ExprLike) -> Expr:
        return _binary("or", self, other)

    def __ror__(self, other: ExprLike) -> Expr:
        return _binary("or", other, self)

    def __xor__(self, other: ExprLike) -> Expr:
        return _binary("xor", self, other)

    def __rxor__(self, other: ExprLike) -> Expr:
        return _binary("xor", other, self)

    def __pow__(self, other: ExprLike) -> Expr:
        return _binary("power", self, other)

    def __rpow__(self, other: ExprLike) -> Expr:
        return _binary("power", other, self)

    def __lshift__(self, other: ExprLike) -> Expr:
        return _binary("shl", self, other)

    def __rlshift__(self, other: ExprLike) -> Expr:
        return _binary("shl", other, self)

    def __rshift__(self, other: ExprLike) -> Expr:
        return _binary("shr", self, other)

    def __rrshift__(self, other: ExprLike) -> Expr:
        return _binary("shr", other, self)

    def __abs__(self) -> Expr:
        from .functions import abs

        return abs(self)  # type: ignore[arg-type]

    def __round__(self, _: int | None = None) -> Expr:
        raise TypeError(f"{user_source()}: expected te.nearbyint or te.round of an expression, got Python's round")

    def __int__(self) -> int:
        raise TypeError(f"{user_source()}: expected .astype on an expression, got int(), which needs its value now")

    def __float__(self) -> float:
        raise TypeError(
            f"{user_source()}: expected a function of te or .astype on an expression, got float() or a function of "
            "math, which need its value now"
        )

    def __lt__(self, other: ExprLike) -> Expr:
        return _binary("lt", self, other)

    def __le__(self, other: ExprLike) -> Expr:
        return _binary("le", self, other)

    def __gt__(self, other: ExprLike) -> Expr:
        return _binary("gt", self, other)

    def __ge__(self, other: ExprLike) -> Expr:
        return _binary("ge", self, other)

    def __eq__(self, other: object) -> Expr:  # type: ignore[override]
        if other is None:
            return False  # type: ignore[return-value]
        return _binary("eq", self, other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> Expr:  # type: ignore[override]
        if other is None:
            return True  # type: ignore[return-value]
        return _binary("ne", self, other)  # type: ignore[arg-type]
