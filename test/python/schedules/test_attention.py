"""Attention by two matmuls in one kernel, on the simulator."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from mlir import ir

import tilewright as tw
from tile_kernels import lines_without_need
from tilewright import te, testing
from tilewright.errors import CompileError, SimulationError
from tilewright.ir import context
from tilewright.runtime.ndarray import as_dtype
from tilewright.schedules import attention_wgmma
from tilewright.schedules.online_softmax import attention_of


def expected(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, causal: bool = False, scale: float | None = None
) -> np.ndarray:
    q, k, v = (each.astype("float64") for each in (q, k, v))
    scores = q @ k.transpose(0, 2, 1) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if causal:
        n, m = scores.shape[1:]
        scores = np.where(np.arange(m) <= np.arange(n)[:, None] + m - n, scores, -np.inf)
    weights = np.exp(scores - scores.max(2, keepdims=True))
    return weights @ v / weights.sum(2, keepdims=True)


def operands(batch: int, queries: int, keys: int, width: int, dtype: str, spread: float = 1.0) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    shapes = ((batch, queries, width), (batch, keys, width), (batch, keys, width))
    return [(spread * rng.standard_normal(shape)).astype(as_dtype(dtype)) for shape in shapes]


def check(batch, queries, keys, width, dtype="bfloat16", spread=1.0, **options) -> None:
    s, args = attention_wgmma(batch, queries, keys, width, dtype, **options)
    q, k, v = operands(batch, queries, keys, width, dtype, spread)
    (made,) = testing.run(tw.build(s, args, target="sim", name="attention"), [q, k, v], [(q.shape, dtype)])
    exact = expected(q, k, v, options.get("causal", False), options.get("scale"))
    # The weights and the result are rounded once each, to 8 or 11 bits.
    unit = 2.0**-8 if dtype == "bfloat16" else 2.0**-11
    assert np.abs(made.astype("float64") - exact).max() <= 2 * unit * np.abs(v.astype("float64")).max()
    assert np.sqrt(np.mean((made.astype("float64") - exact) ** 2)) <= unit * np.sqrt(np.mean(exact**2))


@pytest.mark.sample(1)
@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize("causal", [False, True])
def test_attention(width, causal):
    check(2, 128, 256, width, tile=(128, 64), causal=causal)


def test_attention_of_float16_in_one_warpgroup():
    check(1, 128, 192, 64, "float16", tile=(64, 64), stages=3)


def test_rows_whose_maximum_grows_far_are_rescaled():
    check(1, 64, 512, 64, "float16", spread=6.0, scale=1.0, tile=(64, 64))


def test_tiles_of_80_keys():
    check(1, 64, 200, 64, tile=(64, 80), causal=True)


def test_three_warpgroups_and_wide_tiles():
    check(1, 192, 384, 64, tile=(192, 128), causal=True)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("queries", "keys", "width", "causal"),
    [(64, 100, 64, False), (50, 64, 40, False), (70, 90, 72, True), (3, 5, 8, True)],
)
def test_extents_that_no_tile_divides(queries, keys, width, causal):
    check(2, queries, keys, width, tile=(64, 64), causal=causal)


@pytest.mark.sample(1)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("blocks", [1, 3])
def test_blocks_that_stay(blocks, causal):
    check(3, 128, 192, 64, tile=(64, 64), causal=causal, blocks=blocks)
    check(2, 100, 130, 40, tile=(128, 64), causal=causal, blocks=blocks)


def run_of(shapes, mask=None, **options) -> None:
    """Attention of any heads and masks, beside float64."""
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal(shape).astype("float16") for shape in shapes]
    tensors = [te.placeholder(shape, "float16", name=name) for shape, name in zip(shapes, "QKV", strict=True)]
    of_mask = None if mask is None else te.placeholder(mask.shape, str(mask.dtype), name="mask")
    s, args = attention_of(*tensors, of_mask, tile=(64, 64), **options)
    shape = (*shapes[0][:-1], shapes[2][-1])
    given = arrays if mask is None else [*arrays, mask]
    (made,) = testing.run(tw.build(s, args, target="sim", name="attention"), given, [(shape, "float16")])
    q, k, v = (each.astype("float64") for each in arrays)
    if q.ndim > 2:
        k, v = (np.repeat(each, q.shape[-3] // each.shape[-3], -3) for each in (k, v))
    scores = q @ k.swapaxes(-1, -2) * options.get("scale", q.shape[-1] ** -0.5)
    if cap := options.get("softcap"):
        scores = cap * np.tanh(scores / cap)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    away = np.arange(k.shape[-2]) - np.arange(q.shape[-2])[:, None] - options.get("offset", 0)
    scores = np.where((away <= options.get("behind", 999)) & (away >= -options.get("before", 999)), scores, -np.inf)
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(largest == -np.inf, 0, largest))
    total = weights.sum(-1, keepdims=True)
    exact = weights @ v / np.where(total == 0, 1, total)
    assert np.abs(made - exact).max() <= 2 * 2.0**-11 * np.abs(v).max()


@pytest.mark.parametrize(
    "shapes",
    [
        [(64, 64), (128, 64), (128, 64)],
        [(4, 70, 64), (2, 70, 64), (2, 70, 64)],
        [(2, 4, 64, 64), (2, 1, 64, 64), (2, 1, 64, 64)],
        [(2, 2, 64, 64), (1, 2, 64, 64), (1, 2, 64, 72)],
    ],
    ids=["matrices", "grouped heads", "one head", "broadcast batch"],
)
def test_heads(shapes):
    run_of(shapes)


SQUARE = [(1, 70, 64), (1, 90, 64), (1, 90, 64)]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "options",
    [
        {"softcap": 2.0},
        {"behind": 0, "before": 20},
        {"behind": 3, "offset": 7},
        {"behind": 0, "offset": -30},
        {"scale": -0.5},
    ],
    ids=["soft cap", "window", "offset", "rows that see nothing", "negative scale"],
)
def test_options(options):
    run_of(SQUARE, **options)


@pytest.mark.sample(1)
@pytest.mark.parametrize("shape", [(70, 90), (1, 1, 90)])
@pytest.mark.parametrize("dtype", ["bool", "float32"])
def test_masks(shape, dtype):
    drawn = np.random.default_rng(2).standard_normal(shape)
    run_of(SQUARE, mask=drawn > 0.5 if dtype == "bool" else drawn.astype(dtype))


ONE_QUERY = [(2, 8, 1, 64), (2, 2, 300, 64), (2, 2, 300, 72)]


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("shapes", "options"),
    [
        ([(3, 64), (130, 64), (130, 64)], {"key_splits": 2}),
        ([(3, 5, 64), (3, 300, 64), (3, 300, 64)], {"key_splits": 4}),
        (ONE_QUERY, {"key_splits": 3, "softcap": 2.0}),
        (ONE_QUERY, {"key_splits": 5, "behind": 0, "offset": 170}),
        (ONE_QUERY, {"key_splits": 2, "behind": 0, "before": 100, "offset": 299, "stages": 3}),
        (ONE_QUERY, {"key_splits": 5, "behind": 0, "offset": -1}),
        ([(70, 1, 64), (1, 128, 64), (1, 128, 64)], {"key_splits": 2}),
    ],
    ids=["matrices", "queries", "soft cap", "parts that see nothing", "window", "nothing is seen", "70 packed heads"],
)
def test_split_keys(shapes, options):
    run_of(shapes, **options)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["bool", "float32"])
def test_split_keys_with_a_mask(dtype):
    drawn = np.random.default_rng(2).standard_normal((8, 1, 300))
    run_of(ONE_QUERY, mask=drawn > 0.5 if dtype == "bool" else drawn.astype(dtype), key_splits=3)


def test_heads_of_256():
    run_of([(1, 64, 256), (1, 128, 256), (1, 128, 256)], behind=64)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("shapes", "options"),
    [
        ([(1, 70, 192), (1, 90, 192), (1, 90, 128)], {"behind": 20}),
        ([(1, 64, 256), (1, 128, 256), (1, 128, 256)], {"behind": 64}),
        ([(4, 70, 64), (2, 70, 64), (2, 70, 64)], {"blocks": 3}),
    ],
    ids=["192 and 128", "256", "grouped heads in blocks that stay"],
)
def test_results_from_registers_to_memory(shapes, options):
    run_of(shapes, is_direct=True, **options)


def test_results_from_registers_have_whole_columns():
    tensors = [te.placeholder((1, 64, 40), "float16", name=name) for name in "QKV"]
    message = "expected whole results of a multiple of 32 columns to store directly, got 40"
    with pytest.raises(ValueError, match=message):
        attention_of(*tensors, tile=(64, 64), is_direct=True)


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("width", "wide", "tile", "causal"),
    [(256, 256, (128, 64), 1), (256, 256, (128, 64), 0), (192, 128, (128, 128), 1), (192, 128, (128, 128), 0)],
)
def test_wide_heads_of_two_warpgroups_have_no_spills(width, wide, tile, causal):
    s, args = attention_wgmma(8, 1024, 1024, width, wide=wide, causal=bool(causal), tile=tile)
    for kernel in tw.build(s, args, target="cuda -arch=sm_90a", name="attention").report().kernels:
        assert not kernel.notes and not kernel.spills and not kernel.mismatches, str(kernel)


@cache
def lowered(stage: str) -> str:
    s, args = attention_wgmma(1, 128, 256, 64, tile=(64, 64))
    return str(tw.lower(s, args, stage=stage, target=tw.Target("cuda", arch="sm_90a")))


def test_one_loop_has_two_matmuls():
    text = lowered("gpu")
    consumer = text[text.index('"consumer"') :]
    assert consumer.count("scf.for") == 1
    # The second matmul of an iteration is one iteration later: a first one stands before the loop, a second one behind it.
    before, rest = consumer.split("scf.for")
    loop, after = re.split(r"\n          \} \{schedule.axis", rest)
    assert [part.count("tile.wgmma %") for part in (before, loop, after)] == [1, 2, 1]
    assert [part.count("tile.row_reduce") for part in (before, loop, after)] == [2, 2, 0]
    assert text.count("tile.ring consumers") == 3  # of Q, once, of K and of V


def test_its_ptx():
    s, args = attention_wgmma(4, 512, 512, 128)
    ptx = tw.build(s, args, target=tw.Target("cuda", arch="sm_90a"), name="attention").ptx
    # 16 instructions an iteration, and those of the first and the last matmul beside the loop.
    assert len(re.findall(r"wgmma\.mma_async\.sync\.aligned\.m64n128k16\.f32\.bf16\.bf16 \{", ptx)) == 32
    # One instruction of scale and difference before each of 64 exponentials; two rescale. Once before the loop, once in it.
    assert ptx.count("ex2.approx.ftz") == 132
    assert ptx.count("ex2.approx") == 132


def test_tiles_that_are_masked_away_are_not_visited():
    s, args = attention_wgmma(1, 128, 256, 64, tile=(64, 64), causal=True)
    q, k, v = operands(1, 128, 256, 64, "bfloat16")
    k[:, 192:] = v[:, 192:] = np.nan  # the first queries see no more than the first 192 keys
    (made,) = testing.run(tw.build(s, args, target="sim", name="attention"), [q, k, v], [(q.shape, "bfloat16")])
    exact = expected(q, k[:, :192], v[:, :192], causal=False)[:, 63]
    np.testing.assert_allclose(made[:, 63].astype("float64"), exact, atol=2.0**-7)
    assert not np.isnan(made[:, :64].astype("float32")).any()


def test_masks_are_computed_only_for_tiles_that_they_cut():
    s, args = attention_wgmma(1, 256, 512, 64, tile=(64, 64), causal=True)
    text = tw.build(s, args, target="cuda -arch=sm_90a", name="attention").ir("gpu")
    consumer = text[text.index('tile.role "consumer"') :]
    loop = consumer[consumer.index("scf.for") :]
    # The scores of the maximum, of the sum and of the values are masked once.
    assert loop.count("scf.if") == 1 and loop.count("arith.cmpi sle") == 1
    assert loop.index("} else {") < loop.index("arith.cmpi sle") < loop.index("tile.row_reduce max")


@pytest.mark.sweep
@pytest.mark.parametrize("width", [64, 128])
@pytest.mark.parametrize("options", [{}, {"blocks": 131}, {"tile": (128, 64)}], ids=str)
def test_the_assembler_keeps_matmuls_of_masked_tiles_asynchronous(width, options):
    s, args = attention_wgmma(8, 1024, 1024, width, causal=True, **options)
    for kernel in tw.build(s, args, target="cuda -arch=sm_90a", name="attention").report().kernels:
        assert not kernel.notes and not kernel.spills and not kernel.mismatches, str(kernel)


def test_a_soft_cap_has_no_division_of_each_score():
    Q, K, V = (te.placeholder((1, 64, 64), "bfloat16", name=name) for name in "QKV")

    def divisions(**options: Any) -> int:
        s, args = attention_of(Q, K, V, tile=(64, 64), **options)
        return len(re.findall(r"\t(div|rcp)\.", tw.build(s, args, target="cuda -arch=sm_90a", name="attention").ptx))

    assert divisions(softcap=20.0) == divisions() > 0


def test_tiles_before_a_window_are_not_visited():
    Q, K, V = (te.placeholder((1, 256, 64), "float16", name=name) for name in "QKV")
    s, args = attention_of(Q, K, V, before=20, behind=0, tile=(64, 64))
    q, k, v = np.random.default_rng(0).standard_normal((3, 1, 256, 64)).astype("float16")
    k[:, :64] = v[:, :64] = np.nan  # the last queries see keys from 108 on
    (made,) = testing.run(tw.build(s, args, target="sim", name="attention"), [q, k, v], [(q.shape, "float16")])
    assert np.isfinite(made[:, 128:]).all()
    scores = q[0, 255].astype("float64") @ k[0, 235:].T.astype("float64") / 8
    weights = np.exp(scores - scores.max())
    np.testing.assert_allclose(made[0, 255], weights @ v[0, 235:] / weights.sum(), atol=2.0**-9)


def test_what_follows_a_loop_over_tiles_has_one_itself():
    S = te.placeholder((64, 64), name="S")
    j, k = te.reduce_axis((0, 64), name="j"), te.reduce_axis((0, 64), name="k")
    M = te.compute((64,), lambda i: te.max(S[i, j], axis=j), name="M")
    L = te.compute((64,), lambda i: te.sum(te.exp(S[i, k] - M[i]), axis=k), name="L")
    s = te.create_schedule(L.op)
    shared = s.cache_read(S, "shared", [M])
    s[shared].compute_at(s[M], j)
    s[M].software_pipeline(j, 2)
    s[L].rolling_update(k, of=M)
    with pytest.raises(CompileError) as raised:
        tw.lower(s, [S, L], stage="loops", target=tw.Target("cuda", arch="sm_90a"))
    assert (
        str(raised.value)
        .splitlines()[0]
        .endswith(
            "rolling_update: expected a loop of stage 'L' that is a software_pipeline, as one of 'M' is, got none"
        )
    )


def test_loops_that_follow_are_of_one_kernel_with_wgmma():
    S = te.placeholder((64, 64), name="S")
    j, k = te.reduce_axis((0, 64), name="j"), te.reduce_axis((0, 64), name="k")
    M = te.compute((64,), lambda i: te.max(S[i, j], axis=j), name="M")
    L = te.compute((64,), lambda i: te.sum(te.exp(S[i, k] - M[i]), axis=k), name="L")
    s = te.create_schedule(L.op)
    for stage, axis in ((M, j), (L, k)):
        s[stage].bind(s[stage].op.axis[0], te.thread_axis("blockIdx.x"))
        shared = s.cache_read(S, "shared", [stage])
        s[shared].compute_at(s[stage], axis)
        s[stage].software_pipeline(axis, 2)
    s[L].rolling_update(k, of=M)
    with pytest.raises(CompileError) as raised:
        tw.lower(s, [S, L], stage="gpu", target=tw.Target("cuda", arch="sm_90a"))
    assert (
        str(raised.value)
        .splitlines()[0]
        .endswith("rolling_update: expected a kernel that multiplies by wgmma, got one that does not")
    )


@cache
def lowered_ragged() -> str:
    tensors = [te.placeholder((2, 70, 64), "bfloat16", name="Q")]
    tensors += [te.placeholder((1, 290, 64), "bfloat16", name=name) for name in "KV"]
    s, args = attention_of(*tensors, before=100, behind=180, tile=(64, 64))
    return str(tw.lower(s, args, stage="gpu", target=tw.Target("cuda", arch="sm_90a")))


# Everything that makes the kernel right is taken away, one thing after the other, and the simulator says so.
@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        (r"tile\.release (%ring_\d+)\[.*\n", "", "deadlock"),
        (r"tile\.fence_async\n", "", "missing fence"),
    ],
    ids=["release", "fence"],
)
def test_a_barrier_that_is_missing_is_found(old, new, found):
    text = lowered("gpu")
    changed = re.sub(old, new, text)
    assert changed != text
    q, k, v = operands(1, 128, 256, 64, "bfloat16")
    with context():
        module = ir.Module.parse(changed)
        function = tw.build(module, target=tw.Target("sim", checks=True), name="main", start="gpu")
    with pytest.raises((SimulationError, CompileError), match=found):
        function(q, k, v, np.empty_like(q))


def run_ragged(text: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal(s).astype(as_dtype("bfloat16")) for s in ((2, 70, 64), (1, 290, 64), (1, 290, 64)))
    out = np.zeros_like(q)
    with context():
        module = ir.Module.parse(text)
        tw.build(module, target=tw.Target("sim", checks=True), name="main", start="gpu")(q, k, v, out)
    return out


# Without the releases: nobody waits for the last ones of Q and V. They stand because the kernel is 18 % slower without.
BARRIERS = r"tile\.(commit|wgmma_commit|commit_stores|wait_stores|fence_async|sync_warpgroup)\b"


@pytest.mark.sweep
def test_each_barrier_but_releases_of_a_ragged_kernel_is_needed():
    """Each is deleted alone. The simulator tells, or the result is another one."""
    text = lowered_ragged()
    right = run_ragged(text)
    assert np.isfinite(right.astype("float32")).all()
    assert lines_without_need(text, BARRIERS, 11, right, run_ragged) == []


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ((1, 128, 128, 64, "float32"), {}, "expected float16 or bfloat16, which wgmma takes as operand A from registers, got float32"),
        ((1, 128, 128, 64), {"tile": (96, 64)}, r"expected a tile of a multiple of 64 rows and of 16 columns, from 64 to 256, got \(96, 64\)"),
        ((1, 128, 128, 84), {}, "expected a width of a multiple of 8, whose rows TMA copies, up to 256, got 84"),
        ((1, 256, 128, 64), {"causal": True}, "expected at least as many keys as queries of a causal attention, got 128 and 256"),
        ((1, 128, 128, 64), {"scale": -1.0}, "expected a positive scale, got -1.0"),
        ((1, 128, 0, 64), {}, "expected at least one key, got 0: ops.attention gives zeros without keys"),
    ],
)  # fmt: skip
def test_refusals(given: Any, options: dict[str, Any], message: str):
    with pytest.raises(ValueError, match=message):
        attention_wgmma(*given, **options)
