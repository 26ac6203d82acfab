"""Products by warpgroups on the simulator: all types and layouts, ragged extents, clusters, epilogues, parts."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import products
import tilewright as tw
from tilewright import schedules, te, testing
from tilewright.backend.cubin import link
from tilewright.runtime.ndarray import as_dtype

SMALL: dict[str, Any] = {"tile": (64, 64), "blocks": 2}
TYPES = [
    ("float16", "float32", "float32"),
    ("float16", "float16", "float16"),
    ("bfloat16", "float32", "bfloat16"),
    ("tf32", "float32", "float32"),
    ("float8_e4m3fn", "float32", "bfloat16"),
    ("float8_e5m2", "float32", "float16"),
    ("int8", "int32", "int32"),
]


def check(shape: tuple[int, int, int], types: tuple[str, str, str], **options: Any) -> None:
    """A product on the simulator, with a bias, a relu and a residual where options say so."""
    added = "float32" if options.pop("bias", False) else None
    # Each of the sums is rounded once an instruction.
    products.check(schedules.matmul_wgmma, shape, types, roundings=3, bias=added, residual=added, **options)


def swapped(shape: tuple[int, int, int], options: dict[str, Any]) -> tuple[tuple[int, int, int], dict[str, Any]]:
    """The product whose result is the transpose of another's, by the same instructions."""
    M, N, K = shape
    across = {"transpose_a": not options.get("transpose_b"), "transpose_b": not options.get("transpose_a")}
    pairs = {name: options[name][::-1] for name in ("tile", "cluster") if name in options}
    return (N, M, K), options | across | pairs | {"swap_ab": True}


@pytest.mark.sample(2)
@pytest.mark.parametrize("swap_ab", [False, True])
@pytest.mark.parametrize("types", TYPES, ids="-".join)
def test_types(types: tuple[str, str, str], swap_ab: bool) -> None:
    check((64, 128, 160), types, transpose_b=True, swap_ab=swap_ab, **SMALL)


@pytest.mark.sample(3)
@pytest.mark.parametrize("swap_ab", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_layouts(transpose_a: bool, transpose_b: bool, swap_ab: bool) -> None:
    check((128, 128, 128), TYPES[2], transpose_a=transpose_a, transpose_b=transpose_b, swap_ab=swap_ab, **SMALL)


@pytest.mark.sample(2)
@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((256, 128, 64), {"tile": (128, 64)}),
        ((256, 64, 64), {"tile": (128, 64), "cluster": (2, 1)}),
        ((64, 128, 64), {"cluster": (1, 2)}),
        ((64, 128, 64), {"cluster": (1, 2), "transpose_b": True}),
        ((128, 192, 64), {"blocks": None, "cluster": (1, 1)}),
        ((128, 128, 320), {"specialize": False, "stages": 3}),
        ((64, 128, 40), {"specialize": False, "stages": 2}),
        ((256, 64, 128), {"specialize": False, "tile": (128, 64), "cluster": (2, 1)}),
        ((70, 72, 72), {}),
        ((70, 71, 72), {"transpose_b": True}),
        ((33, 47, 65), {}),
        ((130, 133, 72), {"bias": True}),
        ((130, 135, 72), {"batch": 2, "cluster": (1, 1)}),
        ((130, 133, 200), {"stream_k": True}),
        ((33, 48, 66), {"transpose_a": True}),
        ((192, 64, 128), {"cluster": (2, 1)}),
        ((180, 136, 136), {"cluster": (2, 1), "blocks": 4, "bias": True}),
        ((64, 192, 128), {"cluster": (1, 2), "blocks": None}),
        # Clusters along both axes: with loads that depend on both, on one, and on neither.
        ((128, 128, 64), {"cluster": (2, 2), "blocks": 4}),
        ((64, 128, 128), {"cluster": (2, 2), "blocks": 4}),
        ((128, 64, 128), {"cluster": (2, 2), "blocks": None, "transpose_b": True}),
        ((64, 64, 128), {"cluster": (2, 2), "blocks": 4}),
        ((256, 128, 192), {"consumers": 2, "blocks": 1, "cluster": (1, 1)}),
        ((320, 192, 320), {"consumers": 2, "cluster": (2, 1)}),
        ((256, 256, 64), {"consumers": 2, "tile": (128, 64), "cluster": (1, 2)}),
        ((192, 72, 200), {"consumers": 3, "blocks": 1, "stages": 2, "cluster": (1, 1), "bias": True}),
        ((192, 71, 200), {"consumers": 2, "blocks": 1, "cluster": (1, 1), "transpose_b": True}),
        ((64, 64, 64), {"batch": 3, "cluster": (1, 1)}),
        ((72, 72, 72), {"batch": 2, "bias": True}),
        ((64, 64, 250), {"split_k": 3}),
        ((64, 64, 250), {"split_k": 3, "dependent": True}),
        ((64, 256, 128), {"cluster": (1, 4), "blocks": 4}),
        ((128, 96, 192), {"tile": (64, 32), "stages": 3}),
        ((64, 100, 128), {"tile": (64, 48)}),
        ((64, 64, 64), {"tile": (64, 16), "batch": 2, "cluster": (1, 1)}),
        ((64, 128, 1024), {"tile": (64, 64), "blocks": 8, "stream_k": True, "cluster": (1, 1)}),
        ((72, 72, 128), {"bias": True}),
        ((72, 71, 128), {"bias": True, "transpose_b": True}),
    ],
)
def test_shapes(shape: tuple[int, int, int], options: dict[str, Any], swaps: bool) -> None:
    options = SMALL | options
    if swaps:
        shape, options = swapped(shape, options)
    check(shape, TYPES[0], **options)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("shape", "tile"),
    [((16, 256, 200), (16, 128)), ((8, 128, 64), (8, 64)), ((200, 64, 72), (24, 64)), ((40, 192, 72), (40, 64))],
)
@pytest.mark.parametrize("types", [TYPES[0], TYPES[2]], ids="-".join)
def test_few_rows_as_columns_of_the_instruction(
    shape: tuple[int, int, int], tile: tuple[int, int], types: tuple[str, str, str]
) -> None:
    lowered = str(tw.lower(*schedules.matmul_wgmma(*shape, *types[::2], tile=tile, swap_ab=True), stage="gpu"))
    assert f"!tile.accumulator<64x{tile[0]}xf32>" in lowered and " transposed to " in lowered
    check(shape, types, tile=tile, swap_ab=True, bias=True)


