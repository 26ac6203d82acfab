"""Statements on the buffers of a tile: loops, stores and choices, as `tir.ir_builder` collects them.

They say what an intrinsic does (`te.decl_tensor_intrin`). A load is evaluated where the statement stands that holds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..source import Source, user_source
from .dtypes import DType, dtype_of
from .expr import Const, Expr, ExprLike, IterVar, literal
from .tensor import _extents

__all__ = [
    "Buffer",
    "BufferAccess",
    "Choice",
    "IRBuilder",
    "Load",
    "Loop",
    "Statement",
    "Store",
    "create",
    "decl_buffer",
]

LOOP_KINDS = ("serial", "unroll", "vectorize")


class Buffer:
    """The elements of a tensor within a tile, or, of `IRBuilder.allocate`, a thread's own: ``b[i, j]`` loads one."""

    __slots__ = ("_dtype", "is_own", "name", "shape", "source")

    def __init__(self, name: str, shape: tuple[int, ...], dtype: DType, source: Source, is_own: bool = False) -> None:
        self.name, self.shape, self._dtype, self.source, self.is_own = name, shape, dtype, source, is_own

    @property
    def dtype(self) -> str:
        return self._dtype.name

    def vload(self, begin: object, dtype: object = None) -> Expr:
        """The element at `begin`; vectors are the schedule's to make."""
        if dtype is not None and dtype_of(dtype) is not self._dtype:
            raise TypeError(f"{user_source()}: buffer {self.name}: expected {self.dtype}, one element, got {dtype!r}")
        return self[begin]

    def access_ptr(self, *_: object, **__: object) -> Any:
        """Refused: elements are loaded and stored by their indices."""
        raise TypeError(
            f"{user_source()}: buffer {self.name}: expected loads and stores of elements, as b[i, j] and "
            "ib.buffer_ptr(b)[i, j] = x, got access_ptr: there is no function outside to hand a pointer to"
        )

    def __getitem__(self, indices: object) -> Expr:
        source = user_source()
        return Load(self, self.check(indices, source), source)

    def check(self, indices: object, source: Source) -> tuple[Expr, ...]:
        """The indices as expressions, one a dimension."""
        given = indices if isinstance(indices, (tuple, list)) else (indices,)
        if len(given) != len(self.shape):
            raise ValueError(f"{source}: buffer {self.name}: expected {len(self.shape)} indices, got {len(given)}")
        exprs = []
        for position, (index, extent) in enumerate(zip(given, self.shape)):
            expr = literal(index, None, source)
            if not expr._dtype.is_integer:
                raise TypeError(f"{source}: index {position} of {self.name}: expected an integer, got {expr.dtype}")
            if isinstance(expr, Const):
                if not 0 <= expr.value < extent:
                    raise ValueError(
                        f"{source}: index {position} of {self.name}: expected 0 to {extent - 1}, got {expr.value}"
                    )
                expr = Const(int(expr.value), expr._dtype, source, is_index=True)
            exprs.append(expr)
        return tuple(exprs)

    def __repr__(self) -> str:
        return f"buffer({self.name}, {list(self.shape)}, {self.dtype})"


class Load(Expr):
    """One element of a buffer, as it is where the statement stands."""

    __slots__ = ("buffer", "indices")

    def __init__(self, buffer: Buffer, indices: tuple[Expr, ...], source: Source) -> None:
        super().__init__(buffer._dtype, source)
        self.buffer, self.indices = buffer, indices

    def operands(self) -> tuple[Expr, ...]:
        return self.indices

    def __str__(self) -> str:
        return f"{self.buffer.name}[{', '.join(map(str, self.indices))}]"


