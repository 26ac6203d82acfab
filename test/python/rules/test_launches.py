"""Which kernels of a program come up before the one before them ends."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing


def _variances(rows: int, columns: int) -> tuple[te.Tensor, te.Tensor]:
    """The mean of all variances of rows: two kernels."""
    X = te.placeholder((rows, columns), name="X")
    k, i = te.reduce_axis((0, columns), "k"), te.reduce_axis((0, rows), "i")
    squares = te.compute((rows,), lambda r: te.sum(X[r, k] * X[r, k], axis=k), name="squares")
    return X, te.compute((1,), lambda _: te.sum(te.sqrt(squares[i]), axis=i), name="Y")


@pytest.mark.parametrize(
    ("rows", "target", "dependent"),
    [
        (128, "cuda -device=H200", True),
        (1 << 16, "cuda -device=H200", False),  # longer than a launch by far
        (128, "cuda -device=A100", False),
        (128, "sim -device=H200", False),
        (128, "cpu", False),
    ],
)
def test_short_kernels_are_launched_dependent(rows: int, target: str, dependent: bool) -> None:
    s = tw.auto_schedule(_variances(rows, 1024)[1], target)
    assert str(s).startswith("# launched dependent\n") == dependent


def test_one_kernel_has_none_before_it() -> None:
    X = te.placeholder((128, 1024), name="X")
    s = tw.auto_schedule(te.compute(X.shape, lambda *at: X[at] + 1.0, name="Y"), "cuda -device=H200")
    assert "launched" not in str(s)


def test_kernels_wait_for_the_one_before() -> None:
    X, Y = _variances(128, 1024)
    func = tw.build(tw.auto_schedule(Y, "cuda -device=H200"), [X, Y], target="cuda -device=H200")
    assert len(func.launch_config().launches) == func.ptx.count("griddepcontrol.wait") == 2
    assert all(one.dependent for one in func.launch_config().launches)


def test_results_on_the_simulator() -> None:
    X, Y = _variances(20, 70)
    x = np.random.default_rng(0).standard_normal((20, 70)).astype("float32")
    func = tw.build(tw.auto_schedule(Y, "sim -device=H200"), [X, Y], target="sim -device=H200")
    (y,) = testing.run(func, [x], [((1,), "float32")])
    np.testing.assert_allclose(y, [np.sqrt((x.astype("float64") ** 2).sum(1)).sum()], rtol=1e-5)
