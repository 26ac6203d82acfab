"""Collects statements in the order in which they are said: `tir.ir_builder`."""

from __future__ import annotations

from collections.abc import Callable as _Callable
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..dtypes import dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import integer_of, is_listed
from ..messages.location import Source, user_source
from ..tvm_compat.missing_names import attribute_of, attributes_of
from .arithmetic import literal
from .expr import Const, Expr, ExprLike, IterVar, Var
from .names import checked_name
from .shapes import checked_extents
from .statements import Buffer, Choice, Let, Load, Loop, Repeat, Statement, store
from .tensor import Extent
from .variables import THREAD_TAGS

__all__ = ["BufferAccess", "IRBuilder", "create", "decl_buffer"]

LOOP_KINDS = ("serial", "parallel", "unroll", "vectorize")
_OWN_SCOPES = ("local", "shared", "global")


class BufferAccess:
    """A buffer in an `IRBuilder`: ``ptr[i, j]`` loads an element, ``ptr[i, j] = x`` stores one there.

    One index alone counts the elements of all dimensions in the order in which they lie in memory.
    """

    __slots__ = ("_builder", "buffer")

    buffer: Buffer

    def __init__(self, builder: IRBuilder, buffer: Buffer) -> None:
        self._builder, self.buffer = builder, buffer

    @property
    def dtype(self) -> str:
        """The type of the elements."""
        return self.buffer.dtype

    def __getitem__(self, indices: object) -> Expr:
        source = user_source()
        return Load(self.buffer, self._places(indices, source), source)

    def __setitem__(self, indices: object, value: ExprLike) -> None:
        source = user_source()
        self._builder.emit(store(self.buffer, self._places(indices, source), value, source))

    def _places(self, indices: object, source: Source) -> tuple[Expr, ...]:
        given: tuple[Any, ...] = tuple(indices) if is_listed(indices) else (indices,)
        shape = self.buffer.shape
        if len(given) == 1 and len(shape) > 1:
            rest: Any = given[0]
            places: list[Any] = []
            for extent in reversed(shape[1:]):
                places.append(rest % extent)
                rest = rest // extent
            given = (rest, *reversed(places))
        return self.buffer.check(given, source)


