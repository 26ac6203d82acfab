"""Arguments that are not row-major: against NumPy on random views, with what lies between their rows left as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

POISON = -77.0


def add(target: str | tw.Target, name: str = "add", divisible_by: int = 1, vectorize: bool = False) -> tw.Function:
    """C = A + B of matrices with a leading dimension each, of which A and C have the same."""
    n, m = te.var("n"), te.var("m")
    ld, ldb = te.var("ld", divisible_by=divisible_by), te.var("ldb", divisible_by=divisible_by)
    A = te.placeholder((n, m), strides=(ld, 1), name="A")
    B = te.placeholder((n, m), strides=(ldb, 1), name="B")
    C = te.compute((n, m), lambda i, j: A[i, j] + B[i, j], name="C")
    return built(C, [A, B, te.strided(C, (ld, 1))], target, name, vectorize)


def built(C: te.Tensor, args: list[Any], target: str | tw.Target, name: str, vectorize: bool = False) -> tw.Function:
    s = te.create_schedule(C.op)
    if target != "cpu":
        axis = s[C].fuse(*C.op.axis) if not vectorize else C.op.axis[0]
        outer, inner = s[C].split(axis, 4)
        s[C].bind(outer, te.thread_axis("blockIdx.x"))
        s[C].bind(inner, te.thread_axis("threadIdx.x"))
        if vectorize:
            s[C].vectorize(s[C].split(C.op.axis[-1], 4)[1])
    return tw.build(s, args, target, name=name)


def matrix(rows: int, columns: int, leading: int, fill: float | None = None) -> np.ndarray:
    """A part of a larger matrix, whose other elements are poison."""
    whole = np.full((rows, leading), POISON, "float32")
    part = whole[:, :columns]
    part[:] = np.random.default_rng(rows).random((rows, columns)) if fill is None else fill
    return part


def gaps_of(part: np.ndarray) -> np.ndarray:
    return part.base[:, part.shape[1] :]


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_leading_dimensions(target: str) -> None:
    function = add(target)
    assert str(function.signature) == (
        "add(A: float32[n, m] strides (ld, 1), B: float32[n, m] strides (ldb, 1), C: float32[n, m] strides (ld, 1))"
    )
    for rows, columns, ld, ldb in ((5, 7, 9, 8), (4, 8, 8, 8), (3, 1, 6, 1), (1, 5, 5, 9), (17, 33, 40, 64)):
        a, b, c = matrix(rows, columns, ld), matrix(rows, columns, ldb), matrix(rows, columns, ld, POISON)
        for call in (function, function.ffi):
            c[:] = POISON
            call(a, b, c)
            assert (c == a + b).all() and (gaps_of(c) == POISON).all()
    empty = np.zeros((0, 3), "float32")
    function(empty, empty, empty.copy())


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_transposed_views_and_broadcasts(target: str) -> None:
    """Strides of any order, also 0, and an output that is column-major."""
    n, m, ld = te.var("n"), te.var("m"), te.var("ld")
    A = te.placeholder((n, m), strides=(None, None), name="A")
    row = te.placeholder((n, m), strides=(0, 1), name="row")
    C = te.compute((n, m), lambda i, j: A[i, j] * row[i, j], name="C")
    function = built(C, [A, row, te.strided(C, (1, ld))], target, "scale")
    assert str(function.signature) == (
        "scale(A: float32[n, m] strides (A.stride0, A.stride1), row: float32[n, m] strides (0, 1), "
        "C: float32[n, m] strides (1, ld))"
    )
    whole = np.random.default_rng(0).random((64, 64)).astype("float32")
    one = np.random.default_rng(1).random(12).astype("float32")
    row = np.broadcast_to(one[:9], (6, 9))
    views = (whole[:6, :9], whole.T[:6, :9], whole[:36:6, ::4][:, :9], np.broadcast_to(whole[0, :9], (6, 9)))
    for a in (*views, np.broadcast_to(whole[0, 0], (6, 9)), whole[:24:4, :18:2]):
        held = np.full((9, 8), POISON, "float32")
        c = held.T[:6, :9]
        function(a, row, c)
        assert (c == a * row).all() and (held[:, 6:] == POISON).all()


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_random_views(target: str) -> None:
    """Three dimensions, in any order and with any gaps, of a sum along the first."""
    n, m, k = te.var("n"), te.var("m"), te.var("k")
    A = te.placeholder((k, n, m), strides=(None, None, None), name="A")
    r = te.reduce_axis((0, k), name="r")
    C = te.compute((n, m), lambda i, j: te.sum(A[r, i, j], axis=r), name="C")
    function = built(C, [A, te.strided(C, (None, None))], target, "total")
    choose = np.random.default_rng(2)
    for _ in range(12):
        a, _ = random_view(choose, (int(choose.integers(1, 5)), 6, 7))
        c, held = random_view(choose, (6, 7), POISON)
        before = held.copy()
        function(a, c)
        assert np.allclose(c, a.astype("float64").sum(0), rtol=1e-5)
        c[:] = POISON
        assert (held == before).all()


def random_view(
    choose: np.random.Generator, shape: tuple[int, ...], fill: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """An array of that shape in an order of dimensions and with steps that are random, and what it is a part of."""
    order = choose.permutation(len(shape))
    steps = choose.integers(1, 4, len(shape))
    extents = [shape[dim] * steps[dim] + int(choose.integers(0, 3)) for dim in order]
    held = choose.random(extents).astype("float32") if fill is None else np.full(extents, fill, "float32")
    view = held.transpose(np.argsort(order))
    return view[tuple(slice(0, shape[dim] * steps[dim], steps[dim]) for dim in range(len(shape)))], held


def test_strides_that_are_row_major_are_none() -> None:
    n, m = te.var("n"), te.var("m")
    for shape, strides in (((4, 8), (8, 1)), ((n, 8), (8, 1)), ((n, m), (m, 1)), ((n, m), (None, 1)), ((4, 8), (1, 4))):
        A = te.placeholder(shape, strides=strides, name="A")
        B = te.compute(shape, lambda i, j, A=A: A[i, j] + 1, name="B")
        text = str(tw.lower(te.create_schedule(B.op), [A, B], "f", stage="te"))
        assert ("te.strides" in text) == (strides in ((None, 1), (1, 4)))


CALLS: list[tuple[str, Callable[[], tuple[Any, ...]], type[Exception], str]] = [
    (
        "symbol",
        lambda: (matrix(4, 8, 8), matrix(4, 8, 12), matrix(4, 8, 12)),
        ValueError,
        "argument 2 (C): expected stride ld = 8, as in dimension 0 of A, in dimension 0, got strides (12, 1) for shape "
        "(4, 8)",
    ),
    (
        "number",
        lambda: (matrix(8, 4, 8).T, matrix(4, 8, 12), matrix(4, 8, 12)),
        ValueError,
        "argument 0 (A): expected stride 1 in dimension 1, got strides (1, 8) for shape (4, 8)",
    ),
    (
        "negative",
        lambda: (matrix(4, 8, 8)[::-1], matrix(4, 8, 12), matrix(4, 8, 12)),
        ValueError,
        "argument 0 (A): expected strides of at least 0, got strides (-8, 1) for shape (4, 8)",
    ),
    (
        "overlap in itself",
        lambda: (broadcast(), matrix(4, 8, 12), broadcast()),
        ValueError,
        "argument 2 (C): expected strides that keep the elements of an output apart, got strides (0, 1) for shape (4, 8)",
    ),
    (
        "overlap",
        lambda: overlapping(4),
        ValueError,
        "argument 2 (C): expected memory of its own beside A, for the function writes C, got 208 bytes shared",
    ),
]


def broadcast() -> np.ndarray:
    return np.lib.stride_tricks.as_strided(np.zeros(64, "float32"), (4, 8), (0, 4))


def overlapping(start: int) -> tuple[np.ndarray, ...]:
    whole = np.full((4, 16), POISON, "float32")
    return whole[:, :8], matrix(4, 8, 8), whole[:, start : start + 8]


@pytest.mark.parametrize(("make", "kind", "message"), [case[1:] for case in CALLS], ids=[case[0] for case in CALLS])
def test_what_is_refused(make: Callable[[], tuple[Any, ...]], kind: type[Exception], message: str) -> None:
    function = add("cpu")
    text = str(function.signature)
    for call in (function, function.ffi, lambda *arrays: function.signature.bind(arrays)):
        with pytest.raises(kind) as caught:
            call(*make())
        assert str(caught.value) == f"{text}: {message}"


def test_what_is_known_of_a_stride() -> None:
    n, ld = te.var("n"), te.var("ld", divisible_by=4, min=8, max=16)
    A = te.placeholder((n, 3), strides=(ld, 1), name="A")
    B = te.compute((n, 3), lambda i, j: A[i, j] + 1, name="B")
    function = built(B, [A, B], "cpu", "f")
    for leading, known in ((10, "divisible by 4"), (4, "at least 8"), (20, "at most 16")):
        with pytest.raises(ValueError) as caught:
            function(matrix(2, 3, leading), np.zeros((2, 3), "float32"))
        assert str(caught.value) == (
            "f(A: float32[n, 3] strides (ld, 1), B: float32[n, 3]): argument 0 (A): expected stride ld in dimension 0 to "
            f"be {known}, got strides ({leading}, 1) for shape (2, 3)"
        )
    function(matrix(1, 3, 10), np.zeros((1, 3), "float32"))  # there is no next row


def test_symbols_that_are_extents_and_numbers_too() -> None:
    n, m, ld = te.var("n"), te.var("m"), te.var("ld")
    A = te.placeholder((n, 3), strides=(m, 1), name="A")
    B = te.placeholder((m,), name="B")
    C = te.compute((n,), lambda i: A[i, 0] + B[i] + ld.astype("float32"), name="C")
    D = te.placeholder((n, 3), strides=(ld, 1), name="D")
    E = te.compute((n,), lambda i: C[i] + D[i, 1], name="E")
    s = te.create_schedule(E.op)
    s[C].compute_inline()
    function = tw.build(s, [A, B, D, ld, E], "cpu", name="f")
    a, b, d = matrix(4, 3, 5), np.ones(5, "float32"), matrix(4, 3, 7)
    expected = a[:, 0] + b[:4] + 7 + d[:, 1]
    assert (function(a, b, d, 7) == expected).all()
    text = f"{function.signature}: "
    for arrays, message in (
        ((a, np.ones(6, "float32"), d, 7), "argument 1 (B): expected extent m = 5, as the stride in dimension 0 of A, in dimension 0, got shape (6,)"),
        ((a, b, d, 8), "argument 3 (ld): expected ld = 7, as the stride in dimension 0 of D, got 8"),
    ):  # fmt: skip
        with pytest.raises(ValueError) as caught:
            function(*arrays, np.zeros(4, "float32"))
        assert str(caught.value) == text + message
    function = tw.build(s, [ld, B, A, D, E], "cpu", name="f")
    for arrays, message in (
        ((7, b, matrix(4, 3, 6), d), "argument 2 (A): expected stride m = 5, as the extent in dimension 0 of B, in dimension 0, got strides (6, 1) for shape (4, 3)"),
        ((6, b, a, d), "argument 3 (D): expected stride ld = 6, as argument 0 (ld) says, in dimension 0, got strides (7, 1) for shape (4, 3)"),
    ):  # fmt: skip
        with pytest.raises(ValueError) as caught:
            function(*arrays, np.zeros(4, "float32"))
        assert str(caught.value) == f"{function.signature}: {message}"


def test_null_strides_are_row_major() -> None:
    """They are compared with those that are wanted."""
    A = te.placeholder((4, 8), strides=(16, 1), name="A")
    B = te.compute((4, 8), lambda i, j: A[i, j] + 1, name="B")
    function = built(B, [A, B], "cpu", "f")
    nd = tw.nd.array(np.zeros((4, 8), "float32"))
    with pytest.raises(ValueError) as caught:
        function(nd, nd)
    assert str(caught.value) == (
        "f(A: float32[4, 8] strides (16, 1), B: float32[4, 8]): argument 0 (A): expected stride 16 in dimension 0, got "
        "strides (8, 1) for shape (4, 8)"
    )
    n, m, ld = te.var("n"), te.var("m"), te.var("ld")
    A = te.placeholder((n, m), strides=(ld, 1), name="A")
    B = te.compute((n, m), lambda i, j: A[i, j] + 1, name="B")
    function = built(B, [A, B], "cpu", "f")
    out = tw.nd.array(np.zeros((4, 8), "float32"))
    function(nd, out)
    assert (out.numpy() == 1).all()


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_columns_of_one_matrix(target: str) -> None:
    """An output may lie between the rows of an input."""
    function = add(target)
    a, b, c = overlapping(8)
    a[:] = np.random.default_rng(3).random(a.shape)
    before = a.copy()
    function(a, b, c)
    assert (c == before + b).all() and (a == before).all()


def test_outputs_that_are_not_given_are_row_major() -> None:
    function = add("cpu")
    a, b = matrix(4, 8, 8), matrix(4, 8, 12)
    assert (function(a, b) == a + b).all()
    with pytest.raises(ValueError, match=r"argument 2 \(C\): expected stride ld = 12, as in dimension 0 of A"):
        function(matrix(4, 8, 12), b)


def test_in_libraries(tmp_path: Path) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    function = add("cpu")
    tw.export_library([function], tmp_path / "strides.so", header=True, mcpu="")
    assert (
        f"/* {function.signature}: row-major where no strides are said, on the cpu"
        in (tmp_path / "strides.h").read_text()
    )
    loaded = tvm_ffi.load_module(str(tmp_path / "strides.so"))
    a, b, c = matrix(5, 7, 9), matrix(5, 7, 8), matrix(5, 7, 9, POISON)
    loaded.add(a, b, c)
    assert (c == a + b).all() and (gaps_of(c) == POISON).all()
    with pytest.raises(
        ValueError, match=r"expected stride ld = 9, as in dimension 0 of A, in dimension 0, got strides \(8, 1\)"
    ):
        loaded.add(a, b, matrix(5, 7, 8))
    described = loaded.get_function_metadata("add")["arguments"]
    assert described[0]["strides"] == ["ld", 1]


def test_wrong_strides() -> None:
    n, k = te.var("n"), te.var("k")
    A = te.placeholder((n, 4), name="A")
    cases: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: te.placeholder((4, 4), strides=(4,), name="A"), ValueError, "placeholder A: expected 2 strides, one a dimension, got 1"),
        (lambda: te.placeholder((4, 4), strides=4, name="A"), TypeError, "placeholder A: expected strides, one a dimension, got 4"),
        (lambda: te.placeholder((4, 4), strides=(-4, 1), name="A"), ValueError, "placeholder A: stride of dimension 0: expected at least 0, got -4"),
        (lambda: te.placeholder((4, 4), strides=(k * 2, 1), name="A"), TypeError, "placeholder A: stride of dimension 0: expected an integer, a te.var of int32 or int64, or None, got k * 2"),
        (lambda: te.strided(A, (te.var("x", "float32"), 1)), TypeError, "te.strided A: stride of dimension 0: expected an integer, a te.var of int32 or int64, or None, got x"),
        (lambda: te.strided(A, (1.5, 1)), TypeError, "te.strided A: stride of dimension 0: expected an integer, a te.var of int32 or int64, or None, got 1.5"),
        (lambda: te.strided(3, (1, 1)), TypeError, "te.strided: expected a tensor, got 3"),
    ]  # fmt: skip
    for make, kind, message in cases:
        with pytest.raises(kind) as caught:
            make()
        where, _, text = str(caught.value).partition(": ")
        assert text == message and where.startswith(__file__)


def test_dispatch_chooses_by_strides() -> None:
    """A function for row-major arrays comes before one for any: strides count where some function has them."""
    n, m = te.var("n"), te.var("m")

    def double(strides: tuple[Any, ...] | None, name: str) -> tw.Function:
        A = te.placeholder((n, m), strides=strides, name="A")
        B = te.compute((n, m), lambda i, j: A[i, j] * 2, name="B")
        return built(B, [A, B], "cpu", name)

    either = tw.dispatch([double(None, "compact"), double((None, 1), "rows")], "either")
    a, part = np.ones((4, 8), "float32"), matrix(4, 8, 12)
    assert either.select(a, a.copy()).name == "compact" and either.select(part, a.copy()).name == "rows"
    for call in (either, either.ffi, either._choice):
        for x in (a, part):
            out = np.zeros_like(a)
            call(x, out)
            assert (out == 2 * x).all()
            if call is not either.ffi:  # of which nothing here allocates
                assert (call(x) == 2 * x).all()
    columns = matrix(8, 4, 8).T
    for call in (either, either.ffi, either._choice):
        with pytest.raises(ValueError) as caught:
            call(columns, a.copy())
        assert str(caught.value) == (
            "either: expected a call that one of these takes\n"
            "  compact(A: float32[n, m], B: float32[n, m]): argument 0 (A): expected a row-major array, got strides (1, 8) "
            "for shape (4, 8)\n"
            "  rows(A: float32[n, m] strides (A.stride0, 1), B: float32[n, m]): argument 0 (A): expected stride 1 in "
            "dimension 1, got strides (1, 8) for shape (4, 8)"
        )


def test_in_tuples_and_beside_pointers() -> None:
    n, m, ld = te.var("n"), te.var("m"), te.var("ld")
    A = te.placeholder((n, m), strides=(ld, 1), name="A")
    B = te.placeholder((n, m), name="B")
    C = te.compute((n, m), lambda i, j: A[i, j] + B[i, j], name="C")
    function = tw.build(
        te.create_schedule(C.op), [(A, te.strided(B, (ld, 1))), te.shape("more", (ld,)), C], "cpu", name="f"
    )
    assert str(function.signature).startswith(
        "f(arg0: (A: float32[n, m] strides (ld, 1), B: float32[n, m] strides (ld, 1)), more"
    )
    a, b, c = matrix(4, 8, 12), matrix(4, 8, 12), np.zeros((4, 8), "float32")
    function((a, b), (12,), c)
    assert (c == a + b).all()
    with pytest.raises(ValueError) as caught:
        function((a, b), (13,), c)
    assert str(caught.value).endswith("argument 1[0] (ld): expected ld = 12, as the stride in dimension 0 of A, got 13")
    with pytest.raises(ValueError) as caught:
        te.pointer(A)
    assert str(caught.value).partition(": ")[2] == "te.pointer A: expected a row-major tensor, got one with strides"


def test_binds_of_scripts_for_tvm() -> None:
    """`tvm.tir.decl_buffer` with strides, by `binds=`."""
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    B = te.compute((n, m), lambda i, j: A[i, j] + 1, name="B")
    s = te.create_schedule(B.op)
    rows = tw.tir.decl_buffer(A.shape, A.dtype, name="Ab", strides=[te.var("s1"), 1], offset_factor=1)
    plain = tw.tir.decl_buffer(B.shape, B.dtype, name="Bb")
    function = tw.build(s, [A, B], "cpu", name="f", binds={A: rows, B: plain})
    assert str(function.signature) == "f(A: float32[n, m] strides (s1, 1), B: float32[n, m])"
    a, b = matrix(4, 8, 12), np.zeros((4, 8), "float32")
    function(a, b)
    assert (b == a + 1).all()
    assert "te.strides = array<i64: -1, 1>" in str(tw.lower(s, [A, B], "f", stage="te", binds={A: rows}))
    other = te.placeholder((n, m), name="other")
    cases: list[tuple[Any, type[Exception], str]] = [
        ([A], TypeError, "binds: expected a dictionary of buffers by tensor, got [Tensor(name=A, shape=(n, m), dtype=float32)]"),
        ({A: (8, 1)}, TypeError, "binds: expected buffers of decl_buffer by tensors, got Tensor(name=A, shape=(n, m), dtype=float32): (8, 1)"),
        ({A: tw.tir.decl_buffer((n, 4), name="Ab")}, ValueError, "binds: expected a buffer as A, float32 of shape (n, m), got Ab, float32 of shape (n, 4)"),
        ({other: tw.tir.decl_buffer((n, m), name="Ab")}, ValueError, "binds: expected other among the arguments"),
        ({A: tw.tir.decl_buffer((n, m), name="Ab", strides=[1])}, ValueError, "te.strided A: expected 2 strides, one a dimension, got 1"),
    ]  # fmt: skip
    for binds, kind, message in cases:
        with pytest.raises(kind) as caught:
            tw.build(s, [A, B], "cpu", name="f", binds=binds)
        where, _, text = str(caught.value).partition(": ")
        assert text == message and where.startswith(__file__)
