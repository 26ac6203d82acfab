"""ONNX's Resize of images whose height and width are symbols."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tilewright as tw

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnx.reference")

from .onnx_reference import check  # noqa: E402

helper, numpy_helper = onnx.helper, onnx.numpy_helper
FLOAT = onnx.TensorProto.FLOAT
SCALES = ((2, 2), (1.5, 3), (0.5, 0.75))
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
WHERE = ("asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners", "half_pixel_symmetric")
IMAGES = ((1, 2, 3, 4), (2, 2, 1, 1), (1, 2, 8, 5))


def resize(scales: Any = None, *, like: bool = False, **attributes: Any) -> Any:
    """A model that resizes x by scales, or to the height and width of another image."""
    inputs = {"x": ("batch", 2, "height", "width")} | ({"z": ("batch", 2, "h", "w")} if like else {})
    infos = [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()]
    nodes = [helper.make_node("Resize", ["x", "", "" if like else "scales", *["sizes"] * like], ["y"], **attributes)]
    if like:
        nodes.insert(0, helper.make_node("Shape", ["z"], ["sizes"]))
    given = [] if like else [numpy_helper.from_array(np.array([1, 1, *scales], np.float32), "scales")]
    graph = helper.make_graph(nodes, "model", infos, [onnx.ValueInfoProto(name="y")], given)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])


def images(*shapes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(20327)
    return [rng.standard_normal(shape).astype("float32") for shape in shapes]


CASES = [
    (how, where, SCALES[number % len(SCALES)])
    for number, (how, where) in enumerate(itertools.product(("linear", *NEAREST), WHERE))
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("how", "where", "scales"), CASES, ids=str)
def test_scales(how: str, where: str, scales: tuple[float, float]) -> None:
    own = {"mode": "linear"} if how == "linear" else {"mode": "nearest", "nearest_mode": how}
    least = 2 if min(scales) < 1 else 1
    calls = [{"x": one} for one in images(*(shape for shape in IMAGES if min(shape[2:]) >= least))]
    check(resize(scales, coordinate_transformation_mode=where, **own), *calls)


@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_as_large_as_another_image(mode: str) -> None:
    pairs = [((1, 2, 3, 4), (1, 2, 6, 8)), ((2, 2, 5, 5), (2, 2, 3, 11))]
    calls = [{"x": x, "z": z} for x, z in (images(*pair) for pair in pairs)]
    check(resize(like=True, mode=mode, coordinate_transformation_mode="asymmetric"), *calls)


REFUSED: dict[str, tuple[Any, str]] = {
    "antialias": (
        resize((2, 2), mode="linear", antialias=1),
        "expected no antialias for an image of symbolic extents float32[batch, 2, height, width]",
    ),
    "a part of the image": (
        resize((2, 2), coordinate_transformation_mode="tf_crop_and_resize"),
        "expected another coordinate_transformation_mode than tf_crop_and_resize for an image of symbolic extents",
    ),
    "an aspect ratio": (
        resize(like=True, keep_aspect_ratio_policy="not_larger"),
        "expected an image whose extents are known for keep_aspect_ratio_policy, got float32[batch, 2, height, width]",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    proto, message = REFUSED[name]
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(proto, target="cpu")
    assert str(caught.value) == f"node 'y' (Resize): {message}"
