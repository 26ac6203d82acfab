"""torch.linalg in a model: factors, solutions, eigenvalues and singular values, beside PyTorch in float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import tilewright as tw  # noqa: E402
from tilewright.torch import compile_fx, linear_algebra  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
linalg = torch.linalg
Function = Callable[..., Any]


def _numbers(*shape: int, dtype: Any = torch.float32) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=dtype)


def _definite(n: int, *batch: int) -> torch.Tensor:
    a = _numbers(*batch, n, n)
    return a @ a.mT / n + torch.eye(n)


def _compiled(function: Function) -> Function:
    torch._dynamo.reset()
    return torch.compile(function, backend=compile_fx, fullgraph=True, dynamic=False)


def _results(made: Any) -> tuple[torch.Tensor, ...]:
    return tuple(made) if isinstance(made, (tuple, list)) else (made,)


def _check(function: Function, *given: torch.Tensor) -> None:
    """The error beside float64 is a few times PyTorch's, or some roundings of the largest element."""
    made, own = _results(_compiled(function)(*given)), _results(function(*given))
    exact = _results(function(*(x.double() if x.is_floating_point() else x for x in given)))
    assert len(made) == len(own)
    for one, other, wanted in zip(made, own, exact):
        assert (one.shape, one.dtype) == (other.shape, other.dtype)
        if not one.is_floating_point():
            torch.testing.assert_close(one, other)
        elif one.numel():
            roundings = 16 * torch.finfo(one.dtype).eps * float(wanted.abs().max())
            bound = 8 * float((other - wanted).abs().max()) + roundings
            assert float((one - wanted).abs().max()) <= bound


def _products(factors: Any) -> tuple[torch.Tensor, ...]:
    """What of singular vectors does not depend on their signs."""
    u, s, v = factors
    return (u[..., : s.shape[-1]] * s.unsqueeze(-2)) @ v[..., : s.shape[-1], :], u.mT @ u, v @ v.mT, s


def _eigen(factors: Any) -> tuple[torch.Tensor, ...]:
    values, vectors = factors
    return values, (vectors * values.unsqueeze(-2)) @ vectors.mT, vectors.mT @ vectors


