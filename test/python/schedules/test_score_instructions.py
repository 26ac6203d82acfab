"""What a thread computes for each score beside the softmax, in PTX."""

from __future__ import annotations

import re
from typing import Any

import pytest

import tilewright as tw
from tilewright import te
from tilewright.schedules.online_softmax import attention_of

HEADS, LENGTH, WIDTH = 2, 512, 64


def instructions(name: str, **options: Any) -> int:
    """How many of this name the kernel has that computes attention."""
    q, k, v = (te.placeholder((1, HEADS, LENGTH, WIDTH), "float16", name=name) for name in "QKV")
    s, args = attention_of(q, k, v, tile=(64, 64), **options)
    ptx = tw.build(s, args, target="cuda -arch=sm_90a", name="attention").ptx
    return len(re.findall(rf"\t{re.escape(name)}\s", ptx))


@pytest.mark.sweep
def test_distances_are_converted_once() -> None:
    """ALiBi's of each tile, for the first tile of keys and for the others. A thread has 32 scores of a tile."""
    slopes = te.placeholder((HEADS,), "float32", name="slopes")
    assert instructions("cvt.rn.f32.s32", slopes=slopes) == 2
    assert instructions("cvt.rn.f32.s32", slopes=slopes, behind=0) == 4  # of tiles that are cut, and of others


@pytest.mark.sweep
def test_powers_beside_one_need_no_scaling() -> None:
    """Those of a soft cap: `ex2.approx` without `ftz` is scaled where its result would be subnormal."""
    plain = instructions("ex2.approx.ftz.f32")
    assert instructions("ex2.approx.ftz.f32", softcap=30.0) == plain + 2 * 32
    assert instructions("ex2.approx.f32", softcap=30.0) == 0
