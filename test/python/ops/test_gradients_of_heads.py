"""The gradients of attention with slopes and sinks of heads, and with lengths of sequences, beside float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright import TilewrightError, ops

torch = pytest.importorskip("torch")

H200 = "sim -device=H200"
ALL = ("lengths", "slopes", "sinks")


def drawn(names: tuple[str, ...], sequences: int, heads: int, keys: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)
    every = {
        "lengths": rng.integers(keys // 2, keys, sequences).astype("int32"),
        "slopes": -(2.0 ** -np.arange(1, heads + 1)).astype("float32"),
        "sinks": rng.standard_normal(heads).astype("float32"),
    }
    return {name: every[name] for name in names}


def exact(
    operands: list[np.ndarray], head: np.ndarray, arrays: dict[str, np.ndarray], *, is_causal: bool, offset: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """The logarithms of sums, by 2, and the gradients, in float64."""
    q, k, v, *sinks = (
        torch.tensor(one.astype("float64"), requires_grad=True)
        for one in [*operands, *([arrays["sinks"]] if "sinks" in arrays else [])]
    )
    (batch, heads, queries, width), keys = q.shape, k.shape[-2]
    own_k, own_v = (one.repeat_interleave(heads // one.shape[1], 1) for one in (k, v))
    scores = q @ own_k.transpose(-1, -2) * width**-0.5
    ends = torch.tensor(arrays.get("lengths", np.full(batch, keys))).reshape(batch, 1, 1, 1)
    first = ends + offset - queries if "lengths" in arrays else offset
    i, j = torch.arange(queries)[:, None] + first, torch.arange(keys)
    if "slopes" in arrays:
        scores = scores + torch.tensor(arrays["slopes"].astype("float64"))[:, None, None] * (j - i)
    scores = torch.where((j < ends) & ((j <= i) | torch.tensor(not is_causal)), scores, -torch.inf)
    others = [one[:, None, None].expand(batch, heads, queries, 1) for one in sinks]
    logarithm = torch.logsumexp(torch.cat([scores, *others], -1), -1)
    finite = torch.where(torch.isinf(logarithm), 0.0, logarithm)
    result = torch.exp(scores - finite[..., None]) @ own_v
    wanted = torch.autograd.grad(result, [q, k, v, *sinks], torch.tensor(head.astype("float64")))
    return logarithm.detach().numpy() / np.log(2), [one.numpy() for one in wanted]


def check(
    names: tuple[str, ...], shape: tuple[int, ...], keys: tuple[int, int], target: str, *, is_causal: bool = False,
    offset: int = 0,
) -> None:  # fmt: skip
    """Of heads of queries, and of so many heads of so many keys."""
    rng = np.random.default_rng(0)
    q, head = rng.standard_normal((2, *shape)).astype("float16")
    k, v = rng.standard_normal((2, shape[0], *keys, shape[-1])).astype("float16")
    arrays = drawn(names, shape[0], shape[1], keys[1])
    options: dict[str, Any] = {"is_causal": is_causal, "offset": offset}
    logarithms, gradients = exact([q, k, v], head, arrays, **options)
    options |= {"enable_gqa": True, "target": target, **arrays}
    result, got = ops.attention_with_logarithms(q, k, v, **options)
    np.testing.assert_allclose(got, logarithms, atol=2e-6)
    both: dict[str, Any] = {"result": result, "logarithms": got}
    for known in ({}, {"result": result}, both, {**both, "deterministic": False}):
        made = ops.attention_gradients(head, q, k, v, **known, **options)
        for one, right in zip(made, gradients, strict=True):
            # Weights, gradients of scores and results are rounded to 11 bits once each.
            assert np.abs(one.astype("float64") - right).max() <= 3 * 2.0**-11 * np.abs(right).max()


@pytest.mark.sweep
def test_general_kernels() -> None:
    check(ALL, (2, 4, 6, 8), (2, 9), "cpu", is_causal=True, offset=1)


@pytest.mark.sweep
@pytest.mark.parametrize("name", ALL)
def test_general_kernels_of_one_kind(name: str) -> None:
    check((name,), (2, 4, 6, 8), (2, 9), "cpu")


@pytest.mark.sweep
@pytest.mark.parametrize("names", [("lengths",), ALL], ids=["lengths", "all"])
def test_kernels_of_tensor_cores(names: tuple[str, ...]) -> None:
    check(names, (1, 2, 70, 64), (1, 80), H200, is_causal=True, offset=3)


@pytest.mark.sweep
def test_rows_that_see_no_key_but_a_sink() -> None:
    check(("sinks",), (1, 2, 12, 8), (1, 14), "cpu", is_causal=True, offset=-5)


def test_kernels_of_tensor_cores_need_no_memory_for_scores() -> None:
    q, statistics = ops.Operand((2, 4, 4096, 128), "bfloat16"), ops.Operand((2, 4, 4096), "float32")
    arrays = {"lengths": ops.Operand((2,), "int32")} | {n: ops.Operand((4,), "float32") for n in ("slopes", "sinks")}
    for known in ({}, {"result": q, "logarithms": statistics}):
        s, args = ops.attention_gradients.schedule(q, q, q, q, **known, **arrays, target=H200)
        assert "dP" not in {stage.name for stage in s.stages}
        assert [tuple(one.shape) for one in args[-4:]] == [q.shape] * 3 + [(4,)]


def test_the_gradient_by_sinks_alone() -> None:
    q, k, v, head = np.random.default_rng(0).standard_normal((4, 1, 2, 6, 8)).astype("float32")
    arrays = drawn(("sinks",), 1, 2, 6)
    made = ops.attention_gradients(head, q, k, v, **arrays, wanted=("sinks",), target="cpu")
    _, gradients = exact([q, k, v], head, arrays, is_causal=False, offset=0)
    np.testing.assert_allclose(made, gradients[-1], atol=1e-5)


def test_sinks_that_are_much_larger_than_scores() -> None:
    q, k, v, head = np.random.default_rng(0).standard_normal((4, 1, 2, 6, 8)).astype("float32")
    arrays = {"sinks": np.array([300, -300], "float32")}
    logarithms, gradients = exact([q, k, v], head, arrays, is_causal=False, offset=0)
    result, got = ops.attention_with_logarithms(q, k, v, **arrays, target="cpu")
    np.testing.assert_allclose(got, logarithms, rtol=1e-6)
    for known in ({}, {"result": result, "logarithms": got}):
        for one, right in zip(ops.attention_gradients(head, q, k, v, **known, **arrays, target="cpu"), gradients):
            np.testing.assert_allclose(one, right, atol=1e-5)


def test_sinks_that_do_not_fit() -> None:
    x = np.zeros((1, 2, 3, 8), "float32")
    with pytest.raises(TilewrightError) as raised:
        ops.attention_gradients(x, x, x, x, sinks=np.zeros(3, "float32"))
    assert str(raised.value) == (
        "attention: expected q of at least 3 dimensions and a number for each of its heads as sinks, got shapes "
        "(1, 2, 3, 8) and (3,)"
    )
