"""Softmax of each row, in the stable way: four stages in one kernel, one thread a row.

Run it: python 06_softmax.py [sim|cpu|cuda]
"""

from __future__ import annotations

import sys

import numpy as np

import tilewright as tw
from tilewright import te, testing


def softmax(rows: int, columns: int):
    """exp(x - max) / sum(exp(x - max)): maximum and sum stay with their thread, the exponential is inlined."""
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, columns), name="k")
    largest = te.compute((rows,), lambda i: te.max(X[i, k], axis=k), name="largest")
    power = te.compute((rows, columns), lambda i, j: te.exp(X[i, j] - largest[i]), name="power")
    r = te.reduce_axis((0, columns), name="r")
    total = te.compute((rows,), lambda i: te.sum(power[i, r], axis=r), name="total")
    Y = te.compute((rows, columns), lambda i, j: power[i, j] / total[i], name="Y")

    s = te.create_schedule(Y.op)
    block, thread = s[Y].split(Y.op.axis[0], factor=32)
    s[Y].bind(block, te.thread_axis("blockIdx.x"))
    s[Y].bind(thread, te.thread_axis("threadIdx.x"))
    s[power].compute_inline()
    s[largest].compute_at(s[Y], thread)
    s[total].compute_at(s[Y], thread)
    return s, [X, Y]


def check(target: str, rows: int, columns: int) -> None:
    """Builds it for `target` and compares with NumPy in float64."""
    s, args = softmax(rows, columns)
    func = tw.build(s, args, target=target, name="softmax")

    x = np.random.default_rng(6).standard_normal((rows, columns), dtype=np.float32)
    (y,) = testing.run(func, [x], [((rows, columns), "float32")])
    power = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    exact = power / power.sum(axis=1, keepdims=True)
    # The difference is rounded once, so its exponential is off by |x - max| roundings; exp itself is good to 2 units
    # of the last place, the division to one half; the sum of positive terms is off by at most a rounding a term.
    shift = np.abs(x - x.max(axis=1, keepdims=True)).max()
    testing.assert_within(y, exact, (2 * shift + 2 * 4 + 1 + columns) * testing.unit_roundoff("float32") * exact)


def test_softmax(target: str) -> None:
    check(target, *((64, 40) if target == "sim" else (512, 1000)))


def test_rows_that_no_block_divides(target: str) -> None:
    check(target, 37, 10)


if __name__ == "__main__":
    check(sys.argv[1] if len(sys.argv) > 1 else "sim", 64, 100)
    print("softmax: right")
