"""The ready schedules compute what they say, at sizes that their tiles divide and at others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import schedules, te, testing

SMALL = {"tile": (32, 32)}


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((64, 64, 64), SMALL),
        ((52, 40, 28), SMALL),
        ((33, 65, 31), SMALL),
        ((1, 7, 5), SMALL),
        ((64, 32, 128), SMALL | {"split_k": 4}),
        ((33, 65, 93), SMALL | {"split_k": 3}),
        ((32, 96, 1024), SMALL),  # parts of its own choice
        ((16, 1024, 512), {}),
        ((13, 100, 77), {"split_k": 2}),
        ((13, 100, 77), {}),
        ((37, 44, 52), {"tile": (16, 64), "block_k": 32}),
        ((70, 68, 60), {"tile": (64, 64), "block_k": 16, "split_k": 2}),
    ],
)
def test_sgemm(shape: tuple[int, int, int], options: dict[str, Any]) -> None:
    M, N, K = shape
    func = tw.build(*schedules.sgemm(M, N, K, **options), target="sim", name="sgemm")
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((M, K), dtype=np.float32), rng.standard_normal((K, N), dtype=np.float32)
    (c,) = testing.run(func, [a, b], [((M, N), "float32")])
    testing.assert_within(c, a.astype(np.float64) @ b.astype(np.float64), testing.dot_bound(a, b, K))


@pytest.mark.sample(3)
@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize(
    ("shape", "batch", "options"),
    [
        ((70, 50, 33), None, {}),
        ((40, 36, 20), 3, {}),
        ((33, 40, 64), 2, {"split_k": 2}),
        ((5, 100, 40), None, {}),
        ((64, 64, 96), None, SMALL | {"split_k": 3}),
        ((36, 44, 52), 2, SMALL | {"block_k": 32}),
        ((36, 44, 50), 2, SMALL | {"block_k": 16, "stages": 3}),
        ((33, 40, 64), None, SMALL | {"split_k": 2, "stages": 4}),
    ],
)
def test_sgemm_of_any_layout(
    shape: tuple[int, int, int], batch: int | None, options: dict[str, Any], layout: str
) -> None:
    """With a bias and relu in the kernel, to float16 and to float32."""
    M, N, K = shape
    some = () if batch is None else (batch,)
    bias = te.placeholder((N,), name="bias")
    made = "float16" if layout[0] == "T" else "float32"
    s, tensors = schedules.sgemm(
        M, N, K, batch=batch, transpose_a=layout[0] == "T", transpose_b=layout[1] == "T", operands=[bias],
        epilogue=lambda value, *at: te.max(value + bias[at[-1]], 0.0), out_dtype=made, **options,
    )  # fmt: skip
    func = tw.build(s, tensors, target="sim", name="sgemm")
    rng = np.random.default_rng(0)
    a = rng.standard_normal((*some, M, K), dtype=np.float32)
    b = rng.standard_normal((*some, K, N), dtype=np.float32)
    c = rng.standard_normal(N, dtype=np.float32)
    stored = (np.ascontiguousarray(one.swapaxes(-1, -2) if way == "T" else one) for one, way in zip((a, b), layout))
    (y,) = testing.run(func, [*stored, c], [((*some, M, N), made)])
    exact = np.maximum(a.astype(np.float64) @ b.astype(np.float64) + c, 0)
    rounding = 2.0**-11 * np.abs(exact) if made == "float16" else 0.0
    testing.assert_within(y, exact, testing.dot_bound(a, b, K) + 1e-6 + rounding)


def test_sgemm_takes_one_barrier_a_step() -> None:
    text = tw.build(*schedules.sgemm(64, 64, 64, tile=(32, 32)), target="sim", name="sgemm").ir("gpu")
    assert text.count("gpu.barrier") == 1


@pytest.mark.sample(1)
@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
def test_rows_of_whole_vectors_are_read_in_vectors(layout: str) -> None:
    """Extents that no tile divides, but that are multiples of four."""
    ways = {"transpose_a": layout[0] == "T", "transpose_b": layout[1] == "T"}
    ptx = tw.build(*schedules.sgemm(36, 44, 52, **SMALL, **ways), target="cuda -arch=sm_90a", name="sgemm").ptx
    assert ptx.count("ld.global.nc.v4") == ptx.count("ld.global") > 0 and "st.global.v4" in ptx
    odd = tw.build(*schedules.sgemm(35, 43, 51, **SMALL, **ways), target="cuda -arch=sm_90a", name="sgemm").ptx
    assert ".v4" not in odd.replace("shared.v4", "")


@pytest.mark.sample(1)
@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
def test_with_more_stages_no_register_holds_what_is_fetched(layout: str) -> None:
    ways = {"transpose_a": layout[0] == "T", "transpose_b": layout[1] == "T"}
    s, tensors = schedules.sgemm(256, 256, 256, tile=(128, 128), block_k=16, split_k=1, stages=3, **ways)
    ptx = tw.build(s, tensors, target="cuda -arch=sm_90a", name="sgemm").ptx
    assert "ld.global" not in ptx and "st.shared" not in ptx
    singly = layout.count("N", 0, 1) + layout.count("T", 1)  # operands whose rows are along k
    assert ptx.count("], 4;") == singly * 3 * 8 and ptx.count("], 16;") == (2 - singly) * 3 * 2


@pytest.mark.sweep
def test_a_step_is_longer_where_few_blocks_wait_for_it() -> None:
    """Small matmuls have tiles for many SMs, and K tiles of 32; large ones have the largest tiles."""
    target = "cuda -device=H200"
    small = tw.build(*schedules.sgemm(870, 248, 240), target=target, name="sgemm").report().kernels[0].launch
    assert small.grid[0] * small.grid[1] >= 100
    large = tw.build(*schedules.sgemm(4096, 4096, 4096), target=target, name="sgemm").report().kernels[0].launch
    assert large.grid[:2] == (32, 32)


def test_wrong_tiles() -> None:
    with pytest.raises(ValueError) as error:
        schedules.sgemm(64, 64, 64, block_k=6)
    assert str(error.value) == (
        "expected lanes that are a multiple of 4 and divide the tile, and a block_k that is a multiple of 4, got "
        "lanes 8, tile (128, 128) and block_k 6"
    )


def test_no_parts() -> None:
    with pytest.raises(ValueError) as error:
        schedules.sgemm(64, 64, 64, split_k=0)
    assert str(error.value) == "expected a positive split_k, got 0"


def test_no_stages() -> None:
    with pytest.raises(ValueError) as error:
        schedules.sgemm(64, 64, 64, stages=1)
    assert str(error.value) == "expected at least 2 stages, got 1"
