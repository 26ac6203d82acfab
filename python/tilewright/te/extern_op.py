"""Tensors that statements compute: `te.extern`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..dtypes import DType, dtype_of
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_list, is_listed, misfit
from ..messages.location import Source, user_source
from ..tvm_compat.missing_names import attributes_of
from .expr import Expr
from .names import checked_name
from .shapes import checked_extents
from .statements import Buffer, Statement, check_stores, expressions_of, statements_in
from .tag import current_tag, notes
from .tensor import Extent, Operation, Tensor

__all__ = ["ExternOp", "extern"]


class ExternOp(Operation):
    """Tensors that statements compute: `te.extern` makes one. It has no axes, so a schedule leaves it as it is."""

    __slots__ = ("buffers", "inputs", "shapes", "statements")

    shapes: tuple[tuple[Extent, ...], ...]
    inputs: tuple[Tensor, ...]

    def __init__(
        self,
        name: str,
        inputs: Sequence[Tensor],
        shapes: Sequence[tuple[Extent, ...]],
        dtypes: Sequence[DType],
        source: Source,
    ) -> None:
        self.shapes, self.inputs = tuple(shapes), tuple(inputs)
        super().__init__(name, self.shapes[0], dtypes, source)
        self.buffers: tuple[Buffer, ...] = ()
        self.statements: Sequence[Statement] = ()

    @property
    def input_tensors(self) -> tuple[Tensor, ...]:
        return tuple({id(tensor): tensor for tensor in self.inputs}.values())

    @property
    def exprs(self) -> Sequence[Expr]:
        return [expr for one in statements_in(self.statements) for expr in expressions_of(one)]

    def shape_of(self, index: int) -> tuple[Extent, ...]:
        return self.shapes[index]

    if not TYPE_CHECKING:
        __getattr__ = attributes_of("te.ExternOp", "'ExternOp' object")


def extern(
    shape: object,
    inputs: Tensor | Sequence[Tensor],
    fcompute: Callable[[list[Buffer], list[Buffer]], Any],
    name: str = "extern",
    dtype: object = None,
    in_buffers: Buffer | Sequence[Buffer] | None = None,
    out_buffers: Buffer | Sequence[Buffer] | None = None,
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """Tensors that statements compute, for what is no expression of the elements' places: sorting, for instance.

    Parameters
    ----------
    shape
        The extents of the result, or a list of those of several.
    inputs
        The tensors that are read.
    fcompute
        From the buffers of the inputs and those of the results to the statements of a ``tir.ir_builder``. For a GPU
        they stand in thread axes, ``ib.scope_attr(te.thread_axis("threadIdx.x"), "thread_extent", n)``, which stand in
        no loops and choices; each ``with ib.new_scope()`` that has some is a kernel. Barriers are inserted where
        threads exchange values by shared memory or by a result.
    name
        The name of the stage.
    dtype
        The type of the results' elements, or a list of types. By default the types of `out_buffers`, or that of the
        inputs where it is one.
    in_buffers, out_buffers
        Your own buffers for the tensors, made by `decl_buffer`.
    tag, attrs
        Notes for the user's own use, kept on the operation.

    Returns
    -------
    Tensor or list of Tensor

    Other stages read its tensors as any, and it may read theirs. It is computed whole, at the root; a schedule has no
    loops of it to change. Every element of a result is to be stored before it is loaded.

    Raises
    ------
    ValueError
        Where there is another number of buffers or types than of tensors.
    TypeError
        Where an input is no tensor, or `fcompute` returns no statements.

    >>> from tilewright import te, tir
    >>> A = te.placeholder((64,), name="A")
    >>> def running_maximum(ins, outs):
    ...     ib = tir.ir_builder.create()
    ...     a, m = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
    ...     m[0] = a[0]
    ...     with ib.for_range(1, 64, name="i") as i:
    ...         m[i] = te.max(m[i - 1], a[i])
    ...     return ib.get()
    >>> M = te.extern((64,), [A], running_maximum, name="M")
    >>> print(te.create_schedule(M.op))
    M[0] = A[0]
    for i in range(63):  # M
      M[i + 1] = max(M[i], A[i + 1])
    """
    source = user_source()
    name = checked_name(name, "te.extern", source)
    what = f"extern {name}"
    tag = current_tag(tag, what, source)
    tensors: list[Any] = list(inputs) if isinstance(inputs, Sequence) else [inputs]
    for position, one in enumerate(tensors):
        if not isinstance(one, Tensor):
            raise TypeError(f"{source}: {what}: input {position}: expected a tensor, got {one!r}")
    shapes = _shapes(shape, what, source)
    own: Sequence[Any] = out_buffers if is_listed(out_buffers) else [out_buffers]
    buffers = [one for one in own if isinstance(one, Buffer)]
    if dtype is None and len(buffers) == len(own) == len(shapes):
        dtype = [one.dtype for one in buffers]
    op = ExternOp(name, tensors, shapes, element_types(dtype, tensors, len(shapes), what, source), source)
    results = list(op.results)
    read = _buffers(tensors, in_buffers, f"{what}: in_buffers", source)
    made = _buffers(results, out_buffers, f"{what}: out_buffers", source)
    if not callable(fcompute):
        raise TypeError(f"{source}: {what}: expected a function of buffers as fcompute, got {fcompute!r}")
    if wrong := misfit(fcompute, "inputs", "results"):
        raise TypeError(f"{source}: {what}: fcompute: {wrong}")
    statements = fcompute(list(read), list(made))
    if isinstance(statements, Statement):
        statements = [statements]
    if not is_list(statements) or not statements:
        of_library = "" if statements == [] else ": a function of a library is called beside the built one"
        got = "none" if statements == [] else repr(statements)
        raise TypeError(f"{source}: {what}: expected statements, as ib.get() returns, got {got}{of_library}")
    check_stores(statements, read, what)
    op.buffers, op.statements = (*read, *made), statements
    op.tag, op.attrs = tag, notes(attrs, what, source)
    return results[0] if len(results) == 1 else results


def _shapes(shape: object, what: str, source: Source) -> list[tuple[Extent, ...]]:
    """One shape, or several."""
    if is_listed(shape) and any(is_listed(one) for one in shape):
        return [checked_extents(one, what, source) for one in shape]
    return [checked_extents(shape, what, source)]


def element_types(dtype: object, inputs: Sequence[Tensor], count: int, what: str, source: Source) -> list[DType]:
    if dtype is None:
        known = list(dict.fromkeys(tensor.dtype for tensor in inputs))
        if len(known) != 1:
            given = ", ".join(known) or "no input"
            raise ValueError(f"{source}: {what}: expected a dtype where the inputs are not of one, got {given}")
        dtype = known[0]
    types = list(dtype) if is_listed(dtype) else [dtype] * count
    if len(types) != count:
        raise ValueError(f"{source}: {what}: expected {count} dtypes, one a result, got {len(types)}")
    return [dtype_of(one, source) for one in types]


def _buffers(
    tensors: Sequence[Tensor], given: Buffer | Sequence[Buffer] | None, what: str, source: Source
) -> list[Buffer]:
    """The buffers that stand for tensors in statements: those of the user, or new ones."""
    if given is None:
        return [Buffer(one.name, one.shape, one.op.element_types[one.value_index], source) for one in tensors]
    buffers = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(buffers) != len(tensors):
        raise ValueError(f"{source}: {what}: expected {len(tensors)} buffers, one a tensor, got {len(buffers)}")
    for one, buffer in zip(tensors, buffers):
        if not isinstance(buffer, Buffer):
            raise TypeError(f"{source}: {what}: expected buffers of decl_buffer, got {buffer!r}")
        if not _same_shape(buffer.shape, one.shape) or buffer.dtype != one.dtype:
            raise ValueError(
                f"{source}: {what}: expected a buffer for {one.name} of {list(one.shape)} {one.dtype}, got {buffer!r}"
            )
        if buffers.count(buffer) > 1:
            raise ValueError(f"{source}: {what}: expected a buffer for each tensor, got {buffer.name} twice")
    return buffers  # type: ignore[return-value]


def _same_shape(one: Sequence[Extent], other: Sequence[Extent]) -> bool:
    """The same numbers, and symbols or expressions that print alike."""
    return list(map(str, one)) == list(map(str, other))
