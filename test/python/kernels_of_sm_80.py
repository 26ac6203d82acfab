"""Kernels whose threads copy tiles, on a newer GPU: its driver compiles their PTX, and these classes launch it."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

MOST_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


def map_of(x: torch.Tensor) -> Any:
    """The address, five extents and five strides in bytes, and the steps: each from the innermost dimension on."""
    rest = 5 - x.dim()
    extents, strides = [*reversed(x.shape), *[1] * rest], [*reversed(x.stride()), *[0] * rest]
    numbers = [x.data_ptr(), *extents, *(one * x.element_size() for one in strides), *[1] * 5]
    return (ctypes.c_uint64 * 16)(*numbers)


class KernelOfSm80:
    """The one kernel of a function for sm_80, in torch's context. It takes the result, then the maps of the others."""

    def __init__(self, func: Any) -> None:
        torch.zeros(1, device="cuda")  # which makes the context
        self.driver = ctypes.CDLL("libcuda.so.1")
        (self.launch,) = func.launch_config().launches
        module, self.function = ctypes.c_void_p(), ctypes.c_void_p()
        self._did(self.driver.cuModuleLoadData(ctypes.byref(module), func.ptx.encode()))
        self._did(self.driver.cuModuleGetFunction(ctypes.byref(self.function), module, self.launch.kernel.encode()))
        self._did(self.driver.cuFuncSetAttribute(self.function, MOST_SHARED, self.launch.shared_bytes))

    @staticmethod
    def _did(code: int) -> None:
        assert code == 0, f"error {code} of the driver"

    def __call__(self, *tensors: torch.Tensor) -> None:
        """The inputs, then the result."""
        *inputs, out = tensors
        own = [ctypes.c_uint64(out.data_ptr()), *map(map_of, inputs)]
        pointers = (ctypes.c_void_p * len(own))(*map(ctypes.addressof, own))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        launch = self.launch
        self._did(
            self.driver.cuLaunchKernel(
                self.function, *launch.grid, *launch.block, launch.shared_bytes, stream, pointers, None
            )
        )
