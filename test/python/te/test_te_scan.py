"""Recurrences along the first axis: what they compute, how they are scheduled, and what is refused."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

RNG = np.random.default_rng(3)
BLOCK, THREAD = "blockIdx.x", "threadIdx.x"


def cumsum(m, n, dtype="float32"):
    """As TVM's tutorial on recursive kernels has it."""
    X = te.placeholder((m, n), dtype, name="X")
    s_state = te.placeholder((m, n), dtype, name="state")
    s_init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    s_update = te.compute((m, n), lambda t, i: s_state[t - 1, i] + X[t, i], name="update")
    return X, s_init, s_update, te.scan(s_init, s_update, s_state, inputs=[X], name="cumsum")


def bind(s, stage, axis, factor=32):
    outer, inner = s[stage].split(axis, factor=factor)
    s[stage].bind(outer, te.thread_axis(BLOCK))
    s[stage].bind(inner, te.thread_axis(THREAD))


@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("symbolic", [False, True])
def test_cumulative_sum(target: str, symbolic: bool) -> None:
    m, n = (te.var("m"), te.var("n")) if symbolic else (20, 50)
    X, s_init, s_update, s_scan = cumsum(m, n, "float64")
    s = te.create_schedule(s_scan.op)
    bind(s, s_init, s_init.op.axis[1])
    bind(s, s_update, s_update.op.axis[1])
    function = tw.build(s, [X, s_scan], target)
    for shape in ((20, 50), (1, 7), (9, 64)) if symbolic else ((20, 50),):
        x, out = RNG.random(shape), np.full(shape, np.nan)
        function(x, out)
        np.testing.assert_allclose(out, np.cumsum(x, axis=0), rtol=1e-14)


def test_the_scan_is_a_serial_loop_of_one_kernel() -> None:
    X, s_init, s_update, s_scan = cumsum(20, 64)
    s = te.create_schedule(s_scan.op)
    bind(s, s_init, s_init.op.axis[1])
    bind(s, s_update, s_update.op.axis[1])
    function = tw.build(s, [X, s_scan], tw.Target("cuda", arch="sm_90a"), name="sums")
    assert function.cubin
    assert [launch.kernel for launch in function.launch_config()] == ["sums_kernel0", "sums_kernel1"], "init, scan"
    assert function.launch_config()[1].grid == (2, 1, 1) and function.launch_config()[1].block == (32, 1, 1)
    kernel = function.ir("gpu").split("@sums_kernel1(")[1].split("gpu.return")[0]
    assert kernel.count("scf.for") == 1 and "gpu.barrier" not in kernel
    assert tw.lower(s, [X, s_scan], simple_mode=True).count("for t in range(20)") == 1


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("order", ["outside", "inside", "between"])
def test_the_axis_stands_anywhere(target: str, order: str) -> None:
    """A recurrence of the second order on three axes, with its loop outside, inside and between the others."""
    m, a, b = 9, 6, 5
    X = te.placeholder((m, a, b), "float64", name="X")
    state = te.placeholder((m, a, b), "float64", name="state")
    init = te.compute((2, a, b), lambda t, i, j: X[t, i, j] * 0.5, name="init")
    update = te.compute(
        (m, a, b), lambda t, i, j: state[t - 1, i, j] - 0.5 * state[t + -2, i, j] + X[m - 1 - t, i, b - 1 - j],
        name="update",
    )  # fmt: skip
    fib = te.scan(init, update, state, name="fib")
    Y = te.compute((m, a, b), lambda t, i, j: fib[t, i, j] + fib[m - 1 - t, a - 1 - i, j], name="Y")
    s = te.create_schedule(Y.op)
    for stage in (init, Y):
        _, i, j = s[stage].op.axis
        s[stage].bind(i, te.thread_axis(BLOCK))
        s[stage].bind(j, te.thread_axis(THREAD))
    t, i, j = s[fib].op.axis
    assert fib.op.scan_axis is t and fib.op.spatial_axis == (i, j) and s[fib] is s[update]
    if order == "inside":
        s[fib].reorder(i, j, t)
    elif order == "between":
        s[fib].reorder(j, t, i)
    s[fib].bind(i, te.thread_axis(BLOCK))
    s[fib].bind(j, te.thread_axis(THREAD))
    s[fib].unroll(t)
    x, out = RNG.random((m, a, b)), np.full((m, a, b), np.nan)
    tw.build(s, [X, Y], target)(x, out)
    expected = x * 0.5
    for step in range(2, m):
        expected[step] = expected[step - 1] - 0.5 * expected[step - 2] + x[m - 1 - step, :, ::-1]
    np.testing.assert_allclose(out, expected + expected[::-1, ::-1], rtol=1e-13)
    assert tw.build(s, [X, Y], tw.Target("cuda", arch="sm_90a")).cubin


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_several_states(target: str) -> None:
    """Two states, each from both, one with a tensor of its own and one without: momentum and position."""
    m, n = 12, 40
    F = te.placeholder((m, n), "float64", name="F")
    v, x = (te.placeholder((m, n), "float64", name=name) for name in "vx")
    v0 = te.compute((1, n), lambda _, i: F[0, i], name="v0")
    x0 = te.compute((1, n), lambda _, i: te.const(1.0, "float64"), name="x0")
    dv = te.compute((m, n), lambda t, i: 0.9 * v[t - 1, i] - 0.1 * x[t - 1, i] + F[t, i], name="dv")
    dx = te.compute((m, n), lambda time, i: x[time - 1, i] + v[time - 1, i], name="dx")
    speed, place = te.scan([v0, x0], [dv, dx], [v, x], name="motion")
    s = te.create_schedule([speed.op])
    bind(s, v0, v0.op.axis[1])
    bind(s, x0, x0.op.axis[1])
    bind(s, dv, dv.op.axis[1])
    f, out = RNG.random((m, n)), [np.full((m, n), np.nan) for _ in range(2)]
    tw.build(s, [F, speed, place], target)(f, *out)
    ev, ex = f.copy(), np.ones((m, n))
    for t in range(1, m):
        ev[t] = 0.9 * ev[t - 1] - 0.1 * ex[t - 1] + f[t]
        ex[t] = ex[t - 1] + ev[t - 1]
    # A step rounds four times, of numbers as large as the largest, and differences cancel.
    bound = 4 * m * tw.testing.unit_roundoff("float64") * max(np.abs(ev).max(), np.abs(ex).max())
    tw.testing.assert_within(out[0], ev, bound)
    tw.testing.assert_within(out[1], ex, bound)


