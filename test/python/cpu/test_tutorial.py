"""The steps of TVM's tutorial on a matmul for a processor, as bench/cpu_matmul.py measures them."""

import importlib.util
import os

import numpy as np
import pytest

import tilewright as tw
from tree import ROOT


def load():
    before = os.environ.get("OPENBLAS_NUM_THREADS")
    spec = importlib.util.spec_from_file_location("cpu_matmul", ROOT / "bench" / "cpu_matmul.py")
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    if before is None:  # which the script sets for itself
        del os.environ["OPENBLAS_NUM_THREADS"]
    return bench


BENCH = load()


@pytest.mark.parametrize("name", BENCH.STEPS)
def test_step(name):
    n = 64
    rng = np.random.default_rng(2)
    a, b = (rng.integers(-9, 9, (n, n)).astype("f4") for _ in range(2))
    c = np.full((n, n), np.nan, "f4")
    function = tw.build(*BENCH.STEPS[name](n), target="cpu")
    assert ("loops" in function.stages) == (name != "unscheduled")
    function(a, b, c)
    np.testing.assert_array_equal(c, a @ b)


def test_results_are_of_these_steps():
    """The tutorial's steps each help, and reach what is claimed."""
    import json

    found = json.loads((ROOT / "bench" / "results" / "cpu-matmul.json").read_text())["steps"]
    assert list(found) == ["numpy", *BENCH.STEPS]
    steps = ["baseline", "blocking", "vectorization", "permutation", "packing", "write cache"]
    seconds = [found[step]["median s"] for step in steps]
    assert seconds == sorted(seconds, reverse=True)
    assert found["parallel"]["median s"] < 0.75 * found["write cache"]["median s"]
    assert found["write cache"]["of numpy (medians)"] >= 0.7 and found["tuned"]["of numpy (medians)"] >= 0.85
