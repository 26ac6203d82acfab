"""Statements on buffers as IR: scf and memref ops."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager

from mlir import ir
from mlir.dialects import affine, arith, memref, scf

from ..errors import TilewrightValueError as ValueError
from ..ir.attributes import axis as axis_attribute
from ..messages.location import Source
from .emit_body import BodyEmitter
from .emit_types import file_location, mlir_type, named_location
from .expr import Expr, IterVar, Read, Var
from .program import unique_name
from .statements import Buffer, Choice, Let, Load, Loop, MatrixCall, Repeat, Statement, Store
from .variables import THREAD_TAGS
from .walks import Steps, parts, run

__all__ = ["StatementEmitter", "buffer_type"]

_SPACES = {"local": "#gpu.address_space<private>", "shared": "#gpu.address_space<workgroup>"}


def buffer_type(buffer: Buffer, scope: str = "") -> ir.MemRefType:
    """The type of a buffer in the memory of a scope."""
    dynamic = ir.ShapedType.get_dynamic_size()
    shape = [extent if isinstance(extent, int) else dynamic for extent in buffer.shape]
    space = ir.Attribute.parse(_SPACES[scope]) if scope in _SPACES else None
    return ir.MemRefType.get(shape, mlir_type(buffer.element_type), memory_space=space)


class StatementEmitter:
    """Emits statements at the current insertion point.

    `buffers` are the values of buffers, `bound` those of symbols. Where it is said, `own` is the scope of all buffers
    that the statements allocate, and `before` the op before which sizes are computed.
    """

    def __init__(
        self,
        buffers: Mapping[Buffer, ir.Value],
        bound: Mapping[Expr, ir.Value],
        *,
        own: str | None = None,
        before: ir.Operation | None = None,
    ) -> None:
        self._buffers, self._bound, self._own, self._before = dict(buffers), dict(bound), own, before
        self._symbols = dict(bound)
        self._names: list[str] = []

    def emit(self, statements: Sequence[Statement]) -> None:
        """Emits statements in order."""
        for one in statements:
            with file_location(one.source):
                if isinstance(one, Buffer):
                    self._allocate(one)
                elif isinstance(one, Store):
                    value = self._emitter(one.value).element(one.value)
                    indices = [self._emitter(index).index(index) for index in one.indices]
                    memref.store(value, self._buffer(one.buffer, one.source), indices)
                elif isinstance(one, Choice):
                    self._choice(one)
                elif isinstance(one, Repeat):
                    self._repeat(one)
                elif isinstance(one, MatrixCall):
                    raise ValueError(
                        f"{one.source}: {one.name}: expected it alone in the statements of te.decl_tensor_intrin, "
                        "got it beside others or in te.extern"
                    )
                elif isinstance(one, Let):
                    self._bound[one.var] = self._emitter(one.value).element(one.value)
                else:
                    self._loop(one)

    def _emitter(self, expr: Expr) -> _ElementEmitter:
        # One an expression: what it loads may be stored to by the next statement.
        self._check(expr)
        return _ElementEmitter(self._buffer, self._bound)

    def _check(self, expr: Expr) -> None:
        """What an expression is made of is known where it stands."""
        for one in parts([expr]):
            if isinstance(one, Read):
                raise ValueError(f"{one.source}: expected loads of buffers, got one of the tensor {one.tensor.name}")
            if isinstance(one, (IterVar, Var)) and one not in self._bound:
                known = ", ".join(str(var) for var in self._bound) or "none"
                raise ValueError(
                    f"{expr.source}: expected variables of the loops and thread axes around ({known}), got {one}"
                )

    def _buffer(self, buffer: Buffer, source: Source) -> ir.Value:
        if buffer not in self._buffers:
            known = ", ".join(one.name for one in self._buffers)
            raise ValueError(f"{source}: expected one of the buffers of the statements ({known}), got {buffer.name}")
        return self._buffers[buffer]

    def _allocate(self, one: Buffer) -> None:
        scope = one.scope if self._own is None else self._own
        kind, location = buffer_type(one, scope), named_location(one.name, one.source)
        if self._own is not None or scope == "local":
            made = memref.AllocaOp(kind, [], [], loc=location)
        else:
            made = memref.AllocOp(kind, self._sizes(one), [], loc=location)
        if self._own is None:
            name = unique_name(one.name, self._names)
            self._names.append(name)
            made.operation.attributes["te.stage"] = ir.StringAttr.get(name)
        self._buffers[one] = made.result

    def _sizes(self, one: Buffer) -> list[ir.Value]:
        sizes = [extent for extent in one.shape if isinstance(extent, Expr)]
        if not sizes:
            return []
        assert self._before is not None
        with ir.InsertionPoint(self._before):
            of_symbols = StatementEmitter({}, self._symbols)
            return [of_symbols._emitter(size).index(size) for size in sizes]

    @contextmanager
    def _scope(self) -> Generator[None]:
        """What is named or allocated in a block is not known after it."""
        bound, buffers = dict(self._bound), dict(self._buffers)
        yield
        self._bound, self._buffers = bound, buffers

    def _choice(self, one: Choice) -> None:
        op = scf.IfOp(self._emitter(one.condition).value(one.condition), [], has_else=bool(one.otherwise))
        for region, statements in zip(op.regions, (one.then, one.otherwise)):
            if len(region.blocks):
                with ir.InsertionPoint(region.blocks[0]), self._scope():
                    self.emit(statements)
                    scf.yield_([])

    def _repeat(self, one: Repeat) -> None:
        op = scf.WhileOp([], [])
        with ir.InsertionPoint(op.before.blocks.append()):
            scf.condition(self._emitter(one.condition).value(one.condition), [])
        with ir.InsertionPoint(op.after.blocks.append()), self._scope():
            self.emit(one.body)
            scf.yield_([])

    def _loop(self, one: Loop) -> None:
        index = ir.IndexType.get()
        first, step = (arith.constant(index, ir.IntegerAttr.get(index, n)) for n in (0, 1))
        if isinstance(one.extent, int):
            end = arith.constant(index, ir.IntegerAttr.get(index, one.extent))
        else:
            end = self._emitter(one.extent).index(one.extent)
        begin = None if one.begin is None else self._emitter(one.begin).index(one.begin)
        op = scf.ForOp(first, end, step, loc=named_location(one.var.name, one.source))
        op.operation.attributes["schedule.axis"] = axis_attribute(one.var.name)
        if one.kind in THREAD_TAGS:
            tag = one.kind.partition(".")[0] if one.kind.startswith("vthread") else one.kind
            op.operation.attributes["schedule.bind"] = ir.Attribute.parse(f"#schedule.thread<{tag}>")
        elif one.kind != "serial":
            op.operation.attributes[f"schedule.{one.kind}"] = ir.UnitAttr.get()
        if one.instruction is not None:
            op.operation.attributes["schedule.instruction"] = ir.Attribute.parse(one.instruction.text)
        with ir.InsertionPoint(op.body), self._scope():
            value = op.induction_variable
            if begin is not None:
                d0, s0 = ir.AffineExpr.get_dim(0), ir.AffineExpr.get_symbol(0)
                value = affine.AffineApplyOp(ir.AffineMap.get(1, 1, [d0 + s0]), [value, begin]).result
            self._bound[one.var] = value
            self.emit(one.body)
            scf.yield_([])


class _ElementEmitter(BodyEmitter):
    """Emits expressions that load from buffers."""

    def __init__(self, buffer: Callable[[Buffer, Source], ir.Value], bound: Mapping[Expr, ir.Value]) -> None:
        super().__init__({}, bound)
        self._buffer = buffer

    def index(self, expr: Expr) -> ir.Value:
        """An index of a buffer."""
        return run(self._as_index(expr))

    def _eager(self, expr: Expr) -> tuple[Expr, ...]:
        return () if isinstance(expr, Load) else super()._eager(expr)

    def _emit(self, expr: Expr) -> ir.Value | Steps[ir.Value]:
        return self._load(expr) if isinstance(expr, Load) else super()._emit(expr)

    def _load(self, expr: Load) -> Steps[ir.Value]:
        with named_location(expr.buffer.name, expr.source):
            buffer, indices = self._buffer(expr.buffer, expr.source), list[ir.Value]()
            for one in expr.indices:
                indices.append((yield self._as_index(one)))
            return memref.load(buffer, indices)
