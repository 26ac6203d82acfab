"""Parallel loops of target cpu run on several threads, whatever the program around them does."""

import ctypes
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.native.library import library

TASK = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


@pytest.fixture(autouse=True)
def as_before():
    yield
    tw.set_num_threads(None)


def run(task, extent):
    function = library().tilewrightHostParallel
    function.argtypes = (TASK, ctypes.c_void_p, ctypes.c_int64)
    return function(TASK(task), None, extent)


def shares_of(extent, begun=1):
    """The shares that threads get, and the threads. None is done before so many have begun."""
    shares, lock, barrier = [], threading.Lock(), threading.Barrier(begun)

    def task(_, begin, end):
        barrier.wait()
        with lock:
            shares.append((begin, end, threading.get_native_id()))
        return 0

    assert run(task, extent) == 0
    return sorted(shares)


@pytest.mark.parametrize("threads, extent", [(1, 10), (2, 10), (3, 10), (4, 3), (5, 1), (8, 100)])
def test_each_thread_has_a_share(threads, extent):
    tw.set_num_threads(threads)
    shares = shares_of(extent, min(threads, extent))
    assert [begin for begin, _, _ in shares] == [0, *(end for _, end, _ in shares[:-1])]
    assert shares[-1][1] == extent
    lengths = [end - begin for begin, end, _ in shares]
    assert len(lengths) == min(threads, extent) and max(lengths) - min(lengths) <= 1
    assert len({thread for *_, thread in shares}) == len(shares)
    assert shares[0][2] == threading.get_native_id()
    assert library().tilewrightHostLastThreads() == len(shares)


def test_shares_that_no_thread_has_begun_are_the_callers():
    tw.set_num_threads(8)
    for _ in range(300):
        shares = shares_of(20)
        assert [begin for begin, _, _ in shares] == [0, *(end for _, end, _ in shares[:-1])]
        assert len(shares) == 8 and shares[-1][1] == 20 and shares[0][2] == threading.get_native_id()


def test_nothing_to_do():
    assert shares_of(0) == []


def test_a_loop_in_a_loop_is_serial():
    tw.set_num_threads(3)
    inner, lock, barrier = [], threading.Lock(), threading.Barrier(3)

    def inside(_, begin, end):
        with lock:
            inner.append((begin, end, threading.get_native_id()))
        return 0

    def outside(_, begin, end):
        barrier.wait()
        assert run(inside, 7) == 0
        return 0

    assert run(outside, 3) == 0
    assert [share[:2] for share in inner] == [(0, 7)] * 3
    assert len({thread for *_, thread in inner}) == 3


def test_a_failure_of_one_thread_is_returned():
    tw.set_num_threads(3)
    for failing in (0, 4, 8):
        assert run(lambda _, begin, end, at=failing: 5 if begin <= at < end else 0, 9) == 5
    assert run(lambda *_: 0, 9) == 0


def test_two_callers_at_once():
    tw.set_num_threads(2)
    wrong = []

    def call():
        for _ in range(20):
            shares = shares_of(10)
            if [begin for begin, _, _ in shares] != [0, *(end for _, end, _ in shares[:-1])] or shares[-1][1] != 10:
                wrong.append(shares)

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


def doubled(name="doubled"):
    A = te.placeholder((64, 64), name="A")
    B = te.compute((64, 64), lambda i, j: A[i, j] * 2, name="B")
    s = te.create_schedule(B.op)
    s[B].parallel(B.op.axis[0])
    return tw.build(s, [A, B], "cpu", name=name)


def check(function):
    a = np.random.default_rng(1).standard_normal((64, 64), "f4")
    b = np.full_like(a, np.nan)
    function(a, b)
    np.testing.assert_array_equal(b, 2 * a)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_program_runs_on_so_many(threads):
    tw.set_num_threads(threads)
    check(doubled())
    assert library().tilewrightHostLastThreads() == threads


