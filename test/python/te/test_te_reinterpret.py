"""te.reinterpret: the bits of one type as another's."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te


@pytest.mark.parametrize(
    "source, to", [("float32", "int32"), ("uint16", "float16"), ("int64", "float64"), ("int8", "uint8")]
)
def test_bits_are_kept(source, to):
    A = te.placeholder((16,), source, name="A")
    B = te.compute((16,), lambda i: te.reinterpret(A[i], to), name="B")
    a = np.random.default_rng(0).integers(0, 100, 16).astype(source) * (1 if "u" in source else -1)
    a = a.astype(source)
    b = np.zeros(16, to)
    tw.build(te.create_schedule(B.op), [A, B], target="cpu")(a, b)
    assert np.array_equal(a.view(to).view(np.uint8), b.view(np.uint8))


def test_widths_that_differ():
    A = te.placeholder((4,), "float32", name="A")
    with pytest.raises(TypeError) as caught:
        te.compute((4,), lambda i: te.reinterpret(A[i], "int64"), name="B")
    assert str(caught.value).partition(": ")[2] == (
        "te.reinterpret: expected a type of 32 bits, as float32 has, and no bool, got int64"
    )
