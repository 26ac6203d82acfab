"""Random numbers in graphs of torch.compile: their distribution, and how they depend on the seed."""

from __future__ import annotations

import math

import pytest

import tilewright as tw

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")


def _compiled(function):
    from tilewright.torch.backend import compile_fx

    return torch.compile(function, backend=compile_fx)


def test_a_seed_decides_what_is_drawn():
    drawn = _compiled(lambda: (torch.rand(64, dtype=torch.float64), torch.rand(64, dtype=torch.float64)))
    torch.manual_seed(3)
    first, second = drawn()
    assert not torch.equal(first, second) and not torch.equal(first, drawn()[0])
    torch.manual_seed(3)
    again = drawn()
    assert torch.equal(first, again[0]) and torch.equal(second, again[1])


def test_whole_numbers_and_chances():
    torch.manual_seed(0)
    whole, chances = _compiled(lambda: (torch.randint(-2, 3, (5000,)), torch.bernoulli(torch.full((5000,), 0.25))))()
    assert whole.dtype == torch.int64 and sorted(set(whole.tolist())) == [-2, -1, 0, 1, 2]
    assert (whole + 2).bincount().min() > 850  # five standard deviations below 1,000
    assert set(chances.tolist()) == {0.0, 1.0} and abs(float(chances.mean()) - 0.25) < 0.031


def test_dropout_s_gradient_has_the_mask_of_its_result():
    x = torch.ones(40, 50, requires_grad=True)
    torch.manual_seed(1)
    y = _compiled(lambda x: torch.nn.functional.dropout(x, 0.25) * 3)(x)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())
    assert set(y.unique().tolist()) == {0.0, 4.0} and abs(float((y == 0).float().mean()) - 0.25) < 0.049


@pytest.mark.sample(1)
@pytest.mark.parametrize("is_causal", [False, True])
def test_dropout_of_attention(is_causal):
    """What is dropped is seen by values that are an identity; the gradients are those of what stays."""
    attend = _compiled(
        lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(
            q, k, v, dropout_p=0.25, is_causal=is_causal
        )
    )  # fmt: skip
    q, k, v, head = torch.randn(4, 2, 3, 40, 40, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(1)
    kept = attend(q, k, torch.eye(40, dtype=torch.float64).expand_as(v)) > 0
    seen = torch.ones(40, 40, dtype=torch.bool).tril() if is_causal else torch.ones(40, 40, dtype=torch.bool)
    assert abs(float(kept[..., seen].double().mean()) - 0.75) < 0.03
    given = [one.clone().requires_grad_() for one in (q, k, v)]
    torch.manual_seed(1)
    made = attend(*given)
    ours = torch.autograd.grad(made, given, head)
    scores = (given[0] @ given[1].mT * 40**-0.5).masked_fill(~seen, -torch.inf)
    exact = torch.where(kept, torch.softmax(scores, -1) / 0.75, 0.0) @ given[2]
    torch.testing.assert_close(made, exact)
    torch.testing.assert_close(ours, torch.autograd.grad(exact, given, head))


def _shares(x, classes):
    return torch.nn.functional.one_hot(x.flatten(), classes).double().mean(0)


@pytest.mark.sweep
def test_classes():
    weights = torch.tensor([1.0, 0.0, 2.0, 5.0])

    def draw(weights):
        rows = weights.expand(20_000, 4)
        logits = weights.log()
        return (
            torch.multinomial(rows, 1), torch.multinomial(weights, 20_000, replacement=True),
            torch.multinomial(rows, 3), torch.distributions.Categorical(logits=logits).sample((20_000,)),
        )  # fmt: skip

    torch.manual_seed(2)
    one, many, distinct, categories = _compiled(draw)(weights)
    for found in (one, many, categories):
        torch.testing.assert_close(_shares(found, 4), weights.double() / 8, rtol=0, atol=0.018)  # five deviations
    assert distinct.shape == (20_000, 3) and distinct.dtype == torch.int64
    assert torch.equal(distinct.sort(-1).values, torch.tensor([0, 2, 3]).expand(20_000, 3))
    torch.testing.assert_close(_shares(distinct[:, 0], 4), weights.double() / 8, rtol=0, atol=0.018)


@pytest.mark.sweep
def test_counts():
    n = 40_000

    def draw():
        rates, trials = torch.tensor([0.0, 3.0, 50.0]), torch.tensor([20.0, 200.0, 7.0])
        chances = torch.tensor([0.1, 0.7, 1.0])
        return torch.poisson(rates.expand(n, 3)), torch.binomial(trials.expand(n, 3), chances.expand(n, 3))

    torch.manual_seed(5)
    found = torch.cat(_compiled(draw)(), 1).double()
    for numbers, (mean, variance) in zip(found.T, [(0, 0), (3, 3), (50, 50), (2, 1.8), (140, 42), (7, 0)], strict=True):
        assert abs(float(numbers.mean()) - mean) <= 5 * (variance / n) ** 0.5
        assert float(numbers.var()) == pytest.approx(variance, rel=0.05)
        assert torch.equal(numbers, numbers.floor()) and numbers.min() >= 0
    shares = _shares(found[:, 3].long(), 21)  # of 20 trials, with a chance of 0.1
    wanted = torch.tensor([math.comb(20, k) * 0.1**k * 0.9 ** (20 - k) for k in range(21)], dtype=torch.float64)
    torch.testing.assert_close(shares, wanted, rtol=0, atol=0.0125)  # five deviations


@pytest.mark.sweep
def test_distributions():
    n = 40_000

    def draw():
        d = torch.distributions
        gammas = d.Gamma(torch.tensor([0.5, 3.0]), torch.tensor([1.0, 2.0])).sample((n,))
        shares = d.Dirichlet(torch.tensor([1.0, 3.0])).sample((n,))
        return (
            torch.normal(2.0, 3.0, (n,)), torch.empty(n).uniform_(-1, 3), torch.zeros(n).normal_(1, 0.5),
            gammas[:, 0], gammas[:, 1], shares[:, 0], shares[:, 1], d.Beta(2.0, 3.0).sample((n,)),
        )  # fmt: skip

    torch.manual_seed(5)
    moments = [(2, 9), (1, 4 / 3), (1, 0.25), (0.5, 0.5), (1.5, 0.75), (0.25, 0.0375), (0.75, 0.0375), (0.4, 0.04)]
    for found, (mean, variance) in zip(_compiled(draw)(), moments, strict=True):
        assert abs(float(found.mean()) - mean) < 5 * (variance / n) ** 0.5
        assert float(found.var()) == pytest.approx(variance, rel=0.1)
    assert draw()[1].min() >= -1 and _compiled(draw)()[1].max() < 3


def test_a_constant_of_64_bits():
    x = tw.te.compute((2,), lambda i: tw.te.const(2**63 + 1, "uint64"), name="x")
    assert tw.build(tw.create_schedule(x.op), [x], target="cpu") is not None
