"""Functions called from many threads at once: by each road, on each target, from the first call on."""

from __future__ import annotations

import gc
import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

tvm_ffi = pytest.importorskip("tvm_ffi")
THREADS, CALLS = 8, {"cpu": 25, "sim": 3}
Road = Callable[..., Any]


@pytest.fixture(autouse=True)
def often_switched() -> Iterator[None]:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


def in_threads(work: Callable[[int], None]) -> None:
    """Runs `work` of each thread's number, all at once, and raises what one of them raised."""
    barrier = threading.Barrier(THREADS)

    def run(index: int) -> None:
        barrier.wait()
        work(index)

    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(run, range(THREADS)))


def scale(target: str, name: str = "scale", dtype: str = "float32") -> tw.Function:
    """B = 2 A + 1 by way of a temporary, so that on a GPU the workspace takes part."""
    n = te.var("n")
    a = te.placeholder((n,), dtype, name="A")
    t = te.compute((n,), lambda i: a[i] * 2, name="T")
    b = te.compute((n,), lambda i: t[i] + 1, name="B")
    s = te.create_schedule(b.op)
    if target != "cpu":
        for stage in (t, b):
            outer, inner = s[stage].split(stage.op.axis[0], 32)
            s[stage].bind(outer, te.thread_axis("blockIdx.x"))
            s[stage].bind(inner, te.thread_axis("threadIdx.x"))
    return tw.build(s, [a, b], target, name)


def exported(target: str, folder: Path) -> Road:
    if shutil.which("cc") is None:
        pytest.skip("no compiler to link with")
    scale(target).export_library(folder / "scale.so")
    return tvm_ffi.load_module(str(folder / "scale.so")).scale


def by_name(target: str, folder: Path) -> Road:
    function = scale(target)
    return lambda a, b: function(B=b, A=a)


ROADS: dict[str, Callable[[str, Path], Road]] = {
    "call": lambda target, folder: scale(target),
    "named": by_name,
    "ffi": lambda target, folder: scale(target).ffi,
    "library": exported,
    "dispatch": lambda target, folder: tw.dispatch([scale(target, "ints", "int32"), scale(target)], "either"),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("road", "target"),
    [(road, target) for road in ROADS for target in ("cpu", "sim") if (road, target) != ("library", "sim")],
)
def test_each_thread_has_its_own_call(road: str, target: str, tmp_path: Path) -> None:
    function = ROADS[road](target, tmp_path)  # compiled by whoever calls first
    name = "either" if road == "dispatch" else "scale"

    def work(index: int) -> None:
        for turn in range(CALLS[target]):
            length = 1 + (37 * index + 11 * turn) % 101
            a = np.full(length, index * 1000 + turn, "float32")
            b = np.zeros(length, "float32")
            function(a, b)
            np.testing.assert_array_equal(b, 2 * a + 1)
            # Each thread hears of its own mistake.
            with pytest.raises((ValueError, TypeError), match=rf"(?s)^{name}.*got shape \({length + index + 1},\)"):
                function(a, np.zeros(length + index + 1, "float32"))

    in_threads(work)


def test_one_object_of_which_many_threads_make_the_first_call() -> None:
    for _ in range(10):
        function = scale("cpu")
        results = [np.zeros(50, "float32") for _ in range(THREADS)]
        in_threads(lambda index, f=function, out=results: f(np.full(50, index, "float32"), out[index]))
        assert [int(each[0]) for each in results] == [2 * index + 1 for index in range(THREADS)]


def test_functions_that_are_built_and_dropped_by_many_threads() -> None:
    def work(index: int) -> None:
        for turn in range(2):
            function = scale("cpu", f"scale_{index}_{turn}")
            a, b = np.full(10, index, "float32"), np.zeros(10, "float32")
            function(a, b)
            assert (b == 2 * index + 1).all()
            del function

    in_threads(work)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_what_tvm_ffi_has_outlives_the_function(target: str) -> None:
    function = scale(target).ffi
    gc.collect()
    a, b = np.ones(10, "float32"), np.zeros(10, "float32")
    function(a, b)
    assert (b == 3).all()
