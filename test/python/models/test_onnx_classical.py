"""ONNX operators of classical machine learning (domain ai.onnx.ml), compared with ONNX's reference and with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

import tilewright as tw  # noqa: E402
from models.onnx_reference import check  # noqa: E402

H = onnx.helper
KINDS = H.np_dtype_to_tensor_dtype
NAN = float("nan")


def _floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([*shape, seed]).standard_normal(shape).astype("float32")


def _model(operator: str, inputs: dict[str, np.ndarray], outputs: str, version: int = 3, **attributes: Any) -> Any:
    """A model of one node, whose first extents are symbolic where inputs are matrices."""
    node = H.make_node(operator, list(inputs), outputs.split(), name="n", domain="ai.onnx.ml", **attributes)
    given = [
        H.make_tensor_value_info(name, KINDS(one.dtype), ["rows" if one.ndim == 2 else one.shape[0], *one.shape[1:]])
        for name, one in inputs.items()
    ]
    made = [onnx.ValueInfoProto(name=name) for name in outputs.split()]
    opsets = [H.make_opsetid("", 21), H.make_opsetid("ai.onnx.ml", version)]
    return H.make_model(H.make_graph([node], operator, given, made), opset_imports=opsets)


def _run(operator: str, *given: np.ndarray, outputs: str = "y", version: int = 3, **attributes: Any) -> Any:
    inputs = {f"x{i}": one for i, one in enumerate(given)}
    return tw.compile(_model(operator, inputs, outputs, version, **attributes), target="cpu")(*given)


def _check(operator: str, x: np.ndarray, outputs: str = "y", version: int = 3, **attributes: Any) -> None:
    """Compares with ONNX's reference, with all rows and with one."""
    calls = [{"x": x}, {"x": x[:1]}] if x.ndim == 2 else [{"x": x}]
    check(_model(operator, {"x": x}, outputs, version, **attributes), *calls)


def _refused(operator: str, *given: np.ndarray, outputs: str = "y", version: int = 3, **attributes: Any) -> str:
    with pytest.raises(tw.CompileError) as caught:
        _run(operator, *given, outputs=outputs, version=version, **attributes)
    text = str(caught.value)
    assert text.startswith(f"node 'n' ({operator}): ")
    return text.removeprefix(f"node 'n' ({operator}): ")


# Features.


def test_features_are_scaled() -> None:
    x = _floats(5, 3)
    _check("Scaler", x, offset=[0.5, -1.0, 2.0], scale=[2.0, 0.25, 3.0])
    got = _run("Scaler", np.array([[2**53 - 1, 7]]), offset=[2.0**53], scale=[0.5])
    assert got.dtype == np.float32 and got[0, 0] == -0.5
    np.testing.assert_array_equal(_run("Scaler", x), x)


@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_rows_are_normalized(norm: str) -> None:
    x = _floats(5, 3)
    x[2] = 0
    _check("Normalizer", x, norm=norm)
    got = _run("Normalizer", x[0], norm=norm)
    np.testing.assert_allclose(got, _run("Normalizer", x, norm=norm)[0], rtol=1e-6)


def test_missing_features_are_replaced() -> None:
    x = _floats(4, 3)
    x[1, 2] = x[3, 0] = NAN
    _check("Imputer", x, imputed_value_floats=[1.0, 2.0, 3.0], replaced_value_float=NAN)
    _check("Imputer", x, imputed_value_floats=[7.0], replaced_value_float=float(x[0, 1]))
    whole = np.array([[0, 1, 2], [3, 0, 5]])
    _check("Imputer", whole, imputed_value_int64s=[-1, -2, -3], replaced_value_int64=0)


def test_features_are_compared_and_chosen() -> None:
    x = _floats(4, 3)
    _check("Binarizer", x, threshold=0.25)
    places = np.array([2, 0, 2])
    np.testing.assert_array_equal(_run("ArrayFeatureExtractor", x, places), x[:, places])
    np.testing.assert_array_equal(_run("ArrayFeatureExtractor", x[0], places), x[:1, places])
    np.testing.assert_array_equal(_run("ArrayFeatureExtractor", x[0], places[None]), x[:1, places])


