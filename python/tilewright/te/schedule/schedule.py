"""The schedule of a program: its stages, what they read, and the list of primitives as IR."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...errors import TilewrightTypeError as TypeError
from ...errors import TilewrightValueError as ValueError
from ...messages.location import Source, user_source
from ...tvm_compat.missing_names import attributes_of
from ..expr import IterVar, Var
from ..extents import Array
from ..extern_op import ExternOp
from ..program import operations, symbols_of, unique_names
from ..scan_stages import ScanOp
from ..tensor import CacheOp, ComputeOp, Operation, PlaceholderOp, Tensor
from .checks import schedule_error
from .program_primitives import ProgramPrimitives, TensorOrOp
from .stage import Stage
from .stage_graph import StageGraph
from .written import WrittenStage

if TYPE_CHECKING:
    from mlir import ir

    from ...rules.plan import Plan
    from .group import Group
    from .trace import Trace

__all__ = ["Schedule", "create_schedule"]


def create_schedule(ops: TensorOrOp | Sequence[TensorOrOp]) -> Schedule:
    """The schedule of the program that computes `ops`: each stage whole, one after the other, until told otherwise.

    Raises TypeError for anything else than a tensor that is computed, or its ``.op``; ValueError for none.

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


class Schedule(ProgramPrimitives):
    """How a program is computed. ``s[C]`` is the stage of a tensor; `te.create_schedule` makes one.

    `operation` is the op of the IR that has the primitives so far, `graph` what the stages read of each other.

    Primitives raise what those of `te.Stage` raise: ScheduleError, TypeError and ValueError.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), name="A")
    >>> B = te.compute((8,), lambda i: A[i] * 2, name="B")
    >>> s = te.create_schedule(B.op)
    >>> s[B].split(B.op.axis[0], factor=4)
    (i.outer, i.inner)
    >>> print(s)
    for i.outer in range(2):  # B
      for i.inner in range(4):
        t0 = i.outer*4 + i.inner
        B[t0] = A[t0] * 2.0
    """

    __slots__ = (
        "_inputs", "context", "graph", "instead", "make_classes", "module", "names", "operation", "outputs", "plan",
        "ranges", "symbols", "written",
    )  # fmt: skip

    outputs: Array[Operation]
    module: ir.Module
    context: ir.Context
    operation: ir.Operation
    graph: StageGraph

    def __init__(self, outputs: Sequence[Operation], source: Source) -> None:
        from ... import ir as tw_ir
        from .handles import new_module

        self.outputs = Array(outputs)
        self.plan: Plan | None = None
        self.instead: dict[Operation, Operation] = {}
        """Of outputs of a program that this one gives the same results as, those of this one."""
        self.make_classes: Callable[[], tuple[Schedule, ...]] | None = None
        self.ranges: dict[Var, tuple[int, int | None]] = {}
        """The least and the greatest value of symbols that it is for, where it is for a class of their values."""
        self.symbols: dict[str, Var] = {}  # by which loops were split
        ops = operations(outputs)
        states = [op.state.op for op in ops if isinstance(op, ScanOp) and op.state is not None]
        self.names: dict[Operation, str] = unique_names(ops + states, {})
        self.context = tw_ir.context(front_end=True)
        self.module, self.operation = new_module(self.context, source)
        self.graph = StageGraph({op: Stage(self, op) for op in ops if isinstance(op, (ComputeOp, ExternOp))})
        self._inputs: dict[Operation, Stage] = {}
        self.written: dict[Operation, Stage] = {}
        for op in ops:
            if isinstance(op, ScanOp):
                self.graph.stages.update((update, self.graph.stages[op]) for update in op.updates)
                self.written.update((one, WrittenStage(self, one)) for one in op.written)

    if not TYPE_CHECKING:
        __getattr__ = attributes_of("te.Schedule", "'Schedule' object")

    def __reduce__(self) -> str:
        """A copy would change what it is a copy of. Raises TypeError."""
        hint = "make another, and apply the trace() of this one to it"
        raise TypeError(f"schedule: expected no copy and no pickle of a schedule: {hint}")

    @property
    def stages(self) -> tuple[Stage, ...]:
        """The stages, each after those that it reads, then those that the schedule made."""
        return tuple(dict.fromkeys(self.graph.stages.values()))

    @property
    def classes(self) -> tuple[Schedule, ...]:
        """The schedules that `tw.auto_schedule` makes for classes of the values of a symbolic extent, in order. Where
        one serves all values, that is the only one.

        ``tw.build(s.classes, args)`` makes one function of them, which chooses by the extents of each call.

        >>> import tilewright as tw
        >>> from tilewright import te
        >>> rows, k = te.var("rows", min=1), te.reduce_axis((0, 64), "k")
        >>> A, B = te.placeholder((rows, 64), "float16", "A"), te.placeholder((64, 256), "float16", "B")
        >>> C = te.compute((rows, 256), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
        >>> [found for one in tw.auto_schedule(C, "cuda -device=H200").classes for found in one.ranges.values()]
        [(1, 1), (2, 256), (257, None)]
        """
        return (self,) if self.make_classes is None else self.make_classes()

    @property
    def stage_map(self) -> dict[Operation, Stage]:
        """The stage of each operation, also of those that the schedule put in the place of others."""
        return dict(self.graph.stages)

    @property
    def groups(self) -> tuple[Group, ...]:
        """What `create_group` has made."""
        return tuple(self.graph.groups)

    def __getitem__(self, of: TensorOrOp) -> Stage:
        """The stage of a tensor or of its operation. That of an input tells of the input, and has no primitives. Raises
        TypeError for what is no tensor, ScheduleError for a tensor of another program.
        """
        op = of.op if isinstance(of, Tensor) else of
        if isinstance(op, PlaceholderOp) and op in self.names:
            return self._inputs.setdefault(op, Stage(self, op))
        if isinstance(op, Operation) and op in self.written:
            return self.written[op]
        return self.find_stage(of, "schedule", user_source())

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
        return str(self.operation.get_asm(assume_verified=True))

    def trace(self) -> Trace:
        """What was done so far, as Python that rebuilds the schedule when printed, and as JSON to save and load.

        See `Trace`. Exo: schedules are such Python; TVM: ``tir.Schedule.trace``.
        """
        from .trace import trace_of

        return trace_of(self)

    def explain(self, axis: IterVar | None = None) -> str:
        """Where an axis went: which primitives took it, at which lines of the program, and which loops it became.
        Without an axis, of a schedule that `tw.auto_schedule` made: which rule made what, and why. Raises ValueError
        without an axis for any other schedule.

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
        of_classes = [str(one.plan) for one in self.classes]
        return "\n".join(of_classes if len(of_classes) > 1 else [str(self.plan)])

    def emit(self, function: str) -> None:
        """Puts the schedule at the current insertion point, as that of `function`."""
        from .handles import clone_for

        clone_for(self.operation, function)

    # What the stages use.

    def apply(self, build: Callable[..., Any], source: Source, *args: object) -> Any:
        """Appends the primitive that `build` makes of `args`, verified, for the user's line `source`.

        One that does not verify is taken back and raised as a `ScheduleError`."""
        from .handles import append

        return append(self.operation, build, source, args)

    def name_of(self, symbol: Var, source: Source) -> str:
        """What a symbol is called in the IR, where a primitive at the user's line `source` names it. Raises
        ScheduleError where another symbol has this name.
        """
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

    def add_stage(self, cache: CacheOp, value: ir.Value, scope: str, reads: Sequence[Operation]) -> None:
        """Takes in the stage of `cache` that a primitive made: its handle `value`, its memory `scope` and what it
        reads.
        """
        self.names[cache] = cache.name
        self.graph.stages[cache] = Stage(self, cache, value, scope)
        self.graph.reads[cache] = list(reads)

    def find_stage(self, of: object, what: str, source: Source) -> Stage:
        """The stage of a tensor or of its operation, for the primitive `what` at the user's line `source`.

        An error where there is none. Raises TypeError for what is no tensor, ScheduleError for a tensor that this
        schedule does not compute.
        """
        op = of.op if isinstance(of, (Tensor, Stage)) else of
        if not isinstance(op, Operation):
            raise TypeError(f"{source}: {what}: expected a tensor or its .op, got {of!r}")
        op = self.instead.get(op, op)
        if op in self.graph.stages:
            return self.graph.stages[op]
        if op in self.names:
            raise schedule_error(source, f"{what}: expected a stage, got the input '{op.name}', which is not computed")
        known = ", ".join(f"'{stage.name}'" for stage in self.stages)
        raise schedule_error(source, f"{what}: expected a tensor of this schedule ({known}), got '{op.name}'")
