"""Tensors that are given by their address: on every target, and what is refused."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from kinds import kind_of
from tilewright import te

TEXT = "f(size: shape(n: int32, m: int32), A: pointer to float32[n, m], B: float32[n, m], C: pointer to float32[n, m])"


class Holder:
    """What says its address to tvm-ffi."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __tvm_ffi_opaque_ptr__(self) -> int:
        return self.array.ctypes.data


def aligned(shape: tuple[int, ...], to: int = 64) -> np.ndarray:
    size = 4 * int(np.prod(shape))
    memory = np.empty(size + to, "uint8")
    start = -memory.ctypes.data % to
    return memory[start : start + size].view("float32").reshape(shape)


def program(target: str | tw.Target = "cpu", name: str = "f", align: int = 16, **options: Any) -> tw.Function:
    """C = A + 2 B"""
    n, m = te.var("n"), te.var("m")
    A, B = (te.placeholder((n, m), name=each) for each in "AB")
    C = te.compute((n, m), lambda i, j: A[i, j] + B[i, j] * 2.0, name="C")
    s = te.create_schedule(C.op)
    if target != "cpu":
        s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
        s[C].bind(s[C].split(C.op.axis[1], 4)[1], te.thread_axis("threadIdx.x"))
    args = [te.shape("size", (n, m)), te.pointer(A, align=align), B, te.pointer(C)]
    return tw.build(s, args, target, name=name, **options)


def outcome(function: Any, *args: Any, **named: Any) -> tuple[type[Exception], str]:
    with pytest.raises((TypeError, ValueError)) as caught:
        function(*args, **named)
    return kind_of(caught.value), str(caught.value)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_addresses_of_every_kind(target: str) -> None:
    function = program(target)
    assert str(function.signature) == TEXT
    rng = np.random.default_rng(5)
    a, b = (aligned((3, 5)) for _ in range(2))
    a[:], b[:] = rng.integers(-8, 8, (2, 3, 5))
    for call in (function, function.ffi):
        for kind in (int, ctypes.c_void_p, Holder, np.uint64):
            c = aligned((3, 5))
            c[:] = np.nan
            if call is function.ffi and kind is np.uint64:
                continue
            first, last = (kind(x if kind is Holder else x.ctypes.data) for x in (a, c))
            call((3, 5), first, b, last)
            np.testing.assert_array_equal(c, a + b * 2)
    empty = np.zeros((0, 5), "float32")
    function((0, 5), 0, empty, 3)  # of no bytes: anywhere
    function.ffi((0, 5), ctypes.c_void_p(None), empty, 0)


def test_what_is_refused() -> None:
    function = program(align=64)
    a, b, c = (aligned((3, 5)) for _ in range(3))
    where, to = a.ctypes.data, c.ctypes.data
    first = "argument 1 (A): expected an address, got"
    for call in (function, function.ffi):
        for value, said in (("here", "str"), (1.5, "float"), (True, "bool")):
            assert outcome(call, (3, 5), value, b, to) == (TypeError, f"{TEXT}: {first} {said}")
        assert outcome(call, (3, 5), -1, b, to) == (ValueError, f"{TEXT}: {first} -1")
        assert outcome(call, (3, 5), 1 << 80, b, to) == (ValueError, f"{TEXT}: {first} an int of more than 64 bits")
        assert outcome(call, (3, 5), 0, b, to) == (
            ValueError, f"{TEXT}: argument 1 (A): expected the address of 60 bytes, got NULL",
        )  # fmt: skip
        assert outcome(call, (3, 5), where + 16, b, to) == (
            ValueError,
            f"{TEXT}: argument 1 (A): expected memory aligned to 64 bytes, got an address 16 bytes past that",
        )
        assert outcome(call, (3, 5), where, b, to + 4) == (
            ValueError,
            f"{TEXT}: argument 3 (C): expected memory aligned to 16 bytes, got an address 4 bytes past that",
        )
        assert outcome(call, (3, 5), where, b, where) == (
            ValueError,
            f"{TEXT}: argument 3 (C): expected memory of its own beside A, for the function writes C, got 60 bytes shared",
        )
        assert outcome(call, (3, 5), where, b) == (TypeError, f"{TEXT}: expected 4 arguments, got 3")
    assert outcome(function, (3, 5), a, b, to) == (TypeError, f"{TEXT}: {first} ndarray")
    assert outcome(function.ffi, (3, 5), a, b, to) == (TypeError, f"{TEXT}: {first} a tensor")


