"""Memory of arguments that is aligned otherwise than to 16 bytes: what kernels make of it, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from kinds import kind_of
from tilewright import schedules, te

SM_90A = tw.Target("cuda", arch="sm_90a")


def program(
    target: str | tw.Target, align_in: int = 16, align_out: int = 16, dtype: str = "float32", **options: Any
) -> Any:
    """C = A + 1 by threads of four elements."""
    n = te.var("n", divisible_by=64)
    A = te.placeholder((n,), dtype, name="A", align=align_in)
    C = te.compute((n,), lambda i: A[i] + te.const(1, dtype), name="C")
    s = te.create_schedule(C.op)
    block, i = s[C].split(C.op.axis[0], 64)
    thread, lane = s[C].split(i, 4)
    s[C].vectorize(lane)
    if target != "cpu":
        s[C].bind(block, te.thread_axis("blockIdx.x"))
        s[C].bind(thread, te.thread_axis("threadIdx.x"))
    name = options.pop("name", "f")
    return tw.build(s, [A, te.aligned(C, align_out)], target, name=name, **options)


def at(address: int, n: int, dtype: str = "float32") -> np.ndarray:
    """An array that lies so many bytes behind a multiple of 64."""
    size = n * np.dtype(dtype).itemsize
    memory = np.full(size + 192, 0x7F, "uint8")
    start = -memory.ctypes.data % 64 + address
    return memory[start : start + size].view(dtype)


def outcome(function: Any, *args: Any, **named: Any) -> tuple[type[Exception], str]:
    with pytest.raises((TypeError, ValueError)) as caught:
        function(*args, **named)
    return kind_of(caught.value), str(caught.value)


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "float16"])
def test_slices_that_begin_anywhere(target: str, dtype: str) -> None:
    item = np.dtype(dtype).itemsize
    function = program(target, item, item, dtype)
    for first in range(0, 32, item):
        a, c = at(first, 128, dtype), at((first * 3 + item) % 64, 130, dtype)
        a[:] = np.arange(128) % 100
        c[:] = 77
        for call in (function, function.ffi):
            call(a, c[:128])
            np.testing.assert_array_equal(c[:128], a + a.dtype.type(1))
            assert (c[128:] == 77).all()


@pytest.mark.parametrize(("align_in", "align_out"), [(16, 16), (8, 16), (16, 4), (4, 8), (64, 4)])
def test_accesses_of_kernels(align_in: int, align_out: int) -> None:
    ptx = program(SM_90A, align_in, align_out).ptx
    width = {4: "", 8: ".v2", 16: ".v4", 64: ".v4"}
    assert set(re.findall(r"ld\.global(?:\.nc)?(\.v\d)?", ptx)) == {width[align_in]}
    assert set(re.findall(r"st\.global(\.v\d)?", ptx)) == {width[align_out]}
    assert f".align {align_in}" in ptx or align_in == 16 or ".ptr" not in ptx


def test_copies_that_are_asynchronous() -> None:
    """Of no more bytes at once than the memory is aligned to."""

    def copied(align: int, lanes: int) -> set[str]:
        A = te.placeholder((256, 64), name="A", align=align)
        C = te.compute((256, 64), lambda i, j: A[i, j] * 2.0, name="C")
        s = te.create_schedule(C.op)
        AS = s.cache_read(A, "shared", [C])
        s[C].bind(s[C].split(C.op.axis[1], lanes)[0], te.thread_axis("threadIdx.x"))
        block, step = s[C].split(C.op.axis[0], 32)
        s[C].bind(block, te.thread_axis("blockIdx.x"))
        s[AS].compute_at(s[C], step)
        thread, lane = s[AS].split(s[AS].op.axis[1], lanes)
        s[AS].bind(thread, te.thread_axis("threadIdx.x"))
        s[AS].vectorize(lane)
        s[C].software_pipeline(step, 2, use_async=True)
        return set(re.findall(r"cp\.async\.c[ag]\.shared\.global[^;]*?, (\d+)", tw.build(s, [A, C], SM_90A).ptx))

    assert copied(16, 4) == {"16"}
    assert copied(8, 2) == {"8"}
    assert copied(4, 1) == {"4"}
    with pytest.raises(tw.ScheduleError, match="got elements of several loads"):
        copied(8, 4)


def test_what_is_refused() -> None:
    function = program("cpu", 64, 4)
    text = "f(A: float32[n], C: float32[n])"
    good, off = at(0, 64), at(16, 64)
    for call in (function, function.ffi):
        assert outcome(call, off, good) == (
            ValueError,
            f"{text}: argument 0 (A): expected memory aligned to 64 bytes, got an address 16 bytes past that",
        )
        call(good, at(4, 64))
    odd = at(2, 65).view("uint8")[: 64 * 4].view("float32")
    assert outcome(function, good, odd) == (
        ValueError, f"{text}: argument 1 (C): expected memory aligned to 4 bytes, got an address 2 bytes past that",
    )  # fmt: skip


def test_programs_that_are_wrong() -> None:
    A = te.placeholder((4,), "float64", name="A")

    def said(call: Any, *args: Any, **options: Any) -> str:
        kind, text = outcome(call, *args, **options)
        assert text.startswith(f"{__file__}:"), text
        return f"{kind.__name__}: {text.partition(': ')[2]}"

    assert said(te.placeholder, (4,), name="A", align=2) == (
        "ValueError: placeholder A: align: expected a power of two, at least 4, the bytes of a float32, got 2"
    )
    assert said(te.placeholder, (4,), "int8", name="A", align=3) == (
        "ValueError: placeholder A: align: expected a power of two, at least 1, the bytes of a int8, got 3"
    )
    assert said(te.aligned, A, "8") == "TypeError: te.aligned A: align: expected an integer, got '8'"
    assert said(te.aligned, A, 4) == (
        "ValueError: te.aligned A: align: expected a power of two, at least 8, the bytes of a float64, got 4"
    )
    assert said(te.aligned, 3, 4) == "TypeError: te.aligned: expected a tensor, got 3"


def test_the_copy_engine_takes_16_bytes_alone() -> None:
    s, (A, B, C) = schedules.matmul_wgmma(256, 256, 256)
    with pytest.raises(tw.ScheduleError) as caught:
        tw.build(s, [A, te.aligned(B, 8), C], SM_90A)
    assert "expected tensors aligned to 16 bytes, as TMA needs them, got B, aligned to 8" in str(caught.value)


def test_host_source_is_refused() -> None:
    with pytest.raises(tw.CompileError, match="expected arguments aligned to 16 bytes, got A, aligned to 8"):
        program(SM_90A, 8).source("host")


def test_the_special_function_comes_before_the_general_one(tmp_path: Path) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    fast, slow = program("cpu", 16, 16, name="fast"), program("cpu", 4, 4, name="slow")
    either = tw.dispatch([fast, slow], "either")
    with pytest.raises(ValueError, match="expected the special functions before the general ones"):
        tw.dispatch([slow, fast], "other")
    assert either.select(at(0, 64), at(16, 64)).name == "fast"
    assert either.select(at(0, 64), at(4, 64)).name == "slow"
    tw.export_library([either], tmp_path / "aligned.so", mcpu="")
    loaded = tvm_ffi.load_module(str(tmp_path / "aligned.so"))
    described = loaded.get_function_metadata("slow")["arguments"]
    assert [each["alignment"] for each in described] == [4, 4]
    assert "aligned to 16 bytes where nothing else is said" in loaded.get_function_doc("slow")
    for call in (either, either.ffi, loaded.either):
        for first in (0, 4, 20):
            a, c = at(first, 64), at(4 - first % 8, 64)
            a[:], c[:] = 3, np.nan
            call(a, c)
            assert (c == 4).all()
    odd = at(2, 65).view("uint8")[: 64 * 4].view("float32")
    said = outcome(either, at(0, 64), odd)
    assert said == outcome(loaded.either, at(0, 64), odd)
    past = "expected memory aligned to {} bytes, got an address 2 bytes past that"
    assert said[0] is ValueError and past.format(16) in said[1] and past.format(4) in said[1]


def test_addresses() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A", align=4)
    C = te.compute((n,), lambda i: A[i] + 1.0, name="C")
    function = tw.build(te.create_schedule(C.op), [n, te.pointer(A), te.pointer(C, align=8)], "cpu", name="g")
    a, c = at(4, 6), at(8, 6)
    a[:], c[:] = 1, np.nan
    function(6, a.ctypes.data, c.ctypes.data)
    assert (c == 2).all()
    text = "g(n: int32, A: pointer to float32[n], C: pointer to float32[n]): argument 2 (C): expected memory aligned"
    assert outcome(function, 6, a.ctypes.data, c.ctypes.data + 4) == (
        ValueError, f"{text} to 8 bytes, got an address 4 bytes past that",
    )  # fmt: skip


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_with_strides(target: str) -> None:
    """Columns of a matrix, in a tuple too, that begin anywhere."""
    n, ld = te.var("n"), te.var("ld")
    A = te.placeholder((n, 4), name="A", align=4, strides=(ld, 1))
    C = te.compute((n, 4), lambda i, j: A[i, j] + 1.0, name="C")
    s = te.create_schedule(C.op)
    if target == "sim":
        s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
        s[C].vectorize(C.op.axis[1])
    function = tw.build(s, [(A, te.aligned(te.strided(C, (ld, 1)), 4))], target, name="f")
    a, c = at(0, 60).reshape(6, 10), at(0, 60).reshape(6, 10)
    a[:] = np.arange(60).reshape(6, 10)
    for first in range(7):
        for call in (function, function.ffi):
            c[:] = 99
            call((a[:, first : first + 4], c[:, 6 - first : 10 - first]))
            expected = np.full((6, 10), 99, "float32")
            expected[:, 6 - first : 10 - first] = a[:, first : first + 4] + 1
            np.testing.assert_array_equal(c, expected)
