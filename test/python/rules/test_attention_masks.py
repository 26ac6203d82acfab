"""Masks from data that a user writes as conditions: tiles of keys of which they leave nothing are not visited."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from attention_program import H200, Program
from tilewright import te

QUERIES, KEYS, WIDTH, HEADS = 192, 256, 64, 2
Score = Callable[[Any, Any, Any, Any], Any]


def placeholders() -> dict[str, te.Tensor]:
    shapes = {"ids": (QUERIES,), "key_ids": (KEYS,), "of_head": (HEADS, KEYS), "blocks": (3, 4), "bias": (KEYS,)}
    return {name: te.placeholder(shape, "float32" if name == "bias" else "int32", name=name)
            for name, shape in shapes.items()}  # fmt: skip


def numbers() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(2)
    blocks = np.array([[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 0]])
    of_head = np.array([np.arange(KEYS) < 70, np.arange(KEYS) // 64 % 2])
    made = {"ids": np.arange(QUERIES) // 50, "key_ids": np.arange(KEYS) // 50, "of_head": of_head, "blocks": blocks}
    return {**{name: array.astype("int32") for name, array in made.items()}, "bias": rng.random(KEYS, "float32")}


def masked(condition: Any, value: Any, lowest: float = -np.inf) -> Any:
    return te.if_then_else(condition, value, lowest)


def case(name: str, t: Any) -> Score:
    """A change of scores, of tensors."""

    def documents(b: Any, i: Any, j: Any, x: Any) -> Any:
        return masked(te.all(j <= i, t["ids"][i] == t["key_ids"][j]), x)

    def padding(b: Any, i: Any, j: Any, x: Any) -> Any:
        return te.select(t["of_head"][b, j] == 0, float("-inf"), x)

    def blocks(b: Any, i: Any, j: Any, x: Any) -> Any:
        return masked(t["blocks"][i // 64, j // 64] != 0, te.tanh(x))

    def distances(b: Any, i: Any, j: Any, x: Any) -> Any:
        return masked(j <= i, masked(t["ids"][i] == t["key_ids"][j], x + t["bias"][i - j]))

    return {"documents": documents, "padding": padding, "blocks": blocks, "distances": distances}[name]


def exact_case(name: str, x: np.ndarray, t: dict[str, np.ndarray]) -> np.ndarray:
    i, j = np.arange(QUERIES)[:, None], np.arange(KEYS)
    if name == "documents":
        seen = (j <= i) & (t["ids"][:, None] == t["key_ids"])
    elif name == "padding":
        seen = t["of_head"][:, None] != 0
    elif name == "blocks":
        seen, x = t["blocks"][i // 64, j // 64] != 0, np.tanh(x)
    else:
        seen, x = (j <= i) & (t["ids"][:, None] == t["key_ids"]), x + t["bias"][np.maximum(i - j, 0)]
    return np.where(seen, x, -np.inf)


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ["documents", "padding", "blocks", pytest.param("distances", marks=pytest.mark.slow)])
@pytest.mark.parametrize("queries, keys", [(QUERIES, KEYS), (150, 240)], ids=["whole tiles", "tiles that are not full"])
def test_masks_from_data(name: str, queries: int, keys: int) -> None:
    tensors, arrays = placeholders(), numbers()
    read = {"documents": ["ids", "key_ids"], "padding": ["of_head"], "blocks": ["blocks"],
            "distances": ["ids", "key_ids", "bias"]}[name]  # fmt: skip
    program = Program(HEADS, queries, keys, WIDTH, change=case(name, tensors), finite=True)
    q, k, v, out = program.tensors()
    s = tw.auto_schedule(out, H200, settings={"out": {"tile": (64, 64), "is_listed": True}})
    function = tw.build(
        s, [q, k, v, *(tensors[one] for one in read), out], target=tw.Target(H200, checks=True), name="attention"
    )
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal([int(n) for n in one.shape]).astype("float16") for one in (q, k, v))
    scores = np.full((HEADS, QUERIES, KEYS), 0.0)
    scores[:, :queries, :keys] = a.astype("float64") @ b.astype("float64").swapaxes(1, 2) * WIDTH**-0.5
    scores = exact_case(name, scores, arrays)[:, :queries, :keys]
    # A tile that no query of a head sees is not even loaded: what is not a number would show. One tile always is.
    for head in range(HEADS):
        for first in range(64, keys, 64):
            if (scores[head, :, first : first + 64] == -np.inf).all():
                b[head, first : first + 64] = c[head, first : first + 64] = np.nan
    made = np.full((HEADS, queries, WIDTH), np.nan, "float16")
    function(a, b, c, *(arrays[one] for one in read), made)
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(largest == -np.inf, 0, largest))
    total = weights.sum(-1, keepdims=True)
    right = weights @ np.nan_to_num(c.astype("float64")) / np.where(total == 0, 1, total)
    np.testing.assert_allclose(made, right, atol=2e-3)


def explained(change: Score, keys: int = 4096) -> str:
    return tw.auto_schedule(Program(16, keys, keys, 64, change=change).tensors()[-1], H200).explain()


def test_when_tiles_are_listed() -> None:
    """By themselves where there is enough to compute and a mask is read at a query or a key; else as is set."""
    ids, lengths = te.placeholder((4096,), "int32", name="ids"), te.placeholder((16,), "int32", name="lengths")
    assert "is_listed=True" in explained(lambda b, i, j, x: masked(ids[i] == ids[j], x))
    assert "is_listed=False" in explained(lambda b, i, j, x: masked(ids[i] == ids[j], x), 256)
    # The place says where these end, or the score is no mask.
    assert "is_listed" not in explained(lambda b, i, j, x: masked(j <= i, x))
    assert "is_listed" not in explained(lambda b, i, j, x: masked(j < lengths[b], x))
    assert "is_listed" not in explained(lambda b, i, j, x: masked(ids[i] == ids[j], x, 0.0))
    assert "is_listed" not in explained(lambda b, i, j, x: masked(x < 3.0, x))


def test_conditions_that_can_always_be_read_take_no_branch() -> None:
    """Of a condition behind another, too: its elements are those that the tensors have."""
    t = placeholders()
    program = Program(HEADS, QUERIES, KEYS, WIDTH, change=case("documents", t))
    q, k, v, out = program.tensors()
    s = tw.auto_schedule(out, H200, settings={"out": {"tile": (64, 64), "is_listed": True}})
    text = str(tw.lower(s, [q, k, v, t["ids"], t["key_ids"], out], stage="gpu", target=H200))
    assert text.count("-> (i1)") == 0
    # The list's kernel reads both; so does the mask, of the first tile of keys and of the others.
    assert len(re.findall(r"memref.load %arg\d\[.*<192xi32>", text)) == 3


@pytest.mark.parametrize("queries, keys, count", [(QUERIES, KEYS, 0), (150, 240, 4)])
def test_tiles_that_are_full_read_without_a_minimum(queries: int, keys: int, count: int) -> None:
    """Only tiles that are not full have places behind the last element: of ids and key_ids, in two tiles of keys."""
    t = placeholders()
    q, k, v, out = Program(HEADS, queries, keys, WIDTH, change=case("documents", t)).tensors()
    s = tw.auto_schedule(out, H200, settings={"out": {"tile": (64, 64), "is_listed": True}})
    text = str(tw.lower(s, [q, k, v, t["ids"], t["key_ids"], out], stage="gpu", target=H200))
    assert text.count("arith.minsi") == count
