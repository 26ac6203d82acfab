"""What PyTorch's own settings say of float32 on tensor cores."""

from __future__ import annotations

from typing import Any

import torch

from ..target import Target

__all__ = ["tf32_of"]


def tf32_of(target: Target | str | None) -> frozenset[str]:
    """Which of "matmul" and "conv" may be multiplied in tf32 on `target`, as PyTorch multiplies them on a GPU.

    ``torch.set_float32_matmul_precision("high")`` and ``torch.backends.cuda.matmul.allow_tf32`` are for matmuls,
    ``torch.backends.cudnn.allow_tf32`` is for convolutions. Targets without a GPU have no tf32.

    >>> from tilewright.torch.precision import tf32_of
    >>> sorted(tf32_of("cpu"))
    []
    """
    if Target.of(target).kind == "cpu":
        return frozenset()
    backends: Any = torch.backends
    allowed = {
        "matmul": _allows(backends.cuda.matmul),
        "conv": _allows(getattr(backends.cudnn, "conv", backends.cudnn)),
    }
    return frozenset(what for what, is_allowed in allowed.items() if is_allowed)


def _allows(setting: Any) -> bool:
    """By `fp32_precision`, which newer versions have instead of `allow_tf32`."""
    precision = getattr(setting, "fp32_precision", None)
    return precision == "tf32" if precision is not None else bool(setting.allow_tf32)
