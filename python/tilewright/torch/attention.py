"""Attention as an operator of PyTorch, which autograd and torch.compile take."""

from __future__ import annotations

from typing import Any

import torch

from ..ops import attention as _attention
from ..ops import attention_gradients, attention_with_logarithms
from ..ops.attention import result_shape
from ..ops.layouts import empty_like
from ..ops.operator import Operand

__all__ = ["attention"]

_HALVES = (torch.float16, torch.bfloat16)
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


def _dense(x: torch.Tensor) -> torch.Tensor:
    """Itself where the last axis is dense."""
    return x if x.is_contiguous() or x.stride(-1) == 1 else x.contiguous()


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
) -> torch.Tensor:
    out = _like(q, k, v)
    given = [_dense(one.detach()) for one in (q, k, v)]
    given += [] if mask is None else [mask.detach().contiguous()]
    options = _options(is_causal, scale, enable_gqa, before, behind, softcap, offset, dropout_p)
    _attention(*given, out=out, **options, **_seed(seed))
    return out


def _seed(seed: torch.Tensor | None) -> dict[str, Any]:
    return {} if seed is None else {"seed": seed}


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
    if is_symbolic and q.dim() == k.dim() == v.dim() and q.shape[:-3] == k.shape[:-3] == v.shape[:-3]:
        is_alike = isinstance(v.shape[-1], int) and v.shape[-1] == q.shape[-1]
        return torch.empty_like(q) if is_alike else q.new_empty((*q.shape[:-1], v.shape[-1]))
    return _like(q, k, v)


@torch.library.custom_op("tilewright::attention_gradients", mutates_args=())
def _gradients(
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
    result: torch.Tensor | None = None,
    logarithms: torch.Tensor | None = None,
) -> list[torch.Tensor]:
    given = [one.detach().contiguous() for one in (head, q, k, v, mask) if one is not None]
    options = _options(is_causal, scale, enable_gqa, before, behind, softcap, offset, dropout_p)
    for name, one in (("result", result), ("logarithms", logarithms)):
        if one is not None:
            options[name] = one.detach().contiguous()
    made: Any = attention_gradients(*given, **options, **_seed(seed))
    return list(made)


@_gradients.register_fake
def _(
    head: torch.Tensor, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None, *_: Any
) -> list[torch.Tensor]:
    wanted = [q, k, v, *([mask] if mask is not None and mask.is_floating_point() else [])]
    return [one.new_empty(one.shape) for one in wanted]


def _setup(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    q, k, v, mask, *ctx.options, seed = inputs
    ctx.save_for_backward(q, k, v, mask, seed, output)


def _backward(ctx: Any, head: torch.Tensor) -> tuple[Any, ...]:
    q, k, v, mask, seed, result = ctx.saved_tensors
    made = _gradients(head, q, k, v, mask, *ctx.options, seed, result)
    of_mask = made[3] if len(made) > 3 else None
    return (*made[:3], of_mask, *[None] * len(ctx.options), None)


_op.register_autograd(_backward, setup_context=_setup)


@torch.library.custom_op("tilewright::attention_with_logarithms", mutates_args=())
def _op_for_training(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    before: int | None = None,
    behind: int | None = None,
    offset: int = 0,
    dropout_p: float = 0.0,
    seed: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    options = _options(is_causal, scale, enable_gqa, before, behind, None, offset, dropout_p)
    result, logarithms = attention_with_logarithms(q.detach(), k.detach(), v.detach(), **options, **_seed(seed))
    return result, logarithms


@_op_for_training.register_fake
def _(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *_: Any) -> tuple[torch.Tensor, torch.Tensor]:
    result = _empty(q, k, v)
    return result, result.new_empty(result.shape[:-1], dtype=torch.float32)


def _setup_training(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, torch.Tensor]) -> None:
    q, k, v, *ctx.options, seed = inputs
    ctx.save_for_backward(q, k, v, seed, *output)


def _backward_training(ctx: Any, head: torch.Tensor, _: Any) -> tuple[Any, ...]:
    q, k, v, seed, *made = ctx.saved_tensors
    *options, offset, dropout_p = ctx.options
    gradients = _gradients(head, q, k, v, None, *options, None, offset, dropout_p, seed, *made)
    return (*gradients, *[None] * len(ctx.options), None)


_op_for_training.register_autograd(_backward_training, setup_context=_setup_training)


def _keeps_logarithms(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> bool:
    """Whether gradients are wanted of what has them by tensor cores, which then read the logarithms of sums."""
    is_wanted = torch.is_grad_enabled() and any(one.requires_grad for one in (q, k, v))
    return is_wanted and q.dtype in _HALVES and all(one.is_contiguous() for one in (q, k, v))


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
) -> torch.Tensor:
    """`tilewright.ops.attention` as an operator of PyTorch: for autograd, torch.compile and torch.export.

    The operator is `torch.ops.tilewright.attention`. It has gradients by `q`, `k`, `v` and a mask of floats, which are
    the same in each run. `mask`, `is_causal`, `scale`, `enable_gqa`, `window`, `softcap`, `offset` and the errors are
    those of `tilewright.ops.attention`. `q`, `k` and `v` may have any strides, and are copied only if their last axis
    is not dense. With `dropout_p`, PyTorch's generator draws the seed
    of a call, and the backward pass drops the same weights. The backward pass keeps the scores of all queries and keys
    in memory, unless `tilewright.ops.attention_gradients` has kernels of tensor cores for it.

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
    if mask is None and softcap is None and _keeps_logarithms(q, k, v):
        return _op_for_training(q, k, v, is_causal, scale, enable_gqa, before, behind, offset, dropout_p, seed)[0]
    return _op(q, k, v, mask, is_causal, scale, enable_gqa, before, behind, softcap, offset, dropout_p, seed)
