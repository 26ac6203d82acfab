"""Bits of floats, rounding to decimals, divisors, and factors of matrices by reflections, against PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tilewright.torch import compile_fx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
VALUES = [0.0, -0.0, 1.0, -1.5, 1e-40, -3e-45, math.inf, math.nan, 3e38, 0.1]


def _check(function: Callable[..., Any], *given: Any, tolerance: float = 0.0) -> None:
    torch._dynamo.reset()
    made = torch.compile(function, backend=compile_fx, fullgraph=True)(*given)
    torch.testing.assert_close(made, function(*given), rtol=tolerance, atol=tolerance, equal_nan=True)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_bits_of_floats(dtype: torch.dtype) -> None:
    x = torch.tensor(VALUES, dtype=dtype)
    _check(torch.frexp, x)
    _check(torch.nextafter, x, x.flip(0).contiguous())


def test_rounding_to_decimals() -> None:
    x = torch.arange(-20, 20) * 1.2345
    _check(lambda x: (torch.round(x, decimals=2), torch.round(x * 100, decimals=-1)), x, tolerance=1e-6)


@pytest.mark.parametrize(
    "dtype",
    [torch.int8, torch.uint8, *(pytest.param(one, marks=pytest.mark.sweep) for one in (torch.int32, torch.int64))],
)
def test_divisors_and_multiples(dtype: torch.dtype) -> None:
    fibonacci = [0, 1]  # two neighbours take the most steps
    while sum(fibonacci[-2:]) <= torch.iinfo(dtype).max:
        fibonacci.append(sum(fibonacci[-2:]))
    a = torch.tensor([*fibonacci[-2:], 12, 0, 0, 100, 7, torch.iinfo(dtype).max], dtype=dtype)
    b = torch.tensor([*fibonacci[:-3:-1], 18, 0, 5, 10, 0, 63], dtype=dtype)
    _check(torch.gcd, -a if dtype.is_signed else a, b)
    _check(torch.lcm, a[2:-1], -b[2:-1] if dtype.is_signed else b[2:-1])


@pytest.mark.sample(1)
@pytest.mark.parametrize("mode", ["reduced", "complete", "r"])
@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (2, 5, 4), (1, 1)])
def test_factors_by_reflections(shape: tuple[int, ...], mode: str) -> None:
    torch.manual_seed(4)
    _check(lambda x: torch.linalg.qr(x, mode=mode), torch.randn(shape), tolerance=1e-5)


@pytest.mark.sweep
def test_matrices_that_are_triangular_or_zero_and_exponentials() -> None:
    torch.manual_seed(4)
    for x in (torch.eye(4).triu(), torch.zeros(3, 3)):
        _check(torch.linalg.qr, x)
    _check(torch.matrix_exp, torch.randn(3, 5, 5) * 3, tolerance=1e-4)
    _check(torch.matrix_exp, torch.zeros(3, 3))
    _check(lambda x: torch.cholesky(x @ x.mT + torch.eye(4)), torch.randn(4, 4), tolerance=1e-5)
    _check(torch.fft.hfft, torch.randn(2), tolerance=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_signs(dtype):
    x = torch.tensor([1.5, -2, 0, -0.0, float("nan"), float("inf"), -float("inf")], dtype=dtype)
    _check(lambda x: (x.sign(), x.sgn()), x)
