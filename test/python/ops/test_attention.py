"""Attention of any shape, type and option, beside float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import TilewrightError, ops, testing
from tilewright.ops.attention import once
from tilewright.ops.layouts import operand_of
from tilewright.runtime.ndarray import as_dtype

from .test_random_operations import Draw

FLOATS = ("float16", "bfloat16", "float32", "float64")
FEW, MANY = 40, 1000


def expected(q: Any, k: Any, v: Any, mask: Any = None, **options: Any) -> tuple[Any, Any]:
    """In float64: the result, and the sum of the magnitudes that it is made of."""
    q, k, v = (np.asarray(one, "float64") for one in (q, k, v))
    if options.get("enable_gqa"):
        k, v = (np.repeat(one, q.shape[-3] // one.shape[-3], -3) for one in (k, v))
    scale, offset = options.get("scale"), options.get("offset", 0)
    if scale is None:
        scale = max(q.shape[-1], 1) ** -0.5
    scores = q @ k.swapaxes(-1, -2) * scale
    if softcap := options.get("softcap"):
        scores = softcap * np.tanh(scores / softcap)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask.astype("float64")
    i, j = np.arange(q.shape[-2])[:, None] + offset, np.arange(k.shape[-2])
    before, behind = options.get("window") or (None, None)
    behind = 0 if options.get("is_causal") else behind
    seen = np.ones((q.shape[-2], k.shape[-2]), bool)
    seen &= (j <= i + behind) if behind is not None else True
    seen &= (j >= i - before) if before is not None else True
    scores = np.where(seen, scores, -np.inf)
    largest = scores.max(-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(largest == -np.inf, 0, largest))
    total = weights.sum(-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return weights @ v, weights @ np.abs(v)


class Case:
    """Operands and options of a seed."""

    def __init__(self, seed: int) -> None:
        self.d = d = Draw(seed)
        self.dtype = d.of(*FLOATS)
        rank, extent = d.number(2, 5), lambda most: d.of(d.number(0, 3), d.number(1, most), d.number(1, most))
        queries, keys, width, columns = (extent(most) for most in (24, 40, 24, 24))
        heads, groups = d.number(1, 3), d.of(1, 1, 2, 3)
        lead = tuple(d.number(1, 3) for _ in range(rank - 3))
        self.options: dict[str, Any] = {}
        if rank > 2 and groups > 1:
            self.options["enable_gqa"] = True
        else:
            groups = 1

        def one(heads: int, rows: int, columns: int) -> Any:
            """Of which an extent may be broadcast, and whose axes may lie in any order."""
            some = tuple(d.of(n, n, n, 1) for n in lead) + ((heads,) if rank > 2 else ())
            shape = (*some, rows, columns)
            order = [int(axis) for axis in d.rng.permutation(len(shape) - 1)] if d.number(0, 1) else range(rank - 1)
            array = d.rng.standard_normal([shape[axis] for axis in order] + [columns]).astype(as_dtype(self.dtype))
            return array.transpose([*np.argsort(list(order)), rank - 1])

        self.q = one(heads * groups, queries, width)
        self.k, self.v = one(heads, keys, width), one(heads, keys, columns)
        whole = np.broadcast_shapes(*(x.shape[:-3] for x in (self.q, self.k, self.v)))
        whole += ((heads * groups,) if rank > 2 else ()) + (queries, keys)
        self.mask = None
        kind = d.of(None, None, "bool", "float32", self.dtype)
        if kind is not None:
            shape = tuple(d.of(n, n, 1) for n in whole)[d.number(0, rank - 2) :]
            self.mask = d.rng.standard_normal(shape)
            self.mask = self.mask > 0 if kind == "bool" else self.mask.astype(as_dtype(kind))
        if d.number(0, 2) == 0:
            self.options["is_causal"] = True
        if d.number(0, 2) == 0:
            self.options["window"] = d.of((3, 0), (0, 2), (None, 4), (2, None), (0, 0))
        if d.number(0, 2) == 0:
            self.options["offset"] = d.of(keys - queries, -2, 1)
        if d.number(0, 2) == 0:
            self.options["softcap"] = d.of(0.5, 2.0)
        if d.number(0, 2) == 0:
            self.options["scale"] = d.of(1.0, 0.0, -0.5)

    def check(self, target: str) -> None:
        exact, magnitude = expected(self.q, self.k, self.v, self.mask, **self.options)
        arrays = (self.q, self.k, self.v) if self.mask is None else (self.q, self.k, self.v, self.mask)
        got = ops.attention(*arrays, target=target, **self.options)
        assert (got.shape, got.dtype) == (exact.shape, self.q.dtype)
        if got.size:
            # The weights and the result are rounded once each; scores are off by rounding in float32.
            unit = testing.unit_roundoff(got.dtype)
            accumulated = 2.0**-50 if self.dtype == "float64" else 2.0**-18
            testing.assert_within(got, exact, unit * (magnitude + np.abs(exact)) + accumulated * (magnitude + 1))


def run(seeds: range, target: str) -> None:
    for seed in seeds:
        try:
            Case(seed).check(target)
        except Exception as error:
            raise AssertionError(f"seed {seed}, {target}: {error}") from error


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("first", range(0, FEW, 5))
def test_any_attention(first: int, target: str) -> None:
    run(range(first, first + 5), target)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sim -arch=sm_75", "sim -arch=sm_80", "sim -device=H200", "cpu"])
@pytest.mark.parametrize("first", range(0, MANY, 100))
def test_many_attentions(first: int, target: str) -> None:
    run(range(first + 1000, first + 1100), target)


def test_rows_that_see_no_key_are_zero() -> None:
    q, k, v = np.random.default_rng(0).standard_normal((3, 2, 5, 4)).astype("float32")
    mask = np.ones((5, 5), bool)
    mask[2] = False
    got = ops.attention(q, k, v, mask)
    assert (got[:, 2] == 0).all()
    assert np.isfinite(got).all()
    assert (ops.attention(q, k, v, is_causal=True, offset=-5) == 0).all()
    assert (ops.attention(q, k[:, :0], v[:, :0]) == 0).all()


def test_views_are_read_as_they_lie() -> None:
    packed = np.random.default_rng(0).standard_normal((2, 7, 3, 4, 8)).astype("float32")  # b, s, q k v, h, d
    q, k, v = (packed[:, :, number].swapaxes(1, 2) for number in range(3))
    got = ops.attention(q, k, v)
    np.testing.assert_allclose(got, expected(q, k, v)[0], atol=1e-5)
    assert got.swapaxes(1, 2).flags.c_contiguous
    out = np.full((2, 4, 7, 16), np.nan, "float32")
    ops.attention(q, k, v, out=out[..., 4:12])
    assert (out[..., 4:12] == got).all()
    assert np.isnan(out[..., :4]).all()
    assert np.isnan(out[..., 12:]).all()


@pytest.mark.parametrize(
    ("shapes", "options", "message"),
    [
        ([(1, 4, 8), (1, 4, 9), (1, 4, 8)], {}, "attention: expected q and k of one width, got shapes (1, 4, 8), (1, 4, 9) and (1, 4, 8)"),
        ([(4, 8), (4, 8), (5, 8)], {}, "attention: expected as many keys as values, got shapes (4, 8), (4, 8) and (5, 8)"),
        ([(4, 8), (1, 4, 8), (4, 8)], {}, "attention: expected q, k and v of one number of dimensions, at least 2, got shapes (4, 8), (1, 4, 8) and (4, 8)"),
        ([(4, 4, 8), (2, 4, 8), (2, 4, 8)], {}, "attention: expected extents before the last two that fit (enable_gqa=True is for heads of q that share one of k and v), got shapes (4, 4, 8), (2, 4, 8) and (2, 4, 8)"),
        ([(4, 4, 8), (3, 4, 8), (3, 4, 8)], {"enable_gqa": True}, "attention: expected extents before the last two that fit, got shapes (4, 4, 8), (3, 4, 8) and (3, 4, 8)"),
        ([(4, 8), (5, 8), (5, 8), (4, 4)], {}, "attention: expected a mask that is broadcast to (4, 5), got shape (4, 4)"),
        ([(4, 8)] * 3, {"window": (1, -2)}, "attention: expected a window of two numbers of at least 0, or None, got (1, -2)"),
        ([(4, 8)] * 3, {"softcap": 0.0}, "attention: expected a positive softcap, got 0.0"),
        ([(4, 8)] * 3, {"scale": float("inf")}, "attention: expected a finite scale, got inf"),
    ],
)  # fmt: skip
def test_what_does_not_fit(shapes: list[tuple[int, ...]], options: dict[str, Any], message: str) -> None:
    with pytest.raises(TilewrightError) as raised:
        ops.attention(*(np.zeros(shape, "float32") for shape in shapes), **options)
    assert str(raised.value) == message


def test_types_that_do_not_fit() -> None:
    x = np.zeros((4, 8), "float32")
    with pytest.raises(TilewrightError) as raised:
        ops.attention(x, x.astype("float16"), x)
    assert str(raised.value) == "attention: expected q, k and v of one type, got float32, float16 and float32"
    with pytest.raises(TilewrightError) as raised:
        ops.attention(x, x, x, np.zeros((4, 4), "int32"))
    assert str(raised.value) == "attention: expected a mask of bool, float16, bfloat16, float32, float64, got int32"


def test_torch_tensors_and_the_meaning_of_torch() -> None:
    torch = pytest.importorskip("torch")
    q, k, v = torch.randn(3, 2, 6, 4, 8, dtype=torch.bfloat16).transpose(2, 3)
    for options in ({}, {"is_causal": True}, {"scale": 0.3}):
        got = ops.attention(q, k, v, **options)
        exact = torch.nn.functional.scaled_dot_product_attention(q.double(), k.double(), v.double(), **options)
        assert got.stride() == q.stride()
        assert (got.double() - exact).abs().max() < 2.0**-6


@pytest.mark.sample(1)
@pytest.mark.parametrize("options", [{}, {"is_causal": True}, {"window": (30, 0)}], ids=["full", "causal", "window"])
def test_one_kernel_of_warpgroups(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    q = rng.standard_normal((1, 100, 4, 64)).astype("float16").swapaxes(1, 2)
    k, v = rng.standard_normal((2, 1, 100, 2, 64)).astype("float16").swapaxes(2, 3)
    s, _ = ops.attention.schedule(q, k, v, enable_gqa=True, target="sim -device=H200", **options)
    assert "by tma" in str(s)
    got = ops.attention(q, k, v, enable_gqa=True, target="sim -device=H200", **options)
    exact, magnitude = expected(q, k, v, enable_gqa=True, **options)
    testing.assert_within(got, exact, 2.0**-11 * (magnitude + np.abs(exact)) + 2.0**-18)
    assert got.strides == q.strides


@pytest.mark.sample(1)
@pytest.mark.parametrize("lead", [(), (1,)])
def test_keys_of_one_query_are_split(lead: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    q = rng.standard_normal((*lead, 8, 1, 64)).astype("float16")
    k, v = rng.standard_normal((2, *lead, 2, 900, 64)).astype("float16")
    options: dict[str, Any] = {"enable_gqa": True, "is_causal": True, "offset": 800}
    s, _ = ops.attention.schedule(q, k, v, target="sim -device=H200", **options)
    assert "O.parts" in str(s)
    got = ops.attention(q, k, v, target="sim -device=H200", **options)
    exact, magnitude = expected(q, k, v, **options)
    testing.assert_within(got, exact, 2.0**-11 * (magnitude + np.abs(exact)) + 2.0**-18)


def stays(seed: int, heads: int, queries: int, keys: int, p: float) -> Any:
    """Which weights dropout leaves."""

    def hashed(x: Any) -> Any:
        for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
            x = (x ^ (x >> np.uint32(shift))) * np.uint32(factor)
        return x ^ (x >> np.uint32(16))

    rows = np.arange(heads * queries, dtype="uint32").reshape(heads, queries, 1)
    of_rows = hashed(rows + hashed(np.array([seed], "int32").view("uint32")))
    return hashed(np.arange(keys, dtype="uint32") ^ of_rows) >= np.uint32(round(p * 2**32))


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", ["sim -device=H200", "sim -arch=sm_80", "cpu"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_dropout(target: str, dtype: str):
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((2, rows, 64)).astype(dtype) for rows in (70, 90, 90))
    left = stays(-5, 2, 70, 90, 0.25)
    assert 0.73 < left.mean() < 0.77
    weights, _ = expected(q, k, np.broadcast_to(np.eye(90), (2, 90, 90)), is_causal=True)
    got = ops.attention(q, k, v, seed=np.array(-5, "int32"), dropout_p=0.25, is_causal=True, target=target)
    np.testing.assert_allclose(
        got, weights * left / 0.75 @ v.astype("float64"), atol=2e-3 if dtype == "float16" else 1e-5
    )


@pytest.mark.parametrize(
    ("seed", "p", "message"),
    [
        (None, 1.0, "attention: expected a dropout_p from 0 to less than 1, got 1.0"),
        (None, 0.5, "attention: expected a seed, which says what a dropout_p of 0.5 drops, got none"),
        (np.zeros(1, "int32"), 0.5, "attention: expected a seed of int32 and shape (), got int32 and (1,)"),
    ],
)
def test_dropout_that_has_no_meaning(seed: Any, p: float, message: str):
    q = np.zeros((2, 3, 8), "float32")
    with pytest.raises(TilewrightError) as raised:
        ops.attention(q, q, q, dropout_p=p, **({} if seed is None else {"seed": seed}))
    assert str(raised.value) == message


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["bool", "float32"])
def test_a_row_that_a_mask_leaves_empty_is_zero(kind: str):
    q, k, v = np.random.default_rng(0).standard_normal((3, 2, 70, 64)).astype("float16")
    seen = np.ones((70, 70), bool)
    seen[5] = False
    mask = seen if kind == "bool" else np.where(seen, np.float32(0), np.float32(-np.inf))
    made = ops.attention(q, k, v, mask, target="sim -device=H200")
    exact, _ = expected(q, k, v)
    assert not made[:, 5].any()
    np.testing.assert_allclose(np.delete(made, 5, 1), np.delete(exact, 5, 1), atol=2e-3)


@pytest.mark.parametrize("shapes", [((2, 0, 64), (2, 70, 64)), ((2, 70, 64), (2, 0, 64)), ((0, 70, 64), (0, 70, 64))])
def test_extents_of_zero(shapes: tuple[tuple[int, ...], tuple[int, ...]]):
    q, k = (np.ones(shape, "float16") for shape in shapes)
    made = ops.attention(q, k, k.copy(), target="sim -device=H200")
    assert made.shape == q.shape and not made.any()
    for gradient, of in zip(ops.attention_gradients(q, q, k, k.copy(), target="sim -device=H200"), (q, k, k)):
        assert gradient.shape == of.shape and not gradient.any()


def test_rows_that_tma_cannot_step_over():
    q = np.random.default_rng(0).standard_normal((2, 70, 68)).astype("float16")[..., :64]
    operand = ops.Operand(q.shape, "float16", (70 * 68, 68, 1))
    s, _ = ops.attention.schedule(operand, operand, operand, target="sim -device=H200")
    assert "tma" not in str(s)
    made = ops.attention(q, q.copy(), q.copy(), target="sim -device=H200")
    exact, _ = expected(q, q, q)
    np.testing.assert_allclose(made, exact, atol=2e-3)


def test_blocks_stay_for_short_causal_sequences():
    def is_staying(keys: int, **options: Any) -> bool:
        operand = ops.Operand((16, 16, keys, 64), "bfloat16")
        s, _ = ops.attention.schedule(operand, operand, operand, target="sim -device=H200", **options)
        return "persistent" in str(s.trace())

    assert is_staying(1024, is_causal=True)
    assert not any((is_staying(1024), is_staying(4096, is_causal=True), is_staying(1024, is_causal=True, offset=-64)))


def test_what_is_expanded_is_read_once() -> None:
    rng = np.random.default_rng(0)
    q = rng.standard_normal((2, 2, 70, 64)).astype("float16")
    k, v = (np.broadcast_to(rng.standard_normal((2, 1, 70, 64)).astype("float16"), q.shape) for _ in range(2))
    mask = np.broadcast_to(rng.standard_normal((1, 1, 1, 70)) > 0, (2, 2, 70, 70))
    fewer = once({"q": q, "k": k, "v": v, "mask": mask})
    assert [one.shape for one in fewer.values()] == [(2, 2, 70, 64), (2, 1, 70, 64), (2, 1, 70, 64), (1, 1, 1, 70)]
    operands = [operand_of(one, name) for name, one in fewer.items()]
    assert "by tma" in str(ops.attention.schedule(*operands, target="sim -device=H200")[0])
    got = ops.attention(q, k, v, mask, target="sim -device=H200")
    exact, magnitude = expected(q, k, v, mask)
    testing.assert_within(got, exact, 2.0**-11 * (magnitude + np.abs(exact)) + 2.0**-18)
    # Pages are what their numbers say.
    paged = {"q": q, "k": k, "v": v, "pages": np.zeros((2, 1), "int32")}
    assert once(paged) is paged


@pytest.mark.sweep
def test_logarithms_and_values_of_split_keys_are_loaded_once():
    q, k = ops.Operand((1, 32, 1, 128), "bfloat16"), ops.Operand((1, 8, 8192, 128), "bfloat16")
    s, tensors = ops.attention.schedule(q, k, k, enable_gqa=True, target="cuda -arch=sm_90a")
    ptx = tw.build(s, tensors, target="cuda -arch=sm_90a", name="attention").ptx
    assert ptx[ptx.rindex(".entry") :].count("ld.global") == 2 * 16