CASES: dict[str, Callable[[int], tuple[Any, ...]]] = {
    "cholesky": lambda n: (lambda a: (linalg.cholesky(a), linalg.cholesky(a, upper=True)), _definite(n, 2)),
    "cholesky_solve": lambda n: (lambda a, b: torch.cholesky_solve(b, linalg.cholesky(a)), _definite(n), _numbers(n, 3)),
    "cholesky_inverse": lambda n: (lambda a: torch.cholesky_inverse(linalg.cholesky(a)), _definite(n, 2)),
    "lu": lambda n: (lambda a: (*linalg.lu(a), *linalg.lu_factor(a)), _numbers(2, n, n + 3)),
    "lu_tall": lambda n: (lambda a: (*linalg.lu(a), *linalg.lu_factor(a)), _numbers(n + 3, n)),
    "lu_solve": lambda n: (
        lambda a, b: (linalg.lu_solve(*linalg.lu_factor(a), b), linalg.lu_solve(*linalg.lu_factor(a), b, adjoint=True)),
        _definite(n, 2), _numbers(n, 3)),
    "solve": lambda n: (linalg.solve, _definite(n), _numbers(n, 3)),
    "solve_vector": lambda n: (linalg.solve, _definite(n), _numbers(n)),
    "solve_right": lambda n: (lambda a, b: linalg.solve(a, b, left=False), _definite(n), _numbers(2, 3, n)),
    "solve_triangular": lambda n: (
        lambda a, b: (linalg.solve_triangular(a, b, upper=True), linalg.solve_triangular(a, b.mT, upper=False, left=False)),
        _definite(n, 2), _numbers(n, 3)),
    "inv": lambda n: (linalg.inv, _definite(n, 2)),
    "det": lambda n: (lambda a: (a.det(), *linalg.slogdet(a)), _numbers(2, n, n) / n**0.5),
    "qr": lambda n: (lambda a: (*linalg.qr(a), *linalg.qr(a, mode="complete")), _numbers(2, n + 2, n)),
    "geqrf": lambda n: (lambda a: (*torch.geqrf(a), linalg.householder_product(*torch.geqrf(a))), _numbers(n, n - 1)),
    "ormqr": lambda n: (
        lambda a, b: (torch.ormqr(*torch.geqrf(a), b), torch.ormqr(*torch.geqrf(a), b.mT, left=False, transpose=True)),
        _numbers(n, n - 1), _numbers(n, 3)),
    "eigh": lambda n: (lambda a: _eigen(linalg.eigh(a)), _numbers(2, n, n)),
    "eigvalsh": lambda n: (lambda a: (linalg.eigvalsh(a), linalg.eigvalsh(a, UPLO="U")), _numbers(n, n)),
    "svd": lambda n: (lambda a: _products(linalg.svd(a, full_matrices=False)), _numbers(2, n + 3, n)),
    "svd_full": lambda n: (lambda a: _products(linalg.svd(a)), _numbers(n, n + 3)),
    "svd_of_less_rank": lambda n: (lambda a: _products(linalg.svd(a @ a.mT)), _numbers(n, n // 2)),
    "svdvals": lambda n: (linalg.svdvals, _numbers(2, n, n + 1)),
    "pinv": lambda n: (lambda a: (linalg.pinv(a), linalg.pinv(a, rtol=0.3)), _numbers(n, n // 2)),
    "pinv_hermitian": lambda n: (lambda a: linalg.pinv(a @ a.mT, hermitian=True, rtol=1e-4), _numbers(n, n // 2)),
    "lstsq": lambda n: (linalg.lstsq, _numbers(2, n + 3, n), _numbers(2, n + 3, 2)),
    "lstsq_gels": lambda n: (lambda a, b: linalg.lstsq(a, b, driver="gels"), _numbers(n + 3, n), _numbers(n + 3)),
    "lstsq_gelsd": lambda n: (lambda a, b: linalg.lstsq(a, b, driver="gelsd"), _numbers(n + 3, n), _numbers(n + 3, 2)),
    "lstsq_wide": lambda n: (
        lambda a, b: (*linalg.lstsq(a, b)[:3], linalg.lstsq(a, b, driver="gels").solution),
        _numbers(2, n, n + 3), _numbers(2, n)),
    "lstsq_of_less_rank": lambda n: (
        lambda a, b: linalg.lstsq(a @ a.mT, b, rcond=1e-4)[:3], _numbers(n, n // 2), _numbers(n, 2)),
    "matrix_exp": lambda n: (torch.matrix_exp, _numbers(2, n, n)),
    "matrix_norm": lambda n: (lambda a: tuple(linalg.matrix_norm(a, p) for p in (2, -2, "nuc")), _numbers(2, n, n)),
    "cond": lambda n: (lambda a: (linalg.cond(a), linalg.cond(a, 1)), _definite(n)),
    "matrix_rank": lambda n: (
        lambda a: (linalg.matrix_rank(a @ a.mT), linalg.matrix_rank(a @ a.mT, hermitian=True)), _numbers(2, n, n // 2)),
}  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("case", [f"{name}-{size}" for name in CASES for size in (4, 7, 40)])
def test_results(case: str) -> None:
    name, size = case.split("-")
    _check(*CASES[name](int(size)))


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["eigh", "svd", "svd_of_less_rank", "pinv"])
def test_results_in_float64(name: str) -> None:
    function, *given = CASES[name](20)
    _check(function, *(one.double() for one in given))


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["eigh", "svd", "svdvals"])
def test_eigenvalues_of_many_rows(name: str) -> None:
    _check(*CASES[name](150))


@pytest.mark.sweep
def test_gradients_of_least_squares_in_float64() -> None:
    """PyTorch gives no gradient of the results that the loss does not need."""
    found: list[torch.Tensor] = []
    for function in (_compiled(linalg.lstsq), linalg.lstsq):
        given = [_numbers(6, n, dtype=torch.float64).requires_grad_() for n in (3, 2)]
        function(*given)[0].square().sum().backward()
        found += [one.grad for one in given]
    torch.testing.assert_close(found[:2], found[2:])


@pytest.mark.sweep
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_eigenvalues_of_small_and_large_numbers(scale: float) -> None:
    _check(lambda a: linalg.eigh(a).eigenvalues, (_numbers(9, 9) * scale))
    _check(lambda a: linalg.eigh(a).eigenvalues, torch.zeros(3, 3))
    _check(lambda a: linalg.eigh(a).eigenvalues, torch.tensor([[scale]]))


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["qr", "geqrf", "cholesky", "lu", "lu_tall", "lu_solve", "inv", "det", "lstsq_gels"])
def test_factors_by_halves(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_algebra, "WHOLE", 9)
    _check(*CASES[name](21))


class Exponential(torch.nn.Module):
    def forward(self, a: torch.Tensor) -> torch.Tensor:
        return torch.matrix_exp(a)


class Solve(torch.nn.Module):
    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return linalg.solve(a, b)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "size", [100, pytest.param(512, marks=pytest.mark.sweep), pytest.param(1024, marks=pytest.mark.sweep)]
)
def test_equations_of_many_rows_in_a_small_program(size: int) -> None:
    a, b = _definite(size), _numbers(size, 2)
    model = tw.compile(Solve(), (a, b), target="cpu")
    torch.testing.assert_close(model(a, b), linalg.solve(a.double(), b.double()).float(), rtol=1e-4, atol=1e-4)
    # Matrices of up to 256 rows are factored by one operator, larger ones by halves of such.
    assert len(model.ir("graph").splitlines()) < 40 * -(-size // 256)


@pytest.mark.sweep
def test_exponentials_have_few_matmuls() -> None:
    model = tw.compile(Exponential(), (_numbers(5, 5),), target="cpu")
    assert model.ir("graph").count("graph.matmul") == 6 + 12


@pytest.mark.sweep
def test_batches_that_are_symbolic() -> None:
    a, b = _definite(5, 3), _numbers(3, 5, 2)
    model = tw.compile(Solve(), (a, b), target="cpu", dynamic_shapes=({0: "n"}, {0: "n"}))
    for count in (3, 1, 4):
        a, b = _definite(5, count), _numbers(count, 5, 2)
        torch.testing.assert_close(model(a, b), linalg.solve(a, b), rtol=1e-4, atol=1e-5)


GRADIENTS: dict[str, tuple[Any, ...]] = {
    "solve": (linalg.solve, _definite(6), _numbers(6, 2)),
    "cholesky": (linalg.cholesky, _definite(6, 2)),
    "qr": (lambda a: tuple(linalg.qr(a)), _numbers(7, 4)),
    "lu": (lambda a: tuple(linalg.lu(a))[1:], _numbers(5, 5)),
    "eigvalsh": (lambda a: linalg.eigvalsh(a + a.mT), _numbers(5, 5)),
    "svdvals": (linalg.svdvals, _numbers(5, 4)),
    "pinv": (linalg.pinv, _numbers(6, 3)),
    "matrix_norm": (lambda a: linalg.matrix_norm(a, 2), _numbers(4, 5)),
    "lstsq": (lambda a, b: linalg.lstsq(a, b).solution, _numbers(6, 4), _numbers(6, 2)),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    function, *given = GRADIENTS[name]
    found: list[Any] = []
    for one in (_compiled(function), function):
        inputs = [x.clone().requires_grad_() for x in given]
        made = _results(one(*inputs))
        sum((y * torch.linspace(-1, 2, y.numel()).reshape(y.shape)).sum() for y in made).backward()
        found.append([x.grad for x in inputs])
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-3)


EMPTY: dict[str, tuple[Any, ...]] = {
    "no rows": (
        lambda a, b: (linalg.inv(a), a.det(), linalg.solve(a, b), linalg.cholesky(a), *linalg.slogdet(a),
                      *linalg.qr(a), *linalg.eigh(a), linalg.svdvals(a), linalg.pinv(a), *linalg.lstsq(a, b)),
        torch.ones(0, 0), torch.ones(0, 2)),
    "no matrices": (
        lambda a, b: (linalg.inv(a), a.det(), linalg.solve(a, b), linalg.cholesky(a), *linalg.qr(a), *linalg.lu(a),
                      *linalg.eigh(a), *linalg.svd(a), linalg.pinv(a)),
        torch.ones(0, 3, 3), torch.ones(0, 3, 2)),
    "no columns": (
        lambda a, b: (*linalg.qr(a, mode="complete"), *linalg.svd(a), linalg.pinv(a), linalg.matrix_rank(a),
                      *linalg.lu(a)),
        torch.ones(2, 3, 0), torch.ones(1)),
}  # fmt: skip


@pytest.mark.sweep
@pytest.mark.parametrize("name", EMPTY)
def test_empty_matrices(name: str) -> None:
    function, *given = EMPTY[name]
    made, wanted = _results(_compiled(function)(*given)), _results(function(*given))
    torch.testing.assert_close(made, wanted)
