"""What `expand-tile-roles` derives for a kernel of tiles, taken away: the start of barriers, what makes it visible, the
barriers of the cluster, elections, registers and counts."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

from tile_kernels import Gemm, Scheduled, expanded, host_function, operands, run_expanded
from tilewright.errors import SimulationError

CLUSTER = Gemm(512, 256, 256, block_n=128, depth=3, blocks=2)
BLOCK = Gemm(256, 256, 256, block_n=128, cluster=1, depth=2, blocks=1)
DRAINED = Scheduled(256, 64, 96, tile=(64, 64), cluster=(2, 1), blocks=2)
NOT_WAITED_FOR = "of a barrier whose start is not waited for"


@cache
def text(gemm: object) -> str:
    return expanded(gemm.text())  # pyright: ignore[reportAttributeAccessIssue]


def without(gemm: object, op: str, numbers: slice = slice(None)) -> str:
    """The kernel without those of its lines that hold `op`."""
    lines = text(gemm).split("\n")
    found = [number for number, line in enumerate(lines) if op in line][numbers]
    assert found
    return "\n".join(line for number, line in enumerate(lines) if number not in found)


def replaced(gemm: object, old: str, new: str) -> str:
    assert old in text(gemm)
    return text(gemm).replace(old, new)


def test_nothing_is_found_where_all_is_there() -> None:
    for gemm in (CLUSTER, BLOCK, DRAINED):
        run_expanded(text(gemm), operands(gemm))


def test_a_block_that_has_seen_all_used_needs_no_barrier_at_its_end() -> None:
    assert text(DRAINED).count("nvvm.cluster.arrive") == 1 and text(CLUSTER).count("nvvm.cluster.arrive") == 2


@pytest.mark.parametrize(
    ("gemm", "mutated", "found"),
    [
        pytest.param(
            CLUSTER, lambda: without(CLUSTER, "nvvm.cluster.", slice(0, 2)), NOT_WAITED_FOR, id="cluster starts"
        ),
        pytest.param(BLOCK, lambda: without(BLOCK, "gpu.barrier"), NOT_WAITED_FOR, id="block starts"),
        pytest.param(
            CLUSTER,
            lambda: without(CLUSTER, "nvvm.cluster.", slice(2, 4)),
            "release to a block that may have ended",
            id="end",
        ),
        pytest.param(
            DRAINED,
            lambda: without(DRAINED, "tile.acquire", slice(-2, None)),
            "release to a block that may have ended",
            id="drain",
        ),
        pytest.param(CLUSTER, lambda: without(CLUSTER, "nvvm.fence.mbarrier.init"), NOT_WAITED_FOR, id="fence"),
        pytest.param(CLUSTER, lambda: without(CLUSTER, "tile.init"), "that has not been started", id="start"),
        pytest.param(
            CLUSTER, lambda: replaced(CLUSTER, "consumers 2", "consumers 1"), "race on shared memory", id="few"
        ),
        pytest.param(
            CLUSTER, lambda: replaced(CLUSTER, "consumers 2", "consumers 3"), "lacks 2 of 6 arrivals", id="many"
        ),
        pytest.param(
            CLUSTER,
            lambda: replaced(CLUSTER, "nvvm.elect.sync -> i1", "arith.constant true"),
            "too many arrivals: thread (1, 0, 0)",
            id="all lanes",
        ),
        pytest.param(
            CLUSTER,
            lambda: replaced(CLUSTER, "decrease 40", "decrease 160"),
            "for 232 registers, of which it has 168",
            id="registers",
        ),
    ],
)
def test_what_is_derived_and_taken_away_is_missed(gemm: object, mutated: Callable[[], str], found: str) -> None:
    with pytest.raises(SimulationError) as raised:
        run_expanded(mutated(), operands(gemm))
    assert any(found in report for report in raised.value.reports), raised.value


def test_a_grid_of_no_whole_clusters() -> None:
    odd = re.sub(r"blocks in \(%c\w+, ", "blocks in (%c3, ", text(CLUSTER))
    odd = odd.replace("gpu.launch_func", "%c3 = arith.constant 3 : index\n    gpu.launch_func", 1)
    with pytest.raises(SimulationError) as raised:
        run_expanded(odd, operands(CLUSTER))
    assert raised.value.reports == (
        "gemm_kernel0: expected a grid of whole clusters of 2 blocks along x, got 3 blocks",
    )


# Each block of a cluster of 2 by 2 copies half of its row's tile of A and half of its column's tile of B, to all of the row
# and the column; a ring of 2 slots, for 5 steps.
A, B = "!tile.buffer<16x64xi16, swizzle = 128>", "!tile.buffer<32x64xi16, swizzle = 128>"
RING = f"!tile.ring<2, {A}, {B}>"
MAP_A, MAP_B = "!tile.tensor_map<8x64xi16, swizzle = 128>", "!tile.tensor_map<16x64xi16, swizzle = 128>"
STEPS = 5
GRID = f"""
module attributes {{gpu.container_module}} {{
  gpu.module @f_kernels {{
    gpu.func @f_kernel0(%A: {MAP_A}, %B: {MAP_B}, %OA: {MAP_A}, %OB: {MAP_B}) kernel
        attributes {{known_block_size = array<i32: 256, 1, 1>, known_cluster_size = array<i32: 2, 2, 1>}} {{
      %zero = arith.constant 0 : index
      %one = arith.constant 1 : index
      %steps = arith.constant {STEPS} : index
      %c8 = arith.constant 8 : index
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %c64 = arith.constant 64 : index
      %start = arith.constant 0 : i32
      %x = gpu.cluster_block_id x
      %y = gpu.cluster_block_id y
      %bx = gpu.block_id x
      %by = gpu.block_id y
      %width = gpu.grid_dim x
      %ring = tile.ring consumers 1 : {RING}
      tile.roles {{
        tile.role "copy" warps 4 {{
          tile.elect role {{
            %row = arith.muli %by, %c16 : index
            %half = arith.muli %x, %c8 : index
            %a0 = arith.addi %row, %half : index
            %column = arith.muli %bx, %c32 : index
            %half_b = arith.muli %y, %c16 : index
            %b0 = arith.addi %column, %half_b : index
            %end:2 = scf.for %i = %zero to %steps step %one iter_args(%slot = %start, %phase = %start) -> (i32, i32) {{
              %k = arith.muli %i, %c64 : index
              %a, %b = tile.acquire %ring[%slot, %phase] : {RING}
              %pa = tile.part %a[%x, %zero] : {A} -> !tile.buffer<8x64xi16, swizzle = 128>
              %pb = tile.part %b[%y, %zero] : {B} -> !tile.buffer<16x64xi16, swizzle = 128>
              tile.tma_load %A[%a0, %k] to %pa signal %ring[%slot] multicast x
                  : {MAP_A}, !tile.buffer<8x64xi16, swizzle = 128>, {RING}
              tile.tma_load %B[%b0, %k] to %pb signal %ring[%slot] multicast y
                  : {MAP_B}, !tile.buffer<16x64xi16, swizzle = 128>, {RING}
              tile.commit %ring[%slot] : {RING}
              %next, %after = tile.advance %ring[%slot, %phase] : {RING}
              scf.yield %next, %after : i32, i32
            }}
          }}
        }}
        tile.role "store" warps 4 {{
        ^bb0(%warpgroup: index):
          %rows = arith.muli %by, %width : index
          %block = arith.addi %rows, %bx : index
          %out_a = arith.muli %block, %c16 : index
          %out_b = arith.muli %block, %c32 : index
          %end:2 = scf.for %i = %zero to %steps step %one iter_args(%slot = %start, %phase = %start) -> (i32, i32) {{
            %k = arith.muli %i, %c64 : index
            %a, %b = tile.wait %ring[%slot, %phase] : {RING}
            tile.elect warpgroup {{
              tile.tma_store %a to %OA[%out_a, %k] : {A}, {MAP_A}
              tile.tma_store %b to %OB[%out_b, %k] : {B}, {MAP_B}
              tile.commit_stores
            }}
            tile.wait_stores 0 read
            tile.sync_warpgroup
            tile.release %ring[%slot] : {RING}
            %next, %after = tile.advance %ring[%slot, %phase] : {RING}
            scf.yield %next, %after : i32, i32
          }}
        }}
      }}
      gpu.return
    }}
  }}
  HOST
}}"""


def grid(blocks: int) -> tuple[str, list[np.ndarray]]:
    a = np.arange(16 * blocks * 64 * STEPS, dtype=np.int64).astype(np.int16).reshape(16 * blocks, -1)
    b = (np.arange(32 * blocks * 64 * STEPS, dtype=np.int64) * 7 + 3).astype(np.int16).reshape(32 * blocks, -1)
    out_a, out_b = (np.zeros((blocks * x.shape[0], x.shape[1]), np.int16) for x in (a, b))
    arrays = [a, b, out_a, out_b]
    kinds = {name: f"memref<{x.shape[0]}x{x.shape[1]}xi16>" for name, x in zip(("A", "B", "OA", "OB"), arrays)}
    maps = {"A": MAP_A, "B": MAP_B, "OA": MAP_A, "OB": MAP_B}
    host = host_function("f", dict(list(kinds.items())[:2]), dict(list(kinds.items())[2:]), maps, 256, 2)
    host = host.replace(
        "%blocks, %one, %one) blocks in (%blocks, %one,", "%blocks, %blocks, %one) blocks in (%grid, %grid,"
    )
    host = host.replace("%threads = ", f"%grid = arith.constant {blocks} : index\n    %threads = ")
    return GRID.replace("HOST", host), arrays


def test_multicasts_along_both_dimensions_of_a_cluster() -> None:
    module, arrays = grid(4)
    run_expanded(expanded(module), arrays)
    a, b, out_a, out_b = arrays
    for row in range(4):
        for column in range(4):
            block = 4 * row + column
            assert np.array_equal(out_a[16 * block :][:16], a[16 * row :][:16])
            assert np.array_equal(out_b[32 * block :][:32], b[32 * column :][:32])


def test_a_slot_that_is_released_before_another_warp_has_stored_it() -> None:
    module, arrays = grid(2)
    early = module.replace("            tile.wait_stores 0 read\n", "")
    assert early != module
    with pytest.raises(SimulationError) as raised:
        run_expanded(expanded(early), arrays)
    assert any("race on shared memory" in report for report in raised.value.reports), raised.value
