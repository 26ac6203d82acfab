"""Attention of 8-bit floats, whose scales come beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..graph.operators.attention import attention as defined
from ..schedules.attention_choice import fp8_tiles_for
from ..schedules.attention_fp8 import SCALED_ROWS, attention_fp8_of
from ..target import Target, current_gpu
from ..te import Tensor, compute
from .attention import options_of
from .by_rules import by_rules, cast, given
from .operator import Operand, Scheduled, operator

__all__ = ["attention_fp8"]

_DTYPE, _RESULTS = "float8_e4m3fn", ("float16", "bfloat16", "float32")


@operator
def attention_fp8(
    q: Operand,
    k: Operand,
    v: Operand,
    q_scales: Operand,
    k_scales: Operand,
    v_scales: Operand,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window: tuple[int | None, int | None] | None = None,
    offset: int = 0,
    dtype: str = "bfloat16",
    target: Target | None = None,
) -> Scheduled:
    """softmax(scale * q @ k.T) @ v of `q`, `k` and `v` in float8_e4m3fn, each of which has scales in float32.

    `q` is … x heads x queries x width, `k` is … x heads x keys x width, and `v` is … x heads x keys x columns. A query
    is its row of `q` times the scale of its 128 rows. `q_scales` is … x heads x blocks of 128 queries. `k_scales` is …
    x heads x blocks of 128 keys. It may be … x heads x 1, which is faster. All values of a head have one scale:
    `v_scales` is … x heads. Scales are positive. The result has the type `dtype`. On sm_90a, weights are rounded to
    float8_e4m3fn before they multiply `v`; elsewhere nothing is rounded.

    Parameters
    ----------
    is_causal
        Query i sees the keys up to i + `offset`.
    scale
        1 / sqrt(width) by default.
    enable_gqa
        `k` and `v` may have fewer heads than `q`. Each of their heads then serves equally many consecutive heads of
        `q`.
    window
        How many keys before and behind i + `offset` query i sees; None for all of one side.
    offset
        The position of the first query among the keys.
    dtype
        Of the result: float16, bfloat16 or float32.

    Raises
    ------
    TypeError
        For operands of other types.
    ValueError
        For extents that do not fit, and heads of `k` that do not divide those of `q`.

    >>> import numpy as np
    >>> from tilewright.dtypes import as_dtype
    >>> q, k, v = np.random.default_rng(0).standard_normal((3, 2, 5, 8)).astype(as_dtype("float8_e4m3fn"))
    >>> blocks, heads = np.full((2, 1), 0.5, "float32"), np.ones(2, "float32")
    >>> o = attention_fp8(q, k, v, blocks, blocks, heads, is_causal=True, dtype="float32")
    >>> bool((o[:, 0] == v[:, 0].astype("float32")).all())
    True
    """
    _check(q, k, v, enable_gqa, {"q_scales": q_scales, "k_scales": k_scales, "v_scales": v_scales})
    if dtype not in _RESULTS:
        raise TypeError(f"attention_fp8: expected a dtype of {', '.join(_RESULTS)}, got {dtype}")
    options: dict[str, Any] = options_of(
        is_causal=is_causal, scale=scale, window=window, softcap=None, offset=offset
    )  # fmt: skip
    operands = {"Q": q, "K": k, "V": v, "q_scales": q_scales, "k_scales": k_scales, "v_scales": v_scales}
    inputs = [given(one, name) for name, one in operands.items()]
    tiles = None
    if dtype != "float32" and (target is None or target.kind != "cpu"):
        tiles = fp8_tiles_for(q, k, v, current_gpu())
    if tiles is not None:
        return attention_fp8_of(*inputs, scale=scale, dtype=dtype, **options, **tiles)
    numbers = [_scaled(x, scales, is_of_head=x is inputs[2]) for x, scales in zip(inputs, inputs[3:], strict=False)]
    result = defined(*numbers, scale=scale, softcap=None, **options)
    return by_rules(inputs, cast(result, dtype), target)


def _scaled(x: Tensor, scales: Tensor, *, is_of_head: bool) -> Tensor:
    def element(*at: Any) -> Any:
        outer = at[:-2] if is_of_head else (*at[:-2], at[-2] // SCALED_ROWS if scales.shape[-1] > 1 else 0)
        return x(*at).astype("float32") * scales(*outer)

    return compute(x.shape, element, name=f"{x.name}.scaled")


def _check(q: Operand, k: Operand, v: Operand, enable_gqa: bool, scales: dict[str, Operand]) -> None:
    for name, one in {"q": q, "k": k, "v": v}.items():
        if one.dtype != _DTYPE:
            raise TypeError(f"attention_fp8: expected {name} of {_DTYPE}, got {one.dtype}")
    for name, one in scales.items():
        if one.dtype != "float32":
            raise TypeError(f"attention_fp8: expected {name} of float32, got {one.dtype}")
    shapes = f"got shapes {q.shape}, {k.shape} and {v.shape}"
    if not 3 <= len(q.shape) == len(k.shape) == len(v.shape):
        raise ValueError(f"attention_fp8: expected q, k and v of one number of dimensions, at least 3, {shapes}")
    if q.shape[-1] != k.shape[-1]:
        raise ValueError(f"attention_fp8: expected q and k of one width, {shapes}")
    if k.shape[:-1] != v.shape[:-1]:
        raise ValueError(f"attention_fp8: expected k and v of equal heads and as many keys as values, {shapes}")
    *lead, heads = q.shape[:-2]
    *others, own = k.shape[:-2]
    if lead != others or (heads != own and not (enable_gqa and own and heads % own == 0)):
        more = "" if enable_gqa else " (enable_gqa=True is for heads of q that share one of k and v)"
        raise ValueError(f"attention_fp8: expected extents before the last two that fit{more}, {shapes}")
    wanted: Sequence[tuple[str, tuple[int, ...]]] = (
        ("q_scales", (*q.shape[:-2], math.ceil(q.shape[-2] / SCALED_ROWS))),
        ("k_scales", (*k.shape[:-2], math.ceil(k.shape[-2] / SCALED_ROWS))),
        ("v_scales", v.shape[:-2]),
    )
    for name, shape in wanted:
        if scales[name].shape != shape and not (name == "k_scales" and scales[name].shape == (*shape[:-1], 1)):
            raise ValueError(f"attention_fp8: expected {name} of shape {shape}, got {scales[name].shape}")
