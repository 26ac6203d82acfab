"""What detection needs at the sizes of its models: suppression of thousands of boxes, sorting, different elements."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

UNLIMITED = 2**31 - 1


def _model(classes, count, limit, least, most=0.45, center=0):
    scalars = {"limit": np.array([limit], np.int64), "most": np.array([most], np.float32)}
    if least is not None:
        scalars["least"] = np.array([least], np.float32)
    node = helper.make_node(
        "NonMaxSuppression", ["boxes", "scores", *scalars], ["y"], center_point_box=center, name="nms"
    )
    inputs = [helper.make_tensor_value_info("boxes", TensorProto.FLOAT, (1, count, 4)),
              helper.make_tensor_value_info("scores", TensorProto.FLOAT, (1, classes, count))]  # fmt: skip
    known = [numpy_helper.from_array(value, name) for name, value in scalars.items()]
    output = helper.make_tensor_value_info("y", TensorProto.INT64, None)
    return helper.make_model(helper.make_graph([node], "g", inputs, [output], known))


def _given(classes, count, seed=0):
    """Boxes, [1, count, 4], by their corners, and scores of which some are equal, most small."""
    rng = np.random.default_rng(seed)
    corner, size = rng.uniform(0, 600, (1, count, 2)), rng.uniform(10, 200, (1, count, 2))
    boxes = np.concatenate([corner, corner + size], axis=2).astype(np.float32)
    return boxes, np.round(rng.uniform(0, 1, (1, classes, count)) ** 4, 3).astype(np.float32)


def _suppressed(boxes, scores, limit, least, most):
    """NumPy's rows of (batch, class, box): of each class the best box that is left, again and again."""
    low, high = np.minimum(boxes[..., :2], boxes[..., 2:]), np.maximum(boxes[..., :2], boxes[..., 2:])
    rows = []
    for b, c in np.ndindex(scores.shape[:2]):
        area = np.prod(high[b] - low[b], axis=-1)
        left = np.argsort(-scores[b, c], kind="stable")
        left = left[scores[b, c, left] > (-np.inf if least is None else least)]
        for _ in range(min(limit, scores.shape[2])):
            if not len(left):
                break
            best = left[0]
            rows.append((b, c, best))
            side = np.minimum(high[b, left], high[b, best]) - np.maximum(low[b, left], low[b, best])
            common = np.prod(np.maximum(side, np.float32(0)), axis=-1)
            overlap = np.where(common > 0, common / (area[left] + area[best] - common), 0)
            left = left[(overlap <= np.float32(most)) & (left != best)]
    return np.array(rows, np.int64).reshape(-1, 3)


@pytest.mark.parametrize("target", ["cpu", pytest.param("sim", marks=pytest.mark.sweep)])
@pytest.mark.parametrize(("limit", "least"), [(3, None), (UNLIMITED, 0.3)])
def test_boxes_are_suppressed(target, limit, least):
    boxes, scores = _given(3, 40)
    made = tw.compile(_model(3, 40, limit, least), target=target)(boxes, scores)
    expected = _suppressed(boxes, scores, limit, least, 0.45)
    assert len(expected) > 6
    np.testing.assert_array_equal(made, expected)