def test_programs_that_are_wrong() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    bias = te.placeholder((n,), name="bias", optional=True)
    C = te.compute((n,), lambda i: te.if_given(bias, A[i] + bias[i], A[i]), name="C")
    s = te.create_schedule(C.op)

    def said(call: Any, *args: Any, **options: Any) -> str:
        kind, text = outcome(call, *args, **options)
        assert text.startswith(f"{__file__}:"), text
        return f"{kind.__name__}: {text.partition(': ')[2]}"

    assert said(te.pointer, 3) == "TypeError: te.pointer: expected a tensor, got 3"
    assert said(te.pointer, A, align=2) == (
        "ValueError: te.pointer A: align: expected a power of two, at least 4, the bytes of a float32, got 2"
    )
    assert said(te.pointer, A, align=48) == (
        "ValueError: te.pointer A: align: expected a power of two, at least 4, the bytes of a float32, got 48"
    )
    assert said(te.pointer, A, align="16") == "TypeError: te.pointer A: align: expected an integer, got '16'"
    assert said(te.pointer, bias) == (
        "ValueError: te.pointer bias: expected a tensor that every call gives, got an optional one"
    )
    assert said(tw.lower, s, [te.pointer(A), bias, te.pointer(C)]) == (
        "ValueError: argument 0: te.pointer A: expected extents that are numbers, or te.vars that other arguments are "
        "or have, got n"
    )
    D = te.compute((n * 2,), lambda i: A[i // 2], name="D")
    assert said(tw.lower, te.create_schedule(D.op), [A, te.pointer(D)]) == (
        "ValueError: argument 1: te.pointer D: expected extents that are numbers, or te.vars that other arguments are "
        "or have, got n * 2"
    )


def test_libraries(tmp_path: Path) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    by_address = program(name="by_address")
    tw.export_library([by_address], tmp_path / "pointers.so", header=True, mcpu="")
    loaded = tvm_ffi.load_module(str(tmp_path / "pointers.so"))
    a, b, c = (aligned((3, 5)) for _ in range(3))
    a[:], b[:], c[:] = 1, 2, np.nan
    loaded.by_address((3, 5), a.ctypes.data, b, ctypes.c_void_p(c.ctypes.data))
    assert (c == 5).all()
    described = loaded.get_function_metadata("by_address")
    assert described["signature"] == TEXT.replace("f(", "by_address(", 1)
    assert [each.get("pointer") for each in described["arguments"]] == [None, True, None, True]
    header = (tmp_path / "pointers.h").read_text()
    assert "by_address(int32_t n, int32_t m, const void *A, DLTensor *B, void *C) {" in header
    include = Path(tvm_ffi.__file__).parent / "include"
    for language in ("c", "c++"):
        command = ["cc", "-fsyntax-only", "-x", language, f"-I{include}", str(tmp_path / "pointers.h")]
        subprocess.run(command, check=True)


def test_functions_for_a_gpu() -> None:
    function = program(tw.Target("cuda", arch="sm_90a"))
    assert function.launch_config((3, 5), 0, np.zeros((3, 5)), 0).grid == (3, 1, 1)
    alone = tw.build(*_of_addresses_alone(), tw.Target("cuda", arch="sm_90a"), name="g", host="managed")
    assert str(alone.signature) == "g(n: int32, A: pointer to float32[n], C: pointer to float32[n])"


def _of_addresses_alone() -> tuple[Any, list[Any]]:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i] + 1.0, name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    return s, [n, te.pointer(A), te.pointer(C)]


def test_no_tensor_at_all() -> None:
    s, args = _of_addresses_alone()
    function = tw.build(s, args, "sim", name="g")
    a, c = aligned((6,)), aligned((6,))
    a[:], c[:] = np.arange(6), np.nan
    function(6, a.ctypes.data, c.ctypes.data)
    np.testing.assert_array_equal(c, np.arange(6) + 1)
