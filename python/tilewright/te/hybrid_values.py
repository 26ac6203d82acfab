"""Expressions of hybrid scripts: numbers, elements and calls, read from Python's syntax tree."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import TilewrightTypeError, TilewrightValueError
from ..guards import is_listed, is_tuple
from ..messages.location import Source, at_source
from . import functions
from .expr import Const, Expr
from .hybrid_names import ALLOCATIONS, FUNCTIONS, LOOPS
from .statements import Buffer, Load
from .tensor import Tensor

__all__ = ["ARITHMETIC", "Scalar", "ValueReader", "called", "number_of"]

ARITHMETIC: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
    ast.Pow: lambda a, b: functions.power(a, b) if isinstance(a, Expr) or isinstance(b, Expr) else a**b,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}  # fmt: skip


class ValueReader:
    """Reads expressions of a script. Whoever reads its statements binds the names."""

    name: str
    _file: str
    _definition: ast.FunctionDef
    _function: Callable[..., Any]
    _closure: Mapping[str, Any]
    _names: dict[str, Any]
    _waiting: list[Buffer]
    _gone: list[Buffer]

    def _source(self, node: ast.AST) -> Source:
        return Source(self._file, getattr(node, "lineno", self._definition.lineno))

    def _error(self, node: ast.AST, message: str, kind: type[Exception] = TilewrightValueError) -> Exception:
        return kind(f"{self._source(node)}: hybrid.script {self.name}: {message}")

    def _called_script(self, node: ast.Call, script: Callable[..., Any], arguments: list[Any]) -> Any:
        """The statements of another script, here; its output tensors are buffers of this one."""
        raise NotImplementedError

    def _value(self, node: ast.expr) -> Any:
        visit = getattr(self, f"_value_{type(node).__name__}", None)
        if visit is None:
            raise self._error(node, f"expected an expression of numbers and elements, got {ast.unparse(node)}")
        with at_source(self._source(node)):
            return visit(node)

    def _value_Constant(self, node: ast.Constant) -> Any:
        return node.value

    def _value_Tuple(self, node: ast.Tuple | ast.List) -> Any:
        return tuple(self._value(one) for one in node.elts)

    _value_List = _value_Tuple

    def _value_Name(self, node: ast.Name) -> Any:
        if node.id in self._names:
            value = self._names[node.id]
            if isinstance(value, Scalar):
                return value.load()
            if any(value is one for one in (*self._waiting, *self._gone)):
                where = "before" if any(value is one for one in self._waiting) else "after"
                raise self._error(
                    node,
                    f"expected the {value.scope} buffer {node.id} in one nest of bind loops, got it {where} that",
                )
            return value
        value = self._outside(node)
        if isinstance(value, Tensor):
            raise self._error(node, f"expected the tensor {node.id} as an argument, got it from outside")
        return value

    def _outside(self, node: ast.Name) -> Any:
        """What a name is where the function was defined."""
        for names in (self._closure, self._function.__globals__, vars(builtins)):
            if node.id in names:
                return names[node.id]
        raise self._error(node, f"expected a name that has a value here, got {node.id}")

    def _value_Attribute(self, node: ast.Attribute) -> Any:
        value = self._value(node.value)
        if not hasattr(value, node.attr):
            raise self._error(node, f"expected an attribute of {ast.unparse(node.value)}, got {node.attr}")
        return getattr(value, node.attr)

    def _value_Subscript(self, node: ast.Subscript) -> Any:
        value = self._value(node.value)
        if isinstance(value, Buffer):
            return Load(value, value.check(self._indices(node), self._source(node)), self._source(node))
        for index in map(number_of, self._indices(node)):
            if not is_listed(value) or index is None:
                raise self._error(node, f"expected an element of a tensor or a tuple, got {ast.unparse(node)}")
            if not -len(value) <= index < len(value):
                raise self._error(node, f"expected an index below {len(value)}, got {index}")
            value = value[index]
        return value

    def _indices(self, node: ast.Subscript) -> tuple[Any, ...]:
        found = self._value(node.slice)
        return found if is_tuple(found) else (found,)

    def _value_BinOp(self, node: ast.BinOp) -> Any:
        if type(node.op) not in ARITHMETIC:
            raise self._error(node, f"expected an operator on numbers, got {ast.unparse(node)}")
        return ARITHMETIC[type(node.op)](self._value(node.left), self._value(node.right))

    def _value_UnaryOp(self, node: ast.UnaryOp) -> Any:
        value = self._value(node.operand)
        if isinstance(node.op, ast.Not):
            return ~value if isinstance(value, Expr) else not value
        operators: dict[type[ast.unaryop], Callable[[Any], Any]] = {
            ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert,
        }  # fmt: skip
        return operators[type(node.op)](value)

    def _value_BoolOp(self, node: ast.BoolOp) -> Any:
        is_and = isinstance(node.op, ast.And)
        exprs: list[Expr] = []
        for one in node.values:
            value = self._value(one)
            if isinstance(value, Expr):
                exprs.append(value)
            elif bool(value) != is_and:  # decides it
                return not is_and
        if not exprs:
            return is_and
        return (functions.all if is_and else functions.any)(*exprs)

    def _value_Compare(self, node: ast.Compare) -> Any:
        values = [self._value(one) for one in (node.left, *node.comparators)]
        results: list[Any] = []
        for op, lhs, rhs in zip(node.ops, values, values[1:]):
            if type(op) not in ARITHMETIC:
                raise self._error(node, f"expected a comparison of numbers, got {ast.unparse(node)}")
            results.append(ARITHMETIC[type(op)](lhs, rhs))
        exprs = [one for one in results if isinstance(one, Expr)]
        if not all(one for one in results if not isinstance(one, Expr)):
            return False
        return functions.all(*exprs) if exprs else True

    def _value_IfExp(self, node: ast.IfExp) -> Any:
        condition = self._value(node.test)
        if not isinstance(condition, Expr):
            return self._value(node.body if condition else node.orelse)
        return functions.if_then_else(condition, self._value(node.body), self._value(node.orelse))

    def _value_Call(self, node: ast.Call) -> Any:
        name = called(node)
        if name in (*LOOPS, "const_range", "bind") or name in ALLOCATIONS:
            where = "a loop, for i in" if name not in ALLOCATIONS else "an assignment to a name,"
            raise self._error(node, f"expected {name} in {where} {ast.unparse(node)}, got it elsewhere")
        if node.keywords and name in FUNCTIONS:
            raise self._error(node, f"expected arguments of {name} by position, got {ast.unparse(node)}")
        arguments = [self._value(one) for one in node.args]
        if name in FUNCTIONS and name not in self._names:
            return FUNCTIONS[name](*arguments)
        function = self._value(node.func)
        script = getattr(function, "hybrid_function", None)
        if script is not None:
            return self._called_script(node, script, arguments)
        if not callable(function):
            raise self._error(node, f"expected a function, got {ast.unparse(node.func)}", TilewrightTypeError)
        options = {one.arg: self._value(one.value) for one in node.keywords if one.arg is not None}
        made = function(*arguments, **options)
        if isinstance(made, Tensor):
            raise self._error(node, f"expected a value or a script, got a tensor of {ast.unparse(node.func)}")
        return made


class Scalar:
    """A name that is assigned more than once: a buffer of one element."""

    __slots__ = ("buffer", "source")

    def __init__(self, buffer: Buffer, source: Source) -> None:
        self.buffer: Buffer = buffer
        self.source: Source = source

    def place(self) -> tuple[Expr, ...]:
        return self.buffer.check(0, self.source)

    def load(self) -> Load:
        return Load(self.buffer, self.place(), self.source)


def called(node: ast.AST) -> str:
    """The name of the function that is called; "" where it is no call of a name."""
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""


def number_of(value: Any) -> int | None:
    """A value as a known integer, None where it is none."""
    if isinstance(value, Const):
        value = value.value
    return value if isinstance(value, int) and not isinstance(value, bool) else None