class IRBuilder:
    """Collects statements: ``tir.ir_builder.create()``.

    A method raises TypeError for an argument of another type, and ValueError for a number or word that it does not
    take. A call in the wrong place is a ValueError, too. Errors name the line of the call.

    >>> ib = create()
    >>> c = ib.buffer_ptr(decl_buffer((4,), "float32", name="c"))
    >>> with ib.for_range(0, 4, name="i") as i:
    ...     c[i] = c[i] * 2.0
    >>> len(ib.get())
    1
    """

    def __init__(self) -> None:
        self._statements: list[Statement] = []
        self._blocks = [self._statements]
        self._around: list[Statement] = []  # that the last block stands in

    if not TYPE_CHECKING:
        __getattr__ = attributes_of("IRBuilder", "'IRBuilder' object")

    def buffer_ptr(self, buffer: object) -> BufferAccess:
        """What loads and stores elements of a buffer."""
        if not isinstance(buffer, Buffer):
            raise TypeError(f"{user_source()}: buffer_ptr: expected a buffer, got {buffer!r}")
        return BufferAccess(self, buffer)

    @contextmanager
    def for_range(
        self, begin: object, end: object, name: str = "i", dtype: object = "int32", kind: str = "serial"
    ) -> Generator[IterVar]:
        """A loop from `begin` to `end`, which is not included, over what stands in the `with` block.

        Gives its variable, called `name`. `kind` is one of `LOOP_KINDS`. `dtype` is for TVM: indices have one type.
        """
        source = user_source()
        first, last = (_bound(bound, what, source) for what, bound in (("begin", begin), ("end", end)))
        if kind not in LOOP_KINDS:
            raise ValueError(f"{source}: for_range: expected one of {', '.join(LOOP_KINDS)} as kind, got {kind!r}")
        extent: Extent = last if isinstance(first, int) and first == 0 else last - first
        start = first if isinstance(first, int) else 0
        var = IterVar(checked_name(name, "for_range", source), (start, extent), "spatial", source)
        loop = Loop(var, extent, kind, source, None if isinstance(first, int) else first)
        with self._block(loop, loop.body):
            yield loop.var

    @contextmanager
    def while_loop(self, condition: ExprLike) -> Generator[None]:
        """What stands in the `with` block, again and again while `condition` holds."""
        source = user_source()
        loop = Repeat(_condition(condition, "while_loop", source), source)
        with self._block(loop, loop.body):
            yield

    def scope_attr(self, node: object, attr_key: str, value: object) -> None:
        """All that follows in the block is done by the threads along `node`, a `te.thread_axis`, `value` of them.

        `attr_key` is ``"thread_extent"``, or ``"virtual_thread"`` for a vthread. An intrinsic has none: the loops
        around it are the schedule's.
        """
        source = user_source()
        keys = ("thread_extent", "virtual_thread")
        if attr_key not in keys:
            raise ValueError(f"{source}: scope_attr: expected one of {', '.join(keys)}, got {attr_key!r}")
        if not isinstance(node, IterVar) or node.tag not in THREAD_TAGS:
            raise TypeError(f"{source}: scope_attr {attr_key}: expected te.thread_axis(...), got {node!r}")
        what = f"scope_attr {node.tag}"
        if node.tag.startswith("vthread") != (attr_key == "virtual_thread"):
            raise ValueError(
                f"{source}: {what}: expected {keys[node.tag.startswith('vthread')]} for it, got {attr_key}"
            )
        extent = _bound(value, "extent", source, what)
        if isinstance(extent, int) and extent < 1:
            raise ValueError(f"{source}: {what}: expected an extent of at least 1, got {extent}")
        if node.dom is not None and not (isinstance(extent, int) and node.dom[1] == extent):
            raise ValueError(f"{source}: {what}: expected its extent, {node.dom[1]}, got {extent}")
        for around in self._around:
            if not isinstance(around, Loop) or around.kind not in THREAD_TAGS:
                raise ValueError(
                    f"{source}: {what}: expected a thread axis outside of loops and choices, got one in that of line "
                    f"{around.source.line}"
                )
            if around.kind == node.tag and attr_key == "thread_extent":
                raise ValueError(f"{source}: {what}: expected each index once, got it in that of {around.source}")
        loop = Loop(node, extent, node.tag, source)
        self.emit(loop)
        self._blocks[-1] = loop.body
        self._around.append(loop)

    @contextmanager
    def new_scope(self) -> Generator[None]:
        """The `with` block ends what a `scope_attr` in it begins."""
        depth = len(self._around)
        self._blocks.append(self._blocks[-1])
        yield
        self._blocks.pop()
        del self._around[depth:]

    def let(self, var_name: str, value: ExprLike) -> Var:
        """What `value` is here, by the name `var_name`."""
        source = user_source()
        expr = literal(value, None, source)
        if expr.is_index:
            expr = expr.astype(expr.dtype)
        var = Var(checked_name(var_name, "let", source), expr.element_type, source, is_index=False)
        self.emit(Let(var, expr, source))
        return var

    def likely(self, condition: ExprLike) -> ExprLike:
        """The condition itself: that it mostly holds is of no use here."""
        return condition

    @contextmanager
    def if_scope(self, condition: ExprLike) -> Generator[None]:
        """What stands in the `with` block, where `condition` holds."""
        source = user_source()
        choice = Choice(_condition(condition, "if_scope", source), source)
        with self._block(choice, choice.then):
            yield

    @contextmanager
    def else_scope(self) -> Generator[None]:
        """What stands in the `with` block, where the condition of the `if_scope` right before does not hold."""
        last = self._blocks[-1][-1] if self._blocks[-1] else None
        if not isinstance(last, Choice) or last.otherwise:
            raise ValueError(f"{user_source()}: else_scope: expected an if_scope right before, got none")
        with self._within(last, last.otherwise):
            yield

    def allocate(
        self, dtype: object, shape: object, name: str = "buf", scope: str = "", axis_separators: object = None
    ) -> BufferAccess:
        """A buffer of `shape` and `dtype`, called `name`, that lives as long as the block that it is allocated in.

        Its elements are undefined at first. `axis_separators` is for TVM, and changes nothing.
        In scope ``"local"`` each thread has its own buffer. In ``"shared"`` the threads of a block have one buffer. A
        ``"global"`` buffer, outside of thread axes, carries data from one kernel to the next. It may have symbolic
        extents. The default is local in thread axes and in intrinsics, else global.
        """
        source = user_source()
        name = checked_name(name, "allocate", source)
        what = f"allocate {name}"
        if scope and scope not in _OWN_SCOPES:
            raise ValueError(f"{source}: {what}: expected one of {', '.join(_OWN_SCOPES)} as scope, got {scope!r}")
        in_threads = any(isinstance(around, Loop) and around.kind in THREAD_TAGS for around in self._around)
        if in_threads and scope == "global":
            raise ValueError(
                f"{source}: {what}: expected scope shared or local in thread axes, got 'global': a buffer in global "
                "memory is allocated before a kernel"
            )
        extents = checked_extents(shape, what, source)
        if scope in ("local", "shared") or in_threads:
            extents = _constants(extents, what, source)
        buffer = Buffer(name, extents, dtype_of(dtype, source), source, scope or ("local" if in_threads else ""))
        self.emit(buffer)
        return BufferAccess(self, buffer)

    def emit(self, statement: object) -> None:
        """Adds a statement."""
        if not isinstance(statement, Statement):
            raise TypeError(
                f"{user_source()}: emit: expected a statement on buffers, got {statement!r}: a call of a "
                "function that is "
                "compiled elsewhere has no place in a kernel"
            )
        self._blocks[-1].append(statement)

    def get(self) -> list[Statement]:
        """The statements so far."""
        return self._statements

    @contextmanager
    def _block(self, statement: Statement, block: list[Statement]) -> Generator[None]:
        self._blocks[-1].append(statement)
        with self._within(statement, block):
            yield

    @contextmanager
    def _within(self, statement: Statement, block: list[Statement]) -> Generator[None]:
        depth = len(self._around)
        self._blocks.append(block)
        self._around.append(statement)
        yield
        self._blocks.pop()
        del self._around[depth:]


