"""Matmuls of float32 as `schedules.matmuls.sgemm` has them."""

from __future__ import annotations

from functools import partial

from ..devices import MOST_BLOCKS_YZ
from ..schedules.matmuls.simt import fetch, multiply_tiles
from ..schedules.matmuls.simt_tiles import lanes_of, tiles_for
from ..te import Expr, Tensor, indexdiv
from ..te.schedule import Schedule, Stage
from .context import Context, choice
from .elementwise import inline
from .facts import extent_of
from .groups import Group
from .plan import Decision
from .simt import anchored
from .tensor_cores import in_parts, in_whole_tiles, matrices_of, most_parts, problem_of, rows_of, transposed

__all__ = ["VectorTiles"]

# The settings that are worth a tuner's time, of those that the model takes for the fastest.
_SETTINGS = 24


class VectorTiles:
    """A block computes a tile of the results, and a thread 4 x 4 or 8 x 8 of it, from vectors in shared memory.

    With few tiles, several blocks share the loop along K of each. A second kernel adds up what they have, and computes
    what is made of the results.
    """

    name = "tiles of vectors"

    def decide(self, context: Context, group: Group) -> Decision | None:
        found, gpu = matrices_of(group), context.gpu
        if found is None or gpu is None or {*found.operand_dtypes, found.stage.op.dtype} != {"float32"}:
            return None
        problem = problem_of(found)
        if problem.batch > MOST_BLOCKS_YZ or -(-problem.M // 16) > MOST_BLOCKS_YZ:
            return None
        seconds = tiles_for(
            problem.M, problem.N, problem.K, problem.batch, gpu, context.program.digits.get(found.stage.op, ())
        )
        parts = most_parts(found, problem)
        fitting = [tiles for tiles in seconds if tiles[3] <= parts][:_SETTINGS]
        if not fitting:
            return None
        return Decision(
            self.name,
            group.names,
            f"{rows_of(found)} rows, {problem.N} columns, K {problem.K}, in float32"
            + (f", {problem.batch} of them" if problem.batch > 1 else ""),
            (choice("tiles", fitting[0], fitting),),
            seconds[fitting[0]],
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        found = matrices_of(group)
        assert found is not None
        tile, lanes, block_k, split_k = decision["tiles"]
        problem, of_transposed = problem_of(found), transposed(found)
        inline(s, group)
        root = group.root.op.output(0)
        total, operands = in_whole_tiles(s, group, found, (*tile, block_k * split_k))
        last, sums = (root, total) if split_k == 1 else in_parts(s, root, total, split_k)
        s[sums].set_scope("local")
        ways = (not of_transposed[0], of_transposed[1])
        tensors = [access.tensor for access in (found.a, found.b)]
        wholes = [
            (block_k % 4 == 0 or not along_k) and extent_of(one.shape[-1]) % 4 == 0 == self._together(context, one) % 4
            for one, along_k in zip(tensors, ways)
        ]
        for stage, along_k, fours in zip(operands, ways, wholes):
            s[stage].set_scope("shared")
            if along_k:
                s[stage].transform_layout(partial(_turned, block_k) if fours or block_k % 2 == 0 else _apart)
        is_whole = problem.N % (4 if split_k == 1 else 1) == 0 and (split_k > 1 or root.dtype == "float32")
        axes = anchored(s[root], group) if last is root else None
        multiply_tiles(s, last, sums, (operands[0], operands[1]), tile, block_k, lanes, is_whole=is_whole, axes=axes)
        own = lanes_of(lanes)
        threads = tile[0] // own[0], tile[1] // own[1]
        for stage, fours in zip(operands, wholes):
            _fetch(s[stage], fours, threads)

    def _together(self, context: Context, operand: Tensor) -> int:
        """How many neighbours of an operand's row are loaded together, or computed of such."""
        program = context.program
        return 1 if operand.op in program.apart else program.together.get(operand.op, extent_of(operand.shape[-1]))


def _turned(block_k: int, *at: Expr) -> list[Expr]:
    """The layout of an operand whose rows are along K: K by what its results are along.

    A warp stores four rows of the K tile at a time, and 128 / block_k neighbours of each. Every fourth row begins so
    many words later, so that each thread uses a bank of its own.
    """
    *outer, row, k = at
    return [*outer, k, row + indexdiv(k, 4) * (128 // block_k // 4 * 4)]


def _apart(*at: Expr) -> list[Expr]:
    """The same where a warp stores all of a K tile of an odd number of rows, one by one: these begin in other banks."""
    *outer, row, k = at
    return [*outer, k, row + k * 4]


def _fetch(stage: Stage, is_whole: bool, threads: tuple[int, int]) -> None:
    """All threads of the block copy what a step needs, four neighbours at once where rows are multiples of four."""
    *outer, row, column = stage.op.axis
    four = list(stage.split(column, factor=4)) if is_whole else [column]
    fetch(stage, stage.fuse(*outer, row, four[0]), four[1:], *threads)