@pytest.mark.sweep
def test_fragments_are_transposed_by_the_hardware() -> None:
    """Matrices of 8 x 8 elements of 16 bits: a row of such a tile of C is what a column of the fragment is."""
    scheduled = schedules.matmul_wgmma(64, 128, 64, "float16", "float16", tile=(64, 64), swap_ab=True)
    func = tw.build(*scheduled, target="cuda -arch=sm_90a", name="mm")
    assert func.ptx.count("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16") == 4
    (kernel,) = func.report().kernels
    assert kernel.meant["stmatrix"] == 1


@pytest.mark.parametrize("deferred", [False, True])
def test_any_number_of_rows_as_columns_of_the_instruction(deferred: bool) -> None:
    rows = te.var("rows")
    shapes = [(1, 128, 192), (130, 128, 192), (256, 128, 192)]
    check((rows, 128, 192), TYPES[2], shapes=shapes, bias=False, swap_ab=True, **(SMALL | {"deferred": deferred}))


@pytest.mark.parametrize(("columns", "out_dtype"), [(48, "float16"), (80, "float32"), (96, "float16")])
def test_a_result_in_narrow_panels(columns: int, out_dtype: str) -> None:
    """As wide as divides a tile's rows: 32 or 64 bytes."""
    shape, options = (64, 2 * columns, 64), {"tile": (64, columns), "transpose_b": True}
    scheduled = schedules.matmul_wgmma(*shape, "float16", out_dtype, **options)
    assert "tile.tma_store" in str(tw.lower(*scheduled, stage="gpu"))
    check(shape, ("float16", "float32", out_dtype), **options)


@pytest.mark.sample(1)
@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize("consumers", [1, 2])
def test_a_result_in_parts(consumers: int, swaps: bool) -> None:
    """While TMA reads one half of the buffer the other is written to."""
    shape, options = (128, 256, 192), {"tile": (64, 128), "columns": 64, "blocks": 1, "consumers": consumers}
    options["cluster"] = 1, 1
    if swaps:
        shape, options = swapped(shape, options)
    check(shape, ("bfloat16", "float32", "float32"), **options)


