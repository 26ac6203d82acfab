"""Convolutions of images with channels last by the warpgroups of sm_90a."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..devices import GPU, MOST_BLOCKS_YZ
from ..dtypes import item_bytes
from ..instructions import MMA_SYNC, wgmma
from ..schedules.convolutions.wgmma_parts import Tiling, of_warpgroup, panel_of, tile_by_wgmma, write_pixels
from ..schedules.convolutions.wgmma_tiles import Candidate, Problem, timed
from ..schedules.matmuls.problem import Problem as Matmul
from ..te import Tensor
from ..te.schedule import Schedule
from ..te.tensor import Operation
from .context import Context, choice
from .contraction import contraction_of
from .convolutions import Convolution, Tiled, convolution_of, padded
from .elementwise import inline
from .facts import Kind, Program, is_static
from .groups import Group, groups_of
from .plan import Decision, without_lists
from .tensor_cores import timed_tiles

__all__ = ["CopiedPixels", "WarpgroupConvolutions", "convolutions_in", "store_operands"]

# Of kernels that copy operands: seconds, of filters where the next kernel's blocks come up early, and how often their
# bytes go through memory.
_LAUNCH, _SHORT_LAUNCH, _PASSES = 4e-6, 3e-6, 3.0
# Seconds more that a matmul takes whose rows are windows of images.
_OF_WINDOWS = 4e-6
_SECTOR, _LINE = 32, 128  # of the cache, in bytes
_NAME, _OTHER = "convolutions by warpgroups", "tensor cores"


_Configuration = tuple[tuple[str, Any], ...]


class WarpgroupConvolutions:
    """Warpgroups multiply tiles of pixels and filters by ``wgmma``.

    Meanwhile a warp has TMA copy the boxes of pixels that the next places of the kernel read, with zeros outside of the
    image. It is for convolutions that `convolutions_in` chose, which are in whole tiles by then.
    """

    name = _NAME

    def decide(self, context: Context, group: Group) -> Decision | None:
        known = context.tiles.get(group.anchor.op) if group.anchor is not None else None
        if known is None:
            return None
        chosen = known.decision
        names = tuple(dict.fromkeys((*chosen.stages, *group.names)))
        return Decision(self.name, names, chosen.why, chosen.choices, chosen.seconds, chosen.rules)

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        assert group.anchor is not None
        known = context.tiles[group.anchor.op]
        made, stored = known.stages, known.stored
        found, rows, sums = made.found, of_warpgroup(made.tile), group.anchor.op.dtype
        assert rows is not None
        k_tiles = found.k_tiles
        inline(s, group, but=stored)
        tile_by_wgmma(
            s,
            group.root.op.output(0),
            stored,
            made.total,
            made.operands,
            wgmma(found.dtype, sums, n=made.tile[3], k=k_tiles.block_k, rows=rows, transpose_b=found.along_k),
            Tiling(
                made.tile, k_tiles.block_k, k_tiles.span, made.over, found.windows.dilations[0], along_k=found.along_k
            ),
        )


class CopiedPixels:
    """Neighbouring threads write neighbouring pixels, all elements of each: images and filters of few channels that are
    copied for `WarpgroupConvolutions`."""

    name = "copied pixels"

    def decide(self, context: Context, group: Group) -> Decision | None:
        lanes = _lanes_of(context, group)
        return Decision(self.name, group.names, f"{lanes} elements a pixel for a convolution") if lanes else None

    def apply(self, context: Context, s: Schedule, group: Group, decision: Decision) -> None:
        inline(s, group)
        write_pixels(s[group.root.op], _lanes_of(context, group))


def _lanes_of(context: Context, group: Group) -> int:
    """The elements of a pixel of a copy; 0 of anything else."""
    return next(
        (
            known.stages.found.k_tiles.lanes
            for known in context.tiles.values()
            if any(group.root.op is copy.op for copy in known.stages.copied)
        ),
        0,
    )


def convolutions_in(
    program: Program, gpu: GPU, parallel: int, settings: Mapping[str, Mapping[str, Any]], *, is_short: bool = False
) -> dict[Operation, tuple[Decision, Tiled]]:
    """The stages that are convolutions for this rule, what it decides of them, and how they are tiled. `parallel` is
    how many threads keep the device busy; `settings` those of `auto_schedule`. With `is_short`, kernels start before
    the one before them ends.
    """
    if "wgmma" not in gpu.features:
        return {}
    found = {stage.op: one for stage in program if (one := convolution_of(stage)) is not None}
    if not found:
        return {}
    anchors = [stage.op for stage in program if contraction_of(stage) is not None]
    for one in found.values():
        if _ends_contraction(program, one.image.op, anchors):
            store_operands(program, one)
    decided: dict[Operation, tuple[Decision, Tiled]] = {}
    for group in groups_of(program, parallel, anchors):
        anchor = group.anchor
        if anchor is None or anchor.op not in found or not _is_in_order(group):
            continue
        if _is_computed(found[anchor.op], group):
            continue
        decision = _decide(found[anchor.op], group, gpu, _merged(settings, group), is_short)
        if decision is not None:
            options, root = dict(decision["configuration"]), group.root.op
            held = options.get("channels", 0)
            is_copied = panel_of(found[anchor.op].windows.filters, options["tile"][3], root.dtype) > 0
            candidate = options["tile"], 1, options["share_rows"]
            between = tuple(stage.op for stage in group.inlined)
            decided[anchor.op] = decision, Tiled(candidate, held, root if is_copied else None, between)
    return decided


def store_operands(program: Program, found: Convolution, copied: Sequence[Tensor] = ()) -> None:
    """Has what a convolution reads stored; of what is copied the copies."""
    copies = [] if found.copies_images else [found.image]
    copies += [] if found.k_tiles.is_row or found.copies_filters else [found.filters.tensor]
    for tensor in (*copies, *copied):
        if tensor.op in program.stages:
            program.stages[tensor.op].is_stored = True


def _is_computed(found: Convolution, group: Group) -> bool:
    """Whether TMA would have to load what is computed in the group."""
    own = {stage.op for stage in (*group.stages, *group.inlined)}
    if found.copies_images:
        return False
    return found.image.op in own or found.filters.tensor.op in own and not found.copies_filters


def _ends_contraction(program: Program, op: Operation, anchors: Collection[Operation]) -> bool:
    """Whether a stage is made of a contraction, element by element, which it can be the end of."""
    todo = [op]
    while todo:
        stage = program.stages.get(todo.pop())
        if stage is not None and stage.kind == Kind.MAP:
            todo += [one.op for one in program.producers(stage)]
        elif stage is not None and stage.op in anchors:
            return True
    return False


def _is_in_order(group: Group) -> bool:
    """Whether its results are those of the convolution, element by element in the same order."""
    return group.anchor_axes == ((0,), (1,), (2,), (3,)) and is_static(group.root.spatial) and not group.reductions


def _merged(settings: Mapping[str, Mapping[str, Any]], group: Group) -> dict[str, Any]:
    return {key: value for name in group.names for key, value in settings.get(name, {}).items()}


def _decide(found: Convolution, group: Group, gpu: GPU, asked: Mapping[str, Any], is_short: bool) -> Decision | None:
    """None where another rule is asked for, or takes less time by its model."""
    what, rule = found.windows, asked.get("rule")
    if rule not in (None, _NAME):
        return None
    times: dict[_Configuration, float] = {}
    for one in _ways(found):
        times |= _timed(one, gpu, is_short)
    if not times:
        return None
    times = dict(sorted(times.items(), key=lambda one: one[1]))
    M, K = what.batch * what.out[0] * what.out[1], what.channels * what.kernel[0] * what.kernel[1]
    matmul = Matmul(M, what.filters, K, found.dtype, "NT" if found.along_k else "NN")
    sums = found.stage.op.dtype
    contraction = contraction_of(found.stage)
    is_matmul = contraction is not None and contraction.is_product and (found.dtype, sums) in MMA_SYNC
    # A matmul has the filters' order along K: if that is not the channels', pixels are loaded one by one.
    others = timed_tiles(matmul, gpu, sums, loads_one_by_one=found.reorders_filters) if is_matmul else {}
    if rule is None and others and _OF_WINDOWS + next(iter(others.values())) <= next(iter(times.values())):
        return None
    fitting = list(times)
    wanted = without_lists(asked.get("configuration"))
    return Decision(
        _NAME,
        group.names,
        f"{what.batch} images of {what.out[0]} x {what.out[1]} results, kernels of {what.kernel[0]} x "
        f"{what.kernel[1]}, {what.channels} channels, {what.filters} filters, {found.dtype} with sums in {sums}, "
        + ("images are copied with a margin" if found.k_tiles.is_row else "pixels of whole 16 bytes"),
        (choice("configuration", wanted if wanted in fitting else fitting[0], fitting),),
        next(iter(times.values())),
        (_NAME, _OTHER) if others else (_NAME,),
    )


def _ways(found: Convolution) -> list[Convolution]:
    """With the images as they are, and with copies whose pixels begin at sectors or lines of the cache."""
    pitch = (found.held or found.windows.channels) * item_bytes(found.dtype)
    is_apart = pitch % _SECTOR and not found.k_tiles.is_row
    return [found, *(padded(found, grain) for grain in (_SECTOR, _LINE) if is_apart)]


def _timed(found: Convolution, gpu: GPU, is_short: bool) -> dict[_Configuration, float]:
    """The seconds that each configuration may take, with the copies that are made first."""
    k_tiles = found.k_tiles
    problem = Problem.of(found.windows, k_tiles.count, k_tiles.span, is_narrow=k_tiles.is_row)
    if found.held:
        problem = replace(problem, pitch=found.held * item_bytes(found.dtype))
    launch = _SHORT_LAUNCH if is_short and not found.copies_images else _LAUNCH
    copying = found.bytes_copied and launch + _PASSES * found.bytes_copied / gpu.bandwidth
    channels = (("channels", found.held),) if found.held else ()
    return {
        (*channels, ("share_rows", one[2]), ("tile", one[0])): time + copying
        for one, time in timed(problem, 1).items()
        if _fits(found, one)
    }


def _fits(found: Convolution, candidate: Candidate) -> bool:
    """Whether warpgroups can share the tile, and a grid has its blocks."""
    (images, rows, columns, width), what = candidate[0], found.windows
    tiles = -(-what.batch // images) * -(-what.out[0] // rows) * -(-what.out[1] // columns)
    return of_warpgroup(candidate[0]) is not None and tiles <= MOST_BLOCKS_YZ and -(-what.filters // width) > 0
