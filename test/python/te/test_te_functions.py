"""What te's functions compute, on the processor and the simulator, against NumPy in float64."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilewright as tw
from tilewright import te


def computed(function, arrays, dtype=None, target="cpu"):
    """`function` of elements of `arrays`, computed by a program."""
    inputs = [te.placeholder(each.shape, each.dtype.name, name=f"X{i}") for i, each in enumerate(arrays)]
    Y = te.compute(arrays[0].shape, lambda i: function(*(X[i] for X in inputs)), name="Y")
    s = te.create_schedule(Y.op)
    s[Y].bind(Y.op.axis[0], te.thread_axis("threadIdx.x"))
    out = np.empty(arrays[0].shape, Y.dtype)
    tw.build(s, [*inputs, Y], target)(*arrays, out)
    assert dtype is None or out.dtype == dtype
    return out


INTEGERS = np.array([7, -7, 8, -8, 0, 1, -1, 1000], "int32"), np.array([2, 2, -3, -3, 5, 4, 4, -7], "int32")


@pytest.mark.sample(7)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("add", np.add),
        ("subtract", np.subtract),
        ("multiply", np.multiply),
        ("floordiv", np.floor_divide),
        ("floormod", np.mod),
        ("truncdiv", lambda a, b: np.trunc(a / b)),
        ("truncmod", np.fmod),
        ("indexdiv", np.floor_divide),
        ("indexmod", np.mod),
        ("ceildiv", lambda a, b: np.ceil(a / b)),
        ("div", lambda a, b: np.trunc(a / b)),
        ("bitwise_and", np.bitwise_and),
        ("bitwise_or", np.bitwise_or),
        ("bitwise_xor", np.bitwise_xor),
        ("max", np.maximum),
        ("min", np.minimum),
    ],
)
def test_integers(name: str, reference, target: str) -> None:
    got = computed(getattr(te, name), INTEGERS, "int32", target)
    np.testing.assert_array_equal(got, reference(*INTEGERS))


def test_bits() -> None:
    a, b = np.array([1, 6, 255, 4096], "uint32"), np.array([3, 1, 4, 0], "uint32")
    np.testing.assert_array_equal(computed(te.left_shift, (a, b)), a << b)
    np.testing.assert_array_equal(computed(te.right_shift, (a, b)), a >> b)
    np.testing.assert_array_equal(computed(te.bitwise_not, (a,)), ~a)
    np.testing.assert_array_equal(computed(te.popcount, (a,)), [1, 2, 8, 1])


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_logaddexp(target: str) -> None:
    a = np.array([0.0, 1000.0, -1000.0, 3.0, np.inf, -np.inf, np.inf, np.nan])
    b = np.array([0.0, 1000.0, 1000.0, 2.5, np.inf, -np.inf, 1.0, 0.0])
    with np.errstate(invalid="ignore"):
        expected = np.logaddexp(a, b)
    np.testing.assert_allclose(computed(te.logaddexp, (a, b), "float64", target), expected, rtol=1e-14)


def test_select_and_if_then_else() -> None:
    (a, b), both = INTEGERS, []
    for choose in (te.select, te.if_then_else):
        both.append(computed(lambda x, y, choose=choose: choose(te.any(x > y, te.all(x == 0)), x, y), (a, b)))
    np.testing.assert_array_equal(both[0], np.where((a > b) | (a == 0), a, b))
    np.testing.assert_array_equal(both[0], both[1])


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_conditions_guard_what_later_ones_read(target) -> None:
    """As in C, where TVM's kernels came from: an element outside is not read, on either side of the tensor."""
    A, at = te.placeholder((37,), name="A"), te.placeholder((37,), "int32", name="at")
    inside = te.compute((37,), lambda i: te.all(i > 0, A[i - 1] > 0.5, A[i] > 0.25).astype("int32"), name="inside")
    outside = te.compute((37,), lambda i: te.any(i == 36, A[i + 1] > 0.5).astype("int32"), name="outside")
    listed = te.compute((37,), lambda i: te.all(at[i] >= 0, A[at[i]] > 0.5).astype("int32"), name="listed")
    s = te.create_schedule([inside.op, outside.op, listed.op])
    for stage in (inside, outside, listed):
        s[stage].bind(stage.op.axis[0], te.thread_axis("threadIdx.x"))
    rng = np.random.default_rng(5)
    # What stands around the array would make a condition true that reads it.
    around = np.full(64, 7, "float32")
    a = around[8:45]
    a[:] = rng.random(37)
    places = rng.integers(-3, 37, 37).astype("int32")
    got = [np.full(37, -1, "int32") for _ in range(3)]
    tw.build(s, [A, at, inside, outside, listed], target)(a, places, *got)
    after = np.append(a[1:], 0)
    expected = (
        (np.append(0, a[:-1]) > 0.5) & (a > 0.25),
        (after > 0.5) | (np.arange(37) == 36),
        (places >= 0) & (a[places] > 0.5),
    )
    for one, other in zip(got, expected):
        np.testing.assert_array_equal(one, other)


