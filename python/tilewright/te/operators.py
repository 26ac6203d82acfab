"""Python's operators on expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import TilewrightTypeError as TypeError
from ..messages.location import user_source

if TYPE_CHECKING:
    from .expr import Expr, ExprLike

__all__ = ["SYMBOLS", "Operators"]

SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "floormod": "%", "and": "&", "or": "|",
    "xor": "^", "shl": "<<", "shr": ">>", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
}  # fmt: skip
# The functions of NumPy that its scalars call for an operator, and those whose name is another than te's.
_OF_NUMPY = {
    "add": "add", "subtract": "sub", "multiply": "mul", "true_divide": "div", "divide": "div",
    "floor_divide": "floordiv", "remainder": "floormod", "equal": "eq", "not_equal": "ne", "less": "lt",
    "less_equal": "le", "greater": "gt", "greater_equal": "ge", "bitwise_and": "and", "bitwise_or": "or",
    "bitwise_xor": "xor", "left_shift": "shl", "right_shift": "shr",
}  # fmt: skip
_FUNCTION_OF_NUMPY = {
    "absolute": "abs", "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan",
    "arctan2": "atan2", "arctanh": "atanh", "bitwise_count": "popcount", "invert": "bitwise_not",
    "logical_and": "all", "logical_or": "any", "maximum": "max", "minimum": "min", "rint": "nearbyint",
}  # fmt: skip


def _is_scalar(value: object) -> bool:
    """Whether a value of Python's, of NumPy's or an expression is one number."""
    return isinstance(value, Operators) or getattr(value, "shape", ()) == ()


def _binary(op: str, a: object, b: object) -> Expr:
    from .arithmetic import binary

    return binary(op, a, b)


class Operators:
    """What can be computed with as Python does with numbers: each operator makes an expression."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Expr:
        """What NumPy calls for `np.float32(2) * x`, which is the expression, and for `np.exp(x)`, which is refused."""
        op = _OF_NUMPY.get(ufunc.__name__)
        if op is not None and method == "__call__" and all(_is_scalar(each) for each in inputs):
            return _binary(op, *inputs)
        name, source = ufunc.__name__, user_source()
        if op is not None or method != "__call__":
            raise TypeError(f"{source}: np.{name}: expected an expression and a number, got an array")
        from .. import te

        instead = _FUNCTION_OF_NUMPY.get(name, name)
        if instead in te.__all__:
            raise TypeError(f"{source}: expected te.{instead} of an expression, got np.{name}, which takes arrays")
        raise TypeError(f"{source}: expected a function of te on an expression, got np.{name}, which takes arrays")

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
