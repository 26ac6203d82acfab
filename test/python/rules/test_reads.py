"""How kernels of reductions read: several elements on their way at once, in vectors where rows allow."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilewright as tw
from tilewright import ops, testing

CUDA = "cuda -device=H200"


@pytest.mark.parametrize("shape", [(38186, 4556), (642, 3326), (1842, 52), (101, 79964)])
def test_a_thread_reads_several_elements_of_a_column_before_it_adds_one(shape: tuple[int, int]) -> None:
    ptx = ops.sum.function(ops.Operand(shape, "bfloat16"), target=CUDA, axis=0).ptx
    first = re.split(r"\.visible \.entry", ptx)[1]
    # Blocks of a loop may stand in another order than they run.
    steps = "".join("r" if step == "ld.global" else "a" for step in re.findall(r"ld\.global|add\.f32", first))
    assert max(map(len, steps.split("a"))) >= 8 and "ra" * 3 not in steps


@pytest.mark.sample(4)
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
    """The elements of a group are those of rows in memory: in the kernel of the parts, and in that of the results."""
    x, row = ops.Operand((64, 2, 65544), "float16"), ops.Operand((2,), "float16")
    s, _ = ops.group_norm.schedule(x, row, row, groups=1, target=CUDA)
    assert s.plan is not None
    assert [one.settings["lanes"] for one in s.plan if one.rule == "reduction in parts"] == [8]
    ptx = ops.group_norm.function(x, row, row, groups=1, target=CUDA).ptx
    kernels = re.split(r"\.visible \.entry", ptx)[1:]
    assert [kernel.count("ld.global.v4") > 0 for kernel in kernels[1:]] == [True, False, True]


@pytest.mark.sample(3)
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


def test_few_rows_that_are_too_long_for_registers_use_all_SMs() -> None:
    """148 blocks of a row each would be two waves on 132 SMs, the second of 16."""
    x, row = ops.Operand((148, 216001), "float16"), ops.Operand((216001,), "float16")
    # Softmax has its maximum and its sum in one pass, and the norm its mean and its variance.
    plans = [ops.layer_norm.schedule(x, row, row, target=CUDA)[0].plan, ops.softmax.schedule(x, target=CUDA)[0].plan]
    assert [[one.rule for one in plan or ()].count("reduction in parts") for plan in plans] == [1, 1]


@pytest.mark.parametrize(("shape", "op"), [((2, 6, 40), "rms_norm"), ((3, 7, 9), "layer_norm"), ((2, 3, 5), "softmax")])
def test_columns_that_a_thread_keeps(shape: tuple[int, int, int], op: str) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype("float32")
    s, _ = getattr(ops, op).schedule(x, axis=1, target="sim -device=H200")
    assert s.plan is not None and s.plan.decisions[0].settings["threads"] == 1
    wide = x.astype(np.float64)
    if op == "softmax":
        exact = np.exp(wide) / np.exp(wide).sum(1, keepdims=True)
    else:
        centred = wide - wide.mean(1, keepdims=True) * (op == "layer_norm")
        exact = centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(getattr(ops, op)(x, axis=1, target="sim -device=H200"), exact, rtol=1e-5, atol=2e-6)


def test_columns_are_read_once() -> None:
    """A thread has a column of up to 64 elements alone where columns are many."""
    ptx = ops.rms_norm.function(ops.Operand((16, 64, 256, 256), "float32"), axis=1, target=CUDA).ptx
    assert ptx.count("ld.global") == ptx.count("st.global") == 64


@pytest.mark.sweep
def test_a_convolution_reads_the_next_step_while_it_multiplies() -> None:
    """Loads that wait for the store before them took 12 times the latency of memory a step."""
    x, w = ops.Operand((32, 128, 120), "float64"), ops.Operand((520, 128, 3), "float64")
    s, _ = ops.conv.schedule(x, w, target=CUDA, stride=2, padding=1)
    assert s.plan is not None and s.plan.decisions[-1].rule == "tiles in shared memory"
    func = ops.conv.function(x, w, target=CUDA, stride=2, padding=1)
    loop = re.sub(r".*?bar\.sync|.*?barrier\.sync", "", func.ptx, count=1, flags=re.DOTALL)
    assert "bar.sync" not in loop and "barrier.sync" not in loop, "one barrier a step"
    # Twice what a step has of 8 channels: the images' window, read once, and the filters' tile of three taps.
    assert func.report().kernels[-1].launch.shared_bytes >= 2 * 8 * 8 * (3 * 64 + 121)


def _convolved(x: np.ndarray, w: np.ndarray, stride: int, padding: int) -> np.ndarray:
    spatial = range(2, x.ndim)
    wide = np.pad(x.astype(np.float64), [(0, 0), (0, 0), *((padding, padding) for _ in spatial)])
    out = [(wide.shape[d] - w.shape[d]) // stride + 1 for d in spatial]
    y = np.zeros((len(x), len(w), *out))
    for at in np.ndindex(*w.shape[2:]):
        part = tuple(slice(i, i + stride * (size - 1) + 1, stride) for i, size in zip(at, out))
        y += np.einsum("fc,nc...->nf...", w[(..., *at)].astype(np.float64), wide[(slice(None), slice(None), *part)])
    return y


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("images", "filters", "stride", "padding"),
    [
        ((2, 19, 37), (21, 19, 5), 2, 2), ((1, 33, 40), (17, 33, 3), 1, 1), ((2, 17, 50), (40, 17, 1), 1, 0),
        ((1, 5, 9, 11), (18, 5, 2, 3), 1, 1), ((1, 8, 6, 5, 7), (9, 8, 3, 3, 3), 1, 1), ((1, 7, 30), (12, 7, 4), 3, 2),
        ((2, 33, 40), (17, 33, 3), 9, 1),
    ],
)  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_convolutions_by_steps_of_several_axes(
    images: tuple[int, ...], filters: tuple[int, ...], stride: int, padding: int, dtype: str
) -> None:
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape).astype(dtype) for shape in (images, filters))
    options = {"stride": stride, "padding": padding}
    for target in ("sim", "cpu"):
        y = ops.conv.function(x, w, target=target, **options)(x, w)
        exact = _convolved(x, w, stride, padding)
        size = _convolved(np.abs(x), np.abs(w), stride, padding)
        rounding = 2.0**-11 * np.abs(exact) if dtype == "float16" else 0.0
        testing.assert_within(np.asarray(y), exact, w[0].size * 2.0**-24 * size + rounding + 1e-6)


@pytest.mark.sweep
def test_an_sm_has_all_warps_of_reductions_of_a_thread() -> None:
    """Windows of a channel that do not overlap: blocks of one warp each would be half of the warps of an SM."""
    x, w = ops.Operand((2, 176, 243, 243), "bfloat16"), ops.Operand((176, 1, 3, 3), "bfloat16")
    (kernel,) = ops.conv.function(x, w, target=CUDA, stride=3, groups=176).report().kernels
    assert kernel.occupancy is not None and kernel.occupancy.warps == kernel.occupancy.most == 64


def test_groups_of_channels_are_not_copied_to_be_normalised() -> None:
    """The sum, the squares of what is centred and the results read the images themselves: each of them inlines the
    groups, one by way of a stage that two kernels inline."""
    s, tensors = ops.group_norm.schedule(ops.Operand((2, 64, 16, 16), "float16"), groups=8, target=tw.Target.of(CUDA))
    assert s.plan is not None
    assert [decision.rule for decision in s.plan] == ["reduction", "reduction", "elementwise"]
    func = tw.build(s, tensors, target=CUDA)
    assert len(func.launch_config().launches) == 3


@pytest.mark.parametrize("shape", [(2, 12, 5, 7), (1, 8, 40)])
def test_groups_of_channels_that_are_read_in_place(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(2).standard_normal(shape).astype("float32")
    y = np.asarray(ops.group_norm.function(x, groups=4, target="sim")(x))
    grouped = x.astype("float64").reshape(shape[0], 4, -1)
    centred = grouped - grouped.mean(-1, keepdims=True)
    exact = centred / np.sqrt(centred.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(y, exact.reshape(shape), rtol=1e-5, atol=1e-5)
