"""In which order blocks go through tiles: what a kernel computes of a tile's number, and what becomes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mlir import ir

import products
import tilewright as tw
from tilewright import schedules, te

TILE = 64
COMPUTED: dict[str, Callable[[int, int], int]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
    "arith.divui": lambda a, b: a // b,
    "arith.remui": lambda a, b: a % b,
    "arith.minui": min,
    "arith.maxui": max,
    "arith.xori": lambda a, b: a ^ b,
    "arith.andi": lambda a, b: a & b,
    "arith.shrui": lambda a, b: a >> b,
    "arith.shli": lambda a, b: a << b,
}
COMPARED = {0: "==", 1: "!=", 6: "<", 7: "<=", 8: ">", 9: ">="}


def evaluate(value: ir.Value, known: dict[ir.Value, int], ids: dict[str, int]) -> int:
    """A number that a kernel computes of what is `known`, and of the `ids` of blocks, by the ops that give them."""
    if value in known:
        return known[value]
    op = ir.OpResult(value).owner
    operands = [evaluate(one, known, ids) for one in op.operands]
    if op.name == "arith.constant":
        made = ir.IntegerAttr(op.attributes["value"]).value
    elif op.name in ids:
        made = ids[op.name]
    elif op.name == "affine.apply":
        *names, result = re.fullmatch(
            r"affine_map<\((.*)\)(?:\[(.*)\])? -> \((.*)\)>", str(op.attributes["map"])
        ).groups()
        # What is rounded up here is a multiple.
        result = result.replace("floordiv", "//").replace("ceildiv", "//").replace("mod", "%")
        arguments = ", ".join(name for name in names if name).split(", ")
        made = eval(result, dict(zip(arguments, operands, strict=True)))
    elif op.name == "arith.index_castui":
        (made,) = operands
    elif op.name == "arith.select":
        made = operands[1] if operands[0] else operands[2]
    elif op.name == "arith.cmpi":
        left, right = operands
        made = int(eval(f"{left} {COMPARED[ir.IntegerAttr(op.attributes['predicate']).value]} {right}"))
    else:
        made = COMPUTED[op.name](*operands)
    known[value] = made
    return made


def operations(of: ir.Operation) -> Iterator[ir.Operation]:
    for region in of.regions:
        for block in region.blocks:
            for op in block.operations:
                yield op.operation
                yield from operations(op.operation)


def arguments_of(module: ir.Module, rows: int, columns: int) -> dict[ir.Value, int]:
    """The numbers that the kernel of a product of so many rows and columns is launched with."""
    ops = list(operations(module.operation))
    kernel = next(op for op in ops if op.name == "gpu.func")
    launch = next(op for op in ops if op.name == "gpu.launch_func")
    arguments = kernel.regions[0].blocks[0].arguments
    known: dict[ir.Value, int] = {}
    for op in ops:
        if op.name == "memref.dim":
            known[op.results[0]] = rows if op.operands[0] == op.parent.regions[0].blocks[0].arguments[0] else columns
    numbers = {}
    for argument, operand in zip(arguments, list(launch.operands)[-len(arguments) :], strict=True):
        if isinstance(argument.type, ir.IndexType):
            numbers[argument] = evaluate(operand, known, {})
    return numbers


def places(
    rows: int,
    columns: int,
    planes: int = 1,
    *,
    symbolic: tuple[bool, bool] = (False, False),
    unit: int = TILE,
    step: int | None = None,
    **options: Any,
) -> list[tuple[int, ...]]:
    """The plane, row and column of each tile in turn, from where the copies of its factors begin; of columns, so many
    are a `unit`. With a `step` also where that one is, of two.

    With `symbolic` rows or columns the kernel is for any number of them.
    """
    batch = {"batch": planes} if planes > 1 else {}
    options = {"tile": (TILE, TILE), "cluster": (1, 1), "transpose_b": True, "blocks": 2} | options
    M, N = (te.var(name) if is_var else size * TILE for name, is_var, size in zip("MN", symbolic, (rows, columns)))
    scheduled = schedules.matmul_wgmma(M, N, 2 * TILE, **batch, **options)
    module = tw.lower(*scheduled, stage="gpu", target="cuda -arch=sm_90a")
    with module.context:
        loads = [op for op in operations(module.operation) if op.name == "tile.tma_load"]
        loop = loads[0].parent
        while loop.name != "scf.for" or loop.parent.name == "scf.for":
            loop = loop.parent
        (tile, *_) = loop.regions[0].blocks[0].arguments
        given = arguments_of(module, rows * TILE, columns * TILE)
        count = evaluate(loop.operands[1], dict(given), {})
        found = []
        for number in range(count):
            known = given | {tile: number, loads[0].parent.regions[0].blocks[0].arguments[0]: step or 0}
            first, second = ([evaluate(one, known, {}) for one in list(load.operands)[1:-3]] for load in loads)
            along = [] if step is None else [first[-1] // TILE]
            found.append((*(first[:-2] or [0]), first[-2] // TILE, second[-2] // unit, *along))
        return found


def table(rows: int, columns: int, order: list[tuple[int, ...]]) -> list[str]:
    numbers = {place[1:]: number for number, place in enumerate(order)}
    return [" ".join(f"{numbers[row, column]:2}" for column in range(columns)) for row in range(rows)]


@pytest.mark.parametrize(("column", "options"), [(0, {"raster": "row"}), (1, {"group": 2}), (2, {"raster": "hilbert"})])
def test_the_order_is_what_the_documentation_shows(column: int, options: dict[str, Any]) -> None:
    doc = te.Stage.persistent.__doc__ or ""
    shown = [re.split(r"\s{3,}", line.strip()) for line in doc.splitlines()]
    shown = [line[column].split() for line in shown if len(line) == 3 and line[0][-1].isdigit()]
    order = places(5, 7, **({"group": 4} | options))
    assert [line.split() for line in table(5, 7, order)] == shown


RASTERS = [
    {"raster": "row"},
    *({"raster": raster, "group": group} for raster in ("grouped", "hilbert") for group in (2, 8)),
]


@pytest.mark.sample(3)
@pytest.mark.parametrize("symbolic", [(True, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize("options", RASTERS[:3], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (5, 7), (16, 3)], ids=str)
def test_symbolic_extents_change_no_order(
    shape: tuple[int, int], options: dict[str, Any], symbolic: tuple[bool, bool]
) -> None:
    assert places(*shape, symbolic=symbolic, **options) == places(*shape, **options)


@pytest.mark.sample(4)
@pytest.mark.parametrize("options", RASTERS, ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (3, 5), (9, 11), (16, 8), (13, 27)], ids=str)
def test_each_tile_is_done_once(shape: tuple[int, int], options: dict[str, Any]) -> None:
    order = places(*shape, **options)
    assert sorted(order) == [(0, row, column) for row in range(shape[0]) for column in range(shape[1])]


@pytest.mark.parametrize("options", RASTERS, ids=str)
def test_planes_come_one_after_the_other(options: dict[str, Any]) -> None:
    order = places(3, 5, planes=3, **options)
    assert sorted(order) == [(plane, row, column) for plane in range(3) for row in range(3) for column in range(5)]
    assert [plane for plane, *_ in order] == [0] * 15 + [1] * 15 + [2] * 15


def test_a_curve_goes_to_neighbours() -> None:
    """From each of its tiles to one beside it, in squares of 8; and from square to square."""
    order = places(8, 24, raster="hilbert", group=8)
    steps = [abs(r - s) + abs(c - d) for (_, r, c), (_, s, d) in zip(order, order[1:])]
    assert set(steps) == {1}


@pytest.mark.parametrize("options", [{"raster": "row"}, {"group": 2}, {"raster": "hilbert", "group": 4}], ids=str)
@pytest.mark.parametrize("shape", [(192, 320, 64), (70, 130, 100)], ids=str)
def test_products(shape: tuple[int, int, int], options: dict[str, Any]) -> None:
    """Odd numbers of tiles, in kernels that run."""
    options = {"tile": (64, 64), "blocks": 3, "cluster": (1, 1)} | options
    products.check(schedules.matmul_wgmma, shape, ("float16", "float32", "float32"), roundings=3, **options)


def test_tiles_of_two_widths_are_as_the_documentation_shows() -> None:
    """The last two of the row's five tiles of 64 columns have 32."""
    doc = te.Stage.persistent.__doc__ or ""
    lines = [line.split() for line in doc.splitlines()]
    shown = [
        [int(one) for one in line] for line in lines if line and all(one.isdigit() for one in line) and "8" in line
    ]
    order = places(2, 4, unit=32, blocks=9, raster="row", narrower=32)
    assert order == [(0, 0, 2 * column) for column in range(4)] + [(0, 1, column) for column in (2, 4, 6, 0, 1)]
    assert [sorted(range(4, 9), key=lambda number: order[number])] == [line for line in shown if len(line) == 5]


