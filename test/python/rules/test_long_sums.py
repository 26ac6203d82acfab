"""Few long rows on a processor: sums of parts, which threads share, and which round as little as NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from rule_programs import SQUARES, check_sum, sum_of
from tilewright import ops, te


@pytest.mark.parametrize(
    ("shape", "axes", "how"),
    [
        ((1 << 20,), (0,), "1 results of 1048576 elements each (part=4096, lanes=64)"),
        ((1, 1 << 19), (1,), "1 results of 524288 elements each (part=3616, lanes=64)"),
        ((3, 300_000), (1,), "3 results of 300000 elements each (part=2000, lanes=32)"),
        ((1_000_003,), (0,), "1 results of 1000003 elements each (part=4256, lanes=64)"),  # a prime
        ((100, 10_000), (0, 1), "1 results of 1000000 elements each (part=1, lanes=64)"),
        ((1 << 12, 64), (0, 1), "1 results of 262144 elements each (part=32, lanes=64)"),
        ((699, 33, 41), (0, 1, 2), "1 results of 945747 elements each (part=3, lanes=64)"),
    ],
)
def test_sums_round_little(shape: tuple[int, ...], axes: tuple[int, ...], how: str) -> None:
    assert f"reduction in parts: Y: {how}" in check_sum(shape, axes)


@pytest.mark.parametrize(("shape", "axes"), [((1 << 15,), (0,)), ((65, 1 << 16), (1,)), ((1 << 16, 3), (0,))])
def test_others_have_no_parts(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    assert "reduction in parts" not in sum_of(shape, axes)[0].explain()


@pytest.mark.parametrize(("shape", "axes"), [((1_000_003,), (0,)), ((3, 100_003), (1,)), ((1000, 1001), (0, 1))])
def test_vectors_have_no_conditions_but_for_the_last(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    lines = [line for line in str(sum_of(shape, axes)[0]).splitlines() if "+= X[" in line]
    assert 1 <= len(lines) <= 2 and " if " not in lines[0]


@pytest.mark.parametrize(
    ("shape", "axes", "lanes"),
    [
        ((33, 65, 129), (0, 2), 64),
        ((9, 70, 5, 37), (0, 2, 3), 64),
        ((70, 1001), (1,), 16),
        ((70, 1024), (1,), 32),
        ((70, 2049), (1,), 64),
        ((70, 400, 31), (1, 2), 64),
        ((70, 80, 7), (1, 2), 64),
        ((7000, 17), (1,), 16),
        ((7000, 15), (1,), 1),
    ],
)
def test_rows_are_summed_in_lanes(shape: tuple[int, ...], axes: tuple[int, ...], lanes: int) -> None:
    how = check_sum(shape, axes)
    assert f"parallel reduction: Y: {shape[1 if axes[0] == 0 else 0]} results" in how
    assert f"(lanes={lanes})" in how


@pytest.mark.parametrize(
    ("operation", "exact"), [(ops.mean, np.mean), (ops.max, np.max), (ops.min, np.min)], ids=["mean", "max", "min"]
)
def test_operations(operation: Callable[..., Any], exact: Callable[..., Any]) -> None:
    x = SQUARES[:700_000]
    for one in (x, x.reshape(7, 100_000)):
        axis = one.ndim - 1
        np.testing.assert_allclose(operation(one, axis=axis), exact(one.astype("float64"), axis=axis), rtol=1e-6)


def test_numbers_of_other_types() -> None:
    x = np.arange(200_000, dtype="int32")
    assert ops.sum(x) == x.sum(dtype="int32")
    wide = SQUARES[:200_000].astype("float64")
    np.testing.assert_allclose(ops.sum(wide), wide.sum(), rtol=1e-13)


def centred(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[Any, list[Any]]:
    """What is left of numbers without their mean along axes, over the square root of their variance."""
    x = te.placeholder(shape, "float32", name="X")
    kept = [axis for axis in range(len(shape)) if axis not in axes]
    count = float(np.prod([shape[axis] for axis in axes]))

    def total(name: str, value: Callable[..., Any]) -> Any:
        reduced = {axis: te.reduce_axis((0, shape[axis])) for axis in axes}

        def element(*at: Any) -> Any:
            places = dict(zip(kept, at)) | reduced
            return te.sum(value(*(places[axis] for axis in range(len(shape)))), axis=[*reduced.values()])

        return te.compute(tuple(shape[axis] for axis in kept), element, name=name)

    m = total("M", lambda *at: x[at])

    def less(*at: Any) -> Any:
        return x[at] - m(*(at[axis] for axis in kept)) / count

    v = total("V", lambda *at: less(*at) * less(*at))
    y = te.compute(shape, lambda *at: less(*at) / te.sqrt(v(*(at[axis] for axis in kept)) / count), name="Y")
    return tw.auto_schedule([y], "cpu"), [x, y]


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((1 << 20,), (0,)), ((100, 10_000), (0, 1)), ((2, 1 << 18), (1,))],
    ids=["all", "matrix", "rows"],
)
def test_what_is_made_of_sums_is_a_kernel_of_its_own(shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    s, args = centred(shape, axes)
    _, of_m, of_v, of_y = s.explain().splitlines()
    assert of_m.startswith("  reduction in parts: M:")
    assert of_v.startswith("  reduction in parts: V:")
    assert of_y.startswith("  parallel elementwise: Y:")
    x = SQUARES[: np.prod(shape)].reshape(shape)
    y = np.zeros_like(x)
    tw.build(s, args, "cpu")(x, y)
    exact = x.astype("float64")
    exact = (exact - exact.mean(axes, keepdims=True)) / exact.std(axes, keepdims=True)
    np.testing.assert_allclose(y, exact, rtol=1e-5, atol=1e-6)


def test_many_rows_are_one_kernel() -> None:
    (_, line) = centred((8, 1 << 16), (1,))[0].explain().splitlines()
    assert line.startswith("  parallel reduction: Y, V, M")
