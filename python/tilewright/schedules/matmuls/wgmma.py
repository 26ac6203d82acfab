"""Matmuls by `wgmma` on sm_90a, with operands that TMA loads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import gcd, prod, sqrt
from typing import Any

from ...devices import current
from ...dtypes import item_bytes
from ...errors import TilewrightValueError as ValueError
from ...instructions import wgmma
from ...te import Expr, Tensor, thread_axis
from ...te.expr import Var
from ...te.intrinsic import TensorIntrin
from ...te.schedule import Schedule
from ...te.tensor import Extent
from ..extents import divisor_of
from ..sizes import sizes
from .definition import product_of_tiles, result_dtypes

__all__ = ["matmul_wgmma", "no_more", "registers_of", "tile_by_wgmma"]

# What rows of tensors are multiples of for TMA; how wide a row of a shared buffer's panel is, and at least.
_ALIGNED, _SPAN, _LEAST_SPAN = 16, 128, 32
# Of a block's shared memory barriers take so many bytes; so many stages are enough, and so many the most.
_BARRIERS, _ENOUGH, _MAX_STAGES = 1024, 4, 8
_MANY, _LINE = 16, 128
# Of a tile with more columns the matmul of a K tile takes longer than to store a part of the result.
_NARROW = 192
_OTHER_REGISTERS = 24


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
    one thread of the first warpgroup does it. A `cluster` has as many rows and columns of tiles, one of which is 1; its
    blocks multicast the loads that they have in common.

    As many blocks as the device has SMs, or `blocks`, are persistent (None: a block for each tile). They take tiles in
    groups of `group` rows of tiles, or in another `raster`. With `stream_k`, blocks share the K tiles of the last wave.
    With `narrower`, some tiles are this many columns narrower, so that every block has a tile in the last wave. With
    `serpentine_k`, every second tile is computed from its last K tile to its first (`Stage.persistent`). With two
    `consumers`, a block has two sets of consumer warpgroups, which alternate (ping-pong): one stores while the other
    multiplies. This pays where K is short.

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
    kernel. So is an operand of 8 or 32 bits that does not have k along its rows, which is transposed. A C with other
    rows is copied from a workspace by a last kernel if C has a whole tile; else threads store it.

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
    block_k = _SPAN // item_bytes(in_dtype)
    if promote is None:
        # Rounding to bf16 is five times what the tensor cores lose in two steps.
        steps = 2 if out_dtype == "bfloat16" and isinstance(K, int) and K > block_k else 1
        # The loop of two such pairs and one K tile is unrolled, and the sums of all do not fit in registers.
        steps = 1 if isinstance(K, int) and -(-K // (split_k * block_k)) == 5 else steps
        promote = steps * block_k if in_dtype.startswith("float8") else 0
    if promote < 0 or promote % block_k:
        raise ValueError(
            f"expected to promote after a multiple of {block_k} products of {in_dtype}, or 0, got {promote}"
        )
    # The instruction's rows and columns are those of the sums, of C's transpose if they are swapped.
    m, n = (tile[::-1] if swap_ab else tile) if tile else (128, 192 if promote else 256)
    rows, columns_of = ("columns", "rows") if swap_ab else ("rows", "columns")
    if m % 64 or m < 64:
        raise ValueError(f"expected a tile with a multiple of 64 {rows}, of which a warpgroup has 64, got {tile}")
    # Of operands that are not of 16 bits, the instruction takes those that lie with k along their rows.
    k_major = item_bytes(in_dtype) != 2
    a_turned, b_turned = (False, True) if k_major else (transpose_a, transpose_b)
    is_k_major = not a_turned if swap_ab else b_turned
    narrowest = 8 if is_k_major else _LEAST_SPAN // item_bytes(in_dtype)
    if n % narrowest or n < narrowest:
        raise ValueError(f"expected a tile with a multiple of {narrowest} {columns_of}, got {tile}")
    # No more than there is: of whole panels where k goes across them.
    along_m, along_n = (N, M) if swap_ab else (M, N)
    m, n = no_more(m, along_m, 64), no_more(n, along_n, 8 if is_k_major else block_k)
    tile = (n, m) if swap_ab else (m, n)
    if split_k < 1 or (split_k > 1 and batch is not None):
        raise ValueError(f"expected a positive split_k, and 1 with a batch, got {split_k}")
    has_whole_tile = all(
        not isinstance(extent, int) or size <= extent for extent, size in zip((M, N), tile, strict=True)
    )
    across = (not b_turned, not a_turned) if swap_ab else (a_turned, b_turned)
    instruction = wgmma(
        in_dtype, acc_dtype, n=n, k=block_k, transpose_a=across[0], transpose_b=across[1], promote=promote // block_k
    )
    product = product_of_tiles(
        (M, N, K),
        (in_dtype, acc_dtype, out_dtype),
        (*tile, block_k),
        batch=batch,
        transpose_a=transpose_a,
        transpose_b=transpose_b,
        epilogue=epilogue,
        split_k=split_k,
        whole=_ALIGNED // item_bytes(in_dtype),
        # Threads take ten times as long to store a tile as TMA, and half as long again as to copy it.
        whole_rows=_ALIGNED // item_bytes(out_dtype) if has_whole_tile else 1,
        swap_ab=swap_ab,
        k_major=k_major,
    )
    tile_by_wgmma(
        product.schedule,
        product.tiled,
        product.sums,
        product.factors,
        instruction,
        sources=product.sources if k_major else (product.A, product.B),
        extents=(M, N, split_k if batch is None else batch),
        transposed=(a_turned, b_turned),
        tile=tile,
        has_whole_tile=split_k > 1 or has_whole_tile,
        promote=promote,
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
    )
    if dependent:
        product.schedule.launch(dependent=True)
    return product.schedule, [product.A, product.B, *operands, product.C]


def tile_by_wgmma(
    s: Schedule,
    tiled: Tensor,
    P: Tensor,
    factors: Sequence[Tensor],
    instruction: TensorIntrin,
    *,
    sources: Sequence[Tensor],
    extents: Sequence[Extent],
    transposed: tuple[bool, bool],
    tile: tuple[int, int],
    has_whole_tile: bool,
    promote: int = 0,
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
    swap_ab: bool = False,
) -> None:
    """Schedules a matmul in whole tiles as `matmul_wgmma` says, whose options these are.

    `P` accumulates along its one reduction axis, and `tiled` stores the result. `factors` are A and B as stages of
    their own, each made of one of `sources`. The last two axes of each are its rows and columns. Their numbers are the
    first two of `extents`; the third is the number of such matmuls. `has_whole_tile` if at least one tile of the result
    is whole.
    """
    device = current()
    shared_limit = device.shared_bytes_per_block - _BARRIERS
    if blocks == 0:
        blocks = device.sms
    M, N, _ = extents
    m, n = tile[::-1] if swap_ab else tile
    warpgroups, block_k = m // 64, _SPAN // item_bytes(factors[0].dtype)
    made, transpose_a, transpose_b = item_bytes(tiled.dtype), *transposed
    # TMA stores rows of multiples of 16 bytes, of tiles that are whole somewhere, in panels that divide them.
    span = gcd(tile[1] * made, _SPAN)
    is_copied = divisor_of(tiled.shape[-1]) * made % _ALIGNED == 0 and span >= _LEAST_SPAN
    is_copied = is_copied and has_whole_tile
    stored = s.cache_write(tiled, "shared") if is_copied else tiled
    *outer, i, j = s[tiled].op.axis
    if len(outer) > 1:
        outer = [s[tiled].fuse(*outer)]
    down, i = s[tiled].split(i, factor=tile[0])
    along, j = s[tiled].split(j, factor=tile[1])
    by, bx = (along, down) if swap_ab else (down, along)
    s[tiled].reorder(*outer, by, bx, i, j)
    for axis, tag in zip((*outer, by, bx), ("blockIdx.z", "blockIdx.y", "blockIdx.x")[-2 - len(outer) :], strict=True):
        s[tiled].bind(axis, thread_axis(tag))
    s[tiled].env_threads([thread_axis((0, 128), "threadIdx.x")])
    if registers is None:
        registers = registers_of(warpgroups * consumers)
    if deferred is None:
        # A thread has an element of every two columns: the sum, of this tile, and C, of the one before.
        held = n * (item_bytes(P.dtype) + made) // 8 + _OTHER_REGISTERS
        tiles = _count(extents, (*tile, 1))
        takes_several = blocks is not None and (tiles is None or tiles > blocks)
        is_fast = n > _NARROW and specialize and consumers == 1 and not promote
        deferred = takes_several and is_fast and held <= registers[1]
    sets = m * n * consumers  # elements of C that are on their way
    shared = 0
    if is_copied:
        s[stored].compute_at(s[tiled], bx)
        i, j = s[stored].op.axis[-2:]
        if columns is None:
            # All, if there is as much of factors on its way as hides memory, or at most two panels that divide them, of
            # which one is written to while the other is stored.
            panel = gcd(n, span // made)
            is_small = sets * made <= shared_limit - _ENOUGH * (m + n) * _SPAN
            columns = n if is_small else panel * (2 - n // panel % 2)
        shared = sets // n * columns * made
        s[tiled].copy_by("tma", swizzle=span, columns=columns, deferred=deferred)
    warpgroup, of_warpgroup = s[stored].split(j if swap_ab else i, factor=64)
    if swap_ab:
        s[stored].reorder(warpgroup, i, of_warpgroup)
    s[stored].bind(warpgroup, thread_axis("threadIdx.y"))

    s[P].set_scope("local")
    s[P].compute_at(s[stored], warpgroup)
    *_, i, j = s[P].op.axis
    ko, ki = s[P].split(s[P].op.reduce_axis[0], factor=block_k)
    s[P].reorder(ko, i, j, ki)
    s[P].tensorize(i, instruction)
    # Where a factor's rows are rows or columns of the tile, panels are what divides them.
    goes_along = transpose_a, not transpose_b
    spans = [
        gcd(of * item_bytes(factors[0].dtype), _SPAN) if goes else _SPAN
        for of, goes in zip(tile, goes_along, strict=True)
    ]
    for stage, panel in zip(factors, spans, strict=True):
        s[stage].set_scope("shared")
        s[stage].compute_at(s[P], ko)
        s[stage].copy_by("tma", swizzle=panel)
    s[P].software_pipeline(ko, stages or max(2, min((shared_limit - shared) // ((m + n) * _SPAN), _MAX_STAGES)))
    if specialize:
        s[P].specialize(ko, *registers, consumers=consumers)

    if cluster is None:
        # What blocks share they wait for together. It pays where rows do not begin at lines of the cache, of which
        # TMA then reads one more for each: of many tiles one more costs little.
        rows = [_bytes_of_rows(factor) for factor in sources]
        straddles = any(row % _ALIGNED == 0 and row % _LINE for row in rows)
        pairs = [straddles and _go_in_pairs(extent, size) for extent, size in zip((M, N), tile, strict=True)]
        cluster = (2, 1) if pairs[0] else (1, 2) if pairs[1] else (1, 1)
    for axis, size in zip((down, along), cluster, strict=True):
        if size > 1:
            s[tiled].cluster(axis, size)
    if blocks is not None:
        clusters = _count(extents, (tile[0] * cluster[0], tile[1] * cluster[1], 1))
        if not stream_k and not narrower and clusters is not None:
            # As few as need as many waves: blocks without a tile in the last wave only take power.
            waves = -(-clusters // max(1, blocks // prod(cluster)))
            blocks = -(-clusters // waves) * prod(cluster)
        # What runs at once is as high as it is wide, so that it reads the least.
        group = group or max(1, round(sqrt(blocks * n / m)))
        if raster == "hilbert":
            group = 1 << (group.bit_length() - 1)
        order: dict[str, Any] = {"stream_k": stream_k, "narrower": narrower, "serpentine_k": serpentine_k}
        s[tiled].persistent(blocks, raster=raster, group=group, **order)


def registers_of(consumers: int) -> tuple[int, int]:
    """The registers of a producer thread, and of a thread of one of so many consumer warpgroups."""
    copying = 40 if consumers < 3 else 24
    # All threads are launched with as many, a multiple of 8; what one that copies gives back the others take.
    each = min(256, current().sm.registers_per_sm // (128 * (consumers + 1)) // 8 * 8)
    return copying, min(240, (each + (each - copying) // consumers) // 8 * 8)


def no_more(size: int, extent: Extent, grain: int) -> int:
    """A tile's rows or columns, no more than there are at most, in whole grains."""
    most = extent.maximum if isinstance(extent, Var) else extent
    return min(size, -(-most // grain) * grain) if isinstance(most, int) else size


def _bytes_of_rows(factor: Tensor) -> int:
    """0 where that is not known."""
    columns = factor.shape[-1]
    return columns * item_bytes(factor.dtype) if isinstance(columns, int) else 0


def _go_in_pairs(extent: Extent, size: int) -> bool:
    """Whether tiles of so many rows or columns leave at most a small share of pairs half empty."""
    if isinstance(extent, int):
        tiles = -(-extent // size)
        return tiles % 2 == 0 or tiles > _MANY
    return isinstance(extent, Var) and -(-extent.minimum // size) > _MANY


def _count(extents: Sequence[Extent], sizes: Sequence[int]) -> int | None:
    """How many of such a size there are, where that is known."""
    count = 1
    for extent, size in zip(extents, sizes, strict=True):
        if not isinstance(extent, int):
            return None
        count *= -(-extent // size)
    return count