@pytest.mark.sample(8)
@pytest.mark.parametrize("options", RASTERS, ids=str)
@pytest.mark.parametrize(
    ("shape", "blocks", "narrower"),
    [((2, 4), 5, 16), ((3, 4), 7, 32), ((5, 8), 7, 8), ((11, 9), 10, 16), ((4, 4), 9, 16)],
    ids=str,
)
def test_each_column_is_in_one_tile_of_several_widths(
    shape: tuple[int, int], blocks: int, narrower: int, options: dict[str, Any]
) -> None:
    """And rows of tiles have one more each, as many as there are blocks without a tile. Of all ways to have some that are
    narrower by half as much instead, two for one, it is the first in which the longest block has the fewest columns."""
    order = places(*shape, unit=8, blocks=blocks, narrower=narrower, **options)
    free = -shape[0] * shape[1] % blocks
    longer = min(shape[0], free)
    assert len(order) == shape[0] * shape[1] + longer

    def arranged(pairs: int) -> list[int]:
        narrow, halves = longer * (TILE // narrower - pairs), 2 * longer * pairs
        wide = [TILE // 8] * (len(order) - narrow - halves)
        return wide + [(TILE - narrower // 2) // 8] * halves + [(TILE - narrower) // 8] * narrow

    most = min(TILE // narrower, shape[1] + 1 - TILE // narrower) if narrower % 16 == 0 else 0
    ways = [arranged(pairs) for pairs in range(most + 1)]
    widths = min(ways, key=lambda one: max(sum(one[block::blocks]) for block in range(blocks)))
    taken = [(row, first + more) for (_, row, first), width in zip(order, widths, strict=True) for more in range(width)]
    assert sorted(taken) == [(row, column) for row in range(shape[0]) for column in range(shape[1] * TILE // 8)]


def test_every_second_tile_begins_at_the_end() -> None:
    for step in (0, 1):
        order = places(2, 3, raster="row", serpentine_k=True, step=step)
        assert [place[-1] for place in order] == [step, step, 1 - step, 1 - step, step, step]


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((192, 320, 320), {}),
        ((70, 130, 100), {"specialize": False, "stages": 3}),
        ((128, 256, 192), {"narrower": 16, "blocks": 5, "deferred": True}),
        ((128, 256, 320), {"consumers": 2}),
        (
            (te.var("m", divisible_by=8), te.var("n", divisible_by=8), te.var("k", divisible_by=8)),
            {"shapes": [(192, 136, 200), (72, 320, 0)]},
        ),
    ],
)
def test_products_from_the_end(shape: tuple[Any, ...], options: dict[str, Any]) -> None:
    options = {"tile": (64, 64), "blocks": 2, "cluster": (1, 1), "serpentine_k": True} | options
    products.check(schedules.matmul_wgmma, shape, ("float16", "float32", "float32"), roundings=3, **options)
