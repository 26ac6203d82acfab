"""What the kernels of the gradients of attention are made of."""

from __future__ import annotations

from dataclasses import dataclass

from ..te import IterVar, Tensor

__all__ = ["Added", "Chain", "Loop"]


@dataclass(frozen=True, slots=True)
class Loop:
    """One reduction over the other axis: the tiles that it loads, its matmuls, and the elements between."""

    total: Tensor
    axis: IterVar
    loaded: list[Tensor]
    products: list[Tensor]
    elements: list[Tensor]
    is_product: bool = True


@dataclass(frozen=True, slots=True)
class Added:
    """Sums over all keys to which each block of keys adds: gradients of scores, which its warpgroups share, times K."""

    total: Tensor
    blocks: IterVar
    copied: Tensor  # parts in shared memory, from which TMA adds them
    part: Tensor  # of one block
    elements: list[Tensor]  # the last are gradients of scores, which go to shared memory
    held: list[Tensor]
    loaded: list[Tensor]
    products: list[Tensor]
    is_turned: bool  # a part's rows are columns of the gradients


@dataclass(frozen=True, slots=True)
class Chain:
    """One kernel: matmuls of a block's rows with tiles of the other axis, and what is reduced of them."""

    results: list[Tensor]
    held: list[Tensor]  # tiles that are loaded once
    loops: list[Loop]
    tile: tuple[int, int]
    added: Added | None = None
    sums: IterVar | None = None  # the heads over which the kernel sums tiles of scores: it loads all tiles for each
