"""The primitives on tiles of a stage: whole ones, and intrinsics that compute them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import TilewrightTypeError as TypeError
from ...messages.location import Source, user_source
from ..expr import Expr, IterVar, Read
from ..functions import ceildiv
from ..linear import linear_of
from .checks import integer, schedule_error
from .stage_handles import StageHandles

if TYPE_CHECKING:
    from ..intrinsic import TensorIntrin
    from ..tensor import ComputeOp, Operation, Tensor

__all__ = ["TilePrimitives"]


class TilePrimitives(StageHandles):
    """What computes a tile, and tiles that are whole."""

    __slots__ = ()

    def tensorize(self, var: IterVar, tensor_intrin: TensorIntrin) -> None:
        """The loops from `var` on become an intrinsic that computes the same on a tile.

        Requires: the loops compute what the intrinsic describes (`te.decl_tensor_intrin`), op by op. Extents are
        multiples of the intrinsic's, so that all tiles are whole. Axes of one element are ignored. If the tile has a
        part of a reduction, the intrinsic's reset initialises the results and its update accumulates. Without a reset,
        its body computes the first part. Nothing is bound, vectorized or computed at loops in the tile.

        >>> from tilewright import te, tir
        >>> a, b = te.placeholder((4,), name="a"), te.placeholder((4,), name="b")
        >>> c = te.compute((4,), lambda i: a[i] + b[i], name="c")
        >>> def add(ins, outs):
        ...     ib = tir.ir_builder.create()
        ...     out = ib.buffer_ptr(outs[0])
        ...     with ib.for_range(0, 4, name="lane") as i:
        ...         out[i] = ins[1][i] + ins[0][i]
        ...     return ib.get()
        >>> add4 = te.decl_tensor_intrin(c.op, add, name="add4")
        >>> A, B = te.placeholder((64,), name="A"), te.placeholder((64,), name="B")
        >>> C = te.compute((64,), lambda i: A[i] + B[i], name="C")
        >>> s = te.create_schedule(C.op)
        >>> io, ii = s[C].split(C.op.axis[0], factor=4)
        >>> print(s)
        for i.outer in range(16):  # C
          for i.inner in range(4):
            t0 = i.outer*4 + i.inner
            C[t0] = A[t0] + B[t0]
        >>> s[C].tensorize(ii, add4)
        >>> print(s)
        for i.outer in range(16):  # C
          for lane in range(4):
            t0 = lane + i.outer*4
            C[t0] = B[t0] + A[t0]

        TVM: ``tensorize``; Exo: ``replace``; Halide: none by name, instructions are selected; MLIR transform: patterns
        as those of ``vector.contract``.
        """
        from ..intrinsic import TensorIntrin
        from . import handles

        source = user_source()
        axis = self.axis_handle(var, "tensorize", source)
        if not isinstance(tensor_intrin, TensorIntrin):
            raise TypeError(
                f"{source}: tensorize: expected an intrinsic of te.decl_tensor_intrin, got {tensor_intrin!r}"
            )
        self.schedule.apply(handles.tensorize, source, axis, var.name, tensor_intrin.name, tensor_intrin.functions)

    def pad_einsum(self, padding: Sequence[int]) -> tuple[Tensor, ...]:
        """Pads the extents of a matmul or convolution to multiples of `padding`, a number an axis, spatial axes first.

        Each input gets a stage that copies it, with zeros beyond its end. A new stage computes the sum over the padded
        axes, and this stage copies its elements from there. So tiles are whole, and results are unchanged. Returns the
        tensors of the new stages: those of the inputs in their order, then that of the sum. Inline the copies that you
        do not need.

        A symbolic extent grows to the next multiple. The number 1 leaves an extent as it is.

        Requires: a sum of products of elements that are read at axes, each at all reduction axes that grow. The axes
        of the stage are not used before.

        >>> from tilewright import te
        >>> A, B = te.placeholder((6, 5), name="A"), te.placeholder((5,), name="B")
        >>> k = te.reduce_axis((0, 5), name="k")
        >>> C = te.compute((6,), lambda i: te.sum(A[i, k] * B[k], axis=k), name="C")
        >>> s = te.create_schedule(C.op)
        >>> print(s)
        for i in range(6):  # C
          C.acc: local float32
          C.acc = 0.0
          for k in range(5):
            C.acc += A[i, k] * B[k]
          C[i] = C.acc
        >>> A_pad, B_pad, C_pad = s[C].pad_einsum([4, 4])
        >>> s[A_pad].compute_inline()
        >>> s[B_pad].compute_inline()
        >>> print(s)
        C.pad: global float32[8]
        for i in range(8):  # C.pad
          C.pad.acc: local float32
          C.pad.acc = 0.0
          for k in range(8):
            C.pad.acc += (A[i, k] if i < 6 and k < 5 else 0.0) * (B[k] if k < 5 else 0.0)
          C.pad[i] = C.pad.acc
        for i in range(6):  # C
          C[i] = C.pad[i]

        TVM: ``tir.Schedule.pad_einsum``; Halide: ``bound`` and ``align_bounds``; Exo: none; MLIR transform:
        ``structured.pad``.
        """
        from ..program import axis_names, unique_name
        from ..tensor import CacheOp, ComputeOp
        from . import handles

        source = user_source()
        schedule, old = self.schedule, self.op
        if not isinstance(padding, Sequence) or isinstance(padding, str):
            raise TypeError(f"{source}: pad_einsum: expected a list of numbers, one an axis, got {padding!r}")
        numbers = [integer(one, "pad_einsum", "padding", source, 1) or 0 for one in padding]
        axes = old.axis + old.reduce_axis
        if not isinstance(old, ComputeOp):
            raise schedule_error(
                source,
                f"pad_einsum: expected the stage of a te.compute as it is, got '{self.name}', which the schedule made",
            )
        if not old.reduce_axis:
            raise schedule_error(
                source, f"pad_einsum: expected a contraction, got '{self.name}', which reduces nothing"
            )
        if len(numbers) != len(axes):
            named = ", ".join(axis_names(old))
            raise schedule_error(
                source, f"pad_einsum: expected {len(axes)} numbers, one an axis ({named}), got {len(numbers)}"
            )
        longer: dict[IterVar, int | Expr] = {}
        for axis, number in zip(axes, numbers):
            extent = axis.dom[1] if axis.dom is not None else 1
            if isinstance(extent, int):
                longer[axis] = -(-extent // number) * number if number else extent
            else:
                longer[axis] = extent if number == 1 else ceildiv(extent, number) * number
        reads, read_axes = schedule.graph.reads[self.key], _read_axes(old, source)
        names: list[str] = []
        for name in [*(schedule.names[op] for op in reads), self.name]:
            names.append(unique_name(f"{name}.pad", [*schedule.names.values(), *names]))
        self.forget_unused_axes()
        values = schedule.apply(handles.pad_einsum, source, self.handle, numbers, names, self.name)
        made: list[Operation] = []
        for op, name, value, places in zip(reads, names, values, read_axes):
            extents = tuple(longer[axis] for axis in places)
            copy = CacheOp(name, extents, op.element_types, source)
            copy.axis = tuple(IterVar(a.name, (0, longer[a]), "spatial", source) for a in places)
            schedule.add_stage(copy, value, "global", [op])
            made.append(copy)
        total = CacheOp(names[-1], tuple(longer[axis] for axis in old.axis), old.element_types, source)
        total.axis = tuple(IterVar(axis.name, (0, longer[axis]), "spatial", source) for axis in old.axis)
        total.reduce_axis = tuple(IterVar(axis.name, (0, longer[axis]), "reduce", source) for axis in old.reduce_axis)
        schedule.add_stage(total, values[-1], "global", made)
        rest = CacheOp(self.name, old.shape, old.element_types, old.source)
        rest.axis = tuple(old.axis)
        self.replace_op(rest)
        schedule.graph.stages[rest] = schedule.graph.stages[self.key]
        schedule.graph.reads[self.key] = [total]
        return tuple(one.output(0) for one in [*made, total])


def _axis_of(index: Expr) -> IterVar | None:
    """The axis that an index is, also as ``i * 1 + 0``."""
    linear = linear_of(index)
    if linear is None or linear.constant or len(linear.terms) != 1:
        return None
    ((axis, count),) = linear.terms.values()
    return axis if count == 1 else None


def _read_axes(op: ComputeOp, source: Source) -> list[tuple[IterVar, ...]]:
    """For each tensor that a sum of products reads, the axes that are its indices."""
    assert op.reduction is not None
    places: dict[int, tuple[IterVar, ...]] = {}
    todo: list[Expr] = list(reversed(op.reduction.exprs))
    while todo:
        expr = todo.pop()
        if not isinstance(expr, Read):
            todo.extend(reversed(expr.operands()))
            continue
        axes = tuple(axis for axis in map(_axis_of, expr.indices) if axis is not None)
        if len(axes) != len(expr.indices) or len({id(axis) for axis in axes}) != len(axes):
            raise schedule_error(source, f"pad_einsum: expected reads at axes, each once, got {expr}")
        if places.setdefault(id(expr.tensor), axes) != axes:
            raise schedule_error(source, f"pad_einsum: expected {expr.tensor.name} to be read at one place, got two")
    return [places[id(tensor)] for tensor in op.input_tensors]
