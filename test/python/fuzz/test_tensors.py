"""Random tensors of DLPack by the C ABI: what no array of Python's can be is refused in full text, or runs.

Tensors here have the kinds, devices, strides and offsets that other languages may hand over: null strides, byte offsets,
types of several lanes, devices of other makers, memory that overlaps. Each message is made a second time, in Python.
"""

from __future__ import annotations

import ctypes
import random
from dataclasses import dataclass

import numpy as np
import pytest

import tilewright as tw
from kinds import kind_of
from tilewright import te
from tilewright.runtime.dlpack import DLTensor
from tilewright.runtime.ffi import libtvm_ffi, raise_error

pytest.importorskip("tvm_ffi")

TEXT = "f(A: float32[n, 3], B: int32[n], C: float32[n, 3])"
NAMES, DTYPES, RANKS, OUTPUT = "ABC", ((2, 32, 1), (0, 32, 1), (2, 32, 1)), (2, 1, 2), 2
KNOWN = {
    (0, 8): "int8", (0, 32): "int32", (0, 64): "int64", (1, 8): "uint8", (1, 32): "uint32", (2, 16): "float16",
    (2, 32): "float32", (2, 64): "float64", (4, 16): "bfloat16", (5, 64): "complex64", (6, 8): "bool",
    (10, 8): "float8_e4m3fn", (14, 8): "float8_e8m0fnu",
}  # fmt: skip
DEVICES = {1: "cpu", 2: "cuda", 3: "cpu", 4: "opencl", 7: "vulkan", 10: "rocm", 13: "cuda", 99: "device 99"}
WRONG_TYPES = ((4, "a pointer"), (0, "None"), (1, "int"), (68, "a function"), (500, "an object that is no tensor"))


class Value(ctypes.Structure):
    """TVMFFIAny."""

    _fields_ = (("type", ctypes.c_int32), ("padding", ctypes.c_uint32), ("pointer", ctypes.c_void_p))


class Object(ctypes.Structure):
    """A tensor of tvm-ffi: the header of its objects, and the tensor."""

    _fields_ = (("header", ctypes.c_int64 * 3), ("tensor", DLTensor))


@dataclass
class Argument:
    """A tensor as it was made up, or what is none."""

    value: Value
    what: str  # where it is no tensor
    dtype: tuple[int, int, int] = (2, 32, 1)
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] | None = None
    device: int = 1
    address: int = 0
    keep: object = None

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def bytes(self) -> int:
        return self.size * (self.dtype[1] // 8)


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape)))


class Maker:
    """Random arguments. All memory is one block, so that nothing that goes through reads or writes elsewhere."""

    def __init__(self) -> None:
        self.memory = np.zeros(1 << 16, "uint8")
        self.base = self.memory.ctypes.data + -self.memory.ctypes.data % 64

    def argument(self, choose: random.Random, position: int, n: int) -> Argument:
        if choose.random() < 0.02:
            if choose.random() < 0.3:
                return Argument(Value(choose.choice((7, 70)), 0, None), "a null pointer")
            kind, what = choose.choice(WRONG_TYPES)
            return Argument(Value(kind, 0, self.base), what)
        dtype = DTYPES[position]
        if choose.random() < 0.04:
            code, bits = choose.choice([*KNOWN, (17, 4), (3, 64), (200, 8)])
            dtype = (code, bits, choose.choice((1, 1, 2, 4)))
        shape = (n, 3)[: RANKS[position]]
        if choose.random() < 0.06:
            shape = tuple(max(0, extent + choose.choice((-1, 1, 2))) for extent in shape)
        if choose.random() < 0.03:
            shape = choose.choice(((), shape[1:], (*shape, 1), (1, *shape), (2,) * 9))
        strides: tuple[int, ...] | None = row_major(shape)
        flaw = choose.random()
        if flaw < 0.15:
            strides = None
        elif flaw < 0.25:
            strides = tuple(
                choose.choice((stride, stride, 0, -stride, stride + 1, 1 << 40)) for stride in row_major(shape)
            )
        device = choose.choice((1,) * 40 + (3,) * 4 + tuple(DEVICES))
        start = self.base + (1 << 13) * position + 16 * choose.randrange(8)
        if choose.random() < 0.04:
            start = self.base + (1 << 13) * choose.randrange(3) + 16 * choose.randrange(8)
        start += choose.choice((0,) * 30 + (4, 8, 12, 1))
        offset = choose.choice((0, 0, 0, 16, 64, 4))
        extents = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        steps = None if strides is None else (ctypes.c_int64 * max(len(shape), 1))(*strides)
        kind = choose.choice((7, 70))
        made = Object(
            (ctypes.c_int64 * 3)(1, kind, 0),
            DLTensor(start - offset, device, choose.choice((0, 0, 5)), len(shape), *dtype, extents, steps, offset),
        )
        where = ctypes.addressof(made) + (24 if kind == 7 else 0)
        return Argument(Value(kind, 0, where), "", dtype, shape, strides, device, start, (made, extents, steps))


