"""A product in Triton as its users write it for Hopper: persistent programs, operands by tensor descriptors (TMA).

`product(a, b, c)` computes C = A B for `a` of M x K, `b` of N x K (as weights are stored) and `c` of M x N. The first
call for a shape tries the configurations below, and keeps the fastest.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor


def _set_blocks(arguments: dict[str, Any]) -> None:
    m, n, k = (arguments[f"BLOCK_{one}"] for one in "MNK")
    for name, shape in (("a", [m, k]), ("b", [n, k]), ("c", [m, n])):
        arguments[name].block_shape = shape


CONFIGS = [
    triton.Config(
        {"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k, "GROUP": 8}, num_warps=warps, num_stages=stages, pre_hook=_set_blocks
    )
    for m, n, k, warps, stages in (
        (128, 256, 64, 8, 3),
        (128, 256, 64, 8, 4),
        (256, 128, 64, 8, 3),
        (128, 128, 64, 4, 4),
        (128, 128, 64, 8, 4),
        (128, 128, 128, 8, 3),
    )
]


@triton.autotune(configs=CONFIGS, key=["M", "N", "K"])
@triton.jit
def _product(
    a,
    b,
    c,
    M,
    N,
    K,
    PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr,
    BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr,
    GROUP: tl.constexpr,
):
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), rows * columns, PROGRAMS, flatten=True):
        group = tile // (GROUP * columns)
        first = group * GROUP
        high = min(rows - first, GROUP)
        within = tile % (GROUP * columns)
        i = (first + within % high) * BLOCK_M
        j = (within // high) * BLOCK_N
        sums = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
        for k in range(0, K, BLOCK_K):
            sums = tl.dot(a.load([i, k]), b.load([j, k]).T, sums)
        c.store([i, j], sums.to(c.dtype))


def product(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> torch.Tensor:
    (M, K), N = a.shape, b.shape[0]
    programs = torch.cuda.get_device_properties(a.device).multi_processor_count
    # The autotuner puts the blocks of each configuration in.
    described = [TensorDescriptor.from_tensor(one, [1, 64]) for one in (a, b, c)]
    _product[(programs,)](*described, M, N, K, PROGRAMS=programs)
    return c
