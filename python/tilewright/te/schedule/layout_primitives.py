"""The primitives on where a buffer's elements lie, what is kept of it and fetched for it, and on a kernel's threads."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mlir import ir

from ...errors import TilewrightTypeError, TilewrightValueError
from ...guards import is_listed, parameters_of
from ...ir.diagnostics import MLIRError
from ...messages.location import Source, user_source
from ..arithmetic import literal
from ..expr import Call, Cast, Const, Expr, IterVar
from ..tensor import PlaceholderOp
from ..walks import Steps, run
from .checks import integer, schedule_error
from .input_layouts import set_input_layout
from .stage_handles import StageHandles

if TYPE_CHECKING:
    from ..tensor import Tensor

__all__ = ["LayoutPrimitives"]


class LayoutPrimitives(StageHandles):
    """Each leaves the stage's loops as they are."""

    __slots__ = ()

    def transform_layout(self, mapping_function: Callable[..., Any] | str) -> None:
        """Where the elements of the stage's buffer lie: `mapping_function` gives the place for the indices.

        Of an input it is where the caller's array has its elements: the built function takes an array of the shape that
        the places have.

        Requires: an intermediate tensor, or an input of constant extents that is not copied by cache_read; places from
        0 on, of each element its own. Of a stage that is computed at a loop, indices count from the first element that
        is needed there. The loops stay as they are: split and reorder them to go through the buffer in order. A text is
        an affine map of MLIR's.

        >>> from tilewright import te
        >>> A = te.placeholder((8, 8), name="A")
        >>> B = te.compute((8, 8), lambda i, j: A[i, j] + 1, name="B")
        >>> C = te.compute((8, 8), lambda i, j: B[j, i] * 2, name="C")
        >>> s = te.create_schedule(C.op)
        >>> print(s)
        B: global float32[8, 8]
        for i in range(8):  # B
          for j in range(8):
            B[i, j] = A[i, j] + 1.0
        for i in range(8):  # C
          for j in range(8):
            C[i, j] = B[j, i] * 2.0
        >>> s[B].transform_layout(lambda i, j: [j // 4, i, j % 4])
        >>> print(s)
        B: global float32[2, 8, 4]
        for i in range(8):  # B
          for j in range(8):
            B[j//4, i, j%4] = A[i, j] + 1.0
        for i in range(8):  # C
          for j in range(8):
            C[i, j] = B[i//4, j, i%4] * 2.0

        TVM: ``transform_layout``; Halide: ``reorder_storage``; Exo: ``rearrange_dim``, ``divide_dim``; MLIR transform:
        ``structured.pack``.
        """
        from . import handles

        source = user_source()
        if isinstance(self.op, PlaceholderOp):
            with self.schedule.context:
                layout = _layout(mapping_function, len(self.op.shape), source)
            set_input_layout(self.schedule, self.op, layout, source)
            return
        if self.is_output:
            raise schedule_error(
                source,
                f"transform_layout: expected a tensor of the program's own, got the output '{self.name}', whose "
                "elements "
                "lie as the caller's array has them: cache_write it",
            )
        with self.schedule.context:
            layout = _layout(mapping_function, len(self.op.shape), source)
        self.schedule.apply(handles.transform_layout, source, self.handle, self.name, layout)

    def swizzle(self, granule: int = 4) -> None:
        """The columns of the stage's buffer are permuted, in each row differently, so that no two rows begin in one
        bank.

        A row has n granules of `granule` elements. In row r, granule c lies at the place of granule ``c ^ (r % n)``.
        Threads that read down a column then access n banks, without more memory. The elements of a granule stay
        contiguous for vector loads and ``cp.async``.

        Requires: an intermediate tensor of 2 dimensions or more, whose rows are a power of two of granules, more than
        one.

        >>> from tilewright import te
        >>> A = te.placeholder((8, 16), name="A")
        >>> B = te.compute((8, 16), lambda i, j: A[i, j] + 1, name="B")
        >>> C = te.compute((16, 8), lambda i, j: B[j, i] * 2, name="C")
        >>> s = te.create_schedule(C.op)
        >>> print(s)
        B: global float32[8, 16]
        for i in range(8):  # B
          for j in range(16):
            B[i, j] = A[i, j] + 1.0
        for i in range(16):  # C
          for j in range(8):
            C[i, j] = B[j, i] * 2.0
        >>> s[B].swizzle(granule=4)
        >>> print(s)
        B: global float32[8, 16]
        for i in range(8):  # B
          for j in range(16):
            B[i, (j//4 ^ i%4)*4 + j%4] = A[i, j] + 1.0
        for i in range(16):  # C
          for j in range(8):
            C[i, j] = B[j, (i//4 ^ j%4)*4 + i%4] * 2.0

        TVM: ``InjectPermutedLayout``, for the layouts of instructions alone; CUTLASS: ``Swizzle``; Halide, Exo: none;
        MLIR: ``nvgpu-optimize-shared-memory``.
        """
        from . import handles

        source = user_source()
        number = integer(granule, "swizzle", "granule", source, 4)
        self.schedule.apply(handles.swizzle, source, self.handle, self.name, number)

    def rolling_buffer(self) -> None:
        """The stage keeps elements for the next iteration in a circular buffer, and computes only the new ones.

        Requires: the stage is computed at a serial loop (not bound, parallel, vectorized or pipelined). The windows
        that iterations need overlap, and move along one axis by a constant. The buffer has the size of a window.

        >>> from tilewright import te
        >>> A = te.placeholder((66, 64), name="A")
        >>> B = te.compute((66, 64), lambda y, x: A[y, x] * 2, name="B")
        >>> C = te.compute((64, 64), lambda y, x: B[y, x] + B[y + 1, x] + B[y + 2, x], name="C")
        >>> s = te.create_schedule(C.op)
        >>> s[B].compute_at(s[C], C.op.axis[0])
        >>> print(s)
        for y in range(64):  # C
          B: local float32[3, 64]
          for B.y in range(3):  # B
            for x in range(64):
              B[B.y, x] = A[y + B.y, x] * 2.0
          for x in range(64):
            C[y, x] = B[0, x] + B[1, x] + B[2, x]
        >>> s[B].rolling_buffer()
        >>> print(s)
        B: local float32[3, 64]
        for y in range(64):  # C
          for B.y in range(3):  # B
            for x in range(64):
              if y == 0 or B.y >= 2:
                B[(y + B.y)%3, x] = A[y + B.y, x] * 2.0
          for x in range(64):
            C[y, x] = B[y%3, x] + B[(y + 1)%3, x] + B[(y + 2)%3, x]

        TVM: ``rolling_buffer``; Halide: ``store_at`` further out with ``fold_storage``; Exo: by hand; MLIR: none.
        """
        from . import handles

        self.schedule.apply(handles.rolling_buffer, user_source(), self.handle, self.name)

    def prefetch(self, tensor: Tensor, var: IterVar, offset: int) -> None:
        """Each iteration of `var` prefetches the cache lines of `tensor` that the iteration `offset` later reads.

        Requires: the stage reads `tensor`, an input or a stage in global memory. `var` is a serial loop that reads a
        constant number of elements in each iteration. It is PTX's ``prefetch.global.L2``; the simulator leaves it out.

        >>> from tilewright import te
        >>> A = te.placeholder((64, 32), name="A")
        >>> k = te.reduce_axis((0, 32), name="k")
        >>> B = te.compute((64,), lambda i: te.sum(A[i, k], axis=k), name="B")
        >>> s = te.create_schedule(B.op)
        >>> print(s)
        for i in range(64):  # B
          B.acc: local float32
          B.acc = 0.0
          for k in range(32):
            B.acc += A[i, k]
          B[i] = B.acc
        >>> s[B].prefetch(A, B.op.axis[0], 1)
        >>> print(s)
        for i in range(64):  # B
          if i + 1 < 64:
            prefetch(A[i + 1, 0])
          B.acc: local float32
          B.acc = 0.0
          for k in range(32):
            B.acc += A[i, k]
          B[i] = B.acc

        TVM, Halide: ``prefetch``; Exo: none; MLIR: ``memref.prefetch``.
        """
        from ..tensor import Tensor
        from . import handles

        source = user_source()
        axis = self.axis_handle(var, "prefetch", source)
        if not isinstance(tensor, Tensor):
            raise TilewrightTypeError(f"{source}: prefetch: expected a tensor, got {tensor!r}")
        number = integer(offset, "prefetch", "offset", source, 0)
        op = (
            tensor.op
            if isinstance(tensor.op, PlaceholderOp)
            else self.schedule.find_stage(tensor, "prefetch", source).key
        )
        if op not in self.schedule.names:
            raise schedule_error(source, f"prefetch: expected a tensor of this schedule, got '{op.name}'")
        self.schedule.apply(handles.prefetch, source, self.handle, self.name, self.schedule.names[op], axis, number)

    def env_threads(self, threads: IterVar | Sequence[IterVar]) -> None:
        """The stage's kernel has these threads, whether a loop is bound to them or not.

        A loop that is bound to an index must have its extent. If no loop is bound to an index, all threads along it
        compute the same, and one of them stores. They fill shared buffers together.

        Requires: a stage that is computed at the root; thread axes with an extent, those of blocks bound to some loop.

        >>> from tilewright import te
        >>> A = te.placeholder((64,), name="A")
        >>> B = te.compute((64,), lambda i: A[i] + 1, name="B")
        >>> s = te.create_schedule(B.op)
        >>> s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
        >>> print(s)
        for i in range(64):  # B, blockIdx.x
          B[i] = A[i] + 1.0
        >>> s[B].env_threads([te.thread_axis((0, 32), "threadIdx.x")])
        >>> print(s)
        for threadIdx.x in range(32):  # B, threadIdx.x
          for i in range(64):  # blockIdx.x
            B[i] = A[i] + 1.0

        TVM: ``env_threads``; Halide, Exo: separate loops; MLIR: operands of ``gpu.launch``.
        """
        from . import handles

        source = user_source()
        given = list(threads) if isinstance(threads, Sequence) else [threads]
        for one in given:
            if not isinstance(one, IterVar) or one.kind != "thread":
                raise TilewrightTypeError(f"{source}: env_threads: expected te.thread_axis(...), got {one!r}")
            if one.dom is None or not isinstance(one.dom[1], int):
                raise TilewrightValueError(
                    f"{source}: env_threads: expected thread axes with an extent, te.thread_axis((0, n), "
                    f'"{one.tag}"), got one without'
                )
        for one in given:
            assert one.dom is not None
            tag = "vthread" if one.tag.startswith("vthread") else one.tag
            self.schedule.apply(handles.env_threads, source, self.handle, self.name, tag, one.dom[1])


