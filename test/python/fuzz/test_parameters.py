"""Random tuples, shapes, addresses and what is left out: by every road the same, and never a crash.

What a call is to come to is said here a second time, in Python's words.
"""

from __future__ import annotations

import ctypes
import random
from typing import Any, NamedTuple

import numpy as np
import pytest

import tilewright as tw
from fuzz.outcomes import outcome
from tilewright import te

tvm_ffi = pytest.importorskip("tvm_ffi")

JUNK = (None, 0, -1, 1.5, True, "text", (), [], {}, (1,), (1, 2, 3), [None, None], ((), ()), 1 << 80)


class Pair(NamedTuple):
    scale: Any
    inner: Any


class Program:
    """`f(size: shape(n, m), A: pointer to float32[n, m], pair: (scale: float32[m], inner: (k: int8, beta: float32)),
    C: float32[n, m], gamma: float32 = 2.0, bias: float32[m] or None)`"""

    def __init__(self) -> None:
        n, m = te.var("n"), te.var("m", divisible_by=4, min=4)
        k, beta, gamma = te.var("k", "int8"), te.var("beta", "float32"), te.var("gamma", "float32", default=2.0)
        A = te.placeholder((n, m), name="A")
        scale = te.placeholder((m,), name="scale")
        bias = te.placeholder((m,), name="bias", optional=True)
        T = te.compute((n, m), lambda i, j: A[i, j] * scale[j] + k.astype("float32") * beta * gamma, name="T")
        C = te.compute((n, m), lambda i, j: te.if_given(bias, T[i, j] + bias[j], T[i, j]), name="C")
        args = [te.shape("size", (n, m)), te.pointer(A), Pair(scale, (k, beta)), C, gamma, bias]
        self.function = tw.build(te.create_schedule(C.op), args, "cpu", name="f")
        self.text = str(self.function.signature)

    @staticmethod
    def expected(a: np.ndarray, scale: np.ndarray, k: int, beta: float, rest: list[Any]) -> np.ndarray:
        gamma, bias = rest[0] if rest else 2.0, rest[1] if len(rest) > 1 else None
        result = a * scale + np.float32(k) * np.float32(beta) * np.float32(gamma)
        return result if bias is None else result + bias


def aligned(shape: tuple[int, ...]) -> np.ndarray:
    size = 4 * int(np.prod(shape))
    memory = np.zeros(size + 16, "uint8")
    start = -memory.ctypes.data % 16
    return memory[start : start + size].view("float32").reshape(shape)


def spoil(choose: random.Random, args: list[Any]) -> bool:
    """Puts something else somewhere. Whether it did."""
    if choose.random() < 0.6:
        return False
    at: Any = args
    position = choose.randrange(len(at))
    while isinstance(at[position], list) and at[position] and choose.random() < 0.7:
        at = at[position]
        position = choose.randrange(len(at))
    what = choose.random()
    if what < 0.6:
        at[position] = choose.choice(JUNK)
    elif what < 0.8:
        at.append(choose.choice(JUNK))
    else:
        del at[position]
    return True


def check(seeds: range) -> None:
    program = Program()
    function, bind, good = program.function, program.function.signature.bind, 0
    for seed in seeds:
        choose = random.Random(seed)
        n, m = choose.choice((0, 1, 3)), choose.choice((4, 8))
        a, scale, c, bias = (aligned(shape) for shape in ((n, m), (m,), (n, m), (m,)))
        a[:], scale[:], bias[:], c[:] = choose.randrange(9), 3, 0.5, np.nan
        k, beta = choose.randrange(-128, 128), choose.choice((0.5, 2.0))
        rest = [4.0, choose.choice((bias, None))][: choose.randrange(3)]
        address: Any = choose.choice((int, ctypes.c_void_p))(a.ctypes.data)
        args: list[Any] = [[n, m], address, [scale, [k, beta]], c, *rest]
        spoiled = spoil(choose, args)
        told = outcome(function, args)
        where = f"seed {seed}: {args}: {told}"
        if told is not None:
            assert spoiled and told[0] in (TypeError, ValueError) and told[1].startswith(f"{program.text}: "), where
        elif not spoiled:
            good += 1
            np.testing.assert_array_equal(c, program.expected(a, scale, k, beta, rest), err_msg=where)
        leaves_output = told is None and not any(each is c for each in args)
        if len(args) >= 4:
            assert outcome(lambda *each: bind(each), args) == told, where
        # What Python calls something, tvm-ffi may call something else.
        by_ffi = outcome(function.ffi, args) if not leaves_output else told
        assert (by_ffi is None) == (told is None) and (by_ffi is None or by_ffi[0] is told[0]), f"{where} {by_ffi}"  # type: ignore[index]
    assert good > len(seeds) // 4, "too few calls went through to mean anything"


@pytest.mark.sweep
def test_random_parameters() -> None:
    check(range(2000))


@pytest.mark.slow
def test_a_million_random_parameters() -> None:
    check(range(1_000_000))
