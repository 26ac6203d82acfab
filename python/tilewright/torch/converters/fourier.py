"""Fourier transforms: a matmul with the matrix of each axis. Of a symbolic axis it is computed when the model runs.

The transform of a long axis is made of those of its factors, each of which is a matmul.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...graph import Value
from ..call import Call, converter
from .complex_numbers import Pair, complex_converter
from .movement import sliced

__all__: list[str] = []

_BY_ROOT, _BY_COUNT = 1, 2
_LONG = 256
"""Axes of so many elements are transformed by factors of their length."""


def _known(*extents: Any) -> bool:
    return all(isinstance(one, int) for one in extents)


def _turned(call: Call, x: Pair | Value, axis: int) -> Any:
    """A tensor with an axis and its last one exchanged."""
    rank = x.rank
    order = list(range(rank))
    order[axis], order[-1] = order[-1], order[axis]
    if isinstance(x, Pair):
        return x.by_part(lambda part: call.op("transpose", part, permutation=order))
    return call.op("transpose", x, permutation=order)


def _times(call: Call, x: Value, matrix: Value) -> Value:
    if x.rank == 1:
        return call.reshape(_times(call, call.reshape(x, [1, *x.shape]), matrix), [matrix.shape[-1]])
    return call.op("matmul", x, matrix, acc=x.dtype, to=x.dtype)


class _Waves:
    """The cosines and sines of a matrix: of each row and column 2 pi row column / length, computed in float64."""

    def __init__(self, call: Call, rows: Any, columns: Any, length: Any) -> None:
        self._call, self._rows, self._columns, self._length = call, rows, columns, length
        self._is_known = _known(rows, columns, length)

    def _place(self, axis: int) -> Value:
        """The number of the row, or of the column, as a matrix of one column, or one row."""
        shape = [1, self._columns] if axis else [self._rows, 1]
        return self._call.op("iota", shape=shape, axis=axis, to="int64")

    def matrices(self, dtype: str, scale: float | Value, is_half: bool = False) -> tuple[Value, Value]:
        """Both, times a scale. Where the rows are half of a spectrum, those that stand for two are doubled."""
        if self._is_known and isinstance(scale, float):
            return self._constant(dtype, scale, is_half)
        call, op = self._call, self._call.op
        rows, length = self._place(0), call.number_of(self._length)
        places = call.cast(op("mod", op("mul", rows, self._place(1)), length), "float64")
        angles = op("div", op("mul", places, call.constant(2 * np.pi, "float64")), call.cast(length, "float64"))
        factor = scale if isinstance(scale, Value) else call.constant(scale, "float64")
        if is_half:
            twice = op("mul", rows, call.constant(2, "int64"))
            is_one = op("or", op("equal", twice, call.constant(0, "int64")), op("equal", twice, length))
            doubled = op(
                "where", op("less", twice, length), call.constant(2.0, "float64"), call.constant(0.0, "float64")
            )
            factor = op("mul", op("where", is_one, call.constant(1.0, "float64"), doubled), factor)
        cosines, sines = (call.cast(op("mul", op(name, angles), factor), dtype) for name in ("cos", "sin"))
        return cosines, sines

    def _constant(self, dtype: str, scale: float, is_half: bool) -> tuple[Value, Value]:
        rows, columns = (np.arange(int(one), dtype=np.int64) for one in (self._rows, self._columns))
        places = np.outer(rows, columns) % self._length
        angles = 2 * np.pi * places / self._length
        weight = np.where((rows == 0) | (2 * rows == self._length), scale, 2 * scale)[:, None] if is_half else scale
        of_angles = np.cos(angles), np.where(2 * places % self._length, np.sin(angles), 0.0)
        cosines, sines = (self._call.array((one * weight).astype(dtype)) for one in of_angles)
        return cosines, sines


def _factors(length: Any) -> tuple[int, int] | None:
    """Two factors of a long axis, the smaller one first; of a prime, or of a prime and a small number, none."""
    if not isinstance(length, int) or length < _LONG:
        return None
    small = next(one for one in range(math.isqrt(length), 0, -1) if length % one == 0)
    return (small, length // small) if small >= 4 else None


def _reshaped(call: Call, x: Pair | Value, shape: Sequence[Any]) -> Any:
    return x.by_part(lambda part: call.reshape(part, shape)) if isinstance(x, Pair) else call.reshape(x, shape)


def _by_factors(
    call: Call, x: Pair | Value, axis: int, factors: tuple[int, int], forward: bool, scale: float | Value, count: Any
) -> Pair:  # fmt: skip
    """The transform along an axis of the length m n, as Cooley and Tukey have it.

    The element at i n + j becomes the frequency k + m l: a transform from i to k, a turn by j k, and one from j to l.
    """
    first, rank, (m, n) = x.real if isinstance(x, Pair) else x, x.rank, factors
    *outer, _ = _turned(call, first, axis).shape
    made = _transformed(call, _reshaped(call, _turned(call, x, axis), [*outer, m, n]), rank - 1, forward, scale)
    cosines, sines = _Waves(call, m, n, m * n).matrices(first.dtype, 1.0)

    def sum_of(name: str, a: Value, b: Value) -> Value:
        return call.op(name, call.op("mul", a, cosines), call.op("mul", b, sines))

    plus, minus = ("add", "sub") if forward else ("sub", "add")
    made = Pair(sum_of(plus, made.real, made.imaginary), sum_of(minus, made.imaginary, made.real))
    wanted = n if count is None else (count - 1) // m + 1
    made = _transformed(call, made, rank, forward, 1.0, wanted)
    flat: Pair = _reshaped(call, _turned(call, made, rank - 1), [*outer, wanted * m])
    if count is not None and count != wanted * m:
        flat = flat.by_part(lambda part: sliced(call, part, rank - 1, 0, count))
    return _turned(call, flat, axis)


def _transformed(
    call: Call, x: Pair | Value, axis: int, forward: bool, scale: float | Value, count: Any = None
) -> Pair:  # fmt: skip
    """The transform along an axis; `count` are the frequencies that are wanted, the first ones."""
    first = x.real if isinstance(x, Pair) else x
    length = first.shape[axis]
    if (factors := _factors(length)) and (count is None or isinstance(count, int)):
        return _by_factors(call, x, axis, factors, forward, scale, count)
    cosines, sines = _Waves(call, length, length if count is None else count, length).matrices(first.dtype, scale)
    turned = _turned(call, x, axis)

    def with_sines(part: Value, is_minus: bool, to: Value | None = None) -> Value:
        """The part times the sines, or less these, added to another tensor."""
        made = _times(call, part, sines)
        if to is not None:
            return call.op("sub" if is_minus else "add", to, made)
        # Where the sines are 0 it is 0, not -0: the angle of a negative number is pi.
        return call.op("sub", call.constant(0.0, made.dtype), made) if is_minus else made

    if not isinstance(turned, Pair):
        return _turned(call, Pair(_times(call, turned, cosines), with_sines(turned, forward)), axis)
    real = with_sines(turned.imaginary, not forward, _times(call, turned.real, cosines))
    imaginary = with_sines(turned.real, forward, _times(call, turned.imaginary, cosines))
    return _turned(call, Pair(real, imaginary), axis)


def _scale(call: Call, extents: Sequence[Any], normalization: int) -> float | Value:
    if normalization not in (_BY_ROOT, _BY_COUNT):
        return 1.0
    if _known(*extents):
        count = math.prod(extents)
        return 1.0 / count if normalization == _BY_COUNT else count**-0.5
    total: Any = 1
    for extent in extents:
        total = extent * total
    count = call.cast(call.number_of(total), "float64")
    if normalization == _BY_ROOT:
        count = call.op("sqrt", count)
    return call.op("div", call.constant(1.0, "float64"), count)


@complex_converter("_fft_c2c.default")
@converter("_fft_c2c.default")
def _fft(call: Call, x: Pair, dims: Sequence[int], normalization: int, forward: bool) -> Pair:
    axes = [call.axis(d, x.rank) for d in dims]
    scale = _scale(call, [x.real.shape[axis] for axis in axes], normalization)
    for axis in axes:
        x, scale = _transformed(call, x, axis, forward, scale), 1.0
    return x


@complex_converter("_fft_r2c.default")
@converter("_fft_r2c.default")
def _fft_of_real(call: Call, x: Value, dims: Sequence[int], normalization: int, onesided: bool) -> Pair:
    *others, last = [call.axis(d, x.rank) for d in dims]
    scale = _scale(call, [x.shape[axis] for axis in (*others, last)], normalization)
    made = _transformed(call, x, last, True, scale, call.shape[last] if onesided else None)
    for axis in others:
        made = _transformed(call, made, axis, True, 1.0)
    return made


@complex_converter("prims.fft_c2c.default")
@converter("prims.fft_c2c.default")
def _prims_fft(call: Call, x: Pair, dims: Sequence[int], forward: bool) -> Pair:
    return _fft(call, x, dims, 0, forward)


@complex_converter("prims.fft_r2c.default")
@converter("prims.fft_r2c.default")
def _prims_fft_of_real(call: Call, x: Value, dims: Sequence[int], onesided: bool) -> Pair:
    return _fft_of_real(call, x, dims, 0, onesided)


@complex_converter("prims.fft_c2r.default")
@converter("prims.fft_c2r.default")
def _prims_fft_to_real(call: Call, x: Pair, dims: Sequence[int], length: Any) -> Value:
    return _fft_to_real(call, x, dims, 0, length)


@complex_converter("_fft_c2r.default")
@converter("_fft_c2r.default")
def _fft_to_real(call: Call, x: Pair, dims: Sequence[int], normalization: int, length: Any) -> Value:
    """Half of the spectrum is given: the other half are its conjugates."""
    *others, last = [call.axis(d, x.rank) for d in dims]
    scale = _scale(call, [*(x.real.shape[axis] for axis in others), length], normalization)
    for axis in others:
        x = _transformed(call, x, axis, False, 1.0)
    rows = x.real.shape[last]
    if isinstance(rows, int) and isinstance(length, int) and rows > length // 2 + 1:
        rows = length // 2 + 1
        x = x.by_part(lambda part: sliced(call, part, last, 0, rows))
    if isinstance(length, int) and _factors(length) and isinstance(rows, int) and rows == length // 2 + 1:
        places = call.array(np.arange(length - rows, 0, -1, dtype=np.int64))
        real, imaginary = (call.op("gather", part, places, axis=last) for part in (x.real, x.imaginary))
        negative = call.op("sub", call.constant(0.0, imaginary.dtype), imaginary)
        whole = Pair(
            call.op("concat", x.real, real, axis=last), call.op("concat", x.imaginary, negative, axis=last)
        )  # fmt: skip
        return _transformed(call, whole, last, False, scale).real
    cosines, sines = _Waves(call, rows, length, length).matrices(x.real.dtype, scale, is_half=True)
    turned = _turned(call, x, last)
    made = call.op("sub", _times(call, turned.real, cosines), _times(call, turned.imaginary, sines))
    return _turned(call, made, last)
