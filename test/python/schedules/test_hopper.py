"""Products by warpgroups on the simulator: all types and layouts, ragged extents, clusters, epilogues, parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import schedules, te, testing
from tilewright.codegen import link
from tilewright.runtime.ndarray import as_dtype

SMALL: dict[str, Any] = {"tile": (64, 64), "blocks": 2}
TYPES = [
    ("float16", "float32", "float32"),
    ("float16", "float16", "float16"),
    ("bfloat16", "float32", "bfloat16"),
    ("tfloat32", "float32", "float32"),
    ("float8_e4m3fn", "float32", "bfloat16"),
    ("float8_e5m2", "float32", "float16"),
    ("int8", "int32", "int32"),
]
# What a number that is rounded to it may be off by, relative to it.
ROUNDING = {"float16": 2**-11, "bfloat16": 2**-8, "float32": 2**-24, "int32": 0.0}


def random_factor(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    if dtype == "int8":
        return rng.integers(-128, 128, shape, dtype=np.int8)
    values = rng.standard_normal(shape).astype(np.float32)
    return values if dtype == "tfloat32" else values.astype(as_dtype(dtype))


def check(shape: tuple[int, int, int], types: tuple[str, str, str], **options: Any) -> None:
    """A product on the simulator, with `bias`, a relu and a residual where options say so."""
    M, N, K = shape
    in_dtype, sum_dtype, out_dtype = types
    some = (options["batch"],) if "batch" in options else ()
    has_bias = options.pop("bias", False)
    if has_bias:
        bias, residual = (
            te.placeholder((N,), "float32", name="bias"),
            te.placeholder((*some, M, N), "float32", name="R"),
        )
        options["operands"] = [bias, residual]
        options["epilogue"] = lambda value, *at: te.max(value + bias[at[-1]], 0) + residual[at]
    func = tw.build(
        *schedules.matmul_wgmma(M, N, K, in_dtype, out_dtype, sum_dtype=sum_dtype, **options), target="sim", name="mm"
    )
    rng = np.random.default_rng(M * N + K)
    a = random_factor(rng, (*some, *((K, M) if options.get("transpose_a") else (M, K))), in_dtype)
    b = random_factor(rng, (*some, *((N, K) if options.get("transpose_b") else (K, N))), in_dtype)
    added = [random_factor(rng, size, "float32") for size in ((N,), (*some, M, N))] if has_bias else []
    (c,) = testing.run(func, [a, b, *added], [((*some, M, N), out_dtype)])
    left = (a.swapaxes(-1, -2) if options.get("transpose_a") else a).astype(np.float64)
    right = (b.swapaxes(-1, -2) if options.get("transpose_b") else b).astype(np.float64)
    exact, terms = left @ right, np.abs(left) @ np.abs(right)
    if has_bias:
        exact = np.maximum(exact + added[0].astype(np.float64), 0) + added[1]
        terms = terms + np.abs(added[0].astype(np.float64)) + np.abs(added[1])
    # Each of the sums is rounded once an instruction; tf32 leaves out 13 bits of each factor.
    steps = (-(-K // 8) + 3) * ROUNDING[sum_dtype] + (2 * 2**-10 if in_dtype == "tfloat32" else 0)
    bound = terms * steps + np.abs(exact) * ROUNDING[out_dtype] * 1.01
    assert (np.abs(c.astype(np.float64) - exact) <= bound).all()


@pytest.mark.parametrize("types", TYPES, ids="-".join)
def test_types(types: tuple[str, str, str]) -> None:
    check((64, 128, 160), types, transpose_b=True, **SMALL)


@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
def test_layouts(transpose_a: bool, transpose_b: bool) -> None:
    check((128, 128, 128), TYPES[2], transpose_a=transpose_a, transpose_b=transpose_b, **SMALL)


@pytest.mark.parametrize(
    ("shape", "options"),
    [
        ((256, 128, 64), {"tile": (128, 64)}),
        ((256, 64, 64), {"tile": (128, 64), "cluster": (2, 1)}),
        ((64, 128, 64), {"cluster": (1, 2)}),
        ((64, 128, 64), {"cluster": (1, 2), "transpose_b": True}),
        ((128, 192, 64), {"blocks": None, "cluster": (1, 1)}),
        ((128, 128, 320), {"specialize": False, "depth": 3}),
        ((256, 64, 128), {"specialize": False, "tile": (128, 64), "cluster": (2, 1)}),
        ((70, 72, 72), {}),
        ((70, 71, 72), {"transpose_b": True}),
        ((33, 47, 65), {}),
        ((33, 48, 66), {"transpose_a": True}),
        ((64, 64, 64), {"batch": 3, "cluster": (1, 1)}),
        ((72, 72, 72), {"batch": 2, "bias": True}),
        ((64, 64, 250), {"parts": 3}),
        ((72, 72, 128), {"bias": True}),
        ((72, 71, 128), {"bias": True, "transpose_b": True}),
    ],
)
def test_shapes(shape: tuple[int, int, int], options: dict[str, Any]) -> None:
    check(shape, TYPES[0], **(SMALL | options))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="expected a tile with a multiple of 64 rows, of which a warpgroup has 64"):
        schedules.matmul_wgmma(64, 64, 64, tile=(96, 64))
    with pytest.raises(ValueError, match="expected a positive number of parts, and one of a batch, got 2"):
        schedules.matmul_wgmma(64, 64, 64, batch=2, parts=2)


@pytest.mark.parametrize("options", [{}, {"out_dtype": "float32"}, {"tile": (192, 128)}, {"tile": (64, 256)}])
def test_nothing_is_spilled_and_nothing_waits(options: dict[str, Any]) -> None:
    """What ptxas says of a kernel of full size: no notes, no spills."""
    options = {"out_dtype": "bfloat16"} | options
    func = tw.build(*schedules.matmul_wgmma(4096, 4096, 4096, **options), target="cuda -arch=sm_90a", name="mm")
    cubin = link(func.ptx, "sm_90a")
    assert not cubin.notes
    assert all(not one.spill_store_bytes and not one.stack_bytes for one in cubin.resources.values())
