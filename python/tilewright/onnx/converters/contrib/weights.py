"""Weights whose elements have few bits and whose blocks have scales: matmuls by them, and rows of them."""

from __future__ import annotations

import math

import numpy as np

from ....graph import Value
from ....graph.operators.common import Extent
from ...narrow import Narrow, decoded
from ...node import Node, contrib
from ..contractions import matmul
from ..parts import as_last, part
from ..quantization import spread

__all__ = ["FP4", "NF4", "dequantized", "unpacked"]

_BITS = (2, 4, 8)


def bits_of(node: Node, name: str = "bits") -> int:
    """How many bits an element has."""
    bits = node.attr(name, 4)
    if bits not in _BITS:
        raise node.error(f"{name}: expected {', '.join(map(str, _BITS[:-1]))} or {_BITS[-1]}, got {bits}")
    return bits


def unpacked(node: Node, x: Value, bits: int, count: Extent) -> Value:
    """So many elements of some bits along the last dimension of bytes, the low bits first."""
    axis = x.rank - 1
    if bits == 4:
        x = node.op_("unpack", x, axis=axis)
    elif bits == 2:
        shifts = node.builder.constant(np.arange(0, 8, 2, dtype=np.uint8))
        each = node.op_("shift_right", node.reshape(x, [*x.shape, 1]), shifts)
        each = node.op_("and", each, node.constant(3, x))
        x = node.reshape(each, [*x.shape[:-1], x.shape[-1] * 4])
    return x if str(x.shape[axis]) == str(count) else part(node, x, axis, 0, count)


def dequantized(
    node: Node, packed: Value, scales: Value, zeros: Value | None, bits: int, block: int, count: Extent
) -> Value:
    """Floats of elements in bytes, each `block` of which along the last dimension has a scale and a zero point.

    Zero points are floats, or packed as the elements are. Without them it is the middle of the range.
    """
    if zeros is None:
        zero = node.reshape(node.constant(1 << bits - 1, "uint8"), [])
    elif zeros.dtype == "uint8":
        zero = unpacked(node, zeros, bits, scales.shape[-1])
    else:
        zero = zeros
    whole = unpacked(node, packed, bits, count)
    return node.op_("dequantize", whole, scales, zero, axis=whole.rank - 1, block=block, to=scales.dtype)


def _matrix(node: Node, position: int, shape: list[int]) -> Value:
    """An input in the shape of a matrix. Tools write it flat, too."""
    x = node.tensor(position)
    if all(isinstance(extent, int) for extent in x.shape) and math.prod(x.shape) != math.prod(shape):
        raise node.error(f"input {position}: expected {math.prod(shape)} elements, {shape}, got {list(x.shape)}")
    return node.reshape(x, shape)


