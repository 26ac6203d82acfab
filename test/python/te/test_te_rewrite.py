"""Expressions with parts of them replaced."""

from __future__ import annotations

import numpy as np

import tilewright as tw
from tilewright import te
from tilewright.te.rewrite import rewrite


def test_an_index_becomes_data() -> None:
    """Index arithmetic over a number that is read is arithmetic of data, with the same result."""
    places = te.placeholder((8,), "int32", name="places")

    def element(i: te.Expr) -> te.Expr:
        made = te.select((i * 3 + 5) // 4 < te.min(i + 1, 4), i % 3, 7 - i)
        return rewrite(made, lambda part: places[i] if part is i else None).astype("int32")

    made = te.compute((8,), element, name="made")
    s = te.create_schedule(made.op)
    numbers, out = np.array([3, 0, 7, 1, 1, 2, 5, 6], "int32"), np.empty(8, "int32")
    tw.build(s, [places, made], target="cpu", name="made")(numbers, out)
    right = [n % 3 if (n * 3 + 5) // 4 < min(n + 1, 4) else 7 - n for n in numbers]
    np.testing.assert_array_equal(out, right)
