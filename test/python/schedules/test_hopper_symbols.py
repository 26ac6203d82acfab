"""Products by warpgroups of symbolic extents: one kernel, on the simulator with several extents each."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import products
import tilewright as tw
from tilewright import schedules, te, testing
from tilewright.backend.cubin import link
from tilewright.instructions import wgmma
from tilewright.runtime.ndarray import as_dtype
from tilewright.te import Var

TYPES = ("bfloat16", "float32", "bfloat16")
SMALL: dict[str, Any] = {"tile": (64, 64), "blocks": 2}
M, N, K = te.var("M"), te.var("N", divisible_by=8), te.var("K", divisible_by=8)


def check(shape: tuple[Any, Any, Any], sizes: list[Any], types: tuple[str, str, str] = TYPES, **options: Any) -> None:
    """A product whose symbolic extents are all of each size, or of each tuple of these."""
    added = "float32" if options.pop("bias", False) else None
    shapes = []
    for size in sizes:
        given = iter(size if isinstance(size, tuple) else (size,) * 3)
        shapes.append(tuple(next(given) if isinstance(extent, Var) else extent for extent in shape))
    products.check(
        schedules.matmul_wgmma,
        shape,
        types,
        roundings=3,
        shapes=shapes,
        bias=added,
        residual=added,
        **(SMALL | options),
    )


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((M, 128, 128), {}),
        ((M, 64, 64), {"tile": (128, 64)}),
        ((M, 64, 64), {"cluster": (2, 1)}),
        ((M, 64, 64), {"cluster": (2, 1), "blocks": None}),
        ((M, 128, 64), {"cluster": (1, 2)}),
        ((M, 136, 72), {"transpose_b": True, "raster": "row", "blocks": 3}),
        ((M, 64, 128), {"blocks": None}),
        ((M, 72, 72), {"bias": True, "group": 2, "blocks": 3}),
        ((M, 71, 65), {"bias": True, "transpose_b": True}),
        ((M, 64, 128), {"consumers": 2, "blocks": 1}),
        ((M, 64, 192), {"specialize": False, "stages": 3}),
        ((M, 72, 72), {"batch": 2, "bias": True}),
    ],
)
def test_rows(shape: tuple[Any, Any, Any], options: dict[str, Any]) -> None:
    check(shape, [1, 64, 127, 128, 129, 300], **options)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((64, N, 64), {}),
        ((64, N, 64), {"transpose_b": True, "cluster": (1, 2)}),
        ((72, 72, K), {"cluster": (2, 1)}),
        ((72, 72, K), {"transpose_a": True, "transpose_b": True, "blocks": None}),
        ((72, 72, K), {"specialize": False, "stages": 3}),
        ((M, N, K), {"bias": True, "raster": "row"}),
        ((M, N, K), {"batch": 2, "group": 2, "blocks": 3}),
        ((64, 64, te.var("K", divisible_by=8, min=8)), {"raster": "hilbert"}),
        ((te.var("M", divisible_by=8), 64, 64), {"transpose_a": True}),
    ],
)
def test_columns_and_steps(shape: tuple[Any, Any, Any], options: dict[str, Any]) -> None:
    check(shape, [8, 64, 128, 136, 328], **options)


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((64, te.var("N"), 64), {}),
        ((64, 64, te.var("K")), {"transpose_b": True}),
        ((M, 64, 64), {"transpose_a": True}),
        ((te.var("M"), te.var("N"), te.var("K")), {"bias": True}),
    ],
)
def test_rows_of_any_length(shape: tuple[Any, Any, Any], options: dict[str, Any]) -> None:
    """Factors and C go by way of a workspace."""
    check(shape, [1, 63, 129, 200], **options)


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "types",
    [
        ("float16", "float32", "float32"),
        ("float16", "float16", "float16"),
        ("tf32", "float32", "float32"),
        ("float8_e4m3fn", "float32", "bfloat16"),
        ("int8", "int32", "int32"),
    ],
    ids="-".join,
)
def test_types(types: tuple[str, str, str]) -> None:
    check((M, 64, te.var("K", divisible_by=16)), [(1, 16), (65, 144), (200, 160)], types, transpose_b=True)


@pytest.mark.sample(1)
@pytest.mark.parametrize("options", [{}, {"specialize": False, "stages": 3}, {"cluster": (2, 1)}, {"bias": True}])
def test_nothing_to_sum_or_to_store(options: dict[str, Any]) -> None:
    """Sums over nothing are zero, of tensors without elements, which have no tensor map."""
    check((M, N, K), [(72, 72, 0), (0, 72, 72), (72, 0, 72), (0, 0, 0), (72, 72, 72)], **options)


def test_parts_of_sums() -> None:
    check((M, N, 256), [(1, 8), (64, 64), (130, 136)], split_k=2)


def test_a_symbolic_batch() -> None:
    func = tw.build(*schedules.matmul_wgmma(72, 72, 72, batch=te.var("many"), **SMALL), target="sim", name="mm")
    rng = np.random.default_rng(0)
    for many in (0, 1, 3):
        a, b = (rng.standard_normal((many, 72, 72)).astype(as_dtype("bfloat16")) for _ in "ab")
        (c,) = testing.run(func, [a, b], [((many, 72, 72), "float32")])
        testing.assert_within(c, a.astype(np.float64) @ b.astype(np.float64), 1e-4)


def test_rows_beyond_are_left_alone() -> None:
    """A view's rows are computed, of arrays that go on behind it with NaN."""
    func = tw.build(*schedules.matmul_wgmma(M, 72, 64, "bfloat16", "bfloat16", **SMALL), target="sim", name="mm")
    b = np.random.default_rng(0).standard_normal((64, 72)).astype(as_dtype("bfloat16"))
    for rows in (1, 63, 65, 130):
        a, c = (testing.poisoned((rows + 200, columns), as_dtype("bfloat16")) for columns in (64, 72))
        a[:rows] = np.random.default_rng(rows).standard_normal((rows, 64))
        func(a[:rows], b, c[:rows])
        exact = a[:rows].astype(np.float64) @ b.astype(np.float64)
        testing.assert_within(c[:rows], exact, np.abs(exact) * 2**-8 + 1e-4)
        assert np.isnan(c[rows:].astype(np.float32)).all()


