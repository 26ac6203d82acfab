"""Running results of rows that a user writes as a scan: `auto_schedule` makes one kernel of it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

H200 = "cuda -device=H200"


class Scan:
    """A scan of the rows of X, by default along the last axis, and its results in X's layout."""

    def __init__(
        self,
        shape: tuple[int, ...],
        combine: Callable[[Any, Any], Any],
        dtype: str = "float32",
        *,
        axis: int = -1,
        acc: str | None = None,
        reverse: bool = False,
        begin: Callable[[Any], Any] = lambda first: first,
    ) -> None:
        self.axis, extent = axis % len(shape), shape[axis]
        self.X = te.placeholder(shape, dtype, name="X")
        acc = acc or dtype
        others = [n for place, n in enumerate(shape) if place != self.axis]

        def element(t: Any, *at: Any) -> Any:
            place = extent - 1 - t if reverse else t
            return self.X(*at[: self.axis], place, *at[self.axis :]).astype(acc)

        state = te.placeholder((extent, *others), acc, name="state")
        init = te.compute((1, *others), lambda t, *at: begin(element(0, *at)), name="init")
        update = te.compute(
            (extent, *others), lambda t, *at: combine(state(t - 1, *at), element(t, *at)), name="update"
        )
        self.R = te.scan(init, update, state, [self.X], name="R")

        def result(*at: Any) -> Any:
            place = extent - 1 - at[self.axis] if reverse else at[self.axis]
            return self.R(place, *at[: self.axis], *at[self.axis + 1 :]).astype(dtype)

        self.Y = te.compute(shape, result, name="Y")


def made(scan: Scan, x: np.ndarray) -> np.ndarray:
    s = tw.auto_schedule(scan.Y, "sim")
    assert s.explain().count("\n") == 1
    assert "running results: Y, R, init: " in s.explain()
    y = np.zeros(x.shape, x.dtype)
    tw.build(s, [scan.X, scan.Y], target="sim")(x, y)
    return y


NUMBERS = np.random.default_rng(3)


@pytest.mark.parametrize("shape", [(37, 300), (2, 3, 100), (2, 5000), (40,)])
def test_running_maxima_of_rows(shape: tuple[int, ...]) -> None:
    x = NUMBERS.standard_normal(shape).astype("float32")
    np.testing.assert_array_equal(made(Scan(shape, lambda a, b: te.max(a, b)), x), np.maximum.accumulate(x, -1))


@pytest.mark.parametrize("rows", [(), pytest.param((3,), marks=pytest.mark.sweep)])
def test_rows_of_a_symbolic_extent(rows: tuple[int, ...]) -> None:
    """They are in chunks of 4096, as long ones are."""
    scan = Scan((*rows, te.var("n")), lambda a, b: a + b, "int64")
    s = tw.auto_schedule(scan.Y, "sim")
    assert "running results: Y, R, init: " in s.explain() and " rows of n elements" in s.explain()
    function = tw.build(s, [scan.X, scan.Y], target="sim")
    for extent in (0, 1, 4096, 4097, 9000):
        x = NUMBERS.integers(-100, 100, (*rows, extent))
        y = np.zeros_like(x)
        function(x, y)
        np.testing.assert_array_equal(y, np.cumsum(x, -1))
    on_gpu = tw.build(tw.auto_schedule(scan.Y, H200), [scan.X, scan.Y], target=H200)
    assert [one.block[0] for one in on_gpu.launch_config(x, y).launches] == [256, 256]


def test_running_minima_of_integers() -> None:
    x = NUMBERS.integers(-(2**31), 2**31, (3, 70)).astype("int32")
    np.testing.assert_array_equal(
        made(Scan(x.shape, lambda a, b: te.min(b, a), "int32"), x), np.minimum.accumulate(x, -1)
    )


def test_running_products() -> None:
    x = NUMBERS.integers(0, 2**32, (5, 90)).astype("uint32") | np.uint32(1)
    y = made(Scan(x.shape, lambda a, b: a * b, "uint32"), x)
    np.testing.assert_array_equal(y, np.multiply.accumulate(x, -1, dtype="uint32"))


def test_sums_from_the_end_in_a_wider_type() -> None:
    x = NUMBERS.integers(-4, 5, (4, 9, 100)).astype("float16")
    y = made(Scan(x.shape, lambda a, b: a + b, "float16", acc="float32", reverse=True), x)
    np.testing.assert_array_equal(y, np.cumsum(x[..., ::-1], -1, dtype="float32")[..., ::-1].astype("float16"))


def test_what_it_begins_with_is_another_number() -> None:
    x = NUMBERS.integers(-4, 5, (4, 60)).astype("int32")
    expected = x.copy()
    expected[:, 0] = 7
    y = made(Scan(x.shape, lambda a, b: a + b, "int32", begin=lambda first: first * 0 + 7), x)
    np.testing.assert_array_equal(y, np.cumsum(expected, -1))


def test_a_row_is_read_and_stored_once() -> None:
    scan = Scan((48324, 615), lambda a, b: a + b, "bfloat16", acc="float32")
    func = tw.build(tw.auto_schedule(scan.Y, H200), [scan.X, scan.Y], target=H200)
    assert len(func.launch_config().launches) == 1
    assert len(re.findall(r"ld\.global", func.ptx)) == len(re.findall(r"st\.global", func.ptx)) == 13


def test_the_kernel_is_that_of_the_library() -> None:
    scan = Scan((1000, 615), lambda a, b: a + b)
    func = tw.build(tw.auto_schedule(scan.Y, H200), [scan.X, scan.Y], target=H200)
    own = tw.ops.cumsum.function(tw.ops.Operand((1000, 615), "float32"), target=H200)
    words = r"ld\.\w+|st\.\w+|bar\.sync|add\.f32"
    assert Counter(re.findall(words, func.ptx)) == Counter(re.findall(words, own.ptx))


@pytest.mark.parametrize(
    ("scan", "rule"),
    [
        (Scan((37, 16), lambda a, b: a + b), "recurrence: R"),
        (Scan((60, 37), lambda a, b: a + b, axis=0), "recurrence: R"),
        (Scan((37, 60), lambda a, b: a * 0.5 + b), "recurrence: R"),
        (Scan((37, 60), lambda a, b: b - a), "recurrence: R"),
    ],
    ids=["short rows", "columns", "a state that is scaled", "a difference"],
)
def test_what_is_left_to_the_recurrence(scan: Scan, rule: str) -> None:
    assert rule in tw.auto_schedule(scan.Y, H200).explain()


def test_other_outputs_are_left_to_the_recurrence() -> None:
    scan = Scan((37, 60), lambda a, b: a + b)
    last = te.compute((37,), lambda i: scan.R[59, i], name="last")
    assert "recurrence: R" in tw.auto_schedule([scan.Y, last], H200).explain()


def test_a_processor_runs_through_the_rows() -> None:
    assert "running results" not in tw.auto_schedule(Scan((37, 60), lambda a, b: a + b).Y, "cpu").explain()