def test_features_stand_beside_one_another() -> None:
    a, b, c = _floats(2, 3), np.array([[1, 2], [3, 4]]), _floats(2, 2)
    got = _run("FeatureVectorizer", a, b, c, inputdimensions=[2, 2, 4])
    np.testing.assert_array_equal(got, np.concatenate([a[:, :2], b, c, np.zeros((2, 2))], 1).astype(np.float32))
    np.testing.assert_array_equal(_run("FeatureVectorizer", a[0], c[0]), [[*a[0], *c[0]]])


# Categories.


@pytest.mark.parametrize("dtype", ["int64", "int32", "float32"])
def test_categories_become_columns(dtype: str) -> None:
    x = np.array([[3, 7], [5, 9]]).astype(dtype)
    _check("OneHotEncoder", x, cats_int64s=[3, 5, 7], zeros=1)
    # A category that is not known, where ONNX's reference fails.
    got = _run("OneHotEncoder", np.array([5, 4], dtype), cats_int64s=[3, 5, 7], zeros=0)
    np.testing.assert_array_equal(got, [[0, 1, 0], [0, 0, 0]])


def test_numbers_take_the_places_of_numbers() -> None:
    x = np.array([[3, 5, 4], [7, 3, 0]])
    _check("LabelEncoder", x, version=2, keys_int64s=[3, 5, 7], values_floats=[0.5, 1.5, 2.5], default_float=9.0)
    np.testing.assert_array_equal(
        _run("LabelEncoder", x, version=2, keys_int64s=[3, 5, 7], values_int64s=[1, 2, 4]), [[1, 2, -1], [4, 1, -1]]
    )
    keys = onnx.numpy_helper.from_array(np.array([1.5, NAN]), "keys")
    values = onnx.numpy_helper.from_array(np.array([10, 20], np.int16), "values")
    default = onnx.numpy_helper.from_array(np.array([30], np.int16), "default")
    got = _run(
        "LabelEncoder", np.array([NAN, 1.5, 2.0]), version=4, keys_tensor=keys, values_tensor=values,
        default_tensor=default,
    )  # fmt: skip
    assert got.tolist() == [20, 10, 30] and got.dtype == np.int16


def test_a_map_of_scores_is_their_matrix() -> None:
    x = _floats(3, 2)
    np.testing.assert_array_equal(_run("ZipMap", x, classlabels_int64s=[4, 5]), x)


# Linear models and support vector machines.


def _transformed(scores: np.ndarray, name: str) -> np.ndarray:
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return {
        "NONE": lambda: scores, "LOGISTIC": lambda: 1 / (1 + np.exp(-scores)),
        "SOFTMAX": lambda: powers / powers.sum(1, keepdims=True),
    }[name]()  # fmt: skip


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
def test_linear_regression(transform: str) -> None:
    x, weights = _floats(5, 3), _floats(2, 3)
    given = {"coefficients": weights.reshape(-1).tolist(), "targets": 2, "post_transform": transform}
    wanted = x @ weights.T + np.array([1, -1], np.float32)
    got = _run("LinearRegressor", x, intercepts=[1.0, -1.0], **given)
    np.testing.assert_allclose(got, _transformed(wanted, transform), rtol=1e-5)
    got = _run("LinearRegressor", x.astype(np.float64), **given)
    np.testing.assert_allclose(got, _transformed(x @ weights.T, transform), rtol=1e-5)
    assert got.dtype == np.float32


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"])
def test_linear_classification(transform: str) -> None:
    x = _floats(7, 3)
    x[0] = 0  # whose scores are 0
    if transform == "PROBIT":  # of scores between 0 and 1
        x = np.abs(x) / 10
    given = {"outputs": "label scores", "post_transform": transform}
    three = np.abs(_floats(3, 3)).reshape(-1) if transform == "PROBIT" else _floats(3, 3).reshape(-1)
    _check("LinearClassifier", x, **given, coefficients=three, intercepts=[0.0] * 3, classlabels_ints=[2, 0, 5])
    if transform != "PROBIT":
        _check("LinearClassifier", x, **given, coefficients=three[:3], intercepts=[0.5], classlabels_ints=[7, 9])


KERNELS = ["LINEAR", "POLY", "RBF", "SIGMOID"]


