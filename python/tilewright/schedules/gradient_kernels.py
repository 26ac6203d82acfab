"""Which kernels compute the gradients of attention: their tiles, and whether blocks add to the gradients by queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..devices import GPU
from ..te import Tensor
from ..te.schedule import Schedule
from .attention_backward import attention_gradients_of
from .attention_choice import Laid, gradient_tiles_for, lists_tiles, multiplies_by

__all__ = ["gradient_kernels"]

_SHARED_QUERIES = 64  # of a tile whose gradients of scores are operand A of another matmul
_TOGETHER = ["q", "k", "v"]  # gradients of one kernel
_ADDED_WIDTHS = (128,)  # columns of heads for which it is faster, whatever the mask
_NARROW = 64
"""Columns of heads for which it is faster where there is no window, cap, mask of an array or dropout. But for five
matmuls without a mask, two blocks then share an SM: one computes while the other waits. On an H200, 16 Ki tokens take
0.91 of the time with seven matmuls and a causal mask, and 0.82 of it with five."""
_SHARING = {"registers": (24, 232), "stages": 3}


def gradient_kernels(
    tensors: Sequence[Tensor], laid: Sequence[Laid], mask: Laid | None, *, wanted: Sequence[str], deterministic: bool,
    gpu: GPU | None, **options: Any,
) -> tuple[Schedule, list[Tensor]] | None:  # fmt: skip
    """The schedule and the `wanted` gradients, "q", "k", "v", "mask" and "sinks"; None where no kernels serve.

    `tensors` are the head, queries, keys, values, and the mask if there is one. `laid` says how queries, keys and
    values lie in memory, `mask` how the mask does. `options` are those of `attention_gradients_of`.
    """
    q, k, v = laid
    is_static = all(isinstance(extent, int) for one in tensors for extent in one.shape)
    shape: tuple[Any, ...] = tuple(tensors[0].shape) if is_static else (*q.shape[:-1], v.shape[-1])
    is_cut = options["softcap"] is not None or options["before"] is not None
    is_read = any(one is not None for one in (mask, options.get("lengths"), options.get("slopes")))
    # Kernels sum the gradient by a mask for each key, over numbers of heads.
    if mask is not None and "mask" in wanted and (mask.shape[-1] != k.shape[-2] or not is_static):
        return None
    tiles = gradient_tiles_for(q, k, v, shape, gpu, is_cut=is_cut, reads=is_read)
    if tiles is None:
        return None
    is_one = mask is None and len(tiles) == len(_TOGETHER)
    by_warpgroups = multiplies_by(gpu, q.dtype) == "wgmma"
    is_added = not deterministic and by_warpgroups and is_static and options.get("logarithms") is not None and is_one
    is_added = is_added and [*wanted[: len(_TOGETHER)]] == _TOGETHER
    is_narrow = is_one and by_warpgroups and q.shape[-1] == v.shape[-1] == _NARROW
    is_narrow = is_narrow and not (is_cut or is_read or options.get("dropout_p"))
    is_added = is_added and (is_narrow or q.shape[-1] in _ADDED_WIDTHS)
    is_shared = is_narrow and not (is_added and options["behind"] is None)
    if is_shared:
        tiles = (tiles[0], tiles[1] if is_added else (_NARROW, _NARROW), (_NARROW, _NARROW))
    elif is_added:
        # A block's warpgroups part the columns of what they add, or else its queries.
        rows = tiles[2][0]
        tiles = (*tiles[:2], (rows, _SHARED_QUERIES if rows == q.shape[-1] else rows))
    is_listed = mask is not None and options.get("lengths") is None and is_static
    is_listed = is_listed and lists_tiles(mask, shape, k.shape[-2], {"tile": tiles[1]})  # type: ignore[arg-type]
    s, made = attention_gradients_of(
        *tensors, tiles=tiles, adds=is_added, wanted=[name.upper() for name in wanted], is_listed=is_listed, **options,
        **(_SHARING if is_shared else {}),
    )  # fmt: skip
    return s, made[-len(wanted) :]
