"""Forests as arrays: what the nodes of all trees compare, and where each comparison leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from onnx import numpy_helper

from ...node import Node
from .scores import floats_of

__all__ = ["MISSING", "Forest", "forest_by_ids", "forest_by_places"]

_MOST_STEPS, _MOST_WEIGHTS = 1024, 1 << 27
MISSING = 3
"""The result of comparing NaN. 0 is that of a feature below the number of a node, 1 at it, and 2 above it."""

# By mode whether the true branch is taken of a feature below the number, at it and above it.
_MODES = {
    "BRANCH_LEQ": (True, True, False), "BRANCH_LT": (True, False, False), "BRANCH_GTE": (False, True, True),
    "BRANCH_GT": (False, False, True), "BRANCH_EQ": (False, True, False), "BRANCH_NEQ": (True, False, True),
}  # fmt: skip
# As numbers of TreeEnsemble.
_MODE_NAMES = (*_MODES, "BRANCH_MEMBER")
_COMBINES = ("AVERAGE", "SUM", "MIN", "MAX")


@dataclass(frozen=True, slots=True)
class Forest:
    """The nodes of all trees. A leaf leads to itself."""

    features: np.ndarray
    """By node the column that it compares."""
    thresholds: np.ndarray
    """By node the number that the column is compared with."""
    children: np.ndarray
    """By node and result of the comparison the next node."""
    roots: np.ndarray
    """By tree its first node."""
    steps: int
    """How many comparisons there are at most on the way from a root to a leaf."""
    combine: str
    """What makes one number of those of all trees: SUM, AVERAGE, MIN or MAX."""
    weights: np.ndarray
    """By node and target the number of a leaf: NaN where it has none."""


def _finished(
    node: Node, features: Any, thresholds: np.ndarray, children: np.ndarray, roots: Any, combine: str,
    weights: np.ndarray,
) -> Forest:  # fmt: skip
    is_leaf = (children == np.arange(len(children))[:, None]).all(1)
    columns = node.type(0).shape[-1]
    used = np.asarray(features, np.int64)
    if isinstance(columns, int) and ((used < 0) | (used >= columns))[~is_leaf].any():
        wrong = used[~is_leaf & ((used < 0) | (used >= columns))][0]
        raise node.error(f"nodes_featureids: expected numbers from 0 to {columns - 1}, got {wrong}")
    front, steps = np.unique(np.asarray(roots, np.int64)), 0
    while True:
        front = front[~is_leaf[front]]
        if not len(front):
            break
        steps += 1
        if steps > _MOST_STEPS:
            raise node.error(
                f"expected trees of at most {_MOST_STEPS} levels, got more, or nodes that lead in a circle"
            )
        front = np.unique(children[front])
    return Forest(
        np.where(is_leaf, 0, used).astype(np.int32), thresholds, children.astype(np.int32),
        np.asarray(roots, np.int32), steps, combine, weights,
    )  # fmt: skip


def _list(node: Node, name: str, dtype: Any, count: int, default: Any = None) -> np.ndarray:
    """A list of `count` numbers; what it is where it is left out."""
    given = node.attr(name) or ([] if default is None else [default] * count)
    if len(given) != count:
        raise node.error(f"{name}: expected {count} elements, got {len(given)}")
    return np.asarray(given, dtype)


def _number_of(node: Node, numbers: dict[tuple[int, int], int]) -> Callable[[int, int], int]:
    def number(tree: int, one: int) -> int:
        found = numbers.get((tree, one))
        if found is None:
            raise node.error(f"expected a node {one} in tree {tree}, which others name, got none")
        return found

    return number


def _weights_by_leaf(
    node: Node, leaves: np.ndarray, targets: np.ndarray, values: np.ndarray, count: int, rows: int, combine: str
) -> np.ndarray:  # fmt: skip
    """By node and target the number of a leaf: of several they are combined; NaN where there is none."""
    if count < 1 or rows * count > _MOST_WEIGHTS:
        raise node.error(
            f"expected a target at least, and at most {_MOST_WEIGHTS} numbers of nodes and targets, got {rows} nodes "
            f"and {count} targets"
        )
    if len(targets) and not (0 <= targets.min() and targets.max() < count):
        wrong = targets[(targets < 0) | (targets >= count)][0]
        raise node.error(f"expected numbers of targets from 0 to {count - 1}, got {wrong}")
    join = {"MIN": np.fmin, "MAX": np.fmax}.get(combine, np.add)
    made = np.full((rows, count), np.nan, values.dtype)
    if join is np.add:
        made[leaves, targets] = 0
    join.at(made, (leaves, targets), values)
    return made


def forest_by_ids(node: Node, what: str, count: int) -> Forest:
    """The forest of TreeEnsembleRegressor or TreeEnsembleClassifier, whose nodes have numbers in their trees.

    `what` is "target" or "class", and there are `count` of them.
    """
    ids = list(node.attr("nodes_nodeids", []))
    total = len(ids)
    if not total:
        raise node.error("nodes_nodeids: expected one node at least, got none")
    trees: list[int] = _list(node, "nodes_treeids", np.int64, total).tolist()
    modes: Sequence[str] = node.attr("nodes_modes", [])
    if len(modes) != total:
        raise node.error(f"nodes_modes: expected {total} elements, got {len(modes)}")
    yes, no = (_list(node, f"nodes_{one}nodeids", np.int64, total).tolist() for one in ("true", "false"))
    thresholds = floats_of(node, "nodes_values")
    if len(thresholds) != total:
        raise node.error(f"nodes_values: expected {total} elements, got {len(thresholds)}")
    is_missing_true = _list(node, "nodes_missing_value_tracks_true", bool, total, False)
    number = _number_of(node, {pair: place for place, pair in enumerate(zip(trees, ids))})
    children = np.repeat(np.arange(total)[:, None], 4, 1)
    for place, (tree, mode) in enumerate(zip(trees, modes)):
        if mode == "LEAF":
            continue
        if mode not in _MODES:
            raise node.error(f"nodes_modes: expected one of {', '.join(_MODES)} or LEAF, got {mode}")
        taken = number(tree, yes[place]), number(tree, no[place])
        children[place] = [taken[not one] for one in (*_MODES[mode], is_missing_true[place])]
    roots: dict[int, int] = {}
    for place, tree in enumerate(trees):
        roots.setdefault(tree, place)
    combine = node.attr("aggregate_function", "SUM")
    if combine not in _COMBINES:
        raise node.error(f"aggregate_function: expected AVERAGE, SUM, MIN or MAX, got {combine}")
    values = floats_of(node, f"{what}_weights")
    targets, of_tree, of_node = (_list(node, f"{what}_{one}ids", np.int64, len(values)) for one in ("", "tree", "node"))
    leaves = np.array([number(*pair) for pair in zip(of_tree.tolist(), of_node.tolist())], np.int64)
    weights = _weights_by_leaf(node, leaves, targets, values, count, total, combine)
    return _finished(
        node, _list(node, "nodes_featureids", np.int64, total), thresholds, children, list(roots.values()), combine,
        weights,
    )  # fmt: skip


def forest_by_places(node: Node) -> Forest:
    """The forest of TreeEnsemble, whose nodes name their children by places in lists of nodes or of leaves."""
    modes = numpy_helper.to_array(node.attr("nodes_modes")).reshape(-1).astype(np.int64)
    splits = numpy_helper.to_array(node.attr("nodes_splits")).reshape(-1)
    values = numpy_helper.to_array(node.attr("leaf_weights")).reshape(-1)
    total, leaf_count = len(modes), len(values)
    if len(splits) != total:
        raise node.error(f"nodes_splits: expected {total} elements, got {len(splits)}")
    if total and not (0 <= modes.min() and modes.max() < len(_MODE_NAMES)):
        raise node.error(f"nodes_modes: expected numbers from 0 to {len(_MODE_NAMES) - 1}, got {modes.tolist()}")
    features = _list(node, "nodes_featureids", np.int64, total)
    is_missing_true = _list(node, "nodes_missing_value_tracks_true", bool, total, False)
    targets = _list(node, "leaf_targetids", np.int64, leaf_count)

    def places(branch: str) -> np.ndarray:
        places = _list(node, f"nodes_{branch}nodeids", np.int64, total)
        is_leaf = _list(node, f"nodes_{branch}leafs", bool, total)
        most = np.where(is_leaf, leaf_count, total)
        if ((places < 0) | (places >= most)).any():
            raise node.error(f"nodes_{branch}nodeids: expected numbers of nodes or of leaves, got {places.tolist()}")
        return np.where(is_leaf, places + total, places)

    taken = np.stack([places("true"), places("false")], 1)
    roots = np.asarray(node.attr("tree_roots", []), np.int64)
    if not len(roots) or not (0 <= roots.min() and roots.max() < total):
        raise node.error(f"tree_roots: expected numbers from 0 to {total - 1}, got {roots.tolist()}")
    children = np.repeat(np.arange(total + leaf_count)[:, None], 4, 1)
    plain = np.array([*_MODES.values(), (False,) * 3])[modes]
    goes_true = np.concatenate([plain, is_missing_true[:, None]], 1)
    children[:total] = np.where(goes_true, taken[:, :1], taken[:, 1:])
    thresholds = np.concatenate([splits, np.zeros(leaf_count, splits.dtype)])
    members = _Members(node, features, thresholds, children)
    for place, numbers in zip(np.flatnonzero(modes == _MODE_NAMES.index("BRANCH_MEMBER")), _sets(node, modes)):
        yes, no = taken[place].tolist()
        members.put(int(place), numbers, yes, no, yes if is_missing_true[place] else no)
    features, thresholds, children = members.arrays()
    kind: int = node.attr("aggregate_function", 1)
    if not 0 <= kind < len(_COMBINES):
        raise node.error(f"aggregate_function: expected a number from 0 to {len(_COMBINES) - 1}, got {kind}")
    combine = _COMBINES[kind]
    leaves = np.arange(total, total + leaf_count)
    count = node.attr("n_targets", 1)
    weights = _weights_by_leaf(node, leaves, targets, values, count, len(children), combine)
    return _finished(node, features, thresholds, children, roots, combine, weights)


def _sets(node: Node, modes: np.ndarray) -> list[np.ndarray]:
    """The members for each node that asks for them, in the order of the nodes."""
    given = node.attr("membership_values")
    numbers = np.zeros(0) if given is None else numpy_helper.to_array(given).reshape(-1)
    ends = np.flatnonzero(np.isnan(numbers))
    found = [one[~np.isnan(one)] for one in np.split(numbers, ends + 1)[: len(ends)]]
    wanted = int((modes == _MODE_NAMES.index("BRANCH_MEMBER")).sum())
    if len(found) != wanted:
        raise node.error(f"membership_values: expected {wanted} sets, each with a NaN behind it, got {len(found)}")
    return found


class _Members:
    """Puts binary searches in the place of nodes that ask whether a feature is among some numbers."""

    def __init__(self, node: Node, features: np.ndarray, thresholds: np.ndarray, children: np.ndarray) -> None:
        self._node, self._nodes = node, len(features)
        leaves = np.zeros(len(children) - len(features), np.int64)
        self._features, self._children = np.concatenate([features, leaves]).tolist(), children.tolist()
        self._thresholds = list(thresholds)
        self._dtype = thresholds.dtype

    def put(self, place: int, numbers: np.ndarray, yes: int, no: int, missing: int) -> None:
        """The search of the node at a place, and where it leads."""
        feature = self._features[place]

        def search(low: int, high: int, at: int | None) -> int:
            if low == high:
                return no
            middle = (low + high) // 2
            if at is None:
                at = len(self._features)
                self._features.append(feature)
                self._thresholds.append(members[middle])
                self._children.append([])
            self._thresholds[at] = members[middle]
            self._children[at] = [search(low, middle, None), yes, search(middle + 1, high, None), missing]
            return at

        members = np.unique(numbers)
        if len(members):
            search(0, len(members), place)
        else:
            self._children[place] = [no, no, no, missing]

    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Features, thresholds and children of all nodes."""
        return np.asarray(self._features), np.asarray(self._thresholds, self._dtype), np.asarray(self._children)
