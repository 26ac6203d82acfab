"""Arrays on devices: copies, DLPack both ways, and the pool behind them."""

from __future__ import annotations

import gc
import sys

import ml_dtypes
import numpy as np
import pytest

from tilewright import nd
from tilewright.errors import DriverError
from tilewright.runtime import cpu, cuda
from tilewright.runtime.dlpack import read_capsule
from tilewright.runtime.memory import pool_of
from tilewright.runtime.stream import Stream

DTYPES = ["float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8", "uint8", "int64", "uint16", "bool"]


@pytest.fixture(params=["cpu", "cuda"])
def device(request: pytest.FixtureRequest, fake):
    return cpu() if request.param == "cpu" else cuda(1)


@pytest.mark.sample(8)
@pytest.mark.parametrize("dtype", DTYPES)
def test_there_and_back(device, dtype: str) -> None:
    source = np.arange(24).reshape(2, 3, 4).astype(nd.empty((), dtype).dtype)
    copied = nd.array(source, device)
    assert (copied.shape, copied.dtype.name, copied.device, copied.size) == ((2, 3, 4), dtype, device, 24)
    assert copied.address % 256 == 0
    np.testing.assert_array_equal(copied.numpy(), source)
    assert copied.numpy().dtype == source.dtype
    np.testing.assert_array_equal(copied.asnumpy(), source)


def test_a_copy_is_a_copy(device) -> None:
    source = np.zeros(3, "float32")
    copied = nd.array(source, device)
    source[:] = 1
    result = copied.numpy()
    result[:] = 2
    np.testing.assert_array_equal(copied.numpy(), np.zeros(3))


def test_what_numpy_makes_an_array_of(device) -> None:
    np.testing.assert_array_equal(nd.array([[1, 2], [3, 4]], device, "float32").numpy(), [[1, 2], [3, 4]])
    np.testing.assert_array_equal(nd.array(np.arange(6).reshape(2, 3).T, device).numpy(), [[0, 3], [1, 4], [2, 5]])
    assert nd.array(np.float32(2), device).shape == ()
    assert nd.array(np.float32(2), device).numpy() == 2
    target = nd.zeros(3, "float32", device)
    np.testing.assert_array_equal(target.numpy(), [0, 0, 0])
    np.testing.assert_array_equal(target.copyfrom([1, 2, 3]).numpy(), [1, 2, 3])


def test_without_elements(device) -> None:
    assert nd.array(np.zeros((0, 4), "float32"), device).numpy().shape == (0, 4)
    assert nd.zeros((4, 0), "int8", device).numpy().shape == (4, 0)


@pytest.mark.parametrize(
    ("here", "there"), [(cuda(0), cuda(0)), (cuda(0), cuda(1)), (cuda(0), cpu()), (cpu(), cuda(0))]
)
def test_between_devices(fake, here, there) -> None:
    source = nd.array(np.arange(5, dtype="int32"), here)
    np.testing.assert_array_equal(source.copyto(there).numpy(), np.arange(5))
    np.testing.assert_array_equal(nd.array(source, there).numpy(), np.arange(5))
    assert ("cuMemcpyPeerAsync" in fake.names()) == (here.is_cuda and there.is_cuda and here != there)


@pytest.mark.parametrize(
    ("act", "kind", "message"),
    [
        (lambda: nd.empty((2, -1)), ValueError, "expected extents of 0 or more, got -1 in shape (2, -1)"),
        (lambda: nd.empty((2, 1.5)), TypeError, "expected extents as ints, got 1.5 in shape (2, 1.5)"),
        (lambda: nd.empty(1 << 55), MemoryError, "no memory for 144115188075855872 bytes on cpu:0"),
        (lambda: nd.empty((1 << 63, 2)), MemoryError, "no memory for 73786976294838206464 bytes on cpu:0"),
        (lambda: nd.empty(2, "U3"), TypeError, "expected a dtype of numbers, got <U3"),
        (lambda: nd.empty(2, "text"), TypeError, "expected a dtype of numbers, got 'text'"),
        (lambda: nd.empty(2).copyfrom(np.zeros(3, "float32")), ValueError, "expected an array of shape (2,), got (3,)"),
        (lambda: nd.empty(2).copyfrom(np.zeros(2)), TypeError, "expected an array of dtype float32, got float64"),
        (
            lambda: nd.array(nd.empty(2), dtype="int8"),
            TypeError,
            "expected dtype float32 of the array to be copied, got int8",
        ),
        (lambda: len(nd.empty(())), TypeError, "len() of an array without dimensions"),
        (lambda: nd.from_dlpack([1]), TypeError, "expected an array with __dlpack__, got list"),
        (
            lambda: nd.from_dlpack(np.zeros((3, 4)).T),
            ValueError,
            "expected a row-major array, got strides (1, 4) for shape (4, 3)",
        ),
        (lambda: nd.empty(2).__dlpack__(copy=True), BufferError, "expected no copy: copy the array with copyto first"),
        (
            lambda: nd.empty(2).__dlpack__(dl_device=(2, 0)),
            BufferError,
            "expected no change of device, got (2, 0) for an array on cpu:0",
        ),
    ],
)
def test_errors(act, kind, message) -> None:
    with pytest.raises(kind) as caught:
        act()
    assert str(caught.value) == message


# ---------------------------------------------------------------------------- DLPack


@pytest.mark.parametrize("max_version", [None, (1, 0), (0, 8)])
def test_numpy_takes_ours(max_version) -> None:
    class Old:
        """A producer that hands out as its consumer asks for."""

        def __init__(self, array: nd.NDArray) -> None:
            self.array = array

        def __dlpack__(self, **_options: object) -> object:
            return self.array.__dlpack__(max_version=max_version)

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.array.__dlpack_device__()

    ours = nd.array(np.arange(6, dtype="float32").reshape(2, 3))
    theirs = np.from_dlpack(Old(ours))
    np.testing.assert_array_equal(theirs, ours.numpy())
    assert theirs.ctypes.data == ours.address


