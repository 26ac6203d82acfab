"""Operations of images."""

from __future__ import annotations

from collections.abc import Callable

from .. import schedules
from ..devices import current
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..target import Target
from ..te import Expr, Tensor, compute, if_then_else, placeholder, reduce_axis, sum
from ..te import all as all_of
from ..te.schedule import create_schedule
from .empty import is_empty, of_elements, spread
from .gemm import expect_activation, make_epilogue
from .operator import Operand, Scheduled, operator
from .shapes import expect_dimensions, expect_float32, expect_shape

__all__ = ["conv2d"]


@operator
def conv2d(
    x: Operand,
    w: Operand,
    bias: Operand | None = None,
    *,
    stride: int = 1,
    activation: str | None = None,
    out_dtype: str | None = None,
    target: Target | None = None,
) -> Scheduled:
    """activation(x * w + bias): images convolved with filters, with a margin of kernel // 2 zeros.

    Of float32, `x` is batch x channels x size x size and `w` filters x channels x kernel x kernel, without tensor cores
    (`schedules.conv2d`), bias and activation. Of float16 and bfloat16 the channels are last: `x` is batch x size x size
    x channels, `w` filters x kernel x kernel x channels, `bias` has as many elements as there are filters, and sums are
    float32 (`schedules.conv2d_mma`, on sm_90a `schedules.conv2d_wgmma`).

    >>> import numpy as np
    >>> x, w = np.ones((1, 4, 4, 8), "float16"), np.ones((2, 3, 3, 8), "float16")
    >>> conv2d(x, w)[0, :, :, 0]
    array([[32., 48., 48., 32.],
           [48., 72., 72., 48.],
           [48., 72., 72., 48.],
           [32., 48., 48., 32.]], dtype=float16)
    """
    expect_dimensions("conv2d", 4, x=x, w=w)
    expect_activation("conv2d", activation)
    is_last = x.dtype in ("float16", "bfloat16")
    if not is_last:
        expect_float32("conv2d", x=x)
    if w.dtype != x.dtype:
        raise TypeError(f"conv2d: expected images and filters of one type, got {x.dtype} and {w.dtype}")
    (batch, size, width, channels), (filters, kernel, across, taken) = (
        (one.shape if is_last else (one.shape[0], *one.shape[2:], one.shape[1])) for one in (x, w)
    )
    if width != size or across != kernel or taken != channels:
        raise ValueError(
            "conv2d: expected square images, and square filters of as many channels, got shapes "
            f"{x.shape} and {w.shape}"
        )
    if not is_last:
        if bias is not None or activation is not None or out_dtype not in (None, "float32"):
            raise ValueError(
                "conv2d: expected float16 or bfloat16 with a bias, an activation or an out_dtype, got float32"
            )
        if is_empty(x, w):
            return _of_nothing(x, w, stride)
        return schedules.conv2d(batch, channels, size, filters, kernel, stride=stride)
    operands = []
    if bias is not None:
        expect_shape("conv2d", (filters,), bias=bias)
        operands.append(placeholder((filters,), bias.dtype, name="bias"))
    epilogue = make_epilogue(operands[0] if operands else None, None, activation, 1.0)
    if target is not None and target.kind == "cpu":
        return _without_schedule(x, w, stride, out_dtype or x.dtype, epilogue, operands)
    if is_empty(x, w):
        s, tensors = _without_schedule(x, w, stride, out_dtype or x.dtype, epilogue, operands)
        Y = tensors[-1]
        total = Y.op.input_tensors[0]
        spread(s, total.op.input_tensors[0], total, Y)
        return s, tensors
    make = schedules.conv2d_wgmma if "wgmma" in current().features else schedules.conv2d_mma
    return make(
        batch, channels, size, filters, kernel, x.dtype, out_dtype, stride=stride, epilogue=epilogue, operands=operands
    )


def _of_nothing(x: Operand, w: Operand, stride: int) -> Scheduled:
    """The convolution of float32 where there are no images, no channels or no filters."""
    batch, channels, size, _ = x.shape
    filters, _, kernel, _ = w.shape
    margin = kernel // 2
    out = (size + 2 * margin - kernel) // stride + 1
    X, W = placeholder(x.shape, x.dtype, name="X"), placeholder(w.shape, w.dtype, name="W")
    ry, rx, c = reduce_axis((0, kernel), "ry"), reduce_axis((0, kernel), "rx"), reduce_axis((0, channels), "c")

    def element(n: Expr, f: Expr, y: Expr, x: Expr) -> Expr:
        top, left = y * stride + ry - margin, x * stride + rx - margin
        inside = all_of(top >= 0, top < size, left >= 0, left < size)
        return sum(if_then_else(inside, X[n, c, top, left] * W[f, c, ry, rx], 0.0), axis=[ry, rx, c])

    return of_elements((batch, filters, out, out), element, [X, W])


def _without_schedule(
    x: Operand,
    w: Operand,
    stride: int,
    out_dtype: str,
    epilogue: Callable[..., Expr] | None,
    operands: list[Tensor],
) -> Scheduled:
    """The convolution as it is, channels last, for a target that makes loops of its own."""
    batch, size, _, channels = x.shape
    filters, kernel, *_ = w.shape
    margin = kernel // 2
    out = (size + 2 * margin - kernel) // stride + 1
    X, W = placeholder(x.shape, x.dtype, name="X"), placeholder(w.shape, w.dtype, name="W")

    def element(n: Expr, y: Expr, x: Expr, c: Expr) -> Expr:
        inside = all_of(y >= margin, y < size + margin, x >= margin, x < size + margin)
        return if_then_else(inside, X[n, y - margin, x - margin, c], 0)

    padded = compute((batch, size + 2 * margin, size + 2 * margin, channels), element, name="padded")
    ry, rx, c = reduce_axis((0, kernel), "ry"), reduce_axis((0, kernel), "rx"), reduce_axis((0, channels), "c")
    total = compute(
        (batch, out, out, filters),
        lambda n, y, x, f: sum(
            padded[n, y * stride + ry, x * stride + rx, c].astype("float32") * W[f, ry, rx, c].astype("float32"),
            axis=[ry, rx, c],
        ),
        name="total",
    )
    Y = compute(
        (batch, out, out, filters),
        lambda *at: (epilogue(total[at], *at) if epilogue else total[at]).astype(out_dtype),
        name="Y",
    )
    return create_schedule(Y.op), [X, W, *operands, Y]
