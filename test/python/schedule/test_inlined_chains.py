"""Chains of inlined stages that each read several others: what is computed twice is not copied each time."""

from __future__ import annotations

import numpy as np

import tilewright as tw
from tilewright import te

STEPS = 24


def test_a_chain_of_pairs_grows_with_its_length() -> None:
    n = 16
    a, b = (te.placeholder((n,), "int32", name=name) for name in "AB")
    x, y, stages = a, b, []
    for i in range(STEPS):
        rest = te.compute((n,), lambda k, x=x, y=y: x[k] % te.max(y[k], 1), name=f"rest{i}")
        x, y = (
            te.compute((n,), lambda k, x=x, y=y: te.if_then_else(y[k] == 0, x[k], y[k]), name=f"x{i}"),
            te.compute((n,), lambda k, y=y, rest=rest: te.if_then_else(y[k] == 0, 0, rest[k]), name=f"y{i}"),
        )
        stages += [rest, x, y]
    s = te.create_schedule(x.op)
    for stage in stages[:-3]:
        s[stage].compute_inline()
    func = tw.build(s, [a, b, x], target="cpu")
    # Every step of the chain is there once: with copies it would be there 2^24 times.
    assert func.ir("linalg").count("arith.remsi") <= STEPS
    left, right = np.arange(1, n + 1, dtype="int32") * 12, np.arange(n, 0, -1, dtype="int32") * 18
    out = np.empty(n, "int32")
    func(left, right, out)
    np.testing.assert_array_equal(out, np.gcd(left, right))
