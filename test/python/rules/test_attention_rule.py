"""Attention that a user writes as stages of te: `auto_schedule` makes one kernel of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from attention_program import H200, Program
from tilewright import te


def check(program: Program, exact: Callable[[np.ndarray], np.ndarray], *others: tuple[te.Tensor, np.ndarray]) -> None:
    q, k, v, out = program.tensors()
    s = tw.auto_schedule(out, H200)
    assert "attention: out" in s.explain()
    assert str(s.trace()).count("rolling_update") == 2
    function = tw.build(s, [q, k, v, *(tensor for tensor, _ in others), out], target=H200, name="attention")
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal([int(n) for n in one.shape]).astype(program.dtype) for one in (q, k, v)]
    made = np.full(arrays[0].shape, np.nan, program.dtype)
    function(*arrays, *(array for _, array in others), made)
    a, b, c = (one.astype("float64") for one in arrays)
    b, c = (np.repeat(one, program.shared, 0) for one in (b, c))
    scores = exact(a @ b.swapaxes(1, 2) * program.width**-0.5)
    largest = scores.max(-1, keepdims=True)
    weights = np.exp(scores - np.where(largest == -np.inf, 0, largest))
    total = weights.sum(-1, keepdims=True)
    expected = weights @ c / np.where(total == 0, 1, total)
    assert np.abs(made - expected).max() <= 2 * 2.0**-11 * np.abs(c).max()


@pytest.mark.parametrize("divided", ["before", "after", "by one over it"])
def test_a_softmax_between_two_matmuls(divided: str) -> None:
    check(Program(2, 64, 128, 64, divided=divided), lambda x: x)


def test_a_mask_heads_that_share_keys_and_extents_that_no_tile_divides() -> None:
    def masked(b: Any, i: Any, j: Any, value: Any) -> Any:
        return te.if_then_else(j <= i - 20, value, float("-inf"))

    seen = np.arange(90) <= np.arange(70)[:, None] - 20
    check(Program(4, 70, 90, 64, shared=2, change=masked, finite=True), lambda x: np.where(seen, x, -np.inf))


@pytest.mark.sweep
def test_a_bias_that_is_read() -> None:
    bias, numbers = te.placeholder((70, 90), name="bias"), np.random.default_rng(5).standard_normal((70, 90))
    check(
        Program(1, 70, 90, 64, change=lambda b, i, j, value: te.tanh(value) * 2.0 + bias[i, j]),
        lambda x: np.tanh(x) * 2.0 + numbers.astype("float32"),
        (bias, numbers.astype("float32")),
    )


def causal(b: Any, i: Any, j: Any, value: Any) -> Any:
    return te.if_then_else(j <= i, value, float("-inf"))


def test_tiles_behind_the_diagonal_are_not_visited() -> None:
    q, k, v, out = Program(1, 128, 256, 64, change=causal).tensors()
    function = tw.build(tw.auto_schedule(out, H200), [q, k, v, out], target=H200, name="attention")
    arrays = [np.ones([int(n) for n in one.shape], "float16") for one in (q, k, v)]
    arrays[1][:, 128:] = arrays[2][:, 128:] = np.nan
    made = np.full((1, 128, 64), np.nan, "float16")
    function(*arrays, made)
    assert (made == 1).all()


@pytest.mark.sweep
def test_the_assembler_has_nothing_to_say() -> None:
    q, k, v, out = Program(8, 1024, 1024, 128, change=causal, dtype="bfloat16").tensors()
    s = tw.auto_schedule(out, "cuda -device=H200")
    for kernel in tw.build(s, [q, k, v, out], target="cuda -device=H200", name="attention").report().kernels:
        assert not kernel.notes and not kernel.spills and not kernel.mismatches, str(kernel)


def test_settings() -> None:
    out = Program(2, 256, 256, 64).tensors()[-1]
    s = tw.auto_schedule(out, H200, settings={"out": {"tile": (64, 64)}})
    assert "tile=(64, 64)" in s.explain()
    assert s.plan is not None and len(list(s.plan.neighbours())) == 3


@pytest.mark.parametrize(
    "program",
    [
        Program(2, 64, 128, 64, rounded=False),
        Program(2, 64, 128, 36),
    ],
    ids=["weights that are not rounded", "rows that TMA cannot step over"],
)
def test_what_is_left_to_other_rules(program: Program) -> None:
    out = program.tensors()[-1]
    assert "attention:" not in tw.auto_schedule(out, H200).explain()
    assert "attention:" not in tw.auto_schedule(out, "cuda -arch=sm_80").explain()


def test_what_follows_the_division_is_left_to_other_rules() -> None:
    out, x = Program(2, 64, 128, 64).tensors()[-1], te.placeholder((2, 64), "float16", name="x")
    scaled = te.compute(out.shape, lambda b, i, c: out[b, i, c] * x[b, i], name="scaled")
    assert "attention:" not in tw.auto_schedule(scaled, H200).explain()


def test_a_chain_of_stages_is_not_inlined_to_see_that_it_is_none() -> None:
    """Each stage reads the one before four times: inlined, twenty stages would be 4 to the power of 20 reads."""
    made = te.placeholder((64,), name="X")
    for step in range(20):
        previous = made
        made = te.compute(
            (64,),
            lambda i, A=previous, h=step + 1: A[i] + A[(i + h) % 64] * A[(i + 2 * h) % 64] - A[(i + 3 * h) % 64],
            name=f"stage{step}",
        )
    s = tw.auto_schedule(made, "cuda -arch=sm_90a")
    assert "elementwise: stage19" in s.explain()
