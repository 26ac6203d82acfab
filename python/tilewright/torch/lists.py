"""Operators on lists of tensors, as those of optimisers: PyTorch's kernel calls another operator for each tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["decompositions"]

_aten: Any = torch.ops.aten
_COMPOSITE: Any = torch._C.DispatchKey.CompositeExplicitAutograd  # pyright: ignore[reportPrivateUsage]
_NAMES: Any = torch._C._dispatch_get_registrations_for_dispatch_key  # pyright: ignore[reportPrivateUsage]


def _by_kernel(op: Any) -> Callable[..., Any]:
    """What the kernel of an operator calls, which is the same one for all devices."""

    def calls(*args: Any, **kwargs: Any) -> Any:
        return op._op_dk(_COMPOSITE, *args, **kwargs)

    return calls


def _zeros(tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    return [torch.zeros_like(one) for one in tensors]


def decompositions() -> dict[Any, Callable[..., Any]]:
    """By operator on lists of tensors what it becomes; so do zeros as those of a gradient's gradient."""
    found: dict[Any, Callable[..., Any]] = {
        _aten._new_zeros_with_same_feature_meta.default: _by_kernel(_aten._new_zeros_with_same_feature_meta.default)
    }
    for name in _NAMES("CompositeExplicitAutograd"):
        base, _, overload = name.removeprefix("aten::").partition(".")
        if base.startswith("_foreach_") and not base.endswith("_") and not overload.endswith("out"):
            op = getattr(getattr(_aten, base), overload or "default")
            found[op] = _by_kernel(op)
    found[_aten._foreach_zero.default] = _zeros  # whose kernel writes in place
    return found
