"""Ready products on the simulator beside NumPy in float64, for the tests of each schedule that makes one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tilewright as tw
from tilewright import te, testing
from tilewright.runtime.ndarray import as_dtype

# What a number that is rounded to it may be off by, relative to it.
ROUNDING = {"float16": 2**-11, "bfloat16": 2**-8, "float32": 2**-24, "int32": 0.0}


def random_factor(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    if dtype == "int8":
        return rng.integers(-128, 128, shape, dtype=np.int8)
    values = rng.standard_normal(shape).astype(np.float32)
    return values if dtype == "tf32" else values.astype(as_dtype(dtype))


def check(
    schedule: Callable[..., Any],
    shape: tuple[Any, Any, Any],
    types: tuple[str, str, str],
    *,
    roundings: int,
    shapes: Sequence[tuple[int, int, int]] | None = None,
    bias: str | None = None,
    residual: str | None = None,
    **options: Any,
) -> None:
    """A product by `schedule`, of factors, sums and a result of `types`; one of symbolic extents with each of `shapes`.

    With a `bias` of some type the sums and it go through a relu, and a `residual` is added to that. Each sum may be
    rounded so many times more than once for each 8 products.
    """
    M, N, K = shape
    in_dtype, acc_dtype, out_dtype = types
    some = (options["batch"],) if "batch" in options else ()
    sizes = [(dtype, size) for dtype, size in ((bias, (N,)), (residual, (*some, M, N))) if dtype]
    operands = [te.placeholder(size, dtype, name=f"added{i}") for i, (dtype, size) in enumerate(sizes)]
    if bias:
        options["operands"] = operands

        def epilogue(value: te.Expr, *at: te.Expr) -> te.Expr:
            biased = te.max(value + operands[0][at[-1]].astype(acc_dtype), 0)
            return biased + operands[1][at] if residual else biased

        options["epilogue"] = epilogue
    func = tw.build(*schedule(M, N, K, in_dtype, out_dtype, acc_dtype=acc_dtype, **options), target="sim", name="mm")
    for one in shapes or [shape]:
        _check_call(func, one, types, roundings, bias, residual, **options)


def _check_call(
    func: tw.Function,
    shape: tuple[int, int, int],
    types: tuple[str, str, str],
    roundings: int,
    bias: str | None,
    residual: str | None,
    **options: Any,
) -> None:
    M, N, K = shape
    in_dtype, acc_dtype, out_dtype = types
    some = (options["batch"],) if "batch" in options else ()
    sizes = [(dtype, size) for dtype, size in ((bias, (N,)), (residual, (*some, M, N))) if dtype]
    rng = np.random.default_rng(M * N + K)
    a = random_factor(rng, (*some, *((K, M) if options.get("transpose_a") else (M, K))), in_dtype)
    b = random_factor(rng, (*some, *((N, K) if options.get("transpose_b") else (K, N))), in_dtype)
    added = [random_factor(rng, size, dtype) for dtype, size in sizes]
    (c,) = testing.run(func, [a, b, *added], [((*some, M, N), out_dtype)])
    left = (a.swapaxes(-1, -2) if options.get("transpose_a") else a).astype(np.float64)
    right = (b.swapaxes(-1, -2) if options.get("transpose_b") else b).astype(np.float64)
    exact, terms = left @ right, np.abs(left) @ np.abs(right)
    if bias:
        exact = np.maximum(exact + added[0].astype(np.float64), 0)
    if residual:
        exact = exact + added[1]
    for one in added:
        terms = terms + np.abs(one.astype(np.float64))
    # tf32 leaves out 13 bits of each factor.
    steps = (-(-K // 8) + roundings) * ROUNDING[acc_dtype] + (2 * 2**-10 if in_dtype == "tf32" else 0)
    bound = terms * steps + np.abs(exact) * ROUNDING[out_dtype] * 1.01
    assert (np.abs(c.astype(np.float64) - exact) <= bound).all(), shape