@dataclass(frozen=True, slots=True)
class Store:
    """``buffer[indices] = value``."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    value: Expr
    source: Source


@dataclass(frozen=True, slots=True)
class Loop:
    """`body` for each value of `var`."""

    var: IterVar
    kind: str
    source: Source
    body: list[Statement] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Choice:
    """`then` where `condition` holds, else `otherwise`."""

    condition: Expr
    source: Source
    then: list[Statement] = field(default_factory=list)
    otherwise: list[Statement] = field(default_factory=list)


Statement = Store | Loop | Choice | Buffer
"""A buffer as a statement is its allocation."""


class BufferAccess:
    """A buffer in an `IRBuilder`: ``ptr[i, j]`` loads an element, ``ptr[i, j] = x`` stores one there."""

    __slots__ = ("_builder", "buffer")

    def __init__(self, builder: IRBuilder, buffer: Buffer) -> None:
        self._builder, self.buffer = builder, buffer

    @property
    def dtype(self) -> str:
        return self.buffer.dtype

    def __getitem__(self, indices: object) -> Expr:
        return self.buffer[indices]

    def __setitem__(self, indices: object, value: ExprLike) -> None:
        source = user_source()
        places = self.buffer.check(indices, source)
        like = Load(self.buffer, places, source)
        stored = literal(value, like, source)
        if stored.is_index:
            stored = stored.astype(self.buffer.dtype)
        if stored._dtype is not self.buffer._dtype:
            raise TypeError(
                f"{source}: buffer {self.buffer.name}: expected a value of {self.buffer.dtype} to store, got "
                f"{stored.dtype}"
            )
        self._builder.emit(Store(self.buffer, places, stored, source))


class IRBuilder:
    """Collects statements: ``tir.ir_builder.create()``.

    >>> ib = create()
    >>> c = ib.buffer_ptr(decl_buffer((4,), "float32", name="c"))
    >>> with ib.for_range(0, 4, name="i") as i:
    ...     c[i] = c[i] * 2.0
    >>> len(ib.get())
    1
    """

    def __init__(self) -> None:
        self._blocks: list[list[Statement]] = [[]]

    def buffer_ptr(self, buffer: object) -> BufferAccess:
        """What loads and stores elements of a buffer."""
        if not isinstance(buffer, Buffer):
            raise TypeError(f"{user_source()}: buffer_ptr: expected a buffer, got {buffer!r}")
        return BufferAccess(self, buffer)

    @contextmanager
    def for_range(
        self, begin: object, end: object, name: str = "i", dtype: object = "int32", kind: str = "serial"
    ) -> Iterator[IterVar]:
        """A loop from `begin` to `end`, which is not included, over what stands in the `with` block."""
        source = user_source()
        bounds = []
        for what, bound in (("begin", begin), ("end", end)):
            if isinstance(bound, bool) or not hasattr(bound, "__index__"):
                raise TypeError(f"{source}: for_range: expected an integer as {what}, got {bound!r}")
            bounds.append(bound.__index__())
        if kind not in LOOP_KINDS:
            raise ValueError(f"{source}: for_range: expected one of {', '.join(LOOP_KINDS)} as kind, got {kind!r}")
        loop = Loop(IterVar(name, (bounds[0], bounds[1] - bounds[0]), "spatial", source), kind, source)
        with self._block(loop, loop.body):
            yield loop.var

    @contextmanager
    def if_scope(self, condition: ExprLike) -> Iterator[None]:
        """What stands in the `with` block, where `condition` holds."""
        source = user_source()
        choice = Choice(_condition(condition, source), source)
        with self._block(choice, choice.then):
            yield

    @contextmanager
    def else_scope(self) -> Iterator[None]:
        """What stands in the `with` block, where the condition of the `if_scope` right before does not hold."""
        last = self._blocks[-1][-1] if self._blocks[-1] else None
        if not isinstance(last, Choice) or last.otherwise:
            raise ValueError(f"{user_source()}: else_scope: expected an if_scope right before, got none")
        self._blocks.append(last.otherwise)
        yield
        self._blocks.pop()

    def allocate(self, dtype: object, shape: object, name: str = "buf", scope: str = "local") -> BufferAccess:
        """A buffer of each thread's own, which lives within the intrinsic."""
        source = user_source()
        if scope != "local":
            raise ValueError(
                f"{source}: allocate: expected scope local, a thread's own, got {scope!r}: cache_read in it"
            )
        buffer = Buffer(
            name, _constants(shape, f"allocate {name}", source), dtype_of(dtype, source), source, is_own=True
        )
        self.emit(buffer)
        return BufferAccess(self, buffer)

    def emit(self, statement: object) -> None:
        """Adds a statement."""
        if not isinstance(statement, (Store, Loop, Choice, Buffer)):
            raise TypeError(
                f"{user_source()}: emit: expected a statement on buffers, got {statement!r}: a call of a "
                "function that is "
                "compiled elsewhere has no place in a kernel"
            )
        self._blocks[-1].append(statement)

    def get(self) -> list[Statement]:
        """The statements so far."""
        return self._blocks[0]

    @contextmanager
    def _block(self, statement: Statement, block: list[Statement]) -> Iterator[None]:
        self._blocks[-1].append(statement)
        self._blocks.append(block)
        yield
        self._blocks.pop()


def create() -> IRBuilder:
    """A new builder, as TVM's ``tir.ir_builder.create()``."""
    return IRBuilder()


def decl_buffer(
    shape: object, dtype: object = "float32", name: str = "buffer", scope: str = "", **layout: object
) -> Buffer:
    """A buffer for an intrinsic's tensor, to be bound to it in `te.decl_tensor_intrin`.

    What TVM asks of its place in memory (`strides`, `offset_factor`, `data_alignment`, `elem_offset`, `data`) is not
    needed: elements are accessed by their indices, wherever they lie.
    """
    source = user_source()
    unknown = [word for word in layout if word not in _LAYOUT]
    if unknown:
        raise TypeError(f"{source}: decl_buffer {name}: expected {', '.join(_LAYOUT)}, got {unknown[0]}")
    return Buffer(name, _constants(shape, f"decl_buffer {name}", source), dtype_of(dtype, source), source)


_LAYOUT = ("data", "strides", "elem_offset", "data_alignment", "offset_factor", "buffer_type", "axis_separators")


def _constants(shape: object, what: str, source: Source) -> tuple[int, ...]:
    extents = _extents(shape, what, source)
    constants = tuple(extent for extent in extents if isinstance(extent, int))
    if len(constants) != len(extents):
        raise TypeError(f"{source}: {what}: expected constant extents, got {', '.join(map(str, extents))}")
    return constants


def _condition(condition: ExprLike, source: Source) -> Expr:
    expr = literal(condition, None, source)
    if expr._dtype.kind != "bool":
        raise TypeError(f"{source}: if_scope: expected a condition, got {expr} of {expr.dtype}")
    return expr
