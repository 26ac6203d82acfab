"""Kernels of tiles without one of their ops, each op in turn: the simulator says so."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tile_kernels import Gemm, Scheduled, expanded, operands, run_expanded
from tilewright.errors import SimulationError

# Ops that nothing is named after, so that a line without them is a module still.
OP = re.compile(
    r"\s*(tile\.(?:release|wgmma_commit|wgmma_wait|fence_async|sync_warpgroup|wait_stores|commit_stores|commit|init|tma_load"
    r"|take_turn|pass_turn)"
    r"|nvvm\.(?:fence|cluster)[.\w]*|gpu\.barrier)\b"
)


KERNELS = {
    "a cluster": Gemm(512, 256, 256, block_n=128, depth=3, blocks=2),
    "a block": Gemm(256, 256, 256, block_n=128, cluster=1, depth=2, blocks=1),
    "results in parts": Gemm(512, 256, 128, dtype="tf32", block_n=128, store_n=64, depth=2, cluster=1, blocks=1),
    "partial sums": Gemm(256, 256, 512, dtype="f8E4M3FN", block_n=128, depth=2, promote=True, cluster=1, blocks=1),
    # Sets of warpgroups take the tiles in turn, and C goes in halves of a buffer.
    "in turn": Scheduled(256, 128, 192, tile=(64, 128), columns=64, cluster=(1, 1), consumers=2),
    # Parts of a tile are stored behind the first steps of the next, which warpgroups begin one after the other.
    "a deferred result": Scheduled(256, 256, 192, tile=(128, 128), columns=64, cluster=(1, 1), blocks=1, deferred=True),
    # A block has three wide ones, and four others.
    "tiles of two widths": Scheduled(
        64, 1664, 192, tile=(64, 128), columns=64, cluster=(1, 1), blocks=2, narrower=16, deferred=True
    ),
}


def findings(gemm: Any) -> dict[tuple[str, int], bool]:
    """Whether the simulator finds something in the kernel without this op."""
    lines = expanded(gemm.text()).split("\n")
    found: dict[tuple[str, int], bool] = {}
    for number, line in enumerate(lines):
        op = OP.match(line)
        if not op:
            continue
        kind = op[1]
        key = (kind, sum(known == kind for known, _ in found))
        try:
            run_expanded("\n".join(lines[:number] + lines[number + 1 :]), operands(gemm))
            found[key] = False
        except SimulationError:
            found[key] = True
    return found


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "kernel",
    [
        "a cluster",
        "results in parts",
        "in turn",
        "a deferred result",
        "tiles of two widths",
        *(pytest.param(k, marks=pytest.mark.slow) for k in ("a block", "partial sums")),
    ],
)
def test_each_op_is_missed(kernel: str) -> None:
    found = findings(KERNELS[kernel])
    assert len(found) >= 15
    assert [key for key, is_found in found.items() if not is_found] == []