def test_conditions_on_elements_take_no_branch() -> None:
    A, B = (te.placeholder((64,), name=name) for name in "AB")
    C = te.compute((64,), lambda i: te.all(A[i] > 0.0, B[i] > 0.0).astype("int32"), name="C")
    assert "scf.if" not in str(tw.lower(te.create_schedule(C.op), [A, B, C], stage="te"))


def test_tuples_and_varargs() -> None:
    A = te.placeholder((3, 4, 5), "float64", name="A")
    low, high = te.compute(
        A.shape, lambda i, *rest: (A(i, *rest) - 1, A(i, *rest) + 1), name="both", varargs_names=["y", "x"]
    )
    assert [axis.name for axis in low.op.axis] == ["i", "y", "x"]
    s = te.create_schedule(low.op)
    a, x, y = np.random.default_rng(0).random((3, 4, 5)), np.empty((3, 4, 5)), np.empty((3, 4, 5))
    tw.build(s, [A, low, high], "cpu")(a, x, y)
    np.testing.assert_array_equal(x, a - 1)
    np.testing.assert_array_equal(y, a + 1)


def test_reducers() -> None:
    """TVM's three uses: along axes, on values, and of tuples."""
    A = te.placeholder((4, 6), "float64", name="A")
    total = te.comm_reducer(lambda x, y: x + y, lambda t: te.const(0, t), name="total")
    k = te.reduce_axis((0, 6), name="k")
    B = te.compute((4,), lambda i: total(A[i, k], axis=k, where=k > 1), name="B")
    C = te.compute((4,), lambda i: total(A[i, 0], A[i, 1], A[i, 2], A[i, 3]), name="C")
    assert str(C.op.body[0]) == "A[i, 0] + A[i, 1] + A[i, 2] + A[i, 3]"
    pair = te.comm_reducer(lambda x, y: (x[0] + y[0], x[1] * y[1]), lambda t0, t1: (te.const(0, t0), te.const(1, t1)))
    r = te.reduce_axis((0, 6), name="r")
    D, E = te.compute((4,), lambda i: pair((A[i, r], A[i, r]), axis=r), name="D")
    assert [str(one) for one in pair((A[0, 0], A[0, 1]), (A[1, 0], A[1, 1]))] == [
        "A[0, 0] + A[1, 0]",
        "A[0, 1] * A[1, 1]",
    ]
    s = te.create_schedule([B.op, C.op, D.op])
    a, out = np.random.default_rng(0).random((4, 6)), [np.empty(4) for _ in range(4)]
    tw.build(s, [A, B, C, D, E], "cpu")(a, *out)
    for got, expected in zip(out, (a[:, 2:].sum(1), a[:, :4].sum(1), a.sum(1), a.prod(1))):
        np.testing.assert_allclose(got, expected, rtol=1e-14)


# Extents of which something is known.


def scaled(n, *, lanes: int = 1):
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    block, i = s[B].split(B.op.axis[0], factor=64)
    thread, lane = s[B].split(i, factor=lanes)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    s[B].vectorize(lane)
    return s, [A, B]


