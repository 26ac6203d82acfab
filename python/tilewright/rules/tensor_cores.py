"""Matmuls on tensor cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import gcd

from ..devices import GPU, MOST_BLOCKS_YZ
from ..dtypes import item_bytes
from ..instructions import MMA_SYNC, mma_sync
from ..schedules.matmuls.mma import COPY, tile_by_mma
from ..schedules.matmuls.problem import Problem
from ..schedules.matmuls.timed_candidates import timed_candidates
from ..te import Tensor, Var, thread_axis
from ..te.schedule import Schedule
from ..te.tensor import Extent
from .context import Context, choice
from .contraction import Contraction, contraction_of
from .elementwise import inline
from .facts import extent_of, is_static, length_of
from .groups import Group
from .plan import Decision
from .simt import anchored

__all__ = [
    "TensorCores",
    "as_stored",
    "in_parts",
    "in_whole_tiles",
    "is_in_order",
    "matrices_of",
    "most_parts",
    "problem_of",
    "rows_are_aligned",
    "rows_of",
    "timed_tiles",
    "transposed",
]

_TYPICAL = 1024
# Seconds that a thread takes for each element that it loads by itself, as measured, while so many blocks of an SM do.
_BY_ITSELF, _AT_ONCE = 50e-9, 3
# Threads of a block that adds up parts.
_ADDING = 128

Tile = tuple[tuple[int, int], tuple[int, int], int, int, int]
"""Rows and columns, the warps that share them, the stages of the pipeline, the K tile, and in how many parts blocks
share the loop along K."""


def matrices_of(group: Group) -> Contraction | None:
    """The group's contraction if it is a matmul like that of `matmul_mma`, else None. Its rows may be a symbol.

    What stores its results has its columns as the last axis, and may have the others in any order.
    """
    anchor = group.anchor
    found = contraction_of(anchor) if anchor is not None else None
    if found is None or anchor is None or not found.is_of_matrices:
        return None
    # Of a matrix with a symbolic number of columns no row is known to be aligned.
    if not is_static(anchor.reduced) and transposed(found) != (True, False):
        return None
    if not is_static(anchor.spatial) and (not is_static(anchor.spatial[:-2]) or transposed(found)[0]):
        return None
    return found if group.anchor_axes[-1][-1] == len(group.root.spatial) - 1 else None


def is_in_order(group: Group) -> bool:
    """Whether what stores a contraction's results has its axes in their order."""
    places = [place for some in group.anchor_axes for place in some]
    return places == sorted(places)


def problem_of(found: Contraction, dtype: str = "") -> Problem:
    """The matmul of the innermost rows and columns; what other axes count are as many of them. Tiles for any number of
    rows are those for `_TYPICAL` rows, or for the most that there can be. Its `dtype` is by default the operands'."""
    row, column = found.stage.spatial[-2:]
    M, N, K = (length_of(axis) for axis in (row, column, found.k[0]))
    batch = found.stage.size // (M * N)
    if not is_static(found.stage.spatial):
        M = min(M, _TYPICAL)
    layout = "".join("NT"[is_transposed] for is_transposed in transposed(found))
    return Problem(M, N, K, dtype or found.operand_dtypes[0], layout, batch)


def rows_are_aligned(problem: Problem, found: Contraction) -> tuple[bool, bool]:
    """Of each operand whether the rows of its tensor are multiples of 16 bytes. They may be longer than what is read of
    them."""
    lengths = [access.tensor.shape[-1] for access in (found.a, found.b)]
    a, b = (
        one * problem.item_bytes % COPY == 0 if isinstance(one, int) else is_aligned
        for one, is_aligned in zip(lengths, problem.is_aligned)
    )
    return a, b


