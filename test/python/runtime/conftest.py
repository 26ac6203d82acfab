"""A CUDA driver that is not there: memory is this machine's, work is done at once, and every call is kept."""

from __future__ import annotations

import ctypes
import enum
import gc
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tilewright.native.library import library
from tilewright.runtime import cuda_driver, memory
from tilewright.runtime import device as device_module


class Result(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_NOT_FOUND = 500
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_LAUNCH_FAILED = 719
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900
    CUDA_ERROR_INVALID_CLUSTER_SIZE = 912


OK = Result.CUDA_SUCCESS
ATTRIBUTES = {
    "COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "L2_CACHE_SIZE": 1 << 16, "MULTIPROCESSOR_COUNT": 132,
    "MAX_GRID_DIM_X": 2**31 - 1, "MAX_GRID_DIM_Y": 65535, "MAX_GRID_DIM_Z": 65535, "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024, "MAX_BLOCK_DIM_Z": 64, "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 227 << 10,
}  # fmt: skip

INT, POINTER, SIZE = ctypes.c_int32, ctypes.c_void_p, ctypes.c_uint64
# TilewrightCudaDriver of runtime/host/Cuda.h: the functions in order, and what each takes.
FUNCTIONS = {
    "cuInit": (INT,), "cuDeviceGetCount": (POINTER,), "cuDeviceGetName": (POINTER, INT, INT),
    "cuDeviceGetAttribute": (POINTER, INT, INT), "cuDevicePrimaryCtxRetain": (POINTER, INT),
    "cuCtxGetCurrent": (POINTER,), "cuCtxPushCurrent": (POINTER,), "cuCtxPopCurrent": (POINTER,),
    "cuModuleLoadData": (POINTER, POINTER), "cuModuleGetFunction": (POINTER, POINTER, ctypes.c_char_p),
    "cuModuleUnload": (POINTER,), "cuFuncSetAttribute": (POINTER, INT, INT),
    "cuLaunchKernelEx": (POINTER, POINTER, ctypes.POINTER(POINTER), POINTER), "cuGetErrorName": (INT, POINTER),
    "cuMemPoolCreate": (POINTER, POINTER), "cuMemPoolSetAttribute": (POINTER, INT, POINTER),
    "cuMemAllocFromPoolAsync": (POINTER, SIZE, POINTER, POINTER), "cuMemFreeAsync": (SIZE, POINTER),
    "cuCtxGetDevice": (POINTER,), "cuMemcpyHtoDAsync": (SIZE, POINTER, SIZE, POINTER),
    "cuMemcpyDtoHAsync": (POINTER, SIZE, SIZE, POINTER), "cuStreamSynchronize": (POINTER,),
}  # fmt: skip
# cuTensorMapEncodeTiled, which an old driver does not have.
ENCODE = ctypes.CFUNCTYPE(INT, *[POINTER, INT, ctypes.c_uint32, *[POINTER] * 5, *[INT] * 4])
# CUdevice_attribute's numbers.
NUMBERS = {
    1: "MAX_THREADS_PER_BLOCK", 2: "MAX_BLOCK_DIM_X", 3: "MAX_BLOCK_DIM_Y", 4: "MAX_BLOCK_DIM_Z", 5: "MAX_GRID_DIM_X",
    6: "MAX_GRID_DIM_Y", 7: "MAX_GRID_DIM_Z", 75: "COMPUTE_CAPABILITY_MAJOR", 76: "COMPUTE_CAPABILITY_MINOR",
    97: "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN",
}  # fmt: skip


class Table:
    """The fake as the C run time calls it."""

    def __init__(self, fake: FakeDriver) -> None:
        self.fake = fake
        self.names = {code.value: ctypes.create_string_buffer(code.name.encode()) for code in Result}
        self.functions = [
            ctypes.CFUNCTYPE(INT, *kinds)(
                getattr(self, name, None) or self.forward(name, bool(kinds) and name not in PLAIN)
            )
            for name, kinds in FUNCTIONS.items()
        ]
        self.table = (POINTER * (len(FUNCTIONS) + 1))(*(ctypes.cast(f, POINTER).value for f in self.functions))

    def set_encode(self, function) -> None:
        """Gives the driver cuTensorMapEncodeTiled."""
        self.functions.append(ENCODE(function))
        self.table[len(FUNCTIONS)] = ctypes.cast(self.functions[-1], POINTER).value

    def forward(self, name: str, answers: bool):
        """Calls the fake's method of that name, whose result goes to where the first parameter points."""

        def call(*args):
            code, *result = getattr(self.fake, name)(*(args[1:] if answers else args))
            if result and answers:
                POINTER.from_address(args[0]).value = result[0]
            return int(code)

        return call

    def cuInit(self, _flags):
        return 0

    def cuDeviceGetCount(self, out):
        INT.from_address(out).value = self.fake.devices
        return 0

    def cuDeviceGetName(self, out, _length, index):
        name = self.fake.cuDeviceGetName(_length, index)[1]
        ctypes.memmove(out, name, len(name))
        return 0

    def cuDeviceGetAttribute(self, out, number, _index):
        INT.from_address(out).value = self.fake.attributes[NUMBERS[number]]
        return 0

    def cuModuleLoadData(self, out, image):
        code, *result = self.fake.cuModuleLoadData(ctypes.string_at(image, 4))
        if result:
            POINTER.from_address(out).value = result[0]
        return int(code)

    def cuGetErrorName(self, code, out):
        POINTER.from_address(out).value = ctypes.addressof(self.names[code])
        return 0

    def cuFuncSetAttribute(self, function, attribute, value):
        return self.fake._func_set_attribute(function, attribute, value)

    def cuLaunchKernelEx(self, config, function, params, extra):
        return self.fake._launch_kernel_ex(config, function, params, extra)

    def cuMemPoolSetAttribute(self, _pool, _attribute, _value):
        return 0

    def cuCtxGetDevice(self, out):
        if not self.fake._stack:
            return int(Result.CUDA_ERROR_INVALID_CONTEXT)
        INT.from_address(out).value = self.fake._stack[-1] - 0xC0
        return 0


PLAIN = (
    "cuCtxPushCurrent", "cuModuleUnload", "cuMemFreeAsync", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync",
    "cuStreamSynchronize",
)  # fmt: skip


class LaunchConfig(ctypes.Structure):
    """CUlaunchConfig of cuda.h."""

    _fields_ = (
        ("numbers", ctypes.c_uint32 * 7),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("attribute_count", ctypes.c_uint32),
    )


class LaunchAttribute(ctypes.Structure):
    """CUlaunchAttribute of cuda.h, of a flag."""

    _fields_ = (("id", INT), ("padding", INT), ("value", INT), ("rest", ctypes.c_uint8 * 60))


class FakeDriver:
    """The part of cuda.bindings.driver that the run time uses. Contexts are 0xC0 + the device's number."""

    CUresult = Result
    CUdevice_attribute = SimpleNamespace(**{f"CU_DEVICE_ATTRIBUTE_{name}": name for name in ATTRIBUTES})
    CUfunction_attribute = SimpleNamespace(
        **{
            f"CU_FUNC_ATTRIBUTE_{name}": name
            for name in ("NUM_REGS", "LOCAL_SIZE_BYTES", "SHARED_SIZE_BYTES", "MAX_THREADS_PER_BLOCK")
        }
    )

    def __init__(self) -> None:
        self.calls: list[tuple[object, ...]] = []
        self.devices = 2
        self.attributes = dict(ATTRIBUTES)
        self.capacity = 1 << 30
        self.memory: dict[int, object] = {}
        self.sizes: dict[int, int] = {}
        self.events_done = True
        self.clock = 0.0
        self.event_times: dict[int, float] = {}
        self.fail: dict[str, Result] = {}
        self.launches: list[tuple[int, tuple[int, ...], int | None]] = []
        self.launch_attributes: list[dict[int, int]] = []  # of each launch, flags by number
        self.launch_result = OK
        self.kernel = None
        self.table: Table | None = None
        self.limits: list[tuple[int, int, int]] = []
        self._handles = iter(range(0x1000, 1 << 30, 16))
        self._stack: list[int] = []

    def names(self) -> list[object]:
        return [call[0] for call in self.calls]

    def __getattribute__(self, name: str):
        found = object.__getattribute__(self, name)
        if not name.startswith("cu"):
            return found

        def call(*args: object):
            self.calls.append((name, *args))
            if name in self.fail:
                return (self.fail[name],)
            result = found(*args)
            return (OK,) if result is None else result if isinstance(result, tuple) else (OK, result)

        return call

    # devices and contexts
    def cuDeviceGetCount(self):
        return self.devices

    def cuDeviceGetName(self, _length, index):
        return f"Fake GPU {index}".encode() + b"\0\0"

    def cuDeviceGetAttribute(self, name, _index):
        return self.attributes[name]

    def cuDevicePrimaryCtxRetain(self, index):
        return 0xC0 + index

    def cuCtxGetCurrent(self):
        return self._stack[-1] if self._stack else 0

    def cuCtxPushCurrent(self, context):
        self._stack.append(context)

    def cuCtxPopCurrent(self):
        return self._stack.pop()

    def cuCtxGetDevice(self):
        return self._stack[-1] - 0xC0 if self._stack else (Result.CUDA_ERROR_INVALID_CONTEXT,)

    def cuCtxSynchronize(self):
        pass

    # memory
    def cuMemAlloc(self, size):
        if sum(self.sizes.values()) + size > self.capacity:
            return (Result.CUDA_ERROR_OUT_OF_MEMORY,)
        buffer = ctypes.create_string_buffer(size + 512)
        address = -(-ctypes.addressof(buffer) // 512) * 512
        self.memory[address], self.sizes[address] = buffer, size
        return address

    def cuMemPoolCreate(self, _properties):
        return next(self._handles)

    def cuMemAllocFromPoolAsync(self, size, _pool, _stream):
        return self.cuMemAlloc(size)

    def cuMemFreeAsync(self, address, _stream):
        self.cuMemFree(address)

    def cuMemFree(self, address):
        del self.memory[address], self.sizes[address]

    def cuMemcpyHtoDAsync(self, to, source, size, _stream):
        ctypes.memmove(to, source, size)

    def cuMemcpyDtoHAsync(self, to, source, size, _stream):
        ctypes.memmove(to, source, size)

    def cuMemcpyDtoDAsync(self, to, source, size, _stream):
        ctypes.memmove(to, source, size)

    def cuMemcpyPeerAsync(self, to, _to_context, source, _context, size, _stream):
        ctypes.memmove(to, source, size)

    def cuMemsetD8Async(self, to, value, size, _stream):
        ctypes.memset(to, value, size)

    # streams and events
    def cuStreamCreateWithPriority(self, _flags, _priority):
        return next(self._handles)

    def cuStreamDestroy(self, _stream):
        pass

    def cuStreamSynchronize(self, _stream):
        pass

    def cuStreamWaitEvent(self, _stream, _event, _flags):
        pass

    def cuEventCreate(self, _flags):
        return next(self._handles)

    def cuEventDestroy(self, _event):
        pass

    def cuEventSynchronize(self, _event):
        pass

    def cuEventQuery(self, _event):
        return (OK,) if self.events_done else (Result.CUDA_ERROR_NOT_READY,)

    def cuEventElapsedTime(self, start, stop):
        return (self.event_times[stop] - self.event_times[start]) * 1e3

    def cuEventRecord(self, event, _stream):
        self.event_times[event] = self.clock

    # modules
    def cuModuleLoadData(self, image):
        assert isinstance(image, bytes)
        return next(self._handles)

    def cuModuleGetFunction(self, _module, name):
        return 0xF000 + int(name[-1:])

    def cuModuleUnload(self, _module):
        pass

    def cuLaunchKernel(self, *_args):
        pass

    def cuFuncGetAttribute(self, name, function):
        return {"NUM_REGS": 32, "MAX_THREADS_PER_BLOCK": 1024}.get(name, 0) + function - 0xF000

    # the C launcher's entry points
    def _launch_kernel_ex(self, config, function, params, extra):
        numbers = LaunchConfig.from_address(config)
        if extra:
            # CU_LAUNCH_PARAM_BUFFER_POINTER, _SIZE and _END.
            names = (POINTER * 5).from_address(extra)
            assert not params and (names[0], names[2], names[4]) == (1, 2, None)
            count = SIZE.from_address(names[3]).value // 8
            params = (POINTER * count)(*(names[1] + 8 * i for i in range(count)))
        self.launches.append((function, tuple(numbers.numbers), numbers.stream))
        attributes = (LaunchAttribute * numbers.attribute_count).from_address(numbers.attributes or config)
        self.launch_attributes.append({each.id: each.value for each in attributes})
        if self.launch_result == OK and self.kernel is not None:
            self.kernel(function, params)
        return int(self.launch_result)

    def _func_set_attribute(self, function, attribute, value):
        self.limits.append((function, attribute, value))
        return int(self.fail.get("cuFuncSetAttribute", OK))


kept: list[Table] = []


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeDriver]:
    """The fake in place of the driver, with pools and contexts of its own."""
    made = FakeDriver()
    monkeypatch.setattr(cuda_driver, "_module", made)
    made.table = table = Table(made)
    library().tilewrightCudaUse(table.table)
    monkeypatch.setattr(memory, "_pools", {})
    monkeypatch.setattr(device_module, "_contexts", {})
    device_module._attribute.cache_clear()
    yield made
    device_module._attribute.cache_clear()
    gc.collect()  # programs are unloaded through the driver that they were loaded with
    library().tilewrightCudaUse(None)
    kept.append(table)
