"""Tensors of PyTorch as NumPy's arrays, and the other way round. Imported where there is such a tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ml_dtypes as ml_dtypes  # names of its types are NumPy's
import numpy as np
import torch

from ..errors import TilewrightValueError as ValueError

__all__ = ["array_of", "empty_on_device", "from_device", "tensor_of"]

# Types that NumPy does not have are passed as integers of their width.
_CARRIERS = {
    torch.bfloat16: (torch.int16, "bfloat16"),
    torch.float8_e4m3fn: (torch.uint8, "float8_e4m3fn"),
    torch.float8_e5m2: (torch.uint8, "float8_e5m2"),
}


def array_of(tensor: torch.Tensor) -> np.ndarray:
    """A tensor in the processor's memory as an array; where it is contiguous, of the same memory.

    Raises ValueError where the tensor has no memory, as a weight has none whose storage was freed.

    >>> array_of(torch.ones(2, dtype=torch.bfloat16))
    array([1, 1], dtype=bfloat16)
    """
    if tensor.numel() and not tensor.untyped_storage().nbytes():
        raise ValueError("expected a tensor with memory, got one whose storage is empty")
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    carrier, name = _CARRIERS.get(tensor.dtype, (None, ""))
    if carrier is None:
        return tensor.numpy()
    return tensor.view(carrier).numpy().view(np.dtype(name))


def tensor_of(array: np.ndarray) -> torch.Tensor:
    """An array as a tensor of the same memory.

    >>> tensor_of(np.ones(2, "float32"))
    tensor([1., 1.])
    """
    for dtype, (carrier, name) in _CARRIERS.items():
        if array.dtype.name == name:
            held: Any = array.view(np.int16 if carrier == torch.int16 else np.uint8)
            return torch.from_numpy(held).view(dtype)
    return torch.from_numpy(array)


def from_device(value: Any) -> torch.Tensor:
    """An array on a GPU as a tensor of the same memory."""
    for dtype, (carrier, name) in _CARRIERS.items():
        if value.dtype.name == name and name.startswith("float8"):  # which DLPack has only of late
            del carrier
            return torch.from_dlpack(_as_bytes(value)).view(dtype)
    return torch.from_dlpack(value)


def empty_on_device(shape: Sequence[int], dtype: str, index: int) -> torch.Tensor | None:
    """A tensor on a GPU for work in PyTorch's current stream; none of a type that PyTorch lacks."""
    kind = getattr(torch, dtype, None)
    return torch.empty(tuple(shape), dtype=kind, device=f"cuda:{index}") if isinstance(kind, torch.dtype) else None


def _as_bytes(value: Any) -> Any:
    return value.part(value.shape, np.dtype("uint8"))
