"""Hybrid scripts as statements: the Python of a function, read from its source and never run."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..dtypes import dtype_of
from ..errors import TilewrightTypeError, TilewrightValueError
from ..guards import is_listed
from ..messages.location import Source, at_source
from . import functions
from .arithmetic import literal
from .expr import Const, Expr, IterVar
from .hybrid_names import ALLOCATIONS, LOOPS
from .hybrid_values import ARITHMETIC, Scalar, ValueReader, called, number_of
from .ir_builder import IRBuilder
from .shapes import checked_extents
from .statements import Buffer, Load, store

__all__ = ["Parser", "definition_of"]

_UNROLLED = 1 << 14


def definition_of(function: Callable[..., Any], source: Source) -> tuple[ast.FunctionDef, str]:
    """The definition of a function as Python's syntax tree, with the lines of its file, and the file."""
    try:
        lines, first = inspect.getsourcelines(function)
        file = inspect.getsourcefile(function) or "?"
    except (OSError, TypeError):
        raise TilewrightValueError(
            f"{source}: hybrid.script: expected a function whose source can be read, got {function!r}"
        ) from None
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
    found = tree.body[0]
    if not isinstance(found, ast.FunctionDef):
        raise TilewrightValueError(f"{source}: hybrid.script: expected a function made by def, got {function!r}")
    return found, file


