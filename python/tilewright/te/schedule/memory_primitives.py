"""The primitives on a stage's buffer and kernel: which memory it is in, how it is laid out, and when it is filled."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ...errors import TilewrightValueError as ValueError
from ...messages.location import user_source
from ..expr import IterVar
from .checks import checked_scope, integer, schedule_error
from .stage_handles import StageHandles

if TYPE_CHECKING:
    from .stage import Stage

__all__ = ["MemoryPrimitives"]


# More than any shared memory holds; each is written out before that is looked at.
_MOST_STAGES = 1024


class MemoryPrimitives(StageHandles):
    """Each leaves the loops as they are."""

    __slots__ = ()

    def set_scope(self, scope: str) -> None:
        """The memory that the stage's tensor is in: ``"shared"``, ``"local"`` (a thread's own) or ``"global"``.

        Requires: for an output ``"global"``.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
        >>> C = te.compute((64,), lambda i: B[i] + 1, name="C")
        >>> s = te.create_schedule(C.op)
        >>> i, = C.op.axis
        >>> block, thread = s[C].split(i, factor=16)
        >>> s[C].bind(block, te.thread_axis("blockIdx.x"))
        >>> s[C].bind(thread, te.thread_axis("threadIdx.x"))
        >>> s[B].compute_at(s[C], thread)
        >>> print(s)
        for i.outer in range(4):  # C, blockIdx.x
          for i.inner in range(16):  # threadIdx.x
            B: local float32[1]
            t0 = i.outer*16 + i.inner
            B[0] = A[t0] * 2.0
            C[t0] = B[0] + 1.0
        >>> s[B].compute_at(s[C], block)
        >>> s[B].set_scope("shared")
        >>> print(s)
        for i.outer in range(4):  # C, blockIdx.x
          B: shared float32[16]
          for i.inner in range(16):  # B, threadIdx.x
            B[i.inner] = A[i.outer*16 + i.inner] * 2.0
          for i.inner in range(16):  # threadIdx.x
            C[i.outer*16 + i.inner] = B[i.inner] + 1.0

        TVM: ``set_scope``; Halide: ``store_in``; Exo: ``set_memory``; MLIR transform: ``structured.promote``.
        """
        from . import handles

        source = user_source()
        scope = checked_scope("set_scope", scope, source)
        if self.is_output and scope != "global":
            raise schedule_error(source, f"set_scope: expected global for the output '{self.name}', got {scope}")
        self.schedule.apply(handles.set_scope, source, self.handle, self.name, scope)
        self.scope = scope

    def storage_align(self, axis: IterVar, factor: int, offset: int) -> None:
        """Pads the buffer: the stride of `axis` becomes a multiple of `factor` elements plus `offset`.

        For example, rows of 16 floats in shared memory get a stride of 17. Then they begin in different banks, and the
        threads of a warp read down a column without bank conflicts.

        Requires: a spatial axis of the stage's tensor; a stage that is computed at a loop of another. The `offset` is
        from 0 to ``factor - 1``, and padding of the inner axes can give it.

        >>> from tilewright import te
        >>> A = te.placeholder((16, 16), name="A")
        >>> B = te.compute((16, 16), lambda i, j: A[j, i], name="B")
        >>> s = te.create_schedule(B.op)
        >>> AS = s.cache_read(A, "shared", [B])
        >>> s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.y"))
        >>> s[B].bind(B.op.axis[1], te.thread_axis("threadIdx.x"))
        >>> s[AS].compute_at(s[B], B.op.axis[1])
        >>> s[AS].bind(s[AS].op.axis[0], te.thread_axis("threadIdx.y"))
        >>> s[AS].bind(s[AS].op.axis[1], te.thread_axis("threadIdx.x"))
        >>> print(s)
        for i in range(16):  # B, threadIdx.y
          for j in range(16):  # threadIdx.x
            A.shared: shared float32[16, 16]
            for ax0 in range(16):  # A.shared, threadIdx.y
              for ax1 in range(16):  # threadIdx.x
                A.shared[ax0, ax1] = A[ax0, ax1]
            B[i, j] = A.shared[j, i]
        >>> s[AS].storage_align(s[AS].op.axis[0], 16, 1)
        >>> print(s)
        for i in range(16):  # B, threadIdx.y
          for j in range(16):  # threadIdx.x
            A.shared: shared float32[16, 17]
            for ax0 in range(16):  # A.shared, threadIdx.y
              for ax1 in range(16):  # threadIdx.x
                A.shared[ax0, ax1] = A[ax0, ax1]
            B[i, j] = A.shared[j, i]

        TVM: ``storage_align``; Halide: ``align_storage``; Exo: ``resize_dim``; MLIR transform: ``structured.pad``.
        """
        from . import handles

        source = user_source()
        axis_handle = self.axis_handle(axis, "storage_align", source)
        numbers = (
            integer(factor, "storage_align", "factor", source, 1),
            integer(offset, "storage_align", "offset", source, 0),
        )
        self.schedule.apply(handles.storage_align, source, self.handle, axis_handle, self.name, *numbers)

    def double_buffer(self) -> None:
        """The stage's shared buffer has two places: while one is read, the next iteration's elements go to the other.

        They are fetched to registers before the loop that the stage is computed at goes on to compute, stored after.

        Requires: a stage in shared memory that is computed at a loop of another which is not bound or marked.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> k = te.reduce_axis((0, 64), name="k")
        >>> B = te.compute((8,), lambda i: te.sum(A[k], axis=k), name="B")
        >>> s = te.create_schedule(B.op)
        >>> AS = s.cache_read(A, "shared", [B])
        >>> s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
        >>> ko, ki = s[B].split(B.op.reduce_axis[0], factor=8)
        >>> s[AS].compute_at(s[B], ko)
        >>> s[AS].bind(s[AS].op.axis[0], te.thread_axis("threadIdx.x"))
        >>> print(s)
        for i in range(8):  # B, threadIdx.x
          B.acc: local float32
          B.acc = 0.0
          for k.outer in range(8):
            A.shared: shared float32[8]
            for ax0 in range(8):  # A.shared, threadIdx.x
              A.shared[ax0] = A[k.outer*8 + ax0]
            for k.inner in range(8):
              B.acc += A.shared[k.inner]
          B[i] = B.acc
        >>> s[AS].double_buffer()
        >>> print(s)
        for i in range(8):  # B, threadIdx.x
          B.acc: local float32
          B.acc = 0.0
          for k.outer in range(8):  # filled 1 ahead
            A.shared: shared float32[8]  # 2 places
            for ax0 in range(8):  # A.shared, threadIdx.x
              A.shared[ax0] = A[k.outer*8 + ax0]
            for k.inner in range(8):
              B.acc += A.shared[k.inner]
          B[i] = B.acc

        TVM: ``double_buffer``; Halide: ``ring_buffer(2)`` with ``async``; Exo: by hand; MLIR: ``memref.multibuffer``.
        """
        from . import handles

        self.schedule.apply(handles.double_buffer, user_source(), self.handle, self.name)

    def software_pipeline(self, axis: IterVar, stages: int = 2, use_async: bool = False) -> None:
        """The loads into shared memory at a loop are issued `stages - 1` iterations ahead.

        Each shared buffer gets `stages` slots, which the iterations use in rotation. With `use_async`, ``cp.async``
        copies the elements from global to shared memory (sm_80 and up; 4, 8 or 16 bytes at a time). Without it, each
        thread keeps the loaded elements in registers until it stores them.

        Requires: a loop of this stage that is not bound or marked, at which stages in shared memory are computed; at
        least 2 `stages`. With `use_async`, the shared stages are copies.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> k = te.reduce_axis((0, 64), name="k")
        >>> B = te.compute((8,), lambda i: te.sum(A[k], axis=k), name="B")
        >>> s = te.create_schedule(B.op)
        >>> AS = s.cache_read(A, "shared", [B])
        >>> s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
        >>> ko, ki = s[B].split(B.op.reduce_axis[0], factor=8)
        >>> s[AS].compute_at(s[B], ko)
        >>> s[AS].bind(s[AS].op.axis[0], te.thread_axis("threadIdx.x"))
        >>> print(s)
        for i in range(8):  # B, threadIdx.x
          B.acc: local float32
          B.acc = 0.0
          for k.outer in range(8):
            A.shared: shared float32[8]
            for ax0 in range(8):  # A.shared, threadIdx.x
              A.shared[ax0] = A[k.outer*8 + ax0]
            for k.inner in range(8):
              B.acc += A.shared[k.inner]
          B[i] = B.acc
        >>> s[B].software_pipeline(ko, 3, use_async=True)
        >>> print(s)
        for i in range(8):  # B, threadIdx.x
          B.acc: local float32
          B.acc = 0.0
          for k.outer in range(8):  # filled 2 ahead by cp.async
            A.shared: shared float32[8]  # 3 places
            for ax0 in range(8):  # A.shared, threadIdx.x
              A.shared[ax0] = A[k.outer*8 + ax0]
            for k.inner in range(8):
              B.acc += A.shared[k.inner]
          B[i] = B.acc

        TVM: the annotations ``software_pipeline_stage``, ``_order`` and ``_async_stages`` of ``tir.Schedule``; Halide:
        ``ring_buffer`` with ``async``; Exo: by hand; MLIR transform: ``loop.pipeline``, ``nvgpu.create_async_groups``.
        """
        from . import handles

        source = user_source()
        axis_handle = self.axis_handle(axis, "software_pipeline", source)
        number = integer(stages, "software_pipeline", "stages", source, 2)
        if number is not None and number > _MOST_STAGES:
            raise ValueError(f"{source}: software_pipeline: expected at most {_MOST_STAGES} stages, got {number}")
        self.schedule.apply(handles.software_pipeline, source, axis_handle, axis.name, number, use_async)

    def launch_bounds(self, min_blocks: int) -> None:
        """At least `min_blocks` blocks of the stage's kernel fit an SM, as far as registers go.

        The assembler spills rather than give a thread more registers than that leaves.

        Requires: a stage that is computed at the root; at least one block.

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
        >>> s[B].launch_bounds(2)
        >>> print(s)
        for i.outer in range(4):  # B, blockIdx.x, at least 2 blocks per SM
          for i.inner in range(16):  # threadIdx.x
            t0 = i.outer*16 + i.inner
            if t0 < 60:
              B[t0] = A[t0] + 1.0

        CUDA: the second argument of ``__launch_bounds__``; TVM, Halide and Exo have none; MLIR: ``nvvm.minctasm``.
        """
        from . import handles

        source = user_source()
        number = integer(min_blocks, "launch_bounds", "min_blocks", source, 1)
        self.schedule.apply(handles.launch_bounds, source, self.handle, self.name, number)

    def set_store_predicate(self, predicate: object) -> None:
        """If several threads have the same elements, those of `predicate` store them.

        If threads have the same elements, one of them stores them anyway, so the loop nest stays as it is. Elements in
        local memory belong to their thread and stay there.

        Requires: comparisons of a ``te.thread_axis`` on threadIdx with numbers, such as ``tx.var.equal(0)`` or ``tx.var
        < 8``, combined by te.all. Either no element of the stage depends on the index, as after a reduction across its
        threads. Or the threads that do not store have no elements. Beside them, a comparison of an axis's index with
        its extent, such as ``bx * 32 + ty < n``, says what the loops say anyway.

        >>> from tilewright import te
        >>> A = te.placeholder((8, 32), name="A")
        >>> k = te.reduce_axis((0, 32), name="k")
        >>> B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
        >>> s = te.create_schedule(B.op)
        >>> tx = te.thread_axis("threadIdx.x")
        >>> s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
        >>> s[B].bind(B.op.reduce_axis[0], tx)
        >>> print(s)
        for i in range(8):  # B, blockIdx.x
          B.total = 0.0
          for k in range(32):  # threadIdx.x, combined by shuffles
            B.acc: local float32[1]
            B.acc[0] = 0.0
            B.acc[0] += A[i, k]
            B.total += B.acc[0]
          B[i] = B.total
        >>> s[B].set_store_predicate(tx.var.equal(0))
        >>> print(s)
        for i in range(8):  # B, blockIdx.x
          B.total = 0.0
          for k in range(32):  # threadIdx.x, combined by shuffles
            B.acc: local float32[1]
            B.acc[0] = 0.0
            B.acc[0] += A[i, k]
            B.total += B.acc[0]
          B[i] = B.total

        TVM: ``set_store_predicate``; Halide: ``where`` of an ``RDom``; Exo: ``specialize``; MLIR: ``scf.if``.
        """
        from . import handles
        from .store_predicate import storing_threads

        source = user_source()
        for thread, (first, end) in storing_threads(predicate, cast("Stage", self), source).items():
            self.schedule.apply(handles.set_store_predicate, source, self.handle, self.name, thread, first, end)
