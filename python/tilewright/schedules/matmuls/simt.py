"""Matmuls without tensor cores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import TilewrightValueError as ValueError
from ...target import current_gpu
from ...te import Expr, IterVar, Tensor, compute, if_then_else, placeholder, reduce_axis, sum, thread_axis
from ...te import all as all_of
from ...te.schedule import Schedule, Stage, create_schedule
from ..sizes import sizes
from ..workspaces import add_up
from .problem import Problem
from .simt_tiles import Lanes, fastest_tiles, lanes_of

__all__ = ["fetch", "multiply_tiles", "sgemm"]

# Blocks that an SM runs at once.
_OF_AN_SM = 2
# Below this many K tiles a block spends more time on its start and its end than on the matmul.
MIN_STEPS = 32


@sizes(M=0, N=0, K=0)
def sgemm(
    M: int,
    N: int,
    K: int,
    *,
    batch: int | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    epilogue: Callable[..., Expr] | None = None,
    operands: Sequence[Tensor] = (),
    out_dtype: str = "float32",
    tile: tuple[int, int] | None = None,
    block_k: int | None = None,
    lanes: int | None = None,
    split_k: int | None = None,
    stages: int = 2,
) -> tuple[Schedule, list[Tensor]]:
    """C = A B in float32, row-major: A is M x K, B is K x N, C is M x N. An operand that is transposed is stored as
    K x M (`transpose_a`), or N x K (`transpose_b`). With `batch`, each of the three is that many matrices.

    A thread block computes a `tile` of C, and each thread `lanes` x `lanes` of it, in groups of 4 x 4. Neighbouring
    threads read neighbouring words. The K tile is `block_k`. The next K tile is loaded to registers while the current
    one is multiplied. It is then stored to the other half of the shared buffers, so a K tile needs one barrier. An
    operand that is contiguous along k is transposed on its way to shared memory. Elements of a tile outside of A and B
    are zero, and the rest of the kernel needs no predicates. With more than two `stages`, ``cp.async`` copies so many
    K tiles less one ahead, which takes no registers (sm_80 and up).

    Where C has too few tiles to fill a GPU, `split_k` blocks share the K loop of each tile; a second kernel adds their
    results. Options that are not given are the fastest by a model. A long matmul of at most 16 rows, with a B that is
    not transposed, uses tiles as high as A. It loads columns of B directly to the registers of the one thread that
    needs them.

    `epilogue` is a function of the accumulator and of the indices of its element. It may read `operands`, the arguments
    between B and C. Its result is cast to `out_dtype`.

    Raises
    ------
    ValueError
        Where `lanes` is no multiple of 4, or does not divide `tile`; where `block_k` is no multiple of 4; where
        `split_k` is not positive; where there are fewer than two `stages`.

    >>> import tilewright as tw
    >>> func = tw.build(*sgemm(256, 256, 256, tile=(128, 128)), target="cuda -arch=sm_90a", name="sgemm")
    >>> ".reqntid 16, 16, 1" in func.ptx
    True
    """
    if split_k is not None and split_k < 1:
        raise ValueError(f"expected a positive split_k, got {split_k}")
    if stages < 2:
        raise ValueError(f"expected at least 2 stages, got {stages}")
    is_large = tile is None or min(tile) >= 64 and tile[0] * tile[1] >= 8192
    own, shown, step = lanes or (8 if is_large else 4), tile or (128, 128), 8 if block_k is None else block_k
    if own % 4 or shown[0] % own or shown[1] % own or step % 4 or step < 1:
        raise ValueError(
            f"expected lanes that are a multiple of 4 and divide the tile, and a block_k that is a multiple of 4, got "
            f"lanes {own}, tile {shown} and block_k {step}"
        )
    what = _What(M, N, K, batch, transpose_a, transpose_b, epilogue, tuple(operands), out_dtype)
    if tile is None and what.is_plain and M <= 16 and stages == 2 and (split_k is not None or _fills_by_columns(what)):
        return _few_rows(what, split_k)
    of_thread: Lanes = own
    if tile is None:
        tile, of_thread, step, split_k = fastest_tiles(what.problem, block_k, lanes, split_k)
    tiles = -(-M // tile[0]) * -(-N // tile[1]) * (batch or 1)
    split_k = split_k or _power_of_two(min(_OF_AN_SM * current_gpu().sms // tiles, K // (MIN_STEPS * step)))
    s, tensors, At, Bs, Cl, last = _products(what, tile, step, split_k)
    # What is beyond the matrix begins at a multiple of four where its rows do.
    is_whole = N % 4 == 0 and out_dtype == "float32" and not operands
    multiply_tiles(s, last, Cl, (At, Bs), tile, step, of_thread, is_whole=is_whole, stages=stages)

    # All threads of the block fetch, neighbours what lies together.
    rows, columns = lanes_of(of_thread)
    threads = tile[0] // rows, tile[1] // columns
    _fetch(s[At], not transpose_a, (M, K)[not transpose_a], threads, stages > 2)
    _fetch(s[Bs], transpose_b, (N, K)[transpose_b], threads, stages > 2)
    return s, tensors


def _fetch(stage: Stage, is_along_k: bool, row: int, threads: tuple[int, int], is_async: bool) -> None:
    """A tile of an operand, K tile by rows or columns of C, of which neighbours lie together along one of the two. Four
    at a time are fetched where no predicate can part them: tiles and K tiles begin at multiples of four. What is stored
    across is copied one by one if no register holds it."""
    *outer, k, i = stage.op.axis
    is_whole = row % 4 == 0
    if is_along_k:
        stage.storage_align(k, 32, 4)
        four = _split_four(stage, k, is_whole and not is_async)
        stage.reorder(*outer, i, *four)
        fetch(stage, stage.fuse(*outer, i, four[0]), four[1:], *threads)
    else:
        four = _split_four(stage, i, is_whole)
        fetch(stage, stage.fuse(*outer, k, four[0]), four[1:], *threads)


def multiply_tiles(
    s: Schedule,
    last: Tensor,
    Cl: Tensor,
    operands: tuple[Tensor, Tensor],
    tile: tuple[int, int],
    block_k: int,
    lanes: Lanes,
    *,
    is_whole: bool,
    axes: Sequence[IterVar] | None = None,
    stages: int = 2,
) -> None:
    """Schedules a matmul like `sgemm`: `Cl` accumulates along its one reduction axis, and `last` stores the result.

    `operands` are the stages in shared memory; the caller schedules their own loops (`fetch`). The last two axes of
    `last` are the matrix's, and the axis before them counts matmuls, or parts of split-K. `axes` are these where `last`
    has others. `is_whole` if tiles divide the columns.
    """
    own_rows, own_columns = lanes_of(lanes)
    threads_y, threads_x = tile[0] // own_rows, tile[1] // own_columns
    locals_ = [s.cache_read(shared, "local", [Cl]) for shared in operands]
    *outer, i, j = axes or s[last].op.axis
    if len(outer) > 1:
        outer = [s[last].fuse(*outer)]
    by, i = s[last].split(i, factor=tile[0])
    bx, j = s[last].split(j, factor=tile[1])
    vy, i = s[last].split(i, nparts=own_rows // 4)
    vx, j = s[last].split(j, nparts=own_columns // 4)
    ty, i = s[last].split(i, nparts=threads_y)
    tx, j = s[last].split(j, nparts=threads_x)
    s[last].reorder(*outer, by, bx, vy, vx, ty, tx, i, j)
    for axis, tag in zip((*outer, by, bx, vy, vx, ty, tx), ("blockIdx.z",) * len(outer) + _TAGS, strict=True):
        s[last].bind(axis, thread_axis(tag))
    if is_whole:
        s[last].vectorize(j)
    resident = {64: 512, 96: 256}.get(own_rows * own_columns, 0) // (threads_y * threads_x)
    if resident:
        s[last].launch_bounds(resident)

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
    s[Cl].software_pipeline(ko, stages, use_async=stages > 2)


_TAGS = ("blockIdx.y", "blockIdx.x", "vthread", "vthread", "threadIdx.y", "threadIdx.x")


@dataclass(frozen=True, slots=True)
class _What:
    """A matmul: its extents, how its operands are stored, and what becomes of its sums."""

    M: int
    N: int
    K: int
    batch: int | None
    transpose_a: bool
    transpose_b: bool
    epilogue: Callable[..., Expr] | None
    operands: tuple[Tensor, ...]
    out_dtype: str

    @property
    def problem(self) -> Problem:
        layout = "NT"[self.transpose_a] + "NT"[self.transpose_b]
        return Problem(self.M, self.N, self.K, "float32", layout, self.batch or 1)

    @property
    def is_plain(self) -> bool:
        return self.batch is None and not (self.transpose_a or self.transpose_b)

    def result(self, value: Expr, *at: Any) -> Expr:
        return (self.epilogue(value, *at) if self.epilogue else value).astype(self.out_dtype)


def _products(
    what: _What, tile: tuple[int, int], block_k: int, split_k: int
) -> tuple[Schedule, list[Tensor], Tensor, Tensor, Tensor, Tensor]:
    """The expression, in whole tiles and steps: the schedule, the arguments, A and B in shared memory, the sums in
    registers, and the stage that stores them."""
    M, N, K = what.M, what.N, what.K
    rows, columns = -(-M // tile[0]) * tile[0], -(-N // tile[1]) * tile[1]
    chunk = -(-K // (split_k * block_k)) * block_k
    padded_k = chunk * split_k
    some = () if what.batch is None else (what.batch,)
    A = placeholder((*some, *((K, M) if what.transpose_a else (M, K))), name="A")
    B = placeholder((*some, *((N, K) if what.transpose_b else (K, N))), name="B")

    def inside(value: Expr, i: Expr, has_rows: bool, k: Expr, limit: int) -> Expr:
        conditions = ([i < limit] if has_rows else []) + ([k < K] if padded_k != K else [])
        return if_then_else(all_of(*conditions), value, 0.0) if conditions else value

    def of_a(*at: Any) -> Expr:
        *some, k, i = at
        return inside(A[(*some, k, i) if what.transpose_a else (*some, i, k)], i, rows != M, k, M)

    def of_b(*at: Any) -> Expr:
        *some, k, j = at
        return inside(B[(*some, j, k) if what.transpose_b else (*some, k, j)], j, columns != N, k, N)

    At = compute((*some, padded_k, rows), of_a, name="At")
    Bs = compute((*some, padded_k, columns), of_b, name="Bs")
    # What is stored four at a time has to stand in four registers side by side. Added to zero it does so in others than
    # the accumulators, which the assembler can then put where the operands of a multiplication come from other banks
    # (on an H200 in a tenth less time).
    k = reduce_axis((0, chunk), "k")

    def accumulated(at: Sequence[Any], place: Expr) -> Expr:
        *some, i, j = at
        return sum(At[(*some, place, i)] * Bs[(*some, place, j)], axis=k)

    total = None
    if split_k == 1:
        Cl = compute((*some, rows, columns), lambda *at: accumulated(at, k), name="Cl")
        C = last = compute((*some, M, N), lambda *at: what.result(Cl[at] + 0.0, *at), name="C")
    else:
        p = reduce_axis((0, split_k), "p")

        def of_part(p: Expr, *at: Expr) -> Expr:
            return accumulated(at, p * chunk + k)

        Cl = compute((split_k, *some, rows, columns), of_part, name="Cl")
        last = compute((split_k, *some, M, N), lambda *at: Cl[at] + 0.0, name="P")
        sums = total = compute((*some, M, N), lambda *at: sum(last[(p, *at)], axis=p), name="total")
        C = compute((*some, M, N), lambda *at: what.result(sums[at], *at), name="C")
    s = create_schedule(C.op)
    s[At].set_scope("shared")
    s[Bs].set_scope("shared")
    s[Cl].set_scope("local")
    if total is not None:
        add_up(s, C, total)
    return s, [A, B, *what.operands, C], At, Bs, Cl, last


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


def _fills_by_columns(what: _What) -> bool:
    """Whether threads of four columns each, in parts of K that are worth a block, have work for all SMs."""
    return -(-what.N // 512) * (what.K // 128) >= _OF_AN_SM * current_gpu().sms


def _few_rows(what: _What, split_k: int | None) -> tuple[Schedule, list[Tensor]]:
    """Each thread computes four columns of C, in as many parts along k as give twice as many blocks."""
    M, N, K = what.M, what.N, what.K
    rows, threads, block_k = -(-M // 4) * 4, 128, 32
    tiles = -(-N // (4 * threads))
    split_k = split_k or _power_of_two(min(2 * _OF_AN_SM * current_gpu().sms // tiles, K // (4 * block_k)))
    s, tensors, At, Bl, Cl, last = _products(what, (rows, 4 * threads), block_k, split_k)
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
