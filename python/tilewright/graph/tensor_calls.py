"""Calls of a model with tensors of PyTorch as they are: tvm-ffi reads them, and allocates the outputs by PyTorch."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING, Any

from ..runtime.stream import has_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .model import Model

__all__ = ["TensorCalls"]


@cache
def _kinds() -> frozenset[type]:
    """The types of tensors that tvm-ffi reads by PyTorch's exchange API, which has no part in older versions."""
    import torch

    return frozenset([torch.Tensor, torch.nn.Parameter] * hasattr(torch.Tensor, "__dlpack_c_exchange_api__"))


@cache
def _checks() -> tuple[Callable[[Any], bool], Callable[[Any], bool]]:
    """Whether a tensor's numbers are the negatives of those in memory, and whether it is contiguous."""
    import torch

    return torch.Tensor.is_neg, torch.Tensor.is_contiguous


class TensorCalls:
    """The function of a model, for calls with nothing but tensors of PyTorch where the model runs."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._device = model.target.kind
        # The simulator's calls end with Ctrl-C, whose exception tvm-ffi does not raise.
        self._has_part = self._device in ("cpu", "cuda") and not model.stored and bool(model.outputs)
        self._function: Callable[..., Any] | None = None

    def __call__(self, arrays: Sequence[Any]) -> tuple[Any, ...] | None:
        """The outputs of a call with these inputs, or None where `Model` itself is to read them: to copy some, or to
        say what is wrong with them."""
        if not self._has_part or "torch" not in sys.modules or has_stream():
            return None
        # The inputs may be hundreds of weights, so that the loops are the interpreter's own.
        if not arrays or len(arrays) != len(self._model.inputs) or not _kinds().issuperset(map(type, arrays)):
            return None
        is_negative, is_contiguous = _checks()
        if any(map(is_negative, arrays)):
            return None
        given = arrays
        if not all(map(is_contiguous, arrays)):
            given = [one if one.is_contiguous() else one.detach().contiguous() for one in arrays]
        function = self._function or self._made()
        try:
            made = function(*given)
        except Exception:  # of a tensor elsewhere, or of another shape: it is raised again, with the text of the model
            return None
        return (made,) if len(self._model.outputs) == 1 else tuple(made)

    def _made(self) -> Callable[..., Any]:
        self._function = function = self._model.host_function().to_tvm_ffi()
        return function
