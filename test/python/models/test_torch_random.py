"""Random numbers in graphs of torch.compile: their distribution, and how they depend on the seed."""

from __future__ import annotations

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


def test_a_constant_of_64_bits():
    x = tw.te.compute((2,), lambda i: tw.te.const(2**63 + 1, "uint64"), name="x")
    assert tw.build(tw.create_schedule(x.op), [x], target="cpu") is not None
