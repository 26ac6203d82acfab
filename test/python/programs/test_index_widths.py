"""Indices of data and of sums beyond 32 bits, on the simulator with the widths that indices have on a GPU, and as PTX.

Each program was wrong there while widths were chosen by buffers and constants alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mlir import ir
from mlir.passmanager import PassManager

import tilewright as tw
from tilewright import te, testing
from tilewright.te import Tensor

AS_ON_A_GPU = "sim -gpu-indices=on"
N = 64
LARGE = {
    "int64": [2**32, 2**32 + 7, -(2**33) - 5, 2**31, 2**40 + 999, -1, -1001, 2**62, -(2**62), 12],
    "uint32": [2**32 - 1, 2**31, 2**31 + 7, 3_000_000_000, 0, 999, 1000, 4_000_000_001],
    "uint64": [2**64 - 1, 2**63, 2**63 + 12345, 2**32, 2**32 - 1, 5, 2**40 + 3],
    "int32": [2**31 - 1, -(2**31), -1, 999, 1000, -1001, 1_500_000_000, -1_500_000_001],
}


def data(dtype: str) -> np.ndarray[Any, Any]:
    return np.resize(np.array(LARGE[dtype], dtype), N)


def bound(output: Tensor) -> te.Schedule:
    s = te.create_schedule(output.op)
    s[output].bind(output.op.axis[0], te.thread_axis("threadIdx.x"))
    return s


def cut(module: ir.Module) -> None:
    """Gives all indices 32 bits, as was done for each module whose buffers and constants are small."""
    with module.context:
        for op in module.body:
            if op.operation.name == "gpu.module":
                op.attributes["dlti.dl_spec"] = ir.Attribute.parse("#dlti.dl_spec<index = 32 : i64>")
        PassManager.parse("builtin.module(gpu.module(lower-affine,cut-indices))").run(module.operation)


def run(args: list[Tensor], arrays: list[np.ndarray[Any, Any]], **options: Any) -> np.ndarray[Any, Any]:
    out = args[-1]
    function = tw.build(bound(out), args, name="f", **{"target": AS_ON_A_GPU, **options})
    (got,) = testing.run(function, arrays, [(tuple(int(n) for n in arrays[0].shape), out.dtype)])
    return got


# name: what is read of ids, with numbers of any width, as te and as NumPy say it in Python's whole numbers
Reading = Callable[[Any, Any], Any]
READINGS: dict[str, tuple[tuple[str, ...], Reading, Callable[[int, int], int]]] = {
    "remainder": (("int64", "uint32", "uint64", "int32"), lambda x, i: x % 1000, lambda x, i: x % 1000),
    "quotient": (("int64", "uint32", "uint64"), lambda x, i: (x // 7) % 1000, lambda x, i: (x // 7) % 1000),
    "shifted": (("int64",), lambda x, i: (x + i) % 1000, lambda x, i: (x + i) % 1000),
    "difference": (("int64",), lambda x, i: (i - x) % 1000, lambda x, i: (i - x) % 1000),
    "clamped": (("int64",), lambda x, i: te.max(te.min(x, 999), 0), lambda x, i: max(min(x, 999), 0)),
    "clamped below": (("uint32", "uint64"), lambda x, i: te.min(x, 999), lambda x, i: min(x, 999)),
    "compared": (("int64",), lambda x, i: te.select(x > 999, 999, 0), lambda x, i: 999 if x > 999 else 0),
    "half": (("int64",), lambda x, i: te.truncmod(x, 500) + 499, lambda x, i: int(np.fmod(x, 500)) + 499),
}
# These have their type's width until they are small.
COMPUTED_AS_DATA = {"clamped", "clamped below", "compared", "half"}
IN_THEIR_TYPE = {("remainder", "uint32"), ("remainder", "uint64"), ("remainder", "int32"), ("quotient", "uint32")}
IN_THEIR_TYPE |= {("quotient", "uint64")}
CASES = [(name, dtype) for name, (dtypes, _, _) in READINGS.items() for dtype in dtypes]
CUT = [case for case in CASES if case[0] not in COMPUTED_AS_DATA and case not in IN_THEIR_TYPE]


def read(name: str, dtype: str, **options: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """What is read of a table of its own positions, and what should be."""
    _, reading, exact = READINGS[name]
    ids = te.placeholder((N,), dtype=dtype, name="ids")
    T = te.placeholder((1000,), name="T")
    Y = te.compute((N,), lambda i: T[reading(ids[i], i)], name="Y")
    got = run([ids, T, Y], [data(dtype), np.arange(1000, dtype="float32")], **options)
    return got, np.array([exact(int(x), i) for i, x in enumerate(data(dtype))], "float32")


@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_index_of_data(name: str, dtype: str) -> None:
    got, want = read(name, dtype)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(("name", "dtype"), CUT)
def test_the_simulator_shows_what_is_cut(name: str, dtype: str) -> None:
    try:
        got, want = read(name, dtype, target="sim", after={"gpu": cut})
    except tw.SimulationError as error:
        assert "out of bounds" in str(error)
    else:
        assert (got != want).any()


@pytest.mark.parametrize("dtype", ["int64", "uint32", "uint64"])
def test_guard_of_data(dtype: str) -> None:
    ids = te.placeholder((N,), dtype=dtype, name="ids")
    T = te.placeholder((1000,), name="T")
    inside = lambda x: te.all(x >= 0, x < 1000)  # noqa: E731
    Y = te.compute((N,), lambda i: te.if_then_else(inside(ids[i]), T[ids[i]], -1.0), name="Y")
    want = np.array([x if 0 <= x < 1000 else -1 for x in map(int, data(dtype))], "float32")
    np.testing.assert_array_equal(run([ids, T, Y], [data(dtype), np.arange(1000, dtype="float32")]), want)


def test_number_between() -> None:
    """Each index is small, and what it is computed of is not."""
    A = te.placeholder((N,), name="A")
    Y = te.compute((N,), lambda i: A[(i * 100_000_000 + 50_000_000) // 100_000_000], name="Y")
    a = np.arange(N, dtype="float32")
    np.testing.assert_array_equal(run([A, Y], [a]), a)


def test_hash() -> None:
    ids = te.placeholder((N,), dtype="int64", name="ids")
    T = te.placeholder((97,), dtype="int32", name="T")
    Y = te.compute((N,), lambda i: T[(ids[i] * 31 + i) % 97], name="Y")
    given = np.resize(np.array(LARGE["int64"]) // 64, N)
    want = np.array([(int(x) * 31 + i) % 97 for i, x in enumerate(given)], "int32")
    np.testing.assert_array_equal(run([ids, T, Y], [given, np.arange(97, dtype="int32")]), want)


def test_index_in_a_value() -> None:
    """An axis is a number of 64 bits where it is cast to one."""
    A = te.placeholder((N,), dtype="int64", name="A")
    Y = te.compute((N,), lambda i: A[i] + i.astype("int64") * 1_000_000_000, name="Y")
    a = np.arange(N)
    np.testing.assert_array_equal(run([A, Y], [a]), a + np.arange(N) * 1_000_000_000)


def ptx(args: list[Tensor]) -> str:
    return tw.build(bound(args[-1]), args, target="cuda -arch=sm_90a", name="f").ptx


def test_64_bits_only_where_they_are_needed() -> None:
    ids = te.placeholder((N,), dtype="int64", name="ids")
    T = te.placeholder((1000, 8), name="T")
    Y = te.compute((N, 8), lambda i, j: T[ids[i] % 1000, j], name="Y")
    text = ptx([ids, T, Y])
    # The remainder of 64 bits is a high half of a product of 64; rows are found in 32.
    assert "mul.hi.s64" in text or "rem.s64" in text
    assert not re.search(r"mad\.lo\.s64|rem\.s32", text)


def test_more_than_2_31_elements() -> None:
    n = 3_000_000_000
    A = te.placeholder((n,), dtype="int8", name="A")
    B = te.compute((n,), lambda i: A[n - 1 - i], name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=1024)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    function = tw.build(s, [A, B], target="cuda -arch=sm_90a", name="f")
    assert "2999999999" in function.ptx and not re.search(r"mul\.wide\.s32", function.ptx)
    assert "long long" in function.source("cuda")


def test_the_same_widths_in_cuda_source() -> None:
    ids = te.placeholder((N,), dtype="int64", name="ids")
    T = te.placeholder((1000,), name="T")
    Y = te.compute((N,), lambda i: T[ids[i] % 1000], name="Y")
    text = tw.build(bound(Y), [ids, T, Y], target="cuda -arch=sm_90a", name="f").source("cuda")
    assert not re.search(r"int\(ids\[\w+\]\)", text), text
    assert re.search(r"ids\[\w+\] % 1000LL", text), text
