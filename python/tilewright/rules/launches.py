"""How the kernels of a program are launched on a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ..target import Target
from ..te.program import operations
from ..te.tensor import PlaceholderOp, Tensor
from .context import item_bytes
from .facts import extent_of

__all__ = ["is_short"]

# Seconds at the memory's bandwidth, up to which blocks of a kernel come up before the one before it ends.
_SHORT = 8e-6


def is_short(outputs: Sequence[Tensor], target: Target) -> bool:
    """Whether blocks of kernels are to come up while the kernel before still runs, on a GPU that can.

    This hides what a launch takes. Blocks that come up early lie where there was room, not one on each SM: long kernels
    lose more by that. Of ConvNeXt-T for 64 images, 4.9 ms of groups became 6.0 ms.
    """
    gpu = target.device if target.kind == "cuda" else None
    if gpu is None or "griddepcontrol" not in gpu.features:
        return False
    given = [op.output(0) for op in operations([tensor.op for tensor in outputs]) if isinstance(op, PlaceholderOp)]
    moved = sum(prod(map(extent_of, tensor.shape)) * item_bytes(tensor) for tensor in dict.fromkeys((*given, *outputs)))
    return moved <= _SHORT * gpu.bandwidth
