"""Scans with stages in their steps: recurrent layers, powers and exponentials of matrices, states of several shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tilewright as tw
from tilewright import te, testing
from tilewright.te import Schedule, Tensor
from tilewright.te.interpret import interpret

Arrays = list[NDArray[Any]]
BLOCK, TX, TY = "blockIdx.x", "threadIdx.x", "threadIdx.y"


@dataclass
class Program:
    """A scan with the names of its stages, and what it computes by NumPy."""

    inputs: list[Tensor]
    outputs: list[Tensor]
    stages: dict[str, Tensor]
    expected: Callable[..., Arrays]
    rtol: float = 1e-12


def sum_over(n: int, element: Callable[..., Any], name: str) -> Any:
    k = te.reduce_axis((0, n), name=name)
    return te.sum(element(k), axis=k)


def rnn(steps: int, batch: int, hidden: int) -> Program:
    X = te.placeholder((steps, batch, hidden), "float64", name="X")
    W = te.placeholder((hidden, hidden), "float64", name="W")
    h = te.placeholder((steps, batch, hidden), "float64", name="h")
    init = te.compute((1, batch, hidden), lambda _, i, j: X[0, i, j], name="init")
    product = te.compute(
        (steps, batch, hidden), lambda t, i, j: sum_over(hidden, lambda k: h[t - 1, i, k] * W[j, k], "k"), name="Wh"
    )
    update = te.compute((steps, batch, hidden), lambda t, i, j: te.tanh(product[t, i, j] + X[t, i, j]), name="update")
    out = te.scan(init, update, h, inputs=[X], name="rnn")

    def expected(x: NDArray[Any], w: NDArray[Any]) -> Arrays:
        state = x.copy()
        for t in range(1, steps):
            state[t] = np.tanh(state[t - 1] @ w.T + x[t])
        return [state]

    stages = {"init": init, "product": product, "update": update, "scan": out, "state": h, "W": W}
    return Program([X, W], [out], stages, expected)


def sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    return 1 / (1 + np.exp(-x))


def gru(steps: int, batch: int, hidden: int) -> Program:
    shape = (steps, batch, hidden)
    X = te.placeholder((steps, batch, 3, hidden), "float64", name="X")
    W = te.placeholder((3, hidden, hidden), "float64", name="W")
    h = te.placeholder(shape, "float64", name="h")
    init = te.compute((1, batch, hidden), lambda *_: te.const(0.0, "float64"), name="init")
    product = te.compute(
        (steps, batch, 3, hidden),
        lambda t, i, x, j: sum_over(hidden, lambda k: h[t - 1, i, k] * W[x, j, k], "k"),
        name="Wh",
    )
    reset = te.compute(shape, lambda t, i, j: te.sigmoid(X[t, i, 0, j] + product[t, i, 0, j]), name="reset")
    gate = te.compute(shape, lambda t, i, j: te.sigmoid(X[t, i, 1, j] + product[t, i, 1, j]), name="gate")
    new = te.compute(shape, lambda t, i, j: te.tanh(X[t, i, 2, j] + reset[t, i, j] * product[t, i, 2, j]), name="new")
    update = te.compute(
        shape, lambda t, i, j: (1 - gate[t, i, j]) * new[t, i, j] + gate[t, i, j] * h[t - 1, i, j], name="update"
    )
    out = te.scan(init, update, h, name="gru")

    def expected(x: NDArray[Any], w: NDArray[Any]) -> Arrays:
        state = np.zeros(shape)
        for t in range(1, steps):
            r, z, n = (state[t - 1] @ w[g].T for g in range(3))
            r, z = sigmoid(x[t, :, 0] + r), sigmoid(x[t, :, 1] + z)
            state[t] = (1 - z) * np.tanh(x[t, :, 2] + r * n) + z * state[t - 1]
        return [state]

    stages = {"init": init, "product": product, "update": update, "scan": out, "state": h, "W": W}
    stages |= {"reset": reset, "gate": gate, "new": new}
    return Program([X, W], [out], stages, expected)


def lstm(steps: int, batch: int, hidden: int) -> Program:
    """As TVM's apps/lstm had it."""
    shape = (steps, batch, hidden)
    X = te.placeholder((steps, batch, 4, hidden), "float64", name="Xi2h")
    W = te.placeholder((4, hidden, hidden), "float64", name="Wh2h")
    h, c = (te.placeholder(shape, "float64", name=name) for name in ("h", "c"))
    init_h, init_c = (
        te.compute((1, batch, hidden), lambda *_: te.const(0.0, "float64"), name=name) for name in ("h0", "c0")
    )
    product = te.compute(
        (steps, batch, 4, hidden),
        lambda t, i, x, j: sum_over(hidden, lambda k: h[t - 1, i, k] * W[x, j, k], "k"),
        name="s_h2h",
    )
    gates = te.compute((steps, batch, 4, hidden), lambda *at: X(*at) + product(*at), name="gates")
    in_gate = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, i, 0, j]), name="in_gate")
    transform = te.compute(shape, lambda t, i, j: te.tanh(gates[t, i, 1, j]), name="in_transform")
    forget = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, i, 2, j]), name="forget_gate")
    out_gate = te.compute(shape, lambda t, i, j: te.sigmoid(gates[t, i, 3, j]), name="out_gate")
    next_c = te.compute(
        shape,
        lambda t, i, j: forget[t, i, j] * c[t - 1, i, j] + in_gate[t, i, j] * transform[t, i, j],
        name="next_c",
    )
    next_h = te.compute(shape, lambda t, i, j: out_gate[t, i, j] * te.tanh(next_c[t, i, j]), name="next_h")
    update_c = te.compute(shape, lambda *at: next_c(*at), name="update_c")
    update_h = te.compute(shape, lambda *at: next_h(*at), name="update_h")
    scan_h, scan_c = te.scan([init_h, init_c], [update_h, update_c], [h, c], inputs=[X], name="lstm")

    def expected(x: NDArray[Any], w: NDArray[Any]) -> Arrays:
        hs, cs = np.zeros(shape), np.zeros(shape)
        for t in range(1, steps):
            i, j, f, o = (x[t, :, g] + hs[t - 1] @ w[g].T for g in range(4))
            cs[t] = sigmoid(f) * cs[t - 1] + sigmoid(i) * np.tanh(j)
            hs[t] = sigmoid(o) * np.tanh(cs[t])
        return [hs, cs]

    stages = {"init": init_h, "init_c": init_c, "product": product, "update": update_h, "scan": scan_h, "state": h}
    stages |= {"W": W, "gates": gates, "in_gate": in_gate, "in_transform": transform, "forget_gate": forget}
    stages |= {"out_gate": out_gate, "next_c": next_c, "next_h": next_h, "update_c": update_c, "scan_c": scan_c}
    return Program([X, W], [scan_h, scan_c], stages, expected)


