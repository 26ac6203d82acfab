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


def test_a_sum_in_parts_reads_vectors_through_maps() -> None:
    """The squares of layer_norm's differences are of rows in memory, as those that the mean is of."""
    x, row = ops.Operand((128, 131080), "float16"), ops.Operand((131080,), "float16")
    s, _ = ops.layer_norm.schedule(x, row, row, target=CUDA)
    assert s.plan is not None
    assert [one.settings["lanes"] for one in s.plan if one.rule == "reduction in parts"] == [8, 8]
    ptx = ops.layer_norm.function(x, row, row, target=CUDA).ptx
    kernels = re.split(r"\.visible \.entry", ptx)[1:]
    assert [kernel.count("ld.global.nc.v4") > 0 for kernel in kernels] == [True, False, True, False, True]


@pytest.mark.parametrize("columns", [65600, 65601])
@pytest.mark.parametrize("op", ["layer_norm", "softmax", "log_softmax"])
def test_long_rows_in_parts(op: str, columns: int) -> None:
    """Rows that registers do not hold are divided among blocks where they are too few to come in many waves."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, columns)).astype("float16")
    rows = [rng.standard_normal(columns).astype("float16") for _ in "gb"] if op == "layer_norm" else []
    func = getattr(ops, op).function(*(ops.Operand(one.shape, one.dtype) for one in (x, *rows)), target="sim")
    wide = x.astype(np.float64)
    if op == "layer_norm":
        centred = wide - wide.mean(axis=1, keepdims=True)
        exact = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * rows[0] + rows[1]
    else:
        e = np.exp(wide - wide.max(axis=1, keepdims=True))
        exact = e / e.sum(axis=1, keepdims=True)
        exact = np.log(exact) if op == "log_softmax" else exact
    testing.assert_within(np.asarray(func(x, *rows)), exact, 2.0**-10 * np.abs(exact) + 1e-6)


def test_few_rows_that_are_too_long_for_registers_use_all_multiprocessors() -> None:
    """148 blocks of a row each would be two waves on 132 multiprocessors, the second of 16."""
    x, row = ops.Operand((148, 216001), "float16"), ops.Operand((216001,), "float16")
    plans = [ops.layer_norm.schedule(x, row, row, target=CUDA)[0].plan, ops.softmax.schedule(x, target=CUDA)[0].plan]
    for plan in plans:
        assert plan is not None and [one.rule for one in plan].count("reduction in parts") == 2
