"""Plans: what was decided is told, can be enumerated and changed, and takes little time."""

from __future__ import annotations

import sys
from typing import Any

import pytest

import tilewright as tw
from tilewright import te


def layer(dtype: str = "float32") -> te.Tensor:
    """Three stages: a product, its bias and an activation."""
    A, B = te.placeholder((512, 256), dtype, name="A"), te.placeholder((256, 384), dtype, name="B")
    bias = te.placeholder((384,), dtype)
    k = te.reduce_axis((0, 256), "k")
    C = te.compute((512, 384), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    D = te.compute((512, 384), lambda i, j: C[i, j] + bias[j], name="D")
    return te.compute((512, 384), lambda i, j: te.max(D[i, j], 0.0), name="E")


def test_explain() -> None:
    assert tw.auto_schedule(layer(), "cuda -device=a100").explain() == (
        "scheduled by rules for cuda -arch=sm_80 -device=a100, NVIDIA A100-SXM4-80GB\n"
        "  tiles of vectors: E, C, D: 512 rows, 384 columns, K 256, in float32 (tiles=((32, 64), 4, 32, 1))"
    )
    assert tw.auto_schedule(layer(), "cpu").explain() == (
        "scheduled by rules for cpu\n"
        "  packed tiles: E, C, D: 512 rows, 384 columns, K 256, in float32 (tile=(8, 32), blocks=4)"
    )


def test_a_schedule_of_the_users_explains_axes_alone() -> None:
    s = te.create_schedule(layer().op)
    with pytest.raises(tw.TilewrightError) as caught:
        s.explain()
    text = str(caught.value)
    assert text.endswith(": explain: expected an axis, of a schedule that tw.auto_schedule did not make")
    assert "test_plan.py:" in text


def test_long_rows() -> None:
    """A cheap map that two kernels read is computed in both; loads need no predicates but in the last turn of blocks."""
    X, j, k = te.placeholder((4, 100_001), name="X"), *(te.reduce_axis((0, 100_001), name) for name in "jk")
    mean = te.compute((4,), lambda i: te.sum(X[i, j], axis=j), name="mean")
    centred = te.compute((4, 100_001), lambda i, j: X[i, j] - mean[i], name="centred")
    Y = te.compute((4,), lambda i: te.sum(centred[i, k] * centred[i, k], axis=k), name="Y")
    Z = te.compute((4, 100_001), lambda i, j: centred[i, j] * Y[i], name="Z")
    s = tw.auto_schedule(Z, "cuda -device=H200")
    assert s.plan is not None
    assert [one.rule for one in s.plan] == ["reduction in parts", "reduction in parts", "elementwise"]
    assert [one.stages for one in s.plan] == [("mean",), ("Y", "centred"), ("Z", "centred")]
    lines = [line.strip() for line in str(s).splitlines() if "mean.rf.acc[0] +=" in line]
    assert lines == [
        "mean.rf.acc[0] += X[i, j.inner.outer*256 + (j.outer.outer*4 + j.outer.inner)*16384 + j.inner.inner]",
        "mean.rf.acc[0] += X[i, t1] if t1 < 100001 else 0.0",
    ]


def test_a_plan_is_data() -> None:
    """Each neighbour differs in one setting, and is a schedule of its own."""
    out = layer("float64")
    plan = tw.auto_schedule(out, "cuda -device=a100").plan
    assert plan is not None
    (decision,) = plan
    assert decision["thread_tile"] == 2
    others = list(plan.neighbours())
    assert len(others) == sum(len(choice.alternatives) - 1 for choice in decision.choices)
    assert len({other.decisions[0].choices for other in others}) == len(others)
    for other in others[:3]:
        s = tw.auto_schedule(out, "cuda -device=a100", settings={"E": other.decisions[0].settings})
        assert s.plan == other
    again = tw.auto_schedule(out, "cuda -device=a100", settings={"C": {"block_k": 8}})
    assert again.plan is not None and again.plan.decisions[0]["block_k"] == 8


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"E": {"block_k": 7}}, "rule 'tiles in shared memory' of E, C, D: expected block_k of 4, 8, 16, got 7"),
        (
            {"E": {"speed": 7}},
            "rule 'tiles in shared memory' of E, C, D: expected a setting of tile, thread_tile, block_k, got 'speed'",
        ),
        ({"F": {}}, "expected a stage of E, C, D, got 'F'"),
    ],
)
def test_settings_that_there_are_not(settings: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        tw.auto_schedule(layer("float64"), "cuda -device=a100", settings=settings)
    assert str(caught.value) == message


def test_it_takes_milliseconds() -> None:
    """Some ten for three stages: 7,000 calls of functions. A machine that is busy takes longer, but calls no more."""
    out, count = layer(), 0
    tw.auto_schedule(out, "cuda")

    def profile(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        tw.auto_schedule(out, "cuda")
    finally:
        sys.setprofile(None)
    assert 1000 < count < 15_000


def test_the_same_program_gets_the_same_schedule() -> None:
    assert str(tw.auto_schedule(layer(), "cuda")) == str(tw.auto_schedule(layer(), "cuda"))


def test_what_is_no_output() -> None:
    with pytest.raises(TypeError) as caught:
        tw.auto_schedule(te.placeholder((4,), name="A"), "sim")
    assert "expected what te.compute makes, or its .op, got" in str(caught.value)