def as_stored(problem: Problem, found: Contraction) -> Problem:
    """The matmul that takes as long as this one does. Where rows of a tensor are multiples of 16 bytes, so are the
    extents along them, of which less may be read."""
    step = COPY // problem.item_bytes
    names = "M" if problem.layout[0] == "T" else "K", "K" if problem.layout[1] == "T" else "N"
    for is_aligned, name in zip(rows_are_aligned(problem, found), names):
        if is_aligned:
            problem = replace(problem, **{name: -(-getattr(problem, name) // step) * step})
    return problem


def rows_of(found: Contraction) -> Extent:
    """The rows, or the symbol for them."""
    dom = found.stage.spatial[-2].dom
    return 1 if dom is None else dom.extent


def transposed(found: Contraction) -> tuple[bool, bool]:
    """Of each operand whether it is stored as the transpose of what `matmul_mma` takes."""
    k = found.k[0]
    return found.a.axes[-2] is k, found.b.axes[-1] is k


def in_whole_tiles(s: Schedule, group: Group, found: Contraction, tile: Sequence[int]) -> tuple[Tensor, list[Tensor]]:
    """The matmul padded to whole tiles of this many rows, columns and elements along K, and its operands' stages, A
    first.
    """
    anchor = group.anchor
    assert anchor is not None
    sums = anchor.op.output(0)
    *copies, total = s[sums].pad_einsum([1] * (len(anchor.spatial) - 2) + [*tile])
    by_tensor = dict(zip((tensor.op for tensor in anchor.op.input_tensors), copies))
    for operand in group.operands:
        s[operand.op.output(0)].compute_inline()
    if anchor is not group.root:
        s[sums].compute_inline()
    return total, [by_tensor[access.tensor.op] for access in (found.a, found.b)]


def most_parts(found: Contraction, problem: Problem) -> int:
    """In how many parts blocks may share loops along K. Parts of any number of rows could take any memory."""
    rows = rows_of(found)
    is_bounded = found.stage.is_static or isinstance(rows, Var) and rows.maximum == problem.M
    return MOST_BLOCKS_YZ // problem.batch if is_bounded else 1


def in_parts(s: Schedule, root: Tensor, total: Tensor, parts: int) -> tuple[Tensor, Tensor]:
    """Sums along K in so many parts, and what adds up one part.

    A second kernel adds up the parts, a thread those of a result.
    """
    part, _ = s[total].split(s[total].op.reduce_axis[0], nparts=parts)
    stored = s.rfactor(total, part)
    assert not isinstance(stored, tuple)
    sums = s.cache_write(stored, "local")
    assert not isinstance(sums, list)
    block, thread = s[root].split(s[root].fuse(*s[root].op.axis), factor=_ADDING)
    s[root].bind(block, thread_axis("blockIdx.x"))
    s[root].bind(thread, thread_axis("threadIdx.x"))
    s[total].set_scope("local")
    s[total].compute_at(s[root], thread)
    s[total].unroll(s[total].op.reduce_axis[0])
    return stored, sums


def timed_tiles(
    problem: Problem, gpu: GPU, sums: str, *, loads_one_by_one: bool = False, parts: int = 1
) -> dict[Tile, float]:
    """The tiles of a matmul with sums of such a type, with the seconds that each may take, the fastest first.

    Operands are read as they lie, where threads have registers for elements that they load one by one. With
    `loads_one_by_one`, no elements of operand A lie together in memory. Loops along K are in at most `parts`.
    """
    seconds: dict[Tile, float] = {}
    timed = timed_candidates(problem, gpu, "matmul_mma")
    as_they_lie = [one for one in timed if one[0].options.get("pad") == (False, False)]
    for one, time in as_they_lie or timed:
        options = one.options
        split_k = options.get("split_k", 1)
        if split_k > parts:
            continue
        block_k = options.get("block_k", 8 * COPY // problem.item_bytes)
        if block_k % MMA_SYNC[problem.dtype, sums] == 0:
            if loads_one_by_one:
                time += _loading_one_by_one(problem, gpu, options["tile"], options["warps"])
            seconds[options["tile"], options["warps"], options["stages"], block_k, split_k] = time
    return dict(sorted(seconds.items(), key=lambda one: one[1]))


def _loading_one_by_one(problem: Problem, gpu: GPU, tile: tuple[int, int], warps: tuple[int, int]) -> float:
    """What a thread takes to load its elements of operand A, in each block of an SM."""
    of_thread = tile[0] * problem.K / (32 * warps[0] * warps[1])
    return _BY_ITSELF * of_thread * -(-problem.tiles(tile) // (gpu.sms * _AT_ONCE))


class TensorCores:
    """A block of warps computes a tile of the results by ``mma.sync``.

    Meanwhile ``cp.async`` loads the next K tiles of the operands to shared memory. Extents are padded to whole tiles,
    with zeros that are not stored. With few tiles, several blocks share the loop along K of each. A second kernel adds
    up what they have, and computes what is made of the results.
    """

    name = "tensor cores"

    def decide(self, context: Context, group: Group) -> Decision | None:
        found = matrices_of(group)
        gpu = context.gpu
        if found is None or gpu is None or "mma.sync" not in gpu.features:
            return None
        a, b = found.factor_dtypes
        types = a, found.stage.op.dtype
        if a != b or types not in MMA_SYNC or a.startswith("float8") and "mma.sync.f8" not in gpu.features:
            return None
        problem = problem_of(found, a)
        if problem.batch > MOST_BLOCKS_YZ or -(-problem.M // 16) > MOST_BLOCKS_YZ:
            return None
        parts = most_parts(found, problem)
        seconds = timed_tiles(as_stored(problem, found), gpu, types[1], parts=parts)
        fitting = list(seconds)
        if not fitting:
            return None
        return Decision(
            self.name,
            group.names,
            f"{rows_of(found)} rows, {problem.N} columns, K {problem.K}, {a} with sums in {types[1]}"
            + (f", {problem.batch} of them" if problem.batch > 1 else ""),
            (
                choice("tile", fitting[0], fitting),
                choice("group", 8 if problem.M > 8 * fitting[0][0][0] else 1, (1, 4, 8)),
            ),
            seconds[fitting[0]],
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        found = matrices_of(group)
        anchor = group.anchor
        assert found is not None and anchor is not None
        tile, warps, stages, block_k, split_k = decision["tile"]
        inline(s, group)
        in_dtype, acc_dtype = found.factor_dtypes[0], anchor.op.dtype
        total, operands = in_whole_tiles(s, group, found, (*tile, block_k * split_k))
        root = group.root.op.output(0)
        last, sums = (root, total) if split_k == 1 else in_parts(s, root, total, split_k)
        of_transposed = transposed(found)
        granule = COPY // item_bytes(in_dtype)
        tensors = [access.tensor for access in (found.a, found.b)]
        lengths = [context.program.together.get(one.op, extent_of(one.shape[-1])) for one in tensors]
        # What does not lie together is loaded element by element, and stored to shared memory in vectors all the same.
        is_async = all(
            operand.op in context.program.together and not group.is_computed(operand) for operand in group.operands
        ) and all(gcd(granule, length) * item_bytes(in_dtype) >= 4 for length in lengths)
        widths = [
            gcd(granule, length if length > 1 or is_async else extent_of(one.shape[-1]))
            for one, length in zip(tensors, lengths)
        ]
        tile_by_mma(
            s,
            last,
            sums,
            operands,
            mma_sync(in_dtype, acc_dtype, transpose_a=of_transposed[0], transpose_b=of_transposed[1]),
            k_is_in_rows=(not of_transposed[0], of_transposed[1]),
            widths=widths,
            instruction_k=MMA_SYNC[in_dtype, acc_dtype],
            tile=tile,
            block_k=block_k,
            warps=warps,
            stages=stages,
            group=decision["group"],
            axes=anchored(s[root], group) if last is root else None,
            is_async=is_async,
        )
