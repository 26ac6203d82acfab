"""KernelBench's 200 problems of levels 1 and 2, written as te programs: scheduled by rules, right on cpu and sim.

Extents are small; what operations are computed, and of how many dimensions, is what KernelBench has. Modules that train
have the statistics of the batch; dropout has nothing to do. Each result is held against torch in double precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing

from .level1 import LEVEL1, Problem
from .level2 import LEVEL2
from .words import OfTe, OfTorch

torch = pytest.importorskip("torch")
PROBLEMS = [pytest.param(*one, id=one[0]) for one in (*LEVEL1, *LEVEL2)]
SOME = PROBLEMS[::9]


def test_how_many() -> None:
    assert (len(LEVEL1), len(LEVEL2)) == (100, 100)
    assert len({one[0] for one in (*LEVEL1, *LEVEL2)}) == 200


def check(problem: Problem, target: str) -> None:
    name, shapes, words = problem
    rng = np.random.default_rng(len(name))
    arrays: list[Any] = [rng.standard_normal(shape).astype("float32") * 0.5 for shape in shapes]
    if name == "CrossEntropyLoss":
        arrays[1] = rng.integers(0, shapes[0][1], shapes[1])
    given = [te.placeholder(one.shape, str(one.dtype), f"x{i}") for i, one in enumerate(arrays)]
    output = words(OfTe, *given)
    exact = words(
        OfTorch(), *(torch.from_numpy(one).double() if is_float(one) else torch.from_numpy(one) for one in arrays)
    )
    function = tw.build(tw.auto_schedule(output, target), [*given, output], target=target, name="problem")
    (found,) = testing.run(function, arrays, [(tuple(exact.shape), output.dtype)])
    value = exact.numpy()
    bound = 1e-5 * max(1.0, float(np.abs(value).max()))
    if value.dtype.kind == "i":
        bound = 0.0
    testing.assert_within(found, value, np.full(value.shape, bound))


def is_float(array: Any) -> bool:
    return array.dtype == np.float32


@pytest.mark.sample(2)
@pytest.mark.parametrize(("name", "shapes", "words"), SOME)
def test_on_cpu(name: str, shapes: Any, words: Any) -> None:
    check((name, shapes, words), "cpu")


def test_several_columns_on_the_simulator() -> None:
    """What is made of elements more than once is not kept in registers where rows are of several axes."""
    check(next(one for one in LEVEL2 if one[0] == "Conv2d_Activation_BatchNorm"), "sim -device=H200")


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cumsum_reverse", "cumsum_exclusive", "masked_cumsum"])
def test_running_sums_are_one_kernel(name: str) -> None:
    problem = next(one for one in LEVEL1 if one[0] == name)
    given = [te.placeholder(shape, "float32", f"x{i}") for i, shape in enumerate(problem[1])]
    assert len(list(tw.auto_schedule(problem[2](OfTe, *given), "cuda -device=H200").plan or ())) == 1
    check(problem, "sim -device=H200")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cpu", "sim -device=H200"])
@pytest.mark.parametrize(("name", "shapes", "words"), PROBLEMS)
def test_all(name: str, shapes: Any, words: Any, target: str) -> None:
    check((name, shapes, words), target)
