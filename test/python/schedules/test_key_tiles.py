"""Attention that visits only the tiles of keys of which a mask leaves something, on the simulator."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np
import pytest
from mlir import ir

import tilewright as tw
from tile_kernels import lines_without_need
from tilewright import ops, te
from tilewright.ir import context
from tilewright.runtime.ndarray import as_dtype
from tilewright.schedules.key_tiles import KeyTiles
from tilewright.schedules.online_softmax import attention_of

HEADS, WIDTH = 2, 64


def exact(q: np.ndarray, k: np.ndarray, v: np.ndarray, seen: np.ndarray) -> np.ndarray:
    scores = np.where(seen, q.astype("float64") @ k.astype("float64").swapaxes(-1, -2) * WIDTH**-0.5, -np.inf)
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(largest == -np.inf, 0, largest))
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, 1, total) @ v


def in_window(queries: int, keys: int, before: int | None = None, behind: int | None = None) -> np.ndarray:
    i, j = np.arange(queries)[:, None], np.arange(keys)
    return (j <= i + (keys if behind is None else behind)) & (j >= i - (queries if before is None else before))


def schedule(queries: int, keys: int, mask: tuple[int, ...], **options: Any) -> tuple[te.Schedule, list[te.Tensor]]:
    Q = te.placeholder((1, HEADS, queries, WIDTH), "float16", name="Q")
    K, V = (te.placeholder((1, HEADS, keys, WIDTH), "float16", name=name) for name in "KV")
    return attention_of(Q, K, V, te.placeholder(mask, "bool", name="mask"), is_listed=True, **options)


def operands(queries: int, keys: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    q = rng.standard_normal((1, HEADS, queries, WIDTH)).astype("float16")
    k, v = rng.standard_normal((2, 1, HEADS, keys, WIDTH)).astype("float16")
    return q, k, v


def documents(queries: int, keys: int, length: int) -> np.ndarray:
    return np.arange(queries)[:, None] // length == np.arange(keys) // length


def scattered(*shape: int) -> np.ndarray:
    """Few elements, whole tiles, tiles of which nothing is left, and rows that see nothing."""
    mask = np.random.default_rng(1).random(shape) < 0.02
    mask[..., :64, 64:128] = True
    mask[..., 128:192] = False
    mask[..., 40:70, :] = False
    return mask


CASES: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
    "documents": (documents(300, 300, 70), {"tile": (128, 64), "behind": 0}),
    "blocks that stay": (documents(320, 320, 64), {"tile": (64, 64), "behind": 0, "blocks": 3}),
    "a mask of each head": (scattered(HEADS, 192, 256), {"tile": (64, 64)}),
    "of each sequence": (scattered(1, 1, 100, 256), {"tile": (64, 64), "before": 60}),
    "of keys alone": (np.arange(320)[None] < 130, {"tile": (64, 80)}),
    "of nothing": (np.zeros((128, 256), bool), {"tile": (64, 64)}),
    "of everything": (np.ones((128, 256), bool), {"tile": (64, 64), "softcap": 20.0}),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CASES)
def test_masks(name: str) -> None:
    mask, options = CASES[name]
    queries, keys = (320 if name == "of keys alone" else mask.shape[-2]), mask.shape[-1]
    q, k, v = operands(queries, keys)
    window = {key: options.get(key) for key in ("before", "behind")}
    seen = np.broadcast_to(mask, (1, HEADS, queries, keys)) & in_window(queries, keys, **window)
    # A tile of which nothing is seen is not even loaded: what is not a number would show. One tile always is.
    _, columns = options["tile"]
    for first in range(columns, keys, columns):
        if not seen[..., first : first + columns].any():
            k[..., first : first + columns, :] = v[..., first : first + columns, :] = np.nan
    out = np.full_like(q, np.nan)
    s, args = schedule(queries, keys, mask.shape, **options)
    tw.build(s, args, target=tw.Target("sim", arch="sm_90a", checks=True))(q, k, v, mask, out)
    k, v = np.nan_to_num(k), np.nan_to_num(v)
    if "softcap" in options:
        scores = 20 * np.tanh(q.astype("float64") @ k.astype("float64").swapaxes(-1, -2) * WIDTH**-0.5 / 20)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        right = weights @ v / weights.sum(-1, keepdims=True)
    else:
        right = exact(q, k, v, seen)
    np.testing.assert_allclose(out, right, atol=2e-3)


def test_what_is_listed() -> None:
    """Cut tiles first, then whole ones, each in order; then how many keys all have, and those that are cut."""
    mask = np.zeros((200, 256), bool)
    mask[:128, 64:192] = mask[10, 200] = mask[130, 3] = True
    M = te.placeholder(mask.shape, "bool", name="M")
    tiles = KeyTiles.of([1], *mask.shape, (128, 64), lambda _, i, j: M(i, j))
    s = te.create_schedule(tiles.lists.op)
    tiles.schedule(s)
    made = np.zeros((1, 2, 6), "int32")
    tw.build(s, [M, tiles.lists], target=tw.Target("sim", arch="sm_90a", checks=True))(mask, made)
    np.testing.assert_array_equal(made[0], [[192, 64, 128, 0, 192, 64], [0, 0, 0, 0, 64, 64]])


@cache
def lowered() -> str:
    s, args = schedule(128, 320, (128, 320), tile=(64, 64), behind=192)
    return str(tw.lower(s, args, stage="gpu", target=tw.Target("cuda", arch="sm_90a")))


def test_a_mask_is_read_once_and_for_cut_tiles_alone() -> None:
    s, args = schedule(128, 320, (128, 320), tile=(64, 64), behind=192)
    text = str(tw.lower(s, args, stage="loops", target=tw.Target("cuda", arch="sm_90a")))
    assert len(re.findall(r"memref.load %arg3\[", text)) == 4  # of the count, and of each reduction over the keys
    kernel = lowered().split("gpu.func")[-1]
    # One iteration stands before the loop. The scores of the three reductions are one fragment.
    assert len(re.findall(r"memref.load %arg0\[", kernel)) == 2


def run(text: str) -> np.ndarray:
    q, k, v = operands(128, 320)
    mask = documents(128, 320, 90)
    out = np.zeros_like(q)
    with context():
        module = ir.Module.parse(text)
        tw.build(module, target=tw.Target("sim", checks=True), name="main", start="gpu")(q, k, v, mask, out)
    return out


BARRIERS = r"(gpu\.barrier|tile\.(commit|wgmma_commit|commit_stores|wait_stores|fence_async|sync_warpgroup))\b"


@pytest.mark.sweep
def test_each_barrier_is_needed() -> None:
    """Each is deleted alone. The simulator tells, or the result is another one."""
    text = lowered()
    right = run(text)
    seen = documents(128, 320, 90) & in_window(128, 320, behind=192)
    np.testing.assert_allclose(right, exact(*operands(128, 320), seen[None, None]), atol=2e-3)
    assert lines_without_need(text, BARRIERS, 10, right, run) == []


def test_operations_list_tiles_where_there_is_enough_to_compute() -> None:
    def is_listed(keys: int, dtype: str = "bool") -> bool:
        operand, mask = ops.Operand((2, 8, keys, 64), "bfloat16"), ops.Operand((keys, keys), dtype)
        s, _ = ops.attention.schedule(operand, operand, operand, mask, target="sim -device=H200")
        return "visited" in str(s.trace())

    assert is_listed(1024)
    assert not any((is_listed(256), is_listed(1024, "float32")))


@pytest.mark.sweep
def test_an_operation_with_documents() -> None:
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 1, 8, 768, 64)).astype(as_dtype("bfloat16"))
    mask = documents(768, 768, 200)
    got = ops.attention(q, k, v, mask, is_causal=True, target="sim -device=H200").astype("float64")
    seen = np.broadcast_to(mask & in_window(768, 768, behind=0), (1, 8, 768, 768))
    np.testing.assert_allclose(got, exact(q, k, v.astype("float64"), seen), atol=3e-2)


@pytest.mark.parametrize("given", [{}, {"dtype": "float32"}, {"key_splits": 2}], ids=["none", "floats", "key_splits"])
def test_what_has_no_list(given: dict[str, Any]) -> None:
    Q = te.placeholder((1, 1, 64, 64), "float16", name="Q")
    K, V = (te.placeholder((1, 1, 128, 64), "float16", name=name) for name in "KV")
    mask = te.placeholder((64, 128), given.pop("dtype", "bool"), name="mask")
    masks = [mask] if given or mask.dtype != "bool" else []
    with pytest.raises(tw.TilewrightError) as caught:
        attention_of(Q, K, V, *masks, is_listed=True, tile=(64, 64), **given)
    assert (
        str(caught.value) == "expected a mask of bools, and no key_splits, pages or lengths, to list the tiles of keys"
    )


def test_what_holds_for_a_tile_is_computed_once() -> None:
    """Whether a tile is visited, and whether the mask cuts it: no quotient of a column is left in the kernel's maps."""
    text = str(tw.lower(*schedule(256, 256, (256, 256), tile=(64, 64)), stage="gpu", target="sim -device=H200"))
    maps = dict(re.findall(r"(#map\d*) = (affine_map<.*>)", text))
    kernel = text[text.index("gpu.func @main_kernel2") :]
    used = [maps[name] for name in re.findall(r"affine.apply (#map\d*)\(", kernel)]
    assert used and not [one for one in used if "floordiv" in one or "mod" in one]


def test_split_keys_have_no_logarithms() -> None:
    Q = te.placeholder((1, 4, 1, 64), "float16", name="Q")
    K, V = (te.placeholder((1, 4, 512, 64), "float16", name=name) for name in "KV")
    with pytest.raises(tw.TilewrightError) as caught:
        attention_of(Q, K, V, key_splits=2, with_logarithms=True)
    assert str(caught.value) == "expected no key_splits beside the logarithms of sums, got 2"