@pytest.mark.sample(2)
@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize(
    ("shape", "types", "options"),
    [
        # More parts than the first steps of a tile, as many, fewer; one step alone; a buffer of fewer columns than a tile.
        ((64, 512, 128), TYPES[2], {"tile": (64, 256)}),
        ((64, 512, 256), TYPES[1], {"tile": (64, 256)}),
        ((128, 256, 448), TYPES[0], {"tile": (64, 128)}),
        ((128, 256, 64), TYPES[2], {"tile": (64, 128)}),
        ((128, 512, 320), TYPES[2], {"tile": (64, 256), "columns": 128, "blocks": 1}),
        ((300, 24, 130), TYPES[0], {"transpose_b": True}),  # panels of 8 columns, of which two at least are stored
        ((128, 256, 320), TYPES[0], {"tile": (64, 128), "columns": 32, "blocks": 1}),
        # A block with one tile and one with two, and a cluster of which a block has none.
        ((64, 192, 128), TYPES[2], {}),
        ((320, 128, 192), TYPES[2], {"tile": (64, 128), "cluster": (2, 1), "blocks": 4}),
        ((128, 320, 192), TYPES[2], {"tile": (128, 64), "cluster": (1, 2)}),
        # Three warpgroups, and as many as there are numbers of barriers for.
        ((400, 128, 192), TYPES[2], {"tile": (192, 64)}),
        ((900, 64, 64), TYPES[2], {"tile": (448, 32), "blocks": 1, "registers": (24, 64)}),
        # Parts of tiles, edges, epilogues, batches, no roles, and other types.
        ((64, 320, 512), TYPES[2], {"stream_k": True}),
        ((384, 64, 320), TYPES[2], {"stream_k": True, "cluster": (2, 1), "blocks": 4}),
        ((70, 136, 500), TYPES[2], {"bias": True, "blocks": 3, "stream_k": True}),
        ((150, 328, 200), TYPES[2], {"bias": True, "tile": (64, 128)}),
        ((64, 128, 192), TYPES[2], {"batch": 3, "cluster": (1, 1)}),
        ((128, 256, 192), TYPES[2], {"tile": (64, 128), "specialize": False, "stages": 3}),
        ((64, 256, 96), TYPES[3], {"transpose_b": True}),
        ((64, 256, 384), TYPES[6], {"transpose_b": True}),
    ],
)
def test_a_deferred_result(
    shape: tuple[int, int, int], types: tuple[str, str, str], options: dict[str, Any], swaps: bool
) -> None:
    options = SMALL | {"deferred": True} | options
    with_bias = options.pop("bias", False)
    in_turn = options["tile"][0] > 64 and not options.keys() & {"stream_k", "specialize"}
    if swaps:
        shape, options = swapped(shape, options)
    lowered = str(tw.lower(*schedules.matmul_wgmma(*shape, *types[::2], **options), stage="gpu"))
    assert "tile.map -> " in lowered  # nothing is held before the first tile
    assert ("tile.take_turn" in lowered) == in_turn
    check(shape, types, bias=with_bias, **options)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("shape", "types", "options", "widths"),
    [
        # All rows of tiles have one more, or the last only.
        ((128, 256, 192), TYPES[2], {"blocks": 5, "narrower": 16}, {48}),
        ((192, 256, 192), TYPES[0], {"blocks": 13, "narrower": 16}, {48}),
        ((320, 512, 200), TYPES[2], {"blocks": 7, "narrower": 8, "raster": "hilbert"}, {56}),
        # Some, or all, are narrower by half as much, so that no block has more than it need have.
        ((192, 256, 192), TYPES[2], {"blocks": 7, "narrower": 32, "raster": "row"}, {48}),
        ((256, 256, 192), TYPES[2], {"blocks": 3, "narrower": 16, "transpose_b": True}, {48, 56}),
        (
            (128, 256, 200),
            TYPES[0],
            {"blocks": 5, "narrower": 16, "transpose_b": True, "raster": "row"},
            {48, 56},
        ),
        ((128, 128, 192), TYPES[2], {"blocks": 7, "narrower": 32}, {32, 48}),
        (
            (320, 256, 64),
            TYPES[2],
            {"blocks": 3, "narrower": 32, "transpose_b": True, "serpentine_k": True},
            {32, 48},
        ),
        (
            (256, 128, 136),
            TYPES[6],
            {"blocks": 5, "narrower": 32, "transpose_b": True, "specialize": False},
            {32, 48},
        ),
        (
            (256, 512, 192),
            TYPES[2],
            {"blocks": 5, "narrower": 32, "transpose_b": True, "tile": (128, 128)},
            {96, 112},
        ),
        # More blocks than wide tiles; edges; layouts; without roles; more than one warpgroup and panel.
        ((64, 128, 192), TYPES[2], {"blocks": 3, "narrower": 32, "transpose_b": True}, {32, 48}),
        ((152, 248, 136), TYPES[2], {"blocks": 5, "narrower": 24, "bias": True}, {40}),
        ((128, 256, 200), TYPES[2], {"blocks": 5, "narrower": 16, "transpose_a": True, "bias": True}, {48}),
        (
            (128, 256, 200),
            TYPES[2],
            {"blocks": 5, "narrower": 16, "transpose_b": True, "specialize": False, "stages": 3},
            {48, 56},
        ),
        ((256, 512, 192), TYPES[0], {"blocks": 5, "narrower": 32, "tile": (128, 128), "bias": True}, {96}),
        ((256, 512, 192), TYPES[2], {"blocks": 5, "narrower": 32, "tile": (128, 128), "columns": 64}, {96, 112}),
        ((128, 256, 384), TYPES[6], {"blocks": 5, "narrower": 16, "transpose_b": True}, {48}),
    ],
)
@pytest.mark.parametrize("swaps", [False, True])
@pytest.mark.parametrize("deferred", [False, True])
def test_tiles_of_several_widths(
    shape: tuple[int, int, int],
    types: tuple[str, str, str],
    options: dict[str, Any],
    widths: set[int],
    deferred: bool,
    swaps: bool,
) -> None:
    options = SMALL | {"cluster": (1, 1), "deferred": deferred} | options
    with_bias = options.pop("bias", False)
    if swaps:
        shape, options = swapped(shape, options)
    bias = te.placeholder(shape[1:2], "float32", name="bias")
    reads = {"operands": [bias], "epilogue": lambda x, i, j: x + bias[j]} if with_bias else {}
    lowered = str(tw.lower(*schedules.matmul_wgmma(*shape, *types[::2], **options, **reads), stage="gpu"))
    assert {int(columns) for columns in re.findall(r" columns (\d+) :", lowered)} == widths
    check(shape, types, bias=with_bias, **options)