def powers(steps: int, n: int, _: int = 0) -> Program:
    """A, A^2, A^3 and so on: the update itself is the reduction."""
    A = te.placeholder((n, n), "float64", name="A")
    P = te.placeholder((steps, n, n), "float64", name="P")
    init = te.compute((1, n, n), lambda _, i, j: A[i, j], name="init")
    update = te.compute(
        (steps, n, n), lambda t, i, j: sum_over(n, lambda k: P[t - 1, i, k] * A[k, j], "k"), name="update"
    )
    out = te.scan(init, update, P, name="powers")

    def expected(a: NDArray[Any]) -> Arrays:
        made = [a]
        for _ in range(1, steps):
            made.append(made[-1] @ a)
        return [np.stack(made)]

    stages = {"init": init, "product": update, "scan": out, "state": P, "W": A}
    return Program([A], [out], stages, expected)


def exponential(steps: int, n: int, _: int = 0) -> Program:
    """The series of exp(A): the terms, and their sums, which read the term of their own step."""
    A = te.placeholder((n, n), "float64", name="A")
    term, total = (te.placeholder((steps, n, n), "float64", name=name) for name in ("term", "total"))
    one, zero = te.const(1.0, "float64"), te.const(0.0, "float64")
    first, first_total = (
        te.compute((1, n, n), lambda _, i, j: te.if_then_else(i == j, one, zero), name=name) for name in ("I", "J")
    )
    product = te.compute(
        (steps, n, n), lambda t, i, j: sum_over(n, lambda k: term[t - 1, i, k] * A[k, j], "k"), name="product"
    )
    next_term = te.compute(
        (steps, n, n), lambda t, i, j: product[t, i, j] / te.max(t, 1).astype("float64"), name="next_term"
    )
    next_total = te.compute((steps, n, n), lambda t, i, j: total[t - 1, i, j] + next_term[t, i, j], name="next_total")
    _, sums = te.scan([first, first_total], [next_term, next_total], [term, total], name="exp")
    terms = _

    def expected(a: NDArray[Any]) -> Arrays:
        made = [np.eye(n)]
        for t in range(1, steps):
            made.append(made[-1] @ a / t)
        return [np.stack(made), np.cumsum(made, axis=0)]

    stages = {"init": first, "init_c": first_total, "product": product, "update": next_term, "scan": terms}
    stages |= {"state": term, "W": A, "update_c": next_total, "scan_c": sums}
    return Program([A], [terms, sums], stages, expected)


