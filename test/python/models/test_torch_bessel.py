"""Bessel functions, Airy's function and orthogonal polynomials in a model.

In float64, those of orders 0 and 1 are beside each other: PyTorch's own have only seven digits around 5.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import tilewright as tw  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
special = torch.special
POINTS = [-30.0, -4.7, -2.5, -1.0, 0.0, 1e-6, 0.3, 1.9, 2.0, 2.1, 4.9, 5.1, 8.0, 31.0, 2000.0]
ENDS = [-math.inf, math.inf, math.nan]
FUNCTIONS = [
    "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_k0", "modified_bessel_k1",
    "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "spherical_bessel_j0", "airy_ai",
]  # fmt: skip


class Calls(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: torch.Tensor) -> Any:
        return self.function(*given)


def _compiled(function: Any, *given: torch.Tensor) -> Any:
    return tw.compile(Calls(function), given, target="cpu")(*given)


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    x = torch.tensor([*POINTS, *ENDS])
    function = getattr(special, name)
    torch.testing.assert_close(_compiled(function, x), function(x), equal_nan=True)


def _products(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """What is 2 / pi, and what is 1."""
    first = special.bessel_j1(x) * special.bessel_y0(x) - special.bessel_j0(x) * special.bessel_y1(x)
    second = special.modified_bessel_i0(x) * special.modified_bessel_k1(x)
    return first * x, (second + special.modified_bessel_i1(x) * special.modified_bessel_k0(x)) * x


@pytest.mark.sweep
def test_functions_have_the_digits_of_float64() -> None:
    x = torch.tensor([one for one in POINTS if 0 < one < 100], dtype=torch.float64)
    first, second = _compiled(_products, x)
    torch.testing.assert_close(first, torch.full_like(x, 2 / math.pi), rtol=1e-12, atol=0)
    torch.testing.assert_close(second, torch.ones_like(x), rtol=1e-12, atol=0)
    angles = torch.arange(128, dtype=torch.float64)[:, None] * (2 * math.pi / 128)
    waves = torch.cos(x * torch.sin(angles)).mean(0), torch.cos(angles - x * torch.sin(angles)).mean(0)
    torch.testing.assert_close(
        _compiled(lambda x: (special.bessel_j0(x), special.bessel_j1(x)), x), waves, rtol=0, atol=1e-14
    )
    roots = torch.tensor([-5.520559828095551, -2.338107410459767], dtype=torch.float64)
    torch.testing.assert_close(_compiled(special.airy_ai, roots), torch.zeros_like(roots), rtol=0, atol=1e-14)


POLYNOMIALS = [
    "chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w",
    "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l",
    "legendre_polynomial_p",
]  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(name: str) -> None:
    function = getattr(special, name)
    x = torch.tensor([-1.5, -1.0, -0.3, 0.0, 0.4, 1.0, 1.25], dtype=torch.float64)

    def several(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(function(x, n) for n in (-1, 0, 1, 2, 5, 13))

    torch.testing.assert_close(_compiled(several, x), several(x))
    torch.testing.assert_close(_compiled(several, x.float())[4], function(x, 5).float())


@pytest.mark.sweep
@pytest.mark.parametrize("name", [one for one in POLYNOMIALS if "chebyshev" in one])
def test_degrees_in_a_tensor(name: str) -> None:
    function = getattr(special, name)
    x, n = torch.linspace(-1.5, 1.5, 13, dtype=torch.float64)[:, None], torch.tensor([-2, 0, 1, 2, 6, 11])
    torch.testing.assert_close(_compiled(function, x, n), function(x, n))
    torch.testing.assert_close(_compiled(lambda n: function(0.25, n), n), function(0.25, n))


def test_what_is_refused() -> None:
    with pytest.raises(tw.CompileError) as caught:
        _compiled(special.legendre_polynomial_p, torch.ones(3), torch.ones(3))
    reason = "expected a degree that is a number, got one in a tensor"
    label = f"{__file__}:{Calls.forward.__code__.co_firstlineno + 1} (aten.special_legendre_polynomial_p.default)"
    assert str(caught.value) == f"{label}: cannot be compiled: {reason}"
    with pytest.raises(tw.CompileError) as caught:
        _compiled(lambda x: special.legendre_polynomial_p(x, 129), torch.ones(3))
    assert str(caught.value).endswith(
        "(aten.special_legendre_polynomial_p.n_scalar): cannot be compiled: expected a degree of at most 128"
    )
