"""Calls that come by the interpreter's own builtin: what it takes by itself, what it leaves to Python."""

from __future__ import annotations

import gc
import sys
import threading
import time

import numpy as np
import pytest
from mlir import ir as mlir_ir
from mlir.passmanager import PassManager

import tilewright as tw
from gpu_tensors import Exported, Later, Tensor, tensors
from tilewright import te
from tilewright.errors import DriverError, LaunchError
from tilewright.ir import context
from tilewright.runtime import CudaProgram, DeviceKind, Signature, Stream, cpu, cuda
from tilewright.runtime.caller import make_caller
from tilewright.runtime.ffi import libtvm_ffi, raise_error
from tilewright.runtime.host_program import HostProgram

SOURCE = """
module attributes {gpu.container_module} {
  gpu.module @copy_kernels {
    gpu.func @copy_kernel0(%a: memref<?xf32>, %b: memref<?xf32>) kernel { gpu.return }
  }
  func.func @copy(%a: memref<?xf32> {te.name = "A", te.symbols = ["n"]},
                  %b: memref<?xf32> {te.name = "B", te.symbols = ["n"], te.output}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    gpu.launch_func @copy_kernels::@copy_kernel0 blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<?xf32>, %b : memref<?xf32>)
    return
  }
}
"""
TEXT = "copy(A: float32[n], B: float32[n])"


@pytest.fixture
def copy(fake):
    with context():
        module = mlir_ir.Module.parse(SOURCE)
        PassManager.parse("builtin.module(tilewright-pipeline{from=gpu to=host})").run(module.operation)
        function = next(op for op in module.body.operations if "tilewright.kernels" in op.attributes)
        signature = Signature.from_function(function.operation, DeviceKind.CUDA)
        program = CudaProgram(HostProgram(module, cubins={"sm_90a": b"\x7fELF"}), signature)
    assert program.host.entry
    return make_caller(program)


def test_it_is_a_builtin(copy) -> None:
    assert type(copy) is type(len) and copy.__name__ == "copy" and copy.__doc__.startswith(TEXT)


@pytest.mark.parametrize("kind", [Tensor, Later, type("Parameter", (Tensor,), {})])
def test_tensors_of_the_exchange_api_and_their_stream(fake, copy, kind) -> None:
    assert copy(*tensors(7, kind=kind)) is None
    assert copy(*tensors(9, (2, 1), kind)) is None
    assert [(launch[1][0], launch[2]) for launch in fake.launches] == [(7, 0x5EED), (9, 0x5EED + 1)]


def test_the_stream_given_comes_before_the_one_around_and_that_before_the_tensors(fake, copy) -> None:
    a, b = tensors(5)
    with Stream(cuda(0)) as outer:
        copy(a, b)
        with Stream(cuda(1)):
            copy(a, b)
            copy(a, b, stream=0x77)
            copy(a, b, stream=outer)
            copy(a, b, stream=None)
    copy(a, b)
    assert [launch[2] for launch in fake.launches] == [
        outer.handle, outer.handle, 0x77, outer.handle, outer.handle, 0x5EED,
    ]  # fmt: skip


def test_the_default_stream_of_torch(fake, copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Tensor, "current_stream", 0)
    copy(*tensors(5))
    assert fake.launches[0][2] is None


@pytest.mark.parametrize(
    ("given", "kind", "message"),
    [
        (lambda: (), TypeError, f"{TEXT}: expected 2 arguments, got 0"),
        (lambda: tensors(5) * 2, TypeError, f"{TEXT}: expected 2 arguments, got 4"),
        (
            lambda: tensors(5)[:1],
            TypeError,
            f"{TEXT}: expected 2 arguments, got 1: outputs are allocated beside arrays of NumPy, torch, CuPy and tw.nd, "
            "got Tensor first",
        ),
        (
            lambda: (tensors(5)[0], tensors(4)[1]),
            ValueError,
            f"{TEXT}: argument 1 (B): expected extent n = 5, as in dimension 0 of A, in dimension 0, got shape (4,)",
        ),
        (
            lambda: (tensors(5)[0], tensors(5, (2, 1))[1]),
            ValueError,
            f"{TEXT}: argument 1 (B): expected an array on cuda:0, got one on cuda:1",
        ),
        (
            lambda: (tensors(5)[0], np.zeros(5, "float32")),
            ValueError,
            f"{TEXT}: argument 1 (B): expected an array on cuda, got one on cpu",
        ),
        (
            lambda: (tensors(5)[0], Tensor(np.zeros(10, "float32")[::2])),
            ValueError,
            f"{TEXT}: argument 1 (B): expected a row-major array, got strides (2,) for shape (5,)",
        ),
        (
            lambda: (tensors(5)[0], Tensor(np.zeros(5, "float64"))),
            TypeError,
            f"{TEXT}: argument 1 (B): expected dtype float32, got float64",
        ),
        (
            lambda: (Tensor(np.zeros(9, "float32")[1:]), tensors(8)[1]),
            ValueError,
            f"{TEXT}: argument 0 (A): expected memory aligned to 16 bytes, got an address 4 bytes past that",
        ),
    ],
)
def test_refused(fake, copy, given, kind, message) -> None:
    with pytest.raises(kind) as caught:
        copy(*given())
    assert str(caught.value) == message and fake.launches == []