@contrib("MatMulNBits")
def _matmul_n_bits(node: Node) -> Value:
    x, bits, block = node.tensor(0), bits_of(node), node.attr("block_size")
    if node.attr("weight_prepacked", 0):
        raise node.error("expected weight_prepacked to be 0: the layout of other weights is that of one device")
    rows, columns = node.attr("K"), node.attr("N")
    blocks = -(-rows // block)
    packed = _matrix(node, 1, [columns, blocks * block * bits // 8])
    scales = _matrix(node, 2, [columns, blocks])
    zeros = None
    if node.has(3):
        is_packed = node.type(3).dtype == "uint8"
        zeros = _matrix(node, 3, [columns, -(-blocks * bits // 8) if is_packed else blocks])
    if node.has(4):
        weight = _by_groups(node, packed, scales, zeros, bits, rows)
    else:
        weight = dequantized(node, packed, scales, zeros, bits, block, rows)
    y = matmul(node, x, node.op_("transpose", weight, permutation=[1, 0]))
    return node.op_("add", y, node.tensor(5)) if node.has(5) else y


def _by_groups(node: Node, packed: Value, scales: Value, zeros: Value | None, bits: int, rows: int) -> Value:
    """Floats of elements whose blocks are those that an index for each row names."""
    groups = part(node, node.tensor(4), 0, 0, rows)
    whole = unpacked(node, packed, bits, packed.shape[-1] * 8 // bits)  # type: ignore[operator]
    whole = part(node, whole, 1, 0, rows)
    if zeros is None:
        zero = node.constant(1 << bits - 1, "float32")
    else:
        zeros = unpacked(node, zeros, bits, scales.shape[-1]) if zeros.dtype == "uint8" else zeros
        zero = node.cast(node.op_("gather", zeros, groups, axis=1), "float32")
    scale = node.cast(node.op_("gather", scales, groups, axis=1), "float32")
    return node.cast(node.op_("mul", node.op_("sub", node.cast(whole, "float32"), zero), scale), scales.dtype)


# The values of four bits as bitsandbytes has them, by quant_type.
_HALF: list[float] = [0, 0.0052083333, 0.66666667, 1, 0.33333333, 0.5, 0.16666667, 0.25]
FP4 = [*_HALF, *(-one for one in _HALF)]
NF4 = [
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
]  # fmt: skip


@contrib("MatMulBnb4")
def _matmul_bnb4(node: Node) -> Value:
    x, rows, columns, block = node.tensor(0), node.attr("K"), node.attr("N"), node.attr("block_size")
    largest = node.tensor(2)
    table = np.array(NF4 if node.attr("quant_type") == 1 else FP4, np.float32)
    blocks = -(-rows * columns // block)
    packed = node.tensor(1)
    # The high four bits are the first element.
    high = node.op_("shift_right", packed, node.constant(4, packed))
    low = node.op_("and", packed, node.constant(15, packed))
    codes = node.reshape(as_last(node, high, low), [packed.shape[0] * 2])
    real = node.op_("gather", node.builder.constant(table), node.cast(codes, "int32"), axis=0)
    behind = blocks * block - real.shape[0]
    real = node.op_("pad", real, node.constant(0, real), before=[0], after=[behind], mode="constant")
    scaled = node.op_(
        "mul", node.reshape(real, [blocks, block]), node.cast(node.reshape(largest, [blocks, 1]), "float32")
    )
    flat = part(node, node.reshape(scaled, [blocks * block]), 0, 0, rows * columns)
    weight = node.cast(node.reshape(flat, [columns, rows]), x.dtype)
    if node.attr("transB", 1):
        weight = node.op_("transpose", weight, permutation=[1, 0])
    return matmul(node, x, weight)


@contrib("GatherBlockQuantized")
def _gather_block_quantized(node: Node) -> Value:
    data, indices, scales = (node.tensor(i) for i in range(3))
    axis = node.axis(node.attr("gather_axis", 0), data.rank)
    along = node.axis(node.attr("quantize_axis", 1), data.rank)
    block = node.attr("block_size", 128)
    stored = data.stored if isinstance(data, Narrow) else data.dtype
    if stored not in ("uint8", "int4", "uint4"):
        raise node.error(f"expected data of uint8, int4 or uint4, got {stored}")

    def rows(x: Value) -> Value:
        return node.op_("gather", x, indices, axis=axis)

    place = along + indices.rank - 1 if along > axis else along
    if stored == "uint8":
        bits = bits_of(node)
        zeros = rows(node.tensor(3)) if node.has(3) else None
        if along != data.rank - 1:
            raise node.error(f"quantize_axis: expected the last one of uint8, {data.rank - 1}, got {along}")
        packed = rows(data)
        return dequantized(node, packed, rows(scales), zeros, bits, block, packed.shape[-1] * 8 // bits)  # type: ignore[operator]

    def real(position: int) -> Value:
        x = node.tensor(position)
        assert isinstance(x, Narrow)  # of the type of the data
        taken = rows(Value(x.value, x.type))
        return decoded(node, Narrow(taken.value, taken.type, x.stored))

    y = real(0)
    if node.has(3):
        y = node.op_("sub", y, spread(node, real(3), y, place, block))
    return node.cast(
        node.op_("mul", y, spread(node, node.cast(rows(scales), "float32"), y, place, block)), scales.dtype
    )
