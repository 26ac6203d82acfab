"""Running sums of rows in one kernel, and in several of longer ones."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tilewright import ops, testing


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "shape", [(5, 615), (3, 7, 100), (1, 4096), (2, 4097), (9, 33), (130, 17), (7, 16), (2, 257), (40,)]
)
@pytest.mark.parametrize("dtype", ["float16", "int32"])
@pytest.mark.parametrize(("exclusive", "reverse"), [(False, False), (True, False), (False, True), (True, True)])
def test_running_sums(shape: tuple[int, ...], dtype: str, exclusive: bool, reverse: bool) -> None:
    x = (np.random.default_rng(0).standard_normal(shape) * (9 if dtype == "int32" else 1)).astype(dtype)
    y = ops.cumsum.function(x, target="sim", exclusive=exclusive, reverse=reverse)(x)
    wide = x.astype(np.float64)
    wide = wide[..., ::-1] if reverse else wide
    exact = np.cumsum(wide, axis=-1) - (wide if exclusive else 0)
    sizes = np.cumsum(np.abs(wide), axis=-1)
    if reverse:
        exact, sizes = exact[..., ::-1], sizes[..., ::-1]
    rounding = 2.0**-11 * np.abs(exact) if dtype == "float16" else 0.0
    testing.assert_within(np.asarray(y).astype(np.float64), exact, 64 * 2.0**-24 * sizes + rounding + 1e-6)


def test_a_row_is_read_and_stored_once() -> None:
    func = ops.cumsum.function(ops.Operand((48324, 615), "bfloat16"), target="cuda -device=H200")
    assert len(func.launch_config().launches) == 1
    # Thirteen turns of 48 threads: all loads before the first store to shared memory.
    first = func.ptx.split("bar.sync")[0]
    assert len(re.findall(r"ld\.global", func.ptx)) == len(re.findall(r"st\.global", func.ptx)) == 13
    assert len(re.findall(r"ld\.global", first)) == 13
