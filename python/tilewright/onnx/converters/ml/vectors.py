"""Support vector machines."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ....graph import Value
from ...node import Node, classical
from ..contractions import matmul
from .linear import projected
from .scores import as_scores, class_of, float_rows, floats_of, labels_of, transformed, two_classes

_LEAST_CHANCE = 1e-7
_ERROR = 0.005  # over the number of classes
_ROUNDS = 8  # libsvm stops after 100; of random probabilities 3 to 6 are needed
_MOST_CLASSES = 32


def _kernels(node: Node, x: Value, count: int) -> Value:
    """By row and support vector what the kernel makes of both."""
    op, columns = node.op_, x.shape[1]
    vectors: Any = floats_of(node, "support_vectors")
    if not isinstance(columns, int) or vectors.size != count * columns:
        raise node.error(f"support_vectors: expected {count} of {columns} numbers, got {vectors.size} in all")
    vectors = vectors.reshape(count, columns)
    gamma, offset, degree = [*node.attr("kernel_params", []), 0.0, 0.0, 0.0][:3]
    kind = node.attr("kernel_type", "LINEAR")
    if kind == "RBF":
        wide = node.reshape(x, [x.shape[0], 1, columns])
        apart = op("sub", wide, node.constant(vectors, x))
        squares = op("reduce_sum", op("mul", apart, apart), axes=[2], keepdims=False)
        return op("exp", op("mul", squares, node.constant(-gamma, x)))
    products = matmul(node, x, node.constant(vectors.transpose(), x))
    if kind == "LINEAR":
        return products
    shifted = op("add", op("mul", products, node.constant(gamma, x)), node.constant(offset, x))
    if kind == "POLY":
        return op("pow", shifted, node.constant(int(degree), x))
    if kind == "SIGMOID":
        return op("tanh", shifted)
    raise node.error(f"kernel_type: expected LINEAR, POLY, RBF or SIGMOID, got {kind}")


def _offsets(node: Node, count: int) -> np.ndarray:
    offsets = floats_of(node, "rho")
    if len(offsets) < count:
        raise node.error(f"rho: expected {count} at least, got {len(offsets)}")
    return offsets[:count]


@classical("SVMRegressor")
def _svm_regressor(node: Node) -> Value:
    x, count = float_rows(node), node.attr("n_supports", 0)
    given = _kernels(node, x, count) if count else x
    made = projected(node, given, floats_of(node, "coefficients"), 1, _offsets(node, 1))
    if node.attr("one_class", 0):
        is_inside = node.op_("greater", made, node.constant(0, made))
        made = node.op_("where", is_inside, node.constant(1, made), node.constant(-1, made))
    return as_scores(node, transformed(node, made, node.attr("post_transform", "NONE")))


@classical("SVMClassifier")
def _svm_classifier(node: Node) -> list[Value]:
    labels, x = labels_of(node, "classlabels_ints"), float_rows(node)
    by_class = np.asarray(node.attr("vectors_per_class") or [], np.int64)
    transform, coefficients = node.attr("post_transform", "NONE"), floats_of(node, "coefficients")
    if not by_class.any():  # liblinear's models: a score for each class
        sums = projected(node, x, coefficients, len(labels), np.full(len(labels), _offsets(node, 1)))
        return [class_of(node, sums, labels), as_scores(node, transformed(node, sums, transform))]
    if len(by_class) != len(labels) or by_class.min() < 0:
        raise node.error(
            f"vectors_per_class: expected {len(labels)} numbers, one for each class, got {by_class.tolist()}"
        )
    pairs = list(combinations(range(len(labels)), 2))
    kernels = _kernels(node, x, int(by_class.sum()))
    duels = projected(node, kernels, _of_pairs(node, coefficients, by_class), len(pairs), _offsets(node, len(pairs)))
    winners = class_of(node, _votes(node, duels, pairs, len(labels)), labels)
    if node.attr("prob_a"):
        scores = _probabilities(node, duels, pairs, len(labels))
    elif len(labels) == 2:
        scores = two_classes(node, duels, from_one=False)
    else:
        scores = duels
    return [winners, as_scores(node, transformed(node, scores, transform))]


def _of_pairs(node: Node, coefficients: np.ndarray, by_class: np.ndarray) -> np.ndarray:
    """By pair of classes the factors of all support vectors, 0 for those of other classes.

    The row of a vector's coefficient is the number of the other class, its own class left out.
    """
    count, total = len(by_class), int(by_class.sum())
    if coefficients.size != (count - 1) * total:
        raise node.error(
            f"coefficients: expected {count - 1} for each of {total} vectors, got {coefficients.size} in all"
        )
    given = coefficients.reshape(count - 1, total)
    ends = np.cumsum(by_class)
    made: list[np.ndarray] = []
    for i, j in combinations(range(count), 2):
        row = np.zeros(total, np.float32)
        of_i, of_j = (slice(ends[one] - by_class[one], ends[one]) for one in (i, j))
        row[of_i], row[of_j] = given[j - 1, of_i], given[i, of_j]
        made.append(row)
    return np.stack(made)


def _votes(node: Node, duels: Value, pairs: list[tuple[int, int]], count: int) -> Value:
    """By row and class how many pairs it wins."""
    is_first = node.cast(node.op_("greater", duels, node.constant(0, duels)), "float32")
    # A pair gives its second class a vote, and takes it back for the first one.
    taken, second = np.zeros((len(pairs), count), np.float32), np.zeros(count, np.float32)
    for number, (i, j) in enumerate(pairs):
        taken[number, i], taken[number, j] = 1, -1
        second[j] += 1
    return node.op_("add", matmul(node, is_first, node.builder.constant(taken)), node.builder.constant(second))


def _probabilities(node: Node, duels: Value, pairs: list[tuple[int, int]], count: int) -> Value:
    """By row and class its probability, of those of pairs: method 2 of Wu, Lin and Weng, as libsvm has it."""
    op = node.op_
    slopes, shifts = floats_of(node, "prob_a"), floats_of(node, "prob_b")
    if len(slopes) != len(pairs) or len(shifts) != len(pairs):
        raise node.error(
            f"prob_a and prob_b: expected {len(pairs)}, one for each pair of classes, got {len(slopes)} and "
            f"{len(shifts)}"
        )
    if count > _MOST_CLASSES:
        raise node.error(f"expected probabilities of at most {_MOST_CLASSES} classes, got {count}")
    wide = node.cast(duels, "float64")

    def number(value: float) -> Value:
        return node.constant(value, wide)

    raised = op("add", op("mul", wide, node.constant(slopes, wide)), node.constant(shifts, wide))
    chance = op("sigmoid", op("neg", raised))
    chance = op("max", op("min", chance, number(1 - _LEAST_CHANCE)), number(_LEAST_CHANCE))
    # Element [i, j] of R is the probability of i against j: of a pair, or 1 less that of the pair. The diagonal is 0.
    place, is_turned = np.zeros((count, count), np.int32), np.zeros((count, count), bool)
    for position, (i, j) in enumerate(pairs):
        place[i, j] = place[j, i] = position
        is_turned[j, i] = True
    against = op("gather", chance, node.builder.constant(place), axis=1)
    against = op("where", node.builder.constant(is_turned), op("sub", number(1), against), against)
    own = node.builder.constant(np.eye(count, dtype=bool))
    against = op("where", own, number(0), against)
    squares = op("reduce_sum", op("mul", against, against), axes=[1], keepdims=True)
    turned = op("transpose", against, permutation=[0, 2, 1])
    return _least(node, op("where", own, squares, op("neg", op("mul", against, turned))), count)


def _least(node: Node, q: Value, count: int) -> Value:
    """The probabilities p with the least p Q p, whose sum is 1: to the error at which libsvm stops."""
    op = node.op_
    p = node.constant(np.full((1, count), 1 / count), q)
    error = node.constant(_ERROR / count, q)

    def changes(p: Value) -> tuple[Value, Value]:
        """Q p, and by row p Q p."""
        made = op("reduce_sum", op("mul", q, node.reshape(p, [p.shape[0], 1, count])), axes=[2], keepdims=False)
        return made, op("reduce_sum", op("mul", p, made), axes=[1], keepdims=True)

    def column(x: Value, number: int) -> Value:
        return op("slice", x, starts=[0, number], steps=[1, 1], sizes=[x.shape[0], 1])

    for _ in range(_ROUNDS):
        before = p
        made, whole = changes(p)
        farthest = op("reduce_max", op("abs", op("sub", made, whole)), axes=[1], keepdims=True)
        for number in range(count):
            if number:
                made, whole = changes(p)
            own = op("slice", q, starts=[0, number, number], steps=[1] * 3, sizes=[q.shape[0], 1, 1])
            step = op("div", op("sub", whole, column(made, number)), node.reshape(own, [q.shape[0], 1]))
            at = node.constant(np.arange(count)[None] == number, p)
            p = op("div", op("add", p, op("mul", step, at)), op("add", step, node.constant(1, p)))
        p = op("where", op("less", farthest, error), before, p)
    return p
