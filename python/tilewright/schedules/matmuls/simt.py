"""Matmuls without tensor cores."""

from __future__ import annotations

from ...devices import current
from ...errors import TilewrightValueError as ValueError
from ...te import Expr, IterVar, Tensor, compute, if_then_else, placeholder, reduce_axis, sum, thread_axis
from ...te import all as all_of
from ...te.schedule import Schedule, Stage, create_schedule

__all__ = ["fetch", "multiply_tiles", "sgemm"]

# Blocks that an SM runs at once.
_OF_AN_SM = 2
# Below this many K tiles a block spends more time on its start and its end than on the matmul.
MIN_STEPS = 32


def sgemm(
    M: int,
    N: int,
    K: int,
    *,
    tile: tuple[int, int] = (128, 128),
    block_k: int = 8,
    lanes: int = 8,
    split_k: int | None = None,
) -> tuple[Schedule, list[Tensor]]:
    """C = A B in float32, row-major: A is M x K, B is K x N, C is M x N.

    A thread block computes a `tile` of C, each thread `lanes` x `lanes` of it, in groups of 4 x 4: neighbouring threads
    read neighbouring words. The K tile is `block_k`. The next K tile is loaded to registers while the current one is
    multiplied; it is stored to the other half of the shared buffers, so that a K tile needs one barrier. A is
    transposed on its way to shared memory. Elements of a tile outside of A and B are zero, and the rest of the kernel
    needs no predicates.

    Where C has too few tiles to fill a GPU, `split_k` blocks share the K loop of each tile; a second kernel adds their
    results. A matmul of at most 16 rows takes tiles as high as A, and loads columns of B straight to the registers of
    the one thread that needs them.

    Raises
    ------
    ValueError
        Where `lanes` is no multiple of 4, or does not divide `tile`; where `block_k` is no multiple of 4; where
        `split_k` is not positive.

    >>> import tilewright as tw
    >>> func = tw.build(*sgemm(256, 256, 256), target="cuda -arch=sm_90a", name="sgemm")
    >>> ".reqntid 16, 16, 1" in func.ptx
    True
    """
    if lanes % 4 or tile[0] % lanes or tile[1] % lanes or block_k % 4:
        raise ValueError(
            f"expected lanes that are a multiple of 4 and divide the tile, and a block_k that is a multiple of 4, got "
            f"lanes {lanes}, tile {tile} and block_k {block_k}"
        )
    if split_k is not None and split_k < 1:
        raise ValueError(f"expected a positive split_k, got {split_k}")
    if M <= 16 and tile == (128, 128):
        return _few_rows(M, N, K, split_k)

    tiles = -(-M // tile[0]) * -(-N // tile[1])
    split_k = split_k or _power_of_two(min(_OF_AN_SM * current().sms // tiles, K // (MIN_STEPS * block_k)))
    s, tensors, At, Bs, Cl, last = _products(M, N, K, tile, block_k, split_k)
    multiply_tiles(s, last, Cl, (At, Bs), tile, block_k, lanes, is_whole=N % tile[1] == 0)

    # All threads of the block fetch, neighbours what lies together: of A along k, of B along j.
    threads_y, threads_x = tile[0] // lanes, tile[1] // lanes
    k, i = s[At].op.axis
    s[At].storage_align(k, 32, 4)
    four = _split_four(s[At], k, M % tile[0] == 0 and K % (block_k * split_k) == 0)
    s[At].reorder(i, *four)
    fetch(s[At], s[At].fuse(i, four[0]), four[1:], threads_y, threads_x)
    k, j = s[Bs].op.axis
    four = _split_four(s[Bs], j, N % tile[1] == 0 and K % (block_k * split_k) == 0)
    fetch(s[Bs], s[Bs].fuse(k, four[0]), four[1:], threads_y, threads_x)
    return s, tensors


def multiply_tiles(
    s: Schedule,
    last: Tensor,
    Cl: Tensor,
    operands: tuple[Tensor, Tensor],
    tile: tuple[int, int],
    block_k: int,
    lanes: int,
    *,
    is_whole: bool,
) -> None:
    """Schedules a product as `sgemm` says: `last` stores what `Cl` sums up along its one reduction axis of `operands`,
    the stages in shared memory, whose own loops are left to the caller (`fetch`). The last two axes of `last` are the
    product's, the one before them counts products or parts of them. `is_whole` where tiles divide the columns."""
    threads_y, threads_x = tile[0] // lanes, tile[1] // lanes
    locals_ = [s.cache_read(shared, "local", [Cl]) for shared in operands]
    *outer, i, j = s[last].op.axis
    by, i = s[last].split(i, factor=tile[0])
    bx, j = s[last].split(j, factor=tile[1])
    vy, i = s[last].split(i, nparts=lanes // 4)
    vx, j = s[last].split(j, nparts=lanes // 4)
    ty, i = s[last].split(i, nparts=threads_y)
    tx, j = s[last].split(j, nparts=threads_x)
    s[last].reorder(*outer, by, bx, vy, vx, ty, tx, i, j)
    for axis, tag in zip((*outer, by, bx, vy, vx, ty, tx), ("blockIdx.z",) * len(outer) + _TAGS, strict=True):
        s[last].bind(axis, thread_axis(tag))
    if is_whole:
        s[last].vectorize(j)
    if lanes == 8 and threads_y * threads_x <= 512:
        s[last].launch_bounds(512 // (threads_y * threads_x))

    s[Cl].compute_at(s[last], tx)
    *_, i, j = s[Cl].op.axis
    ko, ki = s[Cl].split(s[Cl].op.reduce_axis[0], factor=block_k)
    s[Cl].reorder(ko, ki, j, i)
    for axis in (ki, j, i):
        s[Cl].unroll(axis)
    for shared in operands:
        s[shared].compute_at(s[Cl], ko)
    for local in locals_:
        s[local].compute_at(s[Cl], ki)
    s[Cl].software_pipeline(ko, stages=2)


_TAGS = ("blockIdx.y", "blockIdx.x", "vthread", "vthread", "threadIdx.y", "threadIdx.x")


def _products(
    M: int, N: int, K: int, tile: tuple[int, int], block_k: int, split_k: int
) -> tuple[Schedule, list[Tensor], Tensor, Tensor, Tensor, Tensor]:
    """The expression, in whole tiles and steps: the schedule, the arguments, A and B in shared memory, the sums in
    registers, and the stage that stores them."""
    rows, columns = -(-M // tile[0]) * tile[0], -(-N // tile[1]) * tile[1]
    chunk = -(-K // (split_k * block_k)) * block_k
    padded_k = chunk * split_k
    A, B = placeholder((M, K), name="A"), placeholder((K, N), name="B")

    def inside(value: Expr, i: Expr, has_rows: bool, k: Expr, limit: int) -> Expr:
        conditions = ([i < limit] if has_rows else []) + ([k < K] if padded_k != K else [])
        return if_then_else(all_of(*conditions), value, 0.0) if conditions else value

    At = compute((padded_k, rows), lambda k, i: inside(A[i, k], i, rows != M, k, M), name="At")
    Bs = compute((padded_k, columns), lambda k, j: inside(B[k, j], j, columns != N, k, N), name="Bs")
    # What is stored four at a time has to stand in four registers side by side. Added to zero it does so in others than
    # the accumulators, which the assembler can then put where the operands of a multiplication come from other banks
    # (on an H200 in a tenth less time).
    k = reduce_axis((0, chunk), "k")
    if split_k == 1:
        Cl = compute((rows, columns), lambda i, j: sum(At[k, i] * Bs[k, j], axis=k), name="Cl")
        C = last = compute((M, N), lambda i, j: Cl[i, j] + 0.0, name="C")
    else:
        p = reduce_axis((0, split_k), "p")
        Cl = compute(
            (split_k, rows, columns),
            lambda p, i, j: sum(At[p * chunk + k, i] * Bs[p * chunk + k, j], axis=k),
            name="Cl",
        )
        last = compute((split_k, M, N), lambda p, i, j: Cl[p, i, j] + 0.0, name="P")
        C = compute((M, N), lambda i, j: sum(last[p, i, j], axis=p), name="C")
    s = create_schedule(C.op)
    s[At].set_scope("shared")
    s[Bs].set_scope("shared")
    s[Cl].set_scope("local")
    if split_k > 1:
        block, thread = s[C].split(s[C].fuse(*s[C].op.axis), factor=256)
        s[C].bind(block, thread_axis("blockIdx.x"))
        s[C].bind(thread, thread_axis("threadIdx.x"))
        s[C].unroll(s[C].op.reduce_axis[0])
    return s, [A, B, C], At, Bs, Cl, last


def _split_four(stage: Stage, axis: IterVar, is_whole: bool) -> list[IterVar]:
    """Four elements at a time along `axis`, where no predicate can part them."""
    return list(stage.split(axis, factor=4)) if is_whole else [axis]


def fetch(stage: Stage, fused: IterVar, four: list[IterVar], threads_y: int, threads_x: int) -> None:
    """All threads of the block compute the elements along `fused`, in turns."""
    fused, tx = stage.split(fused, factor=threads_x)
    fused, ty = stage.split(fused, factor=threads_y)
    stage.unroll(fused)
    stage.bind(ty, thread_axis("threadIdx.y"))
    stage.bind(tx, thread_axis("threadIdx.x"))
    for axis in four:
        stage.vectorize(axis)


def _power_of_two(limit: int) -> int:
    """The largest power of two up to `limit`: of all numbers it is the likeliest to divide K."""
    return 1 << max(1, limit).bit_length() - 1


def _few_rows(M: int, N: int, K: int, split_k: int | None) -> tuple[Schedule, list[Tensor]]:
    """Each thread computes four columns of C, in as many parts along k as give twice as many blocks."""
    rows, threads, block_k = -(-M // 4) * 4, 128, 32
    tiles = -(-N // (4 * threads))
    split_k = split_k or _power_of_two(min(2 * _OF_AN_SM * current().sms // tiles, K // (4 * block_k)))
    s, tensors, At, Bl, Cl, last = _products(M, N, K, (rows, 4 * threads), block_k, split_k)
    s[Bl].set_scope("local")
    Al = s.cache_read(At, "local", [Cl])

    *outer, i, j = s[last].op.axis
    bx, j = s[last].split(j, factor=4 * threads)
    tx, j = s[last].split(j, factor=4)
    s[last].reorder(*outer, bx, tx, i, j)
    for axis, tag in zip((*outer, bx, tx), ("blockIdx.y",) * len(outer) + ("blockIdx.x", "threadIdx.x"), strict=True):
        s[last].bind(axis, thread_axis(tag))
    s[last].unroll(i)
    s[last].launch_bounds(4)

    s[Cl].compute_at(s[last], tx)
    *_, i, j = s[Cl].op.axis
    ko, ki = s[Cl].split(s[Cl].op.reduce_axis[0], factor=block_k)
    kb, ki = s[Cl].split(ki, factor=8)
    s[Cl].reorder(ko, kb, ki, i, j)
    for axis in (kb, ki, i, j):
        s[Cl].unroll(axis)
    s[At].compute_at(s[Cl], ko)
    s[Bl].compute_at(s[Cl], kb)
    s[Al].compute_at(s[Cl], ki)
    s[Cl].software_pipeline(ko, stages=2)
    k, j = s[Bl].op.axis
    s[Bl].unroll(k)
    if N % (4 * threads) == 0 and K % (block_k * split_k) == 0:
        s[Bl].vectorize(j)
    k, i = s[At].op.axis
    s[At].storage_align(k, 32, 4)
    s[At].reorder(i, k)
    fused, tx = s[At].split(s[At].fuse(i, k), factor=threads)
    s[At].unroll(fused)
    s[At].bind(tx, thread_axis("threadIdx.x"))
    return s, tensors
