"""Bad input, end to end: what a user gets who makes one of these mistakes in a program and builds or runs it.

Every error has its full text, the user's own file and line (HERE below) and says what was expected and what came. The
smaller parts are tested where they live: every error of a primitive in ../schedule, of an expression in ../te, of an array
in ../runtime/test_arguments.py, of the driver in ../runtime/test_driver.py and test_module.py.
"""

from __future__ import annotations

import re
import types

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

SM90 = tw.Target("cuda", arch="sm_90a")
SIM = tw.Target("sim", arch="sm_90a")


class Program:
    """B = A + 1 and D = 2 B over rows x columns, not yet scheduled."""

    def __init__(self, rows: int, columns: int) -> None:
        self.A = te.placeholder((rows, columns), name="A")
        self.B = te.compute((rows, columns), lambda i, j: self.A[i, j] + 1, name="B")  # STAGE B
        self.D = te.compute((rows, columns), lambda x, y: self.B[x, y] * 2, name="D")  # STAGE D
        self.s = te.create_schedule(self.D.op)
        self.x, self.y = self.D.op.axis
        self.i, self.j = self.B.op.axis
        self.args = [self.A, self.D]

    def bind(self, stage: te.Stage, axis: te.IterVar, thread: str, extent: int | None = None) -> None:
        stage.bind(axis, te.thread_axis(thread, extent))

    def build(self, target: tw.Target = SIM) -> tw.Function:
        return tw.build(self.s, self.args, target=target, name="f")


def unknown_axis():
    p = Program(64, 64)
    p.s[p.D].split(p.i, factor=8)  # HERE


def already_split_axis():
    p = Program(64, 64)
    p.s[p.D].split(p.x, factor=8)  # THERE
    p.s[p.D].split(p.x, factor=4)  # HERE


def factor_of_zero():
    p = Program(64, 64)
    p.s[p.D].split(p.x, factor=0)  # HERE


def factor_below_zero():
    p = Program(64, 64)
    p.s[p.D].tile(p.x, p.y, 8, -8)  # HERE


def reorder_across_stages():
    p = Program(64, 64)
    p.s[p.D].reorder(p.x, p.i)  # HERE


def two_axes_on_one_thread():
    p = Program(64, 64)
    p.s[p.D].bind(p.x, te.thread_axis("threadIdx.x"))  # THERE
    p.s[p.D].bind(p.y, te.thread_axis("threadIdx.x"))  # HERE


def shared_copy(rows: int, threads: int) -> Program:
    """B in shared memory, filled by `threads` threads for the 64 that D has."""
    p = Program(rows, 64)
    D, B = p.s[p.D], p.s[p.B]
    B.set_scope("shared")
    B.compute_at(D, p.x)
    p.bind(D, p.x, "blockIdx.x")
    D.bind(p.y, te.thread_axis("threadIdx.x"))  # HERE
    outer, _ = B.split(p.j, nparts=threads)
    B.bind(outer, te.thread_axis("threadIdx.x"))  # THERE
    return p


def thread_extents_that_differ():
    shared_copy(8, threads=32).build()


def thread_extent_of_the_thread_axis():
    p = Program(64, 64)
    p.s[p.B].compute_inline()
    p.s[p.D].bind(p.x, te.thread_axis((0, 32), "threadIdx.x"))  # HERE
    p.build()


def too_many_threads():
    p = Program(2048, 2048)
    p.s[p.B].compute_inline()
    D = p.s[p.D]
    io, jo, ii, ji = D.tile(p.x, p.y, 64, 32)
    p.bind(D, io, "blockIdx.y")
    p.bind(D, jo, "blockIdx.x")
    p.bind(D, ii, "threadIdx.y")
    D.bind(ji, te.thread_axis("threadIdx.x"))  # HERE
    p.build(SM90)


def too_much_shared_memory(target: tw.Target = SM90):
    p = Program(256, 4096)
    D, B = p.s[p.D], p.s[p.B]
    B.set_scope("shared")
    outer, inner = D.split(p.x, factor=16)
    D.bind(outer, te.thread_axis("blockIdx.x"))  # HERE
    p.bind(D, inner, "threadIdx.x")
    B.compute_at(D, outer)
    p.bind(B, p.i, "threadIdx.x")
    p.build(target)


def too_many_blocks():
    p = Program(1 << 20, 64)
    p.s[p.B].compute_inline()
    p.s[p.D].bind(p.x, te.thread_axis("blockIdx.y"))  # HERE
    p.bind(p.s[p.D], p.y, "threadIdx.x")
    p.build(SM90)


