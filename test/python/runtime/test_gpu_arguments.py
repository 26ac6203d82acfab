"""Tuples and addresses of memory on GPUs, with the driver replaced: which GPU a call runs on, and which stream."""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple

import numpy as np
import pytest

import tilewright as tw
from gpu_tensors import Exported, Tensor
from tilewright import te
from tilewright.runtime import Stream, cuda


class Pair(NamedTuple):
    inner: Any
    beta: Any


def program(**options: Any) -> tw.Function:
    """`f(pair: (inner: (A: float32[n],), beta: float32), C: float32[n])`"""
    n, beta = te.var("n"), te.var("beta", "float32")
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i] * beta, name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    return tw.build(s, [Pair((A,), beta), C], tw.Target("cuda", arch="sm_90a"), name="f", **options)


def of_addresses(**options: Any) -> tw.Function:
    """`f(n: int32, A: pointer to float32[n], C: pointer to float32[n])`"""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i] * 2.0, name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    return tw.build(s, [n, te.pointer(A), te.pointer(C)], tw.Target("cuda", arch="sm_90a"), name="f", **options)


def aligned(n: int) -> np.ndarray:
    memory = np.zeros(n + 4, "float32")
    start = -memory.ctypes.data // 4 % 4
    return memory[start : start + n]


def test_streams_and_devices_of_tensors_in_tuples(fake: Any) -> None:
    function = program()
    for index in (0, 1):
        for kind in (Tensor, Exported):
            a, c = (kind(aligned(6), (2, index)) for _ in range(2))
            function(((a,), 2.0), c)
            function([[a], 2.0], c, stream=0x77)
            function(Pair((a,), 2.0), c)
            with Stream.from_handle(0x66, cuda(index)):
                function(pair=((a,), 2.0), C=c)
    assert [launch[2] for launch in fake.launches if launch[2] in (0x77, 0x66)] == [0x77, 0x66] * 4
    streams = [launch[2] for launch in fake.launches]
    assert streams[0] == streams[2] == Tensor.current_stream
    assert streams[8] == streams[10] == Tensor.current_stream + 1
    pushed = [call[1] for call in fake.calls if call[0] == "cuCtxPushCurrent"]
    assert {0xC0, 0xC1} <= set(pushed) and fake._stack == []
    text = "f(pair: (inner: (A: float32[n]), beta: float32), C: float32[n])"
    for kind in (Tensor, Exported):
        with pytest.raises(ValueError) as caught:
            function(((kind(aligned(6), (2, 1)),), 2.0), kind(aligned(6), (2, 0)))
        assert str(caught.value) == f"{text}: argument 1 (C): expected an array on cuda:1, got one on cuda:0"
        with pytest.raises(ValueError) as caught:
            function(((kind(aligned(6), (1, 0)),), 2.0), kind(aligned(6), (2, 0)))
        assert str(caught.value) == f"{text}: argument 0.inner[0] (A): expected an array on cuda, got one on cpu"


def test_the_environments_stream_of_tensors_in_tuples(fake: Any) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    function = program().ffi
    for index in (0, 1):
        a, c = (tvm_ffi.from_dlpack(Exported(aligned(6), (2, index))) for _ in range(2))
        with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", index), 0x55 + index):
            function(((a,), 2.0), c)
    assert [launch[2] for launch in fake.launches] == [0x55, 0x56]


def test_addresses_run_on_the_current_gpu(fake: Any) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    function = of_addresses()
    a, c = aligned(6), aligned(6)
    where = (a.ctypes.data, ctypes.c_void_p(c.ctypes.data))
    calls = (function, function.ffi)
    for call in calls:
        call(6, *where)
    fake.cuCtxPushCurrent(0xC1)
    for call in calls:
        call(6, *where)
    with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", 1), 0x55):
        function.ffi(6, *where)
    fake.cuCtxPopCurrent()
    loaded = [call[0] for call in fake.calls].count("cuModuleLoadData")
    assert loaded == 2 and len(fake.launches) == 5 and fake.launches[-1][2] == 0x55
    # On the first GPU no context was current, on the second its own is: nothing else was pushed.
    assert [call[1] for call in fake.calls if call[0] == "cuCtxPushCurrent"][-1] == 0xC1
    with Stream.from_handle(0x66, cuda(0)):
        function(6, *where)
    function(6, *where, stream=0x77)
    assert [launch[2] for launch in fake.launches[-2:]] == [0x66, 0x77]


def test_arrays_of_this_machine(fake: Any) -> None:
    """Tuples and addresses are copied to the GPU and back, too."""

    def kernel(_function: int, params: Any) -> None:
        # Each memory is a pointer and its extent.
        values = [ctypes.cast(params[i], ctypes.POINTER(ctypes.c_int64)).contents.value for i in range(4)]
        a, c = (np.ctypeslib.as_array(ctypes.cast(at, ctypes.POINTER(ctypes.c_float)), (6,)) for at in values[::2])
        c[:] = a * 2

    fake.kernel = kernel
    function = of_addresses(host="managed")
    a, c = aligned(6), aligned(6)
    a[:] = np.arange(6)
    for call in (function, function.ffi):
        c[:] = np.nan
        call(6, a.ctypes.data, c.ctypes.data)
        np.testing.assert_array_equal(c, a * 2)
    assert fake.names().count("cuMemcpyHtoDAsync") == fake.names().count("cuMemcpyDtoHAsync") == 2
    grouped = program(host="managed")
    fake.kernel = None
    assert (grouped(Pair((a,), 2.0)).shape, len(fake.launches)) == ((6,), 3)
