"""reverse_compute_at of a stage that reads what is computed in the loops of another output."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import CompileError, te, testing


def two_outputs(rows: int, columns: int, extent: int | None = None) -> tuple[list[te.Tensor], te.Tensor]:
    """Of each row the sum, the row less that, and its square root."""
    A = te.placeholder((rows, columns), name="A")
    k = te.reduce_axis((0, columns), name="k")
    S = te.compute((rows,), lambda i: te.sum(A[i, k], axis=k), name="S")
    R = te.compute((rows, columns), lambda i, j: A[i, j] - S[i], name="R")
    T = te.compute((rows if extent is None else extent,), lambda t: S[t] * 2.0, name="T")
    return [A, R, T], S


@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("rows", [32, 37])
def test_outputs_of_two_ranks_are_one_kernel(target: str, rows: int) -> None:
    (A, R, T), S = two_outputs(rows, 20)
    s = te.create_schedule([R.op, T.op])
    block, row = s[R].split(R.op.axis[0], factor=8)
    s[R].bind(block, te.thread_axis("blockIdx.x"))
    s[R].bind(row, te.thread_axis("threadIdx.x"))
    s[S].compute_at(s[R], row)
    s[T].reverse_compute_at(s[R], row)
    func = tw.build(s, [A, R, T], target=target, name="both")
    a = np.random.default_rng(0).integers(-9, 9, (rows, 20)).astype("float32")
    r, t = testing.run(func, [a], [((rows, 20), "float32"), ((rows,), "float32")])
    np.testing.assert_array_equal(r, a - a.sum(1)[:, None])
    np.testing.assert_array_equal(t, 2 * a.sum(1))
    if target == "sim":
        assert "kernel1" not in func.ir("gpu")
    again = te.create_schedule([R.op, T.op])
    s.trace().apply(again)
    assert again.ir() == s.ir()


def refused(arguments: list[te.Tensor], S: te.Tensor, at: Any) -> str:
    _, R, T = arguments
    s = te.create_schedule([R.op, T.op])
    i, j = R.op.axis
    outer, inner = s[R].split(j, factor=10)
    s[R].reorder(outer, i, inner)
    s[S].compute_at(s[R], {"i": i, "outer": outer}[at])
    s[T].reverse_compute_at(s[R], {"i": i, "outer": outer}[at])
    with pytest.raises(CompileError) as caught:
        tw.lower(s, arguments, stage="loops")
    return str(caught.value).split("error: ", 1)[1].split("\n")[0]


def test_what_each_iteration_does_not_compute_whole() -> None:
    assert refused(*two_outputs(32, 20), "i") == (
        "reverse_compute_at: expected each iteration of loop 'i' to compute all of axis 'j' of stage 'R', which stage 'T' "
        "does not have, got a part of it"
    )


def test_another_extent() -> None:
    assert refused(*two_outputs(32, 20, 30), "outer") == (
        "reverse_compute_at: expected stage 'T' to have the first axes of stage 'R', in whose loops it reads what is "
        "computed, got 't' of another extent"
    )
