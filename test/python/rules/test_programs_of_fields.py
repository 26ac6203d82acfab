"""Programs of several fields, in the types that these use: sparse matrices, hashes, dynamic programming, tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from rule_programs import Made, check
from tilewright import te

NUMBERS = np.random.default_rng(11)


def floats(*shape: int, dtype: str = "float32") -> np.ndarray:
    return NUMBERS.standard_normal(shape).astype(dtype)


def sparse_rows_times_a_vector() -> Made:
    P, J = te.placeholder((24,), "int32", name="P"), te.placeholder((100,), "int32", name="J")
    V, X = te.placeholder((100,), "float64", name="V"), te.placeholder((40,), "float64", name="X")
    k = te.reduce_axis((0, 100), name="k")

    def element(i: Any) -> Any:
        is_in_row = te.all(k >= P[i], k < P[i + 1])
        return te.sum(te.if_then_else(is_in_row, V[k] * X[J[k]], te.const(0.0, "float64")), axis=k)

    Y = te.compute((23,), element, name="Y")
    begins = np.sort(np.r_[0, NUMBERS.integers(0, 101, 22), 100]).astype("int32")
    places, v, x = (
        NUMBERS.integers(0, 40, 100).astype("int32"),
        floats(100, dtype="float64"),
        floats(40, dtype="float64"),
    )
    exact = np.zeros(23)
    np.add.at(exact, np.repeat(np.arange(23), np.diff(begins)), v * x[places])
    return [P, J, V, X], [Y], [begins, places, v, x], [exact]


def distances_of_bits() -> Made:
    A, B = te.placeholder((21, 5), "uint64", name="A"), te.placeholder((17, 5), "uint64", name="B")
    k = te.reduce_axis((0, 5), name="k")
    Y = te.compute(
        (21, 17), lambda i, j: te.sum(te.popcount(A[i, k] ^ B[j, k]).astype("int32"), axis=k), name="distance"
    )
    a, b = (NUMBERS.integers(0, 2**64, (n, 5), dtype="uint64") for n in (21, 17))
    bits = np.unpackbits((a[:, None] ^ b[None]).view("uint8"), axis=-1)
    return [A, B], [Y], [a, b], [bits.reshape(21, 17, -1).sum(-1, dtype="int64")]


def most_probable_states() -> Made:
    E, T = te.placeholder((12, 7), name="E"), te.placeholder((7, 7), name="T")
    s, k = te.placeholder((12, 7), name="s"), te.reduce_axis((0, 7), name="k")
    best = te.compute((12, 7), lambda t, j: te.max(s[t - 1, k] + T[k, j], axis=k), name="best")
    init = te.compute((1, 7), lambda _, j: E[0, j], name="init")
    Y = te.scan(init, te.compute((12, 7), lambda t, j: best[t, j] + E[t, j], name="next"), s, name="states")
    e, t = floats(12, 7), floats(7, 7)
    exact = [e[0].astype("float64")]
    for row in e[1:]:
        exact.append((exact[-1][:, None] + t).max(0) + row)
    return [E, T], [Y], [e, t], [np.stack(exact)]


def sums_that_begin_anew() -> Made:
    F, X = te.placeholder((20, 6), "bool", name="F"), te.placeholder((20, 6), "int32", name="X")
    total, last = (te.placeholder((20, 6), "int32", name=name) for name in ("total", "last"))
    inits = [
        te.compute((1, 6), lambda _, i: X[0, i], name="first"),
        te.compute((1, 6), lambda _, i: te.const(0), name="none"),
    ]
    updates = [
        te.compute((20, 6), lambda t, i: te.if_then_else(F[t, i], X[t, i], total[t - 1, i] + X[t, i]), name="add"),
        te.compute((20, 6), lambda t, i: te.if_then_else(F[t, i], t.astype("int32"), last[t - 1, i]), name="begin"),
    ]
    outputs = te.scan(inits, updates, [total, last], name="segments")
    f: np.ndarray = NUMBERS.random((20, 6)) < 0.2
    x: np.ndarray = NUMBERS.integers(-50, 50, (20, 6)).astype("int32")
    totals, begins = np.zeros((20, 6), "int32"), np.zeros((20, 6), "int32")
    totals[0] = x[0]
    for t in range(1, 20):
        totals[t] = np.where(f[t], x[t], totals[t - 1] + x[t])
        begins[t] = np.where(f[t], t, begins[t - 1])
    return [F, X], outputs, [f, x], [totals, begins]


def variance_in_one_pass() -> Made:
    X, k = te.placeholder((13, 100), name="X"), te.reduce_axis((0, 100), name="k")

    def both(a: Any, b: Any) -> Any:
        count, apart = a[0] + b[0], b[1] - a[1]
        safe = te.max(count, 1.0)
        return count, a[1] + apart * b[0] / safe, a[2] + b[2] + apart * apart * a[0] * b[0] / safe

    welford = te.comm_reducer(
        both, lambda n, mean, squares: (te.const(0.0, n), te.const(0.0, mean), te.const(0.0, squares)), name="welford"
    )
    outputs = te.compute((13,), lambda i: welford((te.const(1.0), X[i, k], te.const(0.0)), axis=k), name="W")
    x = (floats(13, 100) + 100).astype("float32")
    wide = x.astype("float64")
    return [X], list(outputs), [x], [np.full(13, 100.0), wide.mean(1), wide.var(1) * 100]


def weights_of_four_bits() -> Made:
    Q, S = te.placeholder((31, 32), "uint8", name="Q"), te.placeholder((31, 4), "float16", name="S")
    X, k = te.placeholder((64,), "float16", name="X"), te.reduce_axis((0, 64), name="k")

    def weight(i: Any) -> Any:
        return ((Q[i, k // 2] >> ((k % 2) * 4).astype("uint8")) & 0xF).astype("float32") - 8.0

    Y = te.compute(
        (31,),
        lambda i: te.sum(weight(i) * S[i, k // 16].astype("float32") * X[k].astype("float32"), axis=k),
        name="Y",
    )
    q, s, x = (
        NUMBERS.integers(0, 256, (31, 32)).astype("uint8"),
        floats(31, 4, dtype="float16"),
        floats(64, dtype="float16"),
    )
    weights = np.stack([q & 15, q >> 4], -1).reshape(31, 64).astype("float64") - 8
    return [Q, S, X], [Y], [q, s, x], [(weights * np.repeat(s.astype("float64"), 16, 1)) @ x.astype("float64")]


def hashes_of_bytes() -> Made:
    X, h = te.placeholder((7, 12), "uint8", name="X"), te.placeholder((13, 7), "uint64", name="h")
    offset, prime = te.const(0xCBF29CE484222325, "uint64"), te.const(0x100000001B3, "uint64")
    update = te.compute((13, 7), lambda t, i: (h[t - 1, i] ^ X[i, t - 1].astype("uint64")) * prime, name="update")
    H = te.scan(te.compute((1, 7), lambda _, i: offset, name="init"), update, h, name="fnv")
    Y = te.compute((7,), lambda i: H[12, i] % te.const(1000003, "uint64"), name="bucket")  # type: ignore[index]
    x = NUMBERS.integers(0, 256, (7, 12)).astype("uint8")
    exact = list[int]()
    for row in x:
        value = 0xCBF29CE484222325
        for one in row:
            value = (value ^ int(one)) * 0x100000001B3 % 2**64
        exact.append(value % 1000003)
    return [X], [Y], [x], [np.array(exact)]


def quotients_of_either_sign() -> Made:
    A, B = te.placeholder((120,), "int64", name="A"), te.placeholder((120,), "int64", name="B")
    kinds: list[Callable[[Any, Any], Any]] = [te.floordiv, te.floormod, te.truncdiv, te.truncmod]

    def element(kind: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
        return lambda i: kind(A[i], B[i])

    outputs = [te.compute((120,), element(kind), name=f"kind{number}") for number, kind in enumerate(kinds)]
    a, b = NUMBERS.integers(-(2**62), 2**62, 120), NUMBERS.integers(1, 10, 120)
    b *= NUMBERS.choice([-1, 1], 120)
    quotient = np.abs(a) // np.abs(b) * np.sign(a) * np.sign(b)
    return [A, B], outputs, [a, b], [a // b, a % b, quotient, a - quotient * b]


def places_in_a_sorted_table() -> Made:
    S, Q = te.placeholder((64,), name="S"), te.placeholder((41,), name="Q")

    def element(i: Any) -> Any:
        low: Any = te.const(0)
        for step in (32, 16, 8, 4, 2, 1):
            low = te.if_then_else(S[te.min(low + step - 1, 63)] < Q[i], low + step, low)
        return te.if_then_else(te.all(low == 63, S[63] < Q[i]), 64, low)

    Y = te.compute((41,), element, name="Y")
    s, q = np.sort(floats(64)), floats(41) * 2
    return [S, Q], [Y], [s, q], [np.searchsorted(s, q)]


def reachable_nodes() -> Made:
    A, B = te.placeholder((40, 35), "bool", name="A"), te.placeholder((35, 29), "bool", name="B")
    k = te.reduce_axis((0, 35), name="k")
    some = te.comm_reducer(lambda a, b: te.any(a, b), lambda dtype: te.const(False, dtype), name="some")
    Y = te.compute((40, 29), lambda i, j: some(te.all(A[i, k], B[k, j]), axis=k), name="Y")
    a, b = NUMBERS.random((40, 35)) < 0.1, NUMBERS.random((35, 29)) < 0.1
    return [A, B], [Y], [a, b], [a.astype(int) @ b > 0]


PROGRAMS: list[Callable[[], Made]] = [
    sparse_rows_times_a_vector, distances_of_bits, most_probable_states, sums_that_begin_anew, variance_in_one_pass,
    weights_of_four_bits, hashes_of_bytes, quotients_of_either_sign, places_in_a_sorted_table, reachable_nodes,
]  # fmt: skip


@pytest.mark.sample(6)
@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs_of_fields(program: Callable[[], Made], target: str) -> None:
    check(program, target)


@pytest.mark.parametrize("threads", [1, 8, 16])
def test_what_is_kept_of_a_column_is_read_by_the_thread_that_stored_it(threads: int) -> None:
    """A softmax of channels and the largest of what is made of it, with 16 channels and more a thread."""
    channels, places = 272, 4
    x = te.placeholder((2, channels, places), "float32", name="X")
    k = [te.reduce_axis((0, channels)) for _ in range(3)]
    m = te.compute((2, places), lambda n, i: te.max(x[n, k[0], i], axis=k[0]), name="M")
    e = te.compute(x.shape, lambda n, c, i: te.exp(x[n, c, i] - m[n, i]), name="E")
    s = te.compute((2, places), lambda n, i: te.sum(e[n, k[1], i], axis=k[1]), name="S")
    p = te.compute(x.shape, lambda n, c, i: e[n, c, i] / s[n, i] * x[n, c, i], name="P")
    y = te.compute((2, places), lambda n, i: te.max(p[n, k[2], i], axis=k[2]), name="Y")
    f = tw.build(tw.auto_schedule([y], "sim", settings={"Y": {"threads": threads}}), [x, y], "sim")
    given = np.random.default_rng(3).standard_normal((2, channels, places)).astype("float32")
    made = np.zeros((2, places), "float32")
    f(given, made)
    weights = np.exp(given - given.max(1, keepdims=True))
    np.testing.assert_allclose(made, (weights / weights.sum(1, keepdims=True) * given).max(1), rtol=1e-5)
