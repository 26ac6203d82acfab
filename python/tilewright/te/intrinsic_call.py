"""Intrinsics called in a compute: ``te.compute((4, 16), lambda i: add(A[i, 0:16], B[i, 0:16]))``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import Source
from .arithmetic import literal
from .expr import Expr, IterVar, Read, ReduceItem
from .linear import linear_of
from .reduction import Reduction, checked_axes
from .rewrite import rewrite
from .tensor import ComputeOp, Extent, Tensor, TensorRegion

if TYPE_CHECKING:
    from .intrinsic import TensorIntrin

__all__ = ["TensorComputeOp", "TensorIntrinCall"]


class TensorComputeOp(ComputeOp):
    """A compute whose last axes an intrinsic describes: those after the first `schedulable_ndim`.

    A call of a `te.decl_tensor_intrin` makes one. It computes what the intrinsic describes.
    ``s[C].tensorize(C.op.axis[n], C.op.intrin)`` has the intrinsic do it.
    """

    __slots__ = ("intrin", "schedulable_ndim")

    intrin: TensorIntrin
    schedulable_ndim: int


class TensorIntrinCall:
    """What a call of an intrinsic gives, for `te.compute`."""

    __slots__ = ("_described", "intrin", "reduce_axis", "regions", "source", "what")

    intrin: TensorIntrin
    source: Source
    what: str
    regions: list[tuple[Tensor, list[Expr], list[int]]]
    reduce_axis: tuple[IterVar, ...]

    def __init__(self, intrin: TensorIntrin, given: Sequence[Any], reduce_axis: Any, source: Source) -> None:
        self.intrin, self.source, self.what = intrin, source, f"intrinsic {intrin.name}"
        if intrin.op is None:
            raise ValueError(
                f"{source}: {self.what}: expected one of te.decl_tensor_intrin to be called, got a trace's"
            )
        self._described = intrin.op
        inputs = intrin.op.input_tensors
        if len(given) != len(inputs):
            raise TypeError(f"{source}: {self.what}: expected {len(inputs)} parts of tensors, got {len(given)}")
        self.regions = [self._region(one, of) for one, of in zip(given, inputs)]
        self.reduce_axis = () if reduce_axis is None else checked_axes(reduce_axis, self.what, source)
        if self.reduce_axis and self._described.reduction is None:
            raise ValueError(f"{source}: {self.what}: expected no reduce_axis, for it describes no reduction")

    def _region(self, given: Any, of: Tensor) -> tuple[Tensor, list[Expr], list[int]]:
        """The tensor, where its part begins, and the dimensions of the part."""
        if isinstance(given, Tensor):
            given = given[(slice(None),) * given.ndim]
        if not isinstance(given, TensorRegion):
            raise TypeError(
                f"{self.source}: {self.what}: expected a part of a tensor, such as A[i, 0:16], got {given!r}"
            )
        begins: list[Expr] = []
        extents: list[int] = []
        dims: list[int] = []
        for position, index in enumerate(given.indices):
            if not isinstance(index, slice):
                begins.append(index)
                continue
            begin, extent = self._slice(given, position, index)
            begins.append(begin)
            dims.append(position)
            extents.append(extent)
        while len(dims) > of.ndim and extents[0] == 1:
            del dims[0], extents[0]
        if extents != list(of.shape):
            raise ValueError(
                f"{self.source}: {self.what}: expected a part of {list(of.shape)} elements for {of.name}, got {extents}"
            )
        return given.tensor, begins, dims

    def _slice(self, given: TensorRegion, position: int, index: slice) -> tuple[Expr, int]:
        what = f"index {position} of {given.tensor.name}"
        if index.step not in (None, 1):
            raise ValueError(f"{self.source}: {what}: expected a slice without a step, got {index.step}")
        begin = literal(0 if index.start is None else index.start, None, self.source)
        end = literal(given.tensor.shape[position] if index.stop is None else index.stop, None, self.source)
        first, last = linear_of(begin), linear_of(end)
        length = None if first is None or last is None else last - first
        if length is None or length.terms:
            raise ValueError(f"{self.source}: {what}: expected a slice of a constant extent, got {begin}:{end}")
        return begin, length.constant

    def op(self, name: str, axis: tuple[IterVar, ...], shape: tuple[Extent, ...], source: Source) -> TensorComputeOp:
        """The compute of this shape whose first axes are given."""
        described = self._described
        rest = shape[len(axis) :]
        if list(rest) != list(described.shape):
            raise ValueError(
                f"{source}: compute {name}: expected the last extents to be those of {self.what}, "
                f"{list(described.shape)}, got {list(rest)}"
            )
        own = tuple(IterVar(f"ax{n}", (0, extent), "spatial", source) for n, extent in enumerate(rest))
        inner = tuple(IterVar(one.name, one.dom, "reduce", source) for one in described.reduce_axis)
        places = dict(zip(map(id, (*described.axis, *described.reduce_axis)), (*own, *inner)))
        parts = {id(tensor): region for tensor, region in zip(described.input_tensors, self.regions)}

        def replace(expr: Expr) -> Expr | None:
            if isinstance(expr, IterVar):
                return places.get(id(expr))
            if not isinstance(expr, Read):
                return None
            tensor, begins, dims = parts[id(expr.tensor)]
            indices = list(begins)
            for dim, index in zip(dims, expr.indices):
                indices[dim] = indices[dim] + rewrite(index, replace)
            return Read(tensor, tuple(indices), expr.source)

        reduction = described.reduction
        if reduction is None:
            body = tuple(rewrite(one, replace) for one in described.body)
        else:
            values = tuple(rewrite(one, replace) for one in reduction.exprs)
            made = Reduction(reduction.name, values, (*self.reduce_axis, *inner), source)
            made.lhs, made.rhs = reduction.lhs, reduction.rhs
            made.combined, made.identity = reduction.combined, reduction.identity
            body = tuple(ReduceItem(made, place) for place in range(len(values)))
        op = TensorComputeOp(name, (*axis, *own), shape, body, source)
        op.intrin, op.schedulable_ndim = self.intrin, len(axis)
        return op
