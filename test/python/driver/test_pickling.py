"""Functions in other processes, and copies of them."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

import tilewright as tw
from tilewright import te


def scale(target: str, **options: object) -> tw.Function:
    n, alpha = te.var("n"), te.var("alpha", "float32", default=2.0)
    A = te.placeholder((n, 33), name="A")
    B = te.compute((n, 33), lambda i, j: alpha * A[i, j], name="B")
    s = te.create_schedule(B.op)
    if target != "cpu":
        s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    return tw.build(s, [A, B, alpha], target=target, name="scale", **options)  # type: ignore[arg-type]


def applied(function: tw.Function, a: np.ndarray) -> np.ndarray:
    out = np.empty_like(a)
    function(a, out)
    return out


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_a_function_is_pickled(target: str) -> None:
    function = scale(target)
    made = pickle.loads(pickle.dumps(function))
    a = np.arange(66, dtype="float32").reshape(2, 33)
    np.testing.assert_array_equal(applied(made, a), 2 * a)
    assert made is not function
    assert (made.name, made.target, str(made.signature)) == (function.name, function.target, str(function.signature))


@pytest.mark.sweep
def test_a_worker_that_was_spawned_calls_it() -> None:
    a = np.arange(66, dtype="float32").reshape(2, 33)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        np.testing.assert_array_equal(pool.submit(scale("cpu"), a).result(timeout=600), 2 * a)


def test_a_function_for_a_gpu_keeps_its_kernels() -> None:
    function = scale("cuda -arch=sm_90a", host="managed", after={"loops": "canonicalize"})
    made = pickle.loads(pickle.dumps(function))
    assert (made.ptx, made.is_managed, made.target) == (function.ptx, True, function.target)


def test_a_copy_is_the_function() -> None:
    function = scale("cpu")
    assert copy.copy(function) is function
    assert copy.deepcopy({"f": function})["f"] is function


def test_passes_in_python_are_not_pickled() -> None:
    def mine(module: tw.ir.Module) -> None:
        del module

    with pytest.raises(TypeError) as caught:
        pickle.dumps(scale("cpu", after={"linalg": mine}))
    assert str(caught.value) == (
        "expected a function without passes in Python to pickle, got scale, which mine had a part in: build it where it "
        "is needed, or use export_library"
    )