@pytest.mark.parametrize("rows", [4, te.var("m", min=2)], ids=["constant", "symbolic"])
@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_states_of_one_shape_that_are_no_outputs(target: str, rows: int | te.Var) -> None:
    """Their buffers are temporaries, empty at first, and yet two: a rotation."""
    n = 40
    A = te.placeholder((rows, n), name="A")
    x, y = (te.placeholder((rows, n), name=name) for name in "xy")
    x0 = te.compute((1, n), lambda t, i: A[t, i], name="x0")
    y0 = te.compute((1, n), lambda t, i: te.const(1.0, "float32"), name="y0")
    dx = te.compute((rows, n), lambda t, i: x[t - 1, i] - y[t - 1, i], name="dx")
    dy = te.compute((rows, n), lambda t, i: 2.0 * x[t - 1, i] + A[t, i], name="dy")
    X, Y = te.scan([x0, y0], [dx, dy], [x, y], name="S")
    last = te.compute((n,), lambda i: X[rows - 1, i] + 100.0 * Y[rows - 1, i], name="last")
    s = te.create_schedule(last.op)
    if target == "sim":
        s = tw.auto_schedule([last], "sim")
    a = RNG.integers(-9, 9, (4, n)).astype("float32")
    out = np.full(n, np.nan, "float32")
    tw.build(s, [A, last], target)(a, out)
    ex, ey = a[0], np.ones(n, "float32")
    for t in range(1, 4):
        ex, ey = ex - ey, 2.0 * ex + a[t]
    np.testing.assert_array_equal(out, ex + 100.0 * ey)


