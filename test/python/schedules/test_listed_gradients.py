"""Gradients of attention that visit only the tiles of which a mask leaves something, on the simulator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import ops, te
from tilewright.schedules.attention_backward import attention_gradients_of

from .test_key_tiles import documents, in_window, scattered

HEADS, WIDTH = 2, 64
H200 = "sim -device=H200"
Arrays = dict[str, np.ndarray]


def operands(queries: int, keys: int, k_heads: int) -> Arrays:
    rng = np.random.default_rng(0)
    heads = {"head": HEADS, "q": HEADS, "k": k_heads, "v": k_heads}
    rows = {"head": queries, "q": queries, "k": keys, "v": keys}
    return {name: rng.standard_normal((1, heads[name], rows[name], WIDTH)).astype("float16") for name in heads}


def exact(given: Arrays, seen: np.ndarray) -> tuple[Arrays, Arrays]:
    """The result and the logarithms of sums, and the gradients, in float64."""
    head, q, k, v = (one.astype("float64") for one in given.values())
    shared = q.shape[1] // k.shape[1]
    k, v = (np.repeat(one, shared, 1) for one in (k, v))
    scores = np.where(seen, q @ k.swapaxes(-1, -2) * WIDTH**-0.5, -np.inf)
    with np.errstate(divide="ignore"):
        logarithms = np.log2(np.exp(scores).sum(-1))
    weights = np.exp2(scores * np.log2(np.e) - np.where(np.isinf(logarithms), 0, logarithms)[..., None])
    result = weights @ v
    d_scores = weights * (head @ v.swapaxes(-1, -2) - (head * result).sum(-1, keepdims=True)) * WIDTH**-0.5
    of_heads = {"k": d_scores.swapaxes(-1, -2) @ q, "v": weights.swapaxes(-1, -2) @ head}
    summed = {name: x.reshape(1, -1, shared, *x.shape[-2:]).sum(2) for name, x in of_heads.items()}
    return {"result": result, "logarithms": logarithms}, {"q": d_scores @ k, **summed}


CASES: dict[str, tuple[np.ndarray, dict[str, Any]]] = {
    "documents": (documents(200, 200, 70), {"behind": 0}),
    "a kernel for keys alone": (documents(192, 256, 64), {"tiles": ((64, 64),) * 4}),
    "shared keys": (documents(192, 192, 100), {"behind": 0, "k_heads": 1}),
    "a mask of each head": (scattered(HEADS, 192, 256), {"before": 100}),
    "of nothing": (np.zeros((128, 128), bool), {}),
}


@pytest.mark.sweep
@pytest.mark.parametrize("name", CASES)
def test_masks(name: str) -> None:
    mask, options = CASES[name]
    options = dict(options)
    queries, keys = mask.shape[-2:]
    given = operands(queries, keys, options.pop("k_heads", HEADS))
    window = {key: options.get(key) for key in ("before", "behind")}
    seen = np.broadcast_to(mask, (1, HEADS, queries, keys)) & in_window(queries, keys, **window)
    known, right = exact(given, seen)
    known = {"result": known["result"].astype("float16"), "logarithms": known["logarithms"].astype("float32")}
    # A tile of which nothing is seen is not even loaded: what is not a number would show. One tile always is.
    for names, axis in ((("head", "q"), -1), (("k", "v"), -2)):
        sees = seen.any((0, 1, axis))
        for first in range(64, len(sees), 64):
            if not sees[first : first + 64].any():
                for one in names:
                    given[one][..., first : first + 64, :] = np.nan
    dtypes = {"mask": "bool", "logarithms": "float32"}
    arrays = {**given, "mask": mask, **known}
    placed = {one: te.placeholder(x.shape, dtypes.get(one, "float16"), name=one) for one, x in arrays.items()}
    s, args = attention_gradients_of(
        **{one if len(one) > 1 else one.upper(): x for one, x in placed.items()}, is_listed=True,
        **{"tiles": ((64, 64),) * 3, **options},
    )  # fmt: skip
    made = [np.full(right[one].shape, np.nan, "float16") for one in "qkv"]
    tw.build(s, args, target=tw.Target("sim", arch="sm_90a", checks=True))(*arrays.values(), *made)
    for got, one in zip(made, right.values(), strict=True):
        np.testing.assert_allclose(got, one, rtol=0, atol=3 * 2.0**-11 * max(1.0, np.abs(one).max()))


@pytest.mark.parametrize("dtypes", [{}, {"mask": "float32"}, {"mask": "bool", "lengths": "int32"}])
def test_what_has_no_list(dtypes: dict[str, str]) -> None:
    x = {name: te.placeholder((1, 1, 64, 64), "float16", name=name) for name in ("head", "Q", "K", "V", "result")}
    x["logarithms"] = te.placeholder((1, 1, 64), "float32", name="logarithms")
    shapes = {"mask": (64, 64), "lengths": (1,)}
    x |= {name: te.placeholder(shapes[name], dtype, name=name) for name, dtype in dtypes.items()}
    with pytest.raises(tw.TilewrightError) as caught:
        attention_gradients_of(**x, is_listed=True)
    assert str(caught.value) == "expected a mask of bools, and no lengths, to list the tiles of queries and keys"


@pytest.mark.sweep
def test_operations_list_tiles_where_there_is_enough_to_compute() -> None:
    def is_listed(keys: int, dtype: str = "bool") -> list[bool]:
        one, mask = ops.Operand((2, 8, keys, 64), "bfloat16"), ops.Operand((keys, keys), dtype)
        known = {"result": one, "logarithms": ops.Operand((2, 8, keys), "float32")}
        forward, _ = ops.attention_with_logarithms.schedule(one, one, one, mask, target=H200)
        backward, _ = ops.attention_gradients.schedule(
            one, one, one, one, mask, **known, wanted=("q", "k", "v"), target=H200
        )
        return ["visited" in str(s.trace()) for s in (forward, backward)]

    assert is_listed(1024) == [True, True]
    assert is_listed(256) == is_listed(1024, "float32") == [False, False]


@pytest.mark.sweep
def test_operations_with_documents() -> None:
    rng = np.random.default_rng(0)
    head, q, k, v = rng.standard_normal((4, 1, 8, 768, 64)).astype("float16")
    mask = documents(768, 768, 200)
    given: dict[str, Any] = {"is_causal": True, "target": H200}
    result, logarithms = ops.attention_with_logarithms(q, k, v, mask, **given)
    seen = np.broadcast_to(mask & in_window(768, 768, behind=0), (1, 8, 768, 768))
    known, right = exact({"head": head, "q": q, "k": k, "v": v}, seen)
    np.testing.assert_allclose(result, known["result"], rtol=0, atol=2e-3)
    np.testing.assert_allclose(logarithms, known["logarithms"], rtol=0, atol=1e-4)
    made = ops.attention_gradients(head, q, k, v, mask, result=result, logarithms=logarithms, **given)
    for got, one in zip(made, right.values(), strict=True):
        np.testing.assert_allclose(got, one, rtol=0, atol=3 * 2.0**-11 * np.abs(one).max())
