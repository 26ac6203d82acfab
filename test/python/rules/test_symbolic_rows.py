"""Contractions with a symbolic number of rows, images or matrices: one kernel of tiles for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.graph.operators import OPERATORS

N = te.var("n", min=1, max=4096)
Program = tuple[list[te.Tensor], te.Tensor, Callable[..., Any]]


def layer(dtype: str) -> Program:
    A, B, bias = (te.placeholder(shape, dtype) for shape in ((N, 60), (60, 72), (72,)))
    k = te.reduce_axis((0, 60), "k")
    C = te.compute((N, 72), lambda i, j: te.sum(A[i, k].astype("float32") * B[k, j].astype("float32"), axis=k))
    D = te.compute((N, 72), lambda i, j: te.max(C[i, j] + bias[j].astype("float32"), 0.0).astype(dtype))
    return [A, B, bias], D, lambda a, b, c: np.maximum(a @ b + c, 0)


def one_batch(dtype: str) -> Program:
    A, B, k = te.placeholder((1, N, 60), dtype), te.placeholder((60, 72), dtype), te.reduce_axis((0, 60), "k")
    C = te.compute((1, N, 72), lambda b, i, j: te.sum(A[b, i, k].astype("float32") * B[k, j].astype("float32"), axis=k))
    return [A, B], C, np.matmul


def matrices() -> Program:
    A, B, k = te.placeholder((N, 20, 24)), te.placeholder((N, 24, 30)), te.reduce_axis((0, 24), "k")
    return [A, B], te.compute((N, 20, 30), lambda b, i, j: te.sum(A[b, i, k] * B[b, k, j], axis=k)), np.matmul


def images() -> Program:
    X, W = te.placeholder((N, 6, 9, 11)), te.placeholder((12, 6, 3, 3))
    how: dict[str, Any] = {"strides": (1, 1), "before": (1, 1), "after": (1, 1), "dilations": (1, 1), "groups": 1}
    (Y,) = OPERATORS["conv"](X, W, acc="float32", to="float32", by_threads=True, **how)

    def exact(x: Any, w: Any) -> Any:
        windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)]), (3, 3), (2, 3))
        return np.einsum("ncyxij,fcij->nfyx", windows, w)

    return [X, W], Y, exact


PROGRAMS: dict[str, Callable[[], Program]] = {
    "float32": lambda: layer("float32"), "float16": lambda: layer("float16"), "matrices": matrices, "images": images,
    "float32 of one batch": lambda: one_batch("float32"), "float16 of one batch": lambda: one_batch("float16"),
}  # fmt: skip


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", ["sim -device=H200", "sim -arch=sm_75", "cpu"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_kernel_for_any_number_of_rows(name: str, target: str) -> None:
    inputs, output, exact = PROGRAMS[name]()
    s = tw.auto_schedule(output, target)
    if target != "cpu":
        rules = {"float32": "tiles of vectors"} | ({"float16": "tensor cores"} if "H200" in target else {})
        rule = rules.get(name.removesuffix(" of one batch"), "tiles in shared memory")
        assert s.plan is not None and [one.rule for one in s.plan] == [rule]
    function = tw.build(s, [*inputs, output], target, name="program")
    rng = np.random.default_rng(0)
    for rows in (1, 7, 33):
        shapes = [tuple(rows if extent is N else int(extent) for extent in one.shape) for one in inputs]
        arrays = [rng.integers(-2, 3, shape).astype(one.dtype) for shape, one in zip(shapes, inputs)]
        value = exact(*(one.astype("float64") for one in arrays))
        (found,) = testing.run(function, arrays, [(value.shape, output.dtype)])
        np.testing.assert_array_equal(found.astype("float64"), value)


@pytest.mark.parametrize("rows", [N, 16384])
def test_a_softmax_of_any_number_of_rows_has_a_block_for_each_and_divides_once(rows: te.Var | int) -> None:
    X = te.placeholder((rows, 1024), "float16", "X")
    (Y,) = OPERATORS["softmax"](X, axis=1)
    s = tw.auto_schedule(Y, "cuda -device=H200")
    assert s.plan is not None
    (decision,) = s.plan
    assert (decision["threads"], decision["rows"]) == ((128, 1) if rows is N else (32, 8))
    ptx = tw.build(s, [X, Y], "cuda -device=H200").ptx
    assert (ptx.count("rcp.rn.f32"), ptx.count("div.")) == (1, 0)