class Parser(ValueReader):
    """Reads one call of a script: `arguments` stand for its parameters, statements go to `builder`.

    A name is bound to a known number, an expression, a buffer, or a tuple of these. A buffer is a tensor, comes from
    `allocate`, or has the one element of a variable that is assigned more than once.
    """

    name: str

    def __init__(
        self, function: Callable[..., Any], arguments: Sequence[Any], builder: IRBuilder, source: Source, *,
        callers: tuple[Callable[..., Any], ...] = (),
    ) -> None:  # fmt: skip
        self._function, self._builder, self._callers = function, builder, callers
        self._definition, self._file = definition_of(function, source)
        self.name = self._definition.name
        self._names: dict[str, Any] = {}
        parameters = self._definition.args
        names = [one.arg for one in (*parameters.posonlyargs, *parameters.args)]
        if parameters.vararg or parameters.kwarg or parameters.kwonlyargs:
            raise self._error(self._definition, "expected parameters by position alone, got others")
        if len(names) != len(arguments):
            raise TilewrightValueError(
                f"{source}: hybrid.script {self.name}: expected {len(names)} arguments ({', '.join(names)}), "
                f"got {len(arguments)}"
            )
        self._names.update(zip(names, arguments))
        self._closure = inspect.getclosurevars(function).nonlocals
        stores = [one.id for one in ast.walk(self._definition) if isinstance(one, ast.Name) and _stores(one)]
        self._assigned_again = {name for name in stores if stores.count(name) > 1}
        self._assigned_again |= {
            one.target.id
            for one in ast.walk(self._definition)
            if isinstance(one, ast.AugAssign) and isinstance(one.target, ast.Name)
        }
        self._has_threads = any(isinstance(one, ast.For) and called(one.iter) == "bind" for one in self._walk())
        self._waiting: list[Buffer] = []  # of a thread's own or a block's, until there are threads
        self._gone: list[Buffer] = []
        self._in_threads = False
        self._depth = 0
        self._outputs: list[Buffer] = []
        self.loops: list[IterVar] = []
        self.returned: list[Buffer] | None = None

    def parse(self) -> list[Buffer]:
        """The buffers that are returned."""
        self._block(self._definition.body)
        if self.returned is None:
            raise self._error(self._definition, "expected a return of output tensors at its end, got none")
        left = [one.name for one in self._outputs if one not in self.returned]
        if left:
            raise self._error(self._definition, f"expected all output tensors to be returned, got {left[0]} left out")
        return self.returned

    # Where we are.

    def _walk(self) -> Iterator[ast.AST]:
        return ast.walk(self._definition)

    # Statements.

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for one in statements:
            if isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant) and isinstance(one.value.value, str):
                continue
            if self.returned is not None:
                raise self._error(one, "expected the return to be the last statement, got more after it")
            visit = getattr(self, f"_visit_{type(one).__name__}", None)
            if visit is None:
                what = type(one).__name__.lower()
                raise self._error(one, f"expected loops, choices, assignments and a return, got the statement '{what}'")
            with at_source(self._source(one)):
                visit(one)

    @contextmanager
    def _scope(self) -> Generator[None]:
        """Names that are first bound in a block are not known after it."""
        names = dict(self._names)
        self._depth += 1
        yield
        self._depth -= 1
        self._names = {name: self._names[name] for name in names}

    def _visit_Pass(self, node: ast.Pass) -> None:
        pass

    def _visit_For(self, node: ast.For) -> None:
        if not isinstance(node.target, ast.Name):
            raise self._error(node, "expected one name as the loop's variable, got several")
        if node.orelse:
            raise self._error(node, "expected a loop without else, got one with")
        kind, name = called(node.iter), node.target.id
        if not isinstance(node.iter, ast.Call) or kind not in (*LOOPS, "const_range", "bind"):
            known = ", ".join((*LOOPS, "const_range", "bind"))
            raise self._error(node, f"expected a loop over one of {known}, got {ast.unparse(node.iter)}")
        if name in self._assigned_again:
            first = [
                one for one in self._walk() if isinstance(one, (ast.Assign, ast.AugAssign)) and name in _targets(one)
            ]
            if first:
                raise self._error(first[0], f"expected the loop variable {name} to stay as it is, got an assignment")
        arguments = [self._value(one) for one in node.iter.args]
        if kind == "bind":
            return self._threads(node, name, arguments)
        if len(arguments) not in (1, 2) or node.iter.keywords:
            raise self._error(node, f"expected {kind}(end) or {kind}(begin, end), got {ast.unparse(node.iter)}")
        begin, end = (0, *arguments) if len(arguments) == 1 else arguments
        if kind == "const_range":
            return self._unrolled(node, name, begin, end)
        with self._builder.for_range(begin, end, name=name, kind=LOOPS[kind]) as var, self._scope():
            self.loops.append(var)
            self._names[name] = var
            self._block(node.body)

    def _unrolled(self, node: ast.For, name: str, begin: Any, end: Any) -> None:
        first, last = number_of(begin), number_of(end)
        if first is None or last is None:
            raise self._error(node, f"expected const_range of numbers that are known now, got {begin} to {end}")
        if last - first > _UNROLLED:
            raise self._error(node, f"expected const_range of at most {_UNROLLED} iterations, got {last - first}")
        for value in range(first, last):
            with self._scope():
                self._names[name] = value
                self._block(node.body)

    def _threads(self, node: ast.For, name: str, arguments: list[Any]) -> None:
        if len(arguments) != 2 or not isinstance(arguments[0], str):
            raise self._error(node, 'expected bind(thread_index, extent), such as bind("threadIdx.x", 64), got others')
        tag, extent = arguments
        outside = not self._in_threads
        with self._builder.new_scope(), self._scope():
            axis = functions.thread_axis(tag, name=name)
            key = "virtual_thread" if tag.startswith("vthread") else "thread_extent"
            self._builder.scope_attr(axis, key, extent)
            self.loops.append(axis)
            self._names[name], self._in_threads = axis, True
            inner = [one for one in node.body if not isinstance(one, ast.Expr)]
            begun: list[Buffer] = []
            if not (len(inner) == 1 and isinstance(inner[0], ast.For) and called(inner[0].iter) == "bind"):
                begun, self._waiting = self._waiting, []
                for buffer in begun:
                    self._builder.emit(buffer)
            self._block(node.body)
            self._gone += begun
        if outside:
            self._in_threads = False

    def _visit_While(self, node: ast.While) -> None:
        condition = self._value(node.test)
        with self._builder.while_loop(condition), self._scope():
            self._block(node.body)

    def _visit_If(self, node: ast.If) -> None:
        condition = self._value(node.test)
        if not isinstance(condition, Expr) or isinstance(condition, Const):
            holds = condition.value if isinstance(condition, Const) else condition
            return self._block(node.body if holds else node.orelse)
        with self._builder.if_scope(condition), self._scope():
            self._block(node.body)
        if node.orelse:
            with self._builder.else_scope(), self._scope():
                self._block(node.orelse)

    def _visit_Return(self, node: ast.Return) -> None:
        if self._depth:
            raise self._error(node, "expected the return outside of loops and choices, got it inside")
        values = node.value.elts if isinstance(node.value, (ast.Tuple, ast.List)) else [node.value]
        found = [self._names.get(one.id) if isinstance(one, ast.Name) else None for one in values]
        for one, value in zip(found, values):
            if one is None or not any(one is buffer for buffer in self._outputs):
                text = "nothing" if value is None else ast.unparse(value)
                raise self._error(node, f"expected a return of output tensors, got {text}")
        if len({id(one) for one in found}) != len(found):
            raise self._error(node, "expected different output tensors to be returned, got one twice")
        self.returned = found  # type: ignore[assignment]

    def _visit_Expr(self, node: ast.Expr) -> None:
        raise self._error(node, f"expected a statement that has an effect, got {ast.unparse(node)}")

    def _visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node, [node.target], node.value)

    def _visit_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) != 1:
            raise self._error(node, "expected one assignment in a statement, got several")
        target = node.targets[0]
        self._assign(node, target.elts if isinstance(target, ast.Tuple) else [target], node.value)

    def _assign(self, node: ast.stmt, targets: Sequence[ast.expr], given: ast.expr) -> None:
        name = targets[0].id if isinstance(targets[0], ast.Name) else ""
        if called(given) in ALLOCATIONS and called(given) not in self._names:
            if len(targets) != 1 or not name:
                raise self._error(node, f"expected one name for a buffer, got {ast.unparse(node)}")
            assert isinstance(given, ast.Call)
            self._names[name] = self._allocated(given, name)
            return
        value = self._value(given)
        values = [value] if len(targets) == 1 else value
        if not is_listed(values) or len(values) != len(targets):
            raise self._error(node, f"expected {len(targets)} values, got {ast.unparse(given)}")
        for target, one in zip(targets, values):
            if isinstance(target, ast.Name):
                self._bind_name(node, target.id, one)
            else:
                self._store(node, target, lambda _, one=one: one)

    def _visit_AugAssign(self, node: ast.AugAssign) -> None:
        if type(node.op) not in ARITHMETIC:
            raise self._error(node, f"expected an operator on numbers, got {ast.unparse(node)}")
        combine = ARITHMETIC[type(node.op)]
        added = self._value(node.value)
        if isinstance(node.target, ast.Name):
            known = self._names.get(node.target.id)
            if not isinstance(known, Scalar):
                raise self._error(node, f"expected a value of {node.target.id} before, got none")
            self._builder.emit(store(known.buffer, known.place(), combine(known.load(), added), self._source(node)))
        else:
            self._store(node, node.target, lambda element: combine(element, added))

    def _store(self, node: ast.stmt, target: ast.expr, value: Callable[[Expr], Any]) -> None:
        if not isinstance(target, ast.Subscript):
            raise self._error(node, f"expected an element or a name to assign to, got {ast.unparse(target)}")
        buffer = self._value(target.value)
        if not isinstance(buffer, Buffer):
            raise self._error(node, f"expected a tensor to assign an element of, got {ast.unparse(target.value)}")
        source = self._source(node)
        places = buffer.check(self._indices(target), source)
        stored = value(Load(buffer, places, source))
        if not isinstance(stored, (Expr, int, float)) and not hasattr(stored, "__float__"):
            raise self._error(node, f"expected a number to store, got {stored!r}", TilewrightTypeError)
        self._builder.emit(store(buffer, places, stored, source))

    def _bind_name(self, node: ast.stmt, name: str, value: Any) -> None:
        known = self._names.get(name)
        if name in self._assigned_again and isinstance(value, (Expr, int, float)):
            if not isinstance(known, Scalar):
                dtype = literal(value, None, self._source(node)).dtype
                known = Scalar(self._builder.allocate(dtype, (1,), name=name).buffer, self._source(node))
                self._names[name] = known
            self._builder.emit(store(known.buffer, known.place(), value, self._source(node)))
        elif isinstance(value, Expr) and not value.is_index and _loads(value):
            # An element may be stored to before the name is used.
            scalar = Scalar(self._builder.allocate(value.dtype, (1,), name=name).buffer, self._source(node))
            self._builder.emit(store(scalar.buffer, scalar.place(), value, self._source(node)))
            self._names[name] = scalar
        else:
            self._names[name] = value

    def _allocated(self, call: ast.Call, name: str) -> Buffer:
        is_output = called(call) == "output_tensor"
        arguments = [self._value(one) for one in call.args]
        options = {one.arg: self._value(one.value) for one in call.keywords}
        given = dict(zip(("shape", "dtype", "scope"), arguments)) | options
        unknown = set(given) - ({"shape", "dtype"} if is_output else {"shape", "dtype", "scope"})
        if unknown or "shape" not in given or len(arguments) > 3:
            form = f"{called(call)}(shape, dtype{'' if is_output else ', scope'})"
            raise self._error(call, f"expected {form}, got {ast.unparse(call)}")
        source = self._source(call)
        shape = given["shape"]
        extents = checked_extents(shape, f"hybrid.script {self.name}: {name}", source)
        dtype, scope = dtype_of(given.get("dtype", "float32"), source), given.get("scope", "")
        if scope not in ("", "local", "shared", "global"):
            raise self._error(call, f"expected one of local, shared, global as scope of {name}, got {scope!r}")
        if is_output and not self._callers:
            if self._depth:
                raise self._error(call, f"expected the output {name} outside of loops and choices, got it inside")
            buffer = Buffer(name, extents, dtype, source)
            self._outputs.append(buffer)
            return buffer
        if scope in ("local", "shared") and self._has_threads and not self._in_threads:
            buffer = Buffer(name, extents, dtype, source, scope)
            self._waiting.append(buffer)
        else:
            scope = "" if scope in ("local", "shared") and not self._in_threads else scope
            buffer = self._builder.allocate(dtype.name, extents, name=name, scope=scope).buffer
        if is_output:
            self._outputs.append(buffer)
        return buffer

    def _called_script(self, node: ast.Call, script: Callable[..., Any], arguments: list[Any]) -> Any:
        """The statements of another script, here; its output tensors are buffers of this one."""
        callers = (*self._callers, self._function)
        if script in callers:
            raise self._error(node, f"expected a script that does not call itself, got {ast.unparse(node)}")
        inner = Parser(script, arguments, self._builder, self._source(node), callers=callers)
        inner._in_threads = self._in_threads
        found = inner.parse()
        self.loops += inner.loops
        return found[0] if len(found) == 1 else tuple(found)


def _stores(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


def _targets(node: ast.Assign | ast.AugAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return [one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name) and _stores(one)]


def _loads(expr: Expr) -> bool:
    todo = [expr]
    while todo:
        one = todo.pop()
        if isinstance(one, Load):
            return True
        todo.extend(one.operands())
    return False
