"""NumPy's functions on expressions and on tensors: operators of its scalars, and errors that name te's function."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from ..errors import TilewrightTypeError as TypeError
from ..messages.location import user_source

if TYPE_CHECKING:
    from .expr import Expr
    from .tensor import Tensor

__all__ = ["NumpyOfElements", "NumpyOfScalars"]

# The functions of NumPy that its scalars call for an operator.
_OPERATORS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "true_divide": "div", "divide": "div",
    "floor_divide": "floordiv", "remainder": "floormod", "equal": "eq", "not_equal": "ne", "less": "lt",
    "less_equal": "le", "greater": "gt", "greater_equal": "ge", "bitwise_and": "and", "bitwise_or": "or",
    "bitwise_xor": "xor", "left_shift": "shl", "right_shift": "shr",
}  # fmt: skip
# What to write for those whose name is another than te's.
_INSTEAD = {
    "absolute": "te.abs", "amax": "te.max", "amin": "te.min", "arccos": "te.acos", "arccosh": "te.acosh",
    "arcsin": "te.asin", "arcsinh": "te.asinh", "arctan": "te.atan", "arctan2": "te.atan2", "arctanh": "te.atanh",
    "around": "te.nearbyint or te.round", "bitwise_count": "te.popcount", "clip": "te.min and te.max",
    "dot": "te.sum", "einsum": "te.sum", "inner": "te.sum", "invert": "te.bitwise_not", "logical_and": "te.all",
    "logical_or": "te.any", "matmul": "te.sum", "maximum": "te.max", "mean": "te.sum", "minimum": "te.min",
    "negative": "the operator -", "reciprocal": "the operator /", "rint": "te.nearbyint",
    "round": "te.nearbyint or te.round", "select": "te.select or te.if_then_else", "square": "the operator *",
    "tensordot": "te.sum", "vdot": "te.sum", "where": "te.select or te.if_then_else",
}  # fmt: skip


def _is_scalar(value: object) -> bool:
    """Whether a value of Python's, of NumPy's or an expression is one number."""
    return isinstance(value, NumpyOfScalars) or getattr(value, "shape", ()) == ()


def _instead_of(name: str) -> str:
    """What an expression is written with instead of a function of NumPy's."""
    from .. import te

    return _INSTEAD.get(name) or (f"te.{name}" if name in te.__all__ else "a function of te")


def _name(function: Callable[..., Any]) -> str:
    """A function of NumPy's as users write it: np.linalg.norm."""
    return f"{function.__module__.replace('numpy', 'np', 1)}.{function.__name__}"


class NumpyOfScalars:
    """What NumPy asks of an expression when one of its functions is called with it."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Expr:
        """What NumPy calls for `np.float32(2) * x`, which is the expression, and for `np.exp(x)`, which is refused."""
        from .arithmetic import binary

        op = _OPERATORS.get(ufunc.__name__)
        if op is not None and method == "__call__" and all(_is_scalar(each) for each in inputs):
            return binary(op, *inputs)
        name, source = ufunc.__name__, user_source()
        if op is not None or method != "__call__":
            raise TypeError(f"{source}: np.{name}: expected an expression and a number, got an array")
        raise TypeError(f"{source}: {_expected(name)}, got np.{name}, which takes arrays")

    def __array_function__(self, function: Callable[..., Any], *_: Any) -> Any:
        """What NumPy calls for its functions of arrays, as for `np.where(x > 0, x, 0)`: all are refused."""
        raise TypeError(f"{user_source()}: {_expected(function.__name__)}, got {_name(function)}, which takes arrays")


def _expected(name: str) -> str:
    instead = _instead_of(name)
    return f"expected {instead} {'on' if instead == 'a function of te' else 'of'} an expression"


class NumpyOfElements:
    """What NumPy asks of a tensor, whose elements have no values yet: all functions are refused."""

    __slots__ = ()

    def __array_ufunc__(self, ufunc: Any, *_: Any, **__: Any) -> Any:
        from .arithmetic import literal

        if ufunc.__name__ in _OPERATORS:
            literal(self, None, user_source())
        raise self._refused(ufunc.__name__, f"np.{ufunc.__name__}")

    def __array_function__(self, function: Callable[..., Any], *_: Any) -> Any:
        raise self._refused(function.__name__, _name(function))

    def _refused(self, name: str, written: str) -> TypeError:
        tensor = cast("Tensor", self)
        return TypeError(
            f"{user_source()}: expected {_instead_of(name)} on one element, {tensor.name}[...] with {tensor.ndim} "
            f"indices, got {written} of the tensor {tensor.name}"
        )