def compute_at_a_non_consumer():
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1.0, name="B")
    C = te.compute((64,), lambda i: B[i] * 2.0, name="C")
    E = te.compute((64,), lambda i: A[i] * 3.0, name="E")
    s = te.create_schedule([C.op, E.op])
    s[B].compute_at(s[E], E.op.axis[0])  # HERE


def vectorize_a_reduction():
    A = te.placeholder((64, 64), name="A")
    k = te.reduce_axis((0, 64), "k")
    B = te.compute((64,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    s[B].vectorize(k)  # HERE


def vectorize(length: int):
    p = Program(64, 192)
    p.s[p.B].compute_inline()
    outer, inner = p.s[p.D].split(p.y, factor=length)
    p.bind(p.s[p.D], outer, "threadIdx.x")
    p.s[p.D].vectorize(inner)  # HERE
    p.build(SM90)


def vectorize_by_three():
    vectorize(3)


def vectorize_by_sixty_four():
    vectorize(64)


def index_that_leaves_its_tensor():
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i - 1], name="B")  # HERE
    tw.build(te.create_schedule(B.op), [A, B], target="cpu")


def dtype_mismatch():
    A, H = te.placeholder((64,), name="A"), te.placeholder((64,), "float16", name="H")
    te.compute((64,), lambda i: A[i] + H[i], name="B")  # HERE


def nothing_bound():
    p = Program(64, 64)
    p.s[p.B].compute_inline()
    p.build(SM90)


ROWS = [
    (unknown_axis, "HERE: error: split: expected an axis of stage 'D' (x, y), got 'i' of stage 'B'"),
    (already_split_axis, "HERE: error: split: axis 'x' of stage 'D': expected a loop, got an axis that was already split\n"
     "THERE: note: split here"),
    (factor_of_zero, "HERE: error: split: expected a factor of at least 1, got 0"),
    (factor_below_zero, "HERE: error: tile: expected a y factor of at least 1, got -8"),
    (reorder_across_stages, "HERE: error: reorder: expected an axis of stage 'D' (x, y), got 'i' of stage 'B'"),
    (two_axes_on_one_thread, "HERE: error: bind: stage 'D': expected one axis on threadIdx.x, got 'y' beside 'x'\n"
     "THERE: note: bound here"),
    (thread_extents_that_differ, "HERE: error: expected extent 32 of threadIdx.x, as for axis 'B.j.outer', "
     "got 64 of axis 'D.y'\nTHERE: note: axis 'B.j.outer' is bound here\n(lowering f from loops to gpu)"),
    (thread_extent_of_the_thread_axis, "HERE: error: bind: expected axis 'x' of extent 32, as the thread axis says, got 64\n"
     "(lowering f from linalg to loops)"),
    (too_many_threads, "HERE: error: expected at most 1024 threads a block, got 32 along threadIdx.x of axis 'D.y.inner' "
     "and 64 along threadIdx.y of axis 'D.x.inner'\n(lowering f from loops to gpu)"),
    (too_much_shared_memory, "HERE: error: expected at most 232448 bytes of shared memory a block, got 262144: "
     "B (262144 bytes)\nSTAGE B: note: 'B' is allocated here\n(lowering f from loops to gpu)"),
    (too_many_blocks, "HERE: error: expected at most 65535 blocks along blockIdx.y, got 1048576 of axis 'D.x'\n"
     "(lowering f from loops to gpu)"),
    (compute_at_a_non_consumer, "HERE: error: compute_at: expected a consumer of stage 'B' ('C'), got stage 'E'"),
    (vectorize_a_reduction, "HERE: error: vectorize: expected a spatial axis, got the reduction axis 'k': "
     "its iterations depend on each other"),
    (vectorize_by_three, "HERE: error: vectorize: expected an axis of extent 1, 2, 4, 8 or 16, got 3\n"
     "(lowering f from loops to gpu)"),
    (vectorize_by_sixty_four, "HERE: error: vectorize: expected an axis of extent 1, 2, 4, 8 or 16, got 64\n"
     "(lowering f from loops to gpu)"),
    (nothing_bound, "STAGE D: error: stage 'D' is not bound to any block or thread: bind an axis, such as "
     's[D].bind(x, te.thread_axis("blockIdx.x"))\n(lowering f from loops to gpu)'),
]  # fmt: skip


def marked(error: BaseException) -> str:
    """The text of `error` with each line of this file as the comment that stands on it."""
    lines = open(__file__).read().splitlines()
    return re.sub(rf"{re.escape(__file__)}:(\d+)", lambda match: lines[int(match[1]) - 1].split("  # ")[-1], str(error))


@pytest.mark.parametrize("function, expected", ROWS, ids=[function.__name__ for function, _ in ROWS])
def test_schedule(function, expected: str) -> None:
    with pytest.raises(tw.ScheduleError) as caught:
        function()
    assert marked(caught.value) == expected


