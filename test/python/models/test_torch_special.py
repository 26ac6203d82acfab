"""Special functions of PyTorch, against PyTorch: also at their poles, of infinities and of NaN."""

from __future__ import annotations

import math

import pytest

import tilewright as tw

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")

inf, nan = math.inf, math.nan
REAL = [
    -inf,
    -170.5,
    -3.7,
    -3.0,
    -1.5,
    -1.0,
    -0.3,
    -1e-3,
    0.0,
    1e-4,
    0.4,
    1.0,
    1.3,
    2.0,
    4.5,
    29.0,
    31.0,
    84.0,
    inf,
    nan,
]
NEGATIVE = [-12.25, *REAL]
ORDINARY = [x for x in REAL if not abs(x) > 50]
FUNCTIONS = {
    "erfc": (torch.erfc, REAL), "erfcx": (torch.special.erfcx, [*ORDINARY, inf]), "lgamma": (torch.lgamma, REAL),
    "digamma": (torch.digamma, [x for x in REAL if x != -inf]), "log_ndtr": (torch.special.log_ndtr, ORDINARY),
    "erfinv": (torch.erfinv, [-1.5, -1.0, -0.9999, -0.9, -0.3, 0.0, 1e-4, 0.5, 0.86, 0.999999, 1.0, 2.0, nan]),
    "ndtri": (torch.special.ndtri, [-0.5, 0.0, 1e-30, 1e-4, 0.05, 0.5, 0.8, 0.9999, 1.0, 1.5, nan]),
    "zeta": (lambda x: torch.special.zeta(x + 1, x), [x for x in REAL if 0.3 < x < inf]),
    "zeta 2": (lambda x: torch.special.zeta(torch.full_like(x, 2.0), x), [x for x in NEGATIVE if abs(x) < inf]),
    "zeta 3": (lambda x: torch.special.zeta(torch.full_like(x, 3.0), x), [x for x in NEGATIVE if abs(x) < inf]),
    "zeta 2.5": (lambda x: torch.special.zeta(torch.full_like(x, 2.5), x), [x for x in NEGATIVE if abs(x) < inf]),
    "polygamma 1": (lambda x: torch.polygamma(1, x), [x for x in REAL if x > 0 or x > -4 and x % 1]),
    "polygamma": (lambda x: torch.polygamma(2, x), [x for x in NEGATIVE if abs(x) < inf]),
    "i0": (torch.special.i0, ORDINARY), "i0e": (torch.special.i0e, REAL[1:-2]), "i1": (torch.special.i1, ORDINARY),
    "i1e": (torch.special.i1e, REAL[1:-2]), "hypot": (lambda x: torch.hypot(x, x * 2 - 1), REAL),
    "exp2": (torch.exp2, REAL), "signbit": (torch.signbit, [*REAL, -0.0]), "angle": (torch.angle, REAL),
    "copysign": (lambda x: torch.copysign(x + 2, x), REAL), "copysign -2": (lambda x: torch.copysign(x, -2), REAL),
    "fmax": (lambda x: torch.fmax(x, x.flip(0)), REAL), "fmin": (lambda x: torch.fmin(x, x.flip(0)), REAL),
}  # fmt: skip


DTYPES = (torch.float32, torch.float64, torch.bfloat16)


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", [pytest.param((d, n), id=f"{d} {n}") for d in DTYPES for n in FUNCTIONS])
def test_special_functions(case):
    dtype, name = case

    class Module(torch.nn.Module):
        def forward(self, x):
            return function(x)

    function, values = FUNCTIONS[name]
    x = torch.tensor(values, dtype=dtype)
    got = tw.compile(Module(), (x,), target="cpu")(x)
    exact = function(x.to(torch.float64 if dtype == torch.bfloat16 else dtype)).to(got.dtype)
    torch.testing.assert_close(got, exact, equal_nan=True)


@pytest.mark.sweep
def test_special_functions_on_a_gpu_s_simulator():
    x = torch.tensor([-2.5, -0.5, 0.25, 0.75, 3.0])
    module = torch.nn.Sequential()
    module.forward = lambda x: (torch.lgamma(x), torch.erfinv(x / 4), torch.special.i0(x))  # type: ignore[method-assign]
    got = tw.compile(module, (x,), target="sim")(x)
    torch.testing.assert_close(tuple(got), (torch.lgamma(x), torch.erfinv(x / 4), torch.special.i0(x)))


@pytest.mark.sweep
def test_the_error_function_s_complement_has_the_digits_of_float64():
    from tilewright.torch import compile_fx

    def function(x):
        return torch.erfc(x), torch.special.erfcx(x), torch.special.log_ndtr(-x), (x - 3).angle()

    x = torch.linspace(-6, 26, 200, dtype=torch.float64)
    made = torch.compile(function, backend=compile_fx)(x)
    torch.testing.assert_close(made, function(x), rtol=1e-13, atol=0)


@pytest.mark.sweep
def test_incomplete_gamma_functions():
    class Module(torch.nn.Module):
        def forward(self, a, x):
            return torch.special.gammainc(a, x)

    a, x = torch.tensor([[0.0], [0.3], [2.0], [19.5], [40.0], [900.0], [inf], [-1.0]]), torch.tensor(REAL[:-1])
    got = tw.compile(Module(), (a, x), target="cpu")(a, x)
    torch.testing.assert_close(got, torch.special.gammainc(a, x), equal_nan=True)


@pytest.mark.sweep
def test_incomplete_gamma_functions_have_the_digits_of_float64():
    """Of whole numbers the upper one is a finite sum. PyTorch's own have an error of 4e-10 near 20."""
    from tilewright.torch import compile_fx

    def function(a, x):
        return torch.special.gammainc(a, x), torch.special.gammaincc(a, x)

    a = torch.tensor([1, 2, 5, 19, 20, 21, 40, 90], dtype=torch.float64)
    x = torch.logspace(-3, 2, 60, dtype=torch.float64)
    made = torch.compile(function, backend=compile_fx)(a[:, None], x)
    upper = [[_poisson(int(one), float(each)) for each in x] for one in a]
    wanted = torch.tensor(upper, dtype=torch.float64)
    torch.testing.assert_close(made, (1 - wanted, wanted), rtol=0, atol=1e-12)


def _poisson(count, mean):
    """How probable fewer than `count` events are."""
    return math.fsum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(count))
