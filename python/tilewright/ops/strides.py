"""How arrays lie in memory, and row-major copies of those that do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..runtime.arrays import is_of_torch

__all__ = ["is_row_major", "is_transposed", "row_major", "strides_of", "without_repeats"]


def is_row_major(array: Any) -> bool:
    """Whether elements lie densely, the last axis's side by side. True of an array that does not say it.

    >>> import numpy as np
    >>> x = np.zeros((2, 3), "float32")
    >>> is_row_major(x), is_row_major(x.T), is_row_major(x[:, ::2])
    (True, False, False)
    """
    flags = getattr(array, "flags", None)  # of NumPy and CuPy
    if flags is not None:
        return bool(flags.c_contiguous)
    says = getattr(array, "is_contiguous", None)  # of torch
    return says is None or bool(says())


def is_transposed(array: Any) -> bool:
    """Whether a matrix is the transpose of a row-major one, and is not row-major itself.

    >>> import numpy as np
    >>> is_transposed(np.zeros((2, 3), "float32").T)
    True
    """
    return len(array.shape) == 2 and not is_row_major(array) and is_row_major(array.T)


def row_major(array: Any) -> Any:
    """The array, or a copy of it that is row-major, made by its own library.

    >>> import numpy as np
    >>> row_major(np.arange(6).reshape(2, 3).T).flags.c_contiguous
    True
    """
    if is_row_major(array):
        return array
    if is_of_torch(array):
        return array.contiguous()
    return array.copy(order="C")


def strides_of(array: Any) -> tuple[int, ...] | None:
    """The strides of an array in elements; None of one that is row-major, or of which they are not known.

    >>> import numpy as np
    >>> strides_of(np.zeros((2, 3, 4), "float32").swapaxes(0, 1))
    (4, 12, 1)
    """
    if isinstance(array, np.ndarray):
        if array.flags.c_contiguous or any(stride % array.itemsize for stride in array.strides):
            return None
        strides = tuple(stride // array.itemsize for stride in array.strides)
    elif is_of_torch(array):
        if array.is_contiguous():
            return None
        strides = tuple(array.stride())
    else:
        return None
    return None if min(strides, default=0) < 0 else strides


def without_repeats(array: Any, extents: Sequence[int]) -> Any:
    """A view that has once what an array repeats along its first axes, as an expanded array does.

    It is broadcast with another array, whose first `extents` are given. An axis of another extent is left as it is.

    >>> import numpy as np
    >>> x = np.broadcast_to(np.zeros((2, 1, 4), "float32"), (2, 3, 4))
    >>> without_repeats(x, (2, 3)).shape, without_repeats(x, (2, 1)).shape
    ((2, 1, 4), (2, 3, 4))
    """
    strides = strides_of(array)
    if strides is None or len(array.shape) < len(extents):
        return array
    shape, made = [*array.shape], [*strides]
    behind = max((stride * extent for stride, extent in zip(strides, shape, strict=True)), default=1)
    for axis, extent in enumerate(extents):
        if strides[axis] == 0 and 1 < shape[axis] == extent:
            # The stride of an axis of one element counts for nothing, but that TMA takes no zeros.
            shape[axis], made[axis] = 1, behind
    if shape == [*array.shape]:
        return array
    if is_of_torch(array):
        return array.as_strided(shape, made)
    size = array.itemsize
    return np.lib.stride_tricks.as_strided(array, shape, [stride * size for stride in made], writeable=False)