def name_of(dtype: tuple[int, int, int]) -> str:
    code, bits, lanes = dtype
    known = KNOWN.get((code, bits))
    return known if known and lanes == 1 else f"DLPack type {code} with {bits} bits and {lanes} lanes"


def expected(arguments: list[Argument]) -> tuple[type[Exception], str] | None:
    """What is wrong with a call, in the words of docs/host-functions.md."""
    if len(arguments) != 3:
        return TypeError, f"expected 3 arguments, got {len(arguments)}"
    n = None
    for position, one in enumerate(arguments):
        found = wrong_with(one, position, n)
        if found is not None:
            kind, text = found
            return kind, f"argument {position} ({NAMES[position]}): {text}"
        n = one.shape[0] if n is None else n
    output = arguments[OUTPUT]
    for other in arguments[:OUTPUT]:
        begins, ends = (
            max(output.address, other.address),
            min(output.address + output.bytes, other.address + other.bytes),
        )
        if begins < ends:
            beside = NAMES[arguments.index(other)]
            shared = f"{ends - begins} byte{'s' if ends - begins > 1 else ''}"
            return ValueError, (
                f"argument 2 (C): expected memory of its own beside {beside}, for the function writes C, got {shared} shared"
            )
    return None


def wrong_with(one: Argument, position: int, n: int | None) -> tuple[type[Exception], str] | None:
    if one.what:
        return TypeError, f"expected a tensor, got {one.what}"
    if one.dtype != DTYPES[position]:
        return TypeError, f"expected dtype {name_of(DTYPES[position])}, got {name_of(one.dtype)}"
    rank = RANKS[position]
    if len(one.shape) != rank:
        return ValueError, f"expected {rank} dimension{'s' if rank > 1 else ''}, got shape {one.shape}"
    if n is not None and one.shape[0] != n:
        place = "as in dimension 0 of A, in dimension 0"
        return ValueError, f"expected extent n = {n}, {place}, got shape {one.shape}"
    if rank == 2 and one.shape[1] != 3:
        return ValueError, f"expected extent 3 in dimension 1, got shape {one.shape}"
    if one.device not in (1, 3):
        return ValueError, f"expected an array on cpu, got one on {DEVICES[one.device]}"
    if one.strides is not None and one.size:
        wanted = row_major(one.shape)
        if any(extent != 1 and got != want for extent, got, want in zip(one.shape, one.strides, wanted)):
            return ValueError, f"expected a row-major array, got strides {one.strides} for shape {one.shape}"
    if one.address % 16 and one.size:
        return ValueError, f"expected memory aligned to 16 bytes, got an address {one.address % 16} bytes past that"
    return None


def check(seeds: range) -> None:
    n = te.var("n")
    a, b = te.placeholder((n, 3), name="A"), te.placeholder((n,), dtype="int32", name="B")
    c = te.compute((n, 3), lambda i, j: a[i, j] + b[i].astype("float32"), name="C")
    function = tw.build(te.create_schedule(c.op), [a, b, c], "cpu", name="f")
    libtvm_ffi()
    kinds = (ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)
    call = ctypes.CFUNCTYPE(*kinds)(function._program.host.safe_call)
    maker, good = Maker(), 0
    for seed in seeds:
        choose = random.Random(seed)
        n = choose.choice((0, 1, 2, 5))
        arguments = [maker.argument(choose, position, n) for position in range(3)]
        if choose.random() < 0.02:
            arguments = choose.choice((arguments[:1], [], arguments * 2))
        values = (Value * max(len(arguments), 1))(*(one.value for one in arguments))
        result = Value(0, 0, None)
        told = None
        if call(None, values, len(arguments), ctypes.byref(result)):
            try:
                raise_error()
            except (TypeError, ValueError) as error:
                told = kind_of(error), str(error)
        assert (result.type, result.pointer) == (0, None)
        wanted = expected(arguments)
        assert told == (wanted and (wanted[0], f"{TEXT}: {wanted[1]}")), f"seed {seed}"
        good += told is None
    assert len(seeds) // 8 < good < len(seeds), "too few calls went through to mean anything"


@pytest.mark.sweep
def test_random_tensors() -> None:
    check(range(5000))


@pytest.mark.slow
def test_a_million_random_tensors() -> None:
    check(range(1_000_000))
