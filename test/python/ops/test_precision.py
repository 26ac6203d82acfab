"""Operations of float32 that may be multiplied in tf32."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import ops

SIM, CPU = tw.Target.of("sim"), tw.Target.of("cpu")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((2, 16, 12, 12)).astype("float32")
W = RNG.standard_normal((32, 16, 3, 3)).astype("float32")
LAST, TURNED = (np.ascontiguousarray(one) for one in (X.transpose(0, 2, 3, 1), W.transpose(1, 0, 2, 3)))

A, B = RNG.standard_normal((3, 32, 64)).astype("float32"), RNG.standard_normal((64, 48)).astype("float32")

CALLS = {
    "conv": lambda **more: ops.conv(X, W, padding=1, **more),
    "conv of channels last": lambda **more: ops.conv(LAST, W, layout="last", **more),
    "conv2d": lambda **more: ops.conv2d(X, W, **more),
    "conv_transpose": lambda **more: ops.conv_transpose(X, TURNED, **more),
    "matmul": lambda **more: ops.matmul(A[0], B, **more),
    "matmul of broadcast operands": lambda **more: ops.matmul(A, B, **more),
}


@pytest.mark.parametrize("name", CALLS)
def test_tf32(name: str) -> None:
    exact = CALLS[name](target=CPU)
    off = {precision: abs(CALLS[name](target=SIM, precision=precision) - exact).max() for precision in (None, "tf32")}
    assert off[None] < 1e-6 * abs(exact).max() + 2e-5
    assert 5e-5 * abs(exact).max() < off["tf32"] < 2e-3 * abs(exact).max()
    # A processor has none.
    assert (CALLS[name](target=CPU, precision="tf32") == exact).all()


@pytest.mark.parametrize("name", ["conv", "conv2d", "conv_transpose", "matmul"])
def test_errors(name: str) -> None:
    half = ops.Operand((4, 4), "float16") if name == "matmul" else ops.Operand((1, 4, 8, 8), "int8")
    filters = half if name == "matmul" else ops.Operand((4, 4, 3, 3), "int8")
    operation = getattr(ops, name)
    if name == "conv2d":
        half, filters = ops.Operand((1, 8, 8, 4), "float16"), ops.Operand((4, 3, 3, 4), "float16")
    with pytest.raises(tw.errors.TilewrightValueError) as caught:
        operation.schedule(half, filters, precision="tf32")
    expected = f"{name}: expected a precision of 'tf32', for operands of float32, or none, got 'tf32' for {half.dtype}"
    assert str(caught.value).endswith(expected)
