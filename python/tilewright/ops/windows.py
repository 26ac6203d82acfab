"""Convolutions and pools of one to three dimensions, with any padding, stride and dilation."""

from __future__ import annotations

from collections.abc import Sequence

from .. import schedules
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..graph.operators.contractions import conv_of_channels_last
from ..target import Target
from ..te import Expr, Tensor, compute
from .by_rules import acc_of, by_rules, expect_floats, expect_precision, given, operate
from .empty import is_empty
from .operator import Operand, Scheduled, operator
from .shapes import expect_shape

__all__ = ["avg_pool", "conv", "conv_transpose", "max_pool"]

Padding = int | Sequence[int] | Sequence[tuple[int, int]]


def _each(what: str, name: str, value: int | Sequence[int], rank: int, least: int = 1) -> tuple[int, ...]:
    found = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(found) != rank or any(one < least for one in found):
        raise ValueError(f"{what}: expected {name} of at least {least} for {rank} dimensions, got {value}")
    return found


def _padding(what: str, value: Padding, rank: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    pairs = [(value, value)] * rank if isinstance(value, int) else [
        (one, one) if isinstance(one, int) else tuple(one) for one in value
    ]  # fmt: skip
    if len(pairs) != rank or any(len(pair) != 2 or min(pair) < 0 for pair in pairs):
        raise ValueError(f"{what}: expected a padding of at least 0 for {rank} dimensions, got {value}")
    return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)


def _rank(what: str, x: Operand, layout: str) -> int:
    if layout not in ("first", "last"):
        raise ValueError(f"{what}: expected a layout of 'first' or 'last', where the channels are, got {layout!r}")
    if not 3 <= len(x.shape) <= 5:
        raise ValueError(f"{what}: expected images of one to three dimensions in batches of channels, got {x.shape}")
    return len(x.shape) - 2


def _channels_first(X: Tensor, layout: str) -> Tensor:
    if layout == "first":
        return X
    shape = (X.shape[0], X.shape[-1], *X.shape[1:-1])

    def moved(n: Expr, c: Expr, *at: Expr) -> Expr:
        return X(n, *at, c)

    return compute(shape, moved, name="channels_first")


def _laid_out(Y: Tensor, layout: str, name: str) -> Tensor:
    if layout == "first":
        return Y

    def moved(n: Expr, *at: Expr) -> Expr:
        return Y(n, at[-1], *at[:-1])

    return compute((Y.shape[0], *Y.shape[2:], Y.shape[1]), moved, name=name)


def _convolve(
    what: str, x: Operand, w: Operand, bias: Operand | None, layout: str, filters: int, target: Target | None,
    precision: str | None, **attributes: object,
) -> Scheduled:  # fmt: skip
    X, W = given(x, "X"), given(w, "W")
    inputs, acc = [X, W], acc_of(x.dtype)
    to = "int32" if x.dtype == "int8" else x.dtype
    attributes |= {"acc": precision or acc, "to": acc if bias else to}
    if layout == "last" and what == "conv":
        total: Tensor = conv_of_channels_last(X, W, **attributes)  # type: ignore[arg-type]
    else:
        if what == "conv":
            attributes["by_threads"] = Target.of(target).kind != "cpu"
        total = _laid_out(operate(what, _channels_first(X, layout), W, **attributes), layout, what)
    if bias is not None:
        expect_shape(what, (filters,), bias=bias)
        B, whole, channels = given(bias, "bias"), total, 0 if layout == "first" else -1
        inputs.append(B)

        def biased(n: Expr, *at: Expr) -> Expr:
            return (whole(n, *at) + B(at[channels]).astype(acc)).astype(to)

        total = compute(whole.shape, biased, name="biased")
    return by_rules(inputs, total, target)


