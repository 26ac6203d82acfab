"""Temporaries of programs for the cpu that no machine has the memory for."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te


def built(size: int) -> tw.Function:
    A = te.placeholder((8,), name="A")
    T = te.compute((size,), lambda i: A[i % 8], name="T")
    B = te.compute((8,), lambda i: T[i * (size // 8)], name="B")
    return tw.build(te.create_schedule(B.op), [A, B], "cpu", name="mine")


@pytest.mark.parametrize("size", [2**48, 2**60])
def test_no_memory_for_a_temporary(size: int) -> None:
    a, b = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    with pytest.raises(MemoryError, match=f"^mine: no memory for {4 * size} bytes of temporaries$"):
        built(size)(a, b)
    small = built(64)
    small(a, b)
    assert (b == a[np.arange(8) * 8 % 8]).all()


def test_sizes_beyond_63_bits() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    T = te.compute((n * n * n * n,), lambda i: A[i % n], name="T")
    B = te.compute((n,), lambda i: T[i * n], name="B")
    function = tw.build(te.create_schedule(B.op), [A, B], "cpu", name="mine")
    a = np.arange(2**16, dtype=np.float32)
    with pytest.raises(MemoryError, match=r"^mine: no memory for temporaries of 2\^63 bytes or more$"):
        function(a, np.zeros(2**16, np.float32))
    b = np.zeros(8, np.float32)
    function(np.arange(8, dtype=np.float32), b)
    assert (b == 0).all()


def test_the_first_of_two_is_freed() -> None:
    """And an exported library says the same."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    T = te.compute((n * 1024,), lambda i: te.exp(A[i % n]), name="T")
    U = te.compute((n * 2**44,), lambda i: T[i % 1024] * T[i % 7], name="U")
    B = te.compute((n,), lambda i: U[i * 3] + U[i], name="B")
    function = tw.build(te.create_schedule(B.op), [A, B], "cpu", name="mine")
    a, b = np.ones(1024, np.float32), np.zeros(1024, np.float32)
    for _ in range(3):
        with pytest.raises(MemoryError, match=f"^mine: no memory for {4 * 2**54} bytes of temporaries$"):
            function(a, b)
