"""Attention and its gradients in float64, and how many kernels a program of it has."""

from __future__ import annotations

import numpy as np


def _shared(x: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Keys or values for each head of queries."""
    return x.repeat(q.shape[1] // x.shape[1], 1)


def weights_of(q: np.ndarray, k: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Those of a query that sees no key are 0."""
    scores = np.where(seen, q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True, initial=-1e300))
    total = weights.sum(-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def exact(q: np.ndarray, k: np.ndarray, v: np.ndarray, seen: np.ndarray) -> np.ndarray:
    q, k, v = (one.astype("float64") for one in (q, k, v))
    return weights_of(q, _shared(k, q), seen) @ _shared(v, q)


def exact_gradients(
    head: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, seen: np.ndarray
) -> tuple[np.ndarray, ...]:
    """Of queries, keys and values."""
    head, q, k, v = (one.astype("float64") for one in (head, q, k, v))
    (batch, heads, keys, _), times = k.shape, q.shape[1] // k.shape[1]
    k, v = _shared(k, q), _shared(v, q)
    weights = weights_of(q, k, seen)
    of_weights = head @ v.swapaxes(-1, -2)
    of_scores = weights * (of_weights - (of_weights * weights).sum(-1, keepdims=True)) * q.shape[-1] ** -0.5
    by_keys, by_values = of_scores.swapaxes(-1, -2) @ q, weights.swapaxes(-1, -2) @ head
    return of_scores @ k, *(one.reshape(batch, heads, times, keys, -1).sum(2) for one in (by_keys, by_values))


def kernels(text: str) -> tuple[int, int]:
    """How many are launched, and how many matmuls warpgroups have."""
    return text.count("gpu.launch_func"), text.count("tile.wgmma ")
