"""Functions of target cuda that take this machine's arrays, with the driver replaced."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tvm_ffi

import tilewright as tw
from fake_arrays import WITHOUT_TORCH
from tilewright import te


@pytest.fixture
def scale(fake) -> tw.Function:
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))

    def kernel(function: int, params) -> None:
        read = [ctypes.cast(params[i], ctypes.POINTER(ctypes.c_int64)).contents.value for i in range(2)]
        a, b = (np.ctypeslib.as_array(ctypes.cast(at, ctypes.POINTER(ctypes.c_float)), (64,)) for at in read)
        b[:] = a * 2

    fake.kernel = kernel
    return tw.build(s, [A, B], tw.Target("cuda", arch="sm_90a"), "scale", host="managed")


def test_arrays_are_copied_there_and_back(fake, scale: tw.Function) -> None:
    a = np.arange(64, dtype="float32")
    b = np.zeros(64, "float32")
    scale(a, b)
    np.testing.assert_array_equal(b, 2 * a)
    names = fake.names()
    assert names.count("cuMemcpyHtoDAsync") == 1, "outputs are not copied there"
    assert names.count("cuMemcpyDtoHAsync") == 1, "inputs are not copied back"
    assert len(fake.launches) == 1


def test_arguments_are_checked_as_this_machines(fake, scale: tw.Function) -> None:
    a, b = np.zeros(64, "float32"), np.zeros(64, "float32")
    with pytest.raises(ValueError, match=r"argument 0 \(A\): expected an array on cpu, got one on cuda$"):
        scale(tw.nd.array(a, tw.cuda(0)), b)
    b.flags.writeable = False
    with pytest.raises(ValueError, match=r"argument 1 \(B\): expected a writable array"):
        scale(a, b)
    assert fake.launches == []


def test_it_stays_managed_once_it_is_loaded(fake, scale: tw.Function) -> None:
    scale.load()
    a, b = np.ones(64, "float32"), np.zeros(64, "float32")
    scale(a, b)
    assert (b == 2).all()


def test_one_of_several_functions(fake, scale: tw.Function) -> None:
    A = te.placeholder((64,), "int32", name="A")
    B = te.compute((64,), lambda i: A[i] * 3, name="B")
    either = tw.dispatch([tw.build(te.create_schedule(B.op), [A, B], "cpu", "thrice"), scale], "either")
    a, b = np.ones(64, "float32"), np.zeros(64, "float32")
    either(a, b)
    assert (b == 2).all() and len(fake.launches) == 1
    assert (either(np.ones(64, "int32")) == 3).all() and len(fake.launches) == 1


def test_for_users_of_tvm_ffi(fake, scale: tw.Function) -> None:
    a, b = np.arange(64, dtype="float32"), np.zeros(64, "float32")
    scale.ffi(a, b)
    np.testing.assert_array_equal(b, 2 * a)


def test_on_the_gpu_that_is_current_and_on_a_stream(fake, scale: tw.Function) -> None:
    a, b = np.ones(64, "float32"), np.zeros(64, "float32")
    scale(a, b)
    fake._stack.append(0xC1)
    scale(a, b)
    assert fake._stack.pop() == 0xC1
    stream = tw.runtime.Stream(tw.cuda(1))
    scale(a, b, stream=stream)
    assert [call[1] for call in fake.calls if call[0] == "cuDevicePrimaryCtxRetain"][:2] == [0, 1]
    assert [launch[2] for launch in fake.launches] == [None, None, stream.handle]
    assert fake._stack == [] and fake.memory == {}


def test_a_copy_that_fails(fake, scale: tw.Function) -> None:
    a, b = np.ones(64, "float32"), np.zeros(64, "float32")
    scale(a, b)
    fake.fail["cuMemcpyHtoDAsync"] = fake.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(tw.DriverError) as caught:
        scale(a, b)
    assert str(caught.value) == (
        "cuMemcpyHtoDAsync failed with CUDA_ERROR_ILLEGAL_ADDRESS (700): 256 bytes of A of scale on cuda:0; an earlier "
        'kernel of this process did that, and the GPU\'s context is lost with it: target "sim" names such an access of a '
        "kernel of Tilewright's, compute-sanitizer of any"
    )
    assert fake._stack == [] and fake.memory == {} and fake.names()[-1] == "cuCtxPopCurrent"
    del fake.fail["cuMemcpyHtoDAsync"]
    fake.fail["cuStreamSynchronize"] = fake.CUresult.CUDA_ERROR_LAUNCH_FAILED
    with pytest.raises(
        tw.DriverError, match=r"^cuStreamSynchronize failed with CUDA_ERROR_LAUNCH_FAILED \(719\): while scale "
    ):
        scale(a, b)


def test_memory_that_there_is_not(fake, scale: tw.Function) -> None:
    fake.capacity = 256
    with pytest.raises(tw.DriverError) as caught:
        scale(np.ones(64, "float32"), np.zeros(64, "float32"))
    assert str(caught.value) == (
        "cuMemAllocFromPoolAsync failed with CUDA_ERROR_OUT_OF_MEMORY (2): 512 bytes for the arrays of scale on cuda:0; free "
        "memory on the GPU, or let fewer programs share it"
    )


def test_as_a_library(fake, scale: tw.Function, tmp_path: Path) -> None:
    tw.export_library(scale, tmp_path / "scale.so", header=True)
    header = (tmp_path / "scale.h").read_text()
    assert (
        "/* scale(A: float32[64], B: float32[64]): row-major, on the cpu; copied to a GPU and back, on the stream of "
        "TVMFFIEnvSetStream, and waited for; writes B. */"
    ) in header
    loaded = tvm_ffi.load_module(str(tmp_path / "scale.so"))
    assert loaded.get_function_doc("scale") == (
        "scale(A: float32[64], B: float32[64])\n\nRow-major arrays on the cpu, aligned to 16 bytes, which are copied to a "
        "GPU and back. Writes B."
    )
    # The library has the driver, not the fake that stands in for it here.
    b = np.zeros(64, "float32")
    try:
        loaded.scale(np.ones(64, "float32"), b)
    except RuntimeError as error:
        assert re.match("no CUDA driver|cuInit failed with |scale is compiled for ", str(error))
    else:
        assert (b == 2).all()  # there is a GPU
    with pytest.raises(ValueError, match=r"argument 0 \(A\): expected extent 64 in dimension 0, got shape \(63,\)$"):
        loaded.scale(np.ones(63, "float32"), np.zeros(64, "float32"))


USER = """
import numpy as np, tvm_ffi
scale = tvm_ffi.load_module(sys.argv[1]).scale
a, b = np.arange(64, dtype="float32"), np.zeros(64, "float32")
for _ in range(3):
    scale(a, b)
    assert (b == 2 * a).all()
    a += 1
assert not [name for name in sys.modules if name.startswith("tilewright")]
print("right")
"""


@pytest.mark.sweep
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler here")
def test_a_library_copies_there_and_back(scale: tw.Function, tmp_path: Path) -> None:
    fake = ["cc", "-shared", "-fPIC", "-w", "-DMAJOR=9", "-DMINOR=0", "-o", str(tmp_path / "libcuda.so.1")]
    subprocess.run([*fake, str(Path(__file__).with_name("fake_cuda.c"))], check=True)
    scale.export_library(tmp_path / "scale.so")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["LD_LIBRARY_PATH"] = str(tmp_path)
    command = [sys.executable, "-c", WITHOUT_TORCH + USER, str(tmp_path / "scale.so")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


def test_other_targets_are_managed_anyway() -> None:
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] + 1.0, name="B")
    a, b = np.zeros(8, "float32"), np.zeros(8, "float32")
    tw.build(te.create_schedule(B.op), [A, B], "cpu", host="managed")(a, b)
    np.testing.assert_array_equal(b, 1)
