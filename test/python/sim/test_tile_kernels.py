"""The product of bench/tile_gemm.py on the simulator: its layouts, phases, fences and counts are executed.

What the kernel computes is compared with NumPy in float64. Then everything that makes it right is taken away, one thing
after the other, and the simulator must say so.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from tile_kernels import TYPES, Gemm, both, build, operands, rounded, tile_gemm
from tilewright.errors import CompileError, SimulationError


def simulate(gemm: Any, text: str | None = None, checks: bool = True, target: str = "sim") -> None:
    """Runs the kernel, or `text` in its place, and compares what it makes with float64."""
    a, b, c = operands(gemm)
    build(text or gemm.text(), target, "gemm", checks)(a, b, c)
    left, right = (rounded(x) if gemm.dtype == "tf32" else x for x in (a, b))
    left, right = left.astype(np.float64), right.astype(np.float64)
    exact = (left.T if gemm.transpose_a else left) @ (right.T if gemm.transpose_b else right)
    error = np.abs(c.astype(np.float64) - exact)
    rounding = TYPES[gemm.dtype][2]
    # The sums are of 32 bits, rounded once an instruction; tensor cores keep 13 bits behind the point of those of 8-bit floats.
    # NaN is no number that is less.
    bits = 21 if target == "sim" else 10 if gemm.dtype.startswith("f8") else 18
    sums = 2.0**-bits * np.abs(exact).max() if rounding else 0
    assert (error <= rounding * np.abs(exact) + sums).all()


def test_one_block_of_one_product() -> None:
    simulate(Gemm(128, 128, 64, block_n=128, cluster=1, depth=1, blocks=1))


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@both
def test_layouts_in_a_cluster_with_multicast(target: str, transpose_a: bool, transpose_b: bool) -> None:
    simulate(Gemm(512, 256, 256, transpose_a=transpose_a, transpose_b=transpose_b, blocks=2), target=target)


@pytest.mark.parametrize("dtype", list(TYPES))
@both
def test_types(target: str, dtype: str) -> None:
    tile_gemm.TYPES.setdefault("f8E5M2", (1, "f32", "bf16"))
    simulate(Gemm(256, 256, 256, dtype=dtype, block_n=128, cluster=1, depth=2, blocks=3), target=target)


def test_partial_sums_in_registers() -> None:
    simulate(Gemm(256, 128, 512, dtype="f8E4M3FN", block_n=128, depth=4, promote=True, blocks=2))


def test_results_in_parts_of_32_bits() -> None:
    simulate(Gemm(256, 256, 128, dtype="tf32", store_n=64, depth=4, blocks=2))


def test_without_checks() -> None:
    simulate(Gemm(512, 256, 256, blocks=2), checks=False)


# Two clusters' worth of tiles for one, so that slots and buffers are used again, and turns of the ring that do not come out
# even with the steps of a tile: a phase that is not carried on is wrong then.
MUTATED = Gemm(512, 256, 256, block_n=128, depth=3, blocks=2)
STAGE = "          tile.wait_stores 0 read\n          tile.sync_warpgroup\n"
FENCED = "          tile.fence_async\n          tile.sync_warpgroup\n"
RACE, FENCE, DEADLOCK, UNFINISHED = "race on shared memory", "missing fence", "deadlock", "not waited for"


@cache
def kernel() -> str:
    return MUTATED.text()


@pytest.mark.parametrize(
    ("found", "old", "new"),
    [
        pytest.param(DEADLOCK, "tile.release %ring[%before] : !ring\n", "\n", id="release"),
        pytest.param(DEADLOCK, "tile.release %ring[%last#3] : !ring\n", "\n", id="last release"),
        pytest.param(
            DEADLOCK, "tile.release %ring[%before]", "tile.release %ring[%slot1]", id="release of another slot"
        ),
        pytest.param(RACE, "tile.wgmma_wait 1\n", "\n", id="wait for products"),
        pytest.param(RACE, "tile.wgmma_wait 1\n", "tile.wgmma_wait 2\n", id="wait for fewer products"),
        pytest.param(RACE, "tile.wgmma_commit\n", "\n", id="commit of products"),
        pytest.param(FENCE, "          tile.fence_async\n", "", id="fence"),
        pytest.param(RACE, STAGE, "          tile.wait_stores 0 read\n", id="barrier before the buffer is written"),
        pytest.param(RACE, FENCED, "          tile.fence_async\n", id="barrier before the buffer is stored"),
        pytest.param(RACE, STAGE, "          tile.sync_warpgroup\n", id="wait for stores"),
        pytest.param(RACE, "tile.wait_stores 0 read", "tile.wait_stores 1 read", id="wait for fewer stores"),
        pytest.param(UNFINISHED, "        tile.wait_stores 0\n", "", id="last wait for stores"),
        pytest.param(RACE, "            tile.commit_stores\n", "", id="commit of stores"),
        pytest.param(
            RACE, "tile.acquire %ring[%slot1, %phase1]", "tile.acquire %ring[%slot1, %slot0]", id="phase of acquire"
        ),
        pytest.param(RACE, "tile.wait %ring[%slot1, %phase1]", "tile.wait %ring[%slot1, %slot0]", id="phase of wait"),
        pytest.param(RACE, "tile.wait %ring[%slot1, %phase1]", "tile.wait %ring[%slot0, %phase1]", id="slot of wait"),
        pytest.param(DEADLOCK, "scf.yield %last#1, %last#2", "scf.yield %slot0, %slot0", id="consumers' phase"),
        pytest.param(DEADLOCK, "scf.yield %next#0, %next#1", "scf.yield %slot0, %slot0", id="producer's phase"),
        pytest.param(RACE, "tile.part %b[%rank, %zero]", "tile.part %b[%zero, %zero]", id="part of a multicast"),
    ],
)
def test_what_is_taken_away_is_missed(found: str, old: str, new: str) -> None:
    assert old in kernel()
    with pytest.raises(SimulationError) as raised:
        simulate(MUTATED, kernel().replace(old, new))
    assert any(found in report for report in raised.value.reports), raised.value


# These never get to the simulator.
@pytest.mark.parametrize(
    ("message", "old", "new"),
    [
        ("expected 2 consumer warpgroups, which release the ring, got 1", "consumers 2", "consumers 1"),
        ("expected 2 consumer warpgroups, which release the ring, got 3", "consumers 2", "consumers 3"),
        ("expected loads that fill buffer #1 of the slot", " multicast x", ""),
        ("expected tile.commit of the slot after it", "            tile.commit %ring[%slot1] : !ring\n", ""),
    ],
)
def test_counts_that_do_not_add_up(message: str, old: str, new: str) -> None:
    with pytest.raises(CompileError) as raised:
        simulate(MUTATED, kernel().replace(old, new))
    assert message in str(raised.value)
