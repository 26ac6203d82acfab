"""The order of rows by the merge sort of a GPU's blocks, beside NumPy's stable one."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.graph.operators import sorting

RNG = np.random.default_rng(4)
GPU = pytest.param("gpu", marks=pytest.mark.gpu)


@pytest.fixture
def small_tiles(monkeypatch):
    """Tiles of 64 elements, or 32 of several columns."""
    monkeypatch.setattr(sorting, "_THREADS", 32)
    monkeypatch.setattr(sorting, "_OWN", 2)


def _rows(*shape, dtype="float32"):
    """Rows of elements of which many are alike and, where that can be, some are NaN and infinite."""
    x = RNG.integers(0, max(shape[1] // 3, 2), shape).astype(dtype)
    if np.issubdtype(x.dtype, np.floating):
        x[:, 3::7], x[:, 5::9] = np.nan, -np.inf
    return x


def _expected(x, largest):
    def order(row):
        keys = [np.unique(np.where(np.isnan(c), np.inf, c), return_inverse=True)[1] for c in row.T[::-1]]
        return np.lexsort([-key if largest else key for key in keys])

    return np.stack([order(row) for row in x])


def _program(shape, dtype, largest, target):
    """Sorts rows of the shape, which may have symbolic extents; on cuda without a GPU it is compiled, which is all."""
    x = te.placeholder(shape, dtype, name="x")
    order = sorting.order_of(x, largest, in_threads=True)
    if target == "gpu" and not tw.cuda(0).exist:
        pytest.skip("no GPU here")
    made = {"gpu": "cuda", "cuda": "cuda -arch=sm_90a"}.get(target, target)
    program = tw.build(te.create_schedule(order.op), [x, order], made)

    def run(given):
        device = tw.cuda(0) if target == "gpu" else tw.cpu(0)
        got = tw.nd.empty(given.shape[:2], "int64", device)
        program(tw.nd.array(given, device), got)
        return got.numpy()

    return run


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("target", ["sim", GPU])
def test_rows_of_a_symbolic_number(small_tiles, target, largest):
    run = _program((te.var("rows"), te.var("n"), 1), "float32", largest, target)
    for rows, count in ((2, 0), (3, 1), (1, 2), (2, 63), (2, 64), (2, 65), (1, 128), (2, 129), (1, 257), (2, 1000)):
        x = _rows(rows, count, 1)
        np.testing.assert_array_equal(run(x), _expected(x, largest))


@pytest.mark.parametrize("target", ["sim", GPU])
def test_rows_of_a_number_with_a_bound(small_tiles, target):
    run = _program((2, te.var("n", max=100), te.var("columns")), "float32", False, target)
    for count, columns in ((1, 1), (32, 2), (33, 2), (100, 3)):
        x = np.minimum(_rows(2, count, columns), 2)
        np.testing.assert_array_equal(run(x), _expected(x, False))


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("target", ["sim", GPU])
@pytest.mark.parametrize("count", [1, 5, 64, 193])
@pytest.mark.sample(4)
def test_rows_of_some_small_tiles(small_tiles, count, target, largest):
    x = _rows(3, count, 1)
    np.testing.assert_array_equal(_program(x.shape, "float32", largest, target)(x), _expected(x, largest))


@pytest.mark.sweep
@pytest.mark.parametrize("shape", [(2, 2047, 1), (1, 2049, 1), (2, 5000, 1), (1, 2500, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
@pytest.mark.parametrize("largest", [False, True])
def test_rows_of_some_tiles(shape, dtype, largest):
    x = _rows(*shape, dtype=dtype)
    np.testing.assert_array_equal(_program(shape, dtype, largest, "sim")(x), _expected(x, largest))


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(1, 1_000_000, 1), (30, 100_001, 1), (1, 50_000, 2)])
def test_long_rows_on_a_gpu(shape):
    x = _rows(*shape)
    np.testing.assert_array_equal(_program(shape, "float32", False, "gpu")(x), _expected(x, False))


@pytest.mark.sweep
def test_programs_for_a_gpu_are_compiled(small_tiles):
    _program((1, te.var("n"), 1), "float32", False, "cuda")
