"""The primitives that say where a stage is computed."""

from __future__ import annotations

from ...errors import TilewrightTypeError as TypeError
from ...messages.location import user_source
from ..expr import IterVar
from ..extern_op import ExternOp
from ..scan_stages import ScanOp
from ..tensor import Operation, Tensor
from .checks import schedule_error
from .stage_handles import StageHandles

__all__ = ["PlacePrimitives"]


class PlacePrimitives(StageHandles):
    """Each moves the stage, or a part of its computation."""

    __slots__ = ()

    def compute_at(self, parent: StageHandles, scope: IterVar) -> None:
        """The stage is computed inside a loop of a stage that needs it: the part that the iteration needs.

        Its buffer begins there. A buffer in global memory moves to shared memory if all threads of a block run the loop
        together. Otherwise it moves to a thread's local memory.

        Requires: `parent` reads this stage, directly or through others; `scope` is a loop of `parent`; this stage is no
        output. If `scope` is split later, the stage is at the inner loop. If it is fused, the stage is at the fused
        loop.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
        >>> C = te.compute((64,), lambda i: B[i] + 1, name="C")
        >>> s = te.create_schedule(C.op)
        >>> io, ii = s[C].split(C.op.axis[0], factor=16)
        >>> print(s)
        B: global float32[64]
        for i in range(64):  # B
          B[i] = A[i] * 2.0
        for i.outer in range(4):  # C
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            C[t0] = B[t0] + 1.0
        >>> s[B].compute_at(s[C], io)
        >>> print(s)
        for i.outer in range(4):  # C
          B: local float32[16]
          for i in range(16):  # B
            B[i] = A[i.outer*16 + i] * 2.0
          for i.inner in range(16):
            C[i.outer*16 + i.inner] = B[i.inner] + 1.0

        TVM, Halide: ``compute_at``; Exo: ``fuse``, then the bounds by hand; MLIR transform:
        ``structured.fuse_into_containing_op``.

        Raises
        ------
        ScheduleError
            Where `parent` does not read this stage.
        """
        from . import handles

        source = user_source()
        if not isinstance(parent, StageHandles) or parent.schedule is not self.schedule:
            raise TypeError(f"{source}: compute_at: expected a stage of this schedule, got {parent!r}")
        if parent is not self and not self.schedule.graph.reads_through(parent.key, self.key):
            readers = [self.schedule.names[op] for op in self.schedule.graph.readers(self.key)]
            text = ", ".join(f"'{name}'" for name in readers) or "none: it is an output"
            raise schedule_error(
                source, f"compute_at: expected a consumer of stage '{self.name}' ({text}), got stage '{parent.name}'"
            )
        self._check_whole("compute_at", source)
        axis = parent.axis_handle(scope, "compute_at", source)
        self.schedule.apply(handles.compute_at, source, self.handle, self.name, parent.handle, axis)
        self.attached_to = parent

    def compute_root(self) -> None:
        """The stage is computed whole, before its consumers: what holds unless said otherwise.

        Requires: nothing; it takes back an earlier `compute_at` or `compute_inline`.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
        >>> C = te.compute((64,), lambda i: B[i] + 1, name="C")
        >>> s = te.create_schedule(C.op)
        >>> s[B].compute_at(s[C], C.op.axis[0])
        >>> print(s)
        for i in range(64):  # C
          B: local float32[1]
          B[0] = A[i] * 2.0
          C[i] = B[0] + 1.0
        >>> s[B].compute_root()
        >>> print(s)
        B: global float32[64]
        for i in range(64):  # B
          B[i] = A[i] * 2.0
        for i in range(64):  # C
          C[i] = B[i] + 1.0

        TVM, Halide: ``compute_root``; Exo: ``fission``; MLIR: what there is before any fusion.
        """
        from . import handles

        source = user_source()
        if isinstance(self.op, ExternOp):
            return  # as it is anyway
        self.schedule.apply(handles.compute_root, source, self.handle, self.name)
        self.attached_to = None

    def compute_inline(self) -> None:
        """The stage is computed where it is read, and has neither loops nor a tensor of its own.

        Requires: an elementwise stage, neither a reduction nor a scan, that is no output. Of `compute_inline`,
        `compute_root` and `compute_at` of a stage the last counts.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
        >>> C = te.compute((64,), lambda i: B[i] + 1, name="C")
        >>> s = te.create_schedule(C.op)
        >>> print(s)
        B: global float32[64]
        for i in range(64):  # B
          B[i] = A[i] * 2.0
        for i in range(64):  # C
          C[i] = B[i] + 1.0
        >>> s[B].compute_inline()
        >>> print(s)
        for i in range(64):  # C
          C[i] = A[i] * 2.0 + 1.0

        TVM: ``compute_inline``; Halide: the default; Exo: ``inline``; MLIR: ``linalg-fuse-elementwise-ops``.
        """
        from . import handles

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
        self.schedule.apply(handles.compute_inline, source, self.handle, self.name)
        self.attached_to = None

    def reverse_compute_at(self, parent: StageHandles, scope: IterVar) -> None:
        """The stage is computed inside a loop of a stage that it reads, after it: the part that the iteration made
        possible.

        Requires: this stage reads `parent` at its own axes; `parent` is computed at the root. `scope` is a loop around
        `parent`'s reduction, and each iteration computes a block of its tensor. If all readers of `parent` follow it in
        this way, its tensor lives within the loop.

        Or this stage reads stages that are computed in the loops of `parent`, and has the first axes of `parent`. So
        two outputs of one kernel can have different ranks.

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

        source = user_source()
        self._check_whole("reverse_compute_at", source)
        if not isinstance(parent, StageHandles) or parent.schedule is not self.schedule:
            raise TypeError(f"{source}: reverse_compute_at: expected a stage of this schedule, got {parent!r}")
        if parent is not self and not self.schedule.graph.may_follow(self.key, parent.key):
            raise schedule_error(
                source, f"reverse_compute_at: expected a stage that '{self.name}' reads, got stage '{parent.name}'"
            )
        axis = parent.axis_handle(scope, "reverse_compute_at", source)
        self.schedule.apply(handles.reverse_compute_at, source, self.handle, self.name, parent.handle, axis)

    def reverse_compute_inline(self) -> None:
        """The stage is computed where the stage is that it reads, which keeps its loops and takes over its tensor.

        Requires: both are elementwise, this stage reads one stage alone, at its own axes, and nothing else reads that.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] * 2, name="B")
        >>> C = te.compute((64,), lambda j: B[j] + 1, name="C")
        >>> s = te.create_schedule(C.op)
        >>> _ = s[B].split(B.op.axis[0], factor=16)
        >>> print(s)
        B: global float32[64]
        for i.outer in range(4):  # B
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            B[t0] = A[t0] * 2.0
        for j in range(64):  # C
          C[j] = B[j] + 1.0
        >>> s[C].reverse_compute_inline()
        >>> print(s)
        for i.outer in range(4):  # B
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            C[t0] = A[t0] * 2.0 + 1.0

        TVM: ``tir.Schedule.reverse_compute_inline``; Halide, Exo and MLIR have inlining into the reader alone.
        """
        from . import handles

        source = user_source()
        self._check_whole("reverse_compute_inline", source)
        producers = self.schedule.graph.producers(self.key)
        if len(producers) != 1:
            text = ", ".join(f"'{stage.name}'" for stage in producers) or "none"
            raise schedule_error(
                source, f"reverse_compute_inline: expected stage '{self.name}' to read one stage, got {text}"
            )
        self.schedule.apply(handles.reverse_compute_inline, source, self.handle, self.name, producers[0].handle)

    def rolling_update(self, axis: IterVar, of: Tensor | Operation) -> None:
        """This reduction and another one, whose result it reads, run in one loop: an online reduction.

        ``of`` reduces to x, and each element of this stage depends on x. The two become one reduction of pairs, of what
        is reduced so far with the x that it was computed by. Where pairs are combined, each is repaired to the x of
        both. The pairs can be reduced by `rfactor` and across threads, too: that splits keys and merges their parts.

        The compiler finds the repair in the expression of the element, and so proves it over the reals:

        ========= =================== ===============================
        reduction element             repair of r from x to x'
        ========= =================== ===============================
        sum       ``c * exp(a(x))``   ``r * exp(a(x') - a(x))``
        max, min  ``c + a(x)``        ``r + (a(x') - a(x))``
        ========= =================== ===============================

        where c does not depend on x. Where x is infinite, as of a row that is masked away, the result is the
        reduction's identity: 0 for a sum, never NaN.

        If `of` has its own loop over tiles (`software_pipeline`), as in a ``wgmma`` kernel, both stay stages. The tile
        dialect's passes then fuse their loops (`tilewright.schedules.attention_wgmma`). There `of` may also be a sum of
        products which this stage does not read: both are sums over the same tiles. Of an `exp2` in the fused loop,
        results below 2^-126 may count as 0.

        Requires: both reduce floats by a named combiner, over equally many elements. This stage reads `of` directly, at
        its spatial axes, so stages between are inlined before. `axis` is a reduction axis of this stage. If there is no
        repair, lowering fails and names the operation that prevents it.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> j, k = te.reduce_axis((0, 64), name="j"), te.reduce_axis((0, 64), name="k")
        >>> M = te.compute((), lambda: te.max(A[j], axis=j), name="M")
        >>> L = te.compute((), lambda: te.sum(te.exp(A[k] - M[()]), axis=k), name="L")
        >>> s = te.create_schedule(L.op)
        >>> print(s)
        M: global float32
        M.acc: local float32
        M.acc = -inf
        for j in range(64):  # M
          M.acc = max(M.acc, A[j])
        M = M.acc
        L.acc: local float32
        L.acc = 0.0
        for k in range(64):  # L
          L.acc += exp(A[k] - M)
        L = L.acc
        >>> s[L].rolling_update(k, of=M)
        >>> print(s)
        L.acc: global float32
        L.v0: local float32
        L.v1: local float32
        L.v0, L.v1 = 0.0, -inf
        for k in range(64):  # L
          L.v0, L.v1 = (L.v0 if L.v1 == max(L.v1, A[k]) or L.v1 == -inf else L.v0 * exp(L.v1 - max(L.v1, A[k]))) + ((0.0 if A[k] == -inf else 1.0) if A[k] == max(L.v1, A[k]) or A[k] == -inf else (0.0 if A[k] == -inf else 1.0) * exp(A[k] - max(L.v1, A[k]))), max(L.v1, A[k])
        L, L.acc = L.v0, L.v1

        Halide, TVM, Exo and MLIR transform have none; Neptune (PLDI 2026): rolling update.
        """  # noqa: E501
        from . import handles

        source = user_source()
        followed = self.schedule.find_stage(of, "rolling_update", source)
        if axis not in self.op.reduce_axis:
            axes = ", ".join(each.name for each in self.op.reduce_axis) or "none"
            raise schedule_error(
                source, f"rolling_update: expected a reduction axis of '{self.name}' ({axes}), got {axis}"
            )
        value = self.axis_handle(axis, "rolling_update", source)
        self.schedule.apply(handles.rolling_update, source, value, followed.handle, self.name)

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
        axis = self.axis_handle(loop, "decompose_reduction", source)
        self.schedule.apply(handles.decompose_reduction, source, self.handle, axis, self.name)