def test_index_that_leaves_its_tensor() -> None:
    with pytest.raises(tw.CompileError) as caught:
        index_that_leaves_its_tensor()
    assert marked(caught.value) == "HERE: error: read: index 0 leaves the tensor: expected 0 to 63, got -1 to 62"


def test_dtype_mismatch() -> None:
    with pytest.raises(TypeError) as caught:
        dtype_mismatch()
    text = "HERE: '+': expected operands of one dtype, got float32 and float16: convert one with .astype"
    assert marked(caught.value) == text


@pytest.mark.parametrize(
    ("arch", "limit"), [("sm_75", 64), ("sm_80", 163), ("sm_89", 99), ("sm_90", 227), ("sm_120", 99)]
)
def test_shared_memory_is_that_of_the_architecture(arch: str, limit: int) -> None:
    with pytest.raises(
        tw.ScheduleError, match=f": error: expected at most {limit * 1024} bytes of shared memory a block"
    ):
        too_much_shared_memory(tw.Target("cuda", arch=arch))


@pytest.fixture(scope="module")
def double() -> tw.Function:
    """B = 2 A over 8 x 16 floats, on the simulator."""
    A = te.placeholder((8, 16), name="A")
    B = te.compute((8, 16), lambda i, j: A[i, j] * 2.0, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    s[B].bind(B.op.axis[1], te.thread_axis("threadIdx.x"))
    return tw.build(s, [A, B], target=SIM, name="double")


def at_an_offset(offset: int) -> np.ndarray:
    """8 x 16 floats at an address `offset` bytes past a multiple of 16."""
    raw = np.zeros(8 * 16 * 4 + 64, np.uint8)
    start = -raw.ctypes.data % 16 + offset
    return raw[start : start + 8 * 16 * 4].view("float32").reshape(8, 16)


class OnGPU:
    """An array of 8 x 16 floats that says that it is on a GPU."""

    __cuda_array_interface__ = {"shape": (8, 16), "typestr": "<f4", "data": (4096, False), "version": 3}


A, B = np.ones((8, 16), "float32"), np.zeros((8, 16), "float32")


@pytest.mark.parametrize(
    ("arrays", "kind", "expected"),
    [
        ((), TypeError, "expected 2 arguments, got 0"),
        ((A, B, B), TypeError, "expected 2 arguments, got 3"),
        ((A.astype("float64"), B), TypeError, "argument 0 (A): expected dtype float32, got float64"),
        ((A, B[0]), ValueError, "argument 1 (B): expected 2 dimensions, got shape (16,)"),
        ((A[:4], B), ValueError, "argument 0 (A): expected extent 8 in dimension 0, got shape (4, 16)"),
        ((OnGPU(), B), ValueError, "argument 0 (A): expected an array on cpu, got one on cuda"),
        ((np.asfortranarray(A), B), ValueError,
         "argument 0 (A): expected a row-major array, got strides (1, 8) for shape (8, 16)"),
        ((at_an_offset(4), B), ValueError,
         "argument 0 (A): expected memory aligned to 16 bytes, got an address 4 bytes past that"),
        ((None, B), TypeError,
         "argument 0 (A): expected an array (NumPy, DLPack or __cuda_array_interface__), got NoneType"),
    ],
)  # fmt: skip
def test_arrays(double: tw.Function, arrays: tuple[object, ...], kind: type[Exception], expected: str) -> None:
    B.fill(7)
    with pytest.raises(kind) as caught:
        double(*arrays)
    assert str(caught.value) == f"double(A: float32[8, 16], B: float32[8, 16]): {expected}"
    assert (B == 7).all()
    double(A, B)
    assert (B == 2).all()


def test_no_driver(bindings: types.ModuleType) -> None:
    def no_library(_flags: int) -> None:
        raise RuntimeError("libcuda cannot be found")

    bindings.cuInit = no_library
    with pytest.raises(tw.LaunchError) as caught:
        tw.nd.array(A, tw.cuda(0))
    assert str(caught.value) == (
        "no CUDA driver: libcuda.so.1 was not found; install NVIDIA's driver to run on a GPU "
        '(targets "sim" and "cpu" need none)'
    )


def test_no_gpu(bindings: types.ModuleType) -> None:
    class NoDevice(int):
        name = "CUDA_ERROR_NO_DEVICE"

    bindings.cuInit = lambda flags: (NoDevice(100),)
    with pytest.raises(tw.DriverError) as caught:
        tw.nd.array(A, tw.cuda(0))
    assert str(caught.value) == (
        "cuInit failed with CUDA_ERROR_NO_DEVICE (100): the driver is there, but no GPU is "
        '(targets "sim" and "cpu" need none)'
    )