def test_in_a_process_that_was_forked_off():
    tw.set_num_threads(2)
    function = doubled()
    check(function)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            check(function)
            status = 0 if library().tilewrightHostLastThreads() == 2 else 2
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    check(function)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "variables, expected",
    [
        ({"TILEWRIGHT_NUM_THREADS": "3", "TVM_NUM_THREADS": "4"}, "3"),
        ({"TVM_NUM_THREADS": "4", "OMP_NUM_THREADS": "5"}, "4"),
        ({"OMP_NUM_THREADS": "5"}, "5"),
        ({"TILEWRIGHT_NUM_THREADS": "1000"}, "256"),
        ({"OMP_NUM_THREADS": "4,2"}, str(len(os.sched_getaffinity(0)))),
        ({}, str(len(os.sched_getaffinity(0)))),
    ],
)
def test_the_environment_says_how_many(variables, expected):
    names = ("TILEWRIGHT_NUM_THREADS", "TVM_NUM_THREADS", "OMP_NUM_THREADS")
    environment = {name: value for name, value in os.environ.items() if name not in names}
    code = "import tilewright as tw; print(tw.num_threads())"
    result = subprocess.run(
        [sys.executable, "-c", code], env=environment | variables, capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == expected


@pytest.mark.parametrize(
    "count, error, message",
    [
        (0, ValueError, "expected from 1 to 256 threads, got 0"),
        (257, ValueError, "expected from 1 to 256 threads, got 257"),
        ("2", TypeError, "expected a number of threads or None, got str"),
        (True, TypeError, "expected a number of threads or None, got bool"),
    ],
)
def test_wrong_numbers_are_refused(count, error, message):
    with pytest.raises(error, match=f"^{message}$"):
        tw.set_num_threads(count)


@pytest.mark.sweep
def test_ctrl_c_is_for_the_caller():
    """The pool's threads take no signals: Python's does, when the loop is done."""
    code = (
        "import os, signal, threading\n"
        "from test_threads import *\n"
        "tw.set_num_threads(2)\n"
        # A handler of its own, since what is raised inside of `task` would end at the callback from C.
        "handled = []\n"
        "signal.signal(signal.SIGINT, lambda *_: handled.append(threading.current_thread()))\n"
        "def task(_, begin, end):\n"
        "    if begin:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return 0\n"
        "run(task, 2)\n"
        "assert handled == [threading.main_thread()]\n"
        "print('interrupted')\n"
        "check(doubled())\n"
    )
    here = os.path.dirname(__file__)
    result = subprocess.run([sys.executable, "-c", code], cwd=here, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0 and result.stdout.strip() == "interrupted", result.stderr


@pytest.mark.sweep
def test_an_exported_library_has_threads_of_its_own(tmp_path):
    tvm_ffi = pytest.importorskip("tvm_ffi")
    tw.export_library([doubled("exported")], tmp_path / "doubled.so")
    function = tvm_ffi.load_module(str(tmp_path / "doubled.so")).exported

    def threads():
        return len(os.listdir("/proc/self/task"))

    before = threads()
    check(lambda a, b: function(tvm_ffi.from_dlpack(a), tvm_ffi.from_dlpack(b)))
    assert threads() - before == tw.num_threads() - 1


def test_threads_share_loops_of_statements():
    """Each iteration has buffers of its own, small and large ones."""
    from tilewright import tir

    def statements(ins, outs):
        ib = tir.ir_builder.create()
        a, b = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        with ib.for_range(0, 500, name="r", kind="parallel") as r:
            row, total = ib.allocate("float32", (1000,), name="row"), ib.allocate("float32", (1,), name="total")
            total[0] = 0.0
            with ib.for_range(0, 1000, name="i") as i:
                row[i] = a[r] * i.astype("float32")
            with ib.for_range(0, 1000, name="i") as i:
                total[0] = total[0] + row[i]
            b[r] = total[0]
        return ib.get()

    A = te.placeholder((500,), name="A")
    B = te.extern((500,), [A], statements, name="B", dtype="float32")
    tw.set_num_threads(2)
    function = tw.build(te.create_schedule(B.op), [A, B], "cpu")
    a = np.arange(500, dtype="float32") % 8
    b = np.zeros_like(a)
    for _ in range(20):
        function(a, b)
        np.testing.assert_array_equal(b, a * np.float32(999 * 500))
    assert library().tilewrightHostLastThreads() == 2
