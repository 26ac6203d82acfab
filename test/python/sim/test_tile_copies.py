"""Tiles that threads copy themselves, by cp.async, where TMA copies cannot: what products need to see of them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from tile_kernels import host_function, run_expanded
from tilewright.errors import SimulationError

SHARED = "#gpu.address_space<workgroup>"
FACTOR = "!tile.buffer<64x64xbf16, swizzle = 128>"
SUM, FRAGMENT = "!tile.accumulator<64x64xf32>", "!tile.fragment<64x64xf32>"
WAIT, FENCE, BARRIER = "nvvm.cp.async.wait.group 0", "tile.fence_async", "tile.sync_warpgroup"


def kernel(*synchronization: str) -> str:
    """B[t] is the first element of the fragment of A Aᵀ that thread t holds."""
    between = "\n      ".join(synchronization)
    return f"""
module attributes {{gpu.container_module}} {{
  gpu.module @f_kernels {{
    memref.global @shared_memory : memref<0xi8, {SHARED}> {{alignment = 1024}}
    gpu.func @f_kernel0(%A: memref<4096xbf16>, %B: memref<128xf32>) kernel
        attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
      %c0 = arith.constant 0 : index
      %c8 = arith.constant 8 : index
      %c1024 = arith.constant 1024 : index
      %c4096 = arith.constant 4096 : index
      %t = gpu.thread_id x
      %shared = memref.get_global @shared_memory : memref<0xi8, {SHARED}>
      %raw = memref.view %shared[%c0][] {{te.stage = "a"}} : memref<0xi8, {SHARED}> to memref<4096xbf16, {SHARED}>
      %a = tile.alloc at 0 : {FACTOR} loc("a"("k.py":5:0))
      %from = arith.muli %t, %c8 : index
      scf.for %i = %from to %c4096 step %c1024 {{
        %token = nvgpu.device_async_copy %A[%i], %raw[%i], 8
            : memref<4096xbf16> to memref<4096xbf16, {SHARED}> loc("k.py":6:0)
      }}
      nvvm.cp.async.commit.group
      {between}
      %s = tile.wgmma %a, %a : {FACTOR}, {FACTOR} -> {SUM} loc("k.py":7:0)
      tile.wgmma_commit
      %f = tile.wgmma_wait 0 for %s : {SUM} -> {FRAGMENT}
      %x = tile.extract %f[0] : {FRAGMENT} -> f32
      memref.store %x, %B[%t] : memref<128xf32>
      gpu.return
    }}
  }}
  {host_function("f", {"A": "memref<4096xbf16>"}, {"B": "memref<128xf32>"}, {})}
}}"""


def swizzled(matrix: np.ndarray) -> np.ndarray:
    """The matrix as tensor cores find it: of the 8 chunks of a row of 128 bytes the numbers are combined with the row's."""
    row, column = np.indices(matrix.shape)
    permuted = np.zeros_like(matrix)
    permuted[row, (column // 8 ^ row % 8) * 8 + column % 8] = matrix
    return permuted


def test_a_product_of_what_threads_copied() -> None:
    a = np.random.default_rng(7).integers(-4, 5, (64, 64)).astype(ml_dtypes.bfloat16)
    b = np.full(128, np.nan, np.float32)
    run_expanded(kernel(WAIT, FENCE, BARRIER), [swizzled(a).reshape(-1), b], shared_bytes=8192)
    exact = a.astype(np.float64) @ a.astype(np.float64).T
    thread = np.arange(128)
    assert np.array_equal(b, exact[thread // 32 * 16 + thread % 32 // 4, thread % 4 * 2])


COPIED = "wgmma of warpgroup 0 reads 'a' at byte 0, which a copy of thread (0, 0, 0) writes at k.py:6 with no"
WHERE = "between, in block (0, 0, 0) in f_kernel0 (1023 more like this)"


@pytest.mark.parametrize(
    ("synchronization", "report"),
    [
        ((FENCE, BARRIER), f"k.py:7: race on shared memory: {COPIED} barrier or wait {WHERE}"),
        ((WAIT, FENCE), f"k.py:7: race on shared memory: {COPIED} barrier or wait {WHERE}"),
        ((WAIT, BARRIER), f"k.py:7: missing fence: {COPIED} tile.fence_async {WHERE}"),
        # A fence of what is not there yet.
        ((FENCE, WAIT, BARRIER), f"k.py:7: missing fence: {COPIED} tile.fence_async {WHERE}"),
    ],
)
def test_what_is_missing_between(synchronization: tuple[str, ...], report: str) -> None:
    a, b = np.zeros(4096, ml_dtypes.bfloat16), np.full(128, np.nan, np.float32)
    with pytest.raises(SimulationError) as raised:
        run_expanded(kernel(*synchronization), [a, b], shared_bytes=8192)
    assert raised.value.reports == (report,)
