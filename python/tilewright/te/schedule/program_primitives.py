"""The primitives of a whole schedule: those that make stages, groups of stages, and launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast, overload

from ...messages.location import user_source
from ..expr import IterVar
from ..tensor import Operation, Tensor

if TYPE_CHECKING:
    from .group import Group
    from .schedule import Schedule

__all__ = ["ProgramPrimitives", "TensorOrOp"]

TensorOrOp = Tensor | Operation


class ProgramPrimitives:
    """The primitives that a schedule has beside its stages."""

    __slots__ = ()

    @property
    def _all(self) -> Schedule:
        return cast("Schedule", self)

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

        return cache_read(self._all, tensor, scope, readers)

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

        return cache_write(self._all, tensor, scope)

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

        return rfactor(self._all, tensor, axis, factor_axis)

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

        return create_group(self._all, outputs, inputs, include_inputs)

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
        return self._all

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

        set_launch(self._all.operation, dependent, cooperative, cluster, user_source())
