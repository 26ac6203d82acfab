"""Attention of 8-bit floats on the simulator, beside float64 and beside the same rounding of weights in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import TilewrightError, ops, te
from tilewright.ops.operator import Operand
from tilewright.runtime.ndarray import as_dtype
from tilewright.schedules.attention_fp8 import attention_fp8_of

F8 = as_dtype("float8_e4m3fn")
BLOCK = 128


def inputs(
    q_heads: int, k_heads: int, queries: int, keys: int, width: int, wide: int, *, of_keys: int = BLOCK
) -> list[np.ndarray]:
    """So many keys have one scale."""
    rng = np.random.default_rng(0)
    shapes = [(q_heads, queries, width), (k_heads, keys, width), (k_heads, keys, wide)]
    made = [(2 * rng.standard_normal((1, *shape))).astype("float32").astype(F8) for shape in shapes]
    blocks = [(q_heads, -(-queries // BLOCK)), (k_heads, -(-keys // of_keys)), (k_heads,)]
    return made + [(rng.random((1, *shape)) + 0.25).astype("float32") for shape in blocks]


def exact(arrays: list[np.ndarray], seen: np.ndarray, rounds: bool) -> np.ndarray:
    """In float64. If it `rounds`, weights of up to 256 are rounded to float8_e4m3fn where they multiply the values."""
    q, k, v = (x.astype("float64") for x in arrays[:3])
    q *= np.repeat(arrays[3], BLOCK, -1)[..., : q.shape[-2], None]
    k *= np.repeat(arrays[4], k.shape[-2] if arrays[4].shape[-1] == 1 else BLOCK, -1)[..., : k.shape[-2], None]
    v *= arrays[5][..., None, None]
    k, v = (np.repeat(x, q.shape[-3] // x.shape[-3], -3) for x in (k, v))
    scores = np.where(seen, q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5, -np.inf)
    largest = scores.max(-1, keepdims=True)
    weights = 256 * np.exp(scores - np.where(largest == -np.inf, 0, largest))
    total = weights.sum(-1, keepdims=True)
    used = weights.astype("float32").astype(F8).astype("float64") if rounds else weights
    return used @ v / np.where(total == 0, 1, total)


def seen_of(queries: int, keys: int, before: int | None, behind: int | None) -> np.ndarray:
    i, j = np.arange(queries)[:, None], np.arange(keys)
    return (j <= i + (keys if behind is None else behind)) & (j >= i - (queries if before is None else before))


def root_mean_square(made: np.ndarray, right: np.ndarray) -> float:
    return float(np.sqrt(((made.astype("float64") - right) ** 2).mean() / (right**2).mean()))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "heads, extents, options",
    [
        ((2, 1), (128, 192, 64, 32), {"tile": (64, 64)}),
        ((1, 1), (150, 200, 32, 64), {"tile": (64, 64), "behind": 0}),
        ((1, 1), (130, 260, 64, 64), {"tile": (128, 128)}),
        ((2, 1), (192, 256, 64, 64), {"tile": (128, 128), "of_keys": 256}),
        ((1, 1), (140, 200, 32, 32), {"tile": (64, 64), "of_keys": 200, "behind": 0}),
        pytest.param((2, 2), (200, 300, 64, 64), {"tile": (64, 64), "behind": 3, "before": 70}, marks=pytest.mark.slow),
        pytest.param((1, 1), (64, 384, 128, 128), {"tile": (64, 128), "dtype": "float16"}, marks=pytest.mark.slow),
        pytest.param((1, 1), (64, 192, 256, 256), {"tile": (64, 64)}, marks=pytest.mark.slow),
    ],
)
def test_rounds_as_expected(heads: tuple[int, int], extents: tuple[int, ...], options: dict[str, Any]) -> None:
    """The error to float64 is that of the rounded weights: no key has the weight, or the value, of another."""
    options = dict(options)
    arrays = inputs(*heads, *extents, of_keys=options.pop("of_keys", BLOCK))
    tensors = [
        te.placeholder(x.shape, "float32" if number > 2 else "float8_e4m3fn", name=name)
        for number, (name, x) in enumerate(
            zip(("Q", "K", "V", "q_scales", "k_scales", "v_scales"), arrays, strict=True)
        )
    ]
    function = tw.build(
        *attention_fp8_of(*tensors, **options), target=tw.Target("sim -device=H200", checks=True), name="attention"
    )
    dtype = options.get("dtype", "bfloat16")
    made = np.full((*arrays[0].shape[:-1], extents[-1]), np.nan).astype(as_dtype(dtype))
    function(*arrays, made)
    seen = seen_of(extents[0], extents[1], options.get("before"), options.get("behind"))
    right, rounded = exact(arrays, seen, rounds=False), exact(arrays, seen, rounds=True)
    of_result = {"bfloat16": 2.0**-9, "float16": 2.0**-12}[dtype]
    usual = root_mean_square(rounded, right)
    assert root_mean_square(made, right) <= 1.05 * np.hypot(usual, of_result)
    # What is computed online has weights in units of earlier maxima, which are rounded otherwise.
    assert root_mean_square(made, rounded) <= 1.5 * np.hypot(usual, of_result)


@pytest.mark.parametrize("of_keys", [128, 192])
def test_tiles_that_a_mask_hides_are_not_visited(of_keys: int) -> None:
    """Whatever the scales are of: what is not a number would show, as 0 times it does."""
    arrays = inputs(1, 1, 64, 192, 32, 32, of_keys=of_keys)
    arrays[1][..., 64:, :] = arrays[2][..., 64:, :] = np.nan
    names = ("Q", "K", "V", "q_scales", "k_scales", "v_scales")
    dtypes = ["float8_e4m3fn"] * 3 + ["float32"] * 3
    tensors = [te.placeholder(x.shape, dtype, name=name) for name, x, dtype in zip(names, arrays, dtypes, strict=True)]
    made = np.empty((1, 1, 64, 32), as_dtype("bfloat16"))
    tw.build(*attention_fp8_of(*tensors, tile=(64, 64), behind=0), target="sim -device=H200")(*arrays, made)
    few = [x[..., :64, :] if number in (1, 2) else x for number, x in enumerate(arrays)]
    right = exact(few, seen_of(64, 64, None, 0), rounds=True)
    assert root_mean_square(made, right) <= 2.0**-8


def test_what_is_rounded_where() -> None:
    """On a processor the weights are not rounded."""
    arrays = inputs(2, 1, 40, 70, 24, 8)
    made = ops.attention_fp8(*arrays, is_causal=True, enable_gqa=True, dtype="float32", target="cpu")
    right = exact(arrays, seen_of(40, 70, None, 0), rounds=False)
    np.testing.assert_allclose(made, right, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "width", [64, pytest.param(128, marks=pytest.mark.slow), pytest.param(256, marks=pytest.mark.slow)]
)
def test_kernel_of_registers(width: int) -> None:
    """The weights go from registers to wgmma, two are rounded by one instruction, and ptxas spills nothing."""
    shape, blocks = (1, 2, 512, width), (1, 2, 4)
    given = [Operand(shape, "float8_e4m3fn")] * 3 + [Operand(blocks, "float32")] * 2 + [Operand(blocks[:2], "float32")]
    function = ops.attention_fp8.function(*given, target="cuda -arch=sm_90a")
    keys = 128 if width <= 128 else 64
    assert f"wgmma.mma_async.sync.aligned.m64n{keys}k32.f32.e4m3.e4m3" in function.ptx
    # A thread has half of a tile's keys as weights, of the first tile and of the others.
    assert function.ptx.count("cvt.rn.satfinite.e4m3x2.f32") == 2 * keys // 4
    for kernel in function.report().kernels:
        assert not kernel.spills and not kernel.notes, str(kernel)


@pytest.mark.parametrize(
    "change, message",
    [
        ({0: Operand((2, 5, 8), "float16")}, "attention_fp8: expected q of float8_e4m3fn, got float16"),
        ({3: Operand((2, 1), "float16")}, "attention_fp8: expected q_scales of float32, got float16"),
        (
            {0: Operand((5, 8), "float8_e4m3fn")},
            "attention_fp8: expected q, k and v of one number of dimensions, at least 3, got shapes (5, 8), (2, 5, 8) and "
            "(2, 5, 8)",
        ),
        (
            {1: Operand((2, 5, 9), "float8_e4m3fn")},
            "attention_fp8: expected q and k of one width, got shapes (2, 5, 8), (2, 5, 9) and (2, 5, 8)",
        ),
        (
            {2: Operand((2, 6, 8), "float8_e4m3fn")},
            "attention_fp8: expected k and v of equal heads and as many keys as values, got shapes (2, 5, 8), (2, 5, 8) "
            "and (2, 6, 8)",
        ),
        (
            {0: Operand((4, 5, 8), "float8_e4m3fn")},
            "attention_fp8: expected extents before the last two that fit (enable_gqa=True is for heads of q that share one "
            "of k and v), got shapes (4, 5, 8), (2, 5, 8) and (2, 5, 8)",
        ),
        (
            {4: Operand((2, 2), "float32")},
            "attention_fp8: expected k_scales of shape (2, 1), got (2, 2)",
        ),
    ],
)  # fmt: skip
def test_operands_that_do_not_fit(change: dict[int, Operand], message: str) -> None:
    given = [Operand((2, 5, 8), "float8_e4m3fn")] * 3 + [Operand((2, 1), "float32")] * 2 + [Operand((2,), "float32")]
    for number, one in change.items():
        given[number] = one
    with pytest.raises(TilewrightError) as raised:
        ops.attention_fp8.function(*given, target="cpu")
    assert str(raised.value) == message


def test_result_of_another_type() -> None:
    given = [Operand((2, 5, 8), "float8_e4m3fn")] * 3 + [Operand((2, 1), "float32")] * 2 + [Operand((2,), "float32")]
    with pytest.raises(TilewrightError) as raised:
        ops.attention_fp8.function(*given, target="cpu", dtype="int32")
    assert str(raised.value) == "attention_fp8: expected a dtype of float16, bfloat16, float32, got int32"


@pytest.mark.parametrize(
    "dtype, width, tile, message",
    [
        ("float16", 64, (64, 64), "expected Q, K and V of float8_e4m3fn, got float16"),
        ("float8_e4m3fn", 40, (64, 64), "expected a width of a multiple of 32 up to 256, got 40"),
        ("float8_e4m3fn", 64, (64, 96), "expected tiles of whole blocks of 128 keys, or parts of one, got 96 keys"),
    ],
)
def test_schedules_that_do_not_fit(dtype: str, width: int, tile: tuple[int, int], message: str) -> None:
    tensors = [te.placeholder((2, 128, width), dtype, name=name) for name in "QKV"]
    tensors += [te.placeholder((2, 1), "float32", name=name) for name in ("q_scales", "k_scales")]
    with pytest.raises(TilewrightError) as raised:
        attention_fp8_of(*tensors, te.placeholder((2,), "float32", name="v_scales"), tile=tile)
    assert str(raised.value) == message