@pytest.mark.parametrize("kernel", KERNELS)
def test_regression_by_support_vectors(kernel: str) -> None:
    given = {
        "kernel_type": kernel, "kernel_params": [0.25, 0.5, 3.0], "coefficients": _floats(4).tolist(), "rho": [0.125],
    }  # fmt: skip
    vectors = {"n_supports": 4, "support_vectors": _floats(12).tolist()}
    _check("SVMRegressor", _floats(5, 3), **given, **vectors)
    _check("SVMRegressor", _floats(5, 3), **given, **vectors, one_class=1)


def test_regression_by_a_line() -> None:
    _check("SVMRegressor", _floats(5, 3), coefficients=[0.5, 1.5, -1.0], rho=[0.125], kernel_type="LINEAR")


def _vectors(by_class: list[int], columns: int = 3) -> dict[str, Any]:
    count, total = len(by_class), sum(by_class)
    pairs = count * (count - 1) // 2
    return {
        "vectors_per_class": by_class, "support_vectors": _floats(total, columns).reshape(-1).tolist(),
        "coefficients": _floats(count - 1, total, seed=1).reshape(-1).tolist(), "rho": _floats(pairs).tolist(),
        "kernel_params": [0.25, 0.5, 2.0], "classlabels_ints": [3 * one for one in range(count)],
        "outputs": "label scores",
    }  # fmt: skip


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("by_class", [[2, 3], [2, 3, 1, 2]])
def test_classification_by_support_vectors(kernel: str, by_class: list[int]) -> None:
    _check("SVMClassifier", _floats(6, 3), kernel_type=kernel, **_vectors(by_class))


@pytest.mark.parametrize("transform", ["LOGISTIC", "SOFTMAX"])
def test_transformed_scores_by_support_vectors(transform: str) -> None:
    _check("SVMClassifier", _floats(6, 3), kernel_type="RBF", post_transform=transform, **_vectors([2, 3]))


def _coupled(against: np.ndarray) -> np.ndarray:
    """Probabilities of classes by those of pairs, as libsvm has them. ONNX's reference has another Q."""
    count = len(against)
    q = -against.T * against
    np.fill_diagonal(q, (against**2).sum(0))
    p = np.full(count, 1 / count)
    while np.abs(q @ p - p @ q @ p).max() >= 0.005 / count:
        for one in range(count):
            step = (p @ q @ p - q[one] @ p) / q[one, one]
            p[one] += step
            p /= 1 + step
    return p


@pytest.mark.parametrize("by_class", [[2, 3], pytest.param([2, 3, 1, 2], marks=pytest.mark.sweep)])
def test_probabilities_by_support_vectors(by_class: list[int]) -> None:
    x, count = _floats(6, 3), len(by_class)
    given = _vectors(by_class)
    pairs = [(i, j) for i in range(count) for j in range(i + 1, count)]
    slopes, shifts = -1 - np.abs(_floats(len(pairs))), _floats(len(pairs))
    label, duels = _run("SVMClassifier", x, kernel_type="RBF", **given)
    duels = duels[:, 1:] if count == 2 else duels  # of two classes there is the negative, too
    got = _run("SVMClassifier", x, kernel_type="RBF", **given, prob_a=slopes.tolist(), prob_b=shifts.tolist())
    np.testing.assert_array_equal(got[0], label)
    for row, chance in zip(got[1], 1 / (1 + np.exp(duels * slopes + shifts)), strict=True):
        against = np.zeros((count, count))
        for (i, j), one in zip(pairs, chance, strict=True):
            against[i, j], against[j, i] = one, 1 - one
        np.testing.assert_allclose(row, _coupled(against), rtol=1e-5)


