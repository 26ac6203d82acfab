"""Matmuls by `wgmma` on sm_90a, with operands that TMA loads."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...dtypes import item_bytes
from ...errors import TilewrightValueError as ValueError
from ...instructions import wgmma
from ...te import Expr, Tensor
from ...te.schedule import Schedule
from ...te.tensor import Extent
from ..sizes import sizes
from .definition import matmul_of_tiles, result_dtypes
from .warpgroup_tiles import ALIGNED, LEAST_SPAN, SPAN, Tiling, no_more, tile_by_wgmma

__all__ = ["matmul_wgmma"]


@sizes(M=1, N=1, K=0)
def matmul_wgmma(
    M: Extent,
    N: Extent,
    K: Extent,
    in_dtype: str = "bfloat16",
    out_dtype: str | None = None,
    *,
    acc_dtype: str | None = None,
    batch: Extent | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    epilogue: Callable[..., Expr] | None = None,
    operands: Sequence[Tensor] = (),
    split_k: int = 1,
    tile: tuple[int, int] | None = None,
    promote: int | None = None,
    stages: int | None = None,
    columns: int | None = None,
    cluster: tuple[int, int] | None = None,
    blocks: int | None = 0,
    group: int | None = None,
    raster: str = "grouped",
    stream_k: bool = False,
    narrower: int = 0,
    serpentine_k: bool = False,
    specialize: bool = True,
    consumers: int = 1,
    registers: tuple[int, int] | None = None,
    deferred: bool | None = None,
    dependent: bool = False,
    swap_ab: bool = False,
) -> tuple[Schedule, list[Tensor]]:
    """C = A B by ``wgmma``: A is M x K, B is K x N, C is M x N, row-major. An operand that is transposed is stored as
    K x M (`transpose_a`), or N x K (`transpose_b`). A and B have the type `in_dtype`, the accumulator `acc_dtype`, C
    `out_dtype`. With `batch`, each of the three is that many matrices.

    A thread block computes a `tile` of C, and each consumer warpgroup 64 rows of the tile. The K tile is 128 bytes of
    an operand. A producer warp loads the next `stages - 1` K tiles to shared memory by TMA; with `specialize=False`,
    one thread of the first warpgroup does it. A `cluster` has as many rows and columns of tiles, at most eight; its
    blocks multicast the loads that they have in common.

    As many blocks as the device has SMs, or `blocks`, are persistent (None: a block for each tile). They take tiles in
    groups of `group` rows of tiles, or in another `raster`. With `stream_k`, blocks share the K tiles of the last wave.
    With `narrower`, some tiles are this many columns narrower, so that every block has a tile in the last wave. Rows of
    C are multiples of 16 bytes then. With `serpentine_k`, every second tile is computed from its last K tile to its
    first (`Stage.persistent`). With two `consumers`, a block has two sets of consumer warpgroups, which alternate
    (ping-pong): one stores while the other multiplies. This pays where K is short.

    C is stored through shared memory, `columns` at a time. With `deferred`, threads keep a tile of C while the matmul
    of their next tile begins, and store it then. `registers` are those of a producer thread and of a consumer thread.
    For 8-bit floats, the tensor cores' accumulators keep few bits. So they are promoted: after `promote` elements along
    k, they are added to float32 registers. The default is each K tile, and two K tiles for a C of bfloat16. With 0 they
    are never promoted, as in torch with ``use_fast_accum``. Options that are not given follow from the tile, the shared
    memory and the registers of a block.

    With `swap_ab`, the instruction multiplies B's transpose by A's transpose: each warpgroup computes 64 columns of a
    `tile`, of up to 256 rows. Then `group` counts columns of tiles, `narrower` counts rows, and `columns` counts the
    rows that are in shared memory at a time. This is good for few rows, and where tiles with fewer columns would begin
    within cache lines.

    `epilogue` is a function of the accumulator and of the indices of its element. It may read `operands`, the arguments
    between B and C. It is computed in registers. Its result is cast to `out_dtype`.

    TMA fills the elements of a tile outside of A and B with zeros, and does not store those outside of C. TMA needs
    rows of multiples of 16 bytes. An operand with other rows is first copied to a workspace of whole tiles by another
    kernel. So is an operand of 8 or 32 bits that does not have k along its rows, which is transposed. The instruction's
    first operand of tf32 is not: threads load it to registers. Threads store a C with other rows.

    Where C has too few tiles to fill a GPU, `split_k` blocks share the K loop of each tile; another kernel adds their
    results. With `dependent`, a kernel starts while the one before it ends (`Schedule.launch`).

    Extents may be symbolic. One kernel then serves all their values; each call launches as many blocks as it has tiles,
    up to `blocks`. The 16 bytes are proven by `divisible_by` of a row's ``te.var``: 8 elements of 16 bits. A K of at
    least 1 (`min`) saves the kernel a test for an empty sum. `stream_k` and the raster ``"hilbert"`` need numbers for M
    and N. `stream_k`, `split_k`, several `consumers` and a `promote` of more than a K tile need a number for K.

    Raises
    ------
    ValueError
        Where there is no instruction of these types; where `tile` is no multiple of 64 x 8, or of 64 x 16 if B is not
        transposed, with `swap_ab` of 8 x 64, or of 16 x 64 if A is, or `promote` none of a K tile; where `split_k` is
        not positive, or more than one with `batch` or with a symbolic K.

    >>> import tilewright as tw
    >>> s, tensors = matmul_wgmma(256, 512, 256, "bfloat16", "bfloat16", transpose_b=True)
    >>> func = tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul")
    >>> "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16" in func.ptx
    True

    A layer for any number of tokens:

    >>> import numpy as np
    >>> from tilewright import te
    >>> layer = tw.build(*matmul_wgmma(te.var("tokens"), 64, 64, "float16"), target="sim", name="layer")
    >>> x, w, y = (np.ones((rows, 64), dtype) for rows, dtype in ((200, "float16"), (64, "float16"), (200, "float32")))
    >>> for tokens in (1, 200):
    ...     layer(x[:tokens], w, y[:tokens])
    >>> bool((y == 64).all())
    True
    """
    acc_dtype, out_dtype = result_dtypes(in_dtype, acc_dtype, out_dtype)
    block_k = SPAN // item_bytes(in_dtype)
    promote = _promoted_after(promote, in_dtype, out_dtype, K, split_k, block_k)
    # Of operands that are not of 16 bits, the instruction takes those that lie with k along their rows. Of tf32 it
    # takes the first one in registers, to which threads load it however it lies.
    turned = [item_bytes(in_dtype) != 2 and across for across in (transpose_a, not transpose_b)]
    if in_dtype == "tf32":
        turned[swap_ab] = False
    a_turned, b_turned = (is_transposed != turns for is_transposed, turns in zip((transpose_a, transpose_b), turned))
    across = (not b_turned, not a_turned) if swap_ab else (a_turned, b_turned)
    m, n = _tile_of(tile, (M, N), in_dtype, is_k_major=across[1], swap_ab=swap_ab, is_promoted=promote > 0)
    tile = (n, m) if swap_ab else (m, n)
    if split_k < 1 or (split_k > 1 and batch is not None):
        raise ValueError(f"expected a positive split_k, and 1 with a batch, got {split_k}")
    has_whole_tile = all(
        not isinstance(extent, int) or size <= extent for extent, size in zip((M, N), tile, strict=True)
    )
    instruction = wgmma(
        in_dtype, acc_dtype, n=n, k=block_k, transpose_a=across[0], transpose_b=across[1], promote=promote // block_k
    )
    matmul = matmul_of_tiles(
        (M, N, K),
        (in_dtype, acc_dtype, out_dtype),
        (*tile, block_k),
        batch=batch,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        epilogue=epilogue,
        split_k=split_k,
        whole=ALIGNED // item_bytes(in_dtype),
        swap_ab=swap_ab,
        turned=(turned[0], turned[1]),
    )
    tile_by_wgmma(
        matmul.schedule,
        matmul.tiled,
        matmul.accumulator,
        matmul.tiles,
        instruction,
        Tiling(
            tile=tile,
            stages=stages,
            columns=columns,
            cluster=cluster,
            blocks=blocks,
            group=group,
            raster=raster,
            stream_k=stream_k,
            narrower=narrower,
            serpentine_k=serpentine_k,
            specialize=specialize,
            consumers=consumers,
            registers=registers,
            deferred=deferred,
            swap_ab=swap_ab,
        ),
        sources=matmul.sources if any(turned) else (matmul.A, matmul.B),
        extents=(M, N, split_k if batch is None else batch),
        transposed=(a_turned, b_turned),
        has_whole_tile=split_k > 1 or has_whole_tile,
        is_promoted=promote > 0,
    )
    if dependent:
        matmul.schedule.launch(dependent=True)
    return matmul.schedule, [matmul.A, matmul.B, *operands, matmul.C]


def _promoted_after(
    promote: int | None, in_dtype: str, out_dtype: str, K: Extent, split_k: int, block_k: int
) -> int:  # fmt: skip
    """After how many elements along k accumulators are promoted, whole K tiles; 0 for never."""
    if promote is None:
        # Rounding to bf16 is five times what the tensor cores lose in two steps.
        steps = 2 if out_dtype == "bfloat16" and isinstance(K, int) and K > block_k else 1
        # The loop of two such pairs and one K tile is unrolled, and the sums of all do not fit in registers.
        steps = 1 if isinstance(K, int) and -(-K // (split_k * block_k)) == 5 else steps
        promote = steps * block_k if in_dtype.startswith("float8") else 0
    if promote < 0 or promote % block_k:
        raise ValueError(
            f"expected to promote after a multiple of {block_k} elements of {in_dtype} along K, or 0, got {promote}"
        )
    return promote


def _tile_of(
    tile: tuple[int, int] | None, extents: tuple[Extent, Extent], in_dtype: str, *, is_k_major: bool, swap_ab: bool,
    is_promoted: bool,
) -> tuple[int, int]:  # fmt: skip
    """Rows and columns of a tile of sums, which are those of C's transpose if operands are swapped. `is_k_major` if k
    lies along the rows of the instruction's second operand."""
    m, n = (tile[::-1] if swap_ab else tile) if tile else (128, 192 if is_promoted else 256)
    rows, columns = ("columns", "rows") if swap_ab else ("rows", "columns")
    if m % 64 or m < 64:
        raise ValueError(f"expected a tile with a multiple of 64 {rows}, of which a warpgroup has 64, got {tile}")
    narrowest = 8 if is_k_major else LEAST_SPAN // item_bytes(in_dtype)
    if n % narrowest or n < narrowest:
        raise ValueError(f"expected a tile with a multiple of {narrowest} {columns}, got {tile}")
    # No more than there is: of whole panels where k goes across them.
    along_m, along_n = extents[::-1] if swap_ab else extents
    return no_more(m, along_m, 64), no_more(n, along_n, 8 if is_k_major else SPAN // item_bytes(in_dtype))
