"""Numbers as arguments: extents and data, on every target, and the full text of what is refused."""

from __future__ import annotations

import ctypes
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from kinds import kind_of
from tilewright import te

DTYPES = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
)  # fmt: skip
TEXT = "f(n: int32, x: {dtype}, A: {dtype}[n], C: {dtype}[n])"


def scaled(dtype: str, target: str | tw.Target, name: str = "f", **known: Any) -> tw.Function:
    n, x = te.var("n", **known), te.var("x", dtype)
    A = te.placeholder((n,), dtype, name="A")
    if dtype == "bool":
        C = te.compute((n,), lambda i: A[i] ^ x, name="C")
    else:
        C = te.compute((n,), lambda i: A[i] * x, name="C")
    s = te.create_schedule(C.op)
    if target != "cpu":
        outer, inner = s[C].split(C.op.axis[0], 32)
        s[C].bind(outer, te.thread_axis("blockIdx.x"))
        s[C].bind(inner, te.thread_axis("threadIdx.x"))
    return tw.build(s, [n, x, A, C], target, name=name)


@pytest.mark.sample(10)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
def test_numbers_of_every_type(dtype: str, target: str) -> None:
    function = scaled(dtype, target)
    value: Any = True if dtype == "bool" else 3 if "int" in dtype else 1.5
    a = (np.arange(40) % 5).astype(dtype)
    expected = a ^ value if dtype == "bool" else a * a.dtype.type(value)
    for call in (function, function.ffi):
        c = np.zeros_like(a)
        call(40, value, a, c)
        assert (c == expected).all()
    assert (function(C=(c := np.zeros_like(a)), A=a, x=a.dtype.type(value), n=np.int64(40)) or c == expected).all()
    assert (function(40, value, a) == expected).all()
    if "int" in dtype:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        for value in (int(low), int(high)):
            c = np.zeros(1, dtype)
            function(1, value, np.ones(1, dtype), c)
            assert c[0] == value


@pytest.mark.parametrize("dtype", [*DTYPES, "bool", "bfloat16"])
def test_numbers_of_kernels_for_a_gpu(dtype: str) -> None:
    function = scaled(dtype, tw.Target("cuda", arch="sm_90a"))
    assert function.launch_config(100, False if dtype == "bool" else 3, np.zeros(100), np.zeros(100)).grid == (4, 1, 1)
    assert " x,\n" in function.source("cuda")
    assert str(function.signature) == TEXT.format(dtype=dtype)


