"""Emptying a GPU's L2 cache by reading other memory.

What was written instead would have to go back to memory while the next kernel runs, and that kernel would pay for it.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

from . import cuda_driver
from .device import Device
from .memory import Block, pool_of
from .stream import Stream

__all__ = ["Flush"]

_TIMES = 8
"""The buffer is so many times the L2: to read it also keeps the GPU busy while the host prepares the next call."""
_THREADS, _BLOCKS_PER_SM, _VECTOR = 256, 8, 16

# Reads `count` vectors of 16 bytes. They are zeros, so the store that keeps the loads alive is never executed.
_PTX = b"""
.version 6.4
.target sm_75
.address_size 64

.visible .entry read0(.param .u64 vectors, .param .u64 count)
{
  .reg .pred %p<3>;
  .reg .b32 %r<10>;
  .reg .b64 %rd<8>;
  ld.param.u64 %rd1, [vectors];
  ld.param.u64 %rd2, [count];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  cvt.u64.u32 %rd4, %r3;
  mad.wide.u32 %rd3, %r1, %r2, %rd4;
  mul.wide.u32 %rd5, %r2, %r4;
  mov.u32 %r5, 0;
more:
  setp.ge.u64 %p1, %rd3, %rd2;
  @%p1 bra done;
  shl.b64 %rd6, %rd3, 4;
  add.u64 %rd7, %rd1, %rd6;
  ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%rd7];
  or.b32 %r6, %r6, %r7;
  or.b32 %r8, %r8, %r9;
  or.b32 %r5, %r5, %r6;
  or.b32 %r5, %r5, %r8;
  add.u64 %rd3, %rd3, %rd5;
  bra more;
done:
  setp.ne.u32 %p2, %r5, 0;
  @%p2 st.global.u32 [%rd1], %r5;
  ret;
}
\0"""


@cache
def _kernel(_driver: Any, _device: Device) -> Any:
    """The kernel on a GPU whose context is current, by a driver. It stays loaded."""
    return cuda_driver.call("cuModuleGetFunction", cuda_driver.call("cuModuleLoadData", _PTX), b"read0")


class Flush:
    """A buffer of several times the L2's size, and the kernel that reads it."""

    def __init__(self, stream: Stream) -> None:
        device = stream.device
        self._stream = stream
        self._block: Block = pool_of(device).allocate(_TIMES * device.l2_bytes, stream)
        self._kernel = _kernel(cuda_driver.module(), device)
        self._grid = _BLOCKS_PER_SM * device.multi_processor_count
        cuda_driver.call("cuMemsetD8Async", self._block.address, 0, self._block.size, stream.handle)

    def __call__(self) -> None:
        """Reads the buffer in the stream, whose device's context is current."""
        values = self._block.address, self._block.size // _VECTOR
        cuda_driver.call(
            "cuLaunchKernel", self._kernel, self._grid, 1, 1, _THREADS, 1, 1, 0, self._stream.handle,
            (values, (ctypes.c_uint64, ctypes.c_uint64)), 0,
        )  # fmt: skip