def test_scans_of_one_shape_in_turn() -> None:
    """The second reads what the first made, and sums its rows in each step; neither is an output."""
    m, n = 6, 4
    A = te.placeholder((m, n), "int32", name="A")
    made: te.Tensor = A
    for name in ("first", "second"):
        state = te.placeholder((m, n), "int32", name=f"{name}.state")
        init = te.compute((1, n), lambda t, i, made=made: made[0, i], name=f"{name}.init")
        update = te.compute(
            (m, n), lambda t, i, made=made, state=state: state[t - 1, i] + made[t, i], name=f"{name}.update"
        )
        made = te.scan(init, update, state, name=name)
    k = te.reduce_axis((0, n), "k")
    last = te.compute((m,), lambda i: te.sum(made[i, k], axis=k), name="last")
    a, out = RNG.integers(-9, 9, (m, n)).astype("int32"), np.zeros(m, "int32")
    tw.build(te.create_schedule(last.op), [A, last], "cpu")(a, out)
    np.testing.assert_array_equal(out, a.cumsum(0).cumsum(0).sum(1))


@pytest.mark.parametrize("dtype", ["float16", "int32", "uint8", "bool"])
@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_element_types(dtype: str, target: str) -> None:
    """The largest element so far."""
    m, n = 10, 33
    X = te.placeholder((m, n), dtype, name="X")
    state = te.placeholder((m, n), dtype, name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    update = te.compute((m, n), lambda t, i: te.max(state[t - 1, i], X[t, i]), name="update")
    S = te.scan(init, update, state)
    s = te.create_schedule(S.op)
    bind(s, init, init.op.axis[1])
    bind(s, update, update.op.axis[1])
    x = (RNG.random((m, n)) * 2 if dtype == "bool" else RNG.random((m, n)) * 100).astype("uint8").astype(dtype)
    out = np.zeros((m, n), dtype)
    tw.build(s, [X, S], target)(x, out)
    np.testing.assert_array_equal(out, np.maximum.accumulate(x, axis=0))


def test_schedules_around_a_scan() -> None:
    """The input's rows by way of shared memory, lanes of vectors, and the scan read by others."""
    m, n = 8, 128
    X, s_init, s_update, S = cumsum(m, n)
    Y = te.compute((m, n), lambda t, i: S[t, i] * 2, name="Y")
    s = te.create_schedule(Y.op)
    XX = s.cache_read(X, "shared", [S])
    for stage in (s_init, s_update, Y):
        outer, lanes = s[stage].split(s[stage].op.axis[1], factor=4)
        block, thread = s[stage].split(outer, factor=16)
        s[stage].bind(block, te.thread_axis(BLOCK))
        s[stage].bind(thread, te.thread_axis(THREAD))
        s[stage].vectorize(lanes)
        if stage is s_update:
            s[stage].reorder(block, s[stage].op.axis[0], thread, lanes)
            s[XX].compute_at(s[stage], s[stage].op.axis[0])
    x, out = RNG.random((m, n)).astype("float32"), np.full((m, n), np.nan, "float32")
    tw.build(s, [X, Y], "sim")(x, out)
    np.testing.assert_allclose(out, 2 * np.cumsum(x.astype("float64"), axis=0), rtol=1e-6)
    ptx = tw.build(s, [X, Y], tw.Target("cuda", arch="sm_90a")).ptx
    assert "st.global.v4" in ptx and "bar.sync" in ptx


def test_a_schedule_is_traced_and_explained() -> None:
    X, s_init, s_update, S = cumsum(20, 64)
    s = te.create_schedule(S.op)
    bind(s, s_init, s_init.op.axis[1])
    bind(s, s_update, s_update.op.axis[1])
    again = te.create_schedule(S.op)
    s.trace().apply(again)
    assert str(again) == str(s)
    assert s.explain(S.op.scan_axis).startswith("axis t of stage cumsum")


# What is refused.


@pytest.mark.parametrize(
    ("primitive", "call"),
    [
        ("split", lambda stage, t, i: stage.split(t, factor=4)),
        ("tile", lambda stage, t, i: stage.tile(t, i, 4, 4)),
        ("fuse", lambda stage, t, i: stage.fuse(t, i)),
        ("bind", lambda stage, t, i: stage.bind(t, te.thread_axis(THREAD))),
        ("vectorize", lambda stage, t, i: stage.vectorize(t)),
        ("parallel", lambda stage, t, i: stage.parallel(t)),
    ],
)
def test_the_axis_stays_one_serial_loop(primitive: str, call) -> None:
    *_, S = cumsum(20, 64)
    s = te.create_schedule(S.op)
    with pytest.raises(tw.ScheduleError) as raised:
        call(s[S], *S.op.axis)
    assert re.sub(r"^\S+: error: ", "", str(raised.value)) == (
        f"{primitive}: expected an axis whose iterations are independent, got 't', the scan axis of stage 'cumsum'"
    )
    assert str(raised.value).startswith(__file__), "the user's line"


def test_a_scan_of_one_axis_has_none_to_bind() -> None:
    X, state = te.placeholder((8,), name="X"), te.placeholder((8,), name="state")
    init = te.compute((1,), lambda _: X[0], name="init")
    S = te.scan(init, te.compute((8,), lambda t: state[t - 1] + X[t], name="update"), state, name="S")
    s = te.create_schedule(S.op)
    s[init].bind(init.op.axis[0], te.thread_axis(BLOCK))
    with pytest.raises(tw.ScheduleError) as raised:
        tw.build(s, [X, S], "sim", name="f")
    assert re.sub(r"^\S+: error: ", "", str(raised.value)) == (
        "stage 'S' is not bound to any block or thread: it is a scan without another axis, so give its tensors one, for "
        "which extent 1 is enough, and bind that\n(lowering f from loops to gpu)"
    )


def test_a_scan_is_computed_whole() -> None:
    *_, S = cumsum(20, 64)
    Y = te.compute((20, 64), lambda t, i: S[t, i] * 2, name="Y")
    for call, message in (
        (
            lambda s: s[S].compute_at(s[Y], Y.op.axis[0]),
            "compute_at: expected a stage of which a part can be computed, got the scan 'cumsum'",
        ),
        (lambda s: s[S].compute_inline(), "compute_inline: expected an elementwise stage, got the scan 'cumsum'"),
        (
            lambda s: s.cache_write(S, "local"),
            "cache_write: expected a stage whose elements can be kept elsewhere, got the scan 'cumsum', which reads its own",
        ),
    ):
        with pytest.raises(tw.ScheduleError, match=re.escape(message) + "$"):
            call(te.create_schedule(Y.op))


def copied(ins, outs):
    """The statements that copy a tensor."""
    ib = tw.tir.ir_builder.create()
    source, to = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
    with ib.for_range(0, 8, name="t") as t, ib.for_range(0, 16, name="i") as i:
        to[t, i] = source[t, i]
    return ib.get()


def test_wrong_scans() -> None:
    m, n = 8, 16
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    k = te.reduce_axis((0, n), name="k")

    def update(body, name="update", shape=(m, n)):
        return te.compute(shape, body, name=name)

    good = update(lambda t, i: state[t - 1, i] + X[t, i])
    total = te.compute((m, n), lambda t, i: te.sum(state[t - 1, k], axis=k), name="total")
    transposed = te.compute((n, m), lambda i, t: te.sum(state[t - 1, k], axis=k), name="transposed")
    written = te.extern((m, n), [state], copied, name="written")
    other, fewer = te.placeholder((m, n), name="other"), te.placeholder((5, n), name="fewer")
    two = te.compute((2, n), lambda t, i: X[t, i], name="two")
    short = te.compute((1, n), lambda t, i: X[t, i], name="short")
    few = te.compute((5, n), lambda t, i: te.sum(fewer[t - 1, k], axis=k), name="few")
    for call, kind, message in (
        (
            lambda: te.scan(init, update(lambda t, i: state[t, i]), state),
            ValueError,
            "scan scan: expected the state 1 back from t, as far as the inits reach, got state[t, i]",
        ),
        (
            lambda: te.scan(init, update(lambda t, i: state[t - 2, i]), state, name="fib"),
            ValueError,
            "scan fib: expected the state at most 1 back, as many as init has, got state[t - 2, i]",
        ),
        (
            lambda: te.scan(init, update(lambda t, i: total[t - 1, i] + 1), state),
            ValueError,
            "scan scan: expected what a step computes to be read at t itself, got total[t - 1, i]: hand it on as a state",
        ),
        (
            lambda: te.scan(init, update(lambda t, i: transposed[i, t] + 1), state),
            ValueError,
            "scan scan: expected computes between the state and the update whose first axis is that of the 8 steps, got "
            "transposed of (16, 8)",
        ),
        (
            lambda: te.scan(init, update(lambda t, i: written[t, i] + total[t, i]), state),
            TypeError,
            "scan scan: expected computes between the state and the update, got the statements written",
        ),
        (
            lambda: te.scan([init, two], [total, total], [state, other]),
            ValueError,
            "scan scan: expected inits of as many elements, got init of 1 and two of 2",
        ),
        (
            lambda: te.scan([init, short], [total, few], [state, fewer]),
            ValueError,
            "scan scan: expected states of as many steps, got state of 8 and fewer of 5",
        ),
        (
            lambda: te.scan(init, good, init),
            TypeError,
            "scan scan: expected a placeholder as state, got Tensor(name=init, shape=(1, 16), dtype=float32)",
        ),
        (
            lambda: te.scan([init, init], [good], [state]),
            ValueError,
            "scan scan: expected an init and an update for each state, got 2, 1 and 1 states",
        ),
        (lambda: te.scan(init, good, 3), TypeError, "scan scan: expected a tensor as state, got 3"),
        (
            lambda: te.scan(te.placeholder((1, 3), name="wrong"), good, state),
            ValueError,
            "scan scan: expected an init of a number of elements and the state's other extents, got wrong of (1, 3) for "
            "(8, 16)",
        ),
        (
            lambda: te.scan(init, update(lambda t, i: state[t, i], shape=(m, 3)), state),
            ValueError,
            "scan scan: expected an update of its state's shape, the steps first, got state of (8, 16) and update of (8, 3)",
        ),
        (
            lambda: te.scan(te.placeholder((1, n), "float64", name="wide"), good, state),
            TypeError,
            "scan scan: expected init, update and state of one dtype, got float64, float32 and float32",
        ),
    ):
        with pytest.raises(kind) as raised:
            call()
        assert re.sub(r"^\S+:\d+: ", "", str(raised.value)) == message


@pytest.mark.parametrize("order", ["scan axis outermost", "scan axis inside"])
@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(("m", "n"), [(2, 3), (9, 20)])
def test_what_follows_a_scan_in_its_steps_leaves_it_what_it_reads_of_earlier_ones(m, n, count, order) -> None:
    """The buffer of a scan holds all steps, wherever its reader is computed."""
    X = te.placeholder((m, n), "int32", name="X")
    state = te.placeholder((m, n), "int32", name="state")
    init = te.compute((count, n), lambda t, i: X[t, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - count, i] + X[t, i], name="update")
    scanned = te.scan(init, update, state, name="scanned")
    after = te.compute((m, n), lambda t, i: scanned[t, i] * 2, name="after")
    s = te.create_schedule(after.op)
    s[init].bind(init.op.axis[1], te.thread_axis(THREAD))
    t, i = scanned.op.axis
    if order == "scan axis inside":
        s[scanned].reorder(i, t)
    s[scanned].bind(i, te.thread_axis(THREAD))
    s[after].reverse_compute_at(s[scanned], t)
    s[after].bind(after.op.axis[0], te.thread_axis("threadIdx.y"))
    x = RNG.integers(-9, 9, (m, n)).astype(np.int32)
    want = x.copy()
    for step in range(count, m):
        want[step] += want[step - count]
    out = np.zeros((m, n), np.int32)
    tw.build(s, [X, after], "sim")(x, out)
    np.testing.assert_array_equal(out, want * 2)


@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize(("m", "n"), [(1, 3), (7, 40)])
def test_computes_between_the_state_and_the_update(target: str, m: int, n: int) -> None:
    """As TVM's test of scans with stages in their update: each is placed in the loops of the next."""
    X = te.placeholder((m, n), "int32", name="X")
    state = te.placeholder((m, n), "int32", name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    first = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t, i], name="first")
    second = te.compute((m, n), lambda t, i: first[t, i] * 3 - first[t, i], name="second")
    update = te.compute((m, n), lambda t, i: second[t, i] + 1, name="update")
    out = te.scan(init, update, state, name="out")
    s = te.create_schedule(out.op)
    s[first].compute_at(s[second], second.op.axis[1])
    s[second].set_scope("local")
    s[second].compute_at(s[update], update.op.axis[1])
    bind(s, init, init.op.axis[1])
    bind(s, update, update.op.axis[1])
    x, got = RNG.integers(-3, 3, (m, n)).astype(np.int32), np.zeros((m, n), np.int32)
    want = x.copy()
    for t in range(1, m):
        want[t] = (want[t - 1] + x[t]) * 2 + 1
    tw.build(s, [X, out], target)(x, got)
    np.testing.assert_array_equal(got, want)
    assert s[first].name == "first"
    with pytest.raises(tw.ScheduleError) as caught:
        s[first].split(first.op.axis[1], factor=4)
    assert str(caught.value).endswith(
        "expected a stage with loops of its own, got 'first', which is computed where the update of a scan reads it"
    )


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_an_update_that_reads_another_one(target: str) -> None:
    """The second state moves by what the first has become, as in a cell with a gate."""
    m, n = 6, 9
    X = te.placeholder((m, n), "int32", name="X")
    c, h = te.placeholder((m, n), "int32", name="c"), te.placeholder((m, n), "int32", name="h")
    zero = te.compute((1, n), lambda _, i: te.const(0, "int32"), name="zero")
    one = te.compute((1, n), lambda _, i: te.const(1, "int32"), name="one")
    next_c = te.compute((m, n), lambda t, i: c[t - 1, i] - h[t - 1, i] + X[t, i], name="next_c")
    next_h = te.compute((m, n), lambda t, i: h[t - 1, i] + next_c[t, i] * 2, name="next_h")
    C, H = te.scan([zero, one], [next_c, next_h], [c, h], name="cell")
    s = te.create_schedule(C.op)
    for stage in (zero, one):
        bind(s, stage, stage.op.axis[1])
    bind(s, next_c, next_c.op.axis[1])
    x = RNG.integers(-3, 3, (m, n)).astype(np.int32)
    got = [np.zeros((m, n), np.int32) for _ in range(2)]
    tw.build(s, [X, C, H], target)(x, *got)
    a, b = np.zeros((m, n), np.int32), np.ones((m, n), np.int32)
    for t in range(1, m):
        a[t] = a[t - 1] - b[t - 1] + x[t]
        b[t] = b[t - 1] + a[t] * 2
    np.testing.assert_array_equal(got[0], a)
    np.testing.assert_array_equal(got[1], b)


