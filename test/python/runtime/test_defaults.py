"""Numbers that a call may leave out, and inputs at the end that it may be without: by every road, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from kinds import kind_of
from tilewright import te

TEXT = "f(A: float32[n], C: float32[n], alpha: float32 = 1.0, shift: int8 = -3, bias: float32[n] or None)"


def bind(s: Any, tensor: Any, target: str | tw.Target) -> None:
    if target != "cpu":
        outer, inner = s[tensor].split(tensor.op.axis[0], 32)
        s[tensor].bind(outer, te.thread_axis("blockIdx.x"))
        s[tensor].bind(inner, te.thread_axis("threadIdx.x"))


def program(target: str | tw.Target = "cpu", name: str = "f", dtype: str = "float32", **options: Any) -> tw.Function:
    """C = A * alpha + shift + bias"""
    n = te.var("n")
    alpha, shift = te.var("alpha", dtype, default=1.0), te.var("shift", "int8", default=-3)
    A = te.placeholder((n,), dtype, name="A")
    bias = te.placeholder((n,), dtype, name="bias", optional=True)
    T = te.compute((n,), lambda i: A[i] * alpha + shift.astype(dtype), name="T")
    C = te.compute((n,), lambda i: te.if_given(bias, T[i] + bias[i], T[i]), name="C")
    s = te.create_schedule(C.op)
    s[T].compute_inline()
    bind(s, C, target)
    return tw.build(s, [A, C, alpha, shift, bias], target, name=name, **options)


def outcome(function: Any, *args: Any, **named: Any) -> tuple[type[Exception], str]:
    with pytest.raises((TypeError, ValueError)) as caught:
        function(*args, **named)
    return kind_of(caught.value), str(caught.value)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_what_is_left_out(target: str) -> None:
    function = program(target)
    assert str(function.signature) == TEXT
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 8, 40).astype("float32") for _ in range(2))  # whose products and sums are exact
    rows: list[tuple[tuple[Any, ...], np.ndarray]] = [
        ((), a - 3),
        ((2.5,), a * np.float32(2.5) - 3),
        ((2.5, 7), a * np.float32(2.5) + 7),
        ((2.5, 7, None), a * np.float32(2.5) + 7),
        ((2.5, 7, b), a * np.float32(2.5) + 7 + b),
    ]
    for rest, expected in rows:
        for call in (function, function.ffi):
            c = np.full_like(a, np.nan)
            call(a, c, *rest)
            np.testing.assert_array_equal(c, expected)
    for named, expected in (
        ({"shift": 2}, a + 2),
        ({"bias": b}, a - 3 + b),
        ({"alpha": 0.5, "bias": b}, a * np.float32(0.5) - 3 + b),
    ):
        c = np.full_like(a, np.nan)
        assert function(a, c, **named) is None
        np.testing.assert_array_equal(c, expected)
        c = np.full_like(a, np.nan)
        function(C=c, A=a, **named)
        np.testing.assert_array_equal(c, expected)
        # Its inputs alone: by position nothing can follow the output that is not there.
        np.testing.assert_array_equal(function(a, **named), expected)
        np.testing.assert_array_equal(function(A=a, **named), expected)
    np.testing.assert_array_equal(function(a), a - 3)


def test_no_frame_of_pythons() -> None:
    """What is left out, by place or by name, is filled in by compiled code."""
    function = program()
    a, c = np.ones(8, "float32"), np.zeros(8, "float32")
    function(a, c)
    frames: list[str] = []
    sys.setprofile(lambda frame, event, _: frames.append(frame.f_code.co_name) if event == "call" else None)
    try:
        function(a, c)
        function(a, c, 2.0)
        function(a, c, bias=a)
        function(C=c, A=a, shift=1)
    finally:
        sys.setprofile(None)
    assert frames == []
    assert (c == 2).all()


@pytest.mark.parametrize(
    ("dtype", "value", "text"),
    [
        ("float64", 0.1, "0.1"),
        ("float32", float("-inf"), "-inf"),
        ("float16", 1e-05, "1e-05"),
        ("float64", 1e16, "1e+16"),
        ("float32", 3, "3.0"),
        ("bool", True, "True"),
        ("int64", -(1 << 63), "-9223372036854775808"),
        ("uint64", (1 << 64) - 1, "18446744073709551615"),
        ("uint8", np.uint8(200), "200"),
    ],
)
def test_defaults_of_every_kind(dtype: str, value: Any, text: str) -> None:
    x = te.var("x", dtype, default=value)
    C = te.compute((3,), lambda i: x.astype(dtype), name="C")
    function = tw.build(te.create_schedule(C.op), [C, x], "cpu", name="f")
    assert str(function.signature) == f"f(C: {dtype}[3], x: {dtype} = {text})"
    for call in (function, function.ffi):
        c = np.zeros(3, dtype)
        call(c)
        assert c.tobytes() == np.full(3, value, dtype).tobytes()
        # What is compiled and what is Python's has one text.
        assert outcome(call, c, "x")[1].startswith(f"{function.signature}: argument 1 (x): expected {dtype}, got str")


def test_what_is_refused() -> None:
    """In the same words by both callers."""
    function = program()
    a = np.zeros(4, "float32")
    for call in (function, function.ffi):
        assert outcome(call) == (TypeError, f"{TEXT}: expected 2 to 5 arguments, got 0")
        assert outcome(call, a, a.copy(), 1.0, 2, None, 3) == (TypeError, f"{TEXT}: expected 2 to 5 arguments, got 6")
        assert outcome(call, a, a.copy(), 1.0, 200) == (
            ValueError, f"{TEXT}: argument 3 (shift): expected int8, -128 to 127, got 200",
        )  # fmt: skip
        assert outcome(call, a, a.copy(), "one")[1] == f"{TEXT}: argument 2 (alpha): expected float32, got str"
        none = "NoneType" if call is function else "None"
        assert outcome(call, a, a.copy(), None)[1] == f"{TEXT}: argument 2 (alpha): expected float32, got {none}"
    assert outcome(function, C=a) == (TypeError, f"{TEXT}: expected 2 to 5 arguments, got none for A")
    assert outcome(function, a, a.copy(), gamma=1) == (TypeError, f"{TEXT}: expected no argument called 'gamma'")
    assert outcome(function, a, a.copy(), 2.0, alpha=1.0) == (
        TypeError, f"{TEXT}: expected argument alpha once, got it twice",
    )  # fmt: skip


def test_an_extent_with_a_default() -> None:
    n = te.var("n", divisible_by=4, min=4, max=64, default=8)
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i] + 1.0, name="C")
    function = tw.build(te.create_schedule(C.op), [A, C, n], "cpu", name="g")
    a = np.zeros(8, "float32")
    c = np.zeros(8, "float32")
    function(a, c)
    assert (c == 1).all()
    assert outcome(function, a[:4], c[:4]) == (
        ValueError,
        "g(A: float32[n], C: float32[n], n: int32 = 8): argument 2 (n): expected n = 4, as in dimension 0 of A, got 8",
    )


def test_defaults_that_are_wrong() -> None:
    def said(*args: Any, **options: Any) -> str:
        kind, text = outcome(te.var, *args, **options)
        assert text.startswith(f"{__file__}:"), text
        return f"{kind.__name__}: {text.partition(': ')[2]}"

    assert said("x", "int8", default=200) == "ValueError: te.var x: default: expected int8, got 200"
    assert said("x", "int8", default=True) == "TypeError: te.var x: default: expected int8, got True"
    assert said("x", "int8", default=1.0) == "TypeError: te.var x: default: expected int8, got 1.0"
    assert said("x", "bool", default=1) == "TypeError: te.var x: default: expected bool, got 1"
    assert said("x", "float16", default=1e9) == "ValueError: te.var x: default: expected float16, got 1000000000.0"
    assert said("x", "float32", default="1") == "TypeError: te.var x: default: expected float32, got str"
    number = "ValueError: te.var n: default: expected a number"
    assert said("n", divisible_by=4, default=6) == f"{number} divisible by 4, got 6"
    assert said("n", min=4, default=3) == f"{number} at least 4, got 3"
    assert said("n", max=4, default=5) == f"{number} at most 4, got 5"
    n = te.var("n", default=8)
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i], name="C")
    kind, text = outcome(tw.lower, te.create_schedule(C.op), [A, C])
    assert kind is ValueError
    assert ": te.var n: expected it among the arguments, for it has a default, got none of it (" in text


def test_libraries(tmp_path: Path) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    single, double = program(name="single"), program(name="wide", dtype="float64")
    either = tw.dispatch([single, double], "either")
    tw.export_library([single, either], tmp_path / "defaults.so", header=True, mcpu="")
    loaded = tvm_ffi.load_module(str(tmp_path / "defaults.so"))
    a = np.arange(4, dtype="float32")
    for call in (loaded.single, either, loaded.either, either.ffi):
        for rest, expected in (((), a - 3), ((2.0,), 2 * a - 3), ((2.0, 1, a), 3 * a + 1)):
            c = np.full(4, np.nan, "float32")
            call(a, c, *rest)
            np.testing.assert_array_equal(c, expected)
    c = np.full(4, np.nan)
    either(a.astype("float64"), c, shift=4)
    np.testing.assert_array_equal(c, a + 4.0)
    assert either(a.astype("float64"), alpha=2.0).dtype == np.float64
    assert either.select(a, a).name == "single" and either.select(c).name == "wide"
    assert outcome(either, a, a, 1.0, 2, None, 3) == outcome(loaded.either, a, a, 1.0, 2, None, 3)
    described = loaded.get_function_metadata("single")
    assert described["signature"] == TEXT.replace("f(", "single(", 1)
    assert [each.get("default") for each in described["arguments"]] == [None, None, 1.0, -3, None]
    header = (tmp_path / "defaults.h").read_text()
    assert "single(DLTensor *A, DLTensor *C, float alpha, int8_t shift, DLTensor *bias) {" in header
    include = Path(tvm_ffi.__file__).parent / "include"
    subprocess.run(["cc", "-fsyntax-only", "-x", "c", f"-I{include}", str(tmp_path / "defaults.h")], check=True)


def test_functions_for_a_gpu() -> None:
    function = program(tw.Target("cuda", arch="sm_90a"))
    a = np.zeros(100)
    assert function.launch_config(a, a).grid == function.launch_config(a, a, 2.0, 3, a).grid == (4, 1, 1)
    assert outcome(function.launch_config, a)[1] == f"{TEXT}: expected 2 to 5 arguments, got 1"
    assert "te.default = -3 : i64" in function.ir("te")
