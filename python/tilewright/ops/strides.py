"""How arrays lie in memory, and row-major copies of those that do not."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..runtime.arrays import is_of_torch

__all__ = ["is_row_major", "is_transposed", "row_major", "strides_of"]


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