def test_wrong_streams(fake, copy) -> None:
    a, b = tensors(5)
    with pytest.raises(TypeError) as caught:
        copy(a, b, stream="main")
    assert str(caught.value) == f"{TEXT}: expected a stream (Stream, __cuda_stream__ or a handle), got str"
    with pytest.raises(ValueError) as caught:
        copy(a, b, stream=Stream(cuda(1)))
    assert str(caught.value) == f"{TEXT}: expected a stream of cuda:0, got one of cuda:1"


def test_arguments_by_their_names(fake, copy) -> None:
    a, b = tensors(5)
    c, d = tensors(7)
    copy(a, B=b)
    copy(B=d, A=c)
    copy(B=d, stream=0x77, A=c)
    assert [(launch[1][0], launch[2]) for launch in fake.launches] == [(5, 0x5EED), (7, 0x5EED), (7, 0x77)]
    for given, named, message in (
        ((a, b), {"C": a}, "expected no argument called 'C'"),
        ((a, b), {"streams": 0}, "expected no argument called 'streams'"),
        ((a,), {"A": b}, "expected argument A once, got it twice"),
        ((a, b), {"A": b}, "expected argument A once, got it twice"),
        ((), {"B": b}, "expected 2 arguments, got none for A"),
    ):
        with pytest.raises(TypeError) as caught:
            copy(*given, **named)
        assert str(caught.value) == f"{TEXT}: {message}"


def test_a_tensor_that_cannot_be_read_goes_by_way_of_python(fake, copy) -> None:
    a, b = tensors(5)
    b.failing = True
    with pytest.raises(TypeError, match=r"argument 0 \(A\): expected an array \(NumPy, DLPack"):
        copy(a, b)
    assert fake.launches == []


def test_a_driver_error_has_its_class(fake, copy) -> None:
    fake.launch_result = fake.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(DriverError) as caught:
        copy(*tensors(5))
    assert (caught.value.call, caught.value.code, caught.value.name) == (
        "cuLaunchKernelEx", 700, "CUDA_ERROR_ILLEGAL_ADDRESS",
    )  # fmt: skip


@pytest.mark.sweep
def test_an_error_is_not_taken_for_an_earlier_one(fake) -> None:
    """A failure that went out by tvm-ffi says nothing of the next one."""
    tvm_ffi = pytest.importorskip("tvm_ffi")
    double = built()
    fake.launch_result = fake.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    given = [tvm_ffi.from_dlpack(Exported(np.zeros(64, "float32"), (2, 0))) for _ in range(2)]
    with pytest.raises(RuntimeError, match="^cuLaunchKernelEx failed with CUDA_ERROR_ILLEGAL_ADDRESS"):
        double.ffi(*given)
    fake.launch_result = fake.CUresult.CUDA_SUCCESS
    libtvm_ffi().TVMFFIErrorSetRaisedFromCStr(b"RuntimeError", b"something else")
    with pytest.raises(LaunchError, match="^something else$") as caught:
        raise_error()
    assert type(caught.value) is LaunchError


def test_no_reference_is_kept_or_lost(fake, copy) -> None:
    a, b = tensors(5)
    counted = (a, b, None, Tensor)
    fake.launches.clear()
    gc.collect()
    before = [sys.getrefcount(each) for each in counted]
    for _ in range(1000):
        copy(a, b)
        copy(a, b, stream=0x77)
    for bad in ((a,), (a, a), (a, object())):
        for _ in range(100):
            with pytest.raises((TypeError, ValueError)):
                copy(*bad)
    gc.collect()
    after = [sys.getrefcount(each) for each in counted]
    assert all(abs(x - y) < 20 for x, y in zip(before, after)), (before, after)


def test_device_guard(fake, copy) -> None:
    """The call runs in its tensors' context and leaves the thread's own as it was."""
    fake.cuCtxPushCurrent(0xC0)
    copy(*tensors(5, (2, 1)))
    copy(*tensors(5, (2, 0)))
    pushed = [call[1] for call in fake.calls if call[0] == "cuCtxPushCurrent"]
    assert fake._stack == [0xC0] and pushed[1:].count(0xC1) == 2
    fake.cuCtxPopCurrent()


def built() -> tw.Function:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 2, name="B")
    s = te.create_schedule(b.op)
    outer, inner = s[b].split(b.op.axis[0], 64)
    s[b].bind(outer, te.thread_axis("blockIdx.x"))
    s[b].bind(inner, te.thread_axis("threadIdx.x"))
    return tw.build(s, [a, b], tw.Target("cuda", arch="sm_90a"), name="double")


