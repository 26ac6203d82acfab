"""Fourier transforms, as matmuls with the cosines and sines of their angles."""

from __future__ import annotations

import numpy as np

from ...graph import Value
from ..node import Node, converter
from .parts import as_last, of_last


def _transformed(
    node: Node, real: Value, imaginary: Value | None, length: int, count: int, inverse: bool
) -> tuple[Value, Value]:
    """The transform of the last dimension: its real and its imaginary part."""
    op = node.op_
    have = real.shape[-1]
    if not isinstance(have, int):
        raise node.error(f"expected a signal of a length that is known, got {have}")
    used = min(have, length)
    angles = 2 * np.pi * ((np.arange(used)[:, None] * np.arange(count)) % length) / length
    factor = 1 / length if inverse else 1.0

    def times(x: Value, matrix: np.ndarray) -> Value:
        if used < have:
            x = op("slice", x, starts=[0] * x.rank, steps=[1] * x.rank, sizes=[*x.shape[:-1], used])
        flat = x if x.rank > 1 else node.reshape(x, [1, used])
        return op("matmul", flat, node.constant(matrix * factor, x), acc=x.dtype, to=x.dtype)

    cosines, sines = np.cos(angles), np.sin(angles) * (1 if inverse else -1)
    if imaginary is None:
        return times(real, cosines), times(real, sines)
    return (
        op("sub", times(real, cosines), times(imaginary, sines)),
        op("add", times(real, sines), times(imaginary, cosines)),
    )


@converter("DFT")
def _dft(node: Node) -> Value:
    x = node.tensor(0)
    axis = int(node.number(2, -2)) if node.version >= 20 else node.attr("axis", 1)
    axis = node.axis(axis, x.rank)
    inverse, onesided = bool(node.attr("inverse", 0)), bool(node.attr("onesided", 0))
    length = int(node.number(1)) if node.has(1) else x.shape[axis]
    if not isinstance(length, int):
        raise node.error(f"expected a signal of a length that is known, got {length}")
    rank = x.rank - 1
    order = [d for d in range(rank) if d != axis] + [axis]
    parts: list[Value | None] = [of_last(node, x, 0), of_last(node, x, 1) if str(x.shape[-1]) == "2" else None]
    if inverse and onesided:
        return _inverse_onesided(node, parts, order, length, axis, rank)
    turned = [None if part is None else node.op_("transpose", part, permutation=order) for part in parts]
    assert turned[0] is not None
    count = length // 2 + 1 if onesided else length
    made = _transformed(node, turned[0], turned[1], length, count, inverse)
    back = [order.index(d) for d in range(rank)]
    real, imaginary = (node.op_("transpose", part, permutation=back) for part in made)
    return as_last(node, real, imaginary)


def _inverse_onesided(
    node: Node, parts: list[Value | None], order: list[int], length: int, axis: int, rank: int
) -> Value:
    """The real signal of the first half of its spectrum: the other half are its conjugates."""
    op = node.op_
    real, imaginary = parts
    assert real is not None
    have = real.shape[axis]
    if imaginary is None or not isinstance(have, int):
        raise node.error("expected half of a complex spectrum of a length that is known")
    if not node.has(1):
        length = 2 * (have - 1)
    rows = np.arange(min(have, length // 2 + 1))
    weight = np.where((rows == 0) | (2 * rows == length), 1.0, 2.0)[:, None] / length
    angles = 2 * np.pi * ((rows[:, None] * np.arange(length)) % length) / length
    total = None
    for part, matrix in ((real, np.cos(angles) * weight), (imaginary, -np.sin(angles) * weight)):
        turned = op("transpose", part, permutation=order)
        if len(rows) < have:
            sizes = [*turned.shape[:-1], len(rows)]
            turned = op("slice", turned, starts=[0] * rank, steps=[1] * rank, sizes=sizes)
        matmul = op("matmul", turned, node.constant(matrix, part), acc=part.dtype, to=part.dtype)
        total = matmul if total is None else op("add", total, matmul)
    assert total is not None
    signal = op("transpose", total, permutation=[order.index(d) for d in range(rank)])
    return node.reshape(signal, [*signal.shape, 1])


@converter("STFT")
def _stft(node: Node) -> Value:
    op = node.op_
    x = node.tensor(0)
    step = int(node.number(1))
    window = node.tensor(2) if node.has(2) else None
    length = int(node.number(3)) if node.has(3) else (window.shape[0] if window is not None else 0)
    samples = x.shape[1]
    if not isinstance(length, int) or not isinstance(samples, int) or not length:
        raise node.error("expected a signal, and frames, of a length that is known")
    frames = (samples - length) // step + 1
    places = np.arange(frames)[:, None] * step + np.arange(length)
    parts: list[Value | None] = []
    for number in range(2):
        if number == 1 and (x.rank < 3 or str(x.shape[-1]) != "2"):
            parts.append(None)
            continue
        signal = of_last(node, x, number) if x.rank == 3 else x
        framed = op("gather", signal, node.builder.constant(places), axis=1)
        parts.append(op("mul", framed, window) if window is not None else framed)
    assert parts[0] is not None
    count = length // 2 + 1 if node.attr("onesided", 1) else length
    return as_last(node, *_transformed(node, parts[0], parts[1], length, count, False))


@converter("MelWeightMatrix")
def _mel_weight_matrix(node: Node) -> Value:
    """Triangles of frequencies, evenly apart in mel. All inputs are numbers that have to be known."""
    from ..dtypes import dtype_name

    bins, length, rate = (int(node.number(i)) for i in range(3))
    low, high = (2595 * np.log10(1 + float(node.number(i)) / 700) for i in (3, 4))
    mels = np.arange(bins + 2) * ((high - low) / (bins + 2)) + low
    places = np.floor((length + 1) * 700 * (10 ** (mels / 2595) - 1) / rate).astype(np.int64)
    at, matrix = np.arange(length // 2 + 1), np.zeros((length // 2 + 1, bins))
    for i, (begin, center, end) in enumerate(zip(places, places[1:], places[2:])):
        rising, falling = (at >= begin) & (at <= center), (at >= center) & (at < end)
        matrix[rising, i] = (at[rising] - begin) / (center - begin) if center != begin else 1
        matrix[falling, i] = (end - at[falling]) / max(end - center, 1)
    return node.constant(matrix, dtype_name(node.attr("output_datatype", 1)))