def two_shapes(steps: int, m: int, n: int) -> Program:
    """States of two shapes, each from the other's step before."""
    X = te.placeholder((steps, m), "float64", name="X")
    a, b = te.placeholder((steps, m), "float64", name="a"), te.placeholder((steps, n, 2), "float64", name="b")
    a0 = te.compute((1, m), lambda _, i: X[0, i], name="a0")
    b0 = te.compute((1, n, 2), lambda _, j, r: te.const(0.5, "float64"), name="b0")
    total = te.compute((steps,), lambda t: sum_over(n, lambda k: b[t - 1, k, 0] - b[t - 1, k, 1], "k"), name="total")
    da = te.compute((steps, m), lambda t, i: 0.5 * a[t - 1, m - 1 - i] + total[t] + X[t, i], name="da")
    db = te.compute((steps, n, 2), lambda t, j, r: b[t - 1, j, 1 - r] - 0.25 * a[t - 1, 0], name="db")
    A, B = te.scan([a0, b0], [da, db], [a, b], name="pair")

    def expected(x: NDArray[Any]) -> Arrays:
        first, second = x.copy(), np.full((steps, n, 2), 0.5)
        for t in range(1, steps):
            s = (second[t - 1, :, 0] - second[t - 1, :, 1]).sum()
            first[t] = 0.5 * first[t - 1, ::-1] + s + x[t]
            second[t] = second[t - 1, :, ::-1] - 0.25 * first[t - 1, 0]
        return [first, second]

    stages = {"init": a0, "init_c": b0, "product": total, "update": da, "update_c": db, "scan": A, "scan_c": B}
    return Program([X], [A, B], stages | {"state": b}, expected)


def power_iteration(steps: int, n: int, _: int = 0) -> Program:
    """A reduction of a reduction in each step: a vector times a matrix, by its norm; of the second order."""
    A = te.placeholder((n, n), "float64", name="A")
    v = te.placeholder((steps, n), "float64", name="v")
    init = te.compute((2, n), lambda t, i: 1.0 / (i + t + 1).astype("float64"), name="init")
    product = te.compute(
        (steps, n), lambda t, i: sum_over(n, lambda k: A[i, k] * (v[t - 1, k] + v[t - 2, k]), "k"), name="Av"
    )
    norm = te.compute((steps,), lambda t: sum_over(n, lambda k: te.abs(product[t, k]), "k"), name="norm")
    update = te.compute((steps, n), lambda t, i: product[t, i] / norm[t], name="update")
    out = te.scan(init, update, v, name="iteration")

    def expected(a: NDArray[Any]) -> Arrays:
        made = [1 / (np.arange(n) + t + 1) for t in range(2)]
        for _ in range(2, steps):
            w = a @ (made[-1] + made[-2])
            made.append(w / np.abs(w).sum())
        return [np.stack(made[:steps])]

    stages = {"init": init, "product": product, "update": update, "scan": out, "state": v, "W": A, "norm": norm}
    return Program([A], [out], stages, expected)


PROGRAMS = [rnn, gru, lstm, powers, exponential, two_shapes, power_iteration]
SIZES = [(2, 1, 3), (5, 4, 8), (9, 3, 17)]


def run(program: Program, what: Schedule | list[Tensor], target: str) -> None:
    function = tw.build(what, [*program.inputs, *program.outputs], target)
    rng = np.random.default_rng(5)
    inputs = [rng.standard_normal(tuple(map(int, one.shape))) for one in program.inputs]
    outputs = [np.full(tuple(map(int, one.shape)), np.nan) for one in program.outputs]
    function(*inputs, *outputs)
    for got, want in zip(outputs, program.expected(*inputs), strict=True):
        np.testing.assert_allclose(got, want, rtol=program.rtol, atol=1e-12 * max(np.abs(want).max(), 1))


def schedule(program: Program) -> Schedule:
    return te.create_schedule([one.op for one in program.outputs])


