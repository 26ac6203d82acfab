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
def _kinds() -> tuple[type, ...]:
    """The types of tensors that tvm-ffi reads by PyTorch's exchange API, which has no part in older versions."""
    import torch

    return (torch.Tensor, torch.nn.Parameter) if hasattr(torch.Tensor, "__dlpack_c_exchange_api__") else ()


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
        kinds, given = _kinds(), list[Any]()
        for one in arrays:
            if type(one) not in kinds or one.device.type != self._device or one.is_neg():
                return None
            given.append(one if one.is_contiguous() else one.detach().contiguous())
        if not given or len(given) != len(self._model.inputs):
            return None
        function = self._function or self._made()
        try:
            made = function(*given)
        except Exception:  # which is raised again, with the text of the model
            return None
        return (made,) if len(self._model.outputs) == 1 else tuple(made)

    def _made(self) -> Callable[..., Any]:
        self._function = function = self._model.host_function().to_tvm_ffi()
        return function
