"""ONNX operators that are made of several of the graph, compared with NumPy or ONNX's reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

import tilewright as tw  # noqa: E402
from tilewright.onnx import backend  # noqa: E402


def _model(operator: str, inputs: dict[str, Any], **attributes: Any) -> Any:
    node = onnx.helper.make_node(operator, list(inputs), ["y"], **attributes)
    given = [
        onnx.helper.make_tensor_value_info(name, onnx.helper.np_dtype_to_tensor_dtype(one.dtype), one.shape)
        for name, one in inputs.items()
    ]
    made = [onnx.ValueInfoProto(name="y")]
    return onnx.helper.make_model(onnx.helper.make_graph([node], operator, given, made))


def _compared(operator: str, inputs: dict[str, Any], **attributes: Any) -> Any:
    """The result, which is ONNX's reference's, too."""
    from onnx.reference import ReferenceEvaluator

    model = _model(operator, inputs, **attributes)
    (got,) = backend.prepare(model).run(inputs)
    (wanted,) = ReferenceEvaluator(model).run(None, inputs)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
    return got


@pytest.mark.parametrize("rows", [1, 2, *(pytest.param(rows, marks=pytest.mark.sweep) for rows in (3, 5))])
def test_determinants(rows: int) -> None:
    x = np.random.default_rng(0).standard_normal((2, 3, rows, rows))
    if rows > 1:
        x[0, 0, 0, 0] = 0.0  # not the pivot
        x[1, 1, 1] = 2 * x[1, 1, 0]  # singular
    got = backend.run_node(onnx.helper.make_node("Det", ["x"], ["y"]), [x])[0]
    np.testing.assert_allclose(got, np.linalg.det(x), rtol=1e-10, atol=1e-12)


def test_determinants_of_few_numbers() -> None:
    swapped = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert backend.run_node(onnx.helper.make_node("Det", ["x"], ["y"]), [swapped])[0] == -1
    assert backend.run_node(onnx.helper.make_node("Det", ["x"], ["y"]), [np.zeros((2, 2))])[0] == 0


@pytest.mark.parametrize("axis", [None, 0, -1])
def test_slices_at_which_a_condition_is_true(axis: int | None) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    condition = np.array([True, False, True])
    attributes = {} if axis is None else {"axis": axis}
    got = _compared("Compress", {"x": x, "condition": condition}, **attributes)
    np.testing.assert_array_equal(got, np.compress(condition, x, axis))


@pytest.mark.sample(3)
@pytest.mark.parametrize(("skips", "least"), [(0, 1), (2, 2), (0, 2), (2, 1)])
@pytest.mark.parametrize("mode", ["TF", "IDF", "TFIDF"])
def test_counts_of_n_grams(mode: str, skips: int, least: int) -> None:
    # ONNX's reference numbers weights by results, and its text by n-grams: the same here.
    x = np.random.default_rng(1).integers(0, 4, (3, 9), dtype=np.int64)
    pool = {"pool_int64s": [0, 2, 3, 1, 2, 0, 0, 3, 1], "ngram_counts": [0, 3], "ngram_indexes": [0, 1, 2, 3, 4, 5]}
    _compared(
        "TfIdfVectorizer", {"x": x}, mode=mode, min_gram_length=least, max_gram_length=2, max_skip_count=skips,
        weights=[0.5, 1.0, 2.0, 0.25, 3.0, 1.5], **pool,
    )  # fmt: skip


def test_weights_of_mel_spectrograms() -> None:
    for bins, length, rate in ((8, 16, 8192), (20, 256, 16000), (5, 7, 100)):
        inputs = {
            name: np.array(value, dtype)
            for name, value, dtype in (
                ("bins", bins, np.int64), ("length", length, np.int64), ("rate", rate, np.int64),
                ("low", 0, np.float32), ("high", rate / 2, np.float32),
            )
        }  # fmt: skip
        _compared("MelWeightMatrix", inputs)


def test_bits_of_bools() -> None:
    x = np.array([True, False, True])
    for to in (np.uint8, np.int8):
        node = onnx.helper.make_node("BitCast", ["x"], ["y"], to=onnx.helper.np_dtype_to_tensor_dtype(np.dtype(to)))
        got = backend.run_node(node, [x])[0]
        assert got.dtype == to and got.tolist() == [1, 0, 1]


def test_dropout_with_a_seed() -> None:
    x = np.random.default_rng(2).standard_normal((5, 40)).astype("float32")
    inputs = {"x": x, "ratio": np.float32(0.25), "training": np.bool_(True)}
    kept = [_compared("Dropout", {k: np.asarray(v) for k, v in inputs.items()}, seed=seed) != 0 for seed in (0, 1)]
    assert (kept[0] != kept[1]).any() and all(0.6 < one.mean() < 0.9 for one in kept)
    with pytest.raises(tw.CompileError) as caught:
        _compared("Dropout", {k: np.asarray(v) for k, v in inputs.items()})
    text = "Dropout in training mode needs a seed and static extents: its result is random otherwise"
    assert str(caught.value).endswith(f"(Dropout): {text}")


@pytest.mark.parametrize("shape", [(), (3, 5)])
def test_celu(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(2).standard_normal(shape).astype("float32")
    for one in (x, -x):
        got = _compared("Celu", {"x": one}, alpha=0.7)
        assert got.shape == shape
