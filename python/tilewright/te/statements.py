"""Statements on buffers: loops, stores and choices, as `tir.ir_builder` collects them.

They say what an intrinsic does (`te.decl_tensor_intrin`), or how tensors are computed (`te.extern`). A load is
evaluated where the statement stands that holds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..dtypes import DType, dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_listed
from ..messages.location import Source, user_source
from ..tvm_compat.missing_names import attributes_of
from .arithmetic import literal
from .expr import Const, Expr, ExprLike, IterVar, Var
from .tensor import Extent

__all__ = [
    "Buffer",
    "Choice",
    "Let",
    "Load",
    "Loop",
    "MatrixCall",
    "Pointer",
    "Repeat",
    "Statement",
    "Store",
    "check_stores",
    "expressions_of",
    "statements_in",
    "store",
]


class Buffer:
    """The elements of a tensor or of a tile of one, or memory of `IRBuilder.allocate`: ``b[i, j]`` loads one.

    `scope` is the memory of an allocation: local, shared or global, or None if it was left open. `strides` are those of
    `decl_buffer`, for `binds` of `tw.build`. `declared` is its scope. For an intrinsic on fragments, that is
    ``"wmma.matrix_a"``, ``"wmma.matrix_b"`` or ``"wmma.accumulator"``.
    """

    __slots__ = ("element_type", "declared", "name", "scope", "shape", "source", "strides")

    name: str
    shape: tuple[Extent, ...]
    element_type: DType
    source: Source
    scope: str
    declared: str

    def __init__(self, name: str, shape: tuple[Extent, ...], dtype: DType, source: Source, scope: str = "") -> None:
        self.name, self.shape, self.element_type, self.source, self.scope = name, shape, dtype, source, scope
        self.strides: Any = None
        self.declared = ""

    if not TYPE_CHECKING:
        __getattr__ = attributes_of("Buffer", "'Buffer' object")

    @property
    def dtype(self) -> str:
        return self.element_type.name

    def vload(self, begin: object, dtype: object = None) -> Expr:
        """The element at `begin`; vectors are the schedule's to make.

        ``vload(begin, "int8x4")`` gives the four elements from there on, for `te.dp4a`.
        """
        if dtype in ("int8x4", "uint8x4") and dtype == f"{self.dtype}x4":
            *outer, first = begin if is_listed(begin) else (begin,)
            return tuple(self[(*outer, first + place)] for place in range(4))  # type: ignore[return-value]
        is_vector = isinstance(dtype, str) and re.fullmatch(r"[a-z]+\d+x\d+", dtype) is not None
        if dtype is not None and (is_vector or dtype_of(dtype) is not self.element_type):
            hint = ": load elements in a loop of ib.for_range(0, lanes, kind='vectorize')" if is_vector else ""
            raise TypeError(
                f"{user_source()}: buffer {self.name}: expected {self.dtype}, one element, got {dtype!r}{hint}"
            )
        return self[begin]

    def vstore(self, begin: object, value: ExprLike) -> Store:
        """The statement that stores `value` at `begin`, for `IRBuilder.emit`."""
        source = user_source()
        return store(self, self.check(begin, source), value, source)

    def access_ptr(self, *_: object, **__: object) -> Pointer:
        """Where the elements lie, for the intrinsics on fragments alone, of a buffer that was declared with a scope:
        others load and store by indices.
        """
        if not self.declared:
            raise TypeError(
                f"{user_source()}: buffer {self.name}: expected loads and stores of elements, as b[i, j] and "
                "ib.buffer_ptr(b)[i, j] = x, got access_ptr: there is no function outside to hand a pointer to"
            )
        return Pointer(self)

    @property
    def data(self) -> Pointer:
        """The same, of a fragment."""
        return Pointer(self)

    @property
    def elem_offset(self) -> Expr:
        """Where the elements begin, as TVM's intrinsics count fragments: at 0, as each buffer is its own here."""
        return Const(0, dtype_of("int32"), self.source, is_index=True)

    def __getitem__(self, indices: object) -> Expr:
        source = user_source()
        return Load(self, self.check(indices, source), source)

    def check(self, indices: object, source: Source) -> tuple[Expr, ...]:
        """The indices as expressions, one a dimension."""
        given = indices if is_listed(indices) else (indices,)
        if len(given) != len(self.shape):
            raise ValueError(f"{source}: buffer {self.name}: expected {len(self.shape)} indices, got {len(given)}")
        exprs: list[Expr] = []
        for position, (index, extent) in enumerate(zip(given, self.shape)):
            expr = literal(index, None, source)
            if not expr.element_type.is_integer:
                raise TypeError(f"{source}: index {position} of {self.name}: expected an integer, got {expr.dtype}")
            if isinstance(expr, Const):
                last = extent - 1 if isinstance(extent, int) else None
                if expr.value < 0 or last is not None and expr.value > last:
                    known = "its extent" if last is None else last
                    raise ValueError(
                        f"{source}: index {position} of {self.name}: expected 0 to {known}, got {expr.value}"
                    )
                expr = Const(int(expr.value), expr.element_type, source, is_index=True)
            exprs.append(expr)
        return tuple(exprs)

    def __repr__(self) -> str:
        return f"buffer({self.name}, {list(self.shape)}, {self.dtype})"