def test_a_built_function(fake) -> None:
    double = built()
    a, b = tensors(70)
    double(a, b)
    assert fake.names().count("cuModuleLoadData") == 1
    double.load(cuda(1))
    assert fake.names().count("cuModuleLoadData") == 2
    double(A=a, B=b, stream=0x77)
    double(*tensors(8, (2, 1)))
    assert [(launch[1][0], launch[2]) for launch in fake.launches] == [(2, 0x5EED), (2, 0x77), (1, 0x5EED + 1)]
    assert fake.names().count("cuModuleLoadData") == 2
    with pytest.raises(ValueError, match=r"^expected a device of target cuda, got cpu\(0\)$"):
        double.load(cpu())


def test_loading_where_the_kernels_do_not_run(fake) -> None:
    fake.attributes["COMPUTE_CAPABILITY_MAJOR"] = 8
    with pytest.raises(LaunchError) as caught:
        built().load()
    assert str(caught.value) == (
        "double is compiled for sm_90a, and cuda:0 (Fake GPU 0) is sm_80: "
        'build it with target=tw.Target("cuda", arch="sm_80")'
    )
    with pytest.raises(LaunchError, match=r"^no GPU cuda:5: the driver has 2 of them$"):
        built().load(cuda(5))


def test_the_environments_stream(fake) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    double = built().ffi
    for index in (0, 1):
        given = [tvm_ffi.from_dlpack(Exported(np.zeros(64, "float32"), (2, index))) for _ in range(2)]
        double(*given)
        with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", index), 0x55 + index):
            double(*given)
    assert [launch[2] for launch in fake.launches] == [None, 0x55, None, 0x56]
    assert fake.names().count("cuModuleLoadData") == 2


def test_tensors_of_tvm_ffi_are_used_on_the_environments_stream(fake) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    double = built()
    double.load()
    given = [tvm_ffi.from_dlpack(Exported(np.zeros(64, "float32"), (2, 0))) for _ in range(2)]
    with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda:0"), 0x55):
        double(*given)
    double(*given, stream=0x66)
    assert [launch[2] for launch in fake.launches] == [0x55, 0x66]


# ---------------------------------------------------------------------------- launches as the schedule wants them

COOPERATIVE, PROGRAMMATIC_SERIALIZATION = 2, 6  # CUlaunchAttributeID


def launched(**launch: object) -> tw.Function:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] * 2, name="B")
    s = te.create_schedule(b.op)
    outer, inner = s[b].split(b.op.axis[0], 64)
    s[b].bind(outer, te.thread_axis("blockIdx.x"))
    s[b].bind(inner, te.thread_axis("threadIdx.x"))
    s.launch(**launch)  # type: ignore[arg-type]
    return tw.build(s, [a, b], tw.Target("cuda", arch="sm_90a"), name="double")


def test_the_schedules_launches(fake) -> None:
    for function in (built(), launched(dependent=True), launched(cooperative=True, dependent=True)):
        function(*tensors(256))
    assert fake.launch_attributes == [
        {},
        {PROGRAMMATIC_SERIALIZATION: 1},
        {PROGRAMMATIC_SERIALIZATION: 1, COOPERATIVE: 1},
    ]


@pytest.mark.parametrize("code", ["CUDA_ERROR_INVALID_CLUSTER_SIZE", "CUDA_ERROR_INVALID_VALUE"])
def test_a_grid_that_is_no_clusters(fake, code: str) -> None:
    fake.launch_result = fake.CUresult[code]
    with pytest.raises(DriverError) as caught:
        launched(cluster=(2, 1, 1))(*tensors(192))
    assert str(caught.value) == (
        f"cuLaunchKernelEx failed with {code} ({fake.CUresult[code].value}): double_kernel0 with grid (3, 1, 1), block "
        "(64, 1, 1) and 0 bytes of shared memory on cuda:0; expected grid.x to be a multiple of the cluster's 2, got 3"
    )


def test_a_grid_that_does_not_run_at_once(fake) -> None:
    fake.launch_result = fake.CUresult.CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
    with pytest.raises(DriverError) as caught:
        launched(cooperative=True)(*tensors(192))
    assert str(caught.value) == (
        "cuLaunchKernelEx failed with CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE (720): double_kernel0 with grid (3, 1, 1), "
        "block (64, 1, 1) and 0 bytes of shared memory on cuda:0; the schedule asks for all blocks at once: launch "
        "fewer, or smaller ones"
    )


def test_calls_that_keep_the_lock() -> None:
    """While a function runs another thread does, unless it was said that none may."""
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: te.exp(te.sin(a[i])), name="B")
    function = tw.build(te.create_schedule(b.op), [a, b], "cpu")
    x, y = np.ones(1 << 20, "float32"), np.zeros(1 << 20, "float32")
    assert function.release_gil
    function(x, y)
    count, stop = 0, False

    def spin() -> None:
        nonlocal count
        while not stop:
            count += 1
            time.sleep(0)

    thread = threading.Thread(target=spin)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # the lock goes only where it is released
    try:
        thread.start()
        for release in (True, False, True):
            function.release_gil = release
            assert function.release_gil is release
            before = count
            # On a busy machine the other thread may not get to run within one call.
            for _ in range(2000 if release else 20):
                function(x, y)
                if count > before:
                    break
            assert (count > before) is release
    finally:
        stop = True
        sys.setswitchinterval(interval)
        thread.join()
