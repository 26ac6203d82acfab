"""The primitives on loops: which loops a stage has, in which order, and what runs their iterations."""

from __future__ import annotations

from ...errors import TilewrightTypeError as TypeError
from ...errors import TilewrightValueError as ValueError
from ...messages.location import user_source
from ..expr import Expr, IterVar, Var
from .checks import integer
from .splits import split_extents, split_number
from .stage_handles import StageHandles

__all__ = ["LoopPrimitives"]


class LoopPrimitives(StageHandles):
    """Each names the loops that it makes after those it takes."""

    __slots__ = ()

    def split(
        self,
        parent: IterVar,
        factor: int | Var | None = None,
        nparts: int | Var | None = None,
        disable_predication: bool = False,
    ) -> tuple[IterVar, IterVar]:
        """One loop becomes two, an outer and an inner one: either this of extent `factor` or that of extent `nparts`.

        Where the extent is no multiple, the iterations beyond it are predicated off. With `disable_predication` there
        are no predicates, and an extent that is no multiple is an error. A `te.var` is a symbolic extent, or a number
        among the arguments of the built function. A value of less than 1 counts as 1.

        Requires: a loop of this stage that is not split, fused, bound or marked yet; exactly one of `factor` and
        `nparts`, at least 1.

        >>> from tilewright import te
        >>> A = te.placeholder((60,), name="A")
        >>> B = te.compute((60,), lambda i: A[i] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> print(s)
        for i in range(60):  # B
          B[i] = A[i] + 1.0
        >>> outer, inner = s[B].split(B.op.axis[0], factor=16)
        >>> print(s)
        for i.outer in range(4):  # B
          for i.inner in range(16):
            t0 = i.outer*16 + i.inner
            if t0 < 60:
              B[t0] = A[t0] + 1.0

        TVM, Halide: ``split``; Exo: ``divide_loop``; MLIR transform: ``structured.tile_using_for`` on one dimension.
        """
        from . import handles

        source = user_source()
        axis = self.axis_handle(parent, "split", source)
        factors = (split_number(factor, "factor", source), split_number(nparts, "nparts", source))
        given = [self.schedule.name_of(one, source) if isinstance(one, Var) else one for one in factors]
        results = self.schedule.apply(handles.split, source, axis, *given, bool(disable_predication))
        names = [f"{parent.name}.outer", f"{parent.name}.inner"]
        outer, inner = self._made(results, names, parent.kind, source, split_extents(parent, *factors))
        return outer, inner

    def tile(
        self, x_parent: IterVar, y_parent: IterVar, x_factor: int, y_factor: int
    ) -> tuple[IterVar, IterVar, IterVar, IterVar]:
        """Two loops become a nest over tiles and one within them, in the order x outer, y outer, x inner, y inner.

        Requires: two loops of this stage that are not split, fused, bound or marked yet; factors of at least 1.

        >>> from tilewright import te
        >>> A = te.placeholder((8, 12), name="A")
        >>> B = te.compute((8, 12), lambda i, j: A[i, j] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> print(s)
        for i in range(8):  # B
          for j in range(12):
            B[i, j] = A[i, j] + 1.0
        >>> io, jo, ii, ji = s[B].tile(*B.op.axis, x_factor=4, y_factor=4)
        >>> print(s)
        for i.outer in range(2):  # B
          for j.outer in range(3):
            for i.inner in range(4):
              for j.inner in range(4):
                t0 = i.outer*4 + i.inner
                t1 = j.outer*4 + j.inner
                B[t0, t1] = A[t0, t1] + 1.0

        TVM, Halide: ``tile``; Exo: ``divide_loop`` twice and ``reorder_loops``; MLIR transform:
        ``structured.tile_using_for``.
        """
        from . import handles

        source = user_source()
        axes = (self.axis_handle(x_parent, "tile", source), self.axis_handle(y_parent, "tile", source))
        factors = (integer(x_factor, "tile", "x_factor", source, 1), integer(y_factor, "tile", "y_factor", source, 1))
        results = self.schedule.apply(handles.tile, source, *axes, *factors)
        x, y = x_parent, y_parent
        names = [f"{x.name}.outer", f"{y.name}.outer", f"{x.name}.inner", f"{y.name}.inner"]
        (x_outer, x_inner), (y_outer, y_inner) = split_extents(x, factors[0], None), split_extents(y, factors[1], None)
        made = self._made(results, names, x.kind, source, [x_outer, y_outer, x_inner, y_inner])
        return made[0], made[1], made[2], made[3]

    def fuse(self, *args: IterVar) -> IterVar:
        """Neighbouring loops become one, the outermost the slowest. Returns it.

        Each loop is a neighbour of those given before it; their order changes only the name of the new one. Without
        loops, a loop of one iteration is made around all others: what a stage without axes can bind.

        Requires: loops of this stage, all spatial or all of the reduction, not bound or marked yet.

        >>> from tilewright import te
        >>> A = te.placeholder((8, 12), name="A")
        >>> B = te.compute((8, 12), lambda i, j: A[i, j] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> print(s)
        for i in range(8):  # B
          for j in range(12):
            B[i, j] = A[i, j] + 1.0
        >>> fused = s[B].fuse(*B.op.axis)
        >>> print(s)
        for i.j.fused in range(96):  # B
          B[i.j.fused//12, i.j.fused%12] = A[i.j.fused//12, i.j.fused%12] + 1.0

        TVM, Halide: ``fuse``; Exo: ``mult_loops``; MLIR transform: ``loop.coalesce``.
        """
        from . import handles

        source = user_source()
        if not args:
            self._name_axes()
            result = self.schedule.apply(handles.singleton, source, self.handle, self.name)
            return self._made([result], ["singleton"], "spatial", source, [(0, 1)])[0]
        axes = [self.axis_handle(axis, "fuse", source) for axis in args]
        name = ".".join(axis.name for axis in args) + ".fused"
        result = self.schedule.apply(handles.fuse, source, axes, name)
        extent: int | Expr = 1
        for axis in args:
            extent = extent * axis.dom[1] if axis.dom is not None else extent
        dom = (0, extent) if args[0].kind == "reduce" else None
        return self._made([result], [name], args[0].kind, source, [dom])[0]

    def reorder(self, *args: IterVar) -> None:
        """The loops given take their places among themselves in that order, the first outermost.

        Requires: loops of this stage that are not split or fused yet, each given once.

        >>> from tilewright import te
        >>> A = te.placeholder((8, 12), name="A")
        >>> B = te.compute((8, 12), lambda i, j: A[i, j] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> print(s)
        for i in range(8):  # B
          for j in range(12):
            B[i, j] = A[i, j] + 1.0
        >>> i, j = B.op.axis
        >>> s[B].reorder(j, i)
        >>> print(s)
        for j in range(12):  # B
          for i in range(8):
            B[i, j] = A[i, j] + 1.0

        TVM, Halide: ``reorder``; Exo: ``reorder_loops``; MLIR transform: ``structured.interchange``.
        """
        from . import handles

        source = user_source()
        axes = [self.axis_handle(axis, "reorder", source) for axis in args]
        self.schedule.apply(handles.reorder, source, axes, self.name)

    def bind(self, ivar: IterVar, thread_ivar: IterVar, *, reduce_add: bool = False) -> None:
        """A loop becomes a block or thread index, or a virtual thread.

        Two stages may bind the same index; in one kernel it has one extent. Threads that share a reduction combine
        their partial results. One thread runs all iterations of a loop on ``"vthread"``, each op for all iterations
        before the next op.

        With `reduce_add`, blocks share a sum: each adds its part to the result in memory by an atomic operation. A
        kernel before fills the result with zeros. The order of additions, and so the last bits, differ from run to run.

        Requires: a loop of this stage that is not bound or marked yet, of the extent of `thread_ivar` if it has one. On
        a thread index, the loop has a constant extent. On a virtual thread, it is spatial. On a block index, it is
        spatial too, or with `reduce_add` of the reduction of a sum of 32 or 64 bits at the root. A stage has one loop
        on each index.

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
        >>> s[B].bind(outer, te.thread_axis("blockIdx.x"))
        >>> s[B].bind(inner, te.thread_axis("threadIdx.x"))
        >>> print(s)
        for i.outer in range(4):  # B, blockIdx.x
          for i.inner in range(16):  # threadIdx.x
            t0 = i.outer*16 + i.inner
            if t0 < 60:
              B[t0] = A[t0] + 1.0

        >>> k = te.reduce_axis((0, 60), name="k")
        >>> C = te.compute((1,), lambda i: te.sum(A[i + k], axis=k), name="C")
        >>> s = te.create_schedule(C.op)
        >>> outer, inner = s[C].split(k, factor=15)
        >>> s[C].bind(outer, te.thread_axis("blockIdx.x"), reduce_add=True)
        >>> print(str(s)[str(s).index("for k.outer"):])
        for k.outer in range(4):  # C, blockIdx.x
          C.acc: local float32
          C.acc = 0.0
          for k.inner in range(15):
            C.acc += A[k.outer*15 + k.inner]
          C[0] += C.acc  # by blocks together

        TVM: ``bind``; Halide: ``gpu_blocks``, ``gpu_threads``; Exo: loops of a kind of their own, by
        ``set_loop_mode``; MLIR transform: ``gpu.map_forall_to_blocks``, ``gpu.map_nested_forall_to_threads``.
        """
        from . import handles

        source = user_source()
        axis = self.axis_handle(ivar, "bind", source)
        if not isinstance(thread_ivar, IterVar) or thread_ivar.kind != "thread":
            raise TypeError(f"{source}: bind: expected te.thread_axis(...), got {thread_ivar!r}")
        extent = None if thread_ivar.dom is None else thread_ivar.dom[1]
        self.schedule.apply(handles.bind, source, axis, ivar.name, thread_ivar.tag, extent, reduce_add)
        self._threads[ivar] = thread_ivar

    def vectorize(self, var: IterVar) -> None:
        """The iterations of a loop become the lanes of vectors.

        Requires: a spatial loop of this stage, of extent 1, 2, 4, 8 or 16, that is not bound or marked yet. Elements
        that are not neighbours in memory are read and written one by one.

        >>> from tilewright import te
        >>> A = te.placeholder((8, 12), name="A")
        >>> B = te.compute((8, 12), lambda i, j: A[i, j] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> jo, ji = s[B].split(B.op.axis[1], factor=4)
        >>> print(s)
        for i in range(8):  # B
          for j.outer in range(3):
            for j.inner in range(4):
              t0 = j.outer*4 + j.inner
              B[i, t0] = A[i, t0] + 1.0
        >>> s[B].vectorize(ji)
        >>> print(s)
        for i in range(8):  # B
          for j.outer in range(3):
            for j.inner in range(4):  # vectorized
              t0 = j.outer*4 + j.inner
              B[i, t0] = A[i, t0] + 1.0

        TVM, Halide: ``vectorize``; Exo: ``replace`` by instructions; MLIR transform: ``structured.vectorize``.
        """
        from . import handles

        source = user_source()
        self.schedule.apply(handles.vectorize, source, self.axis_handle(var, "vectorize", source), var.name)

    def unroll(self, var: IterVar) -> None:
        """The loop is unrolled.

        Requires: a loop of this stage, of a constant extent, that is not bound or marked yet.

        >>> from tilewright import te
        >>> A = te.placeholder((8, 12), name="A")
        >>> B = te.compute((8, 12), lambda i, j: A[i, j] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> jo, ji = s[B].split(B.op.axis[1], factor=4)
        >>> print(s)
        for i in range(8):  # B
          for j.outer in range(3):
            for j.inner in range(4):
              t0 = j.outer*4 + j.inner
              B[i, t0] = A[i, t0] + 1.0
        >>> s[B].unroll(ji)
        >>> print(s)
        for i in range(8):  # B
          for j.outer in range(3):
            for j.inner in range(4):  # unrolled
              t0 = j.outer*4 + j.inner
              B[i, t0] = A[i, t0] + 1.0

        TVM, Halide: ``unroll``; Exo: ``unroll_loop``; MLIR transform: ``loop.unroll``.
        """
        from . import handles

        source = user_source()
        self.schedule.apply(handles.unroll, source, self.axis_handle(var, "unroll", source), var.name)

    def parallel(self, var: IterVar) -> None:
        """The iterations of a loop are distributed over the threads of a CPU.

        Requires: a spatial axis, not bound, unrolled or vectorized. On a GPU it is an error, for which `bind` is there.
        Each thread gets a share of neighbouring iterations; `tw.set_num_threads` says how many threads there are. A
        parallel loop inside of another is serial.

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
        self.schedule.apply(handles.parallel, source, self.axis_handle(var, "parallel", source), var.name)

    def loop_partition(self, var: IterVar) -> None:
        """The iterations of a loop in which all predicates hold become a loop of their own, without them.

        Before and after it run the others, with their predicates; the code of the loop is there up to three times. A
        loop that needs no predicates stays as it is.

        Requires: a loop of this stage that is not bound or marked yet.

        >>> from tilewright import te
        >>> A = te.placeholder((100,), name="A")
        >>> B = te.compute((100,), lambda i: A[i] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> io, ii = s[B].split(B.op.axis[0], factor=32)
        >>> print(s)
        for i.outer in range(4):  # B
          for i.inner in range(32):
            t0 = i.outer*32 + i.inner
            if t0 < 100:
              B[t0] = A[t0] + 1.0
        >>> s[B].loop_partition(io)
        >>> print(s)
        for i.outer in range(3):  # B
          for i.inner in range(32):
            t0 = i.outer*32 + i.inner
            B[t0] = A[t0] + 1.0
        for i.outer in range(1):  # B
          for i.inner in range(32):
            t0 = (i.outer + 3)*32 + i.inner
            if t0 < 100:
              B[t0] = A[t0] + 1.0

        TVM: ``loop_partition`` of ``tir.Schedule``, which wants the extents of the parts, and the pragma
        ``loop_partition_hint``; Halide: ``partition``; Exo: ``cut_loop``; MLIR transform: ``loop.peel``.
        """
        from . import handles

        source = user_source()
        self.schedule.apply(handles.loop_partition, source, self.axis_handle(var, "loop_partition", source), var.name)

    def pragma(self, var: IterVar, pragma_type: str, pragma_value: object = None) -> None:
        """A hint for the loops from `var` on, by the name that TVM has for it.

        ``"auto_unroll_max_step"``: `var`'s loop and the loops in it are unrolled, innermost first. A loop is unrolled
        if this makes at most `pragma_value` stores. ``"unroll_explicit"``: in TVM, whether loops are unrolled before or
        by the next compiler. Here it is always before, so both values do nothing.

        Requires: a loop of this stage; a number of at least 0 for ``"auto_unroll_max_step"``.

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
        axis = self.axis_handle(var, "pragma", source)
        if pragma_type == "auto_unroll_max_step":
            steps = integer(pragma_value, "pragma", "auto_unroll_max_step", source, 0)
            self.schedule.apply(handles.auto_unroll, source, axis, var.name, steps)
        elif pragma_type != "unroll_explicit":
            raise ValueError(f"{source}: pragma: expected auto_unroll_max_step or unroll_explicit, got {pragma_type!r}")