@pytest.mark.parametrize("count", [2, 3])
def test_lines_for_classes(count: int) -> None:
    x, weights = _floats(6, 3), _floats(count, 3)
    label, scores = _run(
        "SVMClassifier", x, outputs="label scores", coefficients=weights.reshape(-1).tolist(), rho=[0.5],
        classlabels_ints=list(range(5, 5 + count)),
    )  # fmt: skip
    # Terms of 1 may cancel: their roundings stay.
    wanted = x.astype("float64") @ weights.T.astype("float64") + 0.5
    np.testing.assert_allclose(scores, wanted, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(label, 5 + scores.argmax(1))


def test_what_linear_models_refuse() -> None:
    x = _floats(2, 3)
    both = {"outputs": "label scores"}
    ints = {"classlabels_ints": [0, 1], **both}
    assert _refused("LinearClassifier", x, coefficients=[1.0] * 6, classlabels_strings=["a", "b"], **both) == (
        "expected class labels of int64, got strings"
    )
    assert _refused("LinearClassifier", x, coefficients=[1.0] * 3, classlabels_ints=[1], **both) == (
        "classlabels_ints: expected two labels at least, got 1"
    )
    assert _refused("LinearClassifier", x, coefficients=[1.0] * 4, **ints) == (
        "coefficients: expected 2 for each of 3 columns, got 4 in all"
    )
    assert _refused("LinearClassifier", x, coefficients=[1.0] * 6, intercepts=[1.0], **ints) == (
        "intercepts: expected 2, got 1"
    )
    assert _refused("LinearRegressor", x, coefficients=[1.0] * 3, post_transform="TANH") == (
        "post_transform: expected one of NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO, PROBIT, got TANH"
    )
    assert _refused("LinearRegressor", x[None], coefficients=[1.0] * 3) == (
        "input 0: expected one dimension or two, got 3"
    )


def test_what_support_vector_machines_refuse() -> None:
    x, given = _floats(2, 3), _vectors([2, 3])

    def refused(**attributes: Any) -> str:
        return _refused("SVMClassifier", x, **(given | attributes))

    assert refused(support_vectors=[1.0]) == "support_vectors: expected 5 of 3 numbers, got 1 in all"
    assert refused(kernel_type="TREE") == "kernel_type: expected LINEAR, POLY, RBF or SIGMOID, got TREE"
    assert refused(rho=None) == "rho: expected 1 at least, got 0"
    assert refused(vectors_per_class=[5]) == "vectors_per_class: expected 2 numbers, one for each class, got [5]"
    assert refused(coefficients=[1.0]) == "coefficients: expected 1 for each of 5 vectors, got 1 in all"
    assert refused(prob_a=[1.0], prob_b=None) == (
        "prob_a and prob_b: expected 1, one for each pair of classes, got 1 and 0"
    )
    many = _vectors([1] * 33) | {"prob_a": [1.0] * 528, "prob_b": [1.0] * 528}
    assert refused(**many) == "expected probabilities of at most 32 classes, got 33"


def test_what_features_and_categories_refuse() -> None:
    x, whole = _floats(2, 3), np.array([[1, 2, 3]])
    assert _refused("Scaler", x, offset=[1.0, 2.0]) == ("offset: expected 1 number or 3, one for each column, got 2")
    assert _refused("Normalizer", x, norm="L3") == "norm: expected MAX, L1 or L2, got L3"
    assert _refused("Imputer", whole, imputed_value_int64s=[1, 2]) == (
        "imputed_value_int64s: expected 1 number or 3, one for each column, got 2"
    )
    assert _refused("FeatureVectorizer", x, inputdimensions=[1, 2]) == (
        "inputdimensions: expected 1, one for each input, got 2"
    )
    wide = _model("FeatureVectorizer", {"x": x}, "y")
    with pytest.raises(tw.CompileError) as caught:
        tw.compile(wide, target="cpu", dynamic_shapes={"x": {1: "columns"}})
    assert str(caught.value) == (
        "node 'n' (FeatureVectorizer): input 0: expected a number of columns that is known, got columns"
    )
    assert _refused("OneHotEncoder", whole, cats_strings=["a"]) == "expected categories of int64, got strings"
    assert _refused("OneHotEncoder", whole) == "cats_int64s: expected one category at least, got none"
    assert _refused("LabelEncoder", whole, keys_strings=["a"], values_int64s=[1]) == (
        "expected keys that are numbers, got keys_strings"
    )
    assert _refused("LabelEncoder", whole, keys_int64s=[1], values_strings=["a"]) == (
        "expected values that are numbers, got values_strings"
    )
    assert _refused("LabelEncoder", whole, keys_int64s=[1, 2], values_int64s=[1]) == (
        "expected as many values as keys, at least one, got 2 and 1"
    )
    assert _refused("LabelEncoder", x, keys_int64s=[1], values_int64s=[1]) == (
        "expected keys of type float32, which the input has, got int64"
    )
    assert _refused("LabelEncoder", whole, version=1, classes_strings=["a"], default_int64=3) == (
        "expected keys that are numbers, got classes_strings"
    )
