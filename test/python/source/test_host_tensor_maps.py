"""Printed host programs make the tensor maps that the functions make: each number that the driver gets is the same."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import tilewright as tw
from source.host_programs import compile_host
from source.tensors import aligned, tensor_of, with_entry
from source.tile_kernels import Scheduled
from tilewright import schedules, te
from tilewright.runtime.host_program import HostProgram, Launcher

TARGET = tw.Target("cuda", arch="sm_90a")
WORKSPACE = 1 << 45
ENCODE = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64))
# CU_TENSOR_MAP_L2_PROMOTION_L2_256B
L2_256B = 3


def symbolic() -> Scheduled:
    return schedules.matmul_wgmma(te.var("M"), 512, 256, "bfloat16", "bfloat16")


PROGRAMS = {
    "symbolic": symbolic,
    "rows of no 16 bytes": lambda: schedules.matmul_wgmma(255, 257, 253, "bfloat16", "bfloat16"),
    "attention": lambda: schedules.attention_wgmma(2, 256, 256, 64, "float16"),
    "convolution with strides": lambda: schedules.conv2d_wgmma(4, 64, 17, 64, 3, stride=2),
}


def encoded(function: tw.Function, arrays: list[np.ndarray]) -> list[list[int]]:
    """What the function's own host program asks a launcher for, as the driver's call has it."""
    found: list[list[int]] = []

    def encode(_: int, map_: int, tensor: ctypes._Pointer[ctypes.c_uint64]) -> int:  # noqa: ARG001
        address, element, rank, swizzle = tensor[:4]
        extents, strides, box, steps = (tensor[first : first + rank] for first in (4, 9, 14, 19))
        if 0 in extents:
            address, extents, strides = address or 16, [1] * rank, [16] * rank
        boxes = [number for size, step in zip(box, steps) for number in (size * step, step)]
        mode = {0: 0, 32: 1, 64: 2, 128: 3}[swizzle]
        found.append([element, address, *extents, *strides[1:], *boxes, 0, mode, L2_256B, 0])
        return 0

    callback = ENCODE(encode)
    program = HostProgram(function.module("host"), function.name)
    launch = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, *[ctypes.c_void_p] * 3)(lambda *_: 0)
    launcher = Launcher(None, *(ctypes.cast(each, ctypes.c_void_p).value for each in (launch, callback)))
    shape = [extent for array in arrays for extent in array.shape]
    assert program.call([array.ctypes.data for array in arrays], shape, WORKSPACE, launcher) == 0
    return found


def from_first_temporary(maps: list[list[int]], arrays: list[np.ndarray]) -> list[list[int]]:
    """Temporaries are where the program gets memory: their addresses from the first one on."""
    given = {array.ctypes.data for array in arrays}
    temporaries = [each[1] for each in maps if each[1] not in given and each[1] != 16]
    return [[each[0], each[1] - (min(temporaries) if each[1] in temporaries else 0), *each[2:]] for each in maps]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], tuple[tw.Function, ctypes.CDLL]]:
    @functools.cache
    def of(name: str) -> tuple[tw.Function, ctypes.CDLL]:
        function = tw.build(*PROGRAMS[name](), TARGET, "program")
        host = with_entry(function.source("host"), "program", len(function.signature.arguments))
        # The kernels are no matter: TMA and wgmma run on a GPU alone.
        kernels = 'extern "C" int run_kernel(const char *, const unsigned long *, void **) { return 0; }\n'
        return function, compile_host(tmp_path_factory.mktemp("host"), host, kernels)

    return of


@pytest.mark.sample(1)
@pytest.mark.parametrize(("name", "rows"), [*((name, 200) for name in PROGRAMS), ("symbolic", 0)])
def test_maps_are_those_of_the_function(
    name: str, rows: int, compiled: Callable[[str], tuple[tw.Function, ctypes.CDLL]]
) -> None:
    function, library = compiled(name)
    count = len(function.signature.arguments)
    library.fake_reset(b"", 1)
    types = {"bfloat16": np.dtype(ml_dtypes.bfloat16)}
    arrays = [
        aligned(np.zeros([extent if isinstance(extent, int) else rows for extent in argument.shape],
                         types.get(argument.dtype) or np.dtype(argument.dtype)))
        for argument in function.signature.arguments
    ]  # fmt: skip
    tensors = [tensor_of(array, 2) for array in arrays]
    text = ctypes.create_string_buffer(4000)
    code = library.call_it((ctypes.POINTER(type(tensors[0])) * count)(*map(ctypes.pointer, tensors)), text)
    assert (code, text.value) == (0, b"")
    log = [line.split() for line in library.fake_log().decode().splitlines()]
    printed = [[int(number) for number in line[1:]] for line in log if line[0] == "cuTensorMapEncodeTiled"]
    wanted = encoded(function, arrays)
    assert len(wanted) >= 2  # of the operands at least: threads store a result that TMA cannot step over
    assert from_first_temporary(printed, arrays) == from_first_temporary(wanted, arrays)
    launched = [line[1] for line in log if line[0] == "cuLaunchKernel"]
    assert launched == [launch.kernel for launch in function.launch_config(*arrays) if 0 not in launch.grid]
    library.fake_reset(b"cuTensorMapEncodeTiled", 1)
    code = library.call_it((ctypes.POINTER(type(tensors[0])) * count)(*map(ctypes.pointer, tensors)), text)
    first = "Ap" if name == "rows of no 16 bytes" else function.signature.arguments[0].name
    assert (code, text.value.decode()) == (2, f"cuTensorMapEncodeTiled of {first}: CUDA_ERROR_INVALID_VALUE (1)")