def test_the_steps_of_a_scan_keep_to_themselves() -> None:
    """What a step reads or computes is nobody else's."""
    m, n = 8, 16
    X, state = te.placeholder((m, n), name="X"), te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    k = te.reduce_axis((0, n), name="k")
    total = te.compute((m,), lambda t: te.sum(state[t - 1, k], axis=k), name="total")
    update = te.compute((m, n), lambda t, i: total[t] + X[t, i], name="update")
    S = te.scan(init, update, state, name="S")
    both = te.compute((m, n), lambda t, i: S[t, i] + total[t], name="both")
    states = te.compute((m, n), lambda t, i: S[t, i] + state[t, i], name="states")
    alone = te.compute((m, n), lambda t, i: state[t, i] * 2, name="alone")
    for outputs, message in (
        ([both], "expected total, a stage in the steps of scan S, to be read in these alone, got it read by both: hand it "
                 "on as a state"),
        ([S, total], "expected no output that is a stage in the steps of a scan, got total of scan S: hand it on as a state"),
        ([states], "expected state, the state of scan S, to be read in its steps alone, got it read by states, which no "
                   "step of it needs"),
        ([alone], "expected state, the state of scan S, to be read in its steps alone, got it read by alone without the "
                  "scan"),
    ):  # fmt: skip
        with pytest.raises(ValueError) as raised:
            tw.build(outputs, [X, *outputs], "cpu")
        assert re.sub(r"^\S+:\d+: ", "", str(raised.value)) == message
    with pytest.raises(ValueError) as raised:
        te.scan(init, update, state, name="again")
    assert re.sub(r"^\S+:\d+: ", "", str(raised.value)) == (
        f"scan again: expected a state of no other scan, got state, that of S ({S.op.source})"
    )