def test_rows_of_a_wider_array() -> None:
    """Any number of rows, any distance from one to the next: what the map is made of comes with the call."""
    A = te.placeholder((M, 128), "float16", name="A", strides=(te.var("ld", divisible_by=8), 1))
    B, k = te.placeholder((64, 128), "float16", name="B"), te.reduce_axis((0, 128), "k")
    rows = (M + 63) // 64 * 64
    As = te.compute((rows, 128), lambda i, j: te.if_then_else(i < M, A[i, j], 0), name="As")
    P = te.compute(
        (rows, 64), lambda i, j: te.sum(As[i, k].astype("float32") * B[j, k].astype("float32"), axis=k), name="P"
    )
    C = te.compute((M, 64), lambda i, j: P[i, j], name="C")
    s = te.create_schedule(C.op)
    Bs = s.cache_read(B, "shared", [P])
    block, i = s[C].split(C.op.axis[0], factor=64)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    s[P].set_scope("local")
    s[P].compute_at(s[C], block)
    ko, ki = s[P].split(k, factor=64)
    i, j = s[P].op.axis
    s[P].reorder(ko, i, j, ki)
    s[As].set_scope("shared")
    for stage in (As, Bs):
        s[stage].compute_at(s[P], ko)
        s[stage].copy_by("tma", swizzle=128)
    s[P].software_pipeline(ko, 2)
    s[P].specialize(ko, 40, 232)
    s[P].tensorize(i, wgmma("float16", "float32", n=64, k=64, transpose_b=True))
    func = tw.build(s, [A, B, C], target="sim", name="mm")
    rng = np.random.default_rng(0)
    b = rng.standard_normal((64, 128)).astype(np.float16)
    for tall, wide in ((1, 128), (65, 136), (130, 200)):
        whole = rng.standard_normal((tall, wide)).astype(np.float16)
        a, c = whole[:, :128], testing.poisoned((tall, 64), np.float32)
        func(a, b, c)
        testing.assert_within(c, a.astype(np.float64) @ b.T.astype(np.float64), 1e-4)


def test_as_many_blocks_as_there_are_tiles() -> None:
    func = tw.build(*schedules.matmul_wgmma(M, 128, 64, tile=(64, 64), blocks=5), target="sim", name="mm")

    def grid(rows: int) -> list[tuple[int, int, int]]:
        arrays = [np.zeros(shape, dtype) for shape, dtype in zip(((rows, 64), (64, 128)), (as_dtype("bfloat16"),) * 2)]
        return [launch.grid for launch in func.launch_config(*arrays, np.zeros((rows, 128), np.float32))]

    assert [grid(rows) for rows in (0, 1, 64, 65, 300)] == [[], [(2, 1, 1)], [(2, 1, 1)], [(4, 1, 1)], [(5, 1, 1)]]


