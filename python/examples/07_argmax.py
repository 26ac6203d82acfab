"""The largest element of each row and where it stands: a reduction of pairs, with a combiner of one's own.

Run it: python 07_argmax.py [sim|cpu|cuda]
"""

from __future__ import annotations

import sys

import numpy as np

import tilewright as tw
from tilewright import te, testing


def argmax(rows: int, columns: int):
    """(index, value) of the first largest element of each row, one thread a row."""

    def combine(x, y):
        left = te.any(x[1] > y[1], te.all(x[1] == y[1], x[0] < y[0]))
        return te.if_then_else(left, x[0], y[0]), te.if_then_else(left, x[1], y[1])

    def identity(t0: str, t1: str):
        return te.const(-1, t0), te.min_value(t1)

    reducer = te.comm_reducer(combine, identity, name="argmax")
    X = te.placeholder((rows, columns), name="X")
    k = te.reduce_axis((0, columns), name="k")
    index, value = te.compute((rows,), lambda i: reducer((k, X[i, k]), axis=k), name="argmax")

    s = te.create_schedule(index.op)
    block, thread = s[index].split(index.op.axis[0], factor=64)
    s[index].bind(block, te.thread_axis("blockIdx.x"))
    s[index].bind(thread, te.thread_axis("threadIdx.x"))
    return s, [X, index, value]


def check(target: str, rows: int, columns: int) -> None:
    """Builds it for `target` and compares with NumPy, which is exact here."""
    s, args = argmax(rows, columns)
    func = tw.build(s, args, target=target, name="argmax")

    rng = np.random.default_rng(7)
    x = rng.integers(-20, 20, (rows, columns)).astype(np.float32)  # with many ties
    index, value = testing.run(func, [x], [((rows,), "int32"), ((rows,), "float32")])
    np.testing.assert_array_equal(index, x.argmax(axis=1))
    np.testing.assert_array_equal(value, x.max(axis=1))


def test_argmax(target: str) -> None:
    check(target, *((128, 50) if target == "sim" else (1024, 1000)))


def test_rows_that_no_block_divides(target: str) -> None:
    check(target, 70, 9)


if __name__ == "__main__":
    check(sys.argv[1] if len(sys.argv) > 1 else "sim", 128, 100)
    print("argmax: right")