def _layout(mapping: Callable[..., Any] | str, rank: int, source: Source) -> ir.AffineMap:
    """The affine map that a function of indices stands for."""
    if isinstance(mapping, str):
        try:
            return ir.AffineMapAttr(ir.Attribute.parse(mapping)).value
        except (MLIRError, ValueError):
            raise TilewrightValueError(
                f"{source}: transform_layout: expected an affine map, affine_map<...>, got {mapping!r}"
            ) from None
    parameters = parameters_of(mapping)
    if parameters is None:
        raise TilewrightTypeError(f"{source}: transform_layout: expected a function of the indices, got {mapping!r}")
    names = [p.name for p in parameters if p.kind is not inspect.Parameter.VAR_POSITIONAL]
    if len(parameters) == len(names) and len(names) != rank or len(names) > rank:
        raise TilewrightValueError(
            f"{source}: transform_layout: expected a function of {rank} indices, one a dimension, got {len(names)}"
        )
    names += [f"i{d}" for d in range(len(names), rank)]
    indices = [IterVar(name, None, "spatial", source) for name in names]
    made = mapping(*indices)
    if not is_listed(made):
        raise TilewrightTypeError(f"{source}: transform_layout: expected a list of indices, got {made!r}")
    dims: dict[int, ir.AffineExpr] = {id(index): ir.AffineExpr.get_dim(d) for d, index in enumerate(indices)}
    results = [run(_affine(literal(one, None, source), dims, source)) for one in made]
    return ir.AffineMap.get(rank, 0, results)


