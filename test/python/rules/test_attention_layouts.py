"""Attention of tensors in any order of dimensions: `auto_schedule` finds what is what in the indices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from attention_program import H200, Program
from tilewright import te

# Batch, heads, heads that share keys, queries, keys, columns of queries and of values; x is 0, 1, 2 of q, k and v.
EXTENTS = {"b": 1, "h": 2, "g": 2, "s": 40, "t": 48, "d": 64, "c": 64, "x": 3}
Place = Callable[[dict[str, Any]], te.Expr]


def placeholder(name: str, order: str, dtype: str = "float16") -> te.Tensor:
    return te.placeholder([EXTENTS[one] for one in order], dtype, name=name)


def reader(tensor: te.Tensor, order: str) -> Place:
    return lambda at: tensor(*(at[one] for one in order)).astype("float32")


def program(
    q: Place, k: Place, v: Place, scores: str, result: str, sees: Callable[[Any, Any], Any] = lambda i, j: j <= i
) -> te.Tensor:
    """A causal softmax(Q K^T / 8) V. Each tensor is a string of the axes that count it."""
    rows = scores.replace("t", "")
    d, *keys = (te.reduce_axis((0, EXTENTS["d" if n == "d" else "t"]), name=n) for n in ("d", "jm", "jl", "jo"))

    def shape(order: str) -> list[int]:
        return [EXTENTS[one] for one in order]

    def stage(name: str, order: str, element: Place) -> Callable[[dict[str, Any]], te.Expr]:
        made = te.compute(shape(order), lambda *at: element(dict(zip(order, at, strict=True))), name=name)
        return lambda at: made(*(at[one] for one in order))

    dot = stage("dot", scores, lambda at: te.sum(q({**at, "d": d}) * k({**at, "d": d}), axis=d))
    score = stage("score", scores, lambda at: te.if_then_else(sees(at["s"], at["t"]), dot(at) * 0.125, float("-inf")))
    most = stage("most", rows, lambda at: te.max(score({**at, "t": keys[0]}), axis=keys[0]))
    exps = stage("exps", scores, lambda at: te.exp(score(at) - most(at)))
    total = stage("total", rows, lambda at: te.sum(exps({**at, "t": keys[1]}), axis=keys[1]))
    weight = stage("weight", scores, lambda at: (exps(at) / total(at)).astype("float16"))

    def weighted(at: dict[str, Any]) -> te.Expr:
        at = {**at, "t": keys[2]}
        return te.sum(weight(at).astype("float32") * v(at), axis=keys[2])

    values = stage("values", result, weighted)
    return te.compute(
        shape(result), lambda *at: values(dict(zip(result, at, strict=True))).astype("float16"), name="out"
    )


def check(inputs: Sequence[te.Tensor], out: te.Tensor, orders: Sequence[str], scores: str, result: str) -> None:
    """Of operands in such orders; of one, it is all three."""
    s = tw.auto_schedule(out, H200)
    assert "attention: out" in s.explain()
    assert str(s.trace()).count("rolling_update") == 2
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal([int(n) for n in one.shape]).astype("float16") for one in inputs]
    made = np.full([int(n) for n in out.shape], np.nan, "float16")
    tw.build(s, [*inputs, out], target=tw.Target(H200, checks=True), name="attention")(*arrays, made)
    exact = [one.astype("float64") for one in arrays]
    if len(exact) == 1:
        exact = [np.take(exact[0], n, orders[0].index("x")) for n in range(3)]
        order = orders[0].replace("x", "")
        orders = [order, order.replace("s", "t"), order.replace("s", "t").replace("d", "c")]
    q, k, v = exact
    x = np.einsum(f"{orders[0]},{orders[1]}->{scores.replace('t', '')}t", q, k) * 0.125
    by = scores.replace("t", "").index("s")
    seen = np.arange(x.shape[-1]) <= np.arange(x.shape[by]).reshape([-1] + [1] * (x.ndim - by - 1))
    x = np.where(seen, x, -np.inf)
    weights = np.exp(x - x.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    expected = np.einsum(f"{scores.replace('t', '')}t,{orders[2]}->{result}", weights, v)
    assert np.abs(made - expected).max() <= 2 * 2.0**-11 * np.abs(v).max()


ORDERS = {
    "b s h d": ("bshd", "bthd", "bthc", "bhst", "bshc"),
    "s b h d, and scores in another order": ("sbhd", "tbhd", "tbhc", "bsht", "sbhc"),
    "transposed keys": ("bhsd", "bhdt", "bhtc", "bhst", "bhsc"),
    "transposed keys and values": ("bhsd", "bdht", "bhct", "bhst", "bshc"),
    "one head of keys": ("bshd", "btd", "btc", "bhst", "bshc"),
    "grouped heads": ("bhgsd", "bhtd", "bhtc", "bhgst", "bhgsc"),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", ORDERS)
def test_any_order(name: str) -> None:
    q, k, v, scores, result = ORDERS[name]
    inputs = [placeholder(*one) for one in (("q", q), ("k", k), ("v", v))]
    a, b, c = (reader(one, order) for one, order in zip(inputs, (q, k, v), strict=True))
    check(inputs, program(a, b, c, scores, result), (q, k, v), scores, result)


@pytest.mark.sample(1)
@pytest.mark.parametrize("order", ["bsxhd", "sbhxd"])
def test_one_tensor_of_queries_keys_and_values(order: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXTENTS, "t", EXTENTS["s"])
    packed = placeholder("packed", order)
    every = reader(packed, order)
    inputs = (
        lambda at: every({**at, "x": 0}),
        lambda at: every({**at, "x": 1, "s": at["t"]}),
        lambda at: every({**at, "x": 2, "s": at["t"], "d": at["c"]}),
    )
    check([packed], program(*inputs, "bhst", "bshc"), [order], "bhst", "bshc")


def test_operands_with_strides() -> None:
    """Slices of one array."""
    orders = ("bshd", "bthd", "bthc")
    inputs = [
        te.placeholder((1, EXTENTS[o[1]], 2, 64), "float16", name=n, strides=(EXTENTS[o[1]] * 384, 384, 64, 1))
        for n, o in zip("qkv", orders, strict=True)
    ]
    a, b, c = (reader(one, order) for one, order in zip(inputs, orders, strict=True))
    s = tw.auto_schedule(program(a, b, c, "bhst", "bshc"), H200)
    assert "attention: out" in s.explain()
    odd = te.placeholder((1, 48, 2, 64), "float16", name="k", strides=(48 * 132, 132, 66, 1))
    s = tw.auto_schedule(program(a, reader(odd, "bthd"), c, "bhst", "bshc"), H200)
    assert "attention: out" not in s.explain()  # which TMA does not step over


@pytest.mark.parametrize("part", ["d", "jm", "jl", "jo"])
def test_a_reduction_over_some_of_the_elements_is_something_else(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reduce_axis = te.reduce_axis
    monkeypatch.setattr(
        te, "reduce_axis", lambda dom, name: reduce_axis((0, dom[1] // 2) if name == part else dom, name=name)
    )
    out = Program(2, 64, 128, 64).tensors()[-1]
    assert "attention:" not in tw.auto_schedule(out, H200).explain()


@pytest.mark.parametrize(
    ("none", "is_found"), [("sum", True), ("maximum", True), ("place", False)], ids=["sum", "maximum", "another"]
)
def test_rows_that_count_as_zero(none: str, is_found: bool) -> None:
    out = Program(2, 64, 128, 64, finite=True, none=none).tensors()[-1]
    assert ("attention:" in tw.auto_schedule(out, H200).explain()) == is_found


@pytest.mark.parametrize(("keys", "is_listed"), [("bthd", True), ("bhdt", False)], ids=["in rows", "transposed"])
def test_lists_of_tiles_need_keys_in_rows(keys: str, is_listed: bool) -> None:
    """TMA would load transposed keys from places that are no multiples of 16 bytes, for all that is known of a list."""
    orders = ("bshd", keys, "bthc")
    inputs = [placeholder(name, order) for name, order in zip("qkv", orders, strict=True)]
    a, b, c = (reader(one, order) for one, order in zip(inputs, orders, strict=True))
    ids = te.placeholder((EXTENTS["t"],), "int32", name="ids")
    out = program(a, b, c, "bhst", "bshc", lambda i, j: te.all(j <= i, ids[i] == ids[j]))
    s = tw.auto_schedule(out, H200)
    assert "attention: out" in s.explain()
    assert ("is_listed" in s.explain()) == is_listed
    tw.build(s, [*inputs, ids, out], target=H200, name="attention")
