"""Complex numbers in models of PyTorch: rotary embeddings as Llama's own code has them, and Fourier transforms."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import tilewright as tw  # noqa: E402
from tilewright.torch.backend import compile_fx  # noqa: E402


class Rotary(nn.Module):
    """Queries turned by angles that a complex buffer has."""

    frequencies: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        angles = torch.outer(torch.arange(16.0), 10000.0 ** (-torch.arange(0, 8, 2) / 8))
        self.register_buffer("frequencies", torch.polar(torch.ones_like(angles), angles))
        self.query = nn.Linear(16, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q = self.query(x).view(2, 6, 2, 8)
        turned = torch.view_as_complex(q.reshape(2, 6, 2, 4, 2)) * self.frequencies[:6].view(1, 6, 1, 4)
        return torch.view_as_real(turned).flatten(3)


class Filter(nn.Module):
    """A convolution over the whole sequence, by its spectrum."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.length = length
        self.weight = nn.Parameter(torch.randn(length // 2 + 1, 4, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        spectrum = torch.fft.rfft(x, dim=1, norm="ortho") * torch.view_as_complex(self.weight)
        return torch.fft.irfft(spectrum, n=self.length, dim=1, norm="ortho")


class Spectra(nn.Module):
    """Transforms of two axes, and arithmetic on them."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        half = torch.fft.rfft2(x)
        back = torch.fft.irfft2(half, s=x.shape[-2:]) + torch.fft.ifft2(torch.fft.fft2(x)).abs()
        return back, (half / (half.conj() + 2)).real, torch.exp(1j * x).imag, (half - 1.5).abs(), half.mean(-1).imag


class Parts(nn.Module):
    """Complex inputs and results."""

    def forward(self, z: torch.Tensor, w: torch.Tensor) -> tuple[torch.Tensor, ...]:
        chosen = torch.where(z.real > 0, z, w)
        return z * w + 1j, z.conj() @ w.transpose(0, 1), torch.cat([chosen, w.real.to(z.dtype)]), 2.0 * z / w.imag


MODELS: dict[str, Any] = {
    "rotary": lambda: (Rotary(), (torch.randn(2, 6, 16),)),
    "filter of an odd length": lambda: (Filter(17), (torch.randn(2, 17, 4),)),
    "filter of an even length": lambda: (Filter(10), (torch.randn(2, 10, 4),)),
    "spectra": lambda: (Spectra(), (torch.randn(2, 5, 6),)),
    "parts": lambda: (Parts(), (torch.randn(3, 4, dtype=torch.complex64), torch.randn(3, 4, dtype=torch.complex64))),
}
LONG = {"filter of an even length", "spectra"}


def parts(x: torch.Tensor) -> torch.Tensor:
    return torch.view_as_real(x.resolve_conj()) if x.is_complex() else x


@pytest.mark.sweep
@pytest.mark.parametrize("through", ["tw.compile", "torch.compile"])
@pytest.mark.parametrize("name", [pytest.param(one, marks=pytest.mark.sweep if one in LONG else ()) for one in MODELS])
def test_complex_numbers(name: str, through: str) -> None:
    torch.manual_seed(0)
    torch.compiler.reset()
    model, inputs = MODELS[name]()
    with torch.no_grad():
        wanted = model(*inputs)
        if through == "tw.compile":  # what is complex goes in and comes out as view_as_real
            made = tw.compile(model, inputs, target="cpu")(*map(parts, inputs))
        else:
            made = torch.compile(model, backend="tilewright")(*inputs)
    wanted, made = (one if isinstance(one, tuple) else (one,) for one in (wanted, made))
    for ours, theirs in zip(made, wanted, strict=True):
        torch.testing.assert_close(parts(ours), parts(theirs), rtol=0, atol=2e-5 * float(theirs.abs().max()))


class Angles(nn.Module):
    """Angles of numbers, and of a spectrum whose first and last numbers are real: of negative ones they are pi."""

    def forward(self, z: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return z.angle(), torch.fft.rfft(x).angle()


@pytest.mark.sweep
def test_angles() -> None:
    z, x = torch.randn(3, 4, dtype=torch.complex64), torch.tensor([[1.0, 2.0, 5.0, 0.5], [-2.0, -1.0, -4.0, -3.0]])
    model = Angles()
    made = tw.compile(model, (z, x), target="cpu")(parts(z), x)
    torch.testing.assert_close(made, model(z, x), rtol=0, atol=1e-6)


class Functions(nn.Module):
    """Functions with a branch along the negative real numbers, and comparisons."""

    def forward(self, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
        negative = torch.complex(-z.real.abs(), z.real * 0)
        chosen = torch.where(z.real > 0, z, z.conj())
        return z.log(), z.sqrt(), negative.sqrt(), (z * 0).sqrt(), z.reciprocal(), z == chosen, (z / 0).isnan()


@pytest.mark.sweep
def test_functions_of_complex_numbers() -> None:
    z = torch.randn(3, 4, dtype=torch.complex64)
    made = tw.compile(Functions(), (z,), target="cpu")(parts(z))
    for ours, theirs in zip(made, Functions()(z), strict=True):
        torch.testing.assert_close(ours, parts(theirs), rtol=1e-5, atol=1e-5)


class SymbolicSpectra(nn.Module):
    """Transforms of a symbolic axis: of reals, of all frequencies, back, and with each norm."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        n = x.shape[-1]
        half = torch.fft.rfft(x, norm="ortho")
        whole = torch.fft.fft2(x, norm="forward")
        return half.abs(), torch.fft.irfft(half * 2, n=n), whole.real, torch.fft.ifft(whole).imag


@pytest.mark.sweep
def test_transforms_of_a_symbolic_axis() -> None:
    module = SymbolicSpectra()
    compiled = torch.compile(module, backend=compile_fx, dynamic=True, fullgraph=True)
    for length in (9, 8, 2, 30):
        x = torch.randn(3, length)
        for ours, theirs in zip(compiled(x), module(x.double()), strict=True):
            torch.testing.assert_close(ours.double(), theirs, rtol=0, atol=3e-6 * float(theirs.abs().max()) + 1e-7)


def _check(function: Any, *given: torch.Tensor) -> None:
    """Compares a compiled function and its gradients with PyTorch."""
    torch.compiler.reset()
    found: list[Any] = []
    for one in (function, torch.compile(function, backend=compile_fx, fullgraph=True)):
        inputs = [x.clone().requires_grad_(x.is_floating_point() or x.is_complex()) for x in given]
        made = one(*inputs)
        made = list(made) if isinstance(made, tuple) else [made]
        wanted = [x for x in made if x.requires_grad]
        if wanted:
            sum((parts(x).square().sum() for x in wanted), torch.zeros((), dtype=torch.float64)).backward()
        found.append([parts(x.detach()) for x in made] + [parts(x.grad) for x in inputs if x.grad is not None])
    for theirs, ours in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


def _long(x: torch.Tensor, z: torch.Tensor) -> tuple[torch.Tensor, ...]:
    half = torch.fft.rfft(x, norm="ortho")
    return half, torch.fft.irfft(half * 2, n=x.shape[-1]), torch.fft.fft(z, dim=0), torch.fft.ifft(z, dim=0)


@pytest.mark.sweep
@pytest.mark.parametrize("length", [260, 259, 257, 514])
def test_transforms_of_a_long_axis(length: int) -> None:
    """By factors of the length, where it has some: 257 is prime, and 514 is twice that."""
    x = torch.randn(2, length, dtype=torch.float64)
    _check(_long, x, torch.randn(length, 2, dtype=torch.complex128))


NAMES = (
    "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos", "atan", "asinh", "acosh", "atanh", "log2", "log10",
    "log1p", "expm1", "sigmoid", "rsqrt", "square", "exp2",
)  # fmt: skip


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", NAMES)
def test_a_function(name: str) -> None:
    torch.manual_seed(0)
    z = torch.cat([torch.randn(12, dtype=torch.complex128) * 2, torch.tensor([0.5, -0.5, 1e-3j, 0.4 - 2j])])
    _check(getattr(torch, name), z)


@pytest.mark.sample(1)
@pytest.mark.parametrize("b", [2, -3, 0.5, 1.5 - 1j, "tensor"], ids=str)
def test_powers(b: Any) -> None:
    torch.manual_seed(1)
    z, w = torch.randn(2, 7, dtype=torch.complex128)
    if b == "tensor":
        _check(torch.pow, z, w)
        _check(lambda w: torch.pow(2.5, w), w)
    else:
        _check(lambda z: z**b, z)


@pytest.mark.sweep
def test_products() -> None:
    torch.manual_seed(2)
    a, b, c = torch.randn(3, 5, 5, dtype=torch.complex128)
    _check(lambda a, b, c: (torch.addmm(c, a, b, beta=2, alpha=1j), torch.vdot(a[0], b[1]), a.prod(1)), a, b, c)
    _check(lambda a, b: (torch.baddbmm(a[None], a[None], b[None]), b.cumprod(0), b.prod()), a, b)
    _check(lambda a: torch.linalg.matrix_exp(a), a)


@pytest.mark.sweep
def test_elements_that_are_moved_and_chosen() -> None:
    torch.manual_seed(3)
    z, w = torch.randn(2, 4, 4, dtype=torch.complex128)
    places = torch.tensor([[1, 0, 3, 2]] * 4)
    pad = torch.nn.functional.pad
    _check(lambda z: (pad(z, (1, 1), value=2.0), z.diagonal(), torch.diag_embed(z[0]), z.exp() * 1j), z)
    _check(lambda z, w: (z.scatter(0, places, w), z.scatter(0, places, 3.0), z.index_put((places[0],), w)), z, w)
    _check(lambda z, w: (z != w, z.bool(), (z * 1j).real.bool(), torch.logical_and(z, w.real > 0), ~z.bool()), z, w)
    _check(lambda z: (z.var(0), torch.var_mean(z, 1)[1], torch.full_like(z, 2j), torch.ones_like(z) - z), z)
    _check(lambda z, x: torch.fft.ifft(torch.fft.fft(z) * torch.exp(1j * x)), z, w.real.clone())


@pytest.mark.sweep
def test_large_and_small_numbers() -> None:
    z = torch.tensor([1e-200 + 1e-200j, 1e200 - 3e200j, 1e300, 0, complex("inf"), complex("-inf+nanj"), 3j])
    w = torch.tensor([2e-200 - 1e-200j, 1e200 + 1e200j, 1j, 2, 1, 1, 1e200], dtype=torch.complex128)
    z = z.to(torch.complex128)
    made = torch.compile(lambda z, w: (z.abs(), z[:4] / w[:4]), backend=compile_fx)(z, w)
    for ours, theirs in zip(made, (z.abs(), z[:4] / w[:4]), strict=True):
        torch.testing.assert_close(parts(ours), parts(theirs), rtol=1e-14, atol=0, equal_nan=True)


def test_what_complex_numbers_cannot() -> None:
    class Model(nn.Module):
        def forward(self, z: torch.Tensor) -> torch.Tensor:
            return torch.view_as_real(torch.linalg.eigvals(z))

    with pytest.raises(tw.CompileError) as caught:
        tw.compile(Model(), (torch.randn(3, 3, dtype=torch.complex64),), target="cpu")
    line = test_what_complex_numbers_cannot.__code__.co_firstlineno + 3
    assert str(caught.value) == (f"{__file__}:{line} (aten.linalg_eig.default): the operator is not supported")
