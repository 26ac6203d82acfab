"""How kernels of reductions read: several elements on their way at once, in vectors where rows allow."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tilewright import ops, testing

CUDA = "cuda -device=H200"


@pytest.mark.parametrize("shape", [(427302, 142), (1842, 52), (101, 79964)])
def test_a_thread_reads_several_elements_of_a_column_before_it_adds_one(shape: tuple[int, int]) -> None:
    ptx = ops.sum.function(ops.Operand(shape, "bfloat16"), target=CUDA, axis=0).ptx
    first = re.split(r"\.visible \.entry", ptx)[1]
    # Blocks of a loop may stand in another order than they run.
    steps = "".join("r" if step == "ld.global" else "a" for step in re.findall(r"ld\.global|add\.f32", first))
    assert max(map(len, steps.split("a"))) >= 8 and "ra" * 3 not in steps


@pytest.mark.parametrize("shape", [(1842, 52), (101, 131), (517, 33), (600, 5), (129, 1), (33, 7), (16, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_sums_of_columns(shape: tuple[int, int], dtype: str) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    for target in ("sim", "cpu"):
        y = ops.sum.function(ops.Operand(shape, dtype), target=target, axis=0)(x)
        exact = x.astype(np.float64).sum(axis=0)
        bound = shape[0] * 2.0**-24 * np.abs(x.astype(np.float64)).sum(axis=0)
        rounding = 2.0**-11 * np.abs(exact) if dtype == "float16" else 0.0
        testing.assert_within(np.asarray(y), exact, bound + rounding + 1e-6)
