"""The transposed convolution, by phases: no zeros are put between the elements of the image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any

from ... import te
from ...te import Expr, Tensor
from .common import Extent, elements, operator
from .contractions import convolution
from .movement import padded

__all__ = ["conv_transpose"]


@dataclass(frozen=True, slots=True)
class _Phases:
    """One dimension, whose result has phases.

    The element at `stride` * q + `dilation` * p, for p below `count`, adds up every `step`-th element of the filter
    from p on, `taps` of them at most. They meet every `reach`-th element of the image, down from q. What is wanted are
    `extent` numbers q from `first` on, `over` more than the image has. All other elements of the result are zeros.
    """

    stride: int
    dilation: int
    step: int
    count: int
    taps: int
    reach: int
    first: int
    over: int
    extent: Extent
    may_be_before: bool
    may_be_behind: bool

    @staticmethod
    def of(image: Extent, size: int, stride: int, dilation: int, low: int, high: int) -> _Phases:
        """For the elements of the result but the first `low` and the last `high`."""
        common = gcd(stride, dilation)
        step, reach = stride // common, dilation // common
        count, taps = min(step, size), -(-size // step)
        far = (size - 1) * dilation
        if stride == 1:
            return _Phases(1, dilation, 1, 1, taps, reach, low, far - high, image + (far - high - low), False, False)
        # With a reach of one, the phase is at most what the element is more than a multiple of the stride.
        least = (low - (count - 1) * dilation if reach > 1 else low) // stride
        most, end = (far - high) // stride, reach * (taps - 1)
        first, over = max(0, least), min(most, end)
        extent = image + (over - first)
        if isinstance(image, int) and image + over < first + 1:  # all elements are zeros
            extent, over = 1, first + 1 - image
        return _Phases(stride, dilation, step, count, taps, reach, first, over, extent, least < 0, most > over)

    def at(self, place: Any) -> tuple[Any, Any, list[Expr]]:
        """The phase of an element of the result, its number q from the first on, and what holds where it is no zero."""
        if self.stride == 1:
            return 0, place, []
        common = self.stride // self.step
        conditions = [te.floormod(place, common) == 0] if common > 1 else []
        phase: Any = 0
        if self.step > 1:
            # The multiple of the dilation that is as far as the element is from a multiple of the stride.
            times = pow(self.reach, -1, self.step)
            whole = te.floordiv(place, common) if common > 1 else place
            phase = te.floormod(whole * times if times > 1 else whole, self.step)
            conditions += [phase < self.count] if self.count < self.step else []
        number = te.floordiv(place - phase * self.dilation if self.reach > 1 else place, self.stride)
        conditions += [number >= self.first] if self.may_be_before else []
        conditions += [number < self.first + self.extent] if self.may_be_behind else []
        return phase if self.count > 1 else 0, number - self.first if self.first else number, conditions


@operator
def conv_transpose(
    x: Tensor, w: Tensor, *, strides: Sequence[int], before: Sequence[int], after: Sequence[int],
    dilations: Sequence[int], groups: int, acc: str, to: str,
) -> Tensor:  # fmt: skip
    """The transpose of a convolution, filters IO….

    Each dimension has (extent - 1) * stride + (size - 1) * dilation + 1 elements, less `before` and `after`, which may
    be negative. Elements that are a multiple of the stride apart meet the same elements of the filter. So it is a
    convolution of the image as it is, with a filter for each phase of the stride, whose results take turns.
    """
    shape = [
        (extent - 1) * stride + (size - 1) * dilation + 1 - low - high
        for extent, size, stride, dilation, low, high in zip(
            x.shape[2:], w.shape[2:], strides, dilations, before, after
        )
    ]
    phases = [_Phases.of(*one) for one in zip(x.shape[2:], w.shape[2:], strides, dilations, before, after)]
    margins = [one.reach * (one.taps - 1) - one.first for one in phases]
    over = [one.over for one in phases]
    image = padded(x, [0, 0, *margins], [0, 0, *over], te.const(0, x.dtype), "conv_transpose_padded")
    filters = _filters(w, phases, groups)
    has_phases = any(one.stride > 1 for one in phases)
    by_groups = has_phases and groups > 1
    made = convolution(
        image, filters, [one.extent for one in phases], [1] * len(phases), [one.reach for one in phases], groups, acc,
        to, "conv_transpose", by_groups=by_groups,
    )  # fmt: skip
    if not has_phases:
        return made

    def element(n: Any, o: Any, *i: Any) -> Expr:
        row, numbers, conditions = o, list[Any](), list[Expr]()
        for one, axis, low in zip(phases, i, before):
            phase, number, some = one.at(axis + low if low and one.stride > 1 else axis)
            row = row * one.count + phase if one.count > 1 else row
            numbers.append(number)
            conditions += some
        if by_groups:
            rows = filters.shape[0] // groups
            value = made(n, te.indexdiv(row, rows), te.indexmod(row, rows), *numbers)
        else:
            value = made(n, row, *numbers)
        return te.if_then_else(te.all(*conditions), value, te.const(0, to)) if conditions else value

    return te.compute([x.shape[0], w.shape[1] * groups, *shape], element, name="conv_transpose_phases")


def _filters(w: Tensor, phases: Sequence[_Phases], groups: int) -> Tensor:
    """The filters as a convolution has them, OI…, one of each phase, reversed, with zeros where they are shorter."""
    inputs, each = w.shape[0] // groups, w.shape[1]

    def element(row: Any, c: Any, *taps: Any) -> Expr:
        places, conditions = list[Any](), list[Expr]()
        for one, size, tap in reversed(list(zip(phases, w.shape[2:], taps))):
            place = (one.taps - 1 - tap) * one.step
            if one.count > 1:
                place, row = place + te.indexmod(row, one.count), te.indexdiv(row, one.count)
            if (one.taps - 1) * one.step + one.count > size:
                conditions.append(place < size)
            places.insert(0, place)
        if groups > 1:
            c, row = te.indexdiv(row, each) * inputs + c, te.indexmod(row, each)
        value = w(c, row, *places)
        return te.if_then_else(te.all(*conditions), value, te.const(0, w.dtype)) if conditions else value

    rows = each * groups * elements([one.count for one in phases])
    return te.compute([rows, inputs, *(one.taps for one in phases)], element, name="conv_transpose_filters")
