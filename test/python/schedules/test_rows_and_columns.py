"""The ready schedules that go once over memory, at sizes that their threads divide and at others, and what they become."""

from __future__ import annotations

import math
from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest
from numpy.typing import NDArray

import tilewright as tw
from tilewright import schedules, te, testing
from tilewright.te import Schedule, Tensor

Scheduled = tuple[Schedule, list[Tensor]]
U = testing.unit_roundoff("float32")
SHAPES = [(8, 1024), (3, 2304), (5, 70), (5, 2), (3, 3)]
rng = np.random.default_rng(0)


def run(scheduled: Scheduled, inputs: Sequence[NDArray], shape: tuple[int, ...]) -> NDArray:
    func = tw.build(*scheduled, target="sim", name="kernel")
    (result,) = testing.run(func, list(inputs), [(shape, "float32")])
    return result


def normal(*shape: int) -> NDArray[np.float32]:
    return rng.standard_normal(shape, dtype=np.float32)


@pytest.mark.parametrize("shape", SHAPES)
def test_softmax(shape: tuple[int, int]) -> None:
    x = normal(*shape)
    shifted = x.astype(float) - x.max(axis=1, keepdims=True)
    exact = np.exp(shifted) / np.exp(shifted).sum(axis=1, keepdims=True)
    bound = (2 * np.abs(shifted).max() + 9 + shape[1]) * U * exact
    testing.assert_within(run(schedules.softmax(*shape), [x], shape), exact, bound)


@pytest.mark.parametrize("shape", SHAPES)
def test_layer_norm(shape: tuple[int, int]) -> None:
    x, gamma, beta = normal(*shape), normal(shape[1]), normal(shape[1])
    wide = x.astype(float)
    centred = wide - wide.mean(axis=1, keepdims=True)
    exact = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * gamma + beta
    relative = (3 * shape[1] + 12) * U
    bound = relative * (np.abs(x).max() / centred.std() * np.abs(gamma) + np.abs(exact) + np.abs(beta))
    testing.assert_within(run(schedules.layer_norm(*shape), [x, gamma, beta], shape), exact, bound)


@pytest.mark.parametrize("shape", SHAPES)
def test_rms_norm(shape: tuple[int, int]) -> None:
    x, gamma = normal(*shape), normal(shape[1])
    exact = x / np.sqrt((x.astype(float) ** 2).mean(axis=1, keepdims=True) + 1e-5) * gamma
    testing.assert_within(run(schedules.rms_norm(*shape), [x, gamma], shape), exact, (shape[1] + 9) * U * np.abs(exact))


@pytest.mark.parametrize("shape", SHAPES)
def test_row_sum(shape: tuple[int, int]) -> None:
    x = normal(*shape)
    exact, bound = x.astype(float).sum(axis=1), shape[1] * U * np.abs(x.astype(float)).sum(axis=1)
    testing.assert_within(run(schedules.row_sum(*shape), [x], shape[:1]), exact, bound)


@pytest.mark.parametrize("split_k", [1, 3])
@pytest.mark.parametrize("shape", [(64, 256), (103, 300), (5, 70)])
def test_column_sum(shape: tuple[int, int], split_k: int) -> None:
    x = normal(*shape)
    exact, bound = x.astype(float).sum(axis=0), shape[0] * U * np.abs(x.astype(float)).sum(axis=0)
    scheduled = schedules.column_sum(*shape, width=8, groups=4, split_k=split_k)
    testing.assert_within(run(scheduled, [x], shape[1:]), exact, bound)


@pytest.mark.parametrize("shape", [(64, 128), (70, 36), (3, 5)])
def test_transpose(shape: tuple[int, int]) -> None:
    x = normal(*shape)
    np.testing.assert_array_equal(run(schedules.transpose(*shape), [x], shape[::-1]), x.T)


@pytest.mark.parametrize("shape", [(16, 64), (5, 33)])
def test_elementwise(shape: tuple[int, int]) -> None:
    x, y = normal(*shape), normal(*shape)
    np.testing.assert_array_equal(run(schedules.add(*shape), [x, y], shape), x + y)
    wide = x.astype(float)
    exact = wide / 2 * (1 + np.vectorize(math.erf)(wide / math.sqrt(2)))
    testing.assert_within(run(schedules.gelu(*shape), [x], shape), exact, 8 * U * (np.abs(wide) + np.abs(exact)))
    chain = schedules.elementwise(lambda x, y: te.sqrt(x * x + 1.0) - y, shape, inputs=2, unroll=2)
    testing.assert_within(run(chain, [x, y], shape), np.sqrt(wide**2 + 1) - y, 8 * U * (np.abs(wide) + np.abs(y) + 1))


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("shape", [(16, 512), (7, 300)])
def test_products_with_vectors(shape: tuple[int, int], dtype: str) -> None:
    of = np.dtype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
    a, x, z = normal(*shape).astype(of), normal(shape[1]).astype(of), normal(shape[0]).astype(of)
    wide = a.astype(float)
    bound = (shape[1] + 2) * U * (np.abs(wide) @ np.abs(x.astype(float)))
    testing.assert_within(run(schedules.matvec(*shape, dtype=dtype), [a, x], shape[:1]), wide @ x.astype(float), bound)
    bound = (shape[0] + 2) * U * (np.abs(z.astype(float)) @ np.abs(wide))
    scheduled = schedules.vecmat(*shape, dtype=dtype, width=8, groups=4)
    testing.assert_within(run(scheduled, [z, a], shape[1:]), z.astype(float) @ wide, bound)


def test_rows_stay_in_registers() -> None:
    """What each thread has of a row, no more; one read of memory, one write."""
    text = tw.build(*schedules.softmax(4, 4096), target="sim", name="softmax").ir("gpu")
    assert 'te.stage = "X.local"} : memref<1x16xf32, #gpu.address_space<private>>' in text
    assert 'te.stage = "power"} : memref<1x16xf32, #gpu.address_space<private>>' in text
    assert text.count("vector.load %arg0") == 1
    func = tw.build(*schedules.softmax(4, 4096), target="cuda -arch=sm_90a", name="softmax")
    assert func.ptx.count("ld.global") == func.ptx.count("ld.global.nc.v4") == 4
    assert func.ptx.count("st.global") == func.ptx.count("st.global.v4") == 4
    assert ".local" not in func.ptx


def test_neighbouring_threads_store_neighbours_of_odd_columns() -> None:
    """From shared memory, to which the tensor cores' tile is written first."""
    s, tensors = schedules.matmul_wgmma(1024, 1001, 512, "float16", out_dtype="float16")
    ptx = tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul").ptx
    (kernel,) = (part for part in ptx.split(".entry") if "wgmma.mma_async" in part)
    assert "cp.async.bulk.tensor.2d.global.shared" not in kernel and "stmatrix" in kernel
    assert 0 < kernel.count("st.global.b16") <= 8  # of a warp, every 32nd element of a part of a row
