"""Operators that read images at places that are moved by offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ... import te
from ...errors import TilewrightValueError as ValueError
from ...te import Expr, Tensor
from .common import operator
from .contractions import window_extents


def _between(x: Tensor, n: Any, c: Any, y: Expr, z: Expr, outside: bool) -> list[Expr]:
    """The four products of elements and weights around a place; with `outside` what is not in the image counts as 0."""
    height, width = (extent for extent in x.shape[2:] if isinstance(extent, int))
    top, left = te.floor(y), te.floor(z)
    terms: list[Any] = []
    for dy in (0.0, 1.0):
        for dz in (0.0, 1.0):
            row, column = top + dy, left + dz
            weight = (y - top if dy else 1.0 - (y - top)) * (z - left if dz else 1.0 - (z - left))
            i = te.max(te.min(row.astype("int32"), height - 1), 0)
            j = te.max(te.min(column.astype("int32"), width - 1), 0)
            term = x(n, c, i, j) * weight
            if outside:
                inside = te.all(row >= 0.0, row <= float(height - 1), column >= 0.0, column <= float(width - 1))
                term = te.select(inside, term, te.const(0, x.dtype))
            terms.append(term)
    return terms


def _sum(terms: Sequence[Expr]) -> Expr:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def _check_extents(name: str, x: Tensor) -> None:
    if x.ndim != 4 or not all(isinstance(extent, int) for extent in x.shape[2:]):
        raise ValueError(f"{name}: expected images of two extents that are known, got {tuple(x.shape)}")


@operator
def deform_conv(
    x: Tensor, w: Tensor, offset: Tensor, mask: Tensor, *, strides: Sequence[int], before: Sequence[int],
    after: Sequence[int], dilations: Sequence[int], groups: int, offset_groups: int,
) -> Tensor:  # fmt: skip
    """Convolution that reads at places moved by offsets, times a mask."""
    _check_extents("deform_conv", x)
    height, width = w.shape[2:]
    extents = window_extents(x.shape[2:], w.shape[2:], strides, before, after, dilations)
    each = x.shape[1] // offset_groups

    def moved(n: Any, c: Any, k: Any, y: Any, z: Any) -> Expr:
        group = c // each
        at = (group * (height * width) + k) * 2
        row = (y * strides[0] + (k // width) * dilations[0] - before[0]).astype(x.dtype) + offset(n, at, y, z)
        column = (z * strides[1] + (k % width) * dilations[1] - before[1]).astype(x.dtype) + offset(n, at + 1, y, z)
        return _sum(_between(x, n, c, row, column, True)) * mask(n, group * (height * width) + k, y, z)

    columns = te.compute([x.shape[0], x.shape[1], height * width, *extents], moved, name="deform_conv_columns")
    channel = te.reduce_axis((0, w.shape[1]), name="channel")
    k = te.reduce_axis((0, height * width), name="k")
    outputs = w.shape[0] // groups

    def value(n: Any, o: Any, y: Any, z: Any) -> Expr:
        read = columns(n, (o // outputs) * w.shape[1] + channel, k, y, z)
        return te.sum(read * w(o, channel, k // width, k % width), axis=[channel, k])

    return te.compute([x.shape[0], w.shape[0], *extents], value, name="deform_conv")


@operator
def roi_align(
    x: Tensor, rois: Tensor, batch_indices: Tensor, *, height: int, width: int, sampling_ratio: int,
    spatial_scale: float, mode: str, half_pixel: bool,
) -> Tensor:  # fmt: skip
    """Regions of images, each averaged ("avg") or its largest ("max") over `sampling_ratio`^2 places an element."""
    _check_extents("roi_align", x)
    rows, columns = x.shape[2:]
    shift = 0.5 if half_pixel else 0.0
    p = te.reduce_axis((0, sampling_ratio), name="p")
    q = te.reduce_axis((0, sampling_ratio), name="q")

    def place(r: Any, low: int, bins: int, number: Any, sample: Any, extent: Any) -> tuple[Expr, Expr]:
        start = rois(r, low) * spatial_scale - shift
        size = rois(r, low + 2) * spatial_scale - shift - start
        if not half_pixel:
            size = te.max(size, 1.0)
        each = size / float(bins)
        at = start + number.astype(x.dtype) * each + (sample.astype(x.dtype) + 0.5) * each / float(sampling_ratio)
        inside = te.all(at >= -1.0, at <= float(extent))
        return te.max(te.min(at, float(extent - 1)), 0.0), inside

    def terms(r: Any, c: Any, i: Any, j: Any) -> tuple[list[Expr], Expr]:
        y, y_inside = place(r, 1, height, i, p, rows)
        z, z_inside = place(r, 0, width, j, q, columns)
        batch = te.max(te.min(batch_indices(r).astype("int32"), x.shape[0] - 1), 0)
        return _between(x, batch, c, y, z, False), te.all(y_inside, z_inside)

    def value(*i: Any) -> Expr:
        found, inside = terms(*i)
        zero = te.const(0, x.dtype)
        if mode == "max":
            best = found[0]
            for term in found[1:]:
                best = te.max(best, term)
            return te.max(te.select(inside, best, zero), axis=[p, q])
        return te.sum(te.select(inside, _sum(found), zero), axis=[p, q])

    pooled = te.compute([rois.shape[0], x.shape[1], height, width], value, name="roi_align")
    if mode == "max":
        return pooled
    count = float(sampling_ratio * sampling_ratio)
    return te.compute(pooled.shape, lambda *i: pooled(*i) / count, name="roi_align_mean")