@pytest.mark.parametrize("promote", [0, 128, 256, 384])
def test_sums_that_are_promoted_after_so_many_products(promote: int) -> None:
    """Of five steps the last is left over."""
    check((64, 64, 640), TYPES[4], transpose_b=True, promote=promote, **SMALL)


def test_sums_that_are_promoted_in_turn() -> None:
    check((128, 128, 512), TYPES[4], transpose_b=True, **(SMALL | {"consumers": 2, "blocks": 1, "cluster": (1, 1)}))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("shape", "types", "options"),
    [
        # Tiles, steps and blocks: 3 of 5 for 2, 5 of 5 for 2 (a whole one each first), 1 of 16 for 4, 2 of 7 for 5.
        ((64, 192, 320), TYPES[2], {}),
        ((64, 320, 320), TYPES[0], {}),
        ((64, 64, 1024), TYPES[0], {"blocks": 4}),
        ((128, 64, 448), TYPES[2], {"blocks": 5}),
        # Nothing to share: as many tiles as blocks; one tile of one step.
        ((128, 128, 128), TYPES[0], {}),
        ((64, 64, 64), TYPES[0], {"blocks": 4}),
        # Warpgroups and blocks of a cluster have parts of their own.
        ((384, 64, 320), TYPES[0], {"tile": (128, 64)}),
        ((384, 64, 320), TYPES[0], {"cluster": (2, 1), "blocks": 4}),
        ((128, 192, 320), TYPES[0], {"cluster": (1, 1), "blocks": 4, "raster": "hilbert"}),
        # Edges, epilogues, and sums of all types.
        ((70, 136, 500), TYPES[0], {"bias": True, "blocks": 3}),
        ((33, 47, 520), TYPES[2], {"blocks": 3}),
        ((64, 64, 448), TYPES[0], {"batch": 3, "cluster": (1, 1)}),
        ((64, 192, 320), TYPES[1], {}),
        ((64, 192, 160), TYPES[3], {"transpose_b": True}),
        ((64, 192, 640), TYPES[4], {"transpose_b": True}),
        ((64, 192, 640), TYPES[6], {"transpose_b": True}),
    ],
)
def test_shared_steps(shape: tuple[int, int, int], types: tuple[str, str, str], options: dict[str, Any]) -> None:
    check(shape, types, **(SMALL | {"stream_k": True} | options))


