"""Resizing of images, and reading them between their elements."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...graph import Value
from ...graph.operators.common import same
from ..node import Node, converter
from .resized import coordinates, count_of, resized_by_places

_Coefficients = Callable[[float, float], np.ndarray]


def _nearest(mode: str) -> _Coefficients:
    """Which of the two neighbours it is. `ratio` is in (0, 1]: 1 is the right one itself."""
    takes_right: dict[str, Callable[[float], bool]] = {
        "round_prefer_floor": lambda ratio: ratio > 0.5,
        "round_prefer_ceil": lambda ratio: ratio >= 0.5,
        "floor": lambda ratio: ratio == 1,
        "ceil": lambda ratio: True,
    }

    def coefficients(ratio: float, scale: float) -> np.ndarray:
        right = takes_right[mode](ratio) or ratio == 1
        return np.array([0.0, 1.0] if right else [1.0, 0.0])

    return coefficients


def _linear(ratio: float, scale: float) -> np.ndarray:
    return np.array([1 - ratio, ratio])


def _linear_antialias(ratio: float, scale: float) -> np.ndarray:
    scale = min(scale, 1.0)
    start = math.floor(-1 / scale) + 1
    weights = np.clip(1 - np.abs((np.arange(start, start + 2 - 2 * start) - ratio) * scale), 0, 1)
    return weights / weights.sum()


def _cubic_weight(x: float, a: float) -> float:
    x = abs(x)
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


def _cubic(a: float, antialias: bool) -> _Coefficients:
    def coefficients(ratio: float, scale: float) -> np.ndarray:
        scale = min(scale, 1.0) if antialias else 1.0
        start = math.floor(-2 / scale) + 1
        weights = np.array([_cubic_weight(scale * (i - ratio), a) for i in range(start, 2 - start)])
        return weights / weights.sum() if antialias else weights

    return coefficients


_ON_HOST: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "max": np.maximum, "equal": np.equal,
    "where": np.where,
}  # fmt: skip


def _on_host(operator: str, *numbers: Any) -> Any:
    return _ON_HOST[operator](*numbers)


def _coordinates(mode: str, size: int, scale: float, count: int, roi: tuple[float, float]) -> NDArray[Any]:
    """Where in an image of `size` elements each of `count` elements of the result is."""
    places = np.arange(count, dtype=np.float64)
    if mode != "tf_crop_and_resize":
        return coordinates(_on_host, mode, places, size, count, scale)
    (start, end), wide = roi, scale * size
    if wide == 1:
        return np.full(count, (end - start) * (size - 1) / 2 + start * (size - 1))
    return places * (end - start) * (size - 1) / (wide - 1) + start * (size - 1)


def _resized(
    node: Node, x: Value, axis: int, count: int, scale: float, coefficients: _Coefficients, roi: tuple[float, float]
) -> tuple[Value, np.ndarray]:
    """`x` with `count` elements along an axis, and which of these are outside of the image."""
    size = x.shape[axis]
    assert isinstance(size, int)  # what asks for this sees to it
    mode = node.attr("coordinate_transformation_mode", "half_pixel")
    places, weights, outside = list[NDArray[Any]](), list[NDArray[Any]](), np.zeros(count, bool)
    for place, at in enumerate(_coordinates(mode, size, scale, count, roi).tolist()):
        outside[place] = mode == "tf_crop_and_resize" and not 0 <= at <= size - 1
        left = math.ceil(at) - 1
        weight = coefficients(at - left, scale)
        each = np.arange(len(weight)) + left - (len(weight) // 2 - 1)
        if node.attr("exclude_outside", 0):
            weight = np.where((each < 0) | (each >= size), 0, weight)
            weight = weight / weight.sum()
        places.append(np.clip(each, 0, size - 1))
        weights.append(weight)
    indices, factors = np.array(places, np.int64), np.array(weights)
    if ((factors == 0) | (factors == 1)).all() and (factors.sum(1) == 1).all():
        chosen = indices[np.arange(count), factors.argmax(1)]
        return node.op_("gather", x, node.builder.constant(chosen), axis=axis), outside
    around = node.op_("gather", x, node.builder.constant(indices), axis=axis)
    shape = [1] * around.rank
    shape[axis], shape[axis + 1] = factors.shape
    products = node.op_("mul", around, node.constant(factors.reshape(shape), around))
    return node.op_("reduce_sum", products, axes=[axis + 1], keepdims=False), outside


def _stays(node: Node, x: Value, place: int, axis: int) -> bool:
    """Whether a dimension keeps its extent, of the sizes or factors of which it has one at a place."""
    if node.op == "Resize" and node.version >= 11 and node.has(3) and node.host(3).size:
        return same(node.integers(3)[place], x.shape[axis])
    position = 1 if node.op == "Upsample" or node.version < 11 else 2
    return float((node.host(position).reshape(-1) if node.has(position) else node.attr("scales"))[place]) == 1


@converter("Resize", "Upsample")
def _resize(node: Node) -> Value:
    x = node.tensor(0)
    given = [node.axis(axis, x.rank) for axis in node.attr("axes") or range(x.rank)]
    axes = [axis for d, axis in enumerate(given) if isinstance(x.shape[axis], int) or not _stays(node, x, d, axis)]
    extents: list[Any] = [x.shape[axis] for axis in axes]
    kept = [given.index(axis) for axis in axes]
    scales: list[Any]
    if node.op == "Upsample" or node.version < 11:
        scales = [float((node.host(1).reshape(-1) if node.has(1) else node.attr("scales"))[d]) for d in kept]
        sizes = [count_of(extent, scale) for extent, scale in zip(extents, scales)]
        node.attributes.setdefault("coordinate_transformation_mode", "asymmetric")
        node.attributes.setdefault("nearest_mode", "floor")
    elif node.has(3) and node.host(3).size:
        sizes = [node.integers(3)[d] for d in kept]
        is_known = [isinstance(size, int) and isinstance(extent, int) for size, extent in zip(sizes, extents)]
        scales = [size / extent if known else None for known, size, extent in zip(is_known, sizes, extents)]
        policy = node.attr("keep_aspect_ratio_policy", "stretch")
        if policy != "stretch" and not all(is_known):
            raise node.error(f"expected an image whose extents are known for keep_aspect_ratio_policy, got {x.type}")
        if policy != "stretch":
            scale = (min if policy == "not_larger" else max)(scales)
            scales = [scale] * len(scales)
            sizes = [math.floor(scale * extent + 0.5) for extent in extents]
    else:
        scales = [float(node.host(2).reshape(-1)[d]) for d in kept]
        sizes = [count_of(extent, scale) for extent, scale in zip(extents, scales)]
    roi: list[Any] = (
        node.host(1).reshape(-1).tolist() if node.version >= 11 and node.has(1) and node.host(1).size else []
    )
    mode = node.attr("mode", "nearest")
    antialias = bool(node.attr("antialias", 0))
    if mode == "nearest":
        coefficients = _nearest(node.attr("nearest_mode", "round_prefer_floor"))
    elif mode == "cubic":
        coefficients = _cubic(node.attr("cubic_coeff_a", -0.75), antialias)
    else:
        coefficients = _linear_antialias if antialias else _linear
    is_real = "float" in x.dtype
    y = x if is_real or mode == "nearest" else node.cast(x, "float32")
    outside = np.zeros([1] * x.rank, bool)
    for d, (axis, size, scale) in enumerate(zip(axes, sizes, scales)):
        own = (roi[kept[d]], roi[kept[d] + len(given)]) if roi else (0.0, 1.0)
        if same(size, y.shape[axis]) and (scale or 1) == 1 and own == (0.0, 1.0):
            continue
        if not (isinstance(size, int) and isinstance(y.shape[axis], int)):
            y = resized_by_places(node, y, axis, size, scale)
            continue
        y, beyond = _resized(node, y, axis, size, scale, coefficients, own)
        shape = [1] * x.rank
        shape[axis] = len(beyond)
        outside = outside | beyond.reshape(shape)
    if outside.any():
        value = node.constant(node.attr("extrapolation_value", 0.0), y)
        y = node.op_("where", node.builder.constant(outside), value, y)
    return node.cast(y, x.dtype)


@converter("GridSample")
def _grid_sample(node: Node) -> Value:
    modes = {"bilinear": "linear", "bicubic": "cubic"}
    mode = node.attr("mode", "linear")
    return node.op_(
        "grid_sample", node.tensor(0), node.tensor(1), mode=modes.get(mode, mode),
        padding=node.attr("padding_mode", "zeros"), align_corners=bool(node.attr("align_corners", 0)),
    )  # fmt: skip


@converter("Col2Im")
def _col2im(node: Node) -> Value:
    image, kernel = node.integers(1), node.integers(2)
    rank = len(image)
    pads = list(node.attr("pads") or [0] * (2 * rank))
    return node.op_(
        "col2im", node.tensor(0), image=image, kernel=kernel, strides=list(node.attr("strides") or [1] * rank),
        before=pads[:rank], after=pads[rank:], dilations=list(node.attr("dilations") or [1] * rank),
    )  # fmt: skip


@converter("BitCast")
def _bitcast(node: Node) -> Value:
    from ..dtypes import dtype_name

    x = node.tensor(0)
    to = dtype_name(node.attr("to"))
    if x.dtype == "bool" and to != "bool":  # a byte, which is 0 or 1
        x = node.cast(x, "uint8")
    return x if x.dtype == to else node.op_("bitcast", x, to=to)


@converter("DeformConv")
def _deform_conv(node: Node) -> Value:
    from .contractions import windows, with_bias

    x, w, offset = node.tensor(0), node.tensor(1), node.tensor(2)
    found = windows(node, x, list(w.shape[2:]))
    shape = [offset.shape[0], offset.shape[1] // 2, *offset.shape[2:]]
    mask = node.tensor(4) if node.has(4) else node.op_("expand", node.constant(1, x), shape=shape)
    result = node.op_(
        "deform_conv", x, w, offset, mask, **found, groups=node.attr("group", 1),
        offset_groups=node.attr("offset_group", 1),
    )  # fmt: skip
    return with_bias(node, result, node.tensor(3) if node.has(3) else None)


@converter("RoiAlign")
def _roi_align(node: Node) -> Value:
    ratio = node.attr("sampling_ratio", 0)
    if ratio < 1:
        raise node.error(
            f"expected a sampling_ratio of at least 1, got {ratio}: how many places are read depends on data"
        )
    default = "half_pixel" if node.version >= 16 else "output_half_pixel"
    return node.op_(
        "roi_align", *node.tensors(), height=node.attr("output_height", 1), width=node.attr("output_width", 1),
        sampling_ratio=ratio, spatial_scale=node.attr("spatial_scale", 1.0), mode=node.attr("mode", "avg"),
        half_pixel=node.attr("coordinate_transformation_mode", default) == "half_pixel",
    )  # fmt: skip
