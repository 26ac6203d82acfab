"""Operators of PyTorch on lists of tensors, as optimisers and clipping of gradients call them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

from tilewright.torch import compile_fx  # noqa: E402
from tilewright.torch.decompositions import aten_decompositions  # noqa: E402

# Two read a tensor's elements as numbers of Python, which torch.compile does not trace, and one is for shards.
_NOT_TRACED = ("_foreach_addcdiv.Tensor", "_foreach_addcmul.Tensor", "_foreach_powsum.Scalar")
OPERATORS = {
    name: op for op in aten_decompositions()
    if "_foreach_" in (name := str(op).removeprefix("aten.")) and name not in _NOT_TRACED
}  # fmt: skip


def _arguments(op: Any) -> tuple[list[Any], dict[str, Any]]:
    """What an operator is called with: lists of three matrices or numbers, a tensor with one element, and a number."""
    generator = torch.Generator().manual_seed(0)
    some: dict[str, Any] = {
        "List[Tensor]": lambda: [0.2 + 0.7 * torch.rand(3, 3, generator=generator) for _ in range(3)],
        "Tensor": lambda: torch.tensor(2.5), "number": lambda: 1.5, "List[number]": lambda: [1.5, 2.0, 2.5],
    }  # fmt: skip
    given = [(one, some[str(one.type)]()) for one in op._schema.arguments if str(one.type) in some]
    return [value for one, value in given if not one.kwarg_only], {
        one.name: value for one, value in given if one.kwarg_only
    }


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", OPERATORS)
def test_each_operator(name: str) -> None:
    torch.compiler.reset()
    op = OPERATORS[name]
    given, named = _arguments(op)
    made = torch.compile(lambda *some: op(*some, **named), backend=compile_fx, fullgraph=True)(*given)
    wanted = op(*given, **named)
    assert len(made) == len(wanted) == 3
    torch.testing.assert_close(made, wanted)


@pytest.mark.sweep
def test_a_step_of_adam_with_clipped_gradients() -> None:
    torch.manual_seed(0)
    torch.compiler.reset()
    model = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 3))
    exact = copy.deepcopy(model).double()
    ours, theirs = (torch.optim.Adam(one.parameters(), lr=0.01, foreach=True) for one in (model, exact))
    clip = torch.compile(lambda: nn.utils.clip_grad_norm_(model.parameters(), 0.5), backend=compile_fx)
    step = torch.compile(ours.step, backend=compile_fx)
    for _ in range(2):
        x, labels = torch.randn(12, 8), torch.randint(0, 3, (12,))
        nn.functional.cross_entropy(model(x) * 9, labels).backward()
        nn.functional.cross_entropy(exact(x.double()) * 9, labels).backward()
        norm = clip()
        wanted = nn.utils.clip_grad_norm_(exact.parameters(), 0.5)
        assert wanted > 0.5
        torch.testing.assert_close(norm, wanted.float())
        step()
        theirs.step()
        for one, other in zip(model.parameters(), exact.parameters()):
            torch.testing.assert_close(one, other.float(), rtol=1e-4, atol=1e-5)
            one.grad = other.grad = None


@pytest.mark.sweep
def test_derivatives_of_derivatives() -> None:
    """Forward and backward derivatives together take zeros that lie as another tensor does."""
    torch.compiler.reset()
    weights = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))

    def value(x: torch.Tensor) -> torch.Tensor:
        return (weights.to(x.dtype) @ x).tanh().square().sum()

    def derivatives(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.func.hessian(value)(x), torch.func.jvp(value, (x,), (x * 2,))[1]

    x = torch.randn(4, generator=torch.Generator().manual_seed(1))
    made = torch.compile(derivatives, backend=compile_fx, fullgraph=True)(x)
    torch.testing.assert_close(made, tuple(one.float() for one in derivatives(x.double())))