def test_shared_steps_give_the_same_bits_in_any_order_of_blocks() -> None:
    """The simulator runs them in another with each call."""
    scheduled = schedules.matmul_wgmma(64, 192, 1088, tile=(64, 64), blocks=7, stream_k=True)
    func = tw.build(*scheduled, target="sim", name="mm")
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(as_dtype("bfloat16")) for shape in ((64, 1088), (1088, 192)))
    made = [testing.run(func, [a, b], [((64, 192), "float32")])[0] for _ in range(3)]
    assert all(np.array_equal(one, made[0]) for one in made)


@pytest.mark.sweep
def test_shared_steps_in_ptx() -> None:
    """Parts are stored and read 16 bytes a thread, not through the read-only cache; one thread counts for all."""
    scheduled = schedules.matmul_wgmma(512, 512, 4096, "bfloat16", "bfloat16", cluster=(1, 1), stream_k=True)
    ptx = tw.build(*scheduled, target="cuda -arch=sm_90a", name="mm").ptx
    for text in (
        "fence.acq_rel.gpu",
        "ld.acquire.gpu.global.b64",
        "atom.relaxed.gpu.global.cas.b64",
        "bar.red.or.pred",
    ):
        assert text in ptx
    assert "ld.global.v4" in ptx and "st.global.v4" in ptx and "ld.global.nc" not in ptx


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a tile with a multiple of 64 rows, of which a warpgroup has 64"):
        schedules.matmul_wgmma(64, 64, 64, tile=(96, 64))
    with pytest.raises(ValueError, match=r"expected a tile with a multiple of 16 columns, got \(64, 24\)"):
        schedules.matmul_wgmma(64, 64, 64, tile=(64, 24))
    with pytest.raises(ValueError, match=r"expected a tile with a multiple of 8 columns, got \(64, 20\)"):
        schedules.matmul_wgmma(64, 64, 64, tile=(64, 20), transpose_b=True)
    with pytest.raises(ValueError, match=r"expected a tile with a multiple of 64 columns, .* has 64, got \(64, 96\)"):
        schedules.matmul_wgmma(64, 64, 64, tile=(64, 96), swap_ab=True)
    with pytest.raises(ValueError, match=r"expected a tile with a multiple of 8 rows, got \(20, 64\)"):
        schedules.matmul_wgmma(64, 64, 64, tile=(20, 64), swap_ab=True)
    with pytest.raises(ValueError, match=r"expected a tile with a multiple of 16 rows, got \(24, 64\)"):
        schedules.matmul_wgmma(64, 64, 64, tile=(24, 64), transpose_a=True, swap_ab=True)
    with pytest.raises(ValueError, match="expected a positive split_k, and 1 with a batch, got 2"):
        schedules.matmul_wgmma(64, 64, 64, batch=2, split_k=2)
    with pytest.raises(
        ValueError, match="expected to promote after a multiple of 128 elements of float8_e5m2 along K, or 0, got 64"
    ):
        schedules.matmul_wgmma(64, 64, 64, "float8_e5m2", transpose_b=True, promote=64)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"out_dtype": "float32"},
        {"tile": (192, 128)},
        {"tile": (192, 192)},
        {"tile": (64, 256)},
        {"tile": (64, 256), "consumers": 2},
        {"stages": 3, "columns": 256},
        {"deferred": False},
        {"cluster": (2, 1)},
        {"stream_k": True},
        {"stream_k": True, "deferred": False},
        {"narrower": 16, "serpentine_k": True},
        {"narrower": 16, "deferred": False},
        {"swap_ab": True},
        {"swap_ab": True, "out_dtype": "float32"},
        {"swap_ab": True, "narrower": 16},
        {"swap_ab": True, "narrower": 16, "serpentine_k": True, "transpose_b": True},
        {"K": 512},
        {"K": 640, "stream_k": True},
        {"stream_k": True, "tile": (128, 128)},
    ],
)
def test_nothing_is_spilled_and_nothing_waits(options: dict[str, Any]) -> None:
    """What ptxas says of a kernel of full size: no notes, no spills."""
    options = {"out_dtype": "bfloat16"} | options
    K = options.pop("K", 4096)
    func = tw.build(*schedules.matmul_wgmma(4096, 4096, K, **options), target="cuda -arch=sm_90a", name="mm")
    cubin = link(func.ptx, "sm_90a")
    assert not cubin.notes
    assert all(not one.spill_store_bytes and not one.stack_bytes for one in cubin.resources.values())