def test_divisible_extents_need_no_predicate() -> None:
    assert "scf.if" in str(tw.lower(*scaled(te.var("n")))), "what is known makes the difference"
    assert " if " in str(scaled(te.var("n"))[0])
    for n in (te.var("n", divisible_by=64), te.size_var("n", divisible_by=128, min=1)):
        text = str(tw.lower(*scaled(n, lanes=4)))
        assert "scf.if" not in text
        assert " if " not in str(scaled(n, lanes=4)[0]), "nor does print(s) show one"
        ptx = tw.build(*scaled(n, lanes=4), tw.Target("cuda", arch="sm_90a")).ptx
        assert ".v4" in ptx and "setp" not in ptx


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_one_build_serves_every_extent(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Symbolic extents are arguments: nothing is compiled again when they change."""
    n, m = te.var("n"), te.size_var("m")
    A, B = te.placeholder((n, m), name="A"), te.placeholder((m,), name="B")
    k = te.reduce_axis((0, m), name="k")
    C = te.compute((n,), lambda i: te.sum(A[i, k] * B[k], axis=k), name="C")
    s = te.create_schedule(C.op)
    block, thread = s[C].split(C.op.axis[0], factor=8)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(thread, te.thread_axis("threadIdx.x"))
    function = tw.build(s, [A, B, C], target)
    function(np.ones((2, 2), "float32"), np.ones(2, "float32"), np.empty(2, "float32"))

    def compiled(*_: object, **__: object) -> None:
        raise AssertionError("something was compiled")

    from mlir.passmanager import PassManager

    from tilewright.native.jit import Engine

    monkeypatch.setattr(PassManager, "parse", compiled)
    monkeypatch.setattr(PassManager, "run", compiled)
    monkeypatch.setattr(Engine, "__init__", compiled)
    with pytest.raises(AssertionError, match="something was compiled"):
        tw.build(s, [A, B, C], target)
    for rows, columns in ((1, 1), (7, 3), (8, 8), (33, 20), (0, 4), (5, 0)):
        a = np.random.default_rng(rows).integers(-4, 4, (rows, columns)).astype("float32")
        b, c = np.arange(columns, dtype="float32"), np.full(rows, np.nan, "float32")
        function(a, b, c)
        np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_divisible_extents_are_checked(target: str) -> None:
    function = tw.build(*scaled(te.var("n", divisible_by=64, min=128), lanes=4), target, name="scaled")
    for extent in (128, 192, 640):
        a, b = np.arange(extent, dtype="float32"), np.empty(extent, "float32")
        function(a, b)
        np.testing.assert_array_equal(b, 2 * a)
    for extent, wanted in ((130, "divisible by 64"), (64, "at least 128")):
        message = (
            "scaled(A: float32[n], B: float32[n]): argument 0 (A): expected extent n in dimension 0 to be "
            f"{wanted}, got shape ({extent},)"
        )
        with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
            function(np.zeros(extent, "float32"), np.empty(extent, "float32"))


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_greatest_extents_are_checked_by_every_road(target: str) -> None:
    n = te.var("n", max=100)
    function = tw.build(*scaled(n), target, name="scaled")
    for extent in (100, 1, 0):
        a, b = np.arange(extent, dtype="float32"), np.empty(extent, "float32")
        function(a, b)
        np.testing.assert_array_equal(b, 2 * a)
    given = np.zeros(101, "float32"), np.empty(101, "float32")
    message = "argument 0 (A): expected extent n in dimension 0 to be at most 100, got shape (101,)"
    for call in (function, function.ffi, lambda *arrays: function.signature.bind(arrays)):
        with pytest.raises(ValueError) as caught:
            call(*given)
        assert str(caught.value) == f"scaled(A: float32[n], B: float32[n]): {message}"
    (shape,) = function.signature.arguments[0].shape
    assert isinstance(shape, tw.runtime.Symbol) and (shape.minimum, shape.maximum) == (0, 100)


@pytest.mark.parametrize("make", [te.var, te.size_var])
def test_least_extents_decide_conditions(make) -> None:
    """What holds from the least extent on is not asked, neither in a kernel nor of its grid."""

    def padded(n) -> tuple[te.Schedule, list[te.Tensor]]:
        A = te.placeholder((n,), name="A")
        head = te.compute((16,), lambda i: te.if_then_else(te.all(i < n, n > 0), A[i], 0.0), name="head")
        B = te.compute((n,), lambda i: A[i] + head[0], name="B")
        s = te.create_schedule(B.op)
        s[head].bind(head.op.axis[0], te.thread_axis("threadIdx.x"))
        block, thread = s[B].split(B.op.axis[0], factor=32)
        s[B].bind(block, te.thread_axis("blockIdx.x"))
        s[B].bind(thread, te.thread_axis("threadIdx.x"))
        return s, [A, B]

    s, args = padded(make("n", min=16))
    assert "head[i] = A[i]" in str(s)
    assert str(tw.lower(s, args, stage="gpu")).count("tilewright.nonempty") == 1
    host = str(tw.lower(s, args, stage="host"))
    assert 'llvm.icmp "eq"' not in host, "no grid is empty"
    s, args = padded(make("n", min=15))
    assert "head[i] = A[i] if i < n else 0.0" in str(s), "of the conditions the other is left"
    s, args = padded(make("n"))
    assert "head[i] = A[i] if i < n and n > 0 else 0.0" in str(s)
    assert "tilewright.nonempty" not in str(tw.lower(s, args, stage="gpu"))
    assert 'llvm.icmp "eq"' in str(tw.lower(s, args, stage="host"))


def test_wrong_knowledge_of_extents() -> None:
    for options, kind, message in (
        ({"divisible_by": 0}, ValueError, "te.var n: divisible_by: expected at least 1, got 0"),
        ({"divisible_by": 1.5}, TypeError, "te.var n: divisible_by: expected an integer, got 1.5"),
        ({"max": -1}, ValueError, "te.var n: max: expected at least 0, got -1"),
        ({"min": 8, "max": 7}, ValueError, "te.var n: max: expected at least 8, got 7"),
        ({"max": 1.5}, TypeError, "te.var n: max: expected an integer, got 1.5"),
        ({"min": -1}, ValueError, "te.var n: min: expected at least 0, got -1"),
    ):
        with pytest.raises(kind, match=re.escape(message) + "$"):
            te.var("n", **options)