def refused(make) -> str:
    with pytest.raises(tw.ScheduleError) as raised:
        make()
    return re.sub(r"^\S+: error: ", "", str(raised.value).split("\n(lowering")[0])


def test_wrong_places_of_the_stages_of_a_scan() -> None:
    """Blocks that would wait for each other, and stages outside of the steps that they are in."""
    m, a, b = 6, 8, 16

    def program():
        X, state = te.placeholder((m, a, b), name="X"), te.placeholder((m, a, b), name="state")
        init = te.compute((1, a, b), lambda _, i, j: X[0, i, j], name="init")
        k = te.reduce_axis((0, b), name="k")
        total = te.compute((m, a), lambda t, i: te.sum(state[t - 1, i, k], axis=k), name="total")
        half = te.compute((m, a), lambda t, i: total[t, i] * 0.5, name="half")
        update = te.compute((m, a, b), lambda t, i, j: half[t, i] + X[t, i, j], name="update")
        S = te.scan(init, update, state, name="S")
        s = te.create_schedule(S.op)
        for axis, tag in zip(init.op.axis[1:], (BLOCK, THREAD)):
            s[init].bind(axis, te.thread_axis(tag))
        return X, total, half, S, s

    def along(axis: int, tag: str) -> None:
        X, total, half, S, s = program()
        t = S.op.axis[0]
        if tag == THREAD:
            s[S].reorder(S.op.axis[axis], t)
        s[S].bind(S.op.axis[axis], te.thread_axis(tag))
        tw.build(s, [X, S], "sim")

    assert refused(lambda: along(2, BLOCK)) == (
        "scan 'S': expected no axis on blockIdx.x along which a step reads what others computed in the step before, got "
        "loop 'j', while stage 'total' reads 'S' beyond it along axis 'j': only the threads of a block, inside of the "
        "steps, wait for each other: bind such an axis to threads there, and blocks to an axis along which each step "
        "reads its own"
    )
    assert refused(lambda: along(2, THREAD)) == (
        "scan 'S': expected no loop around its steps along which a step reads what others computed in the step before, "
        "got loop 'j', while stage 'total' reads 'S' beyond it along axis 'j': only the threads of a block, inside of the "
        "steps, wait for each other: bind such an axis to threads there, and blocks to an axis along which each step "
        "reads its own"
    )
    along(1, BLOCK)
    along(1, THREAD)

    def outside() -> None:
        X, total, half, S, s = program()
        t, i, j = S.op.axis
        s[S].reorder(i, t, j)
        s[S].bind(i, te.thread_axis(BLOCK))
        s[total].compute_at(s[S], i)
        tw.build(s, [X, S], "sim")

    assert refused(outside) == (
        "compute_at: expected a place in the loop 't' of scan 'S', in whose steps stage 'total' is, got loop 'i' of stage "
        "'S'"
    )

    def after() -> None:
        X, total, half, S, s = program()
        s[half].reverse_compute_at(s[total], total.op.axis[1])
        tw.build(s, [X, S], "sim")

    assert refused(after) == (
        "reverse_compute_at: expected a stage that is in the steps of no scan, got stage 'half' in those of 'S'"
    )


