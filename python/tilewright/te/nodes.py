"""TVM's classes of expressions: each makes the expression that it names, and `isinstance` tells which one there is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import TilewrightTypeError as TypeError
from ..messages.location import user_source
from . import functions
from . import reduction as reductions
from .expr import Call as _Call
from .expr import Cast as _Cast
from .expr import Const, Expr, IterVar, Read, ReduceItem
from .expr import Select as _Select
from .expr import Var as _Var
from .extents import IntExtent
from .statements import Load

__all__ = [
    "Add", "And", "BinaryOpExpr", "BufferLoad", "Call", "Cast", "CmpExpr", "ConstExpr", "Div", "EQ", "FloatImm",
    "FloorDiv", "FloorMod", "GE", "GT", "IntImm", "LE", "LT", "LogicalExpr", "Max", "Min", "Mod", "Mul", "NE", "Not",
    "Or", "ProducerLoad", "Reduce", "Select", "SizeVar", "Sub", "Var",
]  # fmt: skip


class _Node(type):
    """A class whose instances are the expressions that `is_one` holds of, and which calls `make` to make one."""

    is_one: Callable[[Any], bool]
    make: Callable[..., Expr]

    def __instancecheck__(cls, value: object) -> bool:
        return cls.is_one(value)

    def __call__(cls, *args: Any, **options: Any) -> Any:
        options.pop("span", None)
        return cls.make(*args, **options)


def _value(value: Any) -> Expr:
    return value if isinstance(value, Expr) else functions.const(value)


def _node(name: str, doc: str, is_one: Callable[[Any], bool], make: Callable[..., Expr]) -> Any:
    return _Node(name, (), {
        "__doc__": doc, "__module__": "tilewright.tir", "is_one": staticmethod(is_one), "make": staticmethod(make),
    })  # fmt: skip


def _operation(name: str, op: str, function: Callable[..., Expr], is_bool: bool | None = None) -> Any:
    """The class of one operation on operands."""

    def make(*operands: Any) -> Expr:
        first, *rest = map(_value, operands)
        return function(first, *rest)

    def is_one(value: object) -> bool:
        is_op = isinstance(value, _Call) and value.op == op
        return is_op and (is_bool is None or (value.dtype == "bool") == is_bool)  # type: ignore[union-attr]

    return _node(name, f"The expression that {function.__name__} makes of its operands.", is_one, make)


def _use(name: str, instead: str) -> Callable[..., Expr]:
    def make(*_: Any, **__: Any) -> Expr:
        raise TypeError(f"{user_source()}: tir.{name}: expected {instead}, which make it, got a call of the class")

    return make


_BINARY: dict[str, tuple[str, Callable[..., Expr]]] = {
    "Add": ("add", functions.add),
    "Sub": ("sub", functions.subtract),
    "Mul": ("mul", functions.multiply),
    "FloorDiv": ("floordiv", functions.floordiv),
    "FloorMod": ("floormod", functions.floormod),
    "Mod": ("truncmod", functions.truncmod),
    "Min": ("min", reductions.min),
    "Max": ("max", reductions.max),
}
_COMPARED = {"EQ": Expr.__eq__, "NE": Expr.__ne__, "LT": Expr.__lt__, "LE": Expr.__le__, "GT": Expr.__gt__}
_COMPARED["GE"] = Expr.__ge__
_OPS = {op for op, _ in _BINARY.values()} | {"div", "truncdiv"}

Add: Any
Sub: Any
Mul: Any
FloorDiv: Any
FloorMod: Any
Mod: Any
Min: Any
Max: Any
Add, Sub, Mul, FloorDiv, FloorMod, Mod, Min, Max = (
    _operation(name, op, function) for name, (op, function) in _BINARY.items()
)
EQ, NE, LT, LE, GT, GE = (_operation(name, name.lower(), function) for name, function in _COMPARED.items())


def _quotient(a: Any, b: Any) -> Expr:
    return functions.div(_value(a), b)


Div: Any = _node(
    "Div",
    "The quotient, of integers rounded towards zero.",
    lambda value: isinstance(value, _Call) and value.op in ("div", "truncdiv"),
    _quotient,
)


def _is_lazy(value: Any, held: bool) -> bool:
    """What te.all and te.any make of conditions that decide which elements are read."""
    if not isinstance(value, _Select) or value.dtype != "bool":
        return False
    other = value.true_value if held else value.false_value
    return value.lazy and isinstance(other, Const) and other.value is held


And: Any = _node(
    "And",
    "te.all of its operands.",
    lambda value: isinstance(value, _Call) and value.op == "and" and value.dtype == "bool" or _is_lazy(value, False),
    lambda *conditions: functions.all(*map(_value, conditions)),
)
Or: Any = _node(
    "Or",
    "te.any of its operands.",
    lambda value: isinstance(value, _Call) and value.op == "or" and value.dtype == "bool" or _is_lazy(value, True),
    lambda *conditions: functions.any(*map(_value, conditions)),
)


def _negation(condition: Any) -> Expr:
    return ~_value(condition)


def _constant(dtype: str, value: Any) -> Expr:
    return functions.const(value, dtype)


Not: Any = _node(
    "Not",
    "The negation of a condition.",
    lambda value: isinstance(value, _Call) and value.op == "xor" and value.dtype == "bool"
    and isinstance(value.args[1], Const) and value.args[1].value is True,
    _negation,
)  # fmt: skip
BinaryOpExpr: Any = _node(
    "BinaryOpExpr", "Arithmetic on two operands.",
    lambda value: isinstance(value, _Call) and value.op in _OPS, _use("BinaryOpExpr", "the operators"),
)  # fmt: skip
CmpExpr: Any = _node(
    "CmpExpr", "A comparison.",
    lambda value: isinstance(value, _Call) and value.op in ("eq", "ne", "lt", "le", "gt", "ge"),
    _use("CmpExpr", "the operators"),
)  # fmt: skip
LogicalExpr: Any = _node(
    "LogicalExpr", "Conditions together, or the negation of one.",
    lambda value: isinstance(value, (And, Or, Not)), _use("LogicalExpr", "te.all, te.any and ~"),
)  # fmt: skip
IntImm: Any = _node(
    "IntImm",
    "``const(value, dtype)`` of an integer or a bool; an extent that is a number is one, too.",
    lambda value: isinstance(value, IntExtent) or isinstance(value, Const) and not value.element_type.is_float,
    _constant,
)
FloatImm: Any = _node(
    "FloatImm",
    "``const(value, dtype)`` of a float.",
    lambda value: isinstance(value, Const) and value.element_type.is_float,
    _constant,
)
ConstExpr: Any = _node(
    "ConstExpr", "A number.", lambda value: isinstance(value, (IntImm, FloatImm)), _use("ConstExpr", "tir.const")
)


def _variable(name: str = "tindex", dtype: str = "int32", **options: Any) -> Expr:
    return functions.var(name, dtype, **options)


def _size_variable(name: str = "size", dtype: str = "int32", **options: Any) -> Expr:
    return functions.size_var(name, dtype, **options)


def _converted(dtype: str, value: Any) -> Expr:
    return _value(value).astype(dtype)


def _element(buffer: Any, indices: Sequence[Any]) -> Expr:
    return buffer[tuple(indices)]


Var: Any = _node(
    "Var",
    "A `te.var`, or an axis as the functions of computes get it.",
    lambda value: isinstance(value, (_Var, IterVar)),
    _variable,
)
SizeVar: Any = _node(
    "SizeVar",
    "A `te.size_var`.",
    lambda value: isinstance(value, _Var) and value.is_size,
    _size_variable,
)
Cast: Any = _node(
    "Cast",
    "``value.astype(dtype)``.",
    lambda value: isinstance(value, _Cast),
    _converted,
)
Select: Any = _node(
    "Select",
    "`te.select`: one of two values, both computed.",
    lambda value: isinstance(value, _Select) and not value.lazy,
    functions.select,
)
Call: Any = _node(
    "Call",
    "A call of a function, such as te.exp or te.if_then_else.",
    lambda value: isinstance(value, _Select) and value.lazy and not isinstance(value, (And, Or))
    or isinstance(value, _Call) and value.op not in _OPS and not isinstance(value, (CmpExpr, LogicalExpr)),
    _use("Call", "te's functions of mathematics"),
)  # fmt: skip
ProducerLoad: Any = _node(
    "ProducerLoad", "One element of a tensor.", lambda value: isinstance(value, Read), _use("ProducerLoad", "A[i, j]")
)
BufferLoad: Any = _node(
    "BufferLoad", "One element of a buffer.", lambda value: isinstance(value, Load),
    _element,
)  # fmt: skip
Reduce: Any = _node(
    "Reduce",
    "A reduction, such as te.sum makes.",
    lambda value: isinstance(value, ReduceItem),
    _use("Reduce", "te.sum, te.max, te.min and te.comm_reducer"),
)
