"""Calls of core ATen's overloads that no OpInfo becomes by itself: by overload, the arguments of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

__all__ = ["calls_of"]


def _table(dtype: torch.dtype) -> dict[str, Callable[[], tuple[Any, ...]]]:
    def x(*shape: int) -> torch.Tensor:
        return torch.randn(shape).to(dtype)

    def whole(*shape: int) -> torch.Tensor:
        return torch.randint(-9, 9, shape, dtype=torch.int32)

    def places(high: int, *shape: int) -> torch.Tensor:
        return torch.randint(0, high, shape)

    def scalar(number: Any) -> Callable[[], tuple[Any, ...]]:
        return lambda: (x(3, 4), number)

    def pad(rank: int) -> Callable[[], tuple[Any, ...]]:
        return lambda: (x(2, 3, *[5] * rank), [1, 2] * rank)

    table: dict[str, Callable[[], tuple[Any, ...]]] = {
        "alias.default": lambda: (x(3, 4),),
        "arange.start_step": lambda: (1, 12, 3),
        "avg_pool3d.default": lambda: (x(1, 2, 6, 6, 6), [2, 2, 2]),
        "bitwise_not.default": lambda: (whole(3, 4),),
        "_cdist_forward.default": lambda: (x(3, 4), x(5, 4), 2.0, None),
        "_pdist_forward.default": lambda: (x(5, 4), 2.0),
        "clamp.default": lambda: (x(3, 4), -0.5, 0.5),
        "col2im.default": lambda: (x(1, 12, 9), [4, 4], [2, 2], [1, 1], [0, 0], [1, 1]),
        "convolution.default": lambda: (x(2, 4, 7, 7), x(6, 2, 3, 3), x(6), [2, 1], [1, 1], [1, 1], False, [0, 0], 2),
        "copy.default": lambda: (x(3, 4), x(4)),
        "div.Scalar_mode": lambda: (x(3, 4), 0.3),
        "embedding_dense_backward.default": lambda: (x(3, 4), places(5, 3), 5, -1, False),
        "full.default": lambda: ([2, 3], 1.5),
        "index.Tensor": lambda: (x(4, 5, 6), [None, places(5, 2, 3), places(6, 3)]),
        "index_put.default": lambda: (x(4, 5), [places(4, 3)], x(3, 5), True),
        "max_pool2d_with_indices.default": lambda: (x(2, 3, 8, 8), [3, 3], [2, 2], [1, 1]),
        "max_pool3d_with_indices.default": lambda: (x(1, 2, 6, 6, 6), [2, 2, 2]),
        "_native_batch_norm_legit_no_training.default": lambda: (
            x(2, 3, 4), x(3), x(3), x(3), x(3).abs() + 0.5, 0.1, 1e-5
        ),
        "_native_batch_norm_legit.no_stats": lambda: (x(4, 3, 5), x(3), x(3), True, 0.1, 1e-5),
        "native_group_norm.default": lambda: (x(2, 6, 5), x(6), x(6), 2, 6, 5, 3, 1e-5),
        "native_layer_norm.default": lambda: (x(3, 8), [8], x(8), x(8), 1e-5),
        "pow.Scalar": lambda: (2.5, x(3, 4)),
        "pow.Tensor_Scalar": lambda: (x(3, 4).abs(), 1.5),
        "scalar_tensor.default": lambda: (2.5,),
        "scatter.value": lambda: (x(4, 5), 0, places(4, 2, 5), 1.5),
        "select_scatter.default": lambda: (x(4, 5), x(5), 0, 2),
        "slice_scatter.default": lambda: (x(6, 5), x(2, 5), 0, 1, 5, 2),
        "split_with_sizes.default": lambda: (x(6, 5), [1, 2, 3]),
        "squeeze.dim": lambda: (x(3, 1, 4), 1),
        "squeeze.dims": lambda: (x(3, 1, 4, 1), [1, 3]),
        "topk.default": lambda: (torch.randperm(24).reshape(4, 6).to(dtype), 3),
        "sort.default": lambda: (torch.randperm(24).reshape(4, 6).to(dtype),),
        "upsample_bilinear2d.vec": lambda: (x(1, 2, 4, 5), [7, 8], False, None),
        "upsample_nearest2d.vec": lambda: (x(1, 2, 4, 5), [7, 8], None),
        "var.dim": lambda: (x(3, 8), [1]),
        "_adaptive_avg_pool2d.default": lambda: (x(1, 2, 6, 7), [3, 2]),
        "_adaptive_avg_pool3d.default": lambda: (x(1, 2, 6, 4, 4), [3, 2, 2]),
        "as_strided.default": lambda: (x(4, 6), [3, 2], [6, 2], 1),
        "view.default": lambda: (x(4, 6), [3, 8]),
        "any.dims": lambda: (x(3, 4) > 1, [0, 1]),
        "repeat.default": lambda: (x(2, 3), [2, 1, 2]),
        "expand.default": lambda: (x(3, 1), [2, 3, 4]),
        "nonzero.default": lambda: (x(3, 4).relu(),),
        "_local_scalar_dense.default": lambda: (x(1),),
        "fill.Scalar": lambda: (x(3, 4), 2.5),
        "masked_scatter.default": lambda: (x(3, 4), x(3, 4) > 0, x(12)),
        "native_layer_norm_backward.default": lambda: (
            x(3, 8), x(3, 8), [8], x(3, 1).float(), x(3, 1).float().abs(), x(8), x(8), [True, True, True]
        ),
        "native_group_norm_backward.default": lambda: (
            x(2, 6, 5), x(2, 6, 5), x(2, 3), x(2, 3).abs(), x(6), 2, 6, 5, 3, [True, True, True]
        ),
        "convolution_backward.default": lambda: (
            x(2, 6, 5, 5), x(2, 4, 5, 5), x(6, 4, 3, 3), [6], [1, 1], [1, 1], [1, 1], False, [0, 0], 1,
            [True, True, True],
        ),
        "avg_pool2d_backward.default": lambda: (
            x(1, 2, 3, 3), x(1, 2, 6, 6), [2, 2], [2, 2], [0, 0], False, True, None
        ),
        "max_pool2d_with_indices_backward.default": lambda: (
            x(1, 2, 3, 3), x(1, 2, 6, 6), [2, 2], [2, 2], [0, 0], [1, 1], False,
            torch.arange(9).reshape(1, 1, 3, 3).expand(1, 2, 3, 3) // 3 * 12 + torch.arange(3) * 2,
        ),
        "_adaptive_avg_pool2d_backward.default": lambda: (x(1, 2, 3, 3), x(1, 2, 6, 6)),
        "_embedding_bag.default": lambda: (x(5, 4), places(5, 6), torch.tensor([0, 2, 5])),
    }  # fmt: skip
    table |= {
        "atan2.out": lambda: (x(3, 4), x(4)),
        "_native_batch_norm_legit.default": lambda: (
            x(4, 3, 5), x(3), x(3), x(3).float(), x(3).float().abs(), True, 0.1, 1e-5
        ),
        "empty.memory_format": lambda: ([2, 3],),
        "empty_strided.default": lambda: ([2, 3], [3, 1]),
        "sym_size.int": lambda: (x(3, 4), 1),
        "sym_stride.int": lambda: (x(3, 4), 0),
        "sym_numel.default": lambda: (x(3, 4),),
        "sym_storage_offset.default": lambda: (x(3, 4),),
        "rand.default": lambda: ([64, 64],),
        "randn.default": lambda: ([64, 64],),
        "randperm.default": lambda: (512,),
        "native_dropout.default": lambda: (x(64, 64), 0.25, True),
    }  # fmt: skip
    for name in ("add", "sub", "mul", "div", "eq", "ne", "lt", "le", "gt", "ge", "fmod", "remainder"):
        table[f"{name}.Scalar"] = scalar(0.75)
    for name in ("and", "or", "xor"):
        table[f"bitwise_{name}.Scalar"] = lambda: (whole(3, 4), 6)
        table[f"bitwise_{name}.Tensor"] = lambda: (whole(3, 4), whole(4))
    for rank in (1, 2, 3):
        table[f"reflection_pad{rank}d.default"] = table[f"replication_pad{rank}d.default"] = pad(rank)
    return table


# Whose result is of the type of the case because a call says so.
_TYPED = ("empty.memory_format", "empty_strided.default", "rand.default", "randn.default")


_KEYWORDS: dict[str, dict[str, Any]] = {
    "div.Scalar_mode": {"rounding_mode": "floor"},
    "div.Tensor_mode": {"rounding_mode": "trunc"},
}


def calls_of(overload: str, dtype: str) -> list[tuple[Callable[..., Any], list[Any]]]:
    """The call of an overload as a function of its tensors; empty where there is none."""
    from torch.utils._pytree import tree_flatten, tree_unflatten

    make = _table(getattr(torch, dtype)).get(overload)
    if make is None:
        return []
    packet, name = overload.split(".")
    op = getattr(getattr(torch.ops.aten, packet), name)
    flat, spec = tree_flatten(make())
    places = [i for i, one in enumerate(flat) if isinstance(one, torch.Tensor)]

    def function(*tensors: Any) -> Any:
        whole = list(flat)
        for place, tensor in zip(places, tensors):
            whole[place] = tensor
        args = tree_unflatten(whole, spec)
        keywords = {"dtype": getattr(torch, dtype)} if overload in _TYPED else _KEYWORDS.get(overload, {})
        if overload.startswith("sym_"):  # a size: of a tensor, which is what a graph returns
            return torch.full([op(*args) + 1], 1.5, dtype=getattr(torch, dtype))
        if overload.startswith("_local_scalar_dense"):  # a number that is an element: what is computed with it
            return args[0] * op(*args)
        if name == "out":
            return op(*args, out=torch.empty_like(args[0]))
        if overload == "_native_batch_norm_legit.default":  # with the statistics that it writes
            args = [*args[:3], args[3].clone(), args[4].clone(), *args[5:]]
            return (*op(*args), *args[3:5])
        made = op(*args, **keywords)
        return made[0] if overload == "_embedding_bag.default" else made  # the others are undefined in this mode

    return [(function, [flat[i] for i in places])]
