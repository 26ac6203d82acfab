"""A layer: a matmul with what is around it."""

from __future__ import annotations

from typing import Any

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..target import Target
from ..te import Expr, compute, reduce_axis, sum
from .by_rules import acc_of, by_rules, given
from .gemm import ACTIVATIONS, expect_activation
from .operator import Operand, Operator, Scheduled
from .shapes import expect_shape

__all__ = ["linear"]


class _Layer(Operator):
    """Dimensions in front are made one: tiles have rows of several of them."""

    def _run(self, *arrays: Any, **options: Any) -> Any:
        if len(arrays) < 2 or options.get("out") is not None or len(arrays[0].shape) < 3:
            return super()._run(*arrays, **options)
        x, w = arrays[:2]
        if 0 in x.shape or len(w.shape) != 2 or x.shape[-1] != w.shape[1]:
            return super()._run(*arrays, **options)
        result = super()._run(x.reshape(-1, x.shape[-1]), *arrays[1:], **options)
        return result.reshape(*x.shape[:-1], w.shape[0])


@_Layer
def linear(
    x: Operand,
    w: Operand,
    bias: Operand | None = None,
    *,
    activation: str | None = None,
    target: Target | None = None,
) -> Scheduled:
    """activation(x @ w.T + bias), with `x` of any rank: its last axis is as long as the rows of `w`.

    16 bits are summed in float32; of int8 the result is int32. `activation` is one of `ops.gemm.ACTIVATIONS`.

    >>> import numpy as np
    >>> linear(np.ones((2, 3, 4), "float16"), np.ones((5, 4), "float16"), np.ones(5, "float16")).shape
    (2, 3, 5)
    """
    expect_activation("linear", activation)
    if w.dtype != x.dtype:
        raise TypeError(f"linear: expected operands of one type, got {x.dtype} and {w.dtype}")
    if len(w.shape) != 2 or not x.shape or x.shape[-1] != w.shape[1]:
        raise ValueError(f"linear: expected rows that fit, got shapes {x.shape} and {w.shape}")
    X, W, acc = given(x, "X"), given(w, "W"), acc_of(x.dtype)
    k = reduce_axis((0, w.shape[1]), "k")
    shape = (*x.shape[:-1], w.shape[0])

    def multiplied(*at: Expr) -> Expr:
        *row, j = at
        return sum(X(*row, k).astype(acc) * W(j, k).astype(acc), axis=k)

    total, inputs = compute(shape, multiplied, name="total"), [X, W]
    out_dtype = "int32" if acc == "int32" else x.dtype
    if bias is not None:
        expect_shape("linear", (w.shape[0],), bias=bias)
        inputs.append(given(bias, "bias"))

    def element(*at: Expr) -> Expr:
        value = total(*at)
        if bias is not None or activation is not None:
            value = value.astype("float32" if acc == "int32" else acc)
        if bias is not None:
            value = value + inputs[2](at[-1]).astype(value.dtype)
        return (value if activation is None else ACTIVATIONS[activation](value)).astype(out_dtype)

    return by_rules(inputs, compute(shape, element, name="Y"), target)