def test_a_number_of_bf16_is_carried_as_its_bits() -> None:
    """On a processor without bf16 LLVM calls a function, which nobody links, to move one."""
    n, x = te.var("n"), te.var("x", "bfloat16")
    A = te.placeholder((n,), "bfloat16", name="A")
    C = te.compute((n,), lambda i: A[i] * x, name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    text = str(tw.lower(s, [n, x, A, C], stage="host", target=tw.Target("cuda", arch="sm_90a")))
    assert "-> i16" in text
    assert "-> bf16" not in text


def refusals() -> list[Any]:
    int8 = "expected int8, -128 to 127, got"
    rows = [
        ("int8", 200, ValueError, f"argument 1 (x): {int8} 200"),
        ("int8", -129, ValueError, f"argument 1 (x): {int8} -129"),
        ("int8", True, TypeError, "argument 1 (x): expected int8, got bool"),
        ("int8", 1.0, TypeError, "argument 1 (x): expected int8, got float"),
        ("int8", 1 << 63, ValueError, f"argument 1 (x): {int8} 9223372036854775808"),
        ("int8", 1 << 80, ValueError, f"argument 1 (x): {int8} an int of more than 64 bits"),
        ("uint16", -1, ValueError, "argument 1 (x): expected uint16, 0 to 65535, got -1"),
        ("uint16", 65536, ValueError, "argument 1 (x): expected uint16, 0 to 65535, got 65536"),
        ("uint64", -1, ValueError, "argument 1 (x): expected uint64, 0 to 18446744073709551615, got -1"),
        (
            "uint64", 1 << 64, ValueError,
            "argument 1 (x): expected uint64, 0 to 18446744073709551615, got an int of more than 64 bits",
        ),
        (
            "int64", 1 << 63, ValueError,
            "argument 1 (x): expected int64, -9223372036854775808 to 9223372036854775807, got 9223372036854775808",
        ),
        ("bool", 1, TypeError, "argument 1 (x): expected bool, got int"),
        ("bool", 0.0, TypeError, "argument 1 (x): expected bool, got float"),
        ("float32", True, TypeError, "argument 1 (x): expected float32, got bool"),
        ("float32", "1", TypeError, "argument 1 (x): expected float32, got str"),
        ("float32", None, TypeError, "argument 1 (x): expected float32, got {none}"),
        (
            "float32", 1e300, ValueError,
            "argument 1 (x): expected float32, at most 3.4028234663852886e+38 in magnitude, got 1e+300",
        ),
        ("float16", -65520.0, ValueError, "argument 1 (x): expected float16, at most 65504.0 in magnitude, got -65520.0"),
        ("float16", 100000, ValueError, "argument 1 (x): expected float16, at most 65504.0 in magnitude, got 100000"),
    ]  # fmt: skip
    return [pytest.param(*row, id=f"{row[0]}-{row[1]}") for row in rows]


def outcome(function: Any, *args: Any) -> tuple[type[Exception], str]:
    with pytest.raises((TypeError, ValueError)) as caught:
        function(*args)
    return kind_of(caught.value), str(caught.value)


@pytest.mark.parametrize(("dtype", "value", "kind", "text"), refusals())
def test_what_is_refused(dtype: str, value: object, kind: type[Exception], text: str) -> None:
    """In the same words by both callers."""
    function = scaled(dtype, "cpu")
    a, c = np.zeros(4, dtype), np.zeros(4, dtype)
    whole = f"{TEXT.format(dtype=dtype)}: {text}"
    assert outcome(function, 4, value, a, c) == (kind, whole.format(none="NoneType"))
    assert outcome(function.ffi, 4, value, a, c) == (kind, whole.format(none="None"))


def test_an_array_is_no_number_and_a_number_is_no_array() -> None:
    function = scaled("float32", "cpu")
    a = np.zeros(4, "float32")
    text = TEXT.format(dtype="float32")
    assert outcome(function, 4, a, a, a) == (TypeError, f"{text}: argument 1 (x): expected float32, got ndarray")
    assert outcome(function.ffi, 4, a, a, a) == (TypeError, f"{text}: argument 1 (x): expected float32, got a tensor")
    assert outcome(function.ffi, 4, 1.0, 2.0, a) == (TypeError, f"{text}: argument 2 (A): expected a tensor, got float")
    assert outcome(function, 4, 1.0, 2.0, a) == (
        TypeError,
        f"{text}: argument 2 (A): expected an array (NumPy, DLPack or __cuda_array_interface__), got float",
    )


def test_floats_round_as_numpy_does() -> None:
    function = scaled("float16", "cpu")
    one, c = np.ones(1, "float16"), np.zeros(1, "float16")
    for value in (
        0.1,
        65519.0,
        -2049.0,
        2051.0,
        6e-8,
        2.9e-8,
        3e-8,
        6.1e-5,
        float("inf"),
        float("-inf"),
        1 / 3,
        1000,
        0,
        0.0,
        -0.0,
    ):
        function(1, value, one, c)
        assert c[0] == np.float16(value), value
    function(1, float("nan"), one, c)
    assert np.isnan(c[0])
    single = scaled("float32", "cpu")
    ones, result = np.ones(1, "float32"), np.zeros(1, "float32")
    for value in (0.1, float("inf"), 1e-45, 1 << 60, 3, 0, np.float64(0), np.float64(-0.1)):
        single(1, value, ones, result)
        assert result[0] == np.float32(value), value


def test_an_extent_as_an_argument() -> None:
    """As TVM's scripts have it: checked against the arrays, wherever it stands."""
    function = scaled("float32", "cpu", divisible_by=4, min=8, max=64)
    text, a = TEXT.format(dtype="float32"), np.zeros(8, "float32")
    assert outcome(function, 12, 1.0, a, a) == (
        ValueError,
        f"{text}: argument 2 (A): expected extent n = 12, as argument 0 (n) says, in dimension 0, got shape (8,)",
    )
    for value, what in ((10, "divisible by 4"), (4, "at least 8"), (68, "at most 64")):
        expected = (ValueError, f"{text}: argument 0 (n): expected n to be {what}, got {value}")
        assert outcome(function, value, 1.0, a, a) == outcome(function.ffi, value, 1.0, a, a) == expected
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i] + 1.0, name="C")
    after = tw.build(te.create_schedule(C.op), [A, n, C], "cpu", name="g")
    assert outcome(after, a, 9, a.copy()) == (
        ValueError,
        "g(A: float32[n], n: int32, C: float32[n]): argument 1 (n): expected n = 8, as in dimension 0 of A, got 9",
    )
    assert (after(a, 8) == 1).all()


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_numbers_in_indices_and_extents(target: str) -> None:
    """What no array has as an extent: a shift that may be negative, a count that may not, and memory between kernels."""
    n, shift, count = te.var("n"), te.var("shift"), te.size_var("count", "int64")
    A = te.placeholder((n,), name="A")
    T = te.compute((count,), lambda i: A[i + shift] * 2.0, name="T")
    k = te.reduce_axis((0, count), name="k")
    S = te.compute((1,), lambda i: te.sum(T[k], axis=k), name="S")
    C = te.compute((3,), lambda i: S[0] + i.astype("float32"), name="C")
    s = te.create_schedule(C.op)
    if target == "sim":
        for tensor in (T, S, C):
            outer, inner = s[tensor].split(tensor.op.axis[0], 4)
            s[tensor].bind(outer, te.thread_axis("blockIdx.x"))
            s[tensor].bind(inner, te.thread_axis("threadIdx.x"))
    function = tw.build(s, [A, shift, count, C], target, name="window")
    a, c = np.arange(10, dtype="float32"), np.zeros(3, "float32")
    for first, size in ((2, 5), (0, 10), (4, 0)):
        function(a, first, size, c)
        assert (c == 2 * a[first : first + size].sum() + np.arange(3)).all()
    function(a[4:8].copy(), 0, 4, c)
    assert outcome(function, a, 0, -1, c) == (
        ValueError,
        "window(A: float32[n], shift: int32, count: int64, C: float32[3]): argument 2 (count): expected count to be at "
        "least 0, got -1",
    )