def on_threads(s: Schedule, stage: Tensor, count: int = 4, axis: int = -1) -> None:
    """The last axis of a stage, dealt out to the threads."""
    outer, inner = s[stage].split(s[stage].op.axis[axis], factor=count)
    s[stage].bind(inner, te.thread_axis(TX))


@pytest.mark.sample(3)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", PROGRAMS)
def test_unscheduled(make: Callable[..., Program], size: tuple[int, ...]) -> None:
    program = make(*size)
    run(program, program.outputs, "cpu")
    run(program, schedule(program), "cpu")


@pytest.mark.sample(3)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", PROGRAMS)
def test_threads_of_one_block(make: Callable[..., Program], size: tuple[int, ...]) -> None:
    """Threads exchange what each step hands on; stages that bind none are shared among them."""
    program = make(*size)
    s = schedule(program)
    for name in ("init", "init_c", "product", "update_c", "scan"):
        if name in program.stages and s[program.stages[name]].op.axis[1:]:
            on_threads(s, program.stages[name])
    run(program, s, "sim")
    assert tw.build(s, [*program.inputs, *program.outputs], tw.Target("cuda", arch="sm_90a")).cubin


@pytest.mark.sample(3)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("make", [rnn, gru, lstm])
@pytest.mark.parametrize("order", ["block outside", "block inside"])
def test_a_block_for_each_part_of_the_batch(make: Callable[..., Program], size: tuple[int, ...], order: str) -> None:
    """Blocks go through the steps each by itself; the state comes by way of shared memory."""
    program = make(*size)
    s, stages = schedule(program), program.stages
    cached = s.cache_read(stages["state"], "shared", [stages["product"]])
    for name in ("gates", "in_gate", "in_transform", "forget_gate", "out_gate", "next_h", "reset", "gate", "new"):
        if name in stages:
            s[stages[name]].compute_inline()
    t, i, j = s[stages["scan"]].op.axis
    outer, inner = s[stages["scan"]].split(i, factor=2)
    s[stages["scan"]].bind(outer, te.thread_axis(BLOCK))
    s[stages["scan"]].reorder(*((outer, t, inner, j) if order == "block outside" else (t, outer, inner, j)))
    on_threads(s, stages["scan"])
    s[cached].compute_at(s[stages["scan"]], t)
    for name in ("product", "init", "init_c", "next_c", "update_c"):
        if name in stages:
            on_threads(s, stages[name])
    run(program, s, "sim")
    function = tw.build(s, [*program.inputs, *program.outputs], tw.Target("cuda", arch="sm_90a"))
    assert function.launch_config()[-1].grid == (-(-size[1] // 2), 1, 1)


@pytest.mark.parametrize("size", SIZES)
def test_inner_stages_in_the_loops_of_updates(size: tuple[int, ...]) -> None:
    """Reductions where they are read, and one whose parts are combined across threads."""
    program = rnn(*size)
    for target in ("cpu", "sim"):
        s, stages = schedule(program), program.stages
        t, i, j = s[stages["scan"]].op.axis
        s[stages["product"]].compute_at(s[stages["scan"]], j)
        if target == "sim":
            s[stages["scan"]].bind(i, te.thread_axis(TY))
            s[stages["init"]].bind(stages["init"].op.axis[1], te.thread_axis(BLOCK))
            (k,) = s[stages["product"]].op.reduce_axis
            _, inner = s[stages["product"]].split(k, factor=4)
            s[stages["product"]].bind(inner, te.thread_axis(TX))
        else:
            s[stages["scan"]].reorder(i, t, j)
            s[stages["scan"]].parallel(i)
        run(program, s, target)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_a_scan_without_steps(target: str) -> None:
    program = rnn(1, 2, 3)
    run(program, tw.auto_schedule(program.outputs, target), target)


@pytest.mark.sample(3)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_primitives_that_make_stages(size: tuple[int, ...], target: str) -> None:
    """rfactor and cache_write of a stage in the steps: what they make is in the steps as well."""
    program = rnn(*size)
    s, stages = schedule(program), program.stages
    _, inner = s[stages["product"]].split(s[stages["product"]].op.reduce_axis[0], factor=4)
    parts = s.rfactor(stages["product"], inner)
    local = s.cache_write(stages["product"], "local")
    s[local].compute_at(s[stages["product"]], s[stages["product"]].op.axis[2])
    if target == "sim":
        for stage in (parts, stages["product"], stages["scan"], stages["init"]):
            on_threads(s, stage)
    run(program, s, target)


def test_the_program_is_as_it_was_written() -> None:
    """One loop of the steps with all stages in it, each for one step, guarded where the inits reach."""
    program = rnn(7, 2, 8)
    s = schedule(program)
    text = tw.lower(s, [*program.inputs, *program.outputs], simple_mode=True)
    assert text.count("for t in range(7)") == 1
    assert "Wh: " in text and "[1, 2, 8]" in text


@pytest.mark.parametrize("symbolic", [False, True])
@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_symbolic_extents(symbolic: bool, target: str) -> None:
    """One function for any number of steps, none of them too, and of rows."""
    steps, batch, hidden = te.var("steps"), te.var("batch"), 6
    X = te.placeholder((steps, batch, hidden), "float64", name="X")
    h = te.placeholder((steps, batch, hidden), "float64", name="h")
    init = te.compute((1, batch, hidden), lambda _, i, j: te.const(1.0, "float64"), name="init")
    total = te.compute((steps, batch), lambda t, i: sum_over(hidden, lambda k: h[t - 1, i, k] / 7.0, "k"), name="total")
    update = te.compute((steps, batch, hidden), lambda t, i, j: total[t, i] + X[t, i, j], name="update")
    out = te.scan(init, update, h, name="out")
    s = te.create_schedule(out.op)
    t, i, j = s[out].op.axis
    if target == "sim":
        for stage in (init, out):
            s[stage].bind(s[stage].op.axis[1], te.thread_axis(BLOCK))
            s[stage].bind(s[stage].op.axis[2], te.thread_axis(TX))
        if symbolic:
            s[total].compute_at(s[out], s[out].op.axis[2])
    elif symbolic:
        s[out].reorder(i, t, j)
        s[out].parallel(i)
    function = tw.build(s, [X, out], target)
    for shape in ((1, 1, 6), (4, 3, 6), (11, 5, 6)):
        x, got = np.random.default_rng(1).random(shape), np.full(shape, np.nan)
        function(x, got)
        want = np.ones(shape)
        for step in range(1, shape[0]):
            want[step] = want[step - 1].sum(axis=-1, keepdims=True) / 7 + x[step]
        np.testing.assert_allclose(got, want, rtol=1e-13)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_what_reads_a_scan_and_what_it_reads(target: str) -> None:
    """Stages before and behind a scan, of which one result is read by another scan."""
    steps, n = 6, 9
    X = te.placeholder((steps, n), "float64", name="X")
    scaled = te.compute((steps, n), lambda t, i: X[t, i] * 0.5, name="scaled")

    def mean(source: Tensor, name: str) -> tuple[Tensor, Tensor, Tensor]:
        state = te.placeholder((steps, n), "float64", name=f"{name}_state")
        init = te.compute((1, n), lambda _, i: source[0, i], name=f"{name}_init")
        m = te.compute((steps,), lambda t: sum_over(n, lambda k: state[t - 1, k] / n, "k"), name=f"{name}_mean")
        update = te.compute((steps, n), lambda t, i: source[t, i] - m[t], name=f"{name}_update")
        return init, m, te.scan(init, update, state, name=name)

    init1, mean1, one = mean(scaled, "one")
    init2, mean2, two = mean(one, "two")
    Y = te.compute((steps, n), lambda t, i: one[t, i] + two[steps - 1 - t, i], name="Y")
    s = te.create_schedule(Y.op)
    if target == "sim":
        for stage in (scaled, init1, one, init2, two, Y):
            s[stage].bind(s[stage].op.axis[1], te.thread_axis(TX))
    x, out = np.random.default_rng(2).random((steps, n)), np.full((steps, n), np.nan)
    tw.build(s, [X, Y], target)(x, out)

    def expected(a: NDArray[Any]) -> NDArray[Any]:
        a = a.copy()
        for t in range(1, steps):
            a[t] -= a[t - 1].mean()
        return a

    first = expected(x * 0.5)
    np.testing.assert_allclose(out, first + expected(first)[::-1], rtol=1e-12, atol=1e-13)


def test_bisect_runs_every_stage() -> None:
    program = lstm(4, 2, 3)
    s = schedule(program)
    for name in ("init", "init_c", "product", "update_c", "scan"):
        on_threads(s, program.stages[name])
    found = testing.bisect(s, [*program.inputs, *program.outputs], target="sim")
    assert found.stage is None, str(found)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_extents_that_are_written_twice(target: str) -> None:
    """`n - 1` steps are as many as `n - 1`, though the two are expressions of their own."""
    n = te.var("n")
    X = te.placeholder((n, 4), name="X")
    S = te.placeholder((n - 1, 4), name="S")
    init = te.compute((1, 4), lambda t, j: X[t, j], name="init")
    k = te.reduce_axis((0, 4), name="k")
    largest = te.compute((n - 1, 4), lambda t, j: te.max(S[t - 1, k], axis=k), name="largest")
    update = te.compute((n - 1, 4), lambda t, j: largest[t, j] + X[t, j], name="update")
    T = te.scan(init, update, S, name="T")
    s = te.create_schedule(T.op)
    if target == "sim":
        for stage in (init, largest):
            s[stage].bind(s[stage].op.axis[1], te.thread_axis(TX))
        s[T].bind(s[T].op.axis[1], te.thread_axis(TX))
    x = np.arange(28).reshape(7, 4).astype("float32")
    want = x[:6].copy()
    for t in range(1, 6):
        want[t] = want[t - 1].max() + x[t]
    (got,) = testing.run(tw.build(s, [X, T], target, name="f"), [x], [((6, 4), "float32")])
    np.testing.assert_array_equal(got, want)


@pytest.mark.sample(6)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("size", [(2, 1, 3), (5, 2, 4), (7, 3, 8)])
@pytest.mark.parametrize("how", ["as it is", "inlined", "cached"])
def test_an_input_of_one_row_less_than_there_are_steps(target: str, size: tuple[int, ...], how: str) -> None:
    """As TVM's test of an LSTM: the matmul of row t - 1 needs no state, and has no row for the first step."""
    steps, batch, hidden = size
    shape = (steps, batch, hidden)
    X = te.placeholder((steps - 1, batch, hidden), "float64", name="X")
    W, U = (te.placeholder((hidden, hidden), "float64", name=name) for name in "WU")
    h = te.placeholder(shape, "float64", name="h")
    init = te.compute((1, batch, hidden), lambda *_: te.const(0.0, "float64"), name="init")
    given = te.compute(shape, lambda t, i, j: sum_over(hidden, lambda k: X[t - 1, i, k] * W[j, k], "k"), name="i2h")
    kept = te.compute(shape, lambda t, i, j: sum_over(hidden, lambda k: h[t - 1, i, k] * U[j, k], "k"), name="h2h")
    gates = te.compute(shape, lambda *at: given(*at) + kept(*at), name="gates")
    update = te.compute(shape, lambda *at: te.tanh(gates(*at)), name="update")
    out = te.scan(init, update, h, inputs=[X], name="rnn")
    s = te.create_schedule(out.op)
    if how == "inlined":
        s[gates].compute_inline()
    stages = [given, kept, update] if how == "inlined" else [given, kept, gates, update]
    if how == "cached":
        stages.append(s.cache_write(given, "global"))
    if target == "sim":
        for stage in (init, *stages):
            s[stage].bind(s[stage].op.axis[2], te.thread_axis(TX))
    x, w, u = (np.random.default_rng(4).standard_normal(one) for one in (X.shape, W.shape, U.shape))
    expected = np.zeros(shape)
    for t in range(1, steps):
        expected[t] = np.tanh(x[t - 1] @ w.T + expected[t - 1] @ u.T)
    (got,) = testing.run(tw.build(s, [X, W, U, out], target), [x, w, u], [(shape, "float64")])
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    np.testing.assert_allclose(interpret([out], {X: x, W: w, U: u}, {})[0], expected, rtol=1e-12)


def test_rows_that_others_read_are_all_computed() -> None:
    X, h = te.placeholder((3, 4), name="X"), te.placeholder((4, 4), name="h")
    init = te.compute((1, 4), lambda *_: te.const(0.0), name="init")
    given = te.compute((4, 4), lambda t, j: X[t - 1, j] * 2, name="given")
    kept = te.compute((4, 4), lambda t, j: sum_over(4, lambda k: h[t - 1, k], "k"), name="kept")
    update = te.compute((4, 4), lambda *at: given(*at) + kept(*at), name="update")
    out = te.scan(init, update, h, name="S")
    after = te.compute((4, 4), lambda t, j: out[t, j] + given[t, j], name="after")
    for args, last in (([X, after], after), ([X, given, out], out)):
        with pytest.raises(tw.CompileError, match="read: index 0 leaves the tensor: expected 0 to 2, got -1 to 2"):
            tw.build(te.create_schedule(last.op), args, "cpu")
