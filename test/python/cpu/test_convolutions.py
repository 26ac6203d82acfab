"""Convolutions on a processor: groups are an axis, pixels a stride apart lie together, and the compiler makes loops."""

import numpy as np
import pytest

import tilewright as tw
from tilewright import ops

CASES = {
    "groups": ((2, 12, 9, 11), (18, 4, 3, 3), {"groups": 3, "padding": 1}),
    "by channel": ((2, 6, 9, 11), (6, 1, 3, 3), {"groups": 6, "padding": 1}),
    "several by channel": ((1, 6, 9, 11), (12, 1, 3, 2), {"groups": 6}),
    "stride": ((1, 3, 14, 15), (4, 3, 3, 3), {"stride": 2, "padding": 1}),
    "stride of odd rows": ((1, 3, 8, 16), (4, 3, 2, 4), {"stride": (1, 3), "padding": ((0, 2), (1, 0))}),
    "stride and dilation": ((1, 3, 14, 15), (4, 3, 3, 3), {"stride": 2, "dilation": 3, "padding": 3}),
    "stride and groups": ((1, 8, 14, 15), (4, 2, 3, 3), {"stride": 2, "groups": 4, "padding": 2}),
    "stride beyond the filter": ((1, 2, 14, 15), (4, 2, 1, 1), {"stride": 3}),
    "row": ((2, 4, 37), (6, 2, 5), {"stride": 2, "groups": 2, "padding": 2}),
    "volume": ((1, 4, 5, 6, 7), (6, 2, 3, 2, 3), {"stride": (1, 2, 2), "groups": 2, "padding": 1}),
}


def pairs_of(value, rank):
    each = (value,) * rank if isinstance(value, int) else value
    return [one if isinstance(one, tuple) else (one, one) for one in each]


def each_of(value, rank):
    return (value,) * rank if isinstance(value, int) else value


def reference(x, w, stride=1, padding=0, dilation=1, groups=1):
    """The sums, window by window."""
    rank = x.ndim - 2
    strides, dilations = each_of(stride, rank), each_of(dilation, rank)
    x = np.pad(x, [(0, 0), (0, 0), *pairs_of(padding, rank)])
    reach = [(size - 1) * far + 1 for size, far in zip(w.shape[2:], dilations)]
    extents = [(size - one) // step + 1 for size, one, step in zip(x.shape[2:], reach, strides)]
    result = np.zeros((x.shape[0], w.shape[0], *extents), x.dtype)
    inputs, each = w.shape[1], w.shape[0] // groups
    for o in range(w.shape[0]):
        own = x[:, o // each * inputs : (o // each + 1) * inputs]
        for at in np.ndindex(*extents):
            window = tuple(slice(i * s, i * s + r, d) for i, s, r, d in zip(at, strides, reach, dilations))
            result[(slice(None), o, *at)] = (own[(slice(None), slice(None), *window)] * w[o]).reshape(len(x), -1).sum(1)
    return result


@pytest.mark.parametrize("name", CASES)
def test_results(name):
    shape, filters, options = CASES[name]
    rng = np.random.default_rng(1)
    x, w = (rng.integers(-3, 4, one).astype("float32") for one in (shape, filters))
    np.testing.assert_array_equal(ops.conv(x, w, target="cpu", **options), reference(x, w, **options))


@pytest.mark.parametrize(
    "filters, groups, stride", [((64, 8, 3, 3), 8, 1), ((64, 1, 3, 3), 64, 1), ((64, 8, 3, 3), 8, 2)]
)
def test_the_compiler_makes_the_loops(filters, groups, stride):
    x, w = np.zeros((1, 64, 56, 56), "float32"), np.zeros(filters, "float32")
    s, _ = ops.conv.schedule(x, w, groups=groups, stride=stride, padding=1, target="cpu")
    assert {decision.rule for decision in s.plan.decisions} == {"as it is"}
    text = ops.conv.function(x, w, groups=groups, stride=stride, padding=1, target="cpu").ir("linalg")
    # The padded image is stored: in the loops of the sums there are no conditions.
    stored = "conv_padded" if stride == 1 else "conv_phases"
    assert f'te.stage = "{stored}"' in text and text.count("scf.if") == 1


def test_strided_pixels_lie_together_in_models():
    torch = pytest.importorskip("torch")
    layer = torch.nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2)
    x = torch.randn(1, 4, 35)
    model = tw.compile(layer, (x,), target="cpu")
    torch.testing.assert_close(model(x), layer(x))