def test_negative_shift() -> None:
    n, shift = te.var("n"), te.var("shift")
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[te.max(i + shift, 0)], name="C")
    function = tw.build(te.create_schedule(C.op), [shift, A, C], "cpu", name="moved")
    a = np.arange(6, dtype="float32")
    assert (function(-2, a) == [0, 0, 0, 1, 2, 3]).all()


def test_libraries_have_numbers(tmp_path: Path) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    functions = [scaled(dtype, "cpu", f"scale_{dtype}") for dtype in ("float32", "uint64", "bool")]
    either = tw.dispatch(functions[:2], "scale")
    tw.export_library([*functions, either], tmp_path / "numbers.so", header=True, mcpu="")
    loaded = tvm_ffi.load_module(str(tmp_path / "numbers.so"))
    for call in (functions[1], loaded.scale_uint64, either, loaded.scale):
        c = np.zeros(2, "uint64")
        call(2, (1 << 64) - 3, np.ones(2, "uint64"), c)
        assert (c == (1 << 64) - 3).all()
    c = np.zeros(2, "float32")
    loaded.scale(2, 2.5, np.ones(2, "float32"), c)
    assert (c == 2.5).all() and either.select(2, 2.5, c, c).name == "scale_float32"
    assert either.select(2, -1, np.ones(2, "uint64"), np.ones(2, "uint64")) is None
    described = json.loads(loaded.get_function_metadata("scale_float32")["type_schema"])
    assert [each["type"] for each in described["args"]] == ["None", "int", "float", "DLTensor*", "DLTensor*"]
    header = (tmp_path / "numbers.h").read_text()
    assert "static inline int scale_float32(int32_t n, float x, DLTensor *A, DLTensor *C) {" in header
    assert "static inline int scale_bool(int32_t n, bool x, DLTensor *A, DLTensor *C) {" in header

    (tmp_path / "main.c").write_text(
        """#include "numbers.h"
int use(float *a, float *c) {
  int64_t shape[] = {4}, strides[] = {1};
  DLTensor A = {a, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, shape, strides, 0}, C = A;
  C.data = c;
  return scale_float32(4, 0.5f, &A, &C);
}
"""
    )
    include = Path(tvm_ffi.__file__).parent / "include"
    made = tmp_path / "main.so"
    subprocess.run(
        [
            "cc",
            "-shared",
            "-fPIC",
            f"-I{include}",
            "-o",
            str(made),
            str(tmp_path / "main.c"),
            str(tmp_path / "numbers.so"),
        ],
        check=True,
    )
    ctypes.CDLL(str(tmp_path / "numbers.so"), ctypes.RTLD_GLOBAL)
    a, c = np.arange(8, dtype="float32")[:4].copy(), np.zeros(4, "float32")
    buffers = [np.zeros(20, "float32") for _ in range(2)]
    a, c = (b[(-b.ctypes.data // 4) % 4 :][:4] for b in buffers)
    a[:] = 2
    assert ctypes.CDLL(str(made)).use(ctypes.c_void_p(a.ctypes.data), ctypes.c_void_p(c.ctypes.data)) == 0
    assert (c == 1).all()


def test_special_numbers_come_before_general_ones() -> None:
    general, special = scaled("float32", "cpu", "any_n"), scaled("float32", "cpu", "by_four", divisible_by=4)
    either = tw.dispatch([special, general], "either")
    a = np.zeros(8, "float32")
    assert either.select(8, 1.0, a, a).name == "by_four"
    assert either.select(7, 1.0, a[:7], a[:7]).name == "any_n"
    with pytest.raises(ValueError, match="expected the special functions before the general ones"):
        tw.dispatch([general, special], "either")


def test_host_source_of_narrow_floats_is_refused() -> None:
    function = scaled("float16", tw.Target("cuda", arch="sm_90a"))
    with pytest.raises(
        tw.CompileError, match="expected numbers of types that C\\+\\+ has on every machine, got float16"
    ):
        function.source("host")
    text = scaled("float32", tw.Target("cuda", arch="sm_90a")).source("host")
    assert "void f(int32_t n, float x, const Tensor &A, const Tensor &C, CUstream stream = nullptr) {" in text
