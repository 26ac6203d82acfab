"""Arrays on devices: `tw.nd.array(x, tw.cuda(0))`, `tw.nd.empty(shape, dtype, device)`, `.numpy()`.

The one pool behind them is per device; `stats` says what it holds and `release` gives back what it keeps.

>>> import numpy as np
>>> from tilewright import nd
>>> a = nd.array(np.ones(4, "float32"))
>>> b = nd.empty(a.shape, a.dtype).copyfrom(a)
>>> b.numpy()
array([1., 1., 1., 1.], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Callable as _Callable

from .runtime.device import Device, cpu, cuda, device, gpu
from .runtime.device import as_device as _as_device
from .runtime.memory import PoolStats, pool_of
from .runtime.ndarray import NDArray, array, empty, from_dlpack, zeros
from .tvm_compat.missing_names import attribute_of

__all__ = [
    "NDArray", "PoolStats", "array", "cpu", "cuda", "device", "empty", "from_dlpack", "gpu", "release", "stats",
    "zeros",
]  # fmt: skip


def stats(device: Device | None = None) -> PoolStats:
    """What the pool of a device (the cpu where none is given) holds and has done.

    Raises TypeError where `device` is no device.

    >>> import tilewright as tw
    >>> tw.nd.stats().in_use >= 0
    True
    """
    return pool_of(_as_device(device, cpu)).stats


def release(device: Device | None = None) -> None:
    """Gives the memory back that the pool of `device`, by default the cpu, keeps for reuse.

    Raises TypeError where `device` is no device.

    >>> import tilewright as tw
    >>> tw.nd.release()
    """
    pool_of(_as_device(device, cpu)).release()


__getattr__: _Callable[[str], object] = attribute_of("nd", "module 'tilewright.nd'")
