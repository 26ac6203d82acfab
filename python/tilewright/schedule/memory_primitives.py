"""The primitives on a stage's buffer and kernel: which memory it is in, how it is laid out, and when it is filled."""

from __future__ import annotations

from ..source import user_source
from ..te.expr import IterVar
from .checks import integer
from .stage_handles import StageHandles

__all__ = ["MemoryPrimitives"]


class MemoryPrimitives(StageHandles):
    """Each leaves the loops as they are."""

    __slots__ = ()

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
