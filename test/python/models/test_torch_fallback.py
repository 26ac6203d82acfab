"""Operators that are not supported run in PyTorch, where `torch.compile` is asked for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tilewright.torch import compile_fx  # noqa: E402


@torch.library.custom_op("tilewright_test::powers", mutates_args=())
def _powers(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    """An operator that is the user's own."""
    return torch.pow(x, a)


@_powers.register_fake
def _(a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


def _backward(context: Any, gradient: torch.Tensor) -> tuple[None, torch.Tensor]:
    a, x = context.saved_tensors
    return None, gradient * a * torch.pow(x, a - 1)


_powers.register_autograd(_backward, setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs))


def _compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    torch._dynamo.reset()
    return torch.compile(function, backend=compile_fx, fullgraph=True, **options)


def _several(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    square = x @ x.T + torch.diag(torch.arange(x.shape[0]) * 2.0 + 3)
    values = torch.linalg.eigvals(square)
    return values.abs().sum() + torch.relu(square), _powers(torch.full_like(x, 2.0), torch.sigmoid(x)), square[:2]


_FIRST = _several.__code__.co_firstlineno


@pytest.mark.sweep
@pytest.mark.parametrize("dynamic", [False, True])
def test_results_and_gradients(dynamic: bool) -> None:
    compiled = _compiled(_several, options={"fallback": True}, dynamic=dynamic)
    with pytest.warns(UserWarning) as caught:
        for rows in (4, 6) if dynamic else (4,):
            x = torch.linspace(-1, 1, rows * (rows + 1)).reshape(rows, rows + 1).requires_grad_()
            y = x.detach().clone().requires_grad_()
            got, wanted = compiled(x), _several(y)
            for one, other in zip(got, wanted):
                torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)
            got[0].sum().backward(), wanted[0].sum().backward()
            torch.testing.assert_close(x.grad, y.grad, rtol=1e-4, atol=1e-4)
    assert str(caught[0].message) == (
        "backend tilewright: these operators run in PyTorch:\n"
        f"{__file__}:{_FIRST + 2} (aten.linalg_eig.default): the operator is not supported\n"
        f"{__file__}:{_FIRST + 3} (tilewright_test.powers.default): the operator is not supported"
    )


@pytest.mark.sweep
def test_what_is_refused_for_its_operands() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.inv(x) + torch.linalg.det(x)

    line = function.__code__.co_firstlineno + 1
    x = torch.eye(2049)
    with pytest.warns(UserWarning) as caught:
        torch.testing.assert_close(_compiled(function, options={"fallback": True})(x), function(x))
    reason = "expected matrices of at most 2048 rows or columns, and of 4096 of the other, got 2049 x 2049"
    assert str(caught[0].message) == (
        "backend tilewright: these operators run in PyTorch:\n"
        f"{__file__}:{line} (aten.linalg_inv_ex.default): {reason}\n"
        f"{__file__}:{line} (aten._linalg_det.default): {reason}"
    )


def test_types_that_no_kernel_has() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return (x + 1).to(torch.float8_e5m2fnuz).to(torch.float32) * 2

    x = torch.linspace(-3, 3, 8)
    with pytest.warns(UserWarning) as caught:
        torch.testing.assert_close(_compiled(function, options={"fallback": True})(x), function(x))
    label = f"{__file__}:{function.__code__.co_firstlineno + 1} (aten._to_copy.default)"
    assert str(caught[0].message) == (
        "backend tilewright: these operators run in PyTorch:\n"
        f"{label}: expected an element type that te has, got torch.float8_e5m2fnuz"
    )


def test_results_are_inputs_of_the_next_part_and_of_the_output() -> None:
    def function(x: torch.Tensor, n: int) -> tuple[torch.Tensor, ...]:
        a = x * n
        b = _powers(a, a)
        return a + b, b, _powers(b + x.shape[0] * n, a), x

    compiled = _compiled(function, options={"fallback": True}, dynamic=True)
    with pytest.warns(UserWarning):
        for rows, n in ((3, 5), (7, 2)):
            x = torch.linspace(0.5, 2, rows * 4).reshape(rows, 4)
            for one, other in zip(compiled(x, n), function(x, n)):
                torch.testing.assert_close(one, other)


def test_nothing_is_left_where_all_is_supported() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.testing.assert_close(
            _compiled(torch.sigmoid, options={"fallback": True})(torch.ones(3)), torch.ones(3).sigmoid()
        )


@pytest.mark.parametrize(
    "options, got",
    [({"fall": True}, "fall=True"), ({"fallback": 1}, "fallback=1"), ({"fallback": True, "x": "y"}, "x='y'")],
)
def test_other_options_are_refused(options: dict[str, Any], got: str) -> None:
    with pytest.raises(Exception) as caught:
        _compiled(torch.sigmoid, options=options)(torch.ones(3))
    text = f'CompileError: backend tilewright: expected options={{"fallback": True}} or none, got {got}\n'
    assert text in str(caught.value)


def test_the_error_says_how_to_ask_for_it() -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        return _powers(x, x)

    with pytest.raises(Exception) as caught:
        _compiled(function)(torch.ones(3))
    assert (
        f"{__file__}:{function.__code__.co_firstlineno + 1} (tilewright_test.powers.default): the operator is not supported\n"
        'options={"fallback": True} of torch.compile leaves to PyTorch what is not supported\n'
    ) in str(caught.value)
