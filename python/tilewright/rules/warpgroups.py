"""Matmuls by the warpgroups of sm_90a."""

from __future__ import annotations

from collections.abc import Mapping

from ..instructions import WGMMA, wgmma
from ..schedules.matmuls.timed_candidates import timed_candidates
from ..schedules.matmuls.warpgroup_tiles import Tiling, no_more, tile_by_wgmma
from ..te.schedule import Schedule
from .context import Context, choice
from .elementwise import inline
from .facts import is_static
from .groups import Group
from .operand_copies import LEAST_OF_MANY, has_tiles
from .plan import Decision
from .tensor_cores import (
    as_stored,
    in_whole_tiles,
    is_in_order,
    matrices_of,
    problem_of,
    rows_are_aligned,
    rows_of,
    transposed,
)

__all__ = ["Warpgroups"]

# What a row of shared memory takes, a step along K.
_SPAN = 128
# What the epilogue may cost an element, in additions, where rows of K are short. Images with channels first are such:
# EfficientNet-B0 took 3.3 ms in place of 2.8. One matmul of all rows is not: of ResNet-50.
_CHEAP = 16
_TAKEN = {"tile", "cluster", "stream_k", "blocks", "narrower"}


class Warpgroups:
    """Warpgroups multiply tiles by ``wgmma`` while a warp has TMA copy those of the next steps along K; blocks stay
    and go through the tiles."""

    name = "warpgroups"

    def decide(self, context: Context, group: Group) -> Decision | None:
        found, gpu = matrices_of(group), context.gpu
        if found is None or gpu is None or "wgmma" not in gpu.features or not is_in_order(group):
            return None
        if any(operand.op not in context.program.views or group.is_computed(operand) for operand in group.operands):
            return None  # TMA copies elements as they are
        a, b = found.factor_dtypes
        types = a, found.stage.op.dtype
        if a != b or types not in WGMMA:
            return None
        problem = problem_of(found, a)
        if any(problem.turned(swap_ab=False)):
            return None
        # TMA steps over rows of multiples of 16 bytes.
        if not all(rows_are_aligned(problem, found)) or not has_tiles(problem):
            return None
        if problem.batch > 1 and problem.K * problem.item_bytes < LEAST_OF_MANY:
            # Few warps an SM compute what comes behind the products, and store the rows of tiles that are not whole.
            if problem.M % 64 or _cost_behind(group) > _CHEAP:
                return None
        seconds = {
            tuple(sorted(one.options.items())): time
            for one, time in timed_candidates(as_stored(problem, found), gpu, "matmul_wgmma")
            if _is_taken(one.options, found.stage.is_static)
        }
        fitting = sorted(seconds, key=lambda one: seconds[one])
        if not fitting:
            return None
        return Decision(
            self.name,
            group.names,
            f"{rows_of(found)} rows, {problem.N} columns, K {problem.K}, {a} with sums in {types[1]}, "
            "rows of whole 16 bytes" + (f", {problem.batch} of them" if problem.batch > 1 else ""),
            (choice("configuration", fitting[0], fitting),),
            seconds[fitting[0]],
        )

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        found = matrices_of(group)
        assert found is not None
        problem, of_transposed = problem_of(found, found.factor_dtypes[0]), transposed(found)
        options = dict(decision["configuration"])
        m, n = options.pop("tile")
        step = _SPAN // problem.item_bytes
        m, n = no_more(m, problem.M, 64), no_more(n, problem.N, 8 if of_transposed[1] else step)
        inline(s, group)
        total, operands = in_whole_tiles(s, group, found, (m, n, step))
        tile_by_wgmma(
            s,
            group.root.op.output(0),
            total,
            operands,
            wgmma(problem.dtype, total.dtype, n=n, k=step, transpose_a=of_transposed[0], transpose_b=of_transposed[1]),
            Tiling(tile=(m, n), **options),
            sources=(found.a.tensor, found.b.tensor),
            extents=(rows_of(found), problem.N, problem.batch),
            transposed=of_transposed,
            has_whole_tile=(m <= problem.M or not is_static(found.stage.spatial)) and n <= problem.N,
            joined=group.anchor_axes,
        )


def _cost_behind(group: Group) -> int:
    """What an element costs behind the contraction."""
    before = {stage.op for stage in group.operands}
    return sum(
        stage.cost for stage in (*group.stages, *group.inlined) if stage is not group.anchor and stage.op not in before
    )


def _is_taken(options: Mapping[str, object], is_static: bool) -> bool:
    """Whether the rule takes a choice; where the rows are counted at the call, one that no number of tiles is for."""
    if is_static:
        return options.keys() <= _TAKEN
    return options.keys() <= {"tile", "cluster"} and options.get("cluster") in (None, (1, 1))
