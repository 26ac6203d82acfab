"""What operators make of their operands: literals in the type of the other, checks, and the operation."""

from __future__ import annotations

from typing import Any

from ..dtypes import DType, dtype_of, fits
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import Source, user_source
from .expr import Call, Cast, Const, Expr
from .operators import SYMBOLS

__all__ = ["binary", "constant", "literal", "need_arithmetic", "negative", "unify", "whole"]

_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
_BITWISE = ("and", "or", "xor", "shl", "shr")


def literal(value: object, like: Expr | None, source: Source) -> Expr:
    """A Python number as an expression of the type of `like`, or of its own natural type; an expression is itself."""
    if isinstance(value, Expr):
        return value
    from .tensor import Tensor, TensorRegion, TensorSlice

    if isinstance(value, TensorRegion):
        position = next(place for place, index in enumerate(value.indices) if isinstance(index, slice))
        raise TypeError(f"{source}: index {position} of {value.tensor.name}: expected one element, got a slice")
    if isinstance(value, (Tensor, TensorSlice)):
        missing = f"one element of it, {value.name}[...] with {value.ndim} indices"
        raise TypeError(f"{source}: expected a scalar, got the tensor {value.name}: read {missing}")
    if type(value).__module__ == "numpy" and (item := getattr(value, "item", None)) is not None:
        if getattr(value, "size", 1) != 1:
            shape = getattr(value, "shape", ())
            raise TypeError(
                f"{source}: expected an expression or a number, got an array of shape {shape}: an array is a "
                "te.placeholder, and an argument of the call"
            )
        value = item()
    if not isinstance(value, (bool, int, float)):
        raise TypeError(f"{source}: expected an expression or a number, got {value!r}")
    kind = "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
    if like is None:
        return constant(value, dtype_of({"bool": "bool", "int": "int32", "float": "float32"}[kind]), source)
    if kind != "float" and like.is_index:
        return Const(int(value), like.element_type, source, is_index=True)
    if kind == "float" and not like.element_type.is_float or (kind == "int") and like.element_type.kind == "bool":
        raise TypeError(f"{source}: expected operands of one dtype, got {like.dtype} and the {kind} {value!r}")
    return constant(value, like.element_type, source)


def whole(value: Any) -> Any:
    """The number that an integer constant is, or a sum or product of such; anything else itself."""
    if not isinstance(value, Expr) or not value.element_type.is_integer:
        return value
    from .linear import linear_of

    linear = linear_of(value)
    return value if linear is None or linear.terms else linear.constant


def constant(value: int | float | bool, dtype: DType, source: Source) -> Const:
    """A number of a given type, which must have it."""
    if dtype.is_integer:
        if isinstance(value, float) and not value.is_integer():
            raise TypeError(f"{source}: expected a value of {dtype}, got {value!r}")
        if not fits(int(value), dtype):
            raise ValueError(f"{source}: expected a value of {dtype}, got {value!r}, which it does not have")
        return Const(int(value), dtype, source)
    if dtype.kind == "bool":
        return Const(bool(value), dtype, source)
    return Const(float(value), dtype, source)


def need_arithmetic(what: str, value: Expr, source: Source) -> None:
    """Storage types are converted before anything is computed with them; bools are no numbers."""
    if value.element_type.storage:
        raise TypeError(
            f"{source}: '{what}': expected a dtype with arithmetic, got {value.dtype}, which only stores: "
            "convert it with .astype"
        )
    if value.element_type.kind == "bool" and what not in ("==", "!=", "&", "|", "^", "min", "max"):
        raise TypeError(f"{source}: '{what}': expected a number, got bool: convert it with .astype")


def unify(what: str, lhs: object, rhs: object, source: Source) -> tuple[Expr, Expr]:
    """Two operands in one type: numbers take the other's, index arithmetic that of int32 or int64 data."""
    if not isinstance(lhs, Expr) and not isinstance(rhs, Expr):
        first = literal(lhs, None, source)
        return first, literal(rhs, first, source)
    if not isinstance(lhs, Expr):
        return literal(lhs, rhs if isinstance(rhs, Expr) else None, source), rhs  # type: ignore[return-value]
    if not isinstance(rhs, Expr):
        return lhs, literal(rhs, lhs, source)
    if lhs.is_index != rhs.is_index:
        index, data = (lhs, rhs) if lhs.is_index else (rhs, lhs)
        if isinstance(data, Const) and data.dtype == "int32":
            data = Const(data.value, data.element_type, data.source, is_index=True)
        elif data.dtype in ("int32", "int64"):
            index = Cast(index, data.element_type, source)
        return_pair = (index, data) if lhs.is_index else (data, index)
        lhs, rhs = return_pair
    if lhs.element_type is not rhs.element_type:
        raise TypeError(
            f"{source}: '{what}': expected operands of one dtype, got {lhs.dtype} and {rhs.dtype}: "
            "convert one with .astype"
        )
    return lhs, rhs


def binary(op: str, a: object, b: object) -> Expr:
    """`a op b` with the checks that every binary operation has."""
    source = user_source()
    what = SYMBOLS.get(op, op)
    lhs, rhs = unify(what, a, b, source)
    need_arithmetic(what, lhs, source)
    dtype = lhs.element_type
    if op == "div" and not dtype.is_float:
        raise TypeError(
            f"{source}: '/': expected floats, got {dtype}: integers are divided by //, te.floordiv or te.truncdiv"
        )
    if op in _BITWISE and dtype.is_float:
        raise TypeError(f"{source}: '{what}': expected integers or bools, got {dtype}")
    if op in _COMPARISONS:
        return Call(op, (lhs, rhs), dtype_of("bool"), source)
    is_index = lhs.is_index and rhs.is_index
    if is_index and op in _BITWISE:
        lhs, rhs, is_index = Cast(lhs, dtype, source), Cast(rhs, dtype, source), False
    if op in ("floordiv", "floormod", "truncdiv", "truncmod", "div") and isinstance(rhs, Const) and rhs.value == 0:
        if not dtype.is_float:
            raise ValueError(f"{source}: '{what}': expected a divisor other than 0, got 0")
    return Call(op, (lhs, rhs), dtype, source, is_index)


def negative(value: Expr) -> Expr:
    """`-value`."""
    source = user_source()
    need_arithmetic("-", value, source)
    if value.element_type.is_float:
        return Call("neg", (value,), value.element_type, source)
    return binary("sub", 0, value)
