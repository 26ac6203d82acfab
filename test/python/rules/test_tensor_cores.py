"""Matmuls by tensor cores, by rule: each tile that the plan allows."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from rules.test_classes import matmul
from tilewright import testing


@pytest.mark.parametrize("place", range(12))
def test_each_tile(place: int) -> None:
    case = matmul(70, 90, 150, dtype="float16", acc="float32", b=place % 2 == 0, epilogue=lambda v: v + 1)
    (out,) = case.outputs
    plan = tw.auto_schedule(out, "sim -device=H200").plan
    assert plan is not None
    tiles = next(choice for choice in plan.decisions[0].choices if choice.name == "tile").alternatives
    tile = tiles[place * len(tiles) // 12]
    s = tw.auto_schedule(out, "sim -device=H200", settings={out.op.name: {"tile": tile, "group": (1, 4, 8)[place % 3]}})
    function = tw.build(s, [*case.inputs, out], "sim", "matmul")
    (got,) = testing.run(function, case.arrays, [((70, 90), "float32")])
    np.testing.assert_array_equal(got, case.exact[0])
