"""Matmuls on a processor: panels of B side by side in its cache, tiles of sums in vector registers."""

from __future__ import annotations

from ..dtypes import dtype_of
from ..te import Expr
from ..te.expr import Call, Const
from ..te.schedule import Schedule, Stage
from ..te.tensor import ComputeOp
from .context import Context, choice
from .contraction import Contraction
from .elementwise import inline
from .facts import extent_of
from .groups import Group
from .moves import moved_by
from .plan import Decision
from .simt import anchored
from .tensor_cores import in_whole_tiles, matrices_of, problem_of, rows_of, transposed

__all__ = ["PackedTiles", "is_packed"]

# Rows of a tile, and the vectors of 64 bytes that a row has: 16 sums in registers hide the latency of a multiplication.
_ROWS, _VECTORS, _VECTOR = 8, 2, 64
# So many rows at least share a panel of B, which costs as much as a few of them.
_OF_A_PANEL = 128
# Tasks that are enough for the threads of a processor.
_TASKS = 64


def is_packed(found: Contraction) -> bool:
    """Whether a contraction is a matmul that this rule is for."""
    dtype = found.stage.op.dtype
    if not found.is_of_matrices or not found.stage.is_static or dtype not in ("float32", "float64"):
        return False
    return {*found.operand_dtypes} == {dtype} and problem_of(found).N >= _columns(dtype) // 2


def _columns(dtype: str) -> int:
    return _VECTORS * 8 * _VECTOR // dtype_of(dtype).bits


class PackedTiles:
    """Threads share blocks of rows and panels of columns. A panel of B is copied to lie together, in the order in which
    tiles read it. Each tile of results stays in vector registers for the whole loop along K.
    """

    name = "packed tiles"

    def decide(self, context: Context, group: Group) -> Decision | None:
        found = matrices_of(group)
        if found is None or not is_packed(found):
            return None
        problem, dtype = problem_of(found), found.stage.op.dtype
        columns = _columns(dtype)
        widths = [(rows, wide) for rows in (4, 6, 7, 8, 12, 14, 16) for wide in (1, 2, 4) if rows * wide <= 32]
        tiles = [(rows, columns * wide // 2) for rows, wide in widths]
        tile = (self._rows_of_a_tile(problem.M), columns)
        if _together(group, found) and problem.N % (2 * columns) == 0:
            # The rows that are copied for each panel are fewer times with panels of twice the columns.
            tile = (7 if problem.M % 7 == 0 else 6, 2 * columns)
        panels = -(-problem.N // tile[1]) * problem.batch
        parts = max(1, min(problem.M // _OF_A_PANEL, _TASKS // panels))
        return Decision(
            self.name,
            group.names,
            f"{rows_of(found)} rows, {problem.N} columns, K {problem.K}, in {dtype}"
            + (f", {problem.batch} of them" if problem.batch > 1 else ""),
            (
                choice("tile", tile, tiles),
                choice("blocks", parts, [one for one in (1, 2, 4, 8, 16) if one <= max(1, problem.M // 32)]),
            ),
        )

    def _rows_of_a_tile(self, M: int) -> int:
        """The most that divide all rows, so that A need not be copied to whole tiles."""
        return next((rows for rows in (8, 7, 6, 5) if M % rows == 0), _ROWS)

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        found = matrices_of(group)
        assert found is not None
        rows, columns = decision["tile"]
        of_transposed, has_prologue = transposed(found), _prologues(group, found)
        M = extent_of(found.stage.spatial[-2].dom.extent) if found.stage.spatial[-2].dom else 1
        inline(s, group)
        total, (a, b) = in_whole_tiles(s, group, found, (rows, columns, 1))
        stage = s[group.root.op.output(0)]
        *batch, i, j = anchored(stage, group)
        io, ii = stage.split(i, factor=rows)
        mo, io = stage.split(io, nparts=decision["blocks"])
        jo, ji = stage.split(j, factor=columns)
        stage.reorder(*batch, mo, jo, io, ii, ji)
        task = stage.fuse(*batch, mo, jo)
        stage.parallel(task)
        stage.unroll(ii)
        stage.vectorize(ji)

        sums = s[total]
        sums.set_scope("local")
        sums.compute_at(stage, io)
        *_, i, j = sums.op.axis
        sums.reorder(*sums.op.reduce_axis, i, j)
        sums.unroll(i)
        sums.vectorize(j)
        together = _together(group, found)
        if together:
            self._copy_rows(s[a], together)
            s[a].compute_at(stage, io)
        elif has_prologue or M % rows:
            self._copy_all(s[a])
        else:
            s[a].compute_inline()
        panel = s[b]
        panel.compute_at(stage, task)
        *_, row, last = panel.op.axis
        if of_transposed[1]:
            panel.transform_layout(_turned)
            panel.reorder(last, row)
        else:
            panel.vectorize(last)

    def _copy_rows(self, stage: Stage, together: int) -> None:
        """The rows of a tile, so many elements at a time."""
        *_, k = stage.op.axis
        _, element = stage.split(k, factor=together)
        lanes = next((lanes for lanes in (16, 8, 4) if together % lanes == 0), 1)
        if lanes > 1:
            stage.vectorize(stage.split(element, factor=lanes)[1])

    def _copy_all(self, stage: Stage) -> None:
        *outer, _ = stage.op.axis
        stage.parallel(stage.fuse(*outer) if len(outer) > 1 else outer[0])


def _prologues(group: Group, found: Contraction) -> bool:
    """Whether elements of A are computed where they are read, or their places are."""
    for operand in group.operands:
        if operand.op is found.a.tensor.op:
            places = [
                index
                for access in operand.accesses
                for index, extent in zip(access.indices, access.tensor.shape)
                if extent_of(extent) > 1
            ]
            return operand.cost > 1 or None in places
    return False


def _together(group: Group, found: Contraction) -> int:
    """How many elements of A lie together along K, where A is moved, as windows of images with channels last are.

    0 where its elements are computed, or do not lie along K.
    """
    if transposed(found)[0] or not _prologues(group, found):
        return 0
    for operand in group.operands:
        if operand.op is found.a.tensor.op and isinstance(operand.op, ComputeOp) and operand.op.reduction is None:
            read, k = moved_by(operand.op.body[0]), operand.spatial[-1]
            last = read.indices[-1] if read is not None and read.indices else None
            if last is k:
                return extent_of(k.dom.extent if k.dom else None)
            if isinstance(last, Call) and last.op == "floormod" and last.args[0] is k:
                return int(last.args[1].value) if isinstance(last.args[1], Const) else 0
    return 0


def _turned(*at: Expr) -> list[Expr]:
    *outer, row, k = at
    return [*outer, k, row]
