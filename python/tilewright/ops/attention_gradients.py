"""The gradients of attention: of queries, keys and values, and of a mask that is added to the scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import TilewrightValueError as ValueError
from ..graph.operators.attention_gradients import GRADIENTS, gradients_by_stages
from ..graph.operators.common import accumulator
from ..rules import auto_schedule
from ..schedules.attention_choice import is_for_tma
from ..schedules.gradient_kernels import gradient_kernels
from ..target import Target, current_gpu
from ..te.alignment import ALIGNMENT
from .attention import check_attention, check_dropout, check_heads, options_of, result_shape
from .by_rules import given
from .documents import check_documents, mask_of_documents, masked_by
from .layouts import operand_of, strided_operator
from .operator import Operand, Scheduled
from .strides import row_major

__all__ = ["attention_gradients"]

_LOADED = ("head", "q", "k", "v", "result")
_MULTIPLIED = ("float16", "bfloat16", "float32")


def _as_loaded(arrays: dict[str, Any]) -> dict[str, Any]:
    """Copies of what TMA does not load as it lies: it loads rows from any multiple of 16 bytes."""

    def made(name: str, array: Any) -> Any:
        laid = operand_of(array, name)
        if name in _LOADED and laid.dtype in _MULTIPLIED and laid.strides is not None and laid.align >= ALIGNMENT:
            return array if is_for_tma(laid) else row_major(array)
        return row_major(array)

    return {name: made(name, array) for name, array in arrays.items()}


@strided_operator(None, _as_loaded)
def attention_gradients(
    head: Operand,
    q: Operand,
    k: Operand,
    v: Operand,
    mask: Operand | None = None,
    seed: Operand | None = None,
    result: Operand | None = None,
    logarithms: Operand | None = None,
    lengths: Operand | None = None,
    slopes: Operand | None = None,
    sinks: Operand | None = None,
    documents: Operand | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window: tuple[int | None, int | None] | None = None,
    softcap: float | None = None,
    offset: int = 0,
    dropout_p: float = 0.0,
    deterministic: bool = True,
    wanted: Sequence[str] | None = None,
    target: Target | None = None,
) -> Scheduled:
    """The gradients of `attention` by q, k and v, in their shapes, and by a mask of floats and by sinks if there are.

    `head` is the gradient by the result, of its shape and type. The other arguments, `mask`, `seed`, `lengths`,
    `slopes`, `sinks`, `documents`, `is_causal`, `scale`, `enable_gqa`, `window`, `softcap`, `offset` and `dropout_p`,
    are those of `attention`. Arrays of 16-bit types and of float32 are read by their strides, if all but the last are
    multiples of 16 bytes. Others are copied where they are not row-major; the gradients are row-major. `wanted` names
    the arrays whose gradients are computed: all, or some of "q", "k", "v", "mask" and "sinks". Those are returned in
    this order.

    The weights are computed anew. Sums are of float32 for 16-bit types, in one order: the same arrays give
    the same gradients. From sm_80 on, kernels of tensor cores compute 16-bit types, and float32 where a block has room
    for tiles of it. Heads have up to 256 columns, in multiples of 16 bytes. The kernels store no scores, and need fewer
    matmuls if the `result` of `attention` is given. With both results of `attention_with_logarithms` there is one
    kernel less. Where there is enough to compute, tiles of which a bool mask leaves nothing are not visited, as
    `attention` has it.

    The gradient by a mask has a kernel of its own, which multiplies twice more. It stores sums for each element of the
    mask alone. Of a mask that all queries of a head share, it stores sums for each key of each head. `wanted` leaves
    this gradient out where the mask is not learned. Everything else is scheduled by rules. So are masks that have one
    element for all keys. There the gradient by a mask takes 10 or 12 bytes of memory for each query and key of a head.

    If they need not be `deterministic`, one kernel may have five matmuls in place of seven. Blocks add their parts of
    the gradients by q, by TMA and in any order. So it is for heads of 128 without a mask, if both results are given and
    all three gradients are wanted. So it is for heads of 64 that have no window, soft cap or dropout either.

    Raises
    ------
    TypeError, ValueError
        As `attention`; for a head, a result or logarithms of another shape or type; for logarithms without a
        result; and for names of no gradients.

    >>> import numpy as np
    >>> q, k, v, head = np.random.default_rng(0).standard_normal((4, 2, 5, 8)).astype("float32")
    >>> dq, dk, dv = attention_gradients(head, q, k, v, is_causal=True)
    >>> bool((abs(dq[:, 0]) < 1e-6).all())  # the first query sees one key, whatever it is
    True
    """
    check_attention(q, k, v, mask, enable_gqa, lengths=lengths)
    check_heads(q, slopes=slopes, sinks=sinks)
    expected = result_shape(q, k, v), q.dtype
    if (head.shape, head.dtype) != expected:
        raise ValueError(
            f"attention_gradients: expected a head of {expected[1]} and shape {expected[0]}, got {head.dtype} and "
            f"{head.shape}"
        )
    options = options_of(is_causal=is_causal, scale=scale, window=window, softcap=softcap, offset=offset)
    check_dropout(dropout_p, seed)
    check_documents(documents, q, k, mask=mask, lengths=lengths)
    names = _names(wanted, mask, sinks)
    if result is not None and (result.shape, result.dtype) != expected:
        raise ValueError(
            f"attention_gradients: expected a result of {expected[1]} and shape {expected[0]}, got {result.dtype} and "
            f"{result.shape}"
        )
    _check_logarithms(logarithms, result, expected)
    operands = {"head": head, "Q": q, "K": k, "V": v, "mask": mask, "seed": seed, "result": result}
    operands |= {"logarithms": logarithms, "lengths": lengths, "slopes": slopes, "sinks": sinks}
    operands["documents"] = documents
    named = {name: given(one, name) for name, one in operands.items() if one is not None}
    inputs = list(named.values())
    if documents is not None:
        mask, named["mask"] = masked_by(documents), mask_of_documents(named.pop("documents"))
    dropped: dict[str, Any] = {"dropout_p": dropout_p, "seed": named.pop("seed", None)}
    known = {name: named.pop(name, None) for name in ("result", "logarithms", "lengths", "slopes", "sinks")}
    options["softcap"] = softcap
    made = None
    if target is None or target.kind != "cpu":
        made = gradient_kernels(
            [*named.values()], (q, k, v), mask, wanted=names, deterministic=deterministic, gpu=current_gpu(),
            scale=scale, **known, **options, **dropped,
        )  # fmt: skip
    if made is not None:
        s, outputs = made
        if documents is not None:
            s[named["mask"]].compute_inline()
        return s, [*inputs, *outputs]
    defined = gradients_by_stages(*named.values(), scale=scale, **known, **options, **dropped)
    outputs = [defined[name] for name in names]
    return auto_schedule(outputs, target), [*inputs, *outputs]


def _names(wanted: Sequence[str] | None, mask: Operand | None, sinks: Operand | None) -> list[str]:
    """The arrays whose gradients are wanted, in order."""
    others = {"mask": mask is not None and mask.dtype != "bool", "sinks": sinks is not None}
    there = [name for name in GRADIENTS if others.get(name, True)]
    names = there if wanted is None else [name for name in there if name in wanted]
    if not names or wanted is not None and not set(wanted) <= set(names):
        raise ValueError(f"attention_gradients: expected wanted of one or more of {', '.join(there)}, got {wanted}")
    return names


def _check_logarithms(logarithms: Operand | None, result: Operand | None, expected: tuple[Any, str]) -> None:
    if logarithms is None:
        return
    if result is None:
        raise ValueError("attention_gradients: expected the result beside the logarithms, got none")
    shape, dtype = tuple(expected[0][:-1]), accumulator(expected[1])
    if (logarithms.shape, logarithms.dtype) != (shape, dtype):
        raise ValueError(
            f"attention_gradients: expected logarithms of {dtype} and shape {shape}, got {logarithms.dtype} and "
            f"{logarithms.shape}"
        )
