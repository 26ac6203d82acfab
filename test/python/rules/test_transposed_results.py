"""Matmuls whose results are stored with their axes in another order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.dtypes import as_dtype

H200, SIM = "cuda -device=H200", "sim -device=H200"


def program(order: tuple[int, ...], shape: tuple[int, ...], k: int, dtype: str) -> tuple[te.Tensor, ...]:
    """What is below the diagonal of a product, and a row added to it, with its axes in such an order."""
    *batch, m, n = shape
    to = "int32" if dtype == "int8" else "float32"
    A, B = te.placeholder((*batch, m, k), dtype, name="A"), te.placeholder((*batch, n, k), dtype, name="B")
    row, r = te.placeholder((n,), to, name="row"), te.reduce_axis((0, k), "r")

    def product(*at: Any) -> te.Expr:
        *some, i, j = at
        return te.sum(A(*some, i, r).astype(to) * B(*some, j, r).astype(to), axis=r)

    C = te.compute(shape, product, name="C")
    D = te.compute(shape, lambda *at: te.if_then_else(at[-2] >= at[-1], C(*at), 0) + row(at[-1]), name="D")
    E = te.compute(
        tuple(shape[place] for place in order),
        lambda *at: D(*(at[order.index(i)] for i in range(len(shape)))),
        name="E",
    )
    return A, B, row, E


CASES = [
    ((1, 0), (33, 45), 77),
    ((1, 0), (128, 192), 64),
    ((0, 2, 1), (3, 65, 29), 40),
    ((1, 0, 2), (3, 65, 29), 40),
    ((0, 2, 1, 3), (2, 3, 32, 24), 64),
    ((2, 0, 1, 3), (2, 3, 17, 24), 64),
    ((1, 0, 3, 2), (2, 3, 17, 24), 64),
]


@pytest.mark.sample(4)
@pytest.mark.parametrize("dtype, expected", [("float32", "tiles of vectors"), ("float16", ""), ("int8", "")])
@pytest.mark.parametrize("order, shape, k", CASES)
def test_results(order: tuple[int, ...], shape: tuple[int, ...], k: int, dtype: str, expected: str) -> None:
    tensors = program(order, shape, k, dtype)
    s = tw.auto_schedule(tensors[-1], SIM)
    rules = [decision.rule for decision in s.plan or ()]
    assert len(rules) == 1 and rules[0] in ([expected] if expected else ["tensor cores", "warpgroups"])
    generator = np.random.default_rng(0)
    a, b, row = (
        generator.integers(-3, 4, tuple(map(int, one.shape))).astype(as_dtype(str(one.dtype))) for one in tensors[:-1]
    )
    what = tuple(shape[place] for place in order), str(tensors[-1].dtype)
    (got,) = testing.run(tw.build(s, tensors, SIM), [a, b, row], [what])
    products = a.astype("float64") @ b.astype("float64").swapaxes(-1, -2)
    below = np.arange(shape[-2])[:, None] >= np.arange(shape[-1])
    np.testing.assert_array_equal(got, (np.where(below, products, 0) + row).transpose(order))


def test_rows_that_are_stored_decide() -> None:
    """Rows and columns change places where the result is stored as its transpose: warpgroups take it."""
    A, B, row, E = program((1, 0), (2048, 1024), 1024, "bfloat16")
    s = tw.auto_schedule(E, H200)
    (decision,) = s.plan or ()
    assert decision.rule == "warpgroups" and "1024 rows, 2048 columns" in str(decision)
    assert "wgmma" in tw.build(s, [A, B, row, E], H200).ptx


def test_a_result_that_is_read_in_two_ways() -> None:
    """It has its own kernel: another one for what is made of it and of its transpose."""
    A, B = te.placeholder((64, 32), "float16", name="A"), te.placeholder((32, 64), "float16", name="B")
    r = te.reduce_axis((0, 32), "r")
    C = te.compute((64, 64), lambda i, j: te.sum(A(i, r).astype("float32") * B(r, j).astype("float32"), axis=r), "C")
    D = te.compute((64, 64), lambda i, j: C(i, j) + C(j, i), name="D")
    s = tw.auto_schedule(D, SIM)
    assert [decision.rule for decision in s.plan or ()][0] in ("tensor cores", "warpgroups")
    generator = np.random.default_rng(0)
    a, b = (generator.integers(-3, 4, tuple(map(int, one.shape))).astype("float16") for one in (A, B))
    (got,) = testing.run(tw.build(s, [A, B, D], SIM), [a, b], [((64, 64), "float32")])
    product = a.astype("float64") @ b.astype("float64")
    np.testing.assert_array_equal(got, product + product.T)


def test_rows_of_a_symbolic_number() -> None:
    """They cannot be columns: the matmul keeps its tensor cores, and another kernel transposes what it stored."""
    rows = te.var("rows", min=2, max=64)
    A, B = te.placeholder((rows, 32), "float16", name="A"), te.placeholder((32, 40), "float16", name="B")
    r = te.reduce_axis((0, 32), "r")
    C = te.compute((rows, 40), lambda i, j: te.sum(A(i, r).astype("float32") * B(r, j).astype("float32"), axis=r), "C")
    D = te.compute((40, rows), lambda j, i: C(i, j) + 1, name="D")
    s = tw.auto_schedule(D, SIM)
    assert [decision.rule for decision in s.plan or ()] == ["tensor cores", "elementwise"]
    generator = np.random.default_rng(0)
    function = tw.build(s, [A, B, D], SIM)
    for number in (2, 33, 64):
        a, b = (generator.integers(-3, 4, shape).astype("float16") for shape in ((number, 32), (32, 40)))
        (got,) = testing.run(function, [a, b], [((40, number), "float32")])
        np.testing.assert_array_equal(got, (a.astype("float64") @ b.astype("float64")).T + 1)
