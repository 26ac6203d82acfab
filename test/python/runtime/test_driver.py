"""The driver: nothing of it at import, and clear errors where it or the GPU is missing."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import types

import pytest

import tilewright
from tilewright.errors import DriverError, LaunchError
from tilewright.native.library import library
from tilewright.runtime import cpu, cuda, cuda_driver
from tilewright.runtime.stream import Stream


def test_importing_touches_no_driver() -> None:
    code = (
        "import sys, tilewright as tw; "
        "assert 'tilewright.runtime' not in sys.modules; "
        "tw.cuda(3), tw.nd.empty, tw.Stream, tw.time_evaluator; "
        "assert not [m for m in sys.modules if m.split('.')[0] in ('cuda', 'torch', 'cupy')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_no_driver(bindings: types.ModuleType) -> None:
    def no_library(_flags: int) -> None:
        raise RuntimeError("libcuda cannot be found")

    bindings.cuInit = no_library
    with pytest.raises(LaunchError) as caught:
        cuda_driver.call("cuDeviceGetCount")
    assert str(caught.value) == (
        "no CUDA driver: libcuda.so.1 was not found; install NVIDIA's driver to run on a GPU "
        '(targets "sim" and "cpu" need none)'
    )
    assert isinstance(caught.value, RuntimeError)
    assert not cuda(0).exist


def result(code: int, name: str) -> types.SimpleNamespace:
    class Code(int):
        pass

    made = Code(code)
    made.name = name
    return made


def test_no_gpu(bindings: types.ModuleType) -> None:
    bindings.cuInit = lambda flags: (result(100, "CUDA_ERROR_NO_DEVICE"),)
    with pytest.raises(DriverError) as caught:
        cuda(0).sync()
    assert str(caught.value) == (
        "cuInit failed with CUDA_ERROR_NO_DEVICE (100): the driver is there, but no GPU is "
        '(targets "sim" and "cpu" need none)'
    )
    assert (caught.value.call, caught.value.code, caught.value.name) == ("cuInit", 100, "CUDA_ERROR_NO_DEVICE")


def test_driver_that_does_not_start(bindings: types.ModuleType) -> None:
    bindings.cuInit = lambda flags: (result(803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"),)
    with pytest.raises(DriverError) as caught:
        cuda(0).sync()
    assert str(caught.value) == (
        "cuInit failed with CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): the driver is there, but does not start "
        '(targets "sim" and "cpu" need none)'
    )


def test_launcher_without_driver() -> None:
    open_driver = library().tilewrightCudaOpen
    open_driver.restype = ctypes.c_char_p
    open_driver.argtypes = (ctypes.c_char_p, ctypes.c_void_p)
    found = (ctypes.c_void_p * 32)()
    assert b"libnowhere.so" in open_driver(b"libnowhere.so", ctypes.addressof(found))
    assert open_driver(b"libm.so.6", ctypes.addressof(found)) == b"libm.so.6 has no cuLaunchKernelEx"


def test_failing_call(fake) -> None:
    fake.fail["cuStreamSynchronize"] = fake.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(
        DriverError, match=r"^cuStreamSynchronize failed with CUDA_ERROR_ILLEGAL_ADDRESS \(700\)$"
    ) as caught:
        Stream(cuda(0)).synchronize()
    assert caught.value.code == 700
    assert isinstance(caught.value, tilewright.TilewrightError)


def test_device(fake) -> None:
    assert cuda(1).exist and not cuda(2).exist and cpu().exist
    assert (cuda(0).name, cuda(0).arch, cuda(0).compute_capability) == ("Fake GPU 0", "sm_90", (9, 0))
    assert cuda(0).attribute("MULTIPROCESSOR_COUNT") == 132
    assert (repr(cuda(1)), str(cuda(1)), repr(cpu())) == ("cuda(1)", "cuda:1", "cpu(0)")
    assert cpu().l2_bytes > 0


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (lambda: cuda(2).sync(), LaunchError, "no GPU cuda:2: the driver has 2 of them"),
        (lambda: cuda(-1), ValueError, "expected the index of a cuda device to be 0 or more, got -1"),
        (lambda: cpu(1), ValueError, "expected the index of a cpu device to be 0, got 1"),
        (lambda: cuda("0"), TypeError, "expected the device's index as an int, got str"),
        (lambda: cpu().attribute("L2_CACHE_SIZE"), ValueError, "expected a cuda device, got cpu(0)"),
        (
            lambda: cuda(0).attribute("WINGS"),
            ValueError,
            "expected an attribute of the driver (CU_DEVICE_ATTRIBUTE_*), got 'WINGS'",
        ),
        (lambda: Stream.from_handle(3, cpu()), ValueError, "expected a cuda device, got cpu(0)"),
    ],
)
def test_wrong_devices(fake, act, kind, message) -> None:
    with pytest.raises(kind) as caught:
        act()
    assert str(caught.value) == message


def test_context_is_pushed_only_where_it_is_not_current(fake) -> None:
    with cuda(1).active():
        assert fake.cuCtxGetCurrent() == (0, 0xC1)
        with cuda(1).active(), cuda(0).active():
            assert fake.cuCtxGetCurrent() == (0, 0xC0)
        assert fake.cuCtxGetCurrent() == (0, 0xC1)
    assert fake.cuCtxGetCurrent() == (0, 0)
    assert fake.names().count("cuCtxPushCurrent") == 2
    assert fake.names().count("cuDevicePrimaryCtxRetain") == 2
