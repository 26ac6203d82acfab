"""Convolutions of images whose channels are last."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright import ops


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize(
    ("filters", "options"),
    [
        ((6, 1, 3, 3), {"groups": 6, "padding": 1}),
        ((12, 1, 3, 3), {"groups": 6, "padding": (0, 2), "stride": 2}),
        ((4, 3, 2, 2), {"groups": 2, "stride": 2}),
        ((5, 6, 3, 1), {"padding": ((1, 0), (0, 1)), "dilation": (2, 1)}),
    ],
)
def test_the_same_as_channels_first(target: str, filters: tuple[int, ...], options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    x, w, bias = (rng.integers(-4, 5, shape).astype("float32") for shape in ((2, 6, 9, 8), filters, filters[:1]))
    first = ops.conv(x, w, bias, target=target, **options)
    last = ops.conv(np.ascontiguousarray(np.moveaxis(x, 1, -1)), w, bias, layout="last", target=target, **options)
    assert (np.moveaxis(last, -1, 1) == first).all()


def test_windows_of_channels_share_what_they_read() -> None:
    """A depthwise convolution is one kernel, with the zeros around images, whichever side the channels are on."""
    plans: list[list[str]] = []
    for layout, shape in (("first", (32, 240, 28, 28)), ("last", (32, 28, 28, 240))):
        x, w = ops.Operand(shape, "bfloat16"), ops.Operand((240, 1, 5, 5), "bfloat16")
        s, _ = ops.conv.schedule(x, w, groups=240, padding=2, layout=layout, target="cuda -device=H200")
        plans.append([one.rule for one in s.plan or ()])
    assert plans == [["windows"], ["windows"]]


@pytest.mark.parametrize(("channels", "dependent"), [(3, True), (64, False)])
def test_images_that_are_copied_first(channels: int, dependent: bool) -> None:
    """The convolution comes up while the copy of few channels ends."""
    x, w = ops.Operand((1, 56, 56, channels), "float16"), ops.Operand((32, 3, 3, channels), "float16")
    s, _ = ops.conv2d.schedule(x, w, target="cuda -device=H200")
    assert str(s).startswith("# launched dependent\n") == dependent
