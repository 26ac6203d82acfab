"""Intrinsics: what a tile computes, and statements that do it, for `Stage.tensorize`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

from mlir import ir
from mlir.dialects import func

from .. import ir as tw_ir
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_tuple, misfit
from ..messages.location import Source, user_source
from .emit import emit_module
from .emit_statements import StatementEmitter, buffer_type
from .emit_types import file_location, named_location
from .intrinsic_call import TensorIntrinCall
from .names import checked_name
from .statements import Buffer, Loop, MatrixCall, Statement, check_stores, statements_in
from .tensor import ComputeOp, PlaceholderOp, Tensor
from .variables import THREAD_TAGS

__all__ = ["TensorIntrin", "decl_tensor_intrin"]

_ROLES = ("body", "reset", "update")


# What was made in this process need not be checked again where a trace of its schedules is applied.
_MADE: set[bytes] = set()


def _digest(name: str, functions: str | ir.Module) -> bytes:
    """Of the IR, however it is written."""
    with tw_ir.context(front_end=True), ir.Location.unknown():
        module = ir.Module.parse(functions) if isinstance(functions, str) else functions
        text = module.operation.get_asm(enable_debug_info=False)
    return sha256(f"{len(name)} {name}{text}".encode()).digest()


def was_made(name: str, functions: ir.Module) -> bool:
    """Whether an intrinsic of this name and these functions was made, and so checked, in this process."""
    return _digest(name, functions) in _MADE


class TensorIntrin:
    """An intrinsic: a description of what it computes, and functions that do. `te.decl_tensor_intrin` makes one.

    `functions` is a module of IR with ``@describe`` and those of ``@body``, ``@reset`` and ``@update`` that there are.
    """

    __slots__ = ("functions", "name", "op")

    name: str
    functions: str
    op: ComputeOp | None

    def __init__(self, name: str, functions: str, op: ComputeOp | None = None) -> None:
        self.name, self.functions, self.op = name, functions, op
        _MADE.add(_digest(name, functions))

    def __call__(self, *parts: object, reduce_axis: object = None) -> TensorIntrinCall:
        """What `te.compute` returns an element of: the intrinsic on parts of tensors, one for each of its inputs.

        `parts` have slices of constant extents where the intrinsic's inputs have dimensions; `reduce_axis` are axes of
        `te.reduce_axis`, along which it adds up. The compute has its axes alone, and the last extents of its shape are
        those of the intrinsic's result.

        >>> from tilewright import te, tir
        >>> a = te.placeholder((4,), name="a")
        >>> b = te.compute((4,), lambda i: a[i] * 2, name="b")
        >>> def statements(ins, outs):
        ...     ib = tir.ir_builder.create()
        ...     y = ib.buffer_ptr(outs[0])
        ...     with ib.for_range(0, 4, name="i") as i:
        ...         y[i] = ins[0][i] * 2.0
        ...     return ib.get()
        >>> double = te.decl_tensor_intrin(b.op, statements, name="double")
        >>> A = te.placeholder((8, 4), name="A")
        >>> te.compute((8, 4), lambda i: double(A[i, 0:4]), name="B").op
        TensorComputeOp(B)
        """
        return TensorIntrinCall(self, parts, reduce_axis, user_source())

    def __repr__(self) -> str:
        return f"intrinsic({self.name})"


def decl_tensor_intrin(
    op: object,
    fcompute: Callable[[list[Buffer], list[Buffer]], Any],
    name: str = "tensor_intrin",
    binds: Mapping[Tensor, Buffer] | None = None,
    scalar_params: object = None,
    default_buffer_params: Mapping[str, Any] | None = None,
) -> TensorIntrin:
    """An intrinsic for `Stage.tensorize`.

    Parameters
    ----------
    op
        What it computes: a compute that reads placeholders, with constant extents, those of a tile.
    fcompute
        From the buffers of the inputs and those of the results to the statements of an `ir_builder` that compute it, or
        a tuple of three: the whole, what sets the results to the identity of the reduction, and what adds to them.
    name
        How it is called in the IR and in errors.
    binds
        Your own buffers for tensors.
    scalar_params
        Not supported: anything but None is an error.
    default_buffer_params
        Accepted as in TVM: elements are accessed by indices, wherever they lie.

    The statements are run on random elements, and the result is compared with `op`. The elements cover the whole range
    of their types, with its limits.

    Raises
    ------
    TypeError
        Where `op` is no compute, or `fintrin` returns no statements.
    ValueError
        Where they compute something else.

    >>> from tilewright import te, tir
    >>> a = te.placeholder((4,), name="a")
    >>> b = te.compute((4,), lambda i: a[i] * 2, name="b")
    >>> def double(ins, outs):
    ...     ib = tir.ir_builder.create()
    ...     y = ib.buffer_ptr(outs[0])
    ...     with ib.for_range(0, 4, name="i") as i:
    ...         y[i] = ins[0][i] + ins[0][i]
    ...     return ib.get()
    >>> te.decl_tensor_intrin(b.op, double, name="double")
    intrinsic(double)
    """
    source = user_source()
    name = checked_name(name, "decl_tensor_intrin", source)
    what = f"decl_tensor_intrin {name}"
    described = op.op if isinstance(op, Tensor) else op
    if not isinstance(described, ComputeOp):
        raise TypeError(f"{source}: {what}: expected a compute, got {op!r}")
    if scalar_params is not None:
        raise TypeError(f"{source}: {what}: expected no scalar_params: a tile is described by its tensors alone")
    inputs = list(described.input_tensors)
    for tensor in inputs:
        if not isinstance(tensor.op, PlaceholderOp):
            raise ValueError(f"{source}: {what}: expected inputs that are placeholders, got the computed {tensor.name}")
    outputs = [described.output(i) for i in range(described.num_outputs)]
    buffers = [_buffer(tensor, binds or {}, what, source) for tensor in inputs + outputs]
    if not callable(fcompute):
        raise TypeError(f"{source}: {what}: expected a function of buffers as fcompute, got {fcompute!r}")
    if wrong := misfit(fcompute, "inputs", "results"):
        raise TypeError(f"{source}: {what}: fcompute: {wrong}")
    made = fcompute(buffers[: len(inputs)], buffers[len(inputs) :])
    given = tuple(made) if is_tuple(made) else (made,)
    if len(given) > len(_ROLES):
        raise ValueError(f"{source}: {what}: expected a body, or (body, reset, update), got {len(given)} values")
    parts: dict[str, Sequence[Statement]] = {}
    for role, statements in zip(_ROLES, given):
        if statements is None:
            continue
        if isinstance(statements, Statement):
            statements = [statements]
        if not isinstance(statements, list):
            raise TypeError(f"{source}: {what}: expected statements, as ib.get() returns, got {statements!r}")
        parts[role] = statements
    has_calls = any(isinstance(one, MatrixCall) for statements in parts.values() for one in statements_in(statements))
    if has_calls:
        from .fragments import statements_of

        parts = statements_of(parts, described, buffers, what)
    if not {"body", "update"} & parts.keys():
        raise ValueError(f"{source}: {what}: expected a body or an update, got neither")
    if described.reduction is None and ("reset" in parts or "update" in parts):
        raise ValueError(f"{source}: {what}: expected a body alone for what is no reduction, got a reset or an update")
    for statements in parts.values():
        check_stores(statements, buffers[: len(inputs)], what)
        _check_is_of_a_thread(statements, what)
    functions = _functions(described, inputs + outputs, buffers, parts, source, private=True)
    if has_calls:  # made of the description: they need no check
        return TensorIntrin(name, functions, described)
    from .intrinsic_check import check

    check(_functions(described, inputs + outputs, buffers, parts, source), f"{source}: {what}")
    return TensorIntrin(name, functions, described)


def trusted_intrinsic(
    name: str, op: ComputeOp, parts: Mapping[str, Sequence[Statement]], buffers: Sequence[Buffer]
) -> TensorIntrin:
    """The same, of statements that are known to compute what `op` does. `buffers` stand for its inputs and results."""
    tensors = [*op.input_tensors, *(op.output(i) for i in range(op.num_outputs))]
    return TensorIntrin(name, _functions(op, tensors, buffers, parts, user_source(), private=True), op)


def _check_is_of_a_thread(statements: Sequence[Statement], what: str) -> None:
    """An intrinsic is what one thread does in the loops of a schedule."""
    for one in statements_in(statements):
        if isinstance(one, Buffer) and one.scope not in ("", "local"):
            raise ValueError(
                f"{one.source}: {what}: expected buffers of a thread's own, of scope local, got {one.name} of scope "
                f"{one.scope!r}: cache_read in it"
            )
        if isinstance(one, Buffer) and not all(isinstance(extent, int) for extent in one.shape):
            raise TypeError(f"{one.source}: {what}: expected constant extents of {one.name}, got {one.shape}")
        if isinstance(one, Loop) and (one.kind in THREAD_TAGS or one.kind == "parallel"):
            raise ValueError(
                f"{one.source}: {what}: expected statements of one thread, got a loop on {one.kind}: bind the loops "
                "around"
            )


def _buffer(tensor: Tensor, binds: Mapping[Tensor, Buffer], what: str, source: Source) -> Buffer:
    shape = tuple(extent for extent in tensor.shape if isinstance(extent, int))
    if len(shape) != len(tensor.shape):
        raise ValueError(f"{source}: {what}: expected constant extents of {tensor.name}, got {tensor.shape}")
    dtype = tensor.op.element_types[tensor.value_index]
    if not isinstance(binds, Mapping):
        raise TypeError(f"{source}: {what}: expected binds as a dictionary of buffers by tensor, got {binds!r}")
    bound = next((buffer for key, buffer in binds.items() if key is tensor), None)
    if bound is None:
        return Buffer(tensor.name, shape, dtype, source)
    if not isinstance(bound, Buffer):
        raise TypeError(f"{source}: {what}: expected a buffer of decl_buffer for {tensor.name}, got {bound!r}")
    if bound.shape != shape or bound.dtype != tensor.dtype:
        raise ValueError(
            f"{source}: {what}: expected a buffer for {tensor.name} of {list(shape)} {tensor.dtype}, got {bound!r}"
        )
    return bound


def _functions(
    op: ComputeOp,
    tensors: Sequence[Tensor],
    buffers: Sequence[Buffer],
    parts: Mapping[str, Sequence[Statement]],
    source: Source,
    *,
    private: bool = False,
) -> str:
    """The description and the functions as IR; with `private`, a thread's own buffers say that they are."""
    module = emit_module([op.output(i) for i in range(op.num_outputs)], tensors, name="describe")
    with module.context, file_location(source):
        described = next(one.operation for one in module.body if one.operation.name == "func.func")
        attributes = [ir.DictAttr(one) for one in ir.ArrayAttr(described.attributes["arg_attrs"])]
        types = [buffer_type(buffer) for buffer in buffers]
        with ir.InsertionPoint(module.body):
            for role, statements in parts.items():
                function = func.FuncOp(role, (types, []))
                function.arg_attrs = attributes
                locations = [named_location(buffer.name, buffer.source) for buffer in buffers]
                block = ir.Block.create_at_start(function.body, types, locations)
                with ir.InsertionPoint(block):
                    StatementEmitter(dict(zip(buffers, block.arguments)), {}, own="local" if private else "").emit(
                        statements
                    )
                    func.ReturnOp([])
        module.operation.verify()
        return str(module.operation.get_asm(enable_debug_info=True))
