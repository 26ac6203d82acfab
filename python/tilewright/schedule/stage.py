"""One stage of a schedule: a computed or cached tensor, its loops and where it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..source import Source, user_source
from ..te.expr import Expr, IterVar
from ..te.program import axis_names
from ..te.recurrence import ScanOp
from ..te.tensor import Operation
from .checks import integer
from .primitives import factored_axes
from .refused import Refused

if TYPE_CHECKING:
    from mlir import ir

    from .schedule import Schedule

__all__ = ["Stage"]

Dom = tuple[int, int | Expr] | None

# What would run the iterations of an axis in another order.
_INDEPENDENT = ("split", "tile", "fuse", "bind", "vectorize", "parallel")


class Stage(Refused):
    """A stage: ``s[C]``. Its methods are the primitives; each names the loops that it makes after those it takes."""

    __slots__ = ("_axes", "_handle", "_schedule", "attached_to", "key", "op", "scope")

    def __init__(
        self, schedule: Schedule, op: Operation, handle: ir.Value | None = None, scope: str = "global"
    ) -> None:
        self._schedule, self.key, self.op, self.scope = schedule, op, op, scope
        self._handle = handle
        self.attached_to: Stage | None = None
        self._axes: dict[IterVar, ir.Value] = {}

    @property
    def name(self) -> str:
        """The name of the stage, different from that of every other."""
        return self._schedule.names[self.key]

    @property
    def is_output(self) -> bool:
        return self.key in self._schedule.outputs

    def __repr__(self) -> str:
        return f"stage({self.name})"

    # Primitives on loops.

    def split(
        self,
        parent: IterVar,
        factor: int | None = None,
        nparts: int | None = None,
        disable_predication: bool = False,
    ) -> tuple[IterVar, IterVar]:
        """One loop becomes two: an inner one of extent `factor`, or an outer one of extent `nparts`.

        Where the extent is no multiple, the iterations beyond it are predicated off. With `disable_predication` there
        are no predicates, and an extent that is no multiple is an error rather than wrong. Returns the outer and the
        inner loop. Halide: ``split``, Exo: ``divide_loop``, MLIR transform: ``tile_using_for`` on one dimension.
        """
        from . import handles

        source = user_source()
        axis = self._axis(parent, "split", source)
        factors = (integer(factor, "split", "factor", source), integer(nparts, "split", "nparts", source))
        results = self._schedule.apply(handles.split, source, axis, *factors, bool(disable_predication))
        names = [f"{parent.name}.outer", f"{parent.name}.inner"]
        outer, inner = self._made(results, names, parent.kind, source, _parts(parent, *factors))
        return outer, inner

    def tile(
        self, x_parent: IterVar, y_parent: IterVar, x_factor: int, y_factor: int
    ) -> tuple[IterVar, IterVar, IterVar, IterVar]:
        """Two loops become a nest over tiles and one within them, in the order x outer, y outer, x inner, y inner.

        Halide: ``tile``, Exo: ``divide_loop`` twice and ``reorder_loops``, MLIR transform: ``tile_using_for``.
        """
        from . import handles

        source = user_source()
        axes = (self._axis(x_parent, "tile", source), self._axis(y_parent, "tile", source))
        factors = (integer(x_factor, "tile", "x_factor", source, 1), integer(y_factor, "tile", "y_factor", source, 1))
        results = self._schedule.apply(handles.tile, source, *axes, *factors)
        x, y = x_parent, y_parent
        names = [f"{x.name}.outer", f"{y.name}.outer", f"{x.name}.inner", f"{y.name}.inner"]
        (x_outer, x_inner), (y_outer, y_inner) = _parts(x, factors[0], None), _parts(y, factors[1], None)
        made = self._made(results, names, x.kind, source, [x_outer, y_outer, x_inner, y_inner])
        return made[0], made[1], made[2], made[3]

    def fuse(self, *args: IterVar) -> IterVar:
        """Neighbouring loops become one, the first given the slowest. Halide: ``fuse``, Exo: ``mult_loops``."""
        from . import handles

        source = user_source()
        axes = [self._axis(axis, "fuse", source) for axis in args]
        name = ".".join(axis.name for axis in args) + ".fused"
        result = self._schedule.apply(handles.fuse, source, axes, name)
        extent: int | Expr = 1
        for axis in args:
            extent = extent * axis.dom[1] if axis.dom is not None else extent
        dom = (0, extent) if args[0].kind == "reduce" else None
        return self._made([result], [name], args[0].kind, source, [dom])[0]

    def reorder(self, *args: IterVar) -> None:
        """The loops given take their places among themselves in that order, the first outermost.

        Halide: ``reorder``, Exo: ``reorder_loops``, MLIR transform: ``interchange``.
        """
        from . import handles

        source = user_source()
        axes = [self._axis(axis, "reorder", source) for axis in args]
        self._schedule.apply(handles.reorder, source, axes, self.name)

    def bind(self, ivar: IterVar, thread_ivar: IterVar) -> None:
        """A loop becomes a block or thread index, or a virtual thread.

        Two stages may bind the same index; in one kernel it has one extent. The iterations of a loop on ``"vthread"``
        are run by one thread, each op for all of them before the next op. Halide: ``gpu_blocks``, ``gpu_threads``.
        """
        from . import handles

        source = user_source()
        axis = self._axis(ivar, "bind", source)
        if not isinstance(thread_ivar, IterVar) or thread_ivar.kind != "thread":
            raise TypeError(f"{source}: bind: expected te.thread_axis(...), got {thread_ivar!r}")
        extent = None if thread_ivar.dom is None else thread_ivar.dom[1]
        self._schedule.apply(handles.bind, source, axis, ivar.name, thread_ivar.tag, extent)

    def vectorize(self, var: IterVar) -> None:
        """The iterations of a loop become the lanes of vectors. Halide: ``vectorize``."""
        from . import handles

        source = user_source()
        self._schedule.apply(handles.vectorize, source, self._axis(var, "vectorize", source), var.name)

    def unroll(self, var: IterVar) -> None:
        """The iterations of a loop are written out. Halide: ``unroll``, Exo: ``unroll_loop``."""
        from . import handles

        source = user_source()
        self._schedule.apply(handles.unroll, source, self._axis(var, "unroll", source), var.name)

    def parallel(self, var: IterVar) -> None:
        """The iterations of a loop are shared out among the threads of a CPU.

        Requires: a spatial axis, not bound, unrolled or vectorized. On a GPU it is an error, for which `bind` is there.
        Target "cpu" shares out the loops of a stage as it finds best, this one or another.

        >>> from tilewright import te
        >>> A = te.placeholder((8,), name="A")
        >>> B = te.compute((8,), lambda i: A[i] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> print(s)
        for i in range(8):  # B
          B[i] = A[i] + 1.0
        >>> s[B].parallel(B.op.axis[0])
        >>> print(s)
        for i in range(8):  # B, parallel
          B[i] = A[i] + 1.0

        Halide, TVM: ``parallel``; Exo: ``parallelize_loop``; MLIR transform: ``tile_using_forall``.
        """
        from . import handles

        source = user_source()
        self._schedule.apply(handles.parallel, source, self._axis(var, "parallel", source), var.name)

    def pragma(self, var: IterVar, pragma_type: str, pragma_value: object = None) -> None:
        """A hint for the loops from `var` on, by the name that TVM has for it.

        ``"auto_unroll_max_step"``: `var`'s loop and those in it are written out, innermost first, as long as what one
        writes out makes at most `pragma_value` stores. ``"unroll_explicit"``: whether loops are written out before or
        by the compiler that comes after; here it is always before, so both values mean the same and do nothing.

        >>> from tilewright import te
        >>> A = te.placeholder((8, 4), name="A")
        >>> B = te.compute((8, 4), lambda i, j: A[i, j] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> print(s)
        for i in range(8):  # B
          for j in range(4):
            B[i, j] = A[i, j] + 1.0
        >>> s[B].pragma(B.op.axis[0], "auto_unroll_max_step", 16)
        >>> print(s)
        for i in range(8):  # B
          for j in range(4):  # unrolled
            B[i, j] = A[i, j] + 1.0

        TVM: ``pragma``; Halide: ``unroll`` of each; Exo: ``unroll_loop``; MLIR transform: ``loop.unroll``.
        """
        from . import handles

        source = user_source()
        axis = self._axis(var, "pragma", source)
        if pragma_type == "auto_unroll_max_step":
            steps = integer(pragma_value, "pragma", "auto_unroll_max_step", source, 0)
            self._schedule.apply(handles.auto_unroll, source, axis, var.name, steps)
        elif pragma_type != "unroll_explicit":
            raise ValueError(f"{source}: pragma: expected auto_unroll_max_step or unroll_explicit, got {pragma_type!r}")

    # Primitives on the stage.

    def decompose_reduction(self, loop: IterVar) -> None:
        """The elements of a reduction are set to its identity in loops of their own before `loop`.

        Requires: `loop` is the outermost loop of the reduction or one further out, and one thread does the reduction.

        >>> from tilewright import te
        >>> A = te.placeholder((8, 64), name="A")
        >>> k = te.reduce_axis((0, 64), name="k")
        >>> B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
        >>> s = te.create_schedule(B.op)
        >>> print(s)
        for i in range(8):  # B
          B.acc: local float32
          B.acc = 0.0
          for k in range(64):
            B.acc += A[i, k]
          B[i] = B.acc
        >>> s[B].decompose_reduction(B.op.axis[0])
        >>> print(s)
        B.acc: local float32[8]
        for i in range(8):  # B
          B.acc[i] = 0.0
        for i in range(8):  # B
          for k in range(64):
            B.acc[i] += A[i, k]
        for i in range(8):  # B
          B[i] = B.acc[i]

        TVM: ``tir.Schedule.decompose_reduction``; Halide: pure and update definitions are scheduled apart; Exo:
        ``fission``; MLIR transform: ``structured.decompose``.
        """
        from . import handles

        source = user_source()
        axis = self._axis(loop, "decompose_reduction", source)
        self._schedule.apply(handles.decompose_reduction, source, self.handle, axis, self.name)

    def set_store_predicate(self, predicate: object) -> None:
        """Of threads that have the same elements one stores them: `predicate` says thread 0 of an index.

        Requires: ``tx.equal(0)`` (or ``tx.var.equal(0)``) of a ``te.thread_axis`` on threadIdx that no element of the
        stage depends on, as after a reduction across its threads; several are taken one after the other or by te.all.
        Where threads have the same elements, thread 0 alone stores them anyway, so the nest stays as it is.

        TVM: ``set_store_predicate``; Halide: ``where`` of an ``RDom``; Exo: ``specialize``; MLIR: ``scf.if``.
        """
        from . import handles
        from .store_predicate import first_threads

        source = user_source()
        for thread in first_threads(predicate, source):
            self._schedule.apply(handles.set_store_predicate, source, self.handle, self.name, thread)

    def reverse_compute_at(self, parent: Stage, scope: IterVar) -> None:
        """The stage is computed inside a loop of a stage that it reads, after it: what that iteration made possible.

        Requires: this stage reads `parent` at its own axes; `scope` is a loop around `parent`'s reduction whose
        iterations compute a block of its tensor each; `parent` is computed at the root. Where all that reads `parent`
        follows it so, its tensor lives within the loop.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
        >>> C = te.compute((64,), lambda i: B[i] + 1, name="C")
        >>> s = te.create_schedule(C.op)
        >>> io, ii = s[B].split(B.op.axis[0], factor=16)
        >>> print(s)
        B: global float32[64]
        for i.outer in range(4):  # B
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            B[t0] = A[t0] * 2.0
        for i in range(64):  # C
          C[i] = B[i] + 1.0
        >>> s[C].reverse_compute_at(s[B], io)
        >>> print(s)
        for i.outer in range(4):  # B
          B: local float32[16]
          for i.inner in range(16):
            B[i.inner] = A[i.outer*16 + i.inner] * 2.0
          for i in range(16):  # C
            C[i.outer*16 + i] = B[i] + 1.0

        TVM: ``tir.Schedule.reverse_compute_at``; Halide: ``compute_with``; Exo: ``fuse``; MLIR transform:
        ``fuse_into_containing_op`` of the consumer.
        """
        from . import handles
        from .schedule import schedule_error

        source = user_source()
        self._check_whole("reverse_compute_at", source)
        if not isinstance(parent, Stage) or parent._schedule is not self._schedule:
            raise TypeError(f"{source}: reverse_compute_at: expected a stage of this schedule, got {parent!r}")
        if parent is not self and self.key not in self._schedule.readers(parent.key):
            raise schedule_error(
                source, f"reverse_compute_at: expected a stage that '{self.name}' reads, got stage '{parent.name}'"
            )
        axis = parent._axis(scope, "reverse_compute_at", source)
        self._schedule.apply(handles.reverse_compute_at, source, self.handle, self.name, parent.handle, axis)

    def reverse_compute_inline(self) -> None:
        """The stage is computed where the stage is that it reads, which keeps its loops and takes over its tensor.

        Requires: both are elementwise, this stage reads one stage alone, at its own axes, and nothing else reads that.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
        >>> C = te.compute((64,), lambda j: B[j] + 1, name="C")
        >>> s = te.create_schedule(C.op)
        >>> _ = s[B].split(B.op.axis[0], factor=16)
        >>> s[C].reverse_compute_inline()
        >>> print(s)
        for i.outer in range(4):  # B
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            C[t0] = A[t0] * 2.0 + 1.0

        TVM: ``tir.Schedule.reverse_compute_inline``; Halide, Exo and MLIR have inlining into the reader alone.
        """
        from . import handles
        from .schedule import schedule_error

        source = user_source()
        self._check_whole("reverse_compute_inline", source)
        producers = self._schedule.producers(self.key)
        if len(producers) != 1:
            text = ", ".join(f"'{stage.name}'" for stage in producers) or "none"
            raise schedule_error(
                source, f"reverse_compute_inline: expected stage '{self.name}' to read one stage, got {text}"
            )
        self._schedule.apply(handles.reverse_compute_inline, source, self.handle, self.name, producers[0].handle)

    def compute_at(self, parent: Stage, scope: IterVar) -> None:
        """The stage is computed inside a loop of a stage that needs it, just what that iteration needs.

        Halide: ``compute_at``, MLIR transform: ``fuse_into_containing_op``.

        Raises
        ------
        ScheduleError
            Where `parent` does not read this stage, directly or by way of others.
        """
        from . import handles
        from .schedule import schedule_error

        source = user_source()
        if not isinstance(parent, Stage) or parent._schedule is not self._schedule:
            raise TypeError(f"{source}: compute_at: expected a stage of this schedule, got {parent!r}")
        if parent is not self and not self._schedule.reads_through(parent.key, self.key):
            readers = [self._schedule.names[op] for op in self._schedule.readers(self.key)]
            text = ", ".join(f"'{name}'" for name in readers) or "none: it is an output"
            raise schedule_error(
                source, f"compute_at: expected a consumer of stage '{self.name}' ({text}), got stage '{parent.name}'"
            )
        self._check_whole("compute_at", source)
        axis = parent._axis(scope, "compute_at", source)
        self._schedule.apply(handles.compute_at, source, self.handle, self.name, parent.handle, axis)
        self.attached_to = parent

    def compute_inline(self) -> None:
        """The stage is computed where it is read. Halide's default."""
        from . import handles
        from .schedule import schedule_error

        source = user_source()
        if self.is_output:
            raise schedule_error(source, f"compute_inline: expected a stage that is read, got the output '{self.name}'")
        if isinstance(self.op, ScanOp):
            raise schedule_error(source, f"compute_inline: expected an elementwise stage, got the scan '{self.name}'")
        if self.op.reduce_axis:
            axes = ", ".join(axis.name for axis in self.op.reduce_axis)
            raise schedule_error(
                source, f"compute_inline: expected an elementwise stage, got '{self.name}', which reduces over {axes}"
            )
        self._schedule.apply(handles.compute_inline, source, self.handle, self.name)

    def compute_root(self) -> None:
        """The stage is computed whole, before its consumers: what holds unless said otherwise. Halide: the same."""
        from . import handles

        source = user_source()
        self._schedule.apply(handles.compute_root, source, self.handle, self.name)
        self.attached_to = None

    def set_scope(self, scope: str) -> None:
        """The memory that the stage's tensor lives in: ``"shared"``, ``"local"`` or ``"global"``."""
        from . import handles
        from .schedule import check_scope, schedule_error

        source = user_source()
        check_scope("set_scope", scope, source)
        if self.is_output and scope != "global":
            raise schedule_error(source, f"set_scope: expected global for the output '{self.name}', got {scope}")
        self._schedule.apply(handles.set_scope, source, self.handle, self.name, scope)
        self.scope = scope

    def storage_align(self, axis: IterVar, factor: int, offset: int) -> None:
        """Pads the stage's buffer: neighbours along `axis` lie `offset` more than a multiple of `factor` elements off.

        Rows of 32 floats of shared memory that are 33 apart begin in different banks, so that the threads of a warp
        can read down a column: ``s[tile].storage_align(s[tile].op.axis[0], 32, 1)``. Halide: ``align_storage``.
        """
        from . import handles

        source = user_source()
        axis_handle = self._axis(axis, "storage_align", source)
        numbers = (
            integer(factor, "storage_align", "factor", source, 1),
            integer(offset, "storage_align", "offset", source, 0),
        )
        self._schedule.apply(handles.storage_align, source, self.handle, axis_handle, self.name, *numbers)

    def double_buffer(self) -> None:
        """The stage's shared buffer has two places: while one is read, the next iteration's elements go to the other.

        They are fetched to registers before the loop that the stage is computed at goes on to compute, stored after.
        """
        from . import handles

        self._schedule.apply(handles.double_buffer, user_source(), self.handle, self.name)

    def software_pipeline(self, axis: IterVar, depth: int = 2, use_async: bool = False) -> None:
        """The shared buffers that are filled at a loop are filled `depth - 1` iterations before they are needed.

        Each gets `depth` places, which the iterations take in turn. With `use_async`, elements are copied straight from
        global to shared memory by ``cp.async`` (sm_80 and up; 4, 8 or 16 bytes at a time); without, each thread keeps
        what it fetched in registers until it stores it.
        """
        from . import handles

        source = user_source()
        axis_handle = self._axis(axis, "software_pipeline", source)
        number = integer(depth, "software_pipeline", "depth", source, 2)
        self._schedule.apply(handles.software_pipeline, source, axis_handle, axis.name, number, use_async)

    def launch_bounds(self, min_blocks: int) -> None:
        """At least `min_blocks` blocks of the stage's kernel fit a multiprocessor, as far as registers go.

        The assembler spills rather than give a thread more registers than that leaves. The stage is one that is
        computed at the root. CUDA: the second argument of ``__launch_bounds__``.
        """
        from . import handles

        source = user_source()
        number = integer(min_blocks, "launch_bounds", "min_blocks", source, 1)
        self._schedule.apply(handles.launch_bounds, source, self.handle, self.name, number)

    # Handles.

    @property
    def handle(self) -> ir.Value:
        """The stage's handle in the IR, made when it is first needed."""
        from . import handles

        if self._handle is None:
            self._handle = self._schedule.apply(handles.stage, self.op.source, self.name)
        return self._handle

    def has_axis(self, axis: IterVar) -> bool:
        """True for the axes of the operation and for the loops that were made of them."""
        return axis in self._axes or any(axis is own for own in self.op.axis + self.op.reduce_axis)

    def _check_whole(self, what: str, source: Source) -> None:
        """A scan is computed whole, in a loop nest of its own."""
        from .schedule import schedule_error

        if isinstance(self.op, ScanOp):
            raise schedule_error(
                source, f"{what}: expected a stage of which a part can be computed, got the scan '{self.name}'"
            )

    def forget_unused_axes(self) -> None:
        """Takes back axis handles that no primitive used, so that others can take their place."""
        from .handles import erase_unused

        if self._axes and erase_unused(list(self._axes.values())):
            self._axes = {}

    def factored_axes(self, axis: IterVar) -> tuple[IterVar, ...]:
        """The axes that a stage reduces over once `axis` is factored out of this one."""
        axes = {value: own for own, value in self._axes.items()}
        roots = [self._axes[own] for own in self.op.reduce_axis]
        return tuple(axes[value] for value in factored_axes(self._schedule._of, self._axes[axis], roots))

    def replace_op(self, op: Operation) -> None:
        """The stage computes its tensor in another way, with axes of its own."""
        self.op, self._axes = op, {}

    def _axis(self, axis: IterVar, what: str, source: Source) -> ir.Value:
        """The handle of one of this stage's axes."""
        from . import handles
        from .schedule import schedule_error

        if not isinstance(axis, IterVar):
            raise TypeError(f"{source}: {what}: expected an axis of stage '{self.name}', got {axis!r}")
        if not self.has_axis(axis):
            owner = self._schedule.stage_of_axis(axis)
            mine = ", ".join(own.name for own in self.op.axis + self.op.reduce_axis) or "none"
            whose = f"of stage '{owner.name}'" if owner is not None else "of no stage of this schedule"
            raise schedule_error(
                source, f"{what}: expected an axis of stage '{self.name}' ({mine}), got '{axis.name}' {whose}"
            )
        if isinstance(self.op, ScanOp) and axis is self.op.scan_axis and what in _INDEPENDENT:
            raise schedule_error(
                source,
                f"{what}: expected an axis whose iterations are independent, got '{axis.name}', the scan axis of stage "
                f"'{self.name}'",
            )
        if not self._axes:
            names, spatial = axis_names(self.op), len(self.op.axis)
            for build, own, own_names in (
                (handles.axes, self.op.axis, names[:spatial]),
                (handles.reduce_axes, self.op.reduce_axis, names[spatial:]),
            ):
                if own:
                    results = self._schedule.apply(build, self.op.source, self.handle, own_names)
                    self._axes.update(zip(own, results if len(own) > 1 else [results]))
        return self._axes[axis]

    def _made(
        self, values: list[ir.Value], names: list[str], kind: str, source: Source, doms: list[Dom]
    ) -> list[IterVar]:
        made = [IterVar(name, dom, kind, source) for name, dom in zip(names, doms)]
        self._axes.update(zip(made, values))
        return made


def _parts(parent: IterVar, factor: int | None, nparts: int | None) -> list[Dom]:
    """The extents of the loops that a reduction axis is split into; those of spatial axes depend on where they run."""
    if parent.kind != "reduce" or parent.dom is None:
        return [None, None]
    given = factor or nparts or 1
    extent = parent.dom[1]
    rest = -(-extent // given) if isinstance(extent, int) else (extent + (given - 1)) // given
    return [(0, rest), (0, given)] if factor else [(0, given), (0, rest)]
