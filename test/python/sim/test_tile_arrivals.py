"""Blocks that meet: who is the last to arrive, in whatever order they come, and arrivals that do not come."""

from __future__ import annotations

import numpy as np
import pytest

from tile_kernels import both, build
from tilewright.errors import SimulationError

BLOCKS = 3


def kernel(parts: int, counter: str = "%zero", how: str = "") -> str:
    """Each block arrives at a counter, or `how`, and says whether it was the last of so many."""
    return f"""module attributes {{gpu.container_module}} {{
  gpu.module @f_kernels {{
    gpu.func @f_kernel0(%counters: memref<4xi64>, %last: memref<{BLOCKS}xi32>) kernel
        attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
      %zero = arith.constant 0 : index
      %parts = arith.constant {parts} : index
      %block = gpu.block_id x
      %thread = gpu.thread_id x
      %is = tile.arrive %counters[{counter}] of %parts{how} : memref<4xi64>
      %number = arith.extui %is : i1 to i32
      %first = arith.cmpi eq, %thread, %zero : index
      scf.if %first {{
        memref.store %number, %last[%block] : memref<{BLOCKS}xi32>
      }}
      gpu.return
    }}
  }}
  func.func @f(%counters: memref<4xi64> {{te.name = "counters", te.dtype = i64}},
               %last: memref<{BLOCKS}xi32> {{te.name = "last", te.dtype = i32, te.output}}) {{
    %one = arith.constant 1 : index
    %blocks = arith.constant {BLOCKS} : index
    %threads = arith.constant 128 : index
    gpu.launch_func @f_kernels::@f_kernel0 blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
        args(%counters : memref<4xi64>, %last : memref<{BLOCKS}xi32>)
    return
  }}
}}
"""


@both
def test_one_is_the_last_whatever_memory_held_before(target: str) -> None:
    run = build(kernel(BLOCKS), target)
    counters = np.random.default_rng(0).integers(-(2**63), 2**63, 4)
    for _ in range(3):
        last = np.full(BLOCKS, -1, np.int32)
        run(counters, last)
        assert sorted(last) == [0] * (BLOCKS - 1) + [1]


def test_blocks_come_in_another_order_with_each_launch() -> None:
    run = build(kernel(BLOCKS))
    found = []
    for _ in range(3):
        last = np.full(BLOCKS, -1, np.int32)
        run(np.zeros(4, np.int64), last)
        found.append(int(last.argmax()))
    assert found == [2, 0, 0]


@both
def test_one_that_would_not_be_the_last_has_not_arrived(target: str) -> None:
    last = np.full(BLOCKS, -1, np.int32)
    build(kernel(2, how=" if_last"), target)(np.zeros(4, np.int64), last)
    assert not last.any()
    build(kernel(1, counter="%block", how=" if_last"), target)(np.zeros(4, np.int64), last)
    assert last.all()


def test_arrivals_that_do_not_come_are_missed() -> None:
    with pytest.raises(SimulationError) as raised:
        build(kernel(BLOCKS + 1))(np.zeros(4, np.int64), np.full(BLOCKS, -1, np.int32))
    (report,) = raised.value.reports
    assert report.endswith(": expected 4 warpgroups to arrive at a counter, got 3, in f_kernel0")
