"""Attention as an operator of PyTorch, which autograd and torch.compile take."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

import torch

from ..ops import attention as _attention
from ..ops import attention_gradients, attention_with_logarithms
from ..ops.attention import result_shape
from ..ops.layouts import empty_like
from ..ops.operator import Operand
from ..ops.strides import without_repeats

__all__ = ["attention"]

_HALVES = (torch.float16, torch.bfloat16)
_GRADIENTS = ("q", "k", "v", "mask", "sinks")
_ARRAYS = ("seed", "lengths", "slopes", "documents", "sinks")  # the last inputs, behind the options
_Window = tuple[int | None, int | None] | None


def _options(
    is_causal: bool, scale: float | None, enable_gqa: bool, before: int | None, behind: int | None,
    softcap: float | None, offset: int, dropout_p: float,
) -> dict[str, Any]:  # fmt: skip
    window = None if before is None and behind is None else (before, behind)
    return {
        "is_causal": is_causal, "scale": scale, "enable_gqa": enable_gqa, "window": window, "softcap": softcap,
        "offset": offset, "dropout_p": dropout_p,
    }  # fmt: skip


_FIRST = _GRADIENTS[:4]  # the first inputs, before the options
_COUNT = len(_FIRST) + len(inspect.signature(_options).parameters) + len(_ARRAYS)
_SINKS = _COUNT - len(_FIRST) - 1  # the place of sinks behind the mask


def _dense(x: torch.Tensor) -> torch.Tensor:
    """Itself where the last axis is dense."""
    return x if x.is_contiguous() or x.stride(-1) == 1 else x.contiguous()


def _once(mask: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """A dense mask without what an expanded one repeats."""
    mask = mask.detach()
    return (without_repeats(mask, q.shape[:-1]) if mask.dim() == q.dim() else mask).contiguous()


@torch.library.custom_op("tilewright::attention", mutates_args=())
def _op(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    before: int | None = None,
    behind: int | None = None,
    softcap: float | None = None,
    offset: int = 0,
    dropout_p: float = 0.0,
    seed: torch.Tensor | None = None,
    lengths: torch.Tensor | None = None,
    slopes: torch.Tensor | None = None,
    documents: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
) -> torch.Tensor:
    out = _like(q, k, v)
    given = [_dense(one.detach()) for one in (q, k, v)]
    given += [] if mask is None else [_once(mask, q)]
    options = _options(is_causal, scale, enable_gqa, before, behind, softcap, offset, dropout_p)
    _attention(*given, out=out, **options, **_given(seed, lengths, slopes, documents, sinks))
    return out


def _given(*arrays: torch.Tensor | None) -> dict[str, Any]:
    """The arrays of a call beside queries, keys, values and a mask."""
    return {name: _dense(one.detach()) for name, one in zip(_ARRAYS, arrays, strict=True) if one is not None}


def _like(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """A result, which lies in memory as `q` does."""
    operands = [Operand(tuple(one.shape), str(one.dtype).removeprefix("torch.")) for one in (q, k, v)]
    return empty_like(_dense(q), result_shape(*operands))


@_op.register_fake
def _(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *_: Any) -> torch.Tensor:
    return _empty(q, k, v)


def _empty(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """A result that nothing is computed for."""
    # The checks of operands that are broadcast ask whether extents are 1, which would make numbers of symbols.
    is_symbolic = any(isinstance(extent, torch.SymInt) for extent in q.shape)
    is_whole = q.dim() == k.dim() == v.dim() and q.shape[:-3] == k.shape[:-3] == v.shape[:-3]
    # Each key has a value: two symbols of one extent become one.
    if is_symbolic and is_whole and k.shape[-2] == v.shape[-2]:
        is_alike = isinstance(v.shape[-1], int) and v.shape[-1] == q.shape[-1]
        return torch.empty_like(q) if is_alike else q.new_empty((*q.shape[:-1], v.shape[-1]))
    return _like(q, k, v)


@torch.library.custom_op("tilewright::attention_gradients", mutates_args=())
def _gradients(
    wanted: Sequence[bool],
    head: torch.Tensor,
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    before: int | None = None,
    behind: int | None = None,
    softcap: float | None = None,
    offset: int = 0,
    dropout_p: float = 0.0,
    seed: torch.Tensor | None = None,
    lengths: torch.Tensor | None = None,
    slopes: torch.Tensor | None = None,
    documents: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
    result: torch.Tensor | None = None,
    logarithms: torch.Tensor | None = None,
) -> list[torch.Tensor]:
    given = [one.detach() for one in (head, q, k, v)]
    if mask is not None:
        # The gradient by a mask has all of its elements.
        given.append(mask.detach().contiguous() if wanted[_GRADIENTS.index("mask")] else _once(mask, q))
    options = _options(is_causal, scale, enable_gqa, before, behind, softcap, offset, dropout_p)
    options["deterministic"] = torch.are_deterministic_algorithms_enabled()
    for name, one in (("result", result), ("logarithms", logarithms)):
        if one is not None:
            options[name] = one.detach()
    names = [name for name, is_wanted in zip(_GRADIENTS, wanted, strict=False) if is_wanted]
    made: Any = attention_gradients(*given, wanted=names, **options, **_given(seed, lengths, slopes, documents, sinks))
    return list(made) if len(names) > 1 else [made]


@_gradients.register_fake
def _(
    wanted: Sequence[bool], head: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor,
    mask: torch.Tensor | None = None, *given: Any,
) -> list[torch.Tensor]:  # fmt: skip
    # Behind the options are the seed, lengths, slopes, documents and sinks.
    sinks = given[_SINKS] if len(given) > _SINKS else None
    return [
        one.new_empty(one.shape)
        for one, is_wanted in zip((q, k, v, mask, sinks), wanted, strict=False)
        if is_wanted and one is not None
    ]


def _wanted(ctx: Any, head: torch.Tensor, *made: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    """The gradients by all inputs; None where autograd needs none."""
    inputs = ctx.saved_tensors[: len(_FIRST) + len(_ARRAYS)]
    # Inputs that a call leaves out at the end are not among these.
    needs = [*ctx.needs_input_grad, *[False] * _COUNT][:_COUNT]
    wanted = [*needs[:4], needs[-1]]
    gradients = iter(_gradients(wanted, head, *inputs[:4], *ctx.options, *inputs[4:], *made))
    *first, of_sinks = (next(gradients) if is_wanted else None for is_wanted in wanted)
    return (*first, *[None] * (_COUNT - len(wanted)), of_sinks)


def _save(ctx: Any, inputs: tuple[Any, ...], *made: torch.Tensor) -> None:
    ctx.options = inputs[4 : -len(_ARRAYS)]
    ctx.save_for_backward(*inputs[:4], *inputs[-len(_ARRAYS) :], *made)


def _setup(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    _save(ctx, inputs, output)


def _backward(ctx: Any, head: torch.Tensor) -> tuple[Any, ...]:
    return _wanted(ctx, head, *ctx.saved_tensors[-1:])


_op.register_autograd(_backward, setup_context=_setup)


@torch.library.custom_op("tilewright::attention_with_logarithms", mutates_args=())
def _op_for_training(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    before: int | None = None,
    behind: int | None = None,
    softcap: float | None = None,
    offset: int = 0,
    dropout_p: float = 0.0,
    seed: torch.Tensor | None = None,
    lengths: torch.Tensor | None = None,
    slopes: torch.Tensor | None = None,
    documents: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    options = _options(is_causal, scale, enable_gqa, before, behind, softcap, offset, dropout_p)
    given = [_dense(one.detach()) for one in (q, k, v)]
    given += [] if mask is None else [_once(mask, q)]
    result, logarithms = attention_with_logarithms(*given, **options, **_given(seed, lengths, slopes, documents, sinks))
    return result, logarithms


@_op_for_training.register_fake
def _(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *_: Any) -> tuple[torch.Tensor, torch.Tensor]:
    result = _empty(q, k, v)
    return result, result.new_empty(result.shape[:-1], dtype=torch.promote_types(q.dtype, torch.float32))


def _setup_training(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    _save(ctx, inputs, *output)


def _backward_training(ctx: Any, head: torch.Tensor, _: Any) -> tuple[Any, ...]:
    return _wanted(ctx, head, *ctx.saved_tensors[-2:])


_op_for_training.register_autograd(_backward_training, setup_context=_setup_training)


def _keeps_logarithms(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, sinks: torch.Tensor | None) -> bool:
    """Whether gradients are wanted of what has them by tensor cores, which then read the logarithms of sums."""
    is_wanted = torch.is_grad_enabled() and any(one is not None and one.requires_grad for one in (q, k, v, sinks))
    return is_wanted and q.dtype in _HALVES


def attention(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None = None,
    *,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window: _Window = None,
    softcap: float | None = None,
    offset: int = 0,
    dropout_p: float = 0.0,
    lengths: torch.Tensor | None = None,
    slopes: torch.Tensor | None = None,
    documents: torch.Tensor | None = None,
    sinks: torch.Tensor | None = None,
) -> torch.Tensor:
    """`tilewright.ops.attention` as an operator of PyTorch: for autograd, torch.compile and torch.export.

    The operator is `torch.ops.tilewright.attention`. It has gradients by `q`, `k`, `v`, a mask of floats and `sinks`.
    With `torch.use_deterministic_algorithms(True)` they are the same in each run. `mask`, `is_causal`, `scale`,
    `enable_gqa`, `window`, `softcap`, `offset`, `lengths`, `slopes`, `documents`, `sinks` and the errors are those of
    `tilewright.ops.attention`. `q`, `k` and `v` may have any strides, and are copied only if their last axis is not
    dense. With `dropout_p`, PyTorch's generator draws the seed of a call, and the backward pass drops the same weights.
    The backward pass computes only the gradients that autograd needs. It keeps the scores of all queries and keys in
    memory, unless `tilewright.ops.attention_gradients` has kernels of tensor cores for it.

    >>> import torch
    >>> q, k, v = torch.randn(3, 1, 2, 5, 8, requires_grad=True).unbind()
    >>> o = torch.compile(attention, fullgraph=True, backend="eager")(q, k, v, is_causal=True)
    >>> expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    >>> torch.allclose(o, expected, atol=1e-5)
    True
    >>> gradients = [torch.autograd.grad(one.square().sum(), (q, k, v), retain_graph=True) for one in (o, expected)]
    >>> all(torch.allclose(a, b, atol=1e-4) for a, b in zip(*gradients))
    True
    """
    before, behind = window or (None, None)
    seed = torch.randint(-(2**31), 2**31, (), dtype=torch.int32, device=q.device) if dropout_p else None
    given = (q, k, v, mask, is_causal, scale, enable_gqa, before, behind, softcap, offset, dropout_p, seed)
    given += (lengths, slopes, documents, sinks)
    return _op_for_training(*given)[0] if _keeps_logarithms(q, k, v, sinks) else _op(*given)
