"""Counts of n-grams in sequences of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph import Value
from ..node import Node, converter


@converter("TfIdfVectorizer")
def _tf_idf_vectorizer(node: Node) -> Value:
    """Each n-gram of the pool is compared with all of a row, once for each number of elements that are skipped."""
    op, x = node.op_, node.tensor(0)
    pool = node.attr("pool_int64s")
    length = x.shape[-1]
    if pool is None or not isinstance(length, int):
        raise node.error("expected a pool of integers, and sequences of a length that is known")
    rows = x if x.rank == 2 else node.reshape(x, [1, length])
    count: Any = rows.shape[0]
    places, weights = np.asarray(node.attr("ngram_indexes")), node.attr("weights")
    counts = None
    known = 0  # n-grams that are counted
    for grams in _pools(np.asarray(pool), list(node.attr("ngram_counts"))):
        width = grams.shape[1]
        own, known = places[known : known + len(grams)], known + len(grams)
        if not len(grams) or not node.attr("min_gram_length") <= width <= node.attr("max_gram_length"):
            continue
        for skipped in range(node.attr("max_skip_count") + 1 if width > 1 else 1):
            begins = np.arange(length - (width - 1) * (skipped + 1))  # pyright: ignore[reportUnknownVariableType]
            if not len(begins):  # pyright: ignore[reportUnknownArgumentType]
                continue
            at = begins[:, None] + np.arange(width) * (skipped + 1)  # pyright: ignore[reportUnknownVariableType]
            windows = node.reshape(op("gather", rows, node.builder.constant(at), axis=1), [count, 1, *at.shape])  # pyright: ignore[reportUnknownArgumentType]
            same = op("equal", windows, node.builder.constant(grams.astype(x.dtype)[:, None, :]))
            whole = op("reduce_min", node.cast(same, "int32"), axes=[3], keepdims=False)
            found = node.cast(op("reduce_sum", whole, axes=[2], keepdims=False), "float32")
            spread = np.zeros((len(grams), int(places.max()) + 1), np.float32)
            spread[np.arange(len(grams)), own] = 1
            found = op("matmul", found, node.builder.constant(spread), acc="float32", to="float32")
            counts = found if counts is None else op("add", counts, found)
    if counts is None:
        counts = op("expand", node.constant(0, "float32"), shape=[count, int(places.max()) + 1])
    made = _weighted(node, counts, places, weights)
    return made if x.rank == 2 else node.reshape(made, [made.shape[1]])


def _pools(pool: np.ndarray, begins: list[int]) -> list[np.ndarray]:
    """The n-grams of each length, one a row."""
    ends = [*begins[1:], len(pool)]
    return [pool[begin:end].reshape(-1, n + 1) for n, (begin, end) in enumerate(zip(begins, ends))]


def _weighted(node: Node, counts: Value, places: np.ndarray, weights: list[float] | None) -> Value:
    mode = node.attr("mode")
    mode = mode.decode() if isinstance(mode, bytes) else mode
    if mode == "TF":
        return counts
    each = np.ones(int(places.max()) + 1, np.float32)
    if weights is not None:
        each[places] = weights
    if mode == "IDF":
        one = node.constant(1, "float32")
        counts = node.op_("min", counts, one)
    return node.op_("mul", counts, node.builder.constant(each))