@pytest.mark.parametrize("target", ["sim", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize(
    ("count", "least"), [(65, 0.1), *(pytest.param(700, n, marks=pytest.mark.sweep) for n in (None, 0.1))]
)
def test_all_overlaps_at_once(target, count, least):
    """Without a limit, of more than 64 boxes; what is no number and what is infinitely bad is not selected."""
    if target == "cuda" and not tw.cuda(0).exist:
        pytest.skip("no GPU here")
    boxes, scores = _given(2, count)
    scores[..., 3::9], scores[0, 0, 4::31] = np.nan, -np.inf
    made = tw.compile(_model(2, count, UNLIMITED, least), target=target)(boxes, scores)
    expected = _suppressed(boxes, scores, count, least, 0.45)
    assert len(expected) > 20
    np.testing.assert_array_equal(made, expected)


def test_boxes_by_their_centers():
    boxes, scores = _given(2, 30)
    centered = np.concatenate([(boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]], axis=2)
    made = tw.compile(_model(2, 30, UNLIMITED, 0.1, center=1), target="cpu")(centered, scores)
    np.testing.assert_array_equal(made, _suppressed(boxes, scores, 30, 0.1, 0.45))


@pytest.mark.sweep
@pytest.mark.parametrize(("limit", "least"), [(100, 0.25), (UNLIMITED, 0.25)])
def test_boxes_of_a_detector(limit, least):
    """8400 boxes of 80 classes: what compiles is as large as for a few."""
    boxes, scores = _given(80, 8400)
    model = tw.compile(_model(80, 8400, limit, least), target="cpu")
    assert len(model.groups) < 20
    made = model(boxes, scores)
    assert len(made) > 7000
    some = made[made[:, 1] < 4]
    np.testing.assert_array_equal(some, _suppressed(boxes, scores[:, :4], limit, least, 0.45))


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cpu", pytest.param("sim", marks=pytest.mark.sweep)])
@pytest.mark.parametrize("in_order", [0, 1])
def test_different_rows_as_numpy_finds_them(target, in_order):
    x = np.random.default_rng(1).integers(0, 3, (30, 2)).astype(np.float32)
    x[4], x[9] = [np.nan, 1], [np.nan, 1]
    node = helper.make_node("Unique", ["x"], ["y", "places", "numbers", "counts"], axis=0, sorted=in_order)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
    outputs = [helper.make_tensor_value_info(name, 1 if name == "y" else 7, None) for name in node.output]
    model = tw.compile(helper.make_model(helper.make_graph([node], "g", [given], outputs)), target=target)
    rows, places, numbers, counts = np.unique(
        np.where(np.isnan(x), 9, x), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    numbers = numbers.reshape(-1)
    if not in_order:
        order = np.argsort(places)
        rows, places, counts, numbers = rows[order], places[order], counts[order], np.argsort(order)[numbers]
    for made, expected in zip(model(x), (np.where(rows == 9, np.nan, rows), places, numbers, counts)):
        np.testing.assert_array_equal(made, expected)


@pytest.mark.sweep
def test_different_elements_of_many():
    torch = pytest.importorskip("torch")

    class Uniques(torch.nn.Module):
        def forward(self, x):
            return torch.unique(x, return_inverse=True, return_counts=True)

    x = torch.randint(0, 500, (100_000,), generator=torch.Generator().manual_seed(0))
    for made, expected in zip(tw.compile(Uniques(), (x,), target="cpu")(x), Uniques()(x)):
        torch.testing.assert_close(made, expected)


@pytest.mark.parametrize("target", ["cpu", pytest.param("sim", marks=pytest.mark.sweep)])
@pytest.mark.parametrize("largest", [False, True])
def test_long_rows_are_sorted(target, largest):
    x = np.random.default_rng(2).integers(0, 900, (2, 1100, 3)).astype(np.float32)
    x[0, 5:9, 1] = np.nan
    values, places = tw.ops.top_k(x, k=40, axis=1, largest=largest, target=target)
    key = np.where(np.isnan(x), np.inf, x)
    order = np.argsort(-key if largest else key, axis=1, kind="stable")[:, :40]
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, axis=1))


def test_boxes_of_an_unknown_number_have_a_limit():
    model = _model(2, "n", 1025, 0.1)
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(model, target="cpu")
    assert str(caught.value) == (
        "node 'nms' (NonMaxSuppression): expected classes whose number is known, and boxes whose number or limit is, up to "
        "1024, got scores ('1', '2', 'n') and the limit 1025"
    )
    boxes, scores = _given(2, 30)
    made = tw.compile(_model(2, "n", 5, 0.1), target="cpu")(boxes, scores)
    np.testing.assert_array_equal(made, _suppressed(boxes, scores, 5, 0.1, 0.45))
