"""Outputs that are poisoned before a call, and what differs more than rounding explains after it."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

__all__ = ["POISON", "assert_allclose", "assert_within", "differs", "dot_bound", "guarded", "poisoned", "unit_roundoff"]

POISON = 0xA5


def unit_roundoff(dtype: Any) -> float:
    """Half the distance from 1 to the next number of the floating-point type `dtype`, e.g. 2**-24 for float32.

    >>> from tilewright import testing
    >>> testing.unit_roundoff("float32") == 2**-24
    True
    """
    return float(ml_dtypes.finfo(dtype).eps) / 2  # pyright: ignore[reportUnknownArgumentType]


def poisoned(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """An array of the extents `shape` that no program can have computed: NaN, or bytes of 0xA5 in an integer.

    >>> poisoned((2,), "float32")
    array([nan, nan], dtype=float32)
    """
    kind = np.dtype(dtype)
    if kind.kind in "iub":
        return np.full(int(np.prod(shape)) * kind.itemsize, POISON, np.uint8).view(kind).reshape(shape)
    return np.full(shape, np.nan, kind)


def guarded(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """A poisoned array, as aligned as others are, with poison in the 64 bytes on either side of it."""
    within = poisoned(shape, dtype)
    memory = np.full(within.nbytes + 192, POISON, np.uint8)
    array = np.ndarray(shape, within.dtype, memory, 64 + -memory.ctypes.data % 64)
    array[...] = within
    return array


def dot_bound(lhs: NDArray[Any], rhs: NDArray[Any], length: int, dtype: Any = "float32") -> NDArray[np.float64]:
    """How far sums of `length` products in `dtype` may be from the exact ones, element by element.

    `lhs` and `rhs` are two matrices whose product is taken. The bound is the probabilistic one of Higham and Mary
    (SIAM J. Sci. Comput. 41-5, 2019), 4 sqrt(length) u abs(lhs) abs(rhs): a result exceeds it with negligible chance.

    >>> import numpy as np
    >>> from tilewright import testing
    >>> a, b = np.ones((2, 16)), np.ones((16, 3))
    >>> bound = testing.dot_bound(a, b, 16)
    >>> bound.shape, bool((bound < 1e-4).all())
    ((2, 3), True)
    """
    magnitude = np.abs(lhs.astype(np.float64)) @ np.abs(rhs.astype(np.float64))
    return 4 * np.sqrt(length) * unit_roundoff(dtype) * magnitude


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """Raises AssertionError unless `actual` and `desired`, arrays of NumPy or `tw.nd`, are alike in shape and elements.

    Elements may differ by `atol` plus `rtol` times the desired one, as with NumPy's function of that name.

    >>> assert_allclose([1.0, 2.0], [1.0, 2.0 + 1e-8])
    """
    given, wanted = (np.asanyarray(each.numpy() if hasattr(each, "copyto") else each) for each in (actual, desired))
    np.testing.assert_allclose(given.shape, wanted.shape)
    np.testing.assert_allclose(given, wanted, rtol=rtol, atol=atol, verbose=True)


def assert_within(got: NDArray[Any], expected: NDArray[np.float64], bound: Any) -> None:
    """Raises AssertionError unless every element of `got` is a number within `bound` of `expected`.

    >>> import numpy as np
    >>> from tilewright import testing
    >>> testing.assert_within(np.array([1.0, 2.0]), np.array([1.0, 2.1]), 0.2)
    """
    if got.shape != expected.shape:
        raise AssertionError(f"expected shape {expected.shape}, got {got.shape}")
    limit = np.broadcast_to(bound, expected.shape)
    wrong = ~(np.abs(got.astype(np.float64) - expected) <= limit)  # so that NaN counts as wrong
    if wrong.any():
        at = tuple(int(index[0]) for index in np.nonzero(wrong)) if wrong.ndim else ()
        raise AssertionError(
            f"{int(wrong.sum())} of {wrong.size} elements are wrong, the first at {at}: "
            f"expected {expected[at]!r} within {limit[at]:.3g}, got {got[at]!r}"
        )


def differs(got: NDArray[Any], expected: NDArray[Any], rtol: float | None = None) -> NDArray[np.bool_]:
    """Where two results are not the same: integers exactly, floats within rounding.

    By default that is 128 times the unit roundoff of their type, relative to the largest element.

    >>> differs(np.ones(2, "float32"), np.array([1.0, 1.1]))
    array([False,  True])
    """
    if got.dtype.kind in "biu":
        return got != expected
    tolerance = 128 * unit_roundoff(got.dtype) if rtol is None else rtol
    mine, theirs = got.astype(np.float64), expected.astype(np.float64)
    finite = np.abs(theirs[np.isfinite(theirs)])
    limit = tolerance * max(float(finite.max(initial=0.0)), 1e-30)
    with np.errstate(invalid="ignore"):
        same = (mine == theirs) | (np.isnan(mine) & np.isnan(theirs)) | (np.abs(mine - theirs) <= limit)
    return ~same
