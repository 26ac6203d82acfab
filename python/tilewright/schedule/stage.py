"""One stage of a schedule: a computed or cached tensor, its loops and where it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..source import Source, user_source
from ..te.expr import Expr, IterVar
from ..te.program import axis_names
from ..te.tensor import Operation
from .checks import integer
from .primitives import factored_axes
from .refused import Refused

if TYPE_CHECKING:
    from mlir import ir

    from .schedule import Schedule

__all__ = ["Stage"]

Dom = tuple[int, int | Expr] | None


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

    def split(self, parent: IterVar, factor: int | None = None, nparts: int | None = None) -> tuple[IterVar, IterVar]:
        """One loop becomes two: an inner one of extent `factor`, or an outer one of extent `nparts`.

        Where the extent is no multiple, the iterations beyond it are predicated off. Returns the outer and the inner
        loop. Halide: ``split``, Exo: ``divide_loop``, MLIR transform: ``tile_using_for`` on one dimension.
        """
        from . import handles

        source = user_source()
        axis = self._axis(parent, "split", source)
        factors = (integer(factor, "split", "factor", source), integer(nparts, "split", "nparts", source))
        results = self._schedule.apply(handles.split, source, axis, *factors)
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

    # Primitives on the stage.

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

        They are fetched to registers before the loop that the stage is computed at goes on to compute, and stored after.
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
