"""Arguments of a dense layer's end: numbers by value, with defaults, a bias that a call may be without, and a tuple.

Run it: python 08_arguments.py [sim|cpu|cuda]
"""

from __future__ import annotations

import sys

import numpy as np

import tilewright as tw
from tilewright import te


def scale_and_add(m: int):
    """D[i, j] = alpha * A[i, j] + beta * bias[j], the bias where there is one: a thread an element."""
    n, alpha = te.var("n"), te.var("alpha", "float32")
    beta = te.var("beta", "float32", default=1.0)
    A = te.placeholder((n, m), name="A")
    bias = te.placeholder((m,), name="bias", optional=True)
    scaled = te.compute((n, m), lambda i, j: A[i, j] * alpha, name="scaled")
    D = te.compute((n, m), lambda i, j: te.if_given(bias, scaled[i, j] + bias[j] * beta, scaled[i, j]), name="D")

    s = te.create_schedule(D.op)
    s[scaled].compute_inline()
    i, j = D.op.axis
    s[D].bind(i, te.thread_axis("blockIdx.x"))
    s[D].bind(j, te.thread_axis("threadIdx.x"))
    return s, [n, alpha, (A, bias), D, beta]


def check(target: str, n: int, m: int) -> None:
    """One function for all calls: with a bias and without, by place and by name."""
    s, args = scale_and_add(m)
    if target == "cpu":
        s = te.create_schedule(args[-2].op)
    f = tw.build(s, args, target=target, name="scale_and_add", host="managed")

    a, bias = np.arange(n * m, dtype="float32").reshape(n, m), np.arange(m, dtype="float32")
    d = np.empty_like(a)
    f(n, 0.5, (a, bias), d)
    np.testing.assert_array_equal(d, 0.5 * a + bias)
    f(n, 0.5, [a, bias], d, 2.0)
    np.testing.assert_array_equal(d, 0.5 * a + 2 * bias)
    f(n, 2, (a, None), d)
    np.testing.assert_array_equal(d, 2 * a)
    f(arg2=(a, None), n=n, alpha=-1.0, D=d)
    np.testing.assert_array_equal(d, -a)

    for wrong in ((n, "half", (a, None), d), (n + 1, 1.0, (a, None), d), (n, True, (a, None), d), (n, 1.0, a, d)):
        try:
            f(*wrong)
        except (TypeError, ValueError) as error:
            print(f"  {error}")
        else:
            raise AssertionError("expected an error")


def test_arguments(target: str) -> None:
    check(target, 5, 32)


if __name__ == "__main__":
    check(sys.argv[1] if len(sys.argv) > 1 else "sim", 64, 128)
    print("scale_and_add: right")
