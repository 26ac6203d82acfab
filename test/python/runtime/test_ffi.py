"""Built functions as functions of tvm-ffi: what they take, what they refuse, what they tell of themselves."""

from __future__ import annotations

import gc
import json
import threading
import weakref

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.errors import SimulationError

tvm_ffi = pytest.importorskip("tvm_ffi")

TEXT = "add(A: float32[n, 4], B: float32[n, 4], C: float32[n, 4])"


def make(target: str) -> tw.Function:
    n = te.var("n")
    a, b = (te.placeholder((n, 4), name=name) for name in "AB")
    c = te.compute((n, 4), lambda i, j: a[i, j] + b[i, j], name="C")
    s = te.create_schedule(c.op)
    if target != "cpu":
        outer, inner = s[c].split(c.op.axis[0], 16)
        s[c].bind(outer, te.thread_axis("blockIdx.x"))
        s[c].bind(inner, te.thread_axis("threadIdx.x"))
    return tw.build(s, [a, b, c], target, name="add")


@pytest.fixture(scope="module", params=["cpu", "sim"])
def add(request: pytest.FixtureRequest) -> tw.Function:
    return make(request.param)


def arrays(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    a = np.arange(n * 4, dtype="float32").reshape(n, 4)
    return a, 2 * a, np.zeros((n, 4), "float32")


@pytest.mark.parametrize("convert", [lambda array: array, tvm_ffi.from_dlpack])
def test_runs(add: tw.Function, convert) -> None:
    for n in (33, 0, 1):
        a, b, c = arrays(n)
        assert add.ffi(*map(convert, (a, b, c))) is None
        np.testing.assert_array_equal(c, 3 * a)
        c[:] = 0
        assert add(*map(convert, (a, b, c))) is None
        np.testing.assert_array_equal(c, 3 * a)


def strided(n: int) -> np.ndarray:
    return np.zeros((n, 8), "float32")[:, :4]


A, B, C = arrays(3)
REFUSED = [
    ((A, B), TypeError, "expected 3 arguments, got 2"),
    ((A, B, C, C), TypeError, "expected 3 arguments, got 4"),
    ((), TypeError, "expected 3 arguments, got 0"),
    ((A, B.astype("int32"), C), TypeError, "argument 1 (B): expected dtype float32, got int32"),
    ((A, B.astype("float64"), C), TypeError, "argument 1 (B): expected dtype float32, got float64"),
    ((A, B, C[0]), ValueError, "argument 2 (C): expected 2 dimensions, got shape (4,)"),
    ((A, B[:, :3].copy(), C), ValueError, "argument 1 (B): expected extent 4 in dimension 1, got shape (3, 3)"),
    (
        (A, B[:2], C),
        ValueError,
        "argument 1 (B): expected extent n = 3, as in dimension 0 of A, in dimension 0, got shape (2, 4)",
    ),
    ((A, strided(3), C), ValueError, "argument 1 (B): expected a row-major array, got strides (8, 1) for shape (3, 4)"),
    (
        (A, B, A),
        ValueError,
        "argument 2 (C): expected memory of its own beside A, for the function writes C, got 48 bytes shared",
    ),
]


@pytest.mark.parametrize(("given", "kind", "message"), REFUSED)
def test_refused_alike_by_every_road(add: tw.Function, given, kind, message) -> None:
    for call in (add, add.ffi, lambda *arrays: add.signature.bind(arrays)):
        with pytest.raises(Exception) as caught:
            call(*given)
        assert (type(caught.value), str(caught.value)) == (kind, f"{TEXT}: {message}")


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (None, "None"), (1, "int"), (1 << 70, "int"), (True, "bool"), (1.5, "float"), ("a", "str"), ("a long text", "str"),
        (b"abc", "bytes"), ((A, B), "a tuple or list"), ([A], "a tuple or list"), ({"a": 1}, "dict"),
        (tvm_ffi.Shape((1, 2)), "a shape"), (np.dtype("float32"), "a dtype"), (tvm_ffi.device("cpu:0"), "a device"),
        (len, "a function"), (object(), "a Python object that is no tensor"),
    ],
)  # fmt: skip
def test_no_tensor(value, name) -> None:
    add = FROM_CPU()
    with pytest.raises(TypeError) as caught:
        add.ffi(A, value, C)
    assert str(caught.value) == f"{TEXT}: argument 1 (B): expected a tensor, got {name}"


_made: list[tw.Function] = []


def FROM_CPU() -> tw.Function:
    if not _made:
        _made.append(make("cpu"))
    return _made[0]


def test_a_simulation_error_comes_by_its_class() -> None:
    n = te.var("n")
    a, at = te.placeholder((n,), name="A"), te.placeholder((8,), dtype="int32", name="at")
    c = te.compute((8,), lambda i: a[at[i]], name="C")
    s = te.create_schedule(c.op)
    s[c].bind(c.op.axis[0], te.thread_axis("threadIdx.x"))
    gather = tw.build(s, [a, at, c], "sim")
    given = np.zeros(8, "float32"), np.full(8, 8, "int32"), np.zeros(8, "float32")
    for call in (gather, gather, gather.ffi):
        with pytest.raises(SimulationError, match="out-of-bounds read of .A. at"):
            call(*given)


def test_metadata(add: tw.Function) -> None:
    """What an exported library tells, asked of the compiled module's own functions."""
    from tilewright.ir.jit import lookup

    metadata, doc = (
        tvm_ffi.Function.__from_extern_c__(lookup(add._program.host.engine, symbol), keep_alive_object=add)()
        for symbol in ("__tvm_ffi__metadata_add", "__tvm_ffi__doc_add")
    )
    found = json.loads(metadata)
    assert found["signature"] == TEXT and found["name"] == "add" and found["target"] == add.target.kind
    assert found["arguments"][2] == {
        "name": "C", "dtype": "float32", "shape": ["n", 4], "output": True, "alignment": 16,
    }  # fmt: skip
    schema = tvm_ffi.core.TypeSchema.from_json_str(found["type_schema"])
    assert str(schema) == "Callable[[Tensor, Tensor, Tensor], None]"
    assert doc == f"{TEXT}\n\nRow-major arrays on the cpu, aligned to 16 bytes. Writes C."


def test_a_function_outlives_what_it_was_taken_from() -> None:
    add = make("cpu")
    taken, alive = add.ffi, weakref.ref(add)
    del add
    gc.collect()
    assert alive() is None
    a, b, c = arrays(5)
    taken(a, b, c)
    np.testing.assert_array_equal(c, 3 * a)


def test_functions_go_without_the_collector() -> None:
    """No cycle keeps a function and its machine code."""
    gc.disable()
    try:
        for target in ("cpu", "sim"):
            add = make(target)
            add(*arrays(5))
            alive = weakref.ref(add), weakref.ref(add._program)
            del add
            assert [reference() for reference in alive] == [None, None]
    finally:
        gc.enable()


def test_many_threads(add: tw.Function) -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            for i in range(50):
                a, b, c = arrays(1 + (seed + i) % 40)
                (add, add.ffi)[i % 2](a, b, c)
                np.testing.assert_array_equal(c, 3 * a)
                with pytest.raises(ValueError):
                    add(a, b, c[:0])
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
