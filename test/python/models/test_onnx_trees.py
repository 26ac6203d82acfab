"""ONNX's ensembles of trees (domain ai.onnx.ml), compared with walks in NumPy and with ONNX's reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

import tilewright as tw  # noqa: E402
from models.test_onnx_classical import NAN, _check, _floats, _model, _refused, _run  # noqa: E402

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ")
COMPARED = dict(zip(MODES, (np.less_equal, np.less, np.greater_equal, np.greater, np.equal, np.not_equal)))


class Trees:
    """Random trees of nodes in any order, whose features and numbers are small integers: many are equal."""

    def __init__(self, count: int, depth: int, modes: tuple[str, ...] = MODES, seed: int = 0) -> None:
        self.random = np.random.default_rng(seed)
        self.nodes: list[dict[str, Any]] = []
        self.roots: list[int] = []
        for tree in range(count):
            self._put(tree, depth if tree else 0, modes, {})

    def _put(self, tree: int, depth: int, modes: tuple[str, ...], made: dict[int, int]) -> int:
        number = len(made)
        made[number] = len(self.nodes)
        is_leaf = not depth or number and self.random.random() < 0.2
        one = {
            "treeids": tree, "nodeids": number, "featureids": int(self.random.integers(3)), "truenodeids": 0,
            "falsenodeids": 0, "values": float(self.random.integers(-2, 3)),
            "modes": "LEAF" if is_leaf else str(self.random.choice(modes)),
            "missing_value_tracks_true": int(self.random.integers(2)),
        }  # fmt: skip
        self.nodes.append(one)
        if not is_leaf:
            one["falsenodeids"] = self._put(tree, depth - 1, modes, made)
            one["truenodeids"] = self._put(tree, depth - 1, modes, made)
        return number

    @property
    def leaves(self) -> list[dict[str, Any]]:
        return [one for one in self.nodes if one["modes"] == "LEAF"]

    def attributes(self) -> dict[str, Any]:
        return {f"nodes_{name}": [one[name] for one in self.nodes] for name in self.nodes[0]}

    def weights(self, what: str, targets: int, leaves: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        """Two numbers for each leaf, of one target or of two."""
        leaves = [one for one in (leaves or self.leaves) for _ in range(2)]
        return {
            f"{what}_treeids": [one["treeids"] for one in leaves], f"{what}_nodeids": [one["nodeids"] for one in leaves],
            f"{what}_ids": self.random.integers(targets, size=len(leaves)).tolist(),
            f"{what}_weights": self.random.standard_normal(len(leaves)).astype(np.float32).tolist(),
        }  # fmt: skip

    def walked(self, x: np.ndarray) -> list[list[tuple[int, int]]]:
        """By row the tree and the node of each leaf that it reaches."""
        nodes = {(one["treeids"], one["nodeids"]): one for one in self.nodes}
        found: list[list[tuple[int, int]]] = []
        for row in x:
            found.append([])
            for tree in dict.fromkeys(one["treeids"] for one in self.nodes):
                one = nodes[tree, 0]
                while one["modes"] != "LEAF":
                    value = row[one["featureids"]]
                    is_true = bool(COMPARED[one["modes"]](value, one["values"]))
                    is_true = bool(one["missing_value_tracks_true"]) if np.isnan(value) else is_true
                    one = nodes[tree, one["truenodeids" if is_true else "falsenodeids"]]
                found[-1].append((tree, one["nodeids"]))
        return found

    def scores(self, x: np.ndarray, what: str, given: dict[str, Any], targets: int) -> list[list[list[float]]]:
        """By row and target the numbers of all leaves."""
        keys = list(zip(given[f"{what}_treeids"], given[f"{what}_nodeids"]))
        found = [[list[float]() for _ in range(targets)] for _ in x]
        for row, reached in enumerate(self.walked(x)):
            for leaf in reached:
                for number, key in enumerate(keys):
                    if key == leaf:
                        found[row][given[f"{what}_ids"][number]].append(given[f"{what}_weights"][number])
        return found


def _rows(count: int, has_missing: bool = True) -> np.ndarray:
    random = np.random.default_rng(count)
    x = random.integers(-3, 4, (count, 3)).astype(np.float32)
    if has_missing:
        x[random.random(x.shape) < 0.2] = NAN
    return x


@pytest.mark.parametrize("combine", ["SUM", "AVERAGE", "MIN", "MAX"])
def test_regression(combine: str) -> None:
    trees, x = Trees(5, 4), _rows(40)
    given = trees.weights("target", 2) | {"aggregate_function": combine, "n_targets": 2, "base_values": [0.5, -1.0]}
    model = _model("TreeEnsembleRegressor", {"x": x}, "y", **trees.attributes(), **given)
    function = {"SUM": sum, "AVERAGE": lambda row: sum(row) / 5, "MIN": min, "MAX": max}[combine]
    wanted = [
        [function(one) if one else 0.0 for one in row] for row in trees.scores(x, "target", given, 2)
    ]  # fmt: skip
    compiled = tw.compile(model, target="cpu")
    for rows in (40, 1, 0):
        got = compiled(x[:rows])
        np.testing.assert_allclose(got, np.reshape(wanted[:rows], (rows, 2)) + [0.5, -1.0], rtol=1e-5, atol=1e-6)
        assert got.dtype == np.float32


@pytest.mark.parametrize("dtype", ["int64", "int32", "float64"])
def test_features_of_other_types(dtype: str) -> None:
    trees, x = Trees(3, 3), _rows(20, has_missing=False).astype(dtype)
    given = trees.weights("target", 1) | {"n_targets": 1}
    numbers = onnx.numpy_helper.from_array(np.array([one["values"] for one in trees.nodes]), "numbers")
    attributes = trees.attributes()
    del attributes["nodes_values"]
    got = _run("TreeEnsembleRegressor", x, **attributes, **given, nodes_values_as_tensor=numbers)
    wanted = [[sum(row[0])] for row in trees.scores(x, "target", given, 1)]
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)


def test_an_integer_is_compared_exactly() -> None:
    tree = {
        "nodes_treeids": [0] * 3, "nodes_nodeids": [0, 1, 2], "nodes_featureids": [0] * 3,
        "nodes_modes": ["BRANCH_LEQ", "LEAF", "LEAF"], "nodes_values": [2.0**24, 0.0, 0.0],
        "nodes_truenodeids": [1, 0, 0], "nodes_falsenodeids": [2, 0, 0], "target_treeids": [0, 0],
        "target_nodeids": [1, 2], "target_ids": [0, 0], "target_weights": [1.0, 2.0],
    }  # fmt: skip
    got = _run("TreeEnsembleRegressor", np.array([[2**24], [2**24 + 1]]), **tree, n_targets=1)
    assert got.tolist() == [[1], [2]]


@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"])
def test_classification(transform: str) -> None:
    trees, x = Trees(4, 3), _rows(30)
    given = trees.weights("class", 3) | {"base_values": [0.25, 0.5, -0.5], "classlabels_int64s": [4, 2, 0]}
    _check(
        "TreeEnsembleClassifier", x, outputs="label scores", **trees.attributes(), **given, post_transform=transform
    )  # fmt: skip


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize(("transform", "sign"), [("NONE", 0), ("NONE", 1), ("LOGISTIC", 0), ("LOGISTIC", 1)])
def test_two_classes_by_one_score(transform: str, sign: int, column: int) -> None:
    """Scores are probabilities where no weight is negative, unless they are transformed."""
    trees, x = Trees(4, 3), _rows(30)
    given = trees.weights("class", 1)
    given["class_ids"] = [column] * len(given["class_ids"])
    if sign:
        given["class_weights"] = [abs(one) / 8 for one in given["class_weights"]]
    label, scores = _run(
        "TreeEnsembleClassifier", x, outputs="label scores", **trees.attributes(), **given, post_transform=transform,
        classlabels_int64s=[3, 8], base_values=[0.125],
    )  # fmt: skip
    found = trees.scores(x, "class", given, 2)
    score = np.array([[sum(row[column]) + 0.125] for row in found])
    if transform == "LOGISTIC":
        wanted = 1 / (1 + np.exp(-np.concatenate([-score, score], 1)))
    else:
        wanted = np.concatenate([1 - score if sign else -score, score], 1)
    np.testing.assert_allclose(scores, wanted, rtol=1e-5, atol=1e-6)
    limit = 0.5 if sign and transform == "NONE" else 0
    np.testing.assert_array_equal(label, np.where(score[:, 0] > limit, 8, 3))


def _ensemble(dtype: str = "float32") -> dict[str, Any]:
    """Two trees: of a set and of a comparison, and of a leaf alone."""

    def tensor(values: Any, kind: str) -> Any:
        return onnx.numpy_helper.from_array(np.array(values, kind))

    return {
        "nodes_featureids": [0, 1, 2], "nodes_modes": tensor([6, 0, 0], "uint8"), "version": 5,
        "nodes_splits": tensor([0.0, 1.0, 0.0], dtype), "nodes_truenodeids": [1, 0, 3], "nodes_trueleafs": [0, 1, 1],
        "nodes_falsenodeids": [2, 1, 3], "nodes_falseleafs": [1, 1, 1], "tree_roots": [0, 2], "n_targets": 2,
        "leaf_targetids": [0, 1, 1, 0], "leaf_weights": tensor([1.0, 2.0, 4.0, 8.0], dtype),
        "membership_values": tensor([2, -3, 5, 0, NAN], dtype), "nodes_missing_value_tracks_true": [1, 0, 0],
    }  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_sets_of_members(dtype: str) -> None:
    x = np.array([[one, two, 0] for one in (-4, -3, -1, 0, 2, 4, 5, 6, NAN) for two in (0, 2, NAN)], dtype)
    got = _run("TreeEnsemble", x, **_ensemble(dtype))
    is_member = np.isin(x[:, 0], [2, -3, 5, 0]) | np.isnan(x[:, 0])
    leaf = np.where(~is_member, 2, np.where(x[:, 1] <= 1, 0, 1))
    wanted = np.zeros((len(x), 2))
    wanted[np.arange(len(x)), np.array([0, 1, 1])[leaf]] = np.array([1, 2, 4])[leaf]
    wanted[:, 0] += 8
    np.testing.assert_array_equal(got, wanted)
    assert got.dtype == dtype


def test_a_set_without_members() -> None:
    given = _ensemble() | {"membership_values": onnx.numpy_helper.from_array(np.array([NAN], np.float32))}
    assert _run("TreeEnsemble", np.zeros((1, 3), np.float32), **given, post_transform=0).tolist() == [[8, 4]]


def test_what_trees_refuse() -> None:
    x, given = _floats(2, 3), Trees(2, 1).attributes()
    weights = {"target_treeids": [0], "target_nodeids": [0], "target_ids": [0], "target_weights": [1.0]}
    given |= {"nodes_modes": ["LEAF", "BRANCH_LEQ", "LEAF", "LEAF"], **weights, "n_targets": 1}

    def refused(**attributes: Any) -> str:
        return _refused("TreeEnsembleRegressor", x, **(given | attributes))

    assert refused(nodes_nodeids=None) == "nodes_nodeids: expected one node at least, got none"
    assert refused(nodes_treeids=[0]) == "nodes_treeids: expected 4 elements, got 1"
    assert refused(nodes_modes=["LEAF"]) == "nodes_modes: expected 4 elements, got 1"
    assert refused(nodes_values=[1.0]) == "nodes_values: expected 4 elements, got 1"
    assert refused(nodes_modes=["LEAF", "BRANCH", "LEAF", "LEAF"]) == (
        "nodes_modes: expected one of BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ or LEAF, "
        "got BRANCH"
    )
    assert refused(nodes_truenodeids=[0, 7, 0, 0]) == "expected a node 7 in tree 1, which others name, got none"
    assert refused(nodes_truenodeids=[0, 0, 0, 0], nodes_falsenodeids=[0, 1, 0, 0]) == (
        "expected trees of at most 1024 levels, got more, or nodes that lead in a circle"
    )
    assert refused(nodes_featureids=[0, 3, 0, 0]) == "nodes_featureids: expected numbers from 0 to 2, got 3"
    for count in (0, 10**12):
        assert refused(n_targets=count) == (
            f"expected a target at least, and at most {2**27} numbers of nodes and targets, got 4 nodes and {count} "
            "targets"
        )
    assert refused(target_ids=[1]) == "expected numbers of targets from 0 to 0, got 1"
    assert refused(aggregate_function="MEAN") == "aggregate_function: expected AVERAGE, SUM, MIN or MAX, got MEAN"
    assert refused(base_values=[1.0, 2.0]) == "base_values: expected 1, one for each target, got 2"
    of_classes = {name.replace("target_", "class_"): one for name, one in given.items() if name != "n_targets"}
    classes = of_classes | {"classlabels_int64s": [0, 1, 2], "base_values": [1.0], "outputs": "label scores"}
    assert _refused("TreeEnsembleClassifier", x, **classes) == "base_values: expected 3, one for each class, got 1"
    strings = of_classes | {"classlabels_strings": ["a", "b"], "outputs": "label scores"}
    assert _refused("TreeEnsembleClassifier", x, **strings) == "expected class labels of int64, got strings"


def test_what_an_ensemble_refuses() -> None:
    x = _floats(2, 3)

    def refused(**attributes: Any) -> str:
        return _refused("TreeEnsemble", x, **(_ensemble() | attributes))

    def tensor(*values: float, dtype: str = "float32") -> Any:
        return onnx.numpy_helper.from_array(np.array(values, dtype))

    assert refused(nodes_splits=tensor(1.0)) == "nodes_splits: expected 3 elements, got 1"
    assert refused(nodes_modes=tensor(0, 1, 7, dtype="uint8")) == (
        "nodes_modes: expected numbers from 0 to 6, got [0, 1, 7]"
    )
    assert refused(nodes_truenodeids=[1, 4, 3]) == (
        "nodes_truenodeids: expected numbers of nodes or of leaves, got [1, 4, 3]"
    )
    assert refused(tree_roots=[3]) == "tree_roots: expected numbers from 0 to 2, got [3]"
    assert refused(membership_values=tensor(1.0)) == (
        "membership_values: expected 1 sets, each with a NaN behind it, got 0"
    )
    assert refused(aggregate_function=4) == "aggregate_function: expected a number from 0 to 3, got 4"
    assert refused(post_transform=5) == "post_transform: expected a number from 0 to 4, got 5"
