"""Operators that are functions of others here, as PyTorch does not decompose them: their results, and gradients."""

from __future__ import annotations

import re
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402

import tilewright as tw  # noqa: E402
from tilewright.torch.backend import compile_fx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


class Calls(torch.nn.Module):
    """A module that calls a function."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *given: torch.Tensor) -> Any:
        return self.function(*given)


def _numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def _definite(*shape: int) -> torch.Tensor:
    a = _numbers(*shape)
    return a @ a.mT + torch.eye(shape[-1])


def _segments(name: str) -> Any:
    return lambda x: torch.segment_reduce(x, name, offsets=torch.tensor([0, 3, 3, 7]), initial=1.5)


_WHOLE = torch.tensor([[1, 2, 0, 2, 1, 1], [0, 0, 1, 2, 2, 0]])
_GAPS = torch.tensor([[1.0, torch.nan, -2.0, 4.0], [3.0, 1.0, 2.0, 0.0]])
_LENGTHS = torch.tensor([[2, 1, 2], [6, 0, 0]])
_BAGS, _ROWS = torch.tensor([0, 3, 3, 5]), torch.tensor([1, 4, 1, 0, 2, 4])

_BITS = torch.tensor([[False, True], [False, True]])

FORWARD: dict[str, tuple[Any, ...]] = {
    "adaptive max pooling": (lambda x: F.adaptive_max_pool2d(x, (3, 4), return_indices=True), _numbers(2, 3, 7, 10)),
    "of a volume": (lambda x: F.adaptive_max_pool3d(x, (2, 1, 3)), _numbers(1, 2, 3, 4, 5)),
    "a smaller image": (lambda x: F.interpolate(x, (3, 5), mode="bilinear", antialias=True), _numbers(1, 2, 7, 9)),
    "a larger one": (lambda x: F.interpolate(x, (9, 5), mode="bicubic", antialias=True), _numbers(1, 2, 7, 9)),
    "an image that goes round": (lambda x: F.pad(x, (2, -1, 1, 3), mode="circular"), _numbers(1, 2, 4, 5)),
    "frequencies": (
        lambda x: (torch.fft.fftfreq(7) * x, torch.fft.fftfreq(8, 0.5), torch.fft.rfftfreq(9, dtype=torch.float64)),
        _numbers(7),
    ),
    "medians": (lambda x: (*x.median(1), *x.nanmedian(1), x.flatten().nanmedian()), _GAPS),
    "diagonals": (
        lambda x, a, b: (x.diagonal_scatter(a, 1, 0, 2), x.diagonal_scatter(b, -2, 2, 0)),
        _numbers(3, 2, 5),
        _numbers(2, 3),
        _numbers(2, 3),
    ),
    "grids": (
        lambda x, y: (*torch.meshgrid(x, y, indexing="ij"), *torch.meshgrid(x, y, x, indexing="xy")),
        _numbers(3),
        _numbers(4),
    ),
    "a rank": (lambda x: x.kthvalue(3, 0), _numbers(5, 2)),
    "modes": (lambda x: x.mode(1), _WHOLE),
    "the largest so far": (lambda x: (*x.cummax(1), *x.cummin(0)), _WHOLE),
    "the largest so far of the least numbers": (
        lambda x, y: (*x.cummax(1), *x.cummin(1), *y.cummax(0), *y.cummin(0)),
        torch.tensor([[-torch.inf, -torch.inf, 1.0, torch.inf], [torch.inf, torch.inf, -torch.inf, 2.0]]),
        torch.tensor([False, False, True, False]),
    ),
    "comparisons of bools": (lambda a, b: (a < b, a <= b, a > b, a >= b, a == b), _BITS, _BITS.mT),
    "logarithms of sums": (lambda x: x.logcumsumexp(1), _numbers(2, 5) * 50),
    "places in order": (
        lambda a, x: torch.searchsorted(a, x, right=True),
        _numbers(2, 5).sort().values,
        _numbers(2, 3),
    ),
    "places of numbers in order": (
        lambda a, x: (
            torch.searchsorted(a, 0.1),
            torch.searchsorted(a, 2, side="right"),
            torch.bucketize(0.1, a),
            torch.bucketize(x, a),
            torch.bucketize(x, a[:0]),
            torch.searchsorted(a, x),
            torch.bucketize(x[0], a),
        ),
        torch.tensor([-1.0, 0.1, 2.0, 2.0]),
        torch.tensor([0.1, 2.0, torch.inf, torch.nan]),
    ),
    "repetitions": (lambda x, n: x.repeat_interleave(n, 0, output_size=6), _numbers(3, 2), torch.tensor([1, 2, 3])),
    "Hermitian spectra": (
        lambda x: (torch.fft.hfftn(torch.fft.ihfftn(x)), torch.view_as_real(torch.fft.ihfft2(x)), torch.fft.hfft(x)),
        _numbers(3, 4),
    ),
    "a rolled image": (lambda x: x.roll((1, -2), (0, 1)), _numbers(3, 4)),
    "windows": (lambda x: x * torch.hamming_window(6) + torch.blackman_window(6, False), _numbers(6)),
    "rows of bounded norm": (lambda w: torch.ops.aten.embedding_renorm(w, _ROWS, 1.0, 3.0), _numbers(5, 3)),
    "slopes": (lambda x: F.rrelu(x), _numbers(5)),
    "a product of two": (lambda x, y, w: F.bilinear(x, y, w), _numbers(4, 2), _numbers(4, 3), _numbers(5, 2, 3)),
}


def _cubic(padding: str, corners: bool) -> Any:
    return lambda x, g: F.grid_sample(x, g, "bicubic", padding, corners)


_CLASSES = torch.tensor([3, 0, 1, 2])
_LABELS = torch.tensor([[0, 2, -1, 1, 1], [-1, 0, 0, 0, 0], [3, 3, 2, 1, 4], [4, -1, 1, -1, 2]])


def _losses(reduction: str) -> Any:
    """Losses of the classes, of the signs, and of the labels."""

    def losses(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        weight, more = torch.arange(1.0, 6.0), {"reduction": reduction}
        return (
            F.cross_entropy(x, _CLASSES, **more),
            F.cross_entropy(x, _CLASSES, weight, ignore_index=1, label_smoothing=0.1, **more),
            F.nll_loss(x.reshape(2, 5, 2), _CLASSES.reshape(2, 2), weight, **more),
            F.margin_ranking_loss(x, y, y.sign(), margin=0.2, **more),
            F.hinge_embedding_loss(x, y.sign(), **more),
            F.multilabel_margin_loss(x, _LABELS, **more),
            F.multilabel_margin_loss(x[0], _LABELS[0], **more),
            F.multilabel_margin_loss(x[0, 0], _LABELS[0, 0], **more),
            F.multi_margin_loss(x, _CLASSES, 2, weight=weight, **more),
        )

    return losses


LOSSES = {f"losses with reduction {one}": (_losses(one), _numbers(4, 5), _numbers(4, 5, seed=1))
          for one in ("none", "sum", "mean")}  # fmt: skip
FORWARD |= LOSSES
GRADIENTS: dict[str, tuple[Any, ...]] = {
    **LOSSES,
    "samples of a volume": (lambda x, g: F.grid_sample(x, g, padding_mode="reflection", align_corners=False),
                            _numbers(1, 2, 3, 4, 5), _numbers(1, 2, 2, 3, 3)),
    **{f"cubic samples with {padding}": (_cubic(padding, corners), _numbers(1, 2, 4, 5), _numbers(1, 3, 2, 2))
       for padding, corners in (("zeros", True), ("border", False), ("reflection", False))},
    "nearest samples": (lambda x, g: F.grid_sample(x, g, mode="nearest", align_corners=True),
                        _numbers(1, 2, 4, 5), _numbers(1, 3, 2, 2)),
    "nearest pixels": (lambda x: F.interpolate(x, scale_factor=2), _numbers(1, 2, 3, 4)),
    "pixels between": (lambda x: F.interpolate(x, (5, 3), mode="bilinear"), _numbers(1, 2, 3, 4)),
    "cubic pixels": (lambda x: F.interpolate(x, (5, 3), mode="bicubic", align_corners=True), _numbers(1, 2, 3, 4)),
    "a transposed convolution": (
        lambda x, w: F.conv_transpose2d(x, w, None, (3, 2), (1, 0), (2, 1), 2, (1, 2)),
        _numbers(2, 4, 3, 5), _numbers(4, 3, 3, 3)),
    "largest windows": (lambda x: F.adaptive_max_pool2d(x, (2, 3)), _numbers(1, 2, 5, 7)),
    "means of a volume": (lambda x: F.adaptive_avg_pool3d(x, (2, 2, 3)) + F.avg_pool3d(x, 3, 2, 1)[..., :3],
                          _numbers(1, 2, 3, 4, 5)),
    "distances": (lambda x, y: (torch.cdist(x, y), torch.cdist(x, y, 3.0), F.pdist(x, 1.0)),
                  _numbers(3, 4), _numbers(5, 4, seed=1)),
    "a norm of weights": (lambda v, g: torch._weight_norm(v, g, 0), _numbers(4, 3), _numbers(4, 1)),
    "bags": (lambda w: F.embedding_bag(_ROWS, w, _BAGS, mode="mean", padding_idx=1),
             _numbers(5, 3)),
    "weights in bags": (
        lambda w, p: F.embedding_bag(_ROWS, w, _BAGS, mode="sum", padding_idx=1, per_sample_weights=p),
        _numbers(5, 3), _numbers(6)),
    "a row": (lambda w: F.embedding(torch.tensor(3), w), _numbers(5, 3)),
    "windows at random": (
        lambda x: F.fractional_max_pool2d(x, 3, (4, 5), _random_samples=torch.tensor([[[0.3, 0.6], [0.9, 0.1]]])),
        _numbers(1, 2, 9, 11)),
    "windows of a volume at random": (
        lambda x: F.fractional_max_pool3d(x, 2, (4, 1, 3), _random_samples=torch.tensor([[[0.3, 0.6, 0.9]]])),
        _numbers(1, 1, 9, 7, 8)),
    **{f"{name} of segments": (_segments(name), _numbers(7, 3)) for name in ("sum", "mean", "max", "min", "prod")},
    "a product of segments with 0": (_segments("prod"), _numbers(7, 2).round()),
    "the largest of bags": (lambda w: F.embedding_bag(_ROWS, w, _BAGS, mode="max", padding_idx=1), _numbers(5, 3)),
    "a triangle": (lambda a: torch.linalg.cholesky(a), _definite(2, 4, 4)),
    "a view of memory": (lambda x, y: torch.as_strided_scatter(x, y, (2, 3), (1, 2), 1), _numbers(4, 4), _numbers(2, 3)),
    "segments and what is in none": (
        lambda x: torch.segment_reduce(x, "mean", lengths=_LENGTHS, axis=1, unsafe=True, initial=2.0), _numbers(2, 6, 3)),
    "an inverse": (lambda a: torch.linalg.inv(a), _definite(2, 3, 3)),
    "equations": (lambda a, b: torch.linalg.solve(a, b), _numbers(3, 3), _numbers(3, 2)),
    "from the right": (lambda a, b: torch.linalg.solve(a.mT, b, left=False), _numbers(3, 3), _numbers(2, 3)),
    "a determinant": (lambda a: (a.det(), a.slogdet().logabsdet), _numbers(2, 4, 4)),
    "a frequency": (lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2), _numbers(2, 8)),
}  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("name", FORWARD)
def test_results(name: str) -> None:
    function, *given = FORWARD[name]
    made = tw.compile(Calls(function), tuple(given), target="cpu")(*given)
    wanted = function(*given)
    torch.testing.assert_close(made, tuple(wanted) if isinstance(wanted, tuple) else wanted, equal_nan=True)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.sweep if one == "samples of a volume" else ()) for one in GRADIENTS]
)
def test_gradients(name: str) -> None:
    torch.compiler.reset()
    function, *given = GRADIENTS[name]
    found: list[Any] = []
    for one in (torch.compile(function, backend=compile_fx, dynamic=False), function):
        inputs = [x.clone().requires_grad_() for x in given]
        made = one(*inputs)
        made = made if isinstance(made, tuple) else (made,)
        sum((y * torch.linspace(-1, 2, y.numel()).reshape(y.shape)).sum() for y in made).backward()
        found.append([*made, *(x.grad for x in inputs)])
    torch.testing.assert_close(*found, rtol=1e-4, atol=1e-4)


REFUSED: dict[str, tuple[Any, ...]] = {
    "(aten.linalg_inv_ex.default): expected matrices of at most 2048 rows or columns, and of 4096 of the other, "
    "got 2049 x 2049": (lambda a: torch.linalg.inv(a), torch.eye(2049)),
    "(aten.cholesky_solve.default): expected matrices of at most 2048 rows or columns, and of 4096 of the other, "
    "got 2 x 4097": (lambda a, b: torch.cholesky_solve(b, a), torch.eye(2), torch.ones(2, 4097)),
    "(aten._linalg_svd.default): expected matrices of at most 1024 rows or columns, and of 4096 of the other, "
    "got 1026 x 1025": (lambda x: torch.linalg.svdvals(x), _numbers(1026, 1025)),
    "(aten.linalg_inv_ex.default): expected matrices of real numbers, got complex ones":
        (lambda a: torch.linalg.inv(torch.complex(a, a)), _numbers(2, 2)),
    "(aten._linalg_eigh.default): expected matrices of real numbers, got complex ones":
        (lambda a: torch.linalg.eigvalsh(torch.complex(a, a)), _numbers(2, 2)),
    "(aten.linalg_lu_factor_ex.default): expected a factorisation with pivots, got one without":
        (lambda a: torch.linalg.lu_factor_ex(a, pivot=False), _numbers(2, 2)),
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused(message: str) -> None:
    function, *given = REFUSED[message]
    with pytest.raises(tw.CompileError, match=re.escape(message)):
        tw.compile(Calls(function), tuple(given), target="cpu")


@pytest.mark.sweep
def test_places_among_a_symbolic_number() -> None:
    """As many as an extent is, or as data decide."""

    def places(x: torch.Tensor, a: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.bucketize(x, a), torch.bucketize(x, a[a > 0], right=True)

    given = _numbers(3), _numbers(5).sort().values
    model = tw.compile(Calls(places), given, target="cpu", dynamic_shapes=(({}, {0: "n"}),))
    torch.testing.assert_close(model(*given), places(*given))
    given = _numbers(3), _numbers(8, seed=1).sort().values
    torch.testing.assert_close(model(*given), places(*given))


@pytest.mark.sweep
def test_a_batch_that_is_symbolic() -> None:
    class Images(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.instance_norm(x, weight=torch.ones(4) * 2).roll(2, 0)

    model = tw.compile(Images(), (_numbers(3, 4, 5, 5),), target="cpu", dynamic_shapes=({0: "batch"},))
    for batch in (3, 5):
        x = _numbers(batch, 4, 5, 5)
        torch.testing.assert_close(model(x), Images()(x), rtol=1e-4, atol=1e-5)


@pytest.mark.sweep
def test_windows_of_a_signal_whose_batch_is_symbolic() -> None:
    class Spectrum(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.stft(x, 8, 4, window=torch.hann_window(8), return_complex=True).abs()

    model = tw.compile(Spectrum(), (_numbers(3, 24),), target="cpu", dynamic_shapes=({0: "batch"},))
    for batch in (3, 5):
        x = _numbers(batch, 24)
        torch.testing.assert_close(model(x), Spectrum()(x), rtol=1e-4, atol=1e-5)
