"""Attention as models write it, without PyTorch's own operator: it becomes one operator, and is as right as that."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

torch = pytest.importorskip("torch")

import torch.nn.functional as F  # noqa: E402, N812
from torch import Tensor, nn  # noqa: E402

import tilewright as tw  # noqa: E402

SIM = "sim -device=H200"


def scaled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.softmax(q @ k.transpose(-1, -2) * 0.125, -1) @ v


def causal_by_fill(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    weights = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
    seen = torch.tril(torch.ones(k.shape[2], k.shape[2], device=q.device)).view(1, 1, k.shape[2], k.shape[2])
    weights = F.softmax(weights.masked_fill(seen[:, :, : q.shape[2]] == 0, float("-inf")), dim=-1)
    return (F.dropout(weights, 0.1, training=False) @ v).transpose(1, 2).contiguous()


def causal_by_where(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    at = torch.arange(q.shape[2], device=q.device)
    return torch.where(at[:, None] >= at[None], q @ k.mT * 0.125, float("-inf")).softmax(-1) @ v


def in_float32(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    weights = torch.matmul(q, k.transpose(2, 3)) * 0.125 + mask
    return torch.matmul(F.softmax(weights, dim=-1, dtype=torch.float32).to(q.dtype), v).transpose(1, 2).contiguous()


def divided(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return torch.matmul(F.softmax(torch.matmul(q, k.transpose(-1, -2)) / math.sqrt(64) + mask, dim=-1), v)


def einsum(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    q, k, v = (one.transpose(1, 2) for one in (q, k, v))
    return torch.einsum("bhqk,bkhd->bqhd", (torch.einsum("bqhd,bkhd->bhqk", q, k) / 8).softmax(-1), v)


def baddbmm(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    heads, rows, columns = q.shape[0] * q.shape[1], q.shape[2], k.shape[2]
    bias = mask.expand(*q.shape[:3], columns).reshape(heads, rows, columns)
    q, k, v = (one.reshape(heads, one.shape[2], 64) for one in (q, k, v))
    weights = torch.baddbmm(bias, q, k.mT, beta=1.0, alpha=0.125).view(2, -1, rows, columns)
    return torch.bmm(F.softmax(weights, -1).view(heads, rows, columns), v)


def hidden(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    return (q @ k.mT * 0.125 + mask).masked_fill(mask > 1, torch.finfo(torch.bfloat16).min).softmax(-1) @ v


def hidden_in_float32(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    """Two masks, a number that float16 does not have, and a query that sees no key: all of its weights are the same."""
    scores = (q @ k.mT * 0.125).to(torch.promote_types(q.dtype, torch.float32)) + mask[0]
    hides = (mask > 1) | (torch.arange(mask.shape[2], device=q.device)[:, None] == 3)
    return scores.masked_fill(hides, -1e9).softmax(-1).to(q.dtype) @ v


def grouped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    k, v = (one[:, ::2, None].expand(2, 2, 2, *one.shape[2:]).reshape(2, 4, *one.shape[2:]) for one in (k, v))
    return torch.softmax(q @ k.transpose(-1, -2) * 0.125, -1) @ v


def in_windows(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
    weights = (q @ k.mT * 0.125 + mask[0]).view(1, 2, *q.shape[1:3], k.shape[2]) + mask.view(1, 2, 1, *mask.shape[2:])
    return weights.view(2, *q.shape[1:3], k.shape[2]).softmax(-1) @ v


class Spelling(nn.Module):
    def __init__(self, function: Callable[..., Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: Tensor) -> Tensor:
        return self.function(*tensors)


SPELLINGS: list[Callable[..., Tensor]] = [
    scaled, causal_by_fill, causal_by_where, in_float32, divided, einsum, baddbmm, hidden,
    hidden_in_float32, grouped, in_windows,
]  # fmt: skip


def inputs(function: Callable[..., Tensor], dtype: Any) -> list[Tensor]:
    tensors = [torch.randn(2, 4, 48, 64) for _ in range(3)]
    takes_mask = "mask" in function.__code__.co_varnames[: function.__code__.co_argcount]
    return [one.to(dtype) for one in [*tensors, *([torch.randn(2, 1, 48, 48)] if takes_mask else [])]]


@pytest.mark.sweep
@pytest.mark.parametrize(
    "function, dtype",
    [
        *((one, each) for one in SPELLINGS for each in (torch.float32, torch.bfloat16)),
        (hidden_in_float32, torch.float16),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_spelling(function: Callable[..., Tensor], dtype: Any) -> None:
    torch.manual_seed(0)
    given = inputs(function, dtype)
    model = tw.compile(Spelling(function), tuple(given), target=SIM)
    names = [group.name for group in model.groups]
    assert not any(part in name for name in names for part in ("softmax", "matmul")), names
    expected = function(*(one.double() for one in given))
    error, of_torch = (
        (torch.as_tensor(one).double() - expected).abs().max() for one in (model(*given), function(*given))
    )
    assert error <= 1.5 * of_torch + 1e-6


def test_a_causal_one() -> None:
    test_spelling(causal_by_fill, torch.bfloat16)


@pytest.mark.sweep
def test_symbolic_extents() -> None:
    torch.manual_seed(0)
    batch, length = torch.export.Dim("batch", min=1, max=8), torch.export.Dim("length", min=2, max=100)
    shapes = tuple({0: batch, 2: length} for _ in range(3))
    q, k, v = inputs(scaled, torch.float32)
    model = tw.compile(Spelling(scaled), (q, k, v), target=SIM, dynamic_shapes=(shapes,))
    assert [group.name for group in model.groups] == ["attention"]
    for shape in ((2, 4, 48, 64), (3, 4, 61, 64)):
        q, k, v = (torch.randn(shape) for _ in range(3))
        torch.testing.assert_close(torch.as_tensor(model(q, k, v)), scaled(q, k, v))


@pytest.mark.sweep
def test_weights_that_are_a_result_stay() -> None:
    def function(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        weights = torch.softmax(q @ k.transpose(-1, -2) * 0.125, -1)
        return weights @ v, weights

    q, k, v = inputs(scaled, torch.float32)
    model = tw.compile(Spelling(function), (q, k, v), target=SIM)  # type: ignore[arg-type]
    assert any("softmax" in group.name for group in model.groups)
    for got, expected in zip(model(q, k, v), function(q, k, v), strict=True):
        torch.testing.assert_close(torch.as_tensor(got), expected)
