"""Losses whose decompositions in PyTorch are wrong."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import _reduction as _Reduction  # pyright: ignore[reportPrivateUsage]

__all__ = ["TAKEN_APART", "decompositions", "multilabel_margin_loss"]

_aten: Any = torch.ops.aten

TAKEN_APART = ("hinge_embedding_loss.default", "margin_ranking_loss.default", "nll_loss.default")
"""What PyTorch itself takes apart. Its decompositions of these expect a reduction by its name, and get its number."""


def _multilabel_margin_loss(x: torch.Tensor, target: torch.Tensor, reduction: int) -> tuple[torch.Tensor, torch.Tensor]:
    """The hinge loss of each label in `target` and each class that is none. Labels end at the first -1."""
    count = x.shape[-1] if x.dim() else 1
    rows, labels = x.reshape(-1, count), target.reshape(-1, count)
    is_label = (labels == -1).cumsum(-1) == 0
    places = labels.clamp(min=0)
    classes = torch.arange(count, device=x.device)
    is_target = ((places[:, :, None] == classes) & is_label[:, :, None]).any(1)
    each = (1 - rows.gather(1, places)[:, :, None] + rows[:, None, :]).clamp(min=0)
    counts = is_label[:, :, None] & is_target.logical_not()[:, None, :]
    loss = torch.where(counts, each, 0).sum((1, 2)) / count
    total = loss.mean() if reduction == 1 else loss.sum() if reduction == 2 else loss.reshape(target.shape[:-1])
    return total, is_target.to(x.dtype).reshape(target.shape)


def multilabel_margin_loss(
    x: torch.Tensor, target: torch.Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> torch.Tensor:  # fmt: skip
    """PyTorch's function of that name."""
    if size_average is not None or reduce is not None:
        reduction = _Reduction.legacy_get_string(size_average, reduce)
    return _multilabel_margin_loss(x, target, _Reduction.get_enum(reduction))[0]


def decompositions() -> dict[Any, Any]:
    """By operator, what makes the others of it."""
    return {_aten.multilabel_margin_loss_forward.default: _multilabel_margin_loss}
