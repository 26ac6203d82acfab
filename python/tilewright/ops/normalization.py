"""Softmax, its logarithm and its loss, and normalisations, along any axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..graph.operators.common import in_range
from ..graph.operators.reductions import reduced
from ..rules.facts import extent_of
from ..target import Target
from ..te import Expr, Tensor, compute, exp, log, rsqrt
from .by_rules import acc_of, axes_of, by_rules, expect_floats, given, operate
from .long_rows import is_long, largest_and_total, mean_and_variance
from .operator import Operand, Scheduled, operator
from .shapes import expect_shape

__all__ = ["batch_norm", "cross_entropy", "group_norm", "log_softmax", "normalized", "softmax_along"]


def softmax_along(name: str, x: Operand, axis: int, target: Target | None) -> Scheduled:
    """softmax or log_softmax of any array of floats, along an axis."""
    expect_floats(name, x=x)
    (along,) = axes_of(name, axis, len(x.shape))
    X = given(x, "X")
    if not is_long(X, along, target):
        return by_rules([X], operate(name, X, axis=along), target)
    largest, total = largest_and_total(X, along, acc_of(x.dtype))

    def element(*at: Expr) -> Expr:
        row = (*at[:along], *at[along + 1 :])
        shifted = X(*at).astype(largest.dtype) - largest(*row)
        return (exp(shifted) * (1 / total(*row)) if name == "softmax" else shifted - log(total(*row))).astype(x.dtype)

    return by_rules([X], compute(X.shape, element, name=name), target)


@operator
def log_softmax(x: Operand, *, axis: int = -1, target: Target | None = None) -> Scheduled:
    """The logarithm of the softmax of `x` along `axis`, computed in float32 for 16 bits.

    >>> import numpy as np
    >>> log_softmax(np.zeros((1, 2), "float32"))
    array([[-0.6931472, -0.6931472]], dtype=float32)
    """
    return softmax_along("log_softmax", x, axis, target)


@operator
def cross_entropy(x: Operand, labels: Operand, *, target: Target | None = None) -> Scheduled:
    """For each row of `x`, its last axis, minus the log_softmax at the place that the label says: the loss of each.

    `labels` are integers, of the shape of `x` without its last axis, and from 0 to the length of a row, exclusive.

    >>> import numpy as np
    >>> cross_entropy(np.zeros((2, 4), "float32"), np.array([0, 3]))
    array([1.3862944, 1.3862944], dtype=float32)
    """
    expect_floats("cross_entropy", x=x)
    if not labels.dtype.startswith(("int", "uint")):
        raise TypeError(f"cross_entropy: expected labels that are integers, got {labels.dtype}")
    if not x.shape or x.shape[-1] == 0:
        raise ValueError(f"cross_entropy: expected rows with elements, got shape {x.shape}")
    expect_shape("cross_entropy", x.shape[:-1], labels=labels)
    X, L = given(x, "X"), given(labels, "labels")
    acc, last = acc_of(x.dtype), (len(x.shape) - 1,)
    if is_long(X, last[0], target):
        largest, total = largest_and_total(X, last[0], acc)
    else:
        largest = reduced("largest", X, last, False, lambda e: e.astype(acc), "max")
        power = compute(x.shape, lambda *at: exp(X(*at).astype(acc) - largest(*at[:-1])), name="power")
        total = reduced("total", power, last, False)

    def loss(*at: Expr) -> Expr:
        own = X(*at, in_range(L(*at), x.shape[-1])).astype(acc)
        return (log(total(*at)) + (largest(*at) - own)).astype(x.dtype)

    return by_rules([X, L], compute(x.shape[:-1], loss, name="loss"), target)


def normalized(
    X: Tensor,
    axes: Sequence[int],
    epsilon: float,
    scaled: Any,
    *,
    centred: bool = True,
    target: Target | None = None,
) -> Tensor:
    """Elements minus their mean over `axes` (if `centred`), divided by the root of their variance.

    `scaled(value, *at)` of each is computed in the accumulator's type, and rounded to the elements' type. With a
    `target` other than a processor, rows that registers cannot keep are read once for the mean and the variance.
    """
    acc, count = acc_of(X.dtype), math.prod(extent_of(X.shape[axis]) for axis in axes)
    scale = 1.0 / count if count else math.nan

    def at_row(at: Sequence[Any]) -> list[Any]:
        return [0 if place in axes else one for place, one in enumerate(at)]

    if centred and is_long(X, axes, target):
        of_row = mean_and_variance(X, axes, acc)

        def normal(*at: Expr) -> Expr:
            mean, variance = of_row(*at_row(at))
            value = (X(*at).astype(acc) - mean) * rsqrt(variance + epsilon)
            return scaled(value, *at).astype(X.dtype)

        return compute(X.shape, normal, name="Y")
    centre = X
    if centred:
        total = reduced("total", X, axes, True, lambda e: e.astype(acc))
        centre = compute(X.shape, lambda *at: X(*at).astype(acc) - total(*at_row(at)) * scale, name="centred")
    squares = reduced("squares", centre, axes, True, lambda e: e.astype(acc) * e.astype(acc))

    def element(*at: Expr) -> Expr:
        value = centre(*at).astype(acc) * rsqrt(squares(*at_row(at)) * scale + epsilon)
        return scaled(value, *at).astype(X.dtype)

    return compute(X.shape, element, name="Y")


@operator
def group_norm(
    x: Operand,
    gamma: Operand | None = None,
    beta: Operand | None = None,
    *,
    groups: int,
    epsilon: float = 1e-5,
    target: Target | None = None,
) -> Scheduled:
    """Each image of `x`, batch x channels x …, normalised in `groups` of its channels; then channel by channel times
    `gamma` plus `beta`. `epsilon` is added to the variances. Computed in float32 for 16 bits. With as many groups as
    channels it is the instance norm.

    >>> import numpy as np
    >>> group_norm(np.array([[[1.0, 3.0], [2.0, 4.0]]], "float32"), groups=2).round(2)
    array([[[-1.,  1.],
            [-1.,  1.]]], dtype=float32)
    """
    expect_floats("group_norm", x=x, gamma=gamma, beta=beta)
    if len(x.shape) < 2 or groups < 1 or x.shape[1] % groups:
        raise ValueError(f"group_norm: expected groups that divide the channels of {x.shape}, got {groups}")
    n, c, *rest = x.shape
    each = c // groups
    for name, one in (("gamma", gamma), ("beta", beta)):
        if one is not None:
            expect_shape("group_norm", (c,), **{name: one})
    X = given(x, "X")
    some = {name: given(one, name) for name, one in (("gamma", gamma), ("beta", beta)) if one is not None}

    def of_group(n: Expr, g: Expr, e: Expr, *at: Expr) -> Expr:
        return X(n, g * each + e, *at)

    grouped = compute((n, groups, each, *rest), of_group, name="grouped")

    def scaled(value: Expr, n: Any, g: Any, e: Any, *at: Any) -> Expr:
        if "gamma" in some:
            value = value * some["gamma"](g * each + e).astype(value.dtype)
        return value + some["beta"](g * each + e).astype(value.dtype) if "beta" in some else value

    made = normalized(grouped, range(2, 3 + len(rest)), epsilon, scaled, target=target)

    def of_channel(n: Expr, c: Expr, *at: Expr) -> Expr:
        return made(n, c // each, c % each, *at)

    Y = compute(x.shape, of_channel, name="group_norm")
    return by_rules([X, *some.values()], Y, target)


@operator
def batch_norm(
    x: Operand,
    mean: Operand,
    variance: Operand,
    gamma: Operand | None = None,
    beta: Operand | None = None,
    *,
    epsilon: float = 1e-5,
    target: Target | None = None,
) -> Scheduled:
    """(x - mean) / sqrt(variance + epsilon) * gamma + beta, channel by channel of `x`, batch x channels x …, with the
    statistics that training left. Computed in float32 for 16 bits.

    >>> import numpy as np
    >>> one = np.ones(1, "float32")
    >>> batch_norm(np.array([[3.0], [5.0]], "float32"), one, 4 * one, epsilon=0.0)
    array([[1.],
           [2.]], dtype=float32)
    """
    expect_floats("batch_norm", x=x, mean=mean, variance=variance, gamma=gamma, beta=beta)
    if len(x.shape) < 2:
        raise ValueError(f"batch_norm: expected batch x channels x …, got shape {x.shape}")
    operands = {"mean": mean, "variance": variance, "gamma": gamma, "beta": beta}
    some = {name: one for name, one in operands.items() if one is not None}
    expect_shape("batch_norm", (x.shape[1],), **some)
    X, acc = given(x, "X"), acc_of(x.dtype)
    channel = {name: given(one, name) for name, one in some.items()}

    def element(*at: Expr) -> Expr:
        own = {name: one(at[1]).astype(acc) for name, one in channel.items()}
        value = (X(*at).astype(acc) - own["mean"]) * rsqrt(own["variance"] + epsilon)
        value = value * own["gamma"] if "gamma" in own else value
        return (value + own["beta"] if "beta" in own else value).astype(x.dtype)

    return by_rules([X, *channel.values()], compute(x.shape, element, name="batch_norm"), target)
