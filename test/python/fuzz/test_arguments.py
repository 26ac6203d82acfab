"""Random arguments: never a crash, always the right answer, by every road the same.

What is right is said here a second time, in NumPy's words.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

import tilewright as tw
from fuzz.outcomes import outcome
from tilewright import te

tvm_ffi = pytest.importorskip("tvm_ffi")

DTYPES = ("float32", "float64", "int32", "uint8", "bool", "float16")
JUNK = (None, 0, -1, 1.5, True, "text", "a longer text", b"x", (), [], {}, object(), len, np.float32(1), 1 << 80, ...)


class Program:
    """`f(A: float32[n, 3], B: int32[n, m, 2], C: float32[n, m])`, with m divisible by 4 and at least 4."""

    def __init__(self) -> None:
        n, m = te.var("n"), te.var("m", divisible_by=4, min=4)
        a = te.placeholder((n, 3), name="A")
        b = te.placeholder((n, m, 2), dtype="int32", name="B")
        c = te.compute((n, m), lambda i, j: a[i, 1] + b[i, j, 0].astype("float32"), name="C")
        self.function = tw.build(te.create_schedule(c.op), [a, b, c], "cpu", name="f")
        self.dtypes = ("float32", "int32", "float32")
        self.text = str(self.function.signature)

    def shapes(self, n: int, m: int) -> tuple[tuple[int, ...], ...]:
        return (n, 3), (n, m, 2), (n, m)

    def fits(self, arrays: list[object]) -> bool:
        """Whether a call is to go through."""
        if len(arrays) != 3 or not all(isinstance(array, np.ndarray) for array in arrays):
            return False
        a, b, c = arrays
        if (a.dtype, b.dtype, c.dtype) != tuple(map(np.dtype, self.dtypes)):  # type: ignore[union-attr]
            return False
        if b.ndim != 3 or not all(x.shape == y for x, y in zip((a, b, c), self.shapes(b.shape[0], b.shape[1]))):
            return False
        if b.shape[1] % 4 or b.shape[1] < 4:
            return False
        for array in (a, b, c):
            if not array.flags.c_contiguous or (array.size and array.ctypes.data % 16):
                return False
        return bool(c.flags.writeable) and not any(np.may_share_memory(c, x) for x in (a, b))


def random_array(choose: random.Random, dtype: str, shape: tuple[int, ...], pool: np.ndarray) -> np.ndarray:
    """An array of that dtype and shape, with a flaw now and then."""
    if choose.random() < 0.08:
        dtype = choose.choice(DTYPES)
    if choose.random() < 0.1:
        shape = tuple(max(0, extent + choose.choice((-1, 0, 0, 1, 4))) for extent in shape)
    if choose.random() < 0.04:
        shape = choose.choice((shape[1:], (*shape, 1), (1, *shape)))
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    offset = 16 * choose.randrange(64) + choose.choice((0,) * 20 + (4, 8, 1))
    own = np.zeros(size + 64, "uint8") if choose.random() < 0.7 else pool
    start = (-own.ctypes.data) % 16 + (offset if own is pool else offset % 16)
    array = own[start : start + size].view(dtype).reshape(shape)
    flaw = choose.random()
    if flaw < 0.03:
        array = np.asfortranarray(array)
    elif flaw < 0.06 and array.ndim:
        array = np.repeat(array, 2, axis=-1)[..., ::2]
    elif flaw < 0.08 and array.ndim:
        array = array[::-1]
    elif flaw < 0.10:
        array = np.broadcast_to(array, shape)
    elif flaw < 0.12:
        array = array.view()
        array.flags.writeable = False
    return array


def random_call(choose: random.Random, program: Program, pool: np.ndarray) -> list[object]:
    n, m = choose.choice((0, 1, 2, 5)), choose.choice((4, 8, 4, 8, 0, 3))
    arrays: list[object] = [
        random_array(choose, dtype, shape, pool) for dtype, shape in zip(program.dtypes, program.shapes(n, m))
    ]
    if choose.random() < 0.05:
        arrays[choose.randrange(3)] = choose.choice(JUNK)
    if choose.random() < 0.03:
        del arrays[choose.randrange(3)]  # two would be the inputs, and the output allocated
        del arrays[choose.randrange(2)]
    elif choose.random() < 0.02:
        arrays.append(choose.choice(arrays))
    return arrays


def check(seeds: range) -> None:
    program = Program()
    pool = np.zeros(8192, "uint8")  # for the largest, wherever it begins
    function, bind = program.function, program.function.signature.bind
    function(np.ones((2, 3), "float32"), np.ones((2, 4, 2), "int32"), np.zeros((2, 4), "float32"))
    good = 0
    for seed in seeds:
        choose = random.Random(seed)
        arrays = random_call(choose, program, pool)
        told = outcome(function, arrays)
        where = f"seed {seed}: {[getattr(array, 'shape', array) for array in arrays]}"
        assert (told is None) == program.fits(arrays), f"{where}: {told}"
        good += told is None
        if told is not None:
            assert told[0] in (TypeError, ValueError) and told[1].startswith(f"{program.text}: "), f"{where}: {told}"
        assert outcome(lambda *each: bind(each), arrays) == told, where
        # What tvm-ffi converts by itself comes as it is: read-only arrays and some others it refuses on its own.
        plain = all(isinstance(array, np.ndarray) and array.flags.writeable for array in arrays)
        if plain and told is not None:
            assert outcome(function.ffi, arrays) == told, where
        elif plain:
            assert outcome(function.ffi, arrays) is None, where
    assert good > len(seeds) // 8, "too few calls went through to mean anything"


@pytest.mark.sweep
def test_random_arguments() -> None:
    check(range(3000))


@pytest.mark.slow
def test_a_million_random_arguments() -> None:
    check(range(1_000_000))