def test_memory_lives_as_long_as_its_consumer() -> None:
    gc.collect()
    before = nd.stats().in_use
    ours = nd.array(np.arange(1000, dtype="float32"))
    theirs = np.from_dlpack(ours)
    references = sys.getrefcount(ours)
    capsule = ours.__dlpack__()
    assert sys.getrefcount(ours) == references + 1
    del capsule  # nobody consumed it
    assert sys.getrefcount(ours) == references
    del ours
    gc.collect()
    assert nd.stats().in_use > before
    np.testing.assert_array_equal(theirs, np.arange(1000))
    del theirs
    gc.collect()
    assert nd.stats().in_use == before


def test_ours_takes_numpys() -> None:
    theirs = np.arange(6, dtype="int16").reshape(2, 3)
    ours = nd.from_dlpack(theirs)
    assert ours.address == theirs.ctypes.data
    theirs[0, 0] = 9
    assert ours.numpy()[0, 0] == 9
    references = sys.getrefcount(theirs)
    del ours
    gc.collect()
    assert sys.getrefcount(theirs) == references - 1


def test_read_only_stays_read_only() -> None:
    theirs = np.zeros(3, "float32")
    theirs.flags.writeable = False
    ours = nd.from_dlpack(theirs)
    with pytest.raises(ValueError, match=r"^expected a writable array to copy to, got a read-only one$"):
        ours.copyfrom(np.ones(3, "float32"))
    with pytest.raises(BufferError, match=r"^a read-only array is not handed out$"):
        ours.__dlpack__()


@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes_by_dlpack(dtype: str) -> None:
    ours = nd.zeros((2, 1, 3), dtype)
    found = read_capsule(ours, None)
    assert (found.address, found.shape, found.strides, found.dtype) == (ours.address, (2, 1, 3), (3, 3, 1), dtype)


def test_cuda_arrays_by_dlpack(fake) -> None:
    ours = nd.array(np.arange(3, dtype="float32"), cuda(1))
    assert ours.__dlpack_device__() == (2, 1)
    again = nd.from_dlpack(ours)
    assert (again.address, again.device) == (ours.address, cuda(1))
    np.testing.assert_array_equal(again.numpy(), np.arange(3))


def test_a_consumers_stream_waits_for_ours(fake) -> None:
    with Stream(cuda(0)) as ours:
        array = nd.zeros(4, "float32", cuda(0))
    fake.calls.clear()
    array.__dlpack__(stream=0x55)
    record, wait = (call for call in fake.calls if call[0] in ("cuEventRecord", "cuStreamWaitEvent"))
    assert (record[2], wait[1]) == (ours.handle, 0x55)
    fake.calls.clear()
    array.__dlpack__(stream=-1)
    assert "cuStreamWaitEvent" not in fake.names()


# ---------------------------------------------------------------------------- the pool


def test_memory_is_reused(device) -> None:
    first = nd.empty(1000, "float32", device)
    address = first.address
    assert nd.stats(device).in_use == 4096
    del first
    gc.collect()
    assert nd.empty(999, "float32", device).address == address
    gc.collect()
    stats = nd.stats(device)
    assert (stats.in_use, stats.peak, stats.requests, stats.reused) == (0, 4096, 2, 1)
    nd.release(device)
    assert nd.stats(device).reserved == 0


def test_a_small_array_does_not_take_a_large_block(fake) -> None:
    address = nd.empty(1 << 20, "float32", cuda(0)).address
    gc.collect()
    assert nd.empty(1 << 10, "float32", cuda(0)).address != address


def test_work_in_flight_keeps_memory_from_other_streams(fake) -> None:
    home, other = Stream(cuda(0)), Stream(cuda(0))
    block = pool_of(cuda(0)).allocate(512, home)
    address = block.address
    block.used_on(other)
    fake.events_done = False
    del block
    gc.collect()
    meanwhile = pool_of(cuda(0)).allocate(512, home)
    assert meanwhile.address != address, "the other stream may still use it"
    fake.events_done = True
    assert pool_of(cuda(0)).allocate(512, home).address == address


def test_a_block_goes_to_its_own_stream_at_once_and_to_others_when_done(fake) -> None:
    home, other = Stream(cuda(0)), Stream(cuda(0))
    address = pool_of(cuda(0)).allocate(512, home).address
    gc.collect()
    fake.events_done = False
    again = pool_of(cuda(0)).allocate(512, home)
    assert again.address == address
    del again
    gc.collect()
    assert (taken := pool_of(cuda(0)).allocate(512, other)).address != address
    fake.events_done = True
    assert pool_of(cuda(0)).allocate(512, other).address == address
    assert taken.address != address


def test_what_is_kept_goes_back_when_memory_is_short(fake) -> None:
    fake.capacity = 4 << 20
    nd.empty(3 << 20, "uint8", cuda(0))
    gc.collect()
    held = nd.empty(2 << 20, "uint8", cuda(0))
    assert "cuMemFree" in fake.names()
    with pytest.raises(DriverError) as caught:
        nd.empty(3 << 20, "uint8", cuda(0))
    assert str(caught.value) == (
        "cuMemAlloc failed with CUDA_ERROR_OUT_OF_MEMORY (2): 3145728 bytes wanted on cuda:0, with 2097152 in use by "
        "Tilewright's arrays"
    )
    assert nd.stats(cuda(0)).in_use == held.nbytes


def test_bfloat16_is_ml_dtypes_own() -> None:
    assert nd.empty(1, "bfloat16").dtype == ml_dtypes.bfloat16
