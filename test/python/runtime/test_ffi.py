"""Built functions as functions of tvm-ffi: what they take, what they refuse, what they tell of themselves."""

from __future__ import annotations

import ctypes
import gc
import json
import threading
import weakref
from collections.abc import Iterator

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.errors import SimulationError
from tilewright.runtime.dlpack import DLTensor
from tilewright.runtime.ffi import libtvm_ffi

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
    ((A,), TypeError, "expected 3 arguments, got 1"),
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
        assert isinstance(caught.value, kind) and str(caught.value) == f"{TEXT}: {message}"


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
    from tilewright.native.jit import lookup

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


# ---------------------------------------------------------------------------- outputs that the function allocates


class ManagedTensor(ctypes.Structure):
    """DLManagedTensorVersioned of dlpack.h."""

    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", DLTensor),
    )  # fmt: skip


ALLOCATOR = ctypes.CFUNCTYPE(
    ctypes.c_int, ctypes.POINTER(DLTensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p, ctypes.c_void_p
)
DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Allocator:
    """An allocator of tensors for tvm-ffi's environment, which counts what is alive."""

    def __init__(self) -> None:
        self.alive: dict[int, object] = {}
        self.asked: list[tuple[int, ...]] = []
        self.allocate, self.deleter = ALLOCATOR(self._allocate), DELETER(self._free)

    def _free(self, managed: int) -> None:
        del self.alive[managed]

    def _allocate(self, prototype, out, _context, _set_error) -> int:
        wanted = prototype[0]
        shape = tuple(wanted.shape[: wanted.ndim])
        memory = np.full((int(np.prod(shape)) * wanted.bits // 8 + 64,), 0xEE, "uint8")
        start = memory.ctypes.data + -memory.ctypes.data % 64
        extents = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        strides = (ctypes.c_int64 * max(len(shape), 1))(*(int(np.prod(shape[i + 1 :])) for i in range(len(shape))))
        tensor = DLTensor(
            start, wanted.device_type, wanted.device_id, len(shape), wanted.code, wanted.bits, 1, extents, strides, 0
        )
        managed = ManagedTensor(1, 0, None, ctypes.cast(self.deleter, ctypes.c_void_p).value, 0, tensor)
        self.alive[ctypes.addressof(managed)] = managed, memory, extents, strides
        self.asked.append(shape)
        out[0] = ctypes.addressof(managed)
        return 0


@pytest.fixture
def allocator() -> Iterator[Allocator]:
    made = Allocator()
    set_ = libtvm_ffi().TVMFFIEnvSetDLPackManagedTensorAllocator
    set_.argtypes = (ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    before = ctypes.c_void_p()
    assert set_(ctypes.cast(made.allocate, ctypes.c_void_p), 0, ctypes.byref(before)) == 0
    yield made
    set_(before, 0, None)


def two_outputs() -> tw.Function:
    n = te.var("n")
    a = te.placeholder((n, 4), name="A")
    b = te.compute((n, 4), lambda i, j: a[i, j] * 2, name="B")
    c = te.compute((4,), lambda i: a[0, i].astype("int32"), name="C")
    return tw.build(te.create_schedule([b.op, c.op]), [b, a, c], "cpu", name="both")


def test_outputs_that_are_not_given_are_returned(add: tw.Function, allocator: Allocator) -> None:
    a, b, _ = arrays(5)
    result = add.ffi(a, b)
    np.testing.assert_array_equal(np.from_dlpack(result), 3 * a)
    assert allocator.asked == [(5, 4)]
    del result
    gc.collect()
    assert not allocator.alive
    for _ in range(3):
        np.testing.assert_array_equal(add(a, b), 3 * a)
    assert type(add(tw.nd.array(a), tw.nd.array(b))) is tw.nd.NDArray


def test_several_outputs(allocator: Allocator) -> None:
    both = two_outputs()
    a = arrays(5)[0]
    b, c = both.ffi(a)
    np.testing.assert_array_equal(np.from_dlpack(b), 2 * a)
    np.testing.assert_array_equal(np.from_dlpack(c), a[0].astype("int32"))
    b, c = both(a)
    np.testing.assert_array_equal(b, 2 * a)
    np.testing.assert_array_equal(c, a[0].astype("int32"))


def test_one_of_several_functions_allocates(add: tw.Function, allocator: Allocator) -> None:
    n = te.var("n")
    a, b = (te.placeholder((n,), "int32", name=name) for name in "AB")
    c = te.compute((n,), lambda i: a[i] + b[i], name="C")
    either = tw.dispatch([tw.build(te.create_schedule(c.op), [a, b, c], "cpu", name="rows"), add], "either")
    x, y, _ = arrays(5)
    np.testing.assert_array_equal(np.from_dlpack(either.ffi(x, y)), 3 * x)
    ones = np.ones(7, "int32")
    np.testing.assert_array_equal(np.from_dlpack(either.ffi(ones, ones)), 2 * ones)
    assert allocator.asked == [(5, 4), (7,)]


def test_calls_for_outputs_that_are_refused(allocator: Allocator) -> None:
    add, (a, b, _) = FROM_CPU(), arrays(3)
    for given, kind, message in (
        (
            (a, b[:2]),
            ValueError,
            "argument 1 (B): expected extent n = 3, as in dimension 0 of A, in dimension 0, got shape (2, 4)",
        ),
        ((a, b.astype("int32")), TypeError, "argument 1 (B): expected dtype float32, got int32"),
    ):
        for call in (add, add.ffi):
            with pytest.raises(kind) as caught:
                call(*given)
            assert str(caught.value) == f"{TEXT}: {message}"
    with pytest.raises(TypeError) as caught:
        add.ffi(None, b)
    assert str(caught.value) == f"{TEXT}: argument 0 (A): expected a tensor, got None"
    with pytest.raises(TypeError) as caught:
        add(None, b)
    assert str(caught.value) == (
        f"{TEXT}: expected 3 arguments, got 2: outputs are allocated beside arrays of NumPy, torch, CuPy and tw.nd, "
        "got NoneType first"
    )
    both = two_outputs()
    with pytest.raises(ValueError) as caught:
        both.ffi(a[:, :3].copy())
    assert str(caught.value) == (
        "both(B: float32[n, 4], A: float32[n, 4], C: int32[4]): argument 1 (A): expected extent 4 in dimension 1, "
        "got shape (3, 3)"
    )
    assert not allocator.alive and not allocator.asked


def test_an_output_whose_extent_no_input_has(allocator: Allocator) -> None:
    m = te.var("m")
    a = te.placeholder((4,), name="A")
    b = te.compute((m, 4), lambda i, j: a[j], name="B")
    spread = tw.build(te.create_schedule(b.op), [a, b], "cpu", name="spread")
    for call in (spread, spread.ffi):
        with pytest.raises(TypeError) as caught:
            call(np.zeros(4, "float32"))
        assert str(caught.value) == (
            "spread(A: float32[4], B: float32[m, 4]): argument 1 (B): expected an array, for no input says what its "
            "extent m is"
        )
    assert not allocator.alive