@dataclass(frozen=True, slots=True)
class Pointer:
    """What TVM's intrinsics on fragments name a buffer by."""

    buffer: Buffer


@dataclass(frozen=True, slots=True, eq=False)
class MatrixCall:
    """A call of one of TVM's intrinsics on fragments, by its name without ``tir.``."""

    name: str
    args: tuple[Any, ...]
    source: Source


class Load(Expr):
    """One element of a buffer, as it is where the statement stands."""

    __slots__ = ("buffer", "indices")
    is_element = True

    buffer: Buffer
    indices: tuple[Expr, ...]

    def __init__(self, buffer: Buffer, indices: tuple[Expr, ...], source: Source) -> None:
        super().__init__(buffer.element_type, source)
        self.buffer, self.indices = buffer, indices

    def operands(self) -> tuple[Expr, ...]:
        return self.indices

    def written(self, operands: Sequence[str]) -> str:
        return f"{self.buffer.name}[{', '.join(operands)}]"


@dataclass(frozen=True, slots=True)
class Store:
    """``buffer[indices] = value``."""

    buffer: Buffer
    indices: tuple[Expr, ...]
    value: Expr
    source: Source


@dataclass(frozen=True, slots=True)
class Instruction:
    """The matrix instruction that does what loops do: ``mma_sync`` or ``wgmma``, of m rows, n columns and k.

    After `promote` iterations of the pipelined loop other instructions add up what the tensor cores did; 0: never. If
    `tf32x3`, float32 is multiplied as three products of tf32.
    """

    kind: str
    shape: tuple[int, int, int]
    promote: int = 0
    tf32x3: bool = False

    @property
    def text(self) -> str:
        """As an attribute of the IR.

        >>> from tilewright.te.statements import Instruction
        >>> Instruction("wgmma", (64, 256, 128), promote=2).text
        '#schedule.instruction<wgmma, 64x256x128, promote = 2>'
        """
        promote = f", promote = {self.promote}" if self.promote else ""
        tf32x3 = ", tf32x3" if self.tf32x3 else ""
        return f"#schedule.instruction<{self.kind}, {'x'.join(map(str, self.shape))}{tf32x3}{promote}>"


@dataclass(frozen=True, slots=True)
class Loop:
    """`body` for each value of `var`, from `begin` on; all at once where `kind` is a thread index.

    A matrix instruction may be named to do it.
    """

    var: IterVar
    extent: Extent
    kind: str
    source: Source
    begin: Expr | None = None
    """Where it is no number: the first value of the axis is one otherwise."""
    body: list[Statement] = field(default_factory=lambda: list[Statement]())
    instruction: Instruction | None = None


@dataclass(frozen=True, slots=True)
class Repeat:
    """`body` while `condition` holds."""

    condition: Expr
    source: Source
    body: list[Statement] = field(default_factory=lambda: list[Statement]())


@dataclass(frozen=True, slots=True)
class Let:
    """`var` is what `value` is here, for what comes after."""

    var: Var
    value: Expr
    source: Source


@dataclass(frozen=True, slots=True)
class Choice:
    """`then` where `condition` holds, else `otherwise`."""

    condition: Expr
    source: Source
    then: list[Statement] = field(default_factory=lambda: list[Statement]())
    otherwise: list[Statement] = field(default_factory=lambda: list[Statement]())


Statement = Store | Loop | Repeat | Choice | Let | Buffer | MatrixCall
"""A buffer as a statement is its allocation."""


def statements_in(statements: Iterable[Statement]) -> Iterator[Statement]:
    """The statements and all that stand in them, in order."""
    todo = list(statements)[::-1]
    while todo:
        one = todo.pop()
        yield one
        if isinstance(one, (Loop, Repeat)):
            todo += reversed(one.body)
        elif isinstance(one, Choice):
            todo += reversed([*one.then, *one.otherwise])


def expressions_of(one: Statement) -> list[Expr]:
    """The expressions of a statement itself."""
    if isinstance(one, Store):
        return [*one.indices, one.value]
    if isinstance(one, (Choice, Repeat)):
        return [one.condition]
    if isinstance(one, Let):
        return [one.value]
    if isinstance(one, MatrixCall):
        return []
    found = one.shape if isinstance(one, Buffer) else (one.begin, one.extent)
    return [expr for expr in found if isinstance(expr, Expr)]


def check_stores(statements: Sequence[Statement], inputs: Sequence[Buffer], what: str) -> None:
    """What statements are given to read stays as it is, and no loop leaves a buffer."""
    from .places import check_places

    for one in statements_in(statements):
        if isinstance(one, Store) and one.buffer in inputs:
            raise ValueError(
                f"{one.source}: {what}: expected stores to its results, got one to the input {one.buffer.name}"
            )
    check_places(statements)


def store(buffer: Buffer, places: tuple[Expr, ...], value: ExprLike, source: Source) -> Store:
    stored = literal(value, Load(buffer, places, source), source)
    if stored.is_index:
        stored = stored.astype(buffer.dtype)
    if stored.element_type is not buffer.element_type:
        raise TypeError(
            f"{source}: buffer {buffer.name}: expected a value of {buffer.dtype} to store, got {stored.dtype}"
        )
    return Store(buffer, places, stored, source)
