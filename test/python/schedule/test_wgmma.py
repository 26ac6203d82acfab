"""wgmma: schedules that cannot work are refused with the reason, and what can be composed with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes as ml_dtypes  # names of its types are NumPy's
import numpy as np
import pytest

import tilewright as tw
from tilewright import schedules, te
from tilewright.backend.cubin import link
from tilewright.instructions import WGMMA, wgmma

Scheduled = tuple[te.Schedule, list[te.Tensor]]


def product(
    M: int = 128,
    N: int = 64,
    K: int = 128,
    *,
    dtype: str = "float16",
    b_dtype: str | None = None,
    step: int = 64,
    rows: int = 64,
    warpgroups: int = 2,
    threads: str = "threadIdx.y",
    lanes: int | None = 128,
    copied: str = "AB",
    swizzle: int = 128,
    pipeline: bool = True,
    registers: tuple[int, int] | None = (40, 232),
    consumers: int = 1,
    promote: bool = False,
    cluster: int | None = None,
    columns: int | None = None,
    is_copied: bool = False,
    deferred: bool = False,
    shape_a: tuple[Any, ...] | None = None,
    factor: Callable[..., te.Expr] | None = None,
    element: Callable[..., te.Expr] | None = None,
    change: Callable[..., None] | None = None,
) -> Scheduled:
    """C = A B^T, `warpgroups` of `rows` rows to a block, stored by each thread or by way of shared memory.

    `factor` is the element of the first factor, of A, and `element` that of the result, of the product.
    """
    A, B = te.placeholder(shape_a or (M, K), dtype, name="A"), te.placeholder((N, K), b_dtype or dtype, name="B")
    k = te.reduce_axis((0, K), "k")
    F = te.compute((M, K), lambda i, j: factor(A, i, j), name="F") if factor else A
    P = te.compute((M, N), lambda i, j: te.sum(F[i, k].astype("float32") * B[j, k].astype("float32"), axis=k), name="P")
    C = te.compute((M, N), lambda i, j: element(P, i, j) if element else P[i, j], name="C")
    s = te.create_schedule(C.op)
    stored = s.cache_write(C, "shared") if is_copied else C
    AS = F if factor else s.cache_read(A, "shared", [P])
    s[AS].set_scope("shared")
    BS = s.cache_read(B, "shared", [P])
    block, i = s[C].split(s[C].op.axis[0], factor=rows * warpgroups)
    s[C].bind(block, te.thread_axis("blockIdx.y"))
    if cluster is not None:
        s[C].cluster(block, cluster)
    if lanes is not None:
        s[C].env_threads([te.thread_axis((0, lanes), "threadIdx.x")])
    if is_copied:
        s[stored].compute_at(s[C], block)
        s[C].copy_by("tma", columns=columns, deferred=deferred)
        i = s[stored].op.axis[0]
    warpgroup, _ = s[stored].split(i, factor=rows)
    s[stored].bind(warpgroup, te.thread_axis(threads))
    s[P].set_scope("local")
    s[P].compute_at(s[stored], warpgroup)
    ko, ki = s[P].split(k, factor=step)
    i, j = s[P].op.axis
    s[P].reorder(ko, i, j, ki)
    for name, stage in (("A", AS), ("B", BS)):
        s[stage].compute_at(s[P], ko)
        if name in copied:
            s[stage].copy_by("tma", swizzle=swizzle)
    if pipeline:
        s[P].software_pipeline(ko, 2)
    if registers is not None:
        s[P].specialize(ko, *registers, consumers=consumers)
    s[P].tensorize(i, wgmma(dtype, "float32", n=N, k=step, transpose_b=True, promote=promote))
    if change is not None:
        change(s, A=A, B=B, P=P, C=C, AS=AS, BS=BS, stored=stored, block=block)
    return s, [A, B, C]


def message(scheduled: Scheduled, target: str = "cuda -arch=sm_90a") -> str:
    """The reason without the file, and the line that it names."""
    with pytest.raises(tw.CompileError) as error:
        tw.lower(*scheduled, stage="gpu", target=target)
    return re.sub(r"^.*?: (?=error|note)", "", str(error.value), flags=re.M)


@pytest.mark.parametrize("is_copied", [False, True])
def test_a_kernel_of_roles(is_copied: bool) -> None:
    """Copies, products and what becomes of the sums, in the ops that say so."""
    text = str(tw.lower(*product(is_copied=is_copied), stage="gpu"))
    for op in (
        "tile.ring consumers 2",
        'tile.role "producer" warps 4 registers 40',
        'tile.role "consumer" warps 8 registers 232',
        "tile.tma_load",
        "tile.wgmma",
    ):
        assert op in text
    assert ("tile.tma_store" in text) == is_copied
    assert ("memref.store" in text) != is_copied
    assert "known_block_size = array<i32: 384, 1, 1>" in text


def test_without_roles_those_that_multiply_copy() -> None:
    """As many slots as there are steps at first, then each when its products are done."""
    text = str(tw.lower(*product(K=256, registers=None), stage="gpu"))
    assert "tile.role" not in text and "known_block_size = array<i32: 256, 1, 1>" in text
    assert text.count("tile.acquire") == 3 and text.count("tile.elect role") == 2
    cubin = link(tw.build(*product(K=256, registers=None), target="cuda -arch=sm_90a", name="mm").ptx, "sm_90a")
    assert not cubin.notes


@pytest.mark.sample(3)
@pytest.mark.parametrize(("in_dtype", "acc_dtype"), WGMMA)
def test_types(in_dtype: str, acc_dtype: str) -> None:
    """All that there are instructions for: no notes of the assembler, nothing spilled."""
    s, tensors = schedules.matmul_wgmma(256, 256, 256, in_dtype, acc_dtype=acc_dtype, transpose_b=True, tile=(128, 128))
    cubin = link(tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul").ptx, "sm_90a")
    assert not cubin.notes
    assert all(not one.spill_store_bytes and not one.stack_bytes for one in cubin.resources.values())


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_layouts(transpose_a: bool, transpose_b: bool) -> None:
    s, tensors = schedules.matmul_wgmma(512, 512, 256, transpose_a=transpose_a, transpose_b=transpose_b, cluster=(2, 1))
    text = str(tw.lower(s, tensors, stage="gpu"))
    assert ("mn_major, " in text) == transpose_a
    assert ("mn_major :" in text or "mn_major into" in text) != transpose_b
    assert "multicast y" in text and "known_cluster_size = array<i32: 1, 2, 1>" in text


@pytest.mark.sweep
@pytest.mark.parametrize("deferred", [False, True])
def test_an_epilogue_is_a_function_of_the_fragment(deferred: bool) -> None:
    bias = te.placeholder((512,), "float32", name="bias")
    residual = te.placeholder((300, 512), "float16", name="residual")
    s, tensors = schedules.matmul_wgmma(
        300,
        512,
        256,
        "float16",
        "float16",
        operands=[bias, residual],
        epilogue=lambda x, i, j: te.max(x + bias[j], 0.0) + residual[i, j].astype("float32"),
        deferred=deferred,
    )
    text = str(tw.lower(s, tensors, stage="gpu"))
    assert [tensor.name for tensor in tensors] == ["A", "B", "bias", "residual", "C"]
    # In place of rows that C does not have its last one is read; rounding is left to the store, unless the result is
    # held.
    region = text[text.index("tile.map") if deferred else text.rindex("tile.map") :]
    assert (
        "%c299 : index" in region[: region.index("memref.load")]
        and "scf.if" not in region[: region.index("tile.yield")]
    )
    assert ("arith.truncf" in text) == deferred and "tile.store_fragment" in region
    cubin = link(tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul").ptx, "sm_90a")
    assert not cubin.notes


def test_a_number_of_iterations_is_not_negative() -> None:
    with pytest.raises(ValueError, match="wgmma: expected to promote after at least 0 iterations, got -1"):
        wgmma("float8_e4m3fn", "float32", transpose_b=True, promote=-1)


def test_promoted_sums_are_added_up_elsewhere() -> None:
    """Each step's product begins at zero, and a function of two fragments adds it."""
    s, tensors = schedules.matmul_wgmma(256, 256, 512, "float8_e4m3fn", "float32", transpose_b=True)
    text = str(tw.lower(s, tensors, stage="gpu"))
    assert "tile.wgmma" in text and " into " not in text
    assert "arith.addf" in text[text.index("tile.map") :]
    cubin = link(tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul").ptx, "sm_90a")
    assert not cubin.notes
    assert all(not one.spill_store_bytes for one in cubin.resources.values())


def test_rows_that_the_engine_cannot_store_are_stored_by_threads() -> None:
    text = str(tw.lower(*schedules.matmul_wgmma(100, 511, 136, transpose_b=True), stage="gpu"))
    assert "tile.tma_load" in text and "tile.tma_store" not in text and "memref.store" in text


def test_threads_store_whole_tiles_of_such_rows_by_way_of_shared_memory() -> None:
    text = str(tw.lower(*schedules.matmul_wgmma(300, 511, 136, transpose_b=True), stage="gpu"))
    assert "tile.store_rows" in text and "tile.tma_store" not in text and text.count("gpu.launch_func") == 1


@pytest.mark.parametrize(
    ("M", "N", "options"),
    [
        (200, 333, {}),
        (130, 257, {"out_dtype": "bfloat16"}),
        (70, 131, {"swap_ab": True, "tile": (64, 64), "out_dtype": "bfloat16"}),
        (300, 77, {"tile": (64, 48), "blocks": 2}),
        (128, 514, {"tile": (128, 240), "out_dtype": "bfloat16"}),
        (260, 513, {"tile": (64, 256), "blocks": 3, "deferred": True, "out_dtype": "bfloat16"}),
        (65, 67, {"batch": 3, "tile": (64, 64)}),
    ],
)
def test_rows_that_threads_store_are_right(M: int, N: int, options: dict[str, Any]) -> None:
    s, tensors = schedules.matmul_wgmma(M, N, 72, "bfloat16", transpose_b=True, **options)
    func = tw.build(s, tensors, target="sim -arch=sm_90a", name="odd")
    rng, some = np.random.default_rng(0), (options["batch"],) if "batch" in options else ()
    a, b = (rng.integers(-3, 4, (*some, rows, 72)).astype("bfloat16") for rows in (M, N))
    c = np.full((*some, M, N), -1, options.get("out_dtype", "float32"))
    func(a, b, c)
    wanted = a.astype("float64") @ b.astype("float64").swapaxes(-1, -2)
    assert "tile.store_rows" in str(tw.lower(s, tensors, stage="gpu"))
    np.testing.assert_array_equal(c.astype("float64"), wanted.astype(c.dtype).astype("float64"))


def test_blocks_that_stay_go_through_all_tiles() -> None:
    """As many as there are, or as there are clusters of tiles."""
    for blocks, cluster, grid in (
        (132, (2, 1), (16, 2, 1)),
        (132, (1, 2), (32, 1, 1)),
        (7, (1, 1), (7, 1, 1)),
        (7, (2, 1), (3, 2, 1)),
        (None, (1, 1), (4, 8, 1)),
    ):
        scheduled = schedules.matmul_wgmma(1024, 1024, 64, blocks=blocks, cluster=cluster)
        text = str(tw.lower(*scheduled, stage="gpu"))
        assert f"known_grid_size = array<i32: {', '.join(map(str, grid))}>" in text


def test_consumers_take_tiles_in_turn() -> None:
    """Each has its half of C's buffer and every other tile; a slot is released by the one that used it."""
    text = str(
        tw.lower(*schedules.matmul_wgmma(1024, 1024, 256, tile=(64, 256), consumers=2, cluster=(1, 1)), stage="gpu")
    )
    for op in (
        "tile.ring consumers 1 ",
        'tile.role "consumer" warps 8 registers 232 turns 2',
        "tile.take_turn %arg",
        "tile.pass_turn %arg",
        "by 4 :",
        "<128x64xf32, swizzle = 128>",
    ):
        assert op in text
    scheduled = schedules.matmul_wgmma(1024, 1024, 256, "bfloat16", "bfloat16", tile=(128, 128), consumers=2)
    cubin = link(tw.build(*scheduled, target="cuda -arch=sm_90a", name="matmul").ptx, "sm_90a")
    assert not cubin.notes
    assert all(not one.spill_store_bytes and not one.stack_bytes for one in cubin.resources.values())


def test_no_more_blocks_than_the_turns_take() -> None:
    """512 tiles are four turns of 132 blocks, and of 128; 33 rows of tiles are 17 clusters."""
    for rows, grid in ((4096, (64, 2, 1)), (4224, (55, 2, 1))):
        text = str(tw.lower(*schedules.matmul_wgmma(rows, 4096, 64, cluster=(2, 1)), stage="gpu"))
        assert f"known_grid_size = array<i32: {', '.join(map(str, grid))}>" in text


def test_rows_that_begin_within_lines_are_read_once_for_two_blocks() -> None:
    for columns, is_shared in ((520, True), (576, False)):
        text = str(tw.lower(*schedules.matmul_wgmma(512, 512, columns, transpose_b=True), stage="gpu"))
        assert ("multicast" in text) == is_shared


def test_blocks_of_a_cluster_may_have_no_tile() -> None:
    """They multiply what there is not, zeros, for what they copy to the others, and store nothing."""
    scheduled = schedules.matmul_wgmma(192, 64, 64, tile=(64, 64), cluster=(2, 1), blocks=None)
    text = str(tw.lower(*scheduled, stage="gpu"))
    assert "known_grid_size = array<i32: 1, 4, 1>" in text and "multicast y" in text
    assert "scf.if" in text[text.index("tile.wgmma_wait 0 for") : text.index("tile.store_fragment")]


def stays(s: Any, C: Any, **others: Any) -> None:
    s[C].persistent(1)


def other_axis(P: te.Tensor, i: te.Expr, j: te.Expr) -> te.Expr:
    return P[i, 63 - j]


ERRORS: list[tuple[dict[str, Any], str]] = [
    (
        {"lanes": None},
        "wgmma of stage 'P': expected 128 threads along threadIdx.x, a warpgroup, which multiply together: use "
        's[...].env_threads of the kernel\'s stage with te.thread_axis((0, 128), "threadIdx.x")',
    ),
    (
        {"is_copied": True, "threads": "threadIdx.x", "lanes": None},
        "wgmma of stage 'P': expected warpgroups along threadIdx.y, got axis 'C.shared.i.outer' on threadIdx.x",
    ),
    (
        {"pipeline": False},
        "specialize: expected a loop that is a software_pipeline, got 'k.outer'",
    ),
    (
        {"pipeline": False, "registers": None},
        "wgmma of stage 'P': expected a loop around it that is a software_pipeline, which fetches the tiles",
    ),
    (
        {"registers": None, "promote": True},
        "software_pipeline: expected roles for a promoted accumulator, a producer warp beside consumer warpgroups: use "
        "s[P].specialize(k.outer)",
    ),
    (
        {"registers": None, "warpgroups": 9, "M": 576},
        "software_pipeline: expected at most 1024 threads a block, got 1152: those of 9 warpgroups that multiply",
    ),
    (
        {"registers": None, "warpgroups": 8, "M": 512, "N": 256},
        "software_pipeline: expected at least 152 registers for a thread that multiplies, 128 of which hold its accumulator, got 64",
    ),
    (
        {"copied": "A"},
        "software_pipeline: expected shared buffers that TMA fills for wgmma, got stage 'B.shared': use "
        's[B.shared].copy_by("tma")',
    ),
    (
        {"copied": "B", "factor": lambda A, i, j: A[i, j] * 2},
        "software_pipeline: expected shared buffers that TMA fills for wgmma, got stage 'F', which computes its "
        'elements: compute it in global memory, and copy that with cache_read and copy_by("tma")',
    ),
    (
        {"step": 32},
        "copy_by: stage 'A.shared': expected a tile with rows of whole swizzle spans of 128 bytes, got 32 elements of "
        "'f16', 64 bytes",
    ),
    (
        {"consumers": 2},
        "specialize: expected a kernel whose blocks go through several tiles, which 2 consumer warpgroups take in turn: use "
        "s[...].persistent of the kernel's stage",
    ),
    (
        {"consumers": 5, "change": lambda s, C, **others: s[C].persistent()},
        "specialize: expected at most 1024 threads a block, got 1408: those of 10 warpgroups that multiply and of one that "
        "copies",
    ),
    (
        {"M": 256, "N": 72, "cluster": 2},
        "cluster: expected tiles of stage 'B.shared' of which each of 2 blocks copies a multiple of 8 rows, got 72 rows",
    ),
    (
        {"registers": (40, 240), "warpgroups": 4, "M": 512},
        "specialize: expected at most 61440 registers a block of 640 threads, got 128000: 40 for each of 128 threads that "
        "copy, and 240 for each of 512 that multiply",
    ),
    (
        {"registers": (24, 48)},
        "specialize: expected at least 56 registers for a thread that multiplies, 32 of which hold its accumulator, got 48",
    ),
    (
        {"registers": (24, 56), "warpgroups": 8, "M": 512},
        "specialize: expected at most 1024 threads a block, got 1152: those of 8 warpgroups that multiply and of one that "
        "copies",
    ),
    (
        {"element": lambda P, i, j: P[i, j] + P[i, (j + 1) % 64]},
        "wgmma: stage 'C' of the accumulator of 'P': expected elements that are computed each of the accumulator's element at its own place, and of "
        "what is in global memory",
    ),
    (
        {"element": other_axis},
        "wgmma: stage 'C' of the accumulator of 'P': expected loops that go through all 64 rows and 64 columns of a warpgroup's "
        "accumulator",
    ),
    (
        {"element": lambda P, i, j: P[j, i % 64], "is_copied": True},
        "wgmma: stage 'C.shared' of the accumulator of 'P': expected elements that are stored at the place of the accumulator's element that they are "
        "computed of",
    ),
    (
        {"element": lambda P, i, j: P[i, j].astype("int16"), "is_copied": True},
        "wgmma: stage 'C.shared' of the accumulator of 'P': expected elements of f32, f16, bf16 or i32, of f8E4M3FN in "
        "registers, or of 8 bits in shared memory, got 'i16'",
    ),
    (
        {"factor": lambda A, i, k: A[i, k] * 2},
        "copy_by: stage 'F': expected a copy of a tensor in global memory, zero at most where that ends",
    ),
    (
        {"factor": lambda A, i, k: te.if_then_else(i >= 3, A[i, k], 0)},
        "copy_by: stage 'F': expected zeros where the tensor ends and nowhere else, as TMA fills them in",
    ),
    (
        {"factor": lambda A, i, k: A[(i + k) // 2, k]},
        "copy_by: stage 'F': expected a copy of boxes, at indices that are sums of multiples of loops",
    ),
    (
        {"factor": lambda A, i, k: A[i // 2, k]},
        "copy_by: stage 'F': expected each dimension of the buffer to go along one of the tensor",
    ),
    (
        {"factor": lambda A, i, k: A[i, i, k], "shape_a": (128, 128, 128)},
        "copy_by: stage 'F': expected each dimension of the buffer to go along one of the tensor",
    ),
    (
        {"factor": lambda A, i, k: A[k, i]},
        "copy_by: stage 'F': expected a tile of rows and columns, whose columns are elements of the tensor that lie together",
    ),
    (
        {"factor": lambda A, i, k: A[9 * i, k], "shape_a": (1152, 128)},
        "copy_by: stage 'F': expected every element of a dimension, or one in up to 8, got one in 9",
    ),
    (
        {"factor": lambda A, i, k: A[3 * i, k], "shape_a": (384, 128)},
        "copy_by: stage 'F': expected a box across at most 256 elements of a dimension, got 384",
    ),
    (
        {"factor": lambda A, i, k: te.if_then_else(8 * i + k < 1000, A[8 * i + k], 0), "shape_a": (1000,)},
        "copy_by: stage 'F': expected elements that are all inside of dimension 0 of A, along which several loops of the copy go",
    ),
    (
        {"factor": lambda A, i, k: A[4 * i + k], "shape_a": (640,)},
        "copy_by: stage 'F': expected steps of multiples of 16 bytes along a dimension, got 8",
    ),
    (
        {"factor": lambda A, i, k: A[2 * i, k], "shape_a": (te.var("m"), 128)},
        "copy_by: stage 'F': expected constant extents of A, along whose dimensions the tile does not go one by one, got "
        "'memref<?x128xf16>'",
    ),
    (
        {"factor": lambda A, i, k: A[8 * i + k], "shape_a": (te.var("m"),)},
        "copy_by: stage 'F': expected constant extents of A, along whose dimensions the tile does not go one by one, got "
        "'memref<?xf16>'",
    ),
    (
        {"factor": lambda A, i, k: te.if_then_else(i < A.shape[0] - 1, A[i, k], 0), "shape_a": (te.var("m"), 128)},
        "copy_by: stage 'F': expected zeros where the tensor ends and nowhere else, as TMA fills them in",
    ),
    (
        {"factor": lambda A, i, k: te.if_then_else(k < A.shape[0], A[i, k], 0), "shape_a": (te.var("m"), 128)},
        "copy_by: stage 'F': expected zeros where the tensor ends and nowhere else, as TMA fills them in",
    ),
    (
        {"shape_a": (128, te.var("n"))},
        "copy_by: stage 'A.shared': expected a tensor with rows of a multiple of 16 bytes, which TMA can step over, got "
        "n elements of 'f16', of A: use te.var(\"n\", divisible_by=8)",
    ),
    (
        {"shape_a": (128, te.var("n", divisible_by=4))},
        "copy_by: stage 'A.shared': expected a tensor with rows of a multiple of 16 bytes, which TMA can step over, got "
        "n elements of 'f16', a multiple of 4, of A: use te.var(\"n\", divisible_by=8)",
    ),
    (
        {"shape_a": (128, 132)},
        "copy_by: stage 'A.shared': expected a tensor with rows of a multiple of 16 bytes, which TMA can step over, got "
        "132 elements of 'f16', 264 bytes, of A",
    ),
    (
        {"factor": lambda A, i, k: A[i, k + 4], "shape_a": (128, 256)},
        "copy_by: stage 'F': expected boxes that begin at multiples of 16 bytes of a row of A, of 8 elements, as TMA "
        "copies them",
    ),
    (
        {"change": lambda s, AS, **others: s[AS].split(s[AS].op.axis[0], factor=48)},
        "copy_by: stage 'A.shared': expected loops that go through all of the buffer",
    ),
    (
        {"change": lambda s, C, **others: s[C].copy_by("tma")},
        "copy_by: stage 'C': expected a copy of a stage in shared memory",
    ),
    (
        {"copied": "B", "change": lambda s, AS, **others: s[AS].copy_by("threads")},
        "copy_by: stage 'A.shared': expected TMA to copy to shared memory, got threads",
    ),
    (
        {"change": lambda s, P, **others: s[P].copy_by("tma")},
        "copy_by: expected a stage in shared or global memory, got 'P' in local memory",
    ),
    (
        {"change": lambda s, AS, **others: s[AS].swizzle(8)},
        "copy_by: expected a buffer that lies as TMA lays it out, got stage 'A.shared' with a layout of its own",
    ),
    (
        {"change": lambda s, P, **others: s[P].persistent()},
        "persistent: expected a stage that is computed at the root, as a kernel is, got 'P', which is computed at a loop of "
        "stage 'C'",
    ),
    (
        {"change": lambda s, C, **others: s[C].persistent(raster="hilbert")},
        "persistent: expected tiles along blockIdx.x and blockIdx.y for Hilbert's curve, got none along blockIdx.x",
    ),
    (
        {"registers": None, "change": lambda s, C, **others: s[C].persistent(stream_k=True)},
        "persistent: expected roles for stream_k, warps that copy beside those that multiply: use s[P].specialize(k.outer)",
    ),
    (
        {"M": 1024, "consumers": 2, "change": lambda s, C, **others: s[C].persistent(stream_k=True)},
        "persistent: expected one set of consumer warpgroups for stream_k, got 2, which take tiles in turn",
    ),
    (
        {"is_copied": True, "deferred": True},
        "copy_by: expected a kernel whose blocks go through several tiles for a deferred result, which is stored behind the "
        "next tile's matmul: use s[...].persistent of the kernel's stage",
    ),
    (
        {"is_copied": True, "deferred": True, "consumers": 2, "change": stays},
        "copy_by: expected one set of consumer warpgroups for a deferred result, got 2, which take tiles in turn",
    ),
    (
        {"is_copied": True, "deferred": True, "promote": True, "change": stays},
        "copy_by: expected an accumulator that the tensor cores keep for a deferred result, got a promoted one",
    ),
    (
        {"is_copied": True, "deferred": True, "registers": (24, 80), "change": stays},
        "copy_by: expected at least 88 registers for a thread that multiplies, 32 of which hold its accumulator and 32 a deferred "
        "result, got 80",
    ),
    (
        {"copied": "B", "change": lambda s, AS, **others: s[AS].copy_by("tma", deferred=True)},
        "copy_by: stage 'A.shared': expected a result to be deferred, got a copy to shared memory",
    ),
    (
        {"change": lambda s, C, **others: s[C].cluster(s[C].op.axis[1])},
        "cluster: expected an axis bound to blockIdx.x or blockIdx.y, got 'j'",
    ),
    (
        {"is_copied": True, "columns": 8},
        "copy_by: stage 'C': expected columns at once that are a multiple of 16, got 8",
    ),
    (
        {"is_copied": True, "columns": 48},
        "copy_by: stage 'C': expected columns at once that divide the tile's 64, got 48",
    ),
    (
        {"is_copied": True, "columns": 16},
        "copy_by: stage 'C': expected a tile with rows of whole swizzle spans of 128 bytes, got 16 elements of 'f32', 64 "
        "bytes",
    ),
]


@pytest.mark.parametrize(("changes", "text"), ERRORS, ids=[" ".join(map(str, changes)) for changes, _ in ERRORS])
def test_what_cannot_work_is_refused(changes: dict[str, Any], text: str) -> None:
    assert message(product(**changes)).splitlines()[0] == f"error: {text}"


@pytest.mark.parametrize(
    ("primitive", "change"),
    [
        ("copy_by", lambda s, C, block: s[C].copy_by("tma")),
        ("cluster", lambda s, C, block: s[C].cluster(block, 2)),
        ("persistent", lambda s, C, block: s[C].persistent()),
    ],
)
def test_kernels_that_do_not_multiply(primitive: str, change: Callable[..., None]) -> None:
    A = te.placeholder((64,), name="A")
    C = te.compute((64,), lambda i: A[i] + 1, name="C")
    s = te.create_schedule(C.op)
    block, _ = s[C].split(C.op.axis[0], factor=8)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    change(s, C=C, block=block)
    expected = f"error: {primitive}: expected a kernel that multiplies by wgmma, got one that does not"
    assert message((s, [A, C])).splitlines()[0] == expected


def test_a_reduction_is_no_copy() -> None:
    A = te.placeholder((64, 8), name="A")
    k = te.reduce_axis((0, 8), "k")
    C = te.compute((64,), lambda i: te.sum(A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    s[C].copy_by("tma")
    expected = "error: copy_by: expected a stage that is a copy, got the reduction 'C'"
    assert message((s, [A, C])).splitlines()[0] == expected


def test_a_schedule_is_its_calls() -> None:
    s, (*_, C) = schedules.matmul_wgmma(512, 512, 128, out_dtype="bfloat16", cluster=(2, 1))
    again = te.create_schedule(C.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()
    text = str(s.trace())
    for call in (
        'copy_by("tma", swizzle=128, columns=128)',
        "specialize(k_outer, producer_registers=40, consumer_registers=232)",
        "cluster(i0_outer, 2)",
        'persistent(8, raster="grouped", group=4)',
    ):
        assert call in text


def test_more_shared_memory_than_there_is() -> None:
    scheduled = schedules.matmul_wgmma(4096, 4096, 4096, out_dtype="bfloat16", stages=5)
    assert message(scheduled).splitlines()[0] == (
        "error: software_pipeline: expected at most 232448 bytes of shared memory a block, got 278608: 5 times 49152 for the "
        "tiles of a step, and 32768 for those of stage 'C.shared'"
    )


@pytest.mark.parametrize(
    ("scheduled", "arch", "expected"),
    [
        (product(registers=None), "sm_75", ", which has this instruction"),
        (product(dtype="float8_e4m3fn", step=128, registers=None), "sm_89", ", which has this instruction"),
        (product(), "sm_80", " for a producer warpgroup, which hands its registers to others"),
        (product(M=256, registers=None, cluster=2), "sm_90", " for tiles that the blocks of a cluster share"),
    ],
    ids=["no mma.sync", "a type", "a producer", "a cluster"],
)
def test_another_architecture(scheduled: Scheduled, arch: str, expected: str) -> None:
    told = f"error: wgmma of stage 'P': expected the architecture sm_90a{expected}, got {arch}"
    assert message(scheduled, f"cuda -arch={arch}").splitlines()[0] == told


def test_results_by_way_of_shared_memory_on_another_architecture() -> None:
    assert message(product(registers=None, is_copied=True), "cuda -arch=sm_80").splitlines()[0] == (
        "error: wgmma of stage 'P': expected the architecture sm_90 or later for fragments in shared memory, got sm_80"
    )


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("M", "N", "K", "step", "swizzle", "warpgroups"),
    [(128, 8, 256, 64, 128, 2), (256, 24, 640, 64, 128, 1), (128, 16, 256, 32, 64, 2), (64, 8, 256, 16, 32, 1),
     (250, 64, 1024, 128, 128, 2)],
)  # fmt: skip
def test_threads_copy_tiles(M: int, N: int, K: int, step: int, swizzle: int, warpgroups: int) -> None:
    """Boxes of fewer rows than threads copy at once, rows that are not there, and each swizzle, on a GPU."""
    torch = pytest.importorskip("torch")
    from kernels_of_sm_80 import KernelOfSm80

    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    rows = -(-M // (64 * warpgroups)) * 64 * warpgroups
    scheduled = product(rows, N, K, step=step, warpgroups=warpgroups, registers=None, swizzle=swizzle)
    kernel = KernelOfSm80(tw.build(*scheduled, target="cuda -arch=sm_80", name="product"))
    a, b = (torch.randn(count, K, device="cuda").half() for count in (rows, N))
    made = torch.full((rows, N), float("nan"), device="cuda")
    kernel(a[:M], b, made)
    exact = a.double() @ b.double().t()
    exact[M:] = 0
    assert (made.double() - exact).abs().max().item() < 1e-3


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("arch", ["sm_80", "sm_89", "sm_90", "sm_100a", "sm_120"])
def test_warps_multiply_where_there_is_no_wgmma(arch: str, dtype: str) -> None:
    """A warp has 16 of 64 rows: for each 16 of k and 8 columns an instruction, and what two of them need in one load."""
    func = tw.build(*product(dtype=dtype, registers=None), target=f"cuda -arch={arch}", name="product")
    kind = {"float16": "f16", "bfloat16": "bf16"}[dtype]
    assert func.ptx.count(f"mma.sync.aligned.m16n8k16.row.col.f32.{kind}.{kind}.f32") == 128 // 16 * 64 // 8
    assert func.ptx.count("ldmatrix.sync.aligned.m8n8.x4.shared.b16") == 128 // 16 * (1 + 64 // 16)
    has_tma = arch not in ("sm_80", "sm_89")
    assert ("cp.async.bulk.tensor" in func.ptx, "cp.async.cg.shared.global" in func.ptx) == (has_tma, not has_tma)
    assert ("mbarrier.try_wait" in func.ptx, "mbarrier.test_wait" in func.ptx) == (has_tma, not has_tma)
    assert "wgmma" not in func.ptx and "setmaxnreg" not in func.ptx


def test_an_error_names_the_line_of_its_own_program() -> None:
    """Though other programs have the same instruction."""
    products = [
        schedules.matmul_wgmma(64, 64, 64),
        schedules.matmul_wgmma(64, 64, 64),
    ]
    lines = []
    for scheduled in products:
        with pytest.raises(tw.CompileError, match="expected the architecture sm_90a") as error:
            tw.lower(*scheduled, stage="gpu", target="cuda -arch=sm_90")
        lines.append(int(re.findall(r"test_wgmma\.py:(\d+): error", str(error.value))[0]))
    assert lines[1] == lines[0] + 1


def test_a_flag_is_a_bool() -> None:
    s, (*_, C) = schedules.matmul_wgmma(64, 64, 64)
    with pytest.raises(TypeError, match=r"test_wgmma.py:\d+: copy_by: expected deferred to be a bool, got 1$"):
        s[C].copy_by("tma", deferred=1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"test_wgmma.py:\d+: persistent: expected stream_k to be a bool, got 'yes'$"):
        s[C].persistent(stream_k="yes")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"test_wgmma.py:\d+: persistent: expected serpentine_k to be a bool, got 2$"):
        s[C].persistent(serpentine_k=2)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"test_wgmma.py:\d+: persistent: expected an integer as narrower, got 1.5$"):
        s[C].persistent(narrower=1.5)  # pyright: ignore[reportArgumentType]


def test_tiles_of_two_widths_are_named() -> None:
    s, (*_, C) = schedules.matmul_wgmma(256, 512, 128, tile=(128, 128), blocks=5, narrower=32, serpentine_k=True)
    order = "5 blocks go through the tiles in groups of 2, some 32 columns narrower, every second from the end of its reduction"
    assert order in str(s)
    again = te.create_schedule(C.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()
    assert 'persistent(5, raster="grouped", group=2, narrower=32, serpentine_k=True)' in str(s.trace())


NARROWER = {"tile": (64, 64), "blocks": 5, "narrower": 16, "cluster": (1, 1), "transpose_b": True}
IN_TILE = te.placeholder((64,), "float32", name="weights")


@pytest.mark.parametrize(
    ("shape", "options", "expected"),
    [
        ((128, 256, 128), {"batch": 2}, "expected tiles along blockIdx.x and blockIdx.y alone for narrower ones"),
        (
            (te.var("rows"), 256, 128),
            {},
            "expected constant extents for narrower tiles, which are dealt out when the program is compiled, got a symbolic "
            "one of axis 'C.i0.outer'",
        ),
        (
            (128, 256, 128),
            {"cluster": (2, 1)},
            "expected blocks without clusters for narrower tiles, got clusters of 2",
        ),
        (
            (128, 256, 128),
            {"consumers": 2},
            "expected one set of consumer warpgroups for narrower tiles, got 2, which take tiles in turn",
        ),
        (
            (128, 256, 256),
            {"in_dtype": "float8_e4m3fn"},
            "expected an accumulator that the tensor cores keep for narrower tiles, got a promoted one",
        ),
        (
            (33, 255, 128),
            {"blocks": 3},
            'expected a matrix that TMA stores for narrower tiles: use copy_by("tma")',
        ),
        (
            (128, 256, 128),
            {"narrower": 12},
            "expected tiles narrower by a multiple of 8 below their 64 columns, got 12",
        ),
        (
            (128, 256, 128),
            {"narrower": 64},
            "expected tiles narrower by a multiple of 8 below their 64 columns, got 64",
        ),
        (
            (128, 256, 128),
            {"in_dtype": "int8", "narrower": 8},
            "expected tiles narrower by a multiple of 16 below their 64 columns, got 8",
        ),
        (
            (128, 256, 128),
            {"blocks": 4},
            "expected blocks without a tile in the last wave, for which there are narrower ones, got 8 tiles for 4 blocks",
        ),
        (
            (256, 128, 128),
            {"swap_ab": True, "narrower": 64},
            "expected tiles narrower by a multiple of 8 below their 64 rows, got 64",
        ),
        (
            (256, 128, 128),
            {"swap_ab": True, "narrower": 24},
            "expected 5 tiles of 64 and 40 rows, at least one of 64, to have the 256 rows of a column, got 24 less",
        ),
        (
            (256, 128, 128),
            {"swap_ab": True, "operands": [IN_TILE], "epilogue": lambda x, i, j: x * IN_TILE[i % 64]},
            "expected stage 'C.shared' to depend on rows and not on places in the tile, for narrower tiles",
        ),
        *(
            (
                (128, 256, 128),
                {"narrower": less},
                f"expected 5 tiles of 64 and {64 - less} columns, at least one of 64, to have the 256 columns of a row, got "
                f"{less} less",
            )
            for less in (8, 24)
        ),
        (
            (128, 256, 128),
            {"operands": [IN_TILE], "epilogue": lambda x, i, j: x * IN_TILE[j % 64]},
            "expected stage 'C.shared' to depend on columns and not on places in the tile, for narrower tiles",
        ),
        (
            (128, 256, 128),
            {"operands": [IN_TILE], "epilogue": lambda x, i, j: x * IN_TILE[j // 64]},
            "expected stage 'C.shared' to depend on columns and not on places in the tile, for narrower tiles",
        ),
    ],
)
def test_narrower_tiles_that_cannot_be(shape: tuple[Any, ...], options: dict[str, Any], expected: str) -> None:
    scheduled = schedules.matmul_wgmma(*shape, **(NARROWER | options))
    assert message(scheduled).splitlines()[0] == f"error: persistent: {expected}"


def test_llvm_does_less_for_many_sums() -> None:
    """What it numbers once more makes no better kernels of wide tiles, and takes its time."""
    for columns, target in ((128, "#nvvm.target<O = 3,"), (136, "#nvvm.target<chip")):
        scheduled = schedules.matmul_wgmma(64, columns, 128, tile=(64, columns), transpose_b=True)
        assert target in str(tw.lower(*scheduled, stage="nvvm", target="cuda -arch=sm_90a"))


def test_llvm_does_less_yet_for_sums_that_are_saved() -> None:
    scheduled = schedules.matmul_wgmma(64, 768, 1024, tile=(64, 256), blocks=2, stream_k=True)
    assert "#nvvm.target<O = 1," in str(tw.lower(*scheduled, stage="nvvm", target="cuda -arch=sm_90a"))


def test_a_transposed_result() -> None:
    """Rows of the sums are columns of what TMA stores, so many of its rows at a time."""
    options = {"warpgroups": 1, "M": 64, "element": lambda P, i, j: P[j, i], "is_copied": True}
    text = str(tw.lower(*product(**options, columns=32), stage="gpu"))
    assert re.search(r"from 32 transposed to %\w+ : <64x64xf32>, <32x64xf32, ", text)
    error = "error: copy_by: stage 'C': expected rows at once that "
    assert message(product(**options, columns=48)).splitlines()[0] == error + "divide the tile's 64, got 48"
    assert message(product(**options, columns=8)).splitlines()[0] == error + "are a multiple of 16, got 8"


def test_rows_of_a_transposed_result_lie_along_one_dimension() -> None:
    A, B = te.placeholder((64, 64), "float16", name="A"), te.placeholder((64, 64), "float16", name="B")
    k = te.reduce_axis((0, 64), "k")
    P = te.compute(
        (64, 64), lambda i, j: te.sum(A[i, k].astype("float32") * B[j, k].astype("float32"), axis=k), name="P"
    )
    C = te.compute((8, 8, 64), lambda y, x, j: P[j, y * 8 + x], name="C")
    s = te.create_schedule(C.op)
    stored = s.cache_write(C, "shared")
    block, _ = s[C].split(C.op.axis[0], factor=8)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    s[stored].compute_at(s[C], block)
    s[C].copy_by("tma")
    s[P].set_scope("local")
    warpgroup, j = s[stored].split(stored.op.axis[2], factor=64)
    s[stored].reorder(warpgroup, *stored.op.axis[:2], j)
    s[P].compute_at(s[stored], warpgroup)
    factors = [s.cache_read(tensor, "shared", [P]) for tensor in (A, B)]
    ko, ki = s[P].split(k, factor=64)
    i, j = s[P].op.axis
    s[P].reorder(ko, i, j, ki)
    for stage in factors:
        s[stage].compute_at(s[P], ko)
        s[stage].copy_by("tma")
    s[P].software_pipeline(ko, 2)
    s[P].specialize(ko)
    s[P].tensorize(i, wgmma("float16", "float32", n=64, transpose_b=True))
    expected = (
        "expected rows of the result along one dimension where they are columns of the accumulator, got 8 x 8 rows"
    )
    assert message((s, [A, B, C])).splitlines()[0] == f"error: wgmma of stage 'P': {expected}"


def test_no_fewer_blocks_than_a_cluster_has() -> None:
    scheduled = schedules.matmul_wgmma(256, 64, 128, tile=(64, 64), cluster=(2, 1), blocks=1, stream_k=True)
    expected = "error: persistent: expected at least the 2 blocks of a cluster, got 1"
    assert message(scheduled).splitlines()[0] == expected


def test_columns_of_integers() -> None:
    """Of 8 bits wgmma has fewer widths than of others."""
    tw.lower(*schedules.matmul_wgmma(64, 24, 128, "int8", tile=(64, 24), transpose_b=True), stage="gpu")
    text = message(schedules.matmul_wgmma(64, 40, 128, "int8", tile=(64, 40), transpose_b=True)).splitlines()[0]
    assert text == "error: wgmma of stage 'P': expected a multiple of 16 accumulator columns for 'i8', got 40"


def test_narrower_tiles_lie_along_x(monkeypatch: pytest.MonkeyPatch) -> None:
    other = {"blockIdx.x": "blockIdx.y", "blockIdx.y": "blockIdx.x"}

    def swapped(*arguments: Any) -> Any:
        return te.thread_axis(*arguments[:-1], other.get(arguments[-1], arguments[-1]))

    monkeypatch.setattr("tilewright.schedules.matmuls.warpgroup_tiles.thread_axis", swapped)
    text = message(schedules.matmul_wgmma(128, 256, 128, **NARROWER)).splitlines()[0]
    assert text == "error: persistent: expected tiles of so many columns each along blockIdx.x for narrower ones"