def _affine(expr: Expr, dims: dict[int, ir.AffineExpr], source: Source) -> Steps[ir.AffineExpr]:
    if id(expr) in dims:
        return dims[id(expr)]
    if isinstance(expr, Const) and expr.element_type.is_integer:
        return ir.AffineExpr.get_constant(int(expr.value))
    if isinstance(expr, Cast):
        return (yield _affine(expr.value, dims, source))
    if isinstance(expr, Call) and len(expr.args) == 2:
        lhs, rhs = expr.args
        constant = rhs.value if isinstance(rhs, Const) else lhs.value if isinstance(lhs, Const) else None
        if expr.op in ("add", "sub") or expr.op == "mul" and constant is not None:
            left, right = (yield _affine(lhs, dims, source)), (yield _affine(rhs, dims, source))
            return left + right if expr.op == "add" else left - right if expr.op == "sub" else left * right
        # Indices are not negative, so that all kinds of division are one.
        if expr.op in ("floordiv", "truncdiv", "floormod", "truncmod") and isinstance(rhs, Const) and rhs.value > 0:
            left, right = (yield _affine(lhs, dims, source)), ir.AffineExpr.get_constant(int(rhs.value))
            divide = ir.AffineExpr.get_floor_div if expr.op.endswith("div") else ir.AffineExpr.get_mod
            return divide(left, right)
    raise TilewrightValueError(
        f"{source}: transform_layout: expected sums of indices, their multiples, quotients and remainders by "
        "constants, "
        f"got {expr}"
    )
