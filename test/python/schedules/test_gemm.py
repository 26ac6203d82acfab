"""The ready schedules compute what they say, at sizes that their tiles divide and at others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import schedules, testing

SMALL = {"tile": (32, 32)}


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
    ],
)
def test_sgemm(shape: tuple[int, int, int], options: dict[str, Any]) -> None:
    M, N, K = shape
    func = tw.build(*schedules.sgemm(M, N, K, **options), target="sim", name="sgemm")
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((M, K), dtype=np.float32), rng.standard_normal((K, N), dtype=np.float32)
    (c,) = testing.run(func, [a, b], [((M, N), "float32")])
    testing.assert_within(c, a.astype(np.float64) @ b.astype(np.float64), testing.dot_bound(a, b, K))


def test_sgemm_takes_one_barrier_a_step() -> None:
    text = tw.build(*schedules.sgemm(64, 64, 64, tile=(32, 32)), target="sim", name="sgemm").ir("gpu")
    assert text.count("gpu.barrier") == 1


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