def create() -> IRBuilder:
    """A new `IRBuilder`, as TVM's ``tir.ir_builder.create()``.

    >>> create().get()
    []
    """
    return IRBuilder()


def decl_buffer(
    shape: object, dtype: object = "float32", name: str = "buffer", scope: str = "", **layout: object
) -> Buffer:
    """A buffer for a tensor of an intrinsic or extern, to be bound to it in `te.decl_tensor_intrin` or `te.extern`.

    `shape`, `dtype` and `name` are those of the tensor. What TVM asks of its `layout` in memory (`strides`,
    `offset_factor`, `data_alignment`, `elem_offset`, `data`) is not needed: elements are accessed by their indices,
    wherever they lie. Of an argument, by ``binds=`` of `tw.build`, the strides are those that it has. As `scope`,
    ``"wmma.matrix_a"``, ``"wmma.matrix_b"`` and ``"wmma.accumulator"`` are those of the intrinsics on fragments, as
    `tir.tvm_mma_sync`.

    Raises TypeError for another word of a layout or another dtype, ValueError for a shape that is none.
    """
    source = user_source()
    name = checked_name(name, "decl_buffer", source)
    unknown = [word for word in layout if word not in _LAYOUT]
    if unknown:
        raise TypeError(f"{source}: decl_buffer {name}: expected {', '.join(_LAYOUT)}, got {unknown[0]}")
    made = Buffer(name, checked_extents(shape, f"decl_buffer {name}", source), dtype_of(dtype, source), source)
    made.strides = layout.get("strides")
    made.declared = scope
    return made


_LAYOUT = ("data", "strides", "elem_offset", "data_alignment", "offset_factor", "buffer_type", "axis_separators")


def _bound(value: object, what: str, source: Source, of: str = "for_range") -> Any:
    """A number, or an expression that is one."""
    if isinstance(value, Expr) and value.element_type.is_integer:
        return value.value if isinstance(value, Const) else value
    number = integer_of(value)
    if number is None:
        raise TypeError(f"{source}: {of}: expected an integer as {what}, got {value!r}")
    return number


def _constants(extents: tuple[Extent, ...], what: str, source: Source) -> tuple[int, ...]:
    constants = tuple(extent for extent in extents if isinstance(extent, int))
    if len(constants) != len(extents):
        raise TypeError(f"{source}: {what}: expected constant extents, got {', '.join(map(str, extents))}")
    return constants


def _condition(condition: ExprLike, what: str, source: Source) -> Expr:
    expr = literal(condition, None, source)
    if expr.element_type.kind != "bool":
        raise TypeError(f"{source}: {what}: expected a condition, got {expr} of {expr.dtype}")
    return expr


__getattr__: _Callable[[str], object] = attribute_of("tir.ir_builder", "module 'tilewright.tir.ir_builder'")
