"""Quantisation divides by a constant and limits the quotient: kernels have products in place of the division, and the
same results."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from tilewright import te

SCALES = [1.0, -0.4, 0.1, 1 / 3, 0.02202263, 7.0, 1.9999999, 3e-5, 5e14]


def operands(scale: np.float32) -> np.ndarray:
    """Quotients that lie between two integers, those beside them, numbers beyond all limits, and numbers near 0."""
    scale = np.abs(scale)
    halves = (np.arange(-300, 300, dtype=np.float32) + np.float32(0.5)) * scale
    near = [np.nextafter(halves, np.float32(to)) for to in (-np.inf, np.inf)]
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45, -1e-45, 1e-38, 1e-30], np.float32)
    numbers = np.random.default_rng(0).standard_normal(4096).astype(np.float32) * np.float32(90) * scale
    return np.concatenate([halves, *near, edges, numbers])


def quantized(x: te.Tensor, scale: float, zero: float, to: str) -> te.Tensor:
    limits = ml_dtypes.finfo(to) if to.startswith("float") else np.iinfo(to)
    least, most = (te.const(float(limit), "float32") for limit in (limits.min, limits.max))

    def value(i: te.Expr) -> te.Expr:
        quotient = x[i] / te.const(scale, "float32")
        whole = quotient if to.startswith("float") else te.nearbyint(quotient)
        return te.min(te.max(whole + te.const(zero, "float32"), least), most).astype(to)

    return te.compute(x.shape, value, name="Q")


@pytest.mark.sample(2)
@pytest.mark.parametrize("to, zero", [("int8", 0.0), ("uint8", 128.0), ("int16", -5.0), ("float8_e4m3fn", 0.0)])
def test_results_are_those_of_the_division(to: str, zero: float) -> None:
    exact = np.dtype(getattr(ml_dtypes, to, to))
    for scale in SCALES:
        given = operands(np.float32(scale))
        x = te.placeholder(given.shape, name="x")
        y = quantized(x, scale, zero, to)
        s = te.create_schedule(y.op)
        s[y].bind(s[y].fuse(*s[y].op.axis), te.thread_axis("blockIdx.x"))
        kernel = tw.build(s, [x, y], target="sim", name="quantize")
        got = np.empty(given.shape, exact)
        kernel(given, got)
        with np.errstate(all="ignore"):
            quotient = given / np.float32(scale)
            whole = quotient if to.startswith("float") else np.rint(quotient)
            limits = ml_dtypes.finfo(to) if to.startswith("float") else np.iinfo(to)
            expected = np.clip(whole + np.float32(zero), np.float32(limits.min), np.float32(limits.max))
            expected = (expected if to.startswith("float") else np.nan_to_num(expected, nan=0.0)).astype(exact)
        if to.startswith("float"):  # the zero that a subnormal number becomes may have the other sign
            tiny = np.abs(given) < 1e-37
            assert (got[tiny] == 0).all()
            got, expected = got[~tiny].view("uint8"), expected[~tiny].view("uint8")
        np.testing.assert_array_equal(got, expected)


def test_kernels_have_no_division() -> None:
    x = te.placeholder((1024,), name="x")
    y = quantized(x, 0.3, 0.0, "int8")
    ptx = tw.build(tw.auto_schedule([y], "cuda -arch=sm_90a"), [x, y], "cuda -arch=sm_90a").ptx
    assert "div" not in ptx and "fma.rn.f32" in ptx
    assert "cvt.rni" not in ptx and "cvt.rzi" not in ptx  # rounded by a sum
