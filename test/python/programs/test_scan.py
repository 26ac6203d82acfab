"""Recurrences along an axis, as TVM's tutorial on recursive kernels has them."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from programs.checks import TARGETS, Scheduled, check
from tilewright import te, testing
from tilewright.te import Schedule, Tensor

U = testing.unit_roundoff("float32")
THREADS = 32
targets = pytest.mark.parametrize("target", TARGETS)


def column_a_thread(s: Schedule, *stages: Tensor) -> None:
    for stage in stages:
        block, thread = s[stage].split(stage.op.axis[1], factor=THREADS)
        s[stage].bind(block, te.thread_axis("blockIdx.x"))
        s[stage].bind(thread, te.thread_axis("threadIdx.x"))


def cumulative_sum(rows: int, columns: int) -> Scheduled:
    """Each thread adds up a column, from top to bottom."""
    X, state = te.placeholder((rows, columns), name="X"), te.placeholder((rows, columns), name="state")
    init = te.compute((1, columns), lambda _, j: X[0, j], name="init")
    update = te.compute((rows, columns), lambda t, j: state[t - 1, j] + X[t, j], name="update")
    total = te.scan(init, update, state, inputs=[X], name="total")
    s = te.create_schedule(total.op)
    column_a_thread(s, init, update)
    return s, [X, total]


def smoothed(rows: int, columns: int) -> Scheduled:
    """A filter of the second order; the input's rows come by way of shared memory, and the result is scaled."""
    X, state = te.placeholder((rows, columns), name="X"), te.placeholder((rows, columns), name="state")
    init = te.compute((2, columns), lambda t, j: X[t, j], name="init")
    update = te.compute(
        (rows, columns), lambda t, j: 0.5 * state[t - 1, j] - 0.25 * state[t - 2, j] + X[t, j], name="update"
    )
    Y = te.scan(init, update, state, inputs=[X], name="Y")
    Z = te.compute((rows, columns), lambda t, j: Y[t, j] * 2, name="Z")
    s = te.create_schedule(Z.op)
    XX = s.cache_read(X, "shared", [Y])
    column_a_thread(s, init, Z)
    t, j = update.op.axis
    block, thread = s[update].split(j, factor=THREADS)
    s[update].reorder(block, t, thread)
    s[update].bind(block, te.thread_axis("blockIdx.x"))
    s[update].bind(thread, te.thread_axis("threadIdx.x"))
    s[XX].compute_at(s[update], t)
    _, thread = s[XX].split(s[XX].op.axis[1], factor=THREADS)
    s[XX].bind(thread, te.thread_axis("threadIdx.x"))
    return s, [X, Z]


@targets
def test_cumulative_sum(target: str) -> None:
    check(lambda: cumulative_sum(21, 75), target, lambda x: [(x.cumsum(axis=0), 21 * U * np.abs(x).cumsum(axis=0))])


@targets
def test_recurrence_of_the_second_order(target: str) -> None:
    def expected(x):
        y, magnitude = x.copy(), np.abs(x)
        for t in range(2, len(x)):
            y[t] += 0.5 * y[t - 1] - 0.25 * y[t - 2]
            magnitude[t] += 0.5 * magnitude[t - 1] + 0.25 * magnitude[t - 2]
        return [(2 * y, 2 * 4 * len(x) * U * magnitude)]

    check(lambda: smoothed(21, 75), target, expected)


READS = {
    "itself": lambda i: i,
    "in its block": lambda i: te.floordiv(i, THREADS) * THREADS + te.floormod(i * 5 + 3, THREADS),
    "its neighbour": lambda i: te.max(i - 1, 0),
    "its opposite": lambda i: 95 - i,
}


@pytest.mark.sample(8)
@pytest.mark.parametrize("reads", READS)
@pytest.mark.parametrize("is_block_outside", [False, True])
@pytest.mark.parametrize("block", ["blockIdx.x", "blockIdx.y", "vthread"])
def test_blocks_that_share_a_scan(reads: str, is_block_outside: bool, block: str) -> None:
    """No block waits for another: a step that reads what another block computed is refused, with what to do."""
    rows, columns, place = 5, 96, READS[reads]
    X, state = te.placeholder((rows, columns), name="X"), te.placeholder((rows, columns), name="state")
    init = te.compute((1, columns), lambda _, j: X[0, j], name="init")
    update = te.compute((rows, columns), lambda t, j: state[t - 1, place(j)] + X[t, j], name="update")
    total = te.scan(init, update, state, inputs=[X], name="total")
    s = te.create_schedule(total.op)
    for stage in (init, update):
        outer, thread = s[stage].split(stage.op.axis[1], factor=THREADS)
        s[stage].bind(outer, te.thread_axis(block))
        s[stage].bind(thread, te.thread_axis("threadIdx.x"))
        if stage is update and is_block_outside:
            s[stage].reorder(outer, stage.op.axis[0], thread)
    # Virtual threads inside of the steps are one after the other in each of them.
    if reads in ("itself", "in its block") or (block == "vthread" and not is_block_outside):
        x = np.random.default_rng(7).integers(-4, 5, (rows, columns)).astype("float32")
        want, at = x.copy(), np.arange(columns)
        chosen = {
            "itself": at,
            "in its block": at // THREADS * THREADS + (at * 5 + 3) % THREADS,
            "its neighbour": np.maximum(at - 1, 0),
            "its opposite": 95 - at,
        }[reads]
        for t in range(1, rows):
            want[t] = want[t - 1][chosen] + x[t]
        out = np.full((rows, columns), np.nan, "float32")
        tw.build(s, [X, total], "sim")(x, out)
        np.testing.assert_array_equal(out, want)
        return
    kind = "loop around its steps" if block == "vthread" else f"axis on {block}"
    with pytest.raises(tw.ScheduleError) as caught:
        tw.build(s, [X, total], "sim")
    assert f"scan 'total': expected no {kind} along which a step reads what others computed" in str(caught.value)
    assert "bind such an axis to threads there, and blocks to an axis along which each step reads its own" in str(
        caught.value
    )
