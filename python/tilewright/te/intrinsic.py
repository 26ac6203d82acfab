"""Intrinsics: what a tile computes, and statements that do it, for `Stage.tensorize`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlir import ir
from mlir.dialects import arith, func, memref, scf

from ..source import Source, user_source
from .dtypes import DType
from .emit import emit_module
from .emit_body import BodyEmitter, file_location, mlir_type, named_location
from .expr import Expr
from .statements import Buffer, Choice, Load, Loop, Statement, Store
from .tensor import ComputeOp, PlaceholderOp, Tensor

__all__ = ["TensorIntrin", "decl_tensor_intrin"]

_ROLES = ("body", "reset", "update")
_PRIVATE = "#gpu.address_space<private>"


class TensorIntrin:
    """An intrinsic: a description of what it computes, and functions that do. `te.decl_tensor_intrin` makes one.

    `functions` is a module of IR with ``@describe`` and those of ``@body``, ``@reset`` and ``@update`` that there are.
    """

    __slots__ = ("functions", "name")

    def __init__(self, name: str, functions: str) -> None:
        self.name, self.functions = name, functions

    def __call__(self, *_: object, **__: object) -> Any:
        raise TypeError(
            f"{user_source()}: intrinsic {self.name}: expected s[C].tensorize(axis, {self.name}), got a call: a "
            "tensor is "
            "what te.compute says"
        )

    def __repr__(self) -> str:
        return f"intrinsic({self.name})"


def decl_tensor_intrin(
    op: object,
    fcompute: Callable[[list[Buffer], list[Buffer]], Any],
    *,
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
        Buffers of one's own for tensors.
    default_buffer_params
        Accepted as in TVM: elements are accessed by indices, wherever they lie.

    The statements are run on random elements and compared with what they are declared to compute.

    Raises
    ------
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
    made = fcompute(buffers[: len(inputs)], buffers[len(inputs) :])
    given = tuple(made) if isinstance(made, tuple) else (made,)
    if len(given) > len(_ROLES):
        raise ValueError(f"{source}: {what}: expected a body, or (body, reset, update), got {len(given)} values")
    parts: dict[str, Sequence[Statement]] = {}
    for role, statements in zip(_ROLES, given):
        if statements is None:
            continue
        if not isinstance(statements, list):
            raise TypeError(f"{source}: {what}: expected statements, as ib.get() returns, got {statements!r}")
        parts[role] = statements
    if not {"body", "update"} & parts.keys():
        raise ValueError(f"{source}: {what}: expected a body or an update, got neither")
    if described.reduction is None and ("reset" in parts or "update" in parts):
        raise ValueError(f"{source}: {what}: expected a body alone for what is no reduction, got a reset or an update")
    for statements in parts.values():
        _check_stores(statements, buffers[: len(inputs)], what)
    functions = _functions(described, inputs + outputs, buffers, parts, source, private=True)
    from .intrinsic_check import check

    check(
        described, inputs, outputs, _functions(described, inputs + outputs, buffers, parts, source), parts, what, source
    )
    return TensorIntrin(name, functions)


def _check_stores(statements: Sequence[Statement], inputs: Sequence[Buffer], what: str) -> None:
    """What an intrinsic is given to read stays as it is."""
    for one in statements:
        if isinstance(one, Store) and one.buffer in inputs:
            raise ValueError(
                f"{one.source}: {what}: expected stores to its results, got one to the input {one.buffer.name}"
            )
        if isinstance(one, Loop):
            _check_stores(one.body, inputs, what)
        elif isinstance(one, Choice):
            _check_stores([*one.then, *one.otherwise], inputs, what)


def _buffer(tensor: Tensor, binds: Mapping[Tensor, Buffer], what: str, source: Source) -> Buffer:
    shape = tuple(extent for extent in tensor.shape if isinstance(extent, int))
    if len(shape) != len(tensor.shape):
        raise ValueError(f"{source}: {what}: expected constant extents of {tensor.name}, got {tensor.shape}")
    dtype = tensor.op._dtypes[tensor.value_index]
    bound = next((buffer for key, buffer in binds.items() if key is tensor), None)
    if bound is None:
        return Buffer(tensor.name, shape, dtype, source)
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
        types = [_type(buffer.shape, buffer._dtype) for buffer in buffers]
        with ir.InsertionPoint(module.body):
            for role, statements in parts.items():
                function = func.FuncOp(role, (types, []))
                function.arg_attrs = attributes
                locations = [named_location(buffer.name, buffer.source) for buffer in buffers]
                block = ir.Block.create_at_start(function.body, types, locations)
                with ir.InsertionPoint(block):
                    emitter = _Statements(dict(zip(buffers, block.arguments)), private)
                    emitter.emit(statements)
                    func.ReturnOp([])
        module.operation.verify()
        return str(module.operation.get_asm(enable_debug_info=True))


def _type(shape: Sequence[int], dtype: DType, space: str | None = None) -> ir.MemRefType:
    memory = None if space is None else ir.Attribute.parse(space)
    return ir.MemRefType.get(shape, mlir_type(dtype), memory_space=memory)


class _Statements:
    """Emits statements at the current insertion point."""

    def __init__(self, buffers: dict[Buffer, ir.Value], private: bool) -> None:
        self._buffers, self._private = buffers, private
        self._bound: dict[Expr, ir.Value] = {}

    def emit(self, statements: Sequence[Statement]) -> None:
        """Emits statements in order."""
        for one in statements:
            with file_location(one.source):
                if isinstance(one, Buffer):
                    kind = _type(one.shape, one._dtype, _PRIVATE if self._private else None)
                    self._buffers[one] = memref.alloca(kind, [], [], loc=named_location(one.name, one.source))
                elif isinstance(one, Store):
                    value = self._emitter().element(one.value)
                    indices = [self._emitter().index(index) for index in one.indices]
                    memref.store(value, self._buffer(one.buffer, one.source), indices)
                elif isinstance(one, Choice):
                    self._choice(one)
                else:
                    self._loop(one)

    def _emitter(self) -> _StatementEmitter:
        # One an expression: what it loads may be stored to by the next statement.
        return _StatementEmitter(self._buffer, self._bound)

    def _buffer(self, buffer: Buffer, source: Source) -> ir.Value:
        if buffer not in self._buffers:
            known = ", ".join(one.name for one in self._buffers)
            raise ValueError(f"{source}: expected one of the intrinsic's buffers ({known}), got {buffer.name}")
        return self._buffers[buffer]

    def _choice(self, one: Choice) -> None:
        op = scf.IfOp(self._emitter().value(one.condition), [], has_else=bool(one.otherwise))
        for region, statements in zip(op.regions, (one.then, one.otherwise)):
            if len(region.blocks):
                with ir.InsertionPoint(region.blocks[0]):
                    self.emit(statements)
                    scf.yield_([])

    def _loop(self, one: Loop) -> None:
        assert one.var.dom is not None
        index = ir.IndexType.get()
        first, end, step = (arith.constant(index, ir.IntegerAttr.get(index, n)) for n in (0, one.var.dom[1], 1))
        op = scf.ForOp(first, end, step)
        op.operation.attributes["schedule.axis"] = ir.StringAttr.get(one.var.name)
        if one.kind != "serial":
            op.operation.attributes[f"schedule.{one.kind}"] = ir.UnitAttr.get()
        self._bound[one.var] = op.induction_variable
        with ir.InsertionPoint(op.body):
            self.emit(one.body)
            scf.yield_([])
        del self._bound[one.var]


class _StatementEmitter(BodyEmitter):
    """Emits expressions that load from buffers."""

    def __init__(self, buffer: Callable[[Buffer, Source], ir.Value], bound: Mapping[Expr, ir.Value]) -> None:
        super().__init__({}, bound)
        self._buffer = buffer

    def index(self, expr: Expr) -> ir.Value:
        """An index of a buffer."""
        return self._as_index(expr)

    def _eager(self, expr: Expr) -> tuple[Expr, ...]:
        return () if isinstance(expr, Load) else super()._eager(expr)

    def _emit(self, expr: Expr) -> ir.Value:
        if not isinstance(expr, Load):
            return super()._emit(expr)
        with named_location(expr.buffer.name, expr.source):
            return memref.load(self._buffer(expr.buffer, expr.source), [self._as_index(one) for one in expr.indices])
