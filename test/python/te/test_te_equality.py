"""Python's truth of ``a == b``: identity where that can be meant, and an error where values are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

A = te.placeholder((4, 4), name="A")
n = te.var("n")
TEXT = (
    "expected te.all, te.any, te.if_then_else or te.select on an expression, got Python's own 'and', 'or', 'not' or 'if', "
    "which need its value now"
)
# A kernel would have had the branch of one iteration, the last, in all of them.
MEANT: list[Callable] = [
    lambda i, j: A[i, j] if i == 0 else 0.0,
    lambda i, j: A[i, j] if 0 == i else 0.0,
    lambda i, j: A[i, j] if i != 0 else 0.0,
    lambda i, j: A[i, j] if i == j else 0.0,
    lambda i, j: A[i, j] if i != j else 0.0,
    lambda i, j: A[i, j] if i in (1, 2) else 0.0,
    lambda i, j: A[i, j] if i == n - 1 else 0.0,
    lambda i, j: 1.0 if A[i, j] == 1 else 0.0,
    lambda i, j: 1.0 if A[i, j] == A[j, i] else 0.0,
    lambda i, j: A[i, j] if i + 1 == j else 0.0,
]


@pytest.mark.parametrize("function", MEANT)
def test_a_comparison_of_values_is_no_condition_of_python(function: Callable) -> None:
    with pytest.raises(TypeError) as raised:
        te.compute((4, 4), function)
    assert str(raised.value) == f"{__file__}:{function.__code__.co_firstlineno}: {TEXT}"


def test_axes_and_symbols_are_found_by_identity() -> None:
    B = te.compute((4, 4), lambda i, j: A[i, j], name="B")
    i, j = B.op.axis
    assert i == i and not i == j and i != j and j in B.op.axis and list(B.op.axis).index(j) == 1
    m = te.var("m")
    assert not n == 1 and n != 1 and not n == m and n in (m, n) and m not in (1, n) and not n * 2 == 4
    assert {i: 1, j: 2}[j] == 2
    s = te.create_schedule(B.op)
    assert [axis == i for axis in s[B].leaf_iter_vars][0]


def test_the_function_of_a_compute_ends_where_it_fails() -> None:
    B = te.compute((4, 4), lambda i, j: A[i, j], name="B")
    with pytest.raises(ZeroDivisionError):
        te.compute((4,), lambda i: A[i, 1 // 0])
    assert not B.op.axis[0] == B.op.axis[1]


def test_a_power_is_that_of_te() -> None:
    B = te.compute((4, 4), lambda i, j: A[i, j] ** 2 + 2 ** A[i, j], name="B")
    func = tw.build(te.create_schedule(B.op), [A, B], target="cpu")
    a, b = np.linspace(0, 3, 16, dtype="float32").reshape(4, 4), np.empty((4, 4), "float32")
    func(a, b)
    np.testing.assert_allclose(b, a**2 + 2**a, rtol=1e-5)


def test_types_of_torch_name_dtypes() -> None:
    torch = pytest.importorskip("torch")
    assert [te.placeholder((4,), dtype=getattr(torch, name)).dtype for name in ("bfloat16", "int8", "bool")] == [
        "bfloat16", "int8", "bool",
    ]  # fmt: skip
    with pytest.raises(TypeError) as raised:
        te.placeholder((4,), dtype=torch.complex64)
    assert str(raised.value).endswith(", uint64), got torch.complex64")


def test_extents_are_made_of_quotients_of_numbers() -> None:
    quotients = te.truncdiv(7, 2) + 1, te.floordiv(-7, 2) + 9, te.floormod(9, 4), te.truncmod(-7, 4) + 5
    assert te.placeholder(quotients).shape == (4, 5, 1, 2)
    assert te.placeholder((te.max(2, 3), te.min(2, 3))).shape == (3, 2)