@pytest.mark.parametrize(("shift", "got"), [(-1, "-1 to 14"), (1, "1 to 16"), (-20, "-20 to -5")])
@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_a_step_reads_what_there_is(target: str, shift: int, got: str) -> None:
    """The reads of an update stand behind the choice of the first step, and are checked as others are."""
    m, n = 8, 16
    X = te.placeholder((m, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: X[0, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i + shift] + X[t, i], name="update")
    S = te.scan(init, update, state, name="S")
    with pytest.raises(tw.CompileError) as raised:
        tw.build(te.create_schedule(S.op), [X, S], target)
    assert str(raised.value).endswith(f"error: read: index 1 leaves the tensor: expected 0 to 15, got {got}")
    assert pathlib.Path(__file__).name in str(raised.value)


def test_a_step_reads_the_rows_of_inputs_that_it_has() -> None:
    """Row t - 1 of an input that has none for the first step, as LSTMs have it."""
    m, n = 8, 16
    X = te.placeholder((m - 1, n), name="X")
    state = te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: te.const(0.0), name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + X[t - 1, i], name="update")
    S = te.scan(init, update, state, inputs=[X], name="S")
    x, out = np.arange((m - 1) * n, dtype="float32").reshape(m - 1, n), np.empty((m, n), "float32")
    tw.build(te.create_schedule(S.op), [X, S], "cpu")(x, out)
    np.testing.assert_array_equal(out, np.vstack([np.zeros((1, n)), x.cumsum(0)]))