@pytest.mark.parametrize(
    ("shape", "options", "text"),
    [
        (
            (M, 64, 64),
            {"stream_k": True},
            "persistent: expected constant extents for stream_k, which deals out the steps of tiles when the program is "
            "compiled, got a symbolic one of axis 'C.i0.outer'",
        ),
        (
            (72, 72, K),
            {"stream_k": True},
            "persistent: expected constant extents for stream_k, which deals out the steps of tiles when the program is "
            "compiled, got a symbolic one of axis 'P.k.outer'",
        ),
        (
            (72, N, 64),
            {"raster": "hilbert"},
            "persistent: expected constant extents for Hilbert's curve, whose squares are laid when the program is compiled, "
            "got a symbolic one of axis 'C.i1.outer': use raster=\"grouped\"",
        ),
        (
            (72, 72, K),
            {"consumers": 2},
            "specialize: expected a constant number of iterations for 2 consumer warpgroups, each of which passes over the slots of the "
            "others' tiles, got a symbolic extent of axis 'P.k.outer'",
        ),
        (
            (72, 72, te.var("K", divisible_by=16)),
            {"in_dtype": "float8_e4m3fn", "transpose_b": True, "promote": 256},
            "wgmma of stage 'P': expected a constant number of iterations, of each 2 of which the accumulator is promoted together, "
            "got a symbolic extent of axis 'P.k.outer': promote after each",
        ),
    ],
)
def test_what_needs_numbers_is_refused(shape: tuple[Any, Any, Any], options: dict[str, Any], text: str) -> None:
    with pytest.raises(tw.CompileError) as error:
        tw.lower(*schedules.matmul_wgmma(*shape, **(SMALL | options)), stage="gpu")
    first = str(error.value).splitlines()[0]
    assert re.sub(r"^.*\.py:\d+: ", "", first) == f"error: {text}"
    assert "test_hopper_symbols.py" in first


def test_parts_need_a_number() -> None:
    with pytest.raises(ValueError, match=r"^expected a number for K, which split_k=2 divides, got K$"):
        schedules.matmul_wgmma(72, 72, K, split_k=2)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"out_dtype": "float32"},
        {"tile": (192, 128)},
        {"tile": (64, 256), "consumers": 2},
        {"cluster": (2, 1)},
        {"tile": (256, 128), "raster": "row"},
    ],
)
def test_registers_are_those_of_constant_extents(options: dict[str, Any]) -> None:
    """And ptxas has nothing to note, and spills nothing."""

    def registers(*shape: Any) -> int:
        scheduled = schedules.matmul_wgmma(*shape, **({"out_dtype": "bfloat16"} | options))
        cubin = link(tw.build(*scheduled, target="cuda -arch=sm_90a", name="mm").ptx, "sm_90a")
        assert not cubin.notes
        (one,) = cubin.resources.values()
        assert not one.spill_store_bytes and not one.stack_bytes
        return one.registers

    symbolic = (M, 4096, 4096) if "consumers" in options else (M, N, K)
    assert registers(*symbolic) <= registers(4096, 4096, 4096)


def test_a_schedule_is_chosen_for_the_greatest_extents() -> None:
    tokens = te.var("tokens", max=8192)
    s, (_, _, C) = schedules.matmul(tokens, 4096, 4096, "bfloat16", transpose_b=True)
    assert C.shape[0] is tokens and "wgmma" in s.ir() and "stream_k" not in s.ir()
    assert "mma_sync" in schedules.matmul(te.var("tokens", max=16), 4096, 4096, "bfloat16", transpose_b=True)[0].ir()
    text = "expected a greatest value of M to choose a schedule for, as te.var(..., max=4096) has, got M"
    with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
        schedules.matmul(M, 64, 64)
    with pytest.raises(ValueError, match=r"^expected numbers for the extents of a float32 matmul, which is by sgemm$"):
        schedules.matmul(tokens, 64, 64, "float32")


@pytest.mark.sweep
def test_a_chosen_schedule_for_any_extents() -> None:
    extents = te.var("M", max=500), te.var("N", max=256, divisible_by=8), te.var("K", max=256, divisible_by=8)
    shapes = [(1, 8, 8), (65, 72, 136), (300, 256, 256)]
    products.check(schedules.matmul, extents, TYPES, roundings=3, shapes=shapes, transpose_b=True)
