"""Attention by the warpgroups of sm_90a: two matmuls in one kernel, and an online softmax between them."""

from __future__ import annotations

from ..errors import TilewrightValueError as ValueError
from ..te import Tensor, placeholder
from ..te.schedule import Schedule
from .online_softmax import attention_of
from .sizes import sizes

__all__ = ["attention_wgmma"]

_ROWS, _STEP, _MAX_COLUMNS = 64, 16, 256


@sizes(batch=0, queries=0, keys=0, width=1)
def attention_wgmma(
    batch: int,
    queries: int,
    keys: int,
    width: int,
    dtype: str = "bfloat16",
    *,
    wide: int | None = None,
    scale: float | None = None,
    causal: bool = False,
    tile: tuple[int, int] = (128, 128),
    stages: int = 2,
    registers: tuple[int, int] | None = None,
    blocks: int | None = None,
) -> tuple[Schedule, list[Tensor]]:
    """O = softmax(scale Q K^T) V by ``wgmma``: Q and O are batch x queries x width, K and V batch x keys x width.

    V and O have `wide` columns if that is given. Each of `batch` is one head of one sequence. `scale` is
    1 / sqrt(width) unless given. With `causal`, query i sees the keys up to i + keys - queries; tiles of keys that no
    query of a block sees are not visited.

    A thread block computes as many rows of O as `tile` has, and each consumer warpgroup 64 of them. It loads these rows
    of Q once. Then it loops over tiles of K and V, with as many rows as `tile` has columns. `stages` of these tiles are
    in shared memory. The maximum, the sum of exponentials and the weighted values of a row are three reductions over
    the keys. The last two follow the first (`rolling_update`), so one loop computes all three. The exponentials go in
    registers from the accumulator of the first matmul to operand A of the second. They are rounded to `dtype` between;
    those below 2^-126 count as 0. If a thread has enough registers, the second matmul is one iteration behind the
    first. It overlaps the next maximum; ptxas moves the wait for it before the exponentials.

    `registers` are those of a producer thread and of a consumer thread. With `blocks`, so many blocks compute all tiles
    in turn, and load a tile's Q, K and V while they store the last O. Causal tiles differ in length. A block gets
    tiles of all lengths if the number of blocks and the number of a head's tiles have no common factor.

    Raises
    ------
    ValueError
        Where there is no instruction of this type; where `tile` is no multiple of 64 x 16 with 64 to 256 columns;
        where a width is no multiple of 8 up to 256; where there are no keys.

    >>> import numpy as np
    >>> import tilewright as tw
    >>> s, tensors = attention_wgmma(2, 128, 128, 64, "float16", tile=(64, 64))
    >>> attention = tw.build(s, tensors, target="sim", name="attention")
    >>> q, k, v = (np.random.default_rng(0).standard_normal((3, 2, 128, 64))).astype("float16")
    >>> o = np.empty_like(q)
    >>> attention(q, k, v, o)
    >>> weights = np.exp(q.astype("float64") @ k.astype("float64").transpose(0, 2, 1) / 8)
    >>> exact = weights @ v / weights.sum(2, keepdims=True)
    >>> bool(np.abs(o - exact).max() < 2e-3)
    True
    """
    if dtype not in ("float16", "bfloat16"):
        raise ValueError(f"expected float16 or bfloat16, which wgmma takes as operand A from registers, got {dtype}")
    rows, columns = tile
    if rows % _ROWS or columns % _STEP or rows < _ROWS or not _ROWS <= columns <= _MAX_COLUMNS:
        raise ValueError(f"expected a tile of a multiple of 64 rows and of 16 columns, from 64 to 256, got {tile}")
    for given in (width, width if wide is None else wide):
        if given % 8 or not 8 <= given <= _MAX_COLUMNS:
            raise ValueError(f"expected a width of a multiple of 8, whose rows TMA copies, up to 256, got {given}")
    if causal and keys < queries:
        raise ValueError(f"expected at least as many keys as queries of a causal attention, got {keys} and {queries}")
    if keys < 1:
        raise ValueError(f"expected at least one key, got {keys}: ops.attention gives zeros without keys")
    if scale is not None and scale <= 0:
        raise ValueError(f"expected a positive scale, got {scale}")

    Q = placeholder((batch, queries, width), dtype, name="Q")
    K = placeholder((batch, keys, width), dtype, name="K")
    V = placeholder((batch, keys, width if wide is None else wide), dtype, name="V")
    behind = keys - queries if causal else None
    return attention_of(
        Q, K, V, scale=scale, behind=behind, tile=tile, stages=stages, registers=registers, blocks=blocks
    )
