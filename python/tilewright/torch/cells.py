"""Cells of recurrent networks, of matmuls: PyTorch has an operator of its own for those on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.nn.functional import linear

__all__ = ["decompositions", "gru_cell", "lstm_cell"]


def lstm_cell(
    x: torch.Tensor, hx: Sequence[torch.Tensor], w_ih: torch.Tensor, w_hh: torch.Tensor,
    b_ih: torch.Tensor | None = None, b_hh: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
    """The new hidden state and the new cell of an LSTM."""
    hidden, cell = hx
    into, forget, change, out = (linear(x, w_ih, b_ih) + linear(hidden, w_hh, b_hh)).chunk(4, -1)
    cell = forget.sigmoid() * cell + into.sigmoid() * change.tanh()
    return out.sigmoid() * cell.tanh(), cell


def gru_cell(
    x: torch.Tensor, hidden: torch.Tensor, w_ih: torch.Tensor, w_hh: torch.Tensor, b_ih: torch.Tensor | None = None,
    b_hh: torch.Tensor | None = None,
) -> torch.Tensor:  # fmt: skip
    """The new hidden state of a GRU."""
    own, kept = linear(x, w_ih, b_ih).chunk(3, -1), linear(hidden, w_hh, b_hh).chunk(3, -1)
    reset, update = ((a + b).sigmoid() for a, b in zip(own[:2], kept[:2]))
    change = (own[2] + reset * kept[2]).tanh()
    return change + update * (hidden - change)


def decompositions() -> dict[Any, Any]:
    """By operator what it becomes."""
    return {torch.ops.aten.lstm_cell.default: lstm_cell, torch.ops.aten.gru_cell.default: gru_cell}
