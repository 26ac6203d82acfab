"""The schedule of a program: its stages, what they read, and the list of primitives as IR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, overload

from ...errors import Diagnostic, ScheduleError
from ...errors import TilewrightTypeError as TypeError
from ...errors import TilewrightValueError as ValueError
from ...messages.location import Source, user_source
from ...tvm_compat.missing_names import attributes_of
from ..expr import IterVar, Var
from ..extents import Array
from ..extern_op import ExternOp
from ..fragments import FRAGMENT_SCOPES
from ..program import operations, symbols_of, unique_names
from ..scan_stages import ScanOp
from ..tensor import CacheOp, ComputeOp, Operation, PlaceholderOp, Tensor
from .stage import Stage
from .written import WrittenStage

if TYPE_CHECKING:
    from mlir import ir

    from ...rules.plan import Plan
    from .group import Group
    from .trace import Trace

__all__ = ["SCOPES", "Schedule", "create_schedule"]

SCOPES = ("global", "shared", "local", "warp")

TensorOrOp = Tensor | Operation


def create_schedule(ops: TensorOrOp | Sequence[TensorOrOp]) -> Schedule:
    """The schedule of the program that computes `ops`: each stage whole, one after the other, until told otherwise.

    >>> from tilewright import te
    >>> A = te.placeholder((64,), name="A")
    >>> B = te.compute((64,), lambda i: A[i] + 1, name="B")
    >>> s = create_schedule(B.op)
    >>> s[B].split(B.op.axis[0], factor=16)
    (i.outer, i.inner)
    """
    source = user_source()
    given = list(ops) if isinstance(ops, Sequence) else [ops]
    found: list[Operation] = []
    for one in given:
        op = one.op if isinstance(one, Tensor) else one
        if not isinstance(op, (ComputeOp, ExternOp)):
            raise TypeError(f"{source}: create_schedule: expected what te.compute makes, or its .op, got {one!r}")
        if op not in found:
            found.append(op)
    if not found:
        raise ValueError(f"{source}: create_schedule: expected at least one output, got none")
    return Schedule(found, source)


class Schedule:
    """How a program is computed. ``s[C]`` is the stage of a tensor; `te.create_schedule` makes one."""

    __slots__ = (
        "_groups", "_inputs", "_of", "_reads", "_stages", "written", "context", "instead", "module", "names", "outputs",
        "plan",
        "symbols",
    )  # fmt: skip

    outputs: Array[Operation]
    module: ir.Module
    context: ir.Context

    def __init__(self, outputs: Sequence[Operation], source: Source) -> None:
        from ... import ir as tw_ir
        from .handles import new_module

        self.outputs = Array(outputs)
        self.plan: Plan | None = None
        self.instead: dict[Operation, Operation] = {}
        """Of outputs of a program that this one gives the same results as, those of this one."""
        self._groups: list[Group] = []
        self.symbols: dict[str, Var] = {}  # by which loops were split
        ops = operations(outputs)
        states = [op.state.op for op in ops if isinstance(op, ScanOp) and op.state is not None]
        self.names: dict[Operation, str] = unique_names(ops + states, {})
        self.context = tw_ir.context(front_end=True)
        self.module, self._of = new_module(self.context, source)
        self._stages: dict[Operation, Stage] = {
            op: Stage(self, op) for op in ops if isinstance(op, (ComputeOp, ExternOp))
        }
        self._inputs: dict[Operation, Stage] = {}
        self.written: dict[Operation, Stage] = {}
        self._reads: dict[Operation, list[Operation]] = {
            op: list(dict.fromkeys(tensor.op for tensor in op.input_tensors)) for op in self._stages
        }
        for op in ops:
            if isinstance(op, ScanOp):
                self._stages.update((update, self._stages[op]) for update in op.updates)
                self.written.update((one, WrittenStage(self, one)) for one in op.written)

    if not TYPE_CHECKING:
        __getattr__ = attributes_of("te.Schedule", "'Schedule' object")

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages, each after those that it reads, then those that the schedule made."""
        return tuple(dict.fromkeys(self._stages.values()))

    @property
    def stage_map(self) -> dict[Operation, Stage]:
        """The stage of each operation, also of those that the schedule put in the place of others."""
        return dict(self._stages)

    @property
    def groups(self) -> tuple[Group, ...]:
        """What `create_group` has made."""
        return tuple(self._groups)

    def __getitem__(self, of: TensorOrOp) -> Stage:
        """The stage of a tensor or of its operation. That of an input tells of the input, and has no primitives."""
        op = of.op if isinstance(of, Tensor) else of
        if isinstance(op, PlaceholderOp) and op in self.names:
            return self._inputs.setdefault(op, Stage(self, op))
        if op in self.written:
            return self.written[op]
        return self._stage(of, "schedule", user_source())

    def _repr_html_(self) -> str:
        from .nest_html import FRAME, nest_html

        return f'<div style="{FRAME}">{nest_html(str(self))}</div>'

    def __str__(self) -> str:
        """The loop nest that the schedule makes, with buffers where they begin and predicates where they are needed.

        It is that of the loops stage: a schedule that cannot be applied shows its primitives and the reason instead.
        """
        from .nest import show

        return show(self)

    def ir(self) -> str:
        """The primitives so far, as the IR has them."""
        # The function that it is of comes with `emit`, so it does not verify before.
        return str(self._of.get_asm(assume_verified=True))

    def trace(self) -> Trace:
        """What was done so far, as Python that rebuilds the schedule when printed, and as JSON to save and load.

        See `Trace`. Exo: schedules are such Python; TVM: ``tir.Schedule.trace``.
        """
        from .trace import trace_of

        return trace_of(self)

    def explain(self, axis: IterVar | None = None) -> str:
        """Where an axis went: which primitives took it, at which lines of the program, and which loops it became.
        Without an axis, of a schedule that `tw.auto_schedule` made: which rule made what, and why.

        >>> from tilewright import te
        >>> A = te.placeholder((60,), name="A")
        >>> B = te.compute((60,), lambda i: A[i] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> outer, inner = s[B].split(B.op.axis[0], factor=16)
        >>> s[B].bind(inner, te.thread_axis("threadIdx.x"))
        >>> print(s.explain(B.op.axis[0]))      # doctest: +SKIP
        axis i of stage B, blur.py:2
          split into i.outer and i.inner by factor=16, blur.py:4
            i.outer: a loop of 4
            i.inner: a loop of 16
              bound to threadIdx.x, blur.py:5
        """
        from .explain import explain

        if axis is not None:
            return explain(self, axis, user_source())
        if self.plan is None:
            raise ValueError(
                f"{user_source()}: explain: expected an axis, of a schedule that tw.auto_schedule did not make"
            )
        return str(self.plan)

    def cache_read(self, tensor: Tensor, scope: str, readers: TensorOrOp | Sequence[TensorOrOp]) -> Tensor:
        """A copy of `tensor` in another memory, which `readers` read in its place. Returns the copy.

        Requires: an input of the program or the tensor of a stage with one; `scope` is ``"shared"``, ``"local"`` or
        ``"global"``; each of `readers` reads `tensor`. The stages that are not among `readers` go on reading `tensor`.

        >>> from tilewright import te
        >>> A = te.placeholder((60,), name="A")
        >>> B = te.compute((60,), lambda i: A[i] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> outer, inner = s[B].split(B.op.axis[0], factor=16)
        >>> print(s)
        for i.outer in range(4):  # B
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            if t0 < 60:
              B[t0] = A[t0] + 1.0
        >>> AL = s.cache_read(A, "local", [B])
        >>> s[AL].compute_at(s[B], outer)
        >>> print(s)
        for i.outer in range(4):  # B
          A.local: local float32[16]
          for ax0 in range(16):  # A.local
            t0 = i.outer*16 + ax0
            if t0 < 60:
              A.local[ax0] = A[t0]
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            if t0 < 60:
              B[t0] = A.local[i.inner] + 1.0

        TVM: ``cache_read``; Halide: ``in`` and ``store_in``; Exo: ``stage_mem``; MLIR transform:
        ``structured.promote``.

        Raises
        ------
        ScheduleError
            Where a reader does not read `tensor`.
        """
        from .making_stages import cache_read

        return cache_read(self, tensor, scope, readers)

    @overload
    def cache_write(self, tensor: Tensor, scope: str) -> Tensor: ...
    @overload
    def cache_write(self, tensor: Sequence[Tensor], scope: str) -> list[Tensor]: ...
    def cache_write(self, tensor: Tensor | Sequence[Tensor], scope: str) -> Tensor | list[Tensor]:
        """A stage of its own for computing `tensor` in another memory, from where it is then copied.

        Returns the new stage's tensor. The new stage takes over the computation and its reduction axes; the old one
        keeps its spatial axes and copies. For a stage with several tensors all of them are given, and a list comes
        back.

        If the spatial axes were split, fused or reordered before, the resulting loops are the axes of the new stage
        (``i.outer.c``). Its tensor has their order. The old stage gets new axes. With `compute_inline` of the old
        stage, its readers read the new tensor.

        Requires: the loops of the old stage are used for no more than that yet.

        >>> from tilewright import te
        >>> A = te.placeholder((60,), name="A")
        >>> B = te.compute((60,), lambda i: A[i] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> print(s)
        for i in range(60):  # B
          B[i] = A[i] + 1.0
        >>> BL = s.cache_write(B, "local")
        >>> outer, inner = s[B].split(B.op.axis[0], factor=16)
        >>> s[BL].compute_at(s[B], outer)
        >>> print(s)
        for i.outer in range(4):  # B
          B.local: local float32[16]
          for i in range(16):  # B.local
            if i.outer*16 + i < 60:
              B.local[i] = A[i.outer*16 + i] + 1.0
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            if t0 < 60:
              B[t0] = B.local[i.inner]

        TVM: ``cache_write``; Halide: ``in`` of the output, with ``store_in``; Exo: ``stage_mem``; MLIR transform:
        ``structured.promote``.
        """
        from .making_stages import cache_write

        return cache_write(self, tensor, scope)

    @overload
    def rfactor(self, tensor: Tensor, axis: IterVar, factor_axis: int = ...) -> Tensor: ...
    @overload
    def rfactor(self, tensor: Sequence[Tensor], axis: IterVar, factor_axis: int = ...) -> tuple[Tensor, ...]: ...
    def rfactor(
        self, tensor: Tensor | Sequence[Tensor], axis: IterVar, factor_axis: int = 0
    ) -> Tensor | tuple[Tensor, ...]:
        """One reduction becomes two: a new stage keeps `axis` and reduces the rest; the old one reduces `axis` alone.

        The new stage has `axis` as its spatial axis number `factor_axis`, from the end if negative. It reduces over the
        other reduction axes, and over the other loops of the split that made `axis`. Elements beyond the end of a split
        count as the reduction's identity. The axes of `tensor`'s stage are new: ``s[B].op.reduce_axis[0]`` is `axis`.

        Requires: `axis` is a reduction axis of the stage, or a loop split or fused from reduction axes. The loops of
        the stage are not used for anything else before. Floats are added in another order, as across threads.

        Returns
        -------
        The tensor of the new stage; a tuple of them for a reduction of tuples.

        >>> from tilewright import te
        >>> A = te.placeholder((8, 64), name="A")
        >>> k = te.reduce_axis((0, 64), name="k")
        >>> B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
        >>> s = te.create_schedule(B.op)
        >>> ko, ki = s[B].split(B.op.reduce_axis[0], factor=16)
        >>> print(s)
        for i in range(8):  # B
          B.acc: local float32
          B.acc = 0.0
          for k.outer in range(4):
            for k.inner in range(16):
              B.acc += A[i, k.outer*16 + k.inner]
          B[i] = B.acc
        >>> BF = s.rfactor(B, ki)
        >>> print(s)
        B.rf: global float32[16, 8]
        for k.inner in range(16):  # B.rf
          for i in range(8):
            B.rf.acc: local float32
            B.rf.acc = 0.0
            for k.outer in range(4):
              B.rf.acc += A[i, k.inner + k.outer*16]
            B.rf[k.inner, i] = B.rf.acc
        for i in range(8):  # B
          B.acc: local float32
          B.acc = 0.0
          for k.inner in range(16):
            B.acc += B.rf[k.inner, i]
          B[i] = B.acc

        Halide: ``rfactor``; TVM: ``rfactor``; Exo: by hand, ``unroll_buffer`` and ``reorder_loops``; MLIR transform:
        ``structured.split_reduction``.
        """
        from .making_stages import rfactor

        return rfactor(self, tensor, axis, factor_axis)

    def create_group(
        self, outputs: Tensor | Sequence[Tensor], inputs: Tensor | Sequence[Tensor], include_inputs: bool = False
    ) -> Group:
        """The stages from `inputs` to `outputs`, to be placed together: ``group.compute_at(s[C], axis)``.

        `outputs` are in the group, and all that they read until `inputs`, which are in it where `include_inputs` says
        so. Stages of the group that are computed at loops of others of it, before or after, stay there.

        Requires: tensors of this schedule; the outputs need each of the inputs.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
        >>> C = te.compute((64,), lambda i: B[i] + 1, name="C")
        >>> D = te.compute((64,), lambda i: C[i] * B[i], name="D")
        >>> s = te.create_schedule(D.op)
        >>> io, ii = s[D].split(D.op.axis[0], factor=16)
        >>> print(s)
        B: global float32[64]
        for i in range(64):  # B
          B[i] = A[i] * 2.0
        C: global float32[64]
        for i in range(64):  # C
          C[i] = B[i] + 1.0
        for i.outer in range(4):  # D
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            D[t0] = C[t0] * B[t0]
        >>> group = s.create_group(outputs=C, inputs=A)
        >>> group
        group(B, C)
        >>> group.compute_at(s[D], io)
        >>> print(s)
        for i.outer in range(4):  # D
          B: local float32[16]
          for i in range(16):  # B
            B[i] = A[i.outer*16 + i] * 2.0
          C: local float32[16]
          for i in range(16):  # C
            C[i] = B[i] + 1.0
          for i.inner in range(16):
            D[i.outer*16 + i.inner] = C[i.inner] * B[i.inner]

        TVM: ``create_group``; Halide: ``compute_at`` of each; Exo: ``fuse``; MLIR: a separate region.
        """
        from .making_stages import create_group

        return create_group(self, outputs, inputs, include_inputs)

    def normalize(self) -> Schedule:
        """The schedule itself: its axes all start at 0, so there is nothing to shift.

        Requires: nothing.

        >>> from tilewright import te
        >>> A = te.placeholder((60,), name="A")
        >>> B = te.compute((60,), lambda i: A[i] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> print(s)
        for i in range(60):  # B
          B[i] = A[i] + 1.0
        >>> s = s.normalize()
        >>> print(s)
        for i in range(60):  # B
          B[i] = A[i] + 1.0

        TVM: ``normalize``; Halide, Exo (``shift_loop``) and MLIR (``affine-loop-normalize``) have loops that start
        elsewhere.
        """
        return self

    def launch(
        self, *, dependent: bool = False, cooperative: bool = False, cluster: Sequence[int] | None = None
    ) -> None:
        """How the program's kernels are launched on a GPU. The last call counts.

        `dependent`: a kernel's blocks start while the previous kernel of the stream still runs, and then wait for it.
        This hides the launch time (programmatic dependent launch). The order of the stream stays. The kernel's inputs
        do not go through the read-only cache. `cooperative`: all blocks run at once, or the driver refuses the launch.
        `cluster`: a cluster has this many blocks along x, y and z, on SMs that are close to each other. A grid has
        whole clusters, or the launch is refused.

        Requires: sm_90 or later for `dependent` and `cluster`; at most 8 blocks in a cluster.

        >>> from tilewright import te
        >>> A = te.placeholder((60,), name="A")
        >>> B = te.compute((60,), lambda i: A[i] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> outer, inner = s[B].split(B.op.axis[0], factor=16)
        >>> s[B].bind(outer, te.thread_axis("blockIdx.x"))
        >>> s[B].bind(inner, te.thread_axis("threadIdx.x"))
        >>> print(s)
        for i.outer in range(4):  # B, blockIdx.x
          for i.inner in range(16):  # threadIdx.x
            t0 = i.outer*16 + i.inner
            if t0 < 60:
              B[t0] = A[t0] + 1.0
        >>> s.launch(dependent=True, cluster=(2, 1, 1))
        >>> print(s)
        # launched dependent, in clusters of (2, 1, 1)
        for i.outer in range(4):  # B, blockIdx.x
          for i.inner in range(16):  # threadIdx.x
            t0 = i.outer*16 + i.inner
            if t0 < 60:
              B[t0] = A[t0] + 1.0

        CUDA: attributes of ``cuLaunchKernelEx``; TVM, Halide, Exo and MLIR's transforms have none.
        """
        from .launching import set_launch

        set_launch(self._of, dependent, cooperative, cluster, user_source())

    def emit(self, function: str) -> None:
        """Puts the schedule at the current insertion point, as that of `function`."""
        from .handles import clone_for

        clone_for(self._of, function)

    # What the stages use.

    def apply(self, build: Callable[..., Any], source: Source, *args: object) -> Any:
        """Appends a primitive, verified; one that does not verify is taken back and raised as a `ScheduleError`."""
        from .handles import append

        return append(self._of, build, source, args)

    def name_of(self, symbol: Var, source: Source) -> str:
        """What a symbol is called in the IR, where a primitive names it."""
        known = [symbol for op in operations(self.outputs) for symbol in symbols_of(op)] + [*self.symbols.values()]
        if any(one.name == symbol.name and one is not symbol for one in known):
            raise schedule_error(
                source,
                f"split: expected a te.var with a name of its own, got '{symbol.name}', as another is called, too",
            )
        self.symbols[symbol.name] = symbol
        return symbol.name

    def stage_of_axis(self, axis: IterVar) -> Stage | None:
        """A stage that has `axis`, whether as a loop or not any more."""
        return next((stage for stage in self.stages if stage.has_axis(axis)), None)

    def reads_through(self, consumer: Operation, producer: Operation) -> bool:
        """True where `consumer` needs `producer`, also by way of other stages."""
        todo, seen = [consumer], set[int]()
        while todo:
            op = todo.pop()
            if id(op) in seen:
                continue
            seen.add(id(op))
            if producer in self._reads.get(op, ()):
                return True
            todo.extend(self._reads.get(op, ()))
        return False

    def readers(self, producer: Operation) -> list[Operation]:
        """The stages that read the tensors of `producer`."""
        return [op for op, reads in self._reads.items() if producer in reads]

    def producers(self, consumer: Operation) -> list[Stage]:
        """The stages that `consumer` reads."""
        return [self._stages[op] for op in self._reads[consumer] if op in self._stages]

    def _in_order(self) -> list[Stage]:
        """The stages, each after those that it reads, those that the schedule made among them."""
        done: dict[Operation, None] = {}

        def visit(op: Operation) -> None:
            if op in self._stages and op not in done:
                for read in self._reads[op]:
                    visit(read)
                done.setdefault(op)

        for op in self.outputs:
            visit(op)
        return [self._stages[op] for op in done]

    def _add(self, cache: CacheOp, value: ir.Value, scope: str, reads: Sequence[Operation]) -> None:
        self.names[cache] = cache.name
        self._stages[cache] = Stage(self, cache, value, scope)
        self._reads[cache] = list(reads)

    def _stage(self, of: object, what: str, source: Source) -> Stage:
        op = of.op if isinstance(of, (Tensor, Stage)) else of
        if not isinstance(op, Operation):
            raise TypeError(f"{source}: {what}: expected a tensor or its .op, got {of!r}")
        op = self.instead.get(op, op)
        if op in self._stages:
            return self._stages[op]
        if op in self.names:
            raise schedule_error(source, f"{what}: expected a stage, got the input '{op.name}', which is not computed")
        known = ", ".join(f"'{stage.name}'" for stage in self.stages)
        raise schedule_error(source, f"{what}: expected a tensor of this schedule ({known}), got '{op.name}'")


def checked_scope(what: str, scope: object, source: Source) -> str:
    """The memory that a scope names.

    All shared memory is sized at the launch, so ``"shared.dyn"`` is ``"shared"``. A fragment (``"wmma.matrix_a"``) is
    local to the lanes of a warp, which have it together where an instruction computes with it.
    """
    if scope == "shared.dyn":
        return "shared"
    known = (*SCOPES, *FRAGMENT_SCOPES)
    if not isinstance(scope, str) or scope not in known:
        raise ValueError(f"{source}: {what}: expected one of {', '.join(known)} as scope, got {scope!r}")
    return scope


def schedule_error(source: Source, message: str) -> ScheduleError:
    """An error about the primitive at the user's line."""
    diagnostic = Diagnostic("error", message, str(source))
    return ScheduleError(str(diagnostic), "schedule", (diagnostic,))
