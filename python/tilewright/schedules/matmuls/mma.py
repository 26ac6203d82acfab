"""Matmuls by tensor cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd

from ...dtypes import item_bytes
from ...errors import TilewrightValueError as ValueError
from ...instructions import MMA_SYNC, mma_sync
from ...te import Expr, IterVar, Tensor, thread_axis
from ...te.intrinsic import TensorIntrin
from ...te.schedule import Schedule, Stage
from ...te.tensor import Extent
from ..extents import divisor_of
from ..sizes import sizes
from .definition import matmul_of_tiles, result_dtypes

__all__ = ["COPY", "accumulate", "fetch", "hold", "matmul_mma", "side_by_side", "tile_by_mma"]

# Bytes that a thread copies at once.
COPY = 16


@sizes(M=0, N=0, K=0)
def matmul_mma(
    M: Extent,
    N: Extent,
    K: Extent,
    in_dtype: str = "float16",
    out_dtype: str | None = None,
    *,
    acc_dtype: str | None = None,
    batch: Extent | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    epilogue: Callable[..., Expr] | None = None,
    operands: Sequence[Tensor] = (),
    pad: tuple[bool, bool] | None = None,
    split_k: int = 1,
    tile: tuple[int, int] = (128, 128),
    block_k: int | None = None,
    warps: tuple[int, int] = (2, 2),
    stages: int = 3,
    group: int = 1,
    min_blocks: int | None = None,
    dependent: bool = False,
) -> tuple[Schedule, list[Tensor]]:
    """C = A B by ``mma.sync``: A is M x K, B is K x N, C is M x N, row-major. An operand that is transposed is stored
    as K x M (`transpose_a`), or N x K (`transpose_b`). A and B have the type `in_dtype`, the accumulator `acc_dtype`, C
    `out_dtype`. With `batch`, each of the three is that many matrices.

    A thread block computes a `tile` of C, and each of its `warps` a contiguous part of the tile. The K tile is
    `block_k`, by default 128 bytes of an operand. While a block multiplies, ``cp.async`` loads the next `stages - 1`
    K tiles to shared memory, 16 bytes a thread. Shared memory is swizzled in granules of 16 bytes, so that ``ldmatrix``
    has no bank conflicts. Each lane stores its own elements of C, two at a time. Blocks are rasterised in groups of up
    to `group` rows of tiles, the largest number that divides the rows. With `min_blocks`, the compiler limits registers
    so that this many blocks fit an SM.

    `epilogue` is a function of the accumulator and of the indices of its element. It may read `operands`, the arguments
    between B and C. Its result is cast to `out_dtype`.

    Elements of a tile outside of A and B are zero; ``cp.async`` writes them. An operand whose rows are not multiples of
    16 bytes is loaded in smaller pieces. If its rows are not multiples of 4 bytes, it is loaded through registers. An
    operand of `pad` (by default such an operand) is first copied to a workspace of whole tiles by another kernel. This
    moves twice the bytes of the operand, which costs little if the matmul has many rows and columns.

    Where C has too few tiles to fill a GPU, `split_k` blocks share the K loop of each tile; another kernel adds their
    results. With `dependent`, a kernel starts while the one before it ends (`Schedule.launch`; sm_90 and up).

    Raises
    ------
    ValueError
        Where there is no instruction of these types; where `tile` is no multiple of `warps` times 16 x 8, or `block_k`
        none of the instruction's k; where `split_k` or `group` is not positive.

    >>> import tilewright as tw
    >>> s, tensors = matmul_mma(256, 256, 256, "bfloat16", transpose_b=True)
    >>> func = tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul")
    >>> "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" in func.ptx
    True
    """
    acc_dtype, out_dtype = result_dtypes(in_dtype, acc_dtype, out_dtype)
    mma = mma_sync(in_dtype, acc_dtype, transpose_a=transpose_a, transpose_b=transpose_b)
    instruction_k = MMA_SYNC[in_dtype, acc_dtype]
    granule = COPY // item_bytes(in_dtype)
    block_k = block_k or 8 * granule
    if tile[0] % (16 * warps[0]) or tile[1] % (8 * warps[1]) or block_k % instruction_k:
        raise ValueError(
            f"expected a tile of multiples of {16 * warps[0]} x {8 * warps[1]}, which {warps[0]} x {warps[1]} warps "
            f"share, and a block_k that is a multiple of {instruction_k}, got a tile of {tile} and a "
            f"block_k of {block_k}"
        )
    if split_k < 1 or group < 1:
        raise ValueError(f"expected a positive split_k and a positive group, got {split_k} and {group}")
    matmul = matmul_of_tiles(
        (M, N, K),
        (in_dtype, acc_dtype, out_dtype),
        (*tile, block_k),
        batch=batch,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        epilogue=epilogue,
        split_k=split_k,
        whole=pad or granule,
    )
    s = matmul.schedule
    widths = [gcd(granule, divisor_of(source.shape[-1])) for source in matmul.sources]
    tile_by_mma(
        s,
        matmul.tiled,
        matmul.accumulator,
        matmul.tiles,
        mma,
        k_is_in_rows=(not transpose_a, transpose_b),
        widths=widths,
        instruction_k=instruction_k,
        tile=tile,
        block_k=block_k,
        warps=warps,
        stages=stages,
        group=group,
        is_async=all(width * item_bytes(in_dtype) >= 4 for width in widths),
    )
    if min_blocks is not None:
        s[matmul.tiled].launch_bounds(min_blocks)
    if dependent:
        s.launch(dependent=True)
    return s, [matmul.A, matmul.B, *operands, matmul.C]


def tile_by_mma(
    s: Schedule,
    tiled: Tensor,
    accumulator: Tensor,
    operands: Sequence[Tensor],
    mma: TensorIntrin,
    *,
    k_is_in_rows: Sequence[bool],
    widths: Sequence[int],
    instruction_k: int,
    tile: tuple[int, int],
    block_k: int,
    warps: tuple[int, int],
    stages: int,
    group: int = 1,
    axes: Sequence[IterVar] | None = None,
    is_async: bool = True,
) -> None:
    """Schedules a matmul in whole tiles as `matmul_mma` says.

    `tiled` stores what `accumulator` adds up along its one reduction axis of `operands`, A and B as stages of their
    own. The last two axes of each are its rows and columns, `axes` those of `tiled` where it has others.
    `k_is_in_rows` says of the operands whether their rows are along k.
    Threads fetch as many elements at once as `widths` says, by ``cp.async`` if the operands are copies and `is_async`.
    """
    *outer, i, j = axes or s[tiled].op.axis
    rows = (s[tiled] if axes is None else s[accumulator]).op.shape[-2]
    by, i = s[tiled].split(i, factor=tile[0])
    bx, j = s[tiled].split(j, factor=tile[1])
    wy, i = s[tiled].split(i, nparts=warps[0])
    wx, j = s[tiled].split(j, nparts=warps[1])
    s[tiled].reorder(*outer, by, bx, wy, wx, i, j)
    if isinstance(rows, int):
        group = max(size for size in range(1, group + 1) if -(-rows // tile[0]) % size == 0)
    else:
        group = max(size for size in range(1, group + 1) if size == 1 or divisor_of(rows) % (size * tile[0]) == 0)
    if group > 1:
        by, gy = s[tiled].split(by, factor=group)
        s[tiled].reorder(by, bx, gy)
        bx = s[tiled].fuse(bx, gy)
    if len(outer) > 1:
        outer = [s[tiled].fuse(*outer)]
    tags = ("blockIdx.z",) * len(outer) + ("blockIdx.y", "blockIdx.x", "threadIdx.z", "threadIdx.y")
    for axis, tag in zip((*outer, by, bx, wy, wx), tags, strict=True):
        s[tiled].bind(axis, thread_axis(tag))

    s[accumulator].set_scope("local")
    s[accumulator].compute_at(s[tiled], wx)
    ko, ki = s[accumulator].split(s[accumulator].op.reduce_axis[0], factor=block_k)
    ki = accumulate(s[accumulator], ko, ki, mma, instruction_k)
    for place, (stage, width, has_k_in_rows) in enumerate(zip(operands, widths, k_is_in_rows, strict=True)):
        granule = COPY // item_bytes(stage.dtype)
        hold(s, stage, accumulator, ko, ki)
        if has_k_in_rows and block_k < 8 * granule:
            side_by_side(s[stage], 8 * granule // block_k, block_k)
        if not has_k_in_rows and granule == 4:
            # Of 32 bits a warp reads single elements, of four rows that begin eight banks apart.
            s[stage].storage_align(s[stage].op.axis[-2], 32, 8)
        elif has_k_in_rows or tile[place] > granule:  # rows of one granule have nothing to exchange
            s[stage].swizzle(granule)
        # As many elements at once as all rows of the tensor are multiples of: then no predicate parts them.
        fetch(s[stage], width, warps)
    s[accumulator].software_pipeline(ko, stages if is_async else 2, use_async=is_async)


def accumulate(stage: Stage, ko: IterVar, ki: IterVar, mma: TensorIntrin, instruction_k: int) -> IterVar:
    """A warp multiplies its part of a K tile by unrolled instructions. `ki` goes through the tile; the loop over the
    instructions along k."""
    *_, i, j = stage.op.axis
    ki, kt = stage.split(ki, factor=instruction_k)
    i, it = stage.split(i, factor=16)
    j, jt = stage.split(j, factor=8)
    stage.reorder(ko, ki, i, j, it, jt, kt)
    for axis in (ki, i, j):
        stage.unroll(axis)
    stage.tensorize(it, mma)
    return ki


def hold(s: Schedule, operand: Tensor, accumulator: Tensor, ko: IterVar, ki: IterVar) -> None:
    """Shared memory holds a K tile of an operand, registers what the instructions of an iteration of `ki` take."""
    s[operand].set_scope("shared")
    fragments = s.cache_read(operand, "local", [accumulator])
    s[fragments].compute_at(s[accumulator], ki)
    s[operand].compute_at(s[accumulator], ko)


def side_by_side(stage: Stage, rows: int, length: int) -> None:
    """Rows of this length, which are shorter than all banks, are joined, `rows` of them to one."""
    stage.transform_layout(lambda *at: [*at[:-2], at[-2] // rows, at[-2] % rows * length + at[-1]])


def fetch(stage: Stage, width: int, warps: tuple[int, int]) -> None:
    """All threads of the block load a stage; neighbouring threads take neighbouring elements of its rows."""
    *outer, row, column = stage.op.axis
    column, lane = stage.split(column, factor=width)
    turn, x = stage.split(stage.fuse(*outer, row, column), factor=32)
    turn, y = stage.split(turn, factor=warps[1])
    turn, z = stage.split(turn, factor=warps[0])
    stage.unroll(turn)
    for axis, tag in ((x, "threadIdx.x"), (y, "threadIdx.y"), (z, "threadIdx.z")):
        stage.bind(axis, thread_axis(tag))
    if width > 1:
        stage.vectorize(lane)
