"""Outputs that are views of inputs whose extents are symbolic, and parts of them: as PyTorch makes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tilewright.torch import compile_fx  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")

VIEWS: dict[str, Callable[[Any], Any]] = {
    "heads": lambda x: x.view(x.shape[0], 2, x.shape[1] // 2).transpose(1, 2),
    "repeated": lambda x: x[:, None].expand(x.shape[0], 3, x.shape[1]),
    "half": lambda x: x[:, : x.shape[1] // 2],
    "inner": lambda x: x.narrow(1, 1, x.shape[1] - 2).t(),
    "last": lambda x: x[x.shape[0] - 1],
    "chunk": lambda x: x.chunk(2, 1)[1],
    "of a column": lambda x: x.t()[: x.shape[1] // 2],
}


def _check(function: Callable[[Any], Any], *, shares: bool) -> None:
    torch._dynamo.reset()
    compiled = torch.compile(function, backend=compile_fx, fullgraph=True, dynamic=True)
    for rows, columns in ((5, 6), (3, 8)):
        x, y = (torch.arange(rows * columns * 1.0).reshape(rows, columns).requires_grad_() for _ in range(2))
        made, wanted = compiled(x), function(y)
        for one, other in zip(*(each if isinstance(each, (tuple, list)) else (each,) for each in (made, wanted))):
            torch.testing.assert_close(one, other)
            if shares:
                assert one.stride() == other.stride()
                assert one.data_ptr() - x.data_ptr() == other.data_ptr() - y.data_ptr()
            weights = torch.linspace(-1, 2, other.numel()).reshape(other.shape)
            (one * weights).sum().backward(retain_graph=True), (other * weights).sum().backward(retain_graph=True)
        torch.testing.assert_close(x.grad, y.grad)


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_inputs(name: str) -> None:
    _check(VIEWS[name], shares=True)


def test_a_view_beside_what_is_computed() -> None:
    _check(lambda x: (x[:, 1 : x.shape[1] - 1].t(), x.t() + 1), shares=False)


@pytest.mark.sweep
def test_parts_of_a_symbolic_axis() -> None:
    _check(lambda x: [one * 2 for one in (*x.chunk(3, 1), *x.split(x.shape[1] // 2, 1))], shares=False)


def _starts(x: Any, y: Any) -> Any:
    k = y.shape[0]
    return x[-k:] * 2, x[:, -k:].sum(1), x[-k] * 1, x[k - 2 :] * 1, x[x.shape[0] - k :] + y, x[-k:-1] * 1


@pytest.mark.sweep
def test_slices_that_begin_at_another_tensor_s_extent() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(_starts, backend=compile_fx, fullgraph=True, dynamic=True)
    for rows, k in ((6, 2), (7, 3)):
        x, y = torch.randn(rows, 5), torch.randn(k, 5)
        for ours, theirs in zip(compiled(x, y), _starts(x, y), strict=True):
            torch.testing.assert_close(ours, theirs)


def _of_number(x: Any, k: int) -> Any:
    pad = torch.nn.functional.pad
    return (
        x[k : k + 2] * 1, x[k] * 2, x[-k] * 2, x[-k : -k + 2] * 3, x[2 - k : 4] + 0, x.narrow(0, k, 2), x[-k:].sum(0),
        pad(x, (k, 0, 1, k), value=2.0), pad(x, (0, k)), x.topk(k, 0).values,
    )  # fmt: skip


@pytest.mark.sweep
def test_slices_and_paddings_by_a_number_that_changes() -> None:
    torch._dynamo.reset()
    compiled = torch.compile(_of_number, backend=compile_fx, fullgraph=True, dynamic=True)
    for k in (2, 3, 4):
        x = torch.randn(6, 5)
        for ours, theirs in zip(compiled(x, k), _of_number(x, k), strict=True):
            torch.testing.assert_close(ours, theirs)


@pytest.mark.sweep
@torch._dynamo.config.patch(capture_scalar_outputs=True)
def test_slices_that_begin_at_an_element() -> None:
    torch._dynamo.reset()

    def function(x: Any, n: Any) -> Any:
        k = n.item()
        torch._check(k >= 0)
        torch._check(k + 2 <= x.size(0))
        return x[k : k + 2] * 1, x[k] * 2

    compiled = torch.compile(function, backend=compile_fx, fullgraph=True)
    for k in (3, 0):
        x, n = torch.randn(6, 5), torch.tensor(k)
        for ours, theirs in zip(compiled(x, n), function(x, n), strict=True):
            torch.testing.assert_close(ours, theirs)
