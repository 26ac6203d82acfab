"""Gradients of attention of any shape, type and option, beside those that torch finds in float64."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import TilewrightError, ops, te, testing
from tilewright.runtime.ndarray import as_dtype
from tilewright.schedules import gradient_kernels
from tilewright.schedules.attention_backward import attention_gradients_of

from .test_attention import Case, stays

torch = pytest.importorskip("torch")
FEW, MANY = 10, 300


def attention(q: Any, k: Any, v: Any, mask: Any, options: dict[str, Any]) -> Any:
    if options.get("enable_gqa"):
        k, v = (one.repeat_interleave(q.shape[-3] // one.shape[-3], -3) for one in (k, v))
    scale = options.get("scale")
    scores = q @ k.transpose(-1, -2) * (max(q.shape[-1], 1) ** -0.5 if scale is None else scale)
    if softcap := options.get("softcap"):
        scores = softcap * torch.tanh(scores / softcap)
    if mask is not None:
        scores = scores.masked_fill(~mask, -np.inf) if mask.dtype == torch.bool else scores + mask
    i = torch.arange(q.shape[-2])[:, None] + options.get("offset", 0)
    j = torch.arange(k.shape[-2])
    before, behind = options.get("window") or (None, None)
    behind = 0 if options.get("is_causal") else behind
    seen = torch.ones(scores.shape[-2:], dtype=torch.bool)
    seen &= (j <= i + behind) if behind is not None else seen
    seen &= (j >= i - before) if before is not None else seen
    scores = scores.masked_fill(~seen, -np.inf)
    sees = (scores > -np.inf).any(-1, keepdim=True)
    return (torch.softmax(torch.where(sees, scores, 0.0), -1) * sees) @ v


def check(seed: int, target: str) -> None:
    case = Case(seed)
    arrays = [case.q, case.k, case.v, *([] if case.mask is None else [case.mask])]
    exact = [torch.tensor(np.asarray(one, one.dtype if one.dtype == bool else "float64")) for one in arrays]
    wanted = [one.requires_grad_() for one in exact if one.dtype != torch.bool]
    result = attention(*exact[:3], exact[3] if case.mask is not None else None, case.options)
    head = np.random.default_rng(seed).standard_normal(result.shape).astype(as_dtype(case.dtype))
    expected = torch.autograd.grad(result, wanted, torch.tensor(head.astype("float64")), allow_unused=True)
    given = [np.ascontiguousarray(one) for one in arrays]
    made = ops.attention_gradients(head, *given, target=target, **case.options)
    assert len(made) == len(wanted)
    kept, logarithms = ops.attention_with_logarithms(*given, target=target, **case.options)
    mask = [] if case.mask is None else given[3:]
    fewer = ops.attention_gradients(
        head, *given[:3], *mask, result=kept, logarithms=logarithms, target=target, **case.options
    )
    floats = [one for one in arrays if one.dtype != bool]
    largest = 1.0 + sum(float(np.abs(one.astype("float64")).max()) for one in floats if one.size)
    for got, right, of in zip((*made, *fewer), expected * 2, floats * 2, strict=True):
        assert (got.shape, got.dtype) == (of.shape, of.dtype)
        if got.size and right is not None:
            # What is rounded once is as large as what it is a sum of.
            unit = max(2.0**-18 if "float64" not in (case.dtype, str(of.dtype)) else 2.0**-45, *(
                testing.unit_roundoff(one) for one in (case.dtype, str(of.dtype))
            ))  # fmt: skip
            size = (largest + float(right.abs().max())) ** 2
            np.testing.assert_allclose(got.astype("float64"), right.numpy(), rtol=0, atol=unit * size)


def run(seeds: range, target: str) -> None:
    for seed in seeds:
        try:
            check(seed, target)
        except Exception as error:
            raise AssertionError(f"seed {seed}, {target}: {error}") from error


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("seed", range(FEW))
def test_any_gradients(seed: int, target: str) -> None:
    run(range(seed, seed + 1), target)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["sim -device=H200", "cpu"])
@pytest.mark.parametrize("first", range(0, MANY, 50))
def test_many_gradients(first: int, target: str) -> None:
    run(range(first + 1000, first + 1050), target)


def test_a_head_that_does_not_fit() -> None:
    x = np.zeros((4, 8), "float32")
    with pytest.raises(TilewrightError) as raised:
        ops.attention_gradients(x[:3], x, x, x)
    assert str(raised.value) == (
        "attention_gradients: expected a head of float32 and shape (4, 8), got float32 and (3, 8)"
    )


H200 = "sim -device=H200"


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("shapes", "options"),
    [
        ([(2, 70, 64), (2, 90, 64)], {}),
        ([(2, 2, 64, 64), (2, 1, 130, 64)], {"is_causal": True, "offset": 66, "enable_gqa": True}),
        ([(1, 100, 128), (1, 70, 128)], {"window": (30, 5), "offset": -40, "scale": 0.2}),
    ],
    ids=["extents that no tile divides", "causal, and heads that share keys", "a window, and rows that see nothing"],
)
def test_kernels_of_tensor_cores(shapes: list[tuple[int, ...]], options: dict[str, Any]):
    rng = np.random.default_rng(3)
    q, k, v, head = (rng.standard_normal(shapes[number]).astype("float16") for number in (0, 1, 1, 0))
    s, _ = ops.attention_gradients.schedule(head, q, k, v, target=H200, **options)
    assert "rolling_update" in str(s.trace())
    result = ops.attention(q, k, v, target=H200, **options)
    made = ops.attention_gradients(head, q, k, v, target=H200, **options)
    beside = ops.attention_gradients(head, q, k, v, result=result, target=H200, **options)
    both = dict(
        zip(("result", "logarithms"), ops.attention_with_logarithms(q, k, v, target=H200, **options), strict=True)
    )
    np.testing.assert_array_equal(both["result"], result)
    fewer = ops.attention_gradients(head, q, k, v, **both, target=H200, **options)
    s, _ = ops.attention_gradients.schedule(head, q, k, v, **both, target=H200, **options)
    assert "M" not in {stage.name for stage in s.stages}
    exact = [torch.tensor(one.astype("float64"), requires_grad=True) for one in (q, k, v)]
    expected = torch.autograd.grad(attention(*exact, None, options), exact, torch.tensor(head.astype("float64")))
    for got, right in zip((*made, *beside, *fewer), expected * 3, strict=True):
        # Weights, gradients of scores and results are rounded to 11 bits once each.
        difference = np.abs(got.astype("float64") - right.numpy())
        assert difference.max() <= 3 * 2.0**-11 * float(right.abs().max())


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("shapes", "options"),
    [
        ([(2, 70, 64), (2, 90, 64)], {}),
        ([(1, 1, 130, 128), (1, 1, 190, 128)], {"is_causal": True, "offset": 60}),
        ([(1, 100, 64), (1, 70, 64)], {"window": (30, 5), "offset": -40, "scale": 0.2}),
        ([(1, 70, 32), (1, 64, 32)], {}),
        ([(2, 70, 64), (1, 90, 64)], {"is_causal": True, "offset": 20, "enable_gqa": True}),
        ([(1, 64, 64), (1, 65, 64)], {"window": (10, 0), "offset": 20}),
        ([(1, 300, 64), (1, 200, 64)], {}),
    ],
    ids=[
        "extents that no tile divides",
        "causal",
        "a window, and rows that see nothing",
        "one warpgroup",
        "heads that share keys",
        "rows that only see keys behind the last",
        "several tiles of queries",
    ],
)
def test_five_matmuls_in_one_kernel(
    shapes: list[tuple[int, ...]], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(gradient_kernels, "_ADDED_WIDTHS", (32, 64, 128))
    rng = np.random.default_rng(4)
    q, k, v, head = (rng.standard_normal(shapes[number]).astype("float16") for number in (0, 1, 1, 0))
    result, logarithms = ops.attention_with_logarithms(q, k, v, target="cpu", **options)
    given: dict[str, Any] = {"result": result, "logarithms": logarithms, "target": H200, **options}
    s, _ = ops.attention_gradients.schedule(head, q, k, v, deterministic=False, **given)
    assert "reduce_add=True" in str(s.trace()) and 's[dQ_sums].copy_by("tma"' in str(s.trace())
    made = ops.attention_gradients(head, q, k, v, deterministic=False, **given)
    exact = [torch.tensor(one.astype("float64"), requires_grad=True) for one in (q, k, v)]
    expected = torch.autograd.grad(attention(*exact, None, options), exact, torch.tensor(head.astype("float64")))
    for got, right in zip(made, expected, strict=True):
        difference = np.abs(got.astype("float64") - right.numpy())
        assert difference.max() <= 3 * 2.0**-11 * float(right.abs().max())


def test_five_matmuls_where_they_are_faster():
    for width, is_causal, is_added in ((64, False, True), (64, True, True), (128, False, True), (128, True, True)):
        one, of_rows = ops.Operand((2, 4, 4096, width), "bfloat16"), ops.Operand((2, 4, 4096), "float32")
        s, _ = ops.attention_gradients.schedule(
            one, one, one, one, result=one, logarithms=of_rows, deterministic=False, is_causal=is_causal, target=H200
        )
        assert ("reduce_add=True" in str(s.trace())) == is_added


def stages(widths: tuple[int, int], mask: str | None = None, **options: Any) -> set[str]:
    """The names of the stages, where heads of queries and of values have such widths."""
    head, q, k, v = (ops.Operand((2, 4, 4096, widths[number]), "bfloat16") for number in (1, 0, 0, 1))
    masks = [] if mask is None else [ops.Operand((4096, 4096), mask)]
    s, _ = ops.attention_gradients.schedule(head, q, k, v, *masks, target=H200, **options)
    return {stage.name for stage in s.stages}


def test_they_need_no_memory_for_scores():
    for widths in ((64, 64), (128, 128), (192, 128), (256, 256), (72, 72)):
        assert "dP" not in stages(widths)
    for options in ({"softcap": 2.0}, {"scale": -1.0}, {"mask": "bool"}):
        assert "dP" not in stages((64, 64), **options)
    assert "dP" not in stages((64, 64), "float32")  # whose gradient is wanted
    assert "dP" not in stages((64, 64), "float32", wanted=("q", "k", "v"))


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("queries", "keys", "widths", "mask", "options"),
    [
        (70, 90, (64, 64), "bool", {"is_causal": True, "offset": 20}),
        (70, 64, (128, 128), "float32", {"window": (50, None), "softcap": 2.0}),
        pytest.param(64, 90, (64, 64), "float16", {"scale": -0.2}, marks=pytest.mark.sweep),
        pytest.param(64, 70, (96, 64), None, {"softcap": 1.5, "is_causal": True}, marks=pytest.mark.sweep),
        pytest.param(64, 64, (40, 72), "bool", {"scale": 0.3}, marks=pytest.mark.sweep),
    ],
    ids=["bools", "floats and a softcap", "negative scores", "widths of MLA", "widths of no whole tiles"],
)
@pytest.mark.parametrize("is_known", [False, True], ids=["alone", "with logarithms"])
def test_masks_and_widths(
    queries: int, keys: int, widths: tuple[int, int], mask: str | None, options: dict[str, Any], is_known: bool
):
    rng = np.random.default_rng(7)
    shapes = ((2, 2, queries, widths[1]), (2, 2, queries, widths[0]), (2, 1, keys, widths[0]), (2, 1, keys, widths[1]))
    head, *arrays = (rng.standard_normal(shape).astype("float16") for shape in shapes)
    masks = []
    if mask is not None:
        drawn = rng.standard_normal((2, 1, queries, keys))
        drawn[1, 0, 5] = -np.inf  # a query that sees no key
        masks = [drawn > 0 if mask == "bool" else drawn.astype(mask)]
    given: dict[str, Any] = {"wanted": ("q", "k", "v"), "enable_gqa": True, "target": H200, **options}
    if is_known:
        both = ops.attention_with_logarithms(*arrays, *masks, enable_gqa=True, target=H200, **options)
        given |= zip(("result", "logarithms"), both, strict=True)
    s, _ = ops.attention_gradients.schedule(head, *arrays, *masks, **given)
    assert "dP" not in {stage.name for stage in s.stages}
    made = ops.attention_gradients(head, *arrays, *masks, **given)
    exact = [torch.tensor(one.astype("float64"), requires_grad=True) for one in arrays]
    seen = torch.tensor(masks[0] if mask == "bool" else masks[0].astype("float64")) if mask is not None else None
    result = attention(*exact, seen, {"enable_gqa": True, **options})
    expected = torch.autograd.grad(result, exact, torch.tensor(head.astype("float64")))
    for got, right in zip(made, expected, strict=True):
        # Weights, gradients of scores and results are rounded to 11 bits once each.
        difference = np.abs(got.astype("float64") - right.numpy())
        assert difference.max() <= 3 * 2.0**-11 * float(right.abs().max())


@pytest.mark.sweep
@pytest.mark.parametrize("target", [H200, "cpu"])
def test_some_of_the_gradients(target: str):
    rng = np.random.default_rng(8)
    q, k, v, head = (rng.standard_normal((1, 64, 64)).astype("float16") for _ in range(4))
    every = dict(zip("qkv", ops.attention_gradients(head, q, k, v, target=target), strict=True))
    for wanted in ("q", "v", "k", "qk"):
        made = ops.attention_gradients(head, q, k, v, wanted=tuple(wanted), target=target)
        for name, got in zip(wanted, made if len(wanted) > 1 else [made], strict=True):
            # The sums of a row may be rounded in another order.
            np.testing.assert_allclose(got, every[name], rtol=0, atol=2.0**-11 * float(np.abs(every[name]).max()))


@pytest.mark.parametrize("wanted", [(), ("mask",), ("q", "head")])
def test_gradients_that_are_none(wanted: tuple[str, ...]):
    x = np.zeros((4, 8), "float32")
    with pytest.raises(TilewrightError) as raised:
        ops.attention_gradients(x, x, x, x, wanted=wanted)
    assert str(raised.value) == f"attention_gradients: expected wanted of one or more of q, k, v, got {wanted}"


@pytest.mark.sweep
@pytest.mark.parametrize("target", [H200, "cpu"])
def test_dropout(target: str):
    rng = np.random.default_rng(3)
    q, k, v, head = (rng.standard_normal((2, 64, 64)).astype("float16") for _ in range(4))
    made = ops.attention_gradients(head, q, k, v, seed=np.array(9, "int32"), dropout_p=0.5, target=target)
    exact = [torch.tensor(one.astype("float64"), requires_grad=True) for one in (q, k, v)]
    weights = torch.softmax(exact[0] @ exact[1].transpose(1, 2) / 8, -1)
    result = weights * torch.tensor(stays(9, 2, 64, 64, 0.5) / 0.5) @ exact[2]
    expected = torch.autograd.grad(result, exact, torch.tensor(head.astype("float64")))
    dropped: dict[str, Any] = {"seed": np.array(9, "int32"), "dropout_p": 0.5, "target": target}
    kept, logarithms = ops.attention_with_logarithms(q, k, v, **dropped)
    fewer = ops.attention_gradients(head, q, k, v, result=kept, logarithms=logarithms, **dropped)
    for got, right in zip((*made, *fewer), expected * 2, strict=True):
        difference = np.abs(got.astype("float64") - right.numpy())
        assert difference.max() <= 3 * 2.0**-11 * float(right.abs().max())


def test_a_result_that_does_not_fit():
    q = np.zeros((2, 3, 8), "float32")
    with pytest.raises(TilewrightError) as raised:
        ops.attention_gradients(q, q, q, q, result=np.zeros((2, 3, 4), "float32"))
    assert str(raised.value) == (
        "attention_gradients: expected a result of float32 and shape (2, 3, 8), got float32 and (2, 3, 4)"
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"logarithms": ((2, 3), "float32")}, "expected the result beside the logarithms, got none"),
        (
            {"result": ((2, 3, 8), "float16"), "logarithms": ((2, 4), "float64")},
            "expected logarithms of float32 and shape (2, 3), got float64 and (2, 4)",
        ),
    ],
)
def test_logarithms_that_do_not_fit(given: dict[str, tuple[tuple[int, ...], str]], message: str):
    q = np.zeros((2, 3, 8), "float16")
    arrays = {name: np.zeros(shape, dtype) for name, (shape, dtype) in given.items()}
    with pytest.raises(TilewrightError) as raised:
        ops.attention_gradients(q, q, q, q, **arrays)
    assert str(raised.value) == f"attention_gradients: {message}"


@pytest.mark.sweep
@pytest.mark.parametrize("softcap", [None, 2.0])
@pytest.mark.parametrize(("width", "queries"), [(64, 130), (40, 130), (64, 1)])
def test_logarithms_of_sums(width: int, queries: int, softcap: float | None):
    rng = np.random.default_rng(5)
    q, k, v = (rng.standard_normal((3, rows, width)).astype("float16") for rows in (queries, 200, 200))
    options: dict[str, Any] = {"window": (20, 5), "offset": 100, "softcap": softcap, "target": H200}
    s, _ = ops.attention_with_logarithms.schedule(q, k, v, **options)
    assert "rolling_update" in str(s.trace())
    result, logarithms = ops.attention_with_logarithms(q, k, v, **options)
    np.testing.assert_allclose(
        result.astype("float32"), ops.attention(q, k, v, **options).astype("float32"), atol=2.0**-10
    )
    scores = q.astype("float64") @ k.astype("float64").transpose(0, 2, 1) * width**-0.5
    scores = scores if softcap is None else softcap * np.tanh(scores / softcap)
    i, j = np.arange(queries)[:, None] + 100, np.arange(200)
    scores = np.where((j >= i - 20) & (j <= i + 5), scores, -np.inf)
    with np.errstate(divide="ignore"):
        expected = np.log2(np.exp(scores).sum(-1))
    assert (np.isneginf(expected) == (i.T >= 220)).all()
    # A soft cap has a fast tanh.
    np.testing.assert_allclose(logarithms, expected, atol=2e-6 if softcap is None else 2e-3)


@pytest.mark.sweep
@pytest.mark.parametrize("width", [128, 72])
def test_products_of_a_row_are_of_vectors_where_these_divide_it(width: int):
    one, of_rows = ops.Operand((4, 256, width), "bfloat16"), ops.Operand((4, 256), "float32")
    s, tensors = ops.attention_gradients.schedule(
        one, one, one, one, result=one, logarithms=of_rows, target="cuda -arch=sm_90a"
    )
    ptx = tw.build(s, tensors, target="cuda -arch=sm_90a", name="gradients").ptx
    products = ptx[ptx.index(".entry gradients_kernel0") :].split(".entry")[1]
    assert ("ld.global.nc.v4" in products) == (width == 128)


@pytest.mark.sweep
@pytest.mark.parametrize(("width", "is_causal"), [(128, False), (128, True), (64, False)])
def test_sums_of_five_matmuls_stay_in_registers(width: int, is_causal: bool):
    """All statistics of rows have one address, in both copies of the map that a causal mask makes."""
    head, q, k, v, result = (ops.Operand((8, 1024, width), "bfloat16") for _ in range(5))
    s, tensors = ops.attention_gradients.schedule(
        head, q, k, v, result=result, logarithms=ops.Operand((8, 1024), "float32"), is_causal=is_causal,
        deterministic=False, target="cuda -arch=sm_90a",
    )  # fmt: skip
    built = tw.build(s, tensors, target="cuda -arch=sm_90a", name="gradients")
    kernels = built.report().kernels
    assert not any(kernel.notes or kernel.spills for kernel in kernels)
    assert "ld.global.nc.b32" not in built.ptx  # two neighbours are loaded at once
    bases = {*re.findall(r"ld\.global\.nc\.v2\.b32.*\[(%rd\d+)", built.ptx)}
    assert len(bases) == 2  # logarithms, and products


@pytest.mark.sweep
def test_two_blocks_share_the_registers_of_an_sm():
    one = [te.placeholder((8, 1024, 64), "bfloat16", name=name) for name in ("head", "Q", "K", "V", "result")]
    logarithms = te.placeholder((8, 1024), "float32", name="logarithms")
    s, tensors = attention_gradients_of(
        *one[:4], behind=0, result=one[4], logarithms=logarithms, tiles=((64, 64),) * 3, adds=True, registers=(24, 232)
    )
    built = tw.build(s, tensors, target="cuda -arch=sm_90a", name="gradients")
    assert ".minnctapersm 2" in built.ptx
    assert not any(kernel.notes or kernel.spills for kernel in built.report().kernels)
    assert any("on an SM 2 blocks" in str(kernel) for kernel in built.report().kernels)
