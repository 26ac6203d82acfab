"""Calls of a model with PyTorch's tensors, which its function reads as they are."""

from __future__ import annotations

from typing import Any

import pytest

import tilewright as tw
from tilewright.graph import memory

torch = pytest.importorskip("torch")
n = torch.export.Dim("n")


class Three(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(5, 4)

    def forward(self, x: Any) -> Any:
        y = self.linear(x)
        return torch.relu(y), y.sum(), y.argmax(1)


@pytest.fixture(scope="module")
def both() -> tuple[Any, Any]:
    torch.manual_seed(0)
    module = Three().eval()
    return module, tw.compile(module, (torch.randn(3, 5),), target="cpu", dynamic_shapes=({0: n},))


def _check(both: tuple[Any, Any], x: Any) -> None:
    module, model = both
    with torch.no_grad():
        for made, right in zip(model(x), module(x), strict=True):
            assert type(made) is torch.Tensor and made.dtype == right.dtype and not made.requires_grad
            torch.testing.assert_close(made, right, rtol=1e-5, atol=1e-5)


@pytest.mark.sweep
def test_they_are_read_by_tvm_ffi(both: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> Any:
        raise AssertionError("an array of NumPy was made of a tensor")

    monkeypatch.setattr(memory.HostMemory, "given", refused)
    for rows in (3, 1, 0, 7):
        _check(both, torch.randn(rows, 5))
    _check(both, torch.randn(5, 3).t())
    _check(both, torch.nn.Parameter(torch.randn(2, 5)))
    _check(both, torch.randn(2, 5, requires_grad=True) * 2)
    _check(both, torch.randn(4, 10)[:, ::2])


def test_others_are_read_as_arrays(both: tuple[Any, Any]) -> None:
    _check(both, (torch.randn(2, 5) * 1j).imag.conj())
    _check(both, torch._neg_view(torch.randn(2, 5)))
    _check(both, torch.randn(11)[1:].view(2, 5))  # whose address is no multiple of 16
    with tw.Stream(tw.cpu()):
        _check(both, torch.randn(2, 5))


def test_what_is_wrong_has_the_text_of_the_model(both: tuple[Any, Any]) -> None:
    _, model = both
    with pytest.raises(TypeError) as error:
        model(torch.randn(2, 5, dtype=torch.float64))
    assert str(error.value) == f"{model.name}: input 'x': expected float32, got float64"
    with pytest.raises(ValueError) as error:
        model(torch.randn(2, 6))
    assert str(error.value) == f"{model.name}: input 'x', dimension 1: expected 5, got shape (2, 6)"
    with pytest.raises(TypeError) as error:
        model(torch.randn(2, 5), torch.randn(2))
    assert str(error.value) == f"{model.name}: expected 1 inputs (x), got 2"


def test_a_function_without_inputs_gives_tensors() -> None:
    from tilewright.torch.backend import compile_fx

    compiled = torch.compile(
        lambda: (torch.arange(5) * 2, torch.full((2,), 3, dtype=torch.bfloat16)), backend=compile_fx
    )
    doubled, full = compiled()
    assert torch.equal(doubled, torch.arange(5) * 2)
    assert torch.equal(full, torch.full((2,), 3, dtype=torch.bfloat16))
