"""Operations of images."""

from __future__ import annotations

from collections.abc import Callable

from .. import schedules
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..graph.operators.contractions import conv_of_channels_together
from ..rules.launches import is_short
from ..schedules.convolutions.definition import Convolution
from ..schedules.convolutions.wgmma import takes_parts
from ..target import Target, current_gpu
from ..te import Expr, Tensor, compute, placeholder
from .by_rules import by_rules, expect_precision, given, operate
from .empty import is_empty
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
    precision: str | None = None,
    target: Target | None = None,
) -> Scheduled:
    """activation(x * w + bias): images convolved with filters, with a margin of kernel // 2 zeros.

    For float32, `x` is batch x channels x size x size and `w` is filters x channels x kernel x kernel. Tensor cores are
    not used (`schedules.conv2d`), unless ``precision="tf32"`` lets them round to tf32. For float16 and bfloat16,
    channels are last. Then `x` is batch x size x size x channels, and `w` is filters x kernel x kernel x channels. The
    accumulator is float32. They are scheduled by `schedules.conv2d_mma`. On sm_90a, rules schedule them, or
    `schedules.conv2d_wgmma` where blocks share the channels of a tile. Rules schedule filters of one tap. `bias` has
    one element for each filter. `stride` is the distance from one window to the next, and `out_dtype` the type of the
    result. `activation` is as of `matmul`.

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
    expect_precision("conv2d", precision, x.dtype)
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
    operands: list[Tensor] = []
    if bias is not None:
        expect_shape("conv2d", (filters,), bias=bias)
        operands.append(placeholder((filters,), bias.dtype, name="bias"))
    epilogue = make_epilogue(operands[0] if operands else None, None, activation, 1.0)
    on_gpu = target is None or target.kind != "cpu"
    is_plain = epilogue is None and out_dtype in (None, "float32") and precision is None
    # Of one tap, a convolution is a matmul of pixels. Rules schedule it as one, if TMA can copy its rows.
    is_matmul = kernel == 1 and channels % 8 == 0
    by_own = _has_own_schedule(x, w, stride) and not is_matmul if is_last else is_plain and kernel % 2 == 1
    if not on_gpu or is_empty(x, w) or not by_own:
        inputs, Y = _definition(
            x, w, stride, is_last, out_dtype or x.dtype, precision or "float32", epilogue, operands, on_gpu
        )
        return by_rules(inputs, Y, target)
    if not is_last:
        return schedules.conv2d(batch, channels, size, filters, kernel, stride=stride)
    make = schedules.conv2d_wgmma if "wgmma" in current_gpu().features else schedules.conv2d_mma
    s, arguments = make(
        batch, channels, size, filters, kernel, x.dtype, out_dtype, stride=stride, epilogue=epilogue, operands=operands
    )
    # Images of rows that are no multiples of 16 bytes are copied by kernels of their own.
    if channels % 8 and is_short(arguments[-1:], Target.of(target)):
        s.launch(dependent=True)
    return s, arguments


def _has_own_schedule(x: Operand, w: Operand, stride: int) -> bool:
    """Whether a schedule of the library is for images of 16 bits: on sm_90a, where so few tiles of results are there
    that blocks share the channels of each."""
    features = current_gpu().features
    if not all(isinstance(extent, int) for extent in (*x.shape, *w.shape)):
        return False
    if "wgmma" not in features or is_empty(x, w):
        return "mma.sync" in features
    (batch, size, _, channels), (filters, kernel, *_) = x.shape, w.shape
    return takes_parts(Convolution(batch, channels, size, filters, kernel, stride, dtype=x.dtype).windows)


def _definition(
    x: Operand,
    w: Operand,
    stride: int,
    is_last: bool,
    out_dtype: str,
    acc: str,
    epilogue: Callable[..., Expr] | None,
    operands: list[Tensor],
    by_threads: bool,
) -> tuple[list[Tensor], Tensor]:
    """What it is: the arguments, and the result."""
    X, W = given(x, "X"), given(w, "W")
    margin = (W.shape[2] // 2,) * 2
    attributes = {
        "strides": (stride, stride), "before": margin, "after": margin, "dilations": (1, 1), "acc": acc,
        "to": "float32",
    }  # fmt: skip
    if is_last:
        total: Tensor = conv_of_channels_together(X, W, **attributes, filters_last=False)  # type: ignore[arg-type]
    else:
        total = operate("conv", X, W, **attributes, groups=1, by_threads=by_threads)

    def element(*at: Expr) -> Expr:
        value = total[at]
        return (epilogue(value, *at) if epilogue else value).astype(out_dtype)

    return [X, W, *operands], compute(total.shape, element, name="Y")