def _own_schedule(
    x: Operand, w: Operand, bias: Operand | None, layout: str, how: Sequence[object],
    margins: Sequence[tuple[int, ...]], target: Target | None,
) -> Scheduled | None:  # fmt: skip
    """A schedule of the library, where that is for such images: square ones of float32, on a GPU, with the channels
    first and a margin of half of the square kernel."""
    stride, dilation, groups = how
    strides: tuple[int, ...] = (stride, stride) if isinstance(stride, int) else tuple(stride)  # type: ignore[arg-type]
    if x.dtype != "float32" or layout != "first" or bias is not None or len(x.shape) != 4 or groups != 1:
        return None
    if (target is not None and target.kind == "cpu") or is_empty(x, w) or len(set(strides)) != 1 or strides[0] < 1:
        return None
    if dilation not in (1, (1, 1), [1, 1]) or not all(isinstance(extent, int) for extent in (*x.shape, *w.shape)):
        return None
    kernel, across = w.shape[2:]
    if x.shape[2] != x.shape[3] or kernel != across or kernel % 2 == 0:
        return None
    if any(margin != (kernel // 2,) * 2 for margin in margins):
        return None
    return schedules.conv2d(x.shape[0], x.shape[1], x.shape[2], w.shape[0], kernel, stride=strides[0])


def _expect_filters(what: str, x: Operand, w: Operand, rank: int) -> None:
    if w.dtype != x.dtype:
        raise TypeError(f"{what}: expected images and filters of one type, got {x.dtype} and {w.dtype}")
    if len(w.shape) != rank + 2:
        raise ValueError(f"{what}: expected filters of {rank} dimensions, got shapes {x.shape} and {w.shape}")


@operator
def conv(
    x: Operand,
    w: Operand,
    bias: Operand | None = None,
    *,
    stride: int | Sequence[int] = 1,
    padding: Padding = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    layout: str = "first",
    precision: str | None = None,
    target: Target | None = None,
) -> Scheduled:
    """Images convolved with filters, in one to three dimensions, plus a bias for each filter.

    `x` is batch x channels x …, or batch x … x channels with ``layout="last"``. `w` is filters x channels of a group x
    …. `padding` is how many zeros surround the images: a number, or for each dimension a number or a pair. `stride` is
    the distance from one window to the next, and `dilation` that between the elements of a filter. Both are a number,
    or one for each dimension. The channels are in `groups`, each with filters of its own. 16-bit types have a float32
    accumulator. For int8 the result is int32. With ``precision="tf32"``, tensor cores multiply float32 that is rounded
    to tf32. On a GPU, `schedules.conv2d` computes square float32 images with channels first, a square kernel of odd
    size, and a padding of half the kernel. Everything else is scheduled by rules.

    >>> import numpy as np
    >>> conv(np.ones((1, 1, 5), "float32"), np.ones((1, 1, 3), "float32"), padding=1)
    array([[[2., 3., 3., 3., 2.]]], dtype=float32)
    """
    rank = _rank("conv", x, layout)
    _expect_filters("conv", x, w, rank)
    expect_precision("conv", precision, x.dtype)
    channels = x.shape[1 if layout == "first" else -1]
    if groups < 1 or channels != w.shape[1] * groups or w.shape[0] % groups:
        raise ValueError(f"conv: expected channels and filters for {groups} groups, got shapes {x.shape} and {w.shape}")
    before, after = _padding("conv", padding, rank)
    own = _own_schedule(x, w, bias, layout, (stride, dilation, groups), (before, after), target)
    if own is not None and precision is None:
        return own
    return _convolve(
        "conv", x, w, bias, layout, w.shape[0], target, precision, strides=_each("conv", "stride", stride, rank),
        before=before, after=after, dilations=_each("conv", "dilation", dilation, rank), groups=groups,
    )  # fmt: skip


@operator
def conv_transpose(
    x: Operand,
    w: Operand,
    bias: Operand | None = None,
    *,
    stride: int | Sequence[int] = 1,
    padding: Padding = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
    layout: str = "first",
    precision: str | None = None,
    target: Target | None = None,
) -> Scheduled:
    """The transpose of `conv`: each element of `x` adds its multiple of a filter. `w` is channels x filters of a group
    x …; the result has (extent - 1) * stride + (size - 1) * dilation + 1 elements a dimension, less the padding.
    `bias`, `groups`, `layout` and `precision` are those of `conv`.

    >>> import numpy as np
    >>> conv_transpose(np.ones((1, 1, 2), "float32"), np.ones((1, 1, 2), "float32"), stride=2)
    array([[[1., 1., 1., 1.]]], dtype=float32)
    """
    rank = _rank("conv_transpose", x, layout)
    _expect_filters("conv_transpose", x, w, rank)
    expect_precision("conv_transpose", precision, x.dtype)
    channels = x.shape[1 if layout == "first" else -1]
    if groups < 1 or channels != w.shape[0] or channels % groups:
        raise ValueError(
            f"conv_transpose: expected channels for {groups} groups of filters, got shapes {x.shape} and {w.shape}"
        )
    before, after = _padding("conv_transpose", padding, rank)
    return _convolve(
        "conv_transpose", x, w, bias, layout, w.shape[1] * groups, target, precision,
        strides=_each("conv_transpose", "stride", stride, rank), before=before, after=after,
        dilations=_each("conv_transpose", "dilation", dilation, rank), groups=groups,
    )  # fmt: skip


@operator
def max_pool(
    x: Operand,
    *,
    kernel: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: Padding = 0,
    layout: str = "first",
    target: Target | None = None,
) -> Scheduled:
    """The largest element of each window of the images `x`, of one to three dimensions.

    `kernel` is the size of a window, and `stride` the distance to the next one: a number, or one for each dimension. By
    default, windows lie side by side. `padding` and `layout` are those of `conv`; what is outside does not count.

    >>> import numpy as np
    >>> max_pool(np.array([[[1, 4, 2, 3]]], "float32"), kernel=2)
    array([[[4., 3.]]], dtype=float32)
    """
    return _pool("max_pool", x, kernel, stride, padding, layout, target)


@operator
def avg_pool(
    x: Operand,
    *,
    kernel: int | Sequence[int],
    stride: int | Sequence[int] | None = None,
    padding: Padding = 0,
    layout: str = "first",
    target: Target | None = None,
) -> Scheduled:
    """The mean of each window of the images `x`, of floats; what is outside counts as zeros. `kernel`, `stride`,
    `padding` and `layout` are those of `max_pool`.

    >>> import numpy as np
    >>> avg_pool(np.array([[[1, 3, 2, 4]]], "float32"), kernel=2)
    array([[[2., 3.]]], dtype=float32)
    """
    expect_floats("avg_pool", x=x)
    return _pool("avg_pool", x, kernel, stride, padding, layout, target)


def _pool(
    what: str, x: Operand, kernel: int | Sequence[int], stride: int | Sequence[int] | None, padding: Padding,
    layout: str, target: Target | None,
) -> Scheduled:  # fmt: skip
    rank = _rank(what, x, layout)
    sizes = _each(what, "a kernel", kernel, rank)
    strides = sizes if stride is None else _each(what, "stride", stride, rank)
    before, after = _padding(what, padding, rank)
    X = given(x, "X")
    attributes = {"kernel": sizes, "strides": strides, "before": before, "after": after, "dilations": (1,) * rank}
    images = _channels_first(X, layout)
    if what == "max_pool":
        Y = operate("max_pool", images, **attributes)
    else:
        total, scale = operate("sum_pool", images, **attributes), 1.0
        for size in sizes:
            scale /= size
        Y = compute(total.shape, lambda *at: (total(*at) * scale).astype(x.dtype), name="mean")
    return by_rules([X], _laid_out(Y, layout, what), target)
