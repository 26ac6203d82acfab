"""What tensor-core matmuls compute with any schedule, and the kernels beside the matmul's own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...dtypes import stored_as
from ...errors import TilewrightValueError as ValueError
from ...te import Expr, Tensor, compute, if_then_else, placeholder, reduce_axis, sum
from ...te import all as all_of
from ...te.schedule import Schedule, create_schedule
from ...te.tensor import Extent
from ..extents import divisor_of, round_up
from ..workspaces import add_up, copy, transposing_copy

__all__ = [
    "TiledMatmul",
    "in_whole_tiles",
    "matmul_of_tiles",
    "result_dtypes",
]


@dataclass(frozen=True, slots=True)
class TiledMatmul:
    """A matmul or batched matmul in te, and a schedule in which all kernels but the matmul's own are done.

    Those are the kernels that copy operands to whole tiles, and the kernel that adds the results of split-K.

    `sources` are the operands as the matmul's kernel reads them, and `tiles` are the same in whole tiles.
    `accumulator` is in whole tiles, too, or its transpose is. `tiled` is what the matmul's kernel stores: C, or with
    split-K the partial results.
    """

    schedule: Schedule
    A: Tensor
    B: Tensor
    sources: tuple[Tensor, Tensor]
    tiles: tuple[Tensor, Tensor]
    accumulator: Tensor
    tiled: Tensor
    C: Tensor


def result_dtypes(in_dtype: str, acc_dtype: str | None, out_dtype: str | None) -> tuple[str, str]:
    """The accumulator's type and the result's type for operands of a type, where these are not given."""
    acc_dtype = acc_dtype or ("int32" if in_dtype == "int8" else "float32")
    return acc_dtype, out_dtype or acc_dtype


def matmul_of_tiles(
    extents: tuple[Extent, Extent, Extent],
    dtypes: tuple[str, str, str],
    tile: tuple[int, int, int],
    *,
    batch: Extent | None,
    transpose_a: bool,
    transpose_b: bool,
    epilogue: Callable[..., Expr] | None,
    split_k: int,
    whole: int | tuple[bool, bool],
    swap_ab: bool = False,
    turned: tuple[bool, bool] = (False, False),
) -> TiledMatmul:
    """C = A B of `extents` M, N and K, padded to whole tiles of rows and columns of C and of k.

    `dtypes` are those of the operands, of the accumulator and of C.

    An operand is first copied to a workspace of whole tiles if `whole` says so. This also happens if its rows are not
    multiples of the given number of elements. For a symbolic extent, its known divisor counts. With a `split_k` above
    1, the accumulator has this many in its first dimension. With `swap_ab`, the accumulator is that of C's transpose,
    the matmul of B's transpose and A's. Operands that are `turned` are first transposed into a workspace.
    """
    M, N, K = extents
    if split_k > 1 and not isinstance(K, int):
        raise ValueError(f"expected a number for K, which split_k={split_k} divides, got {K}")
    in_dtype, acc_dtype, out_dtype = dtypes
    dtype = stored_as(in_dtype)
    rows, columns, length = (round_up(size, of) for size, of in ((M, tile[0]), (N, tile[1]), (K, split_k * tile[2])))
    share = length if split_k == 1 else length // split_k
    some = () if batch is None else (batch,)
    A = placeholder((*some, *((K, M) if transpose_a else (M, K))), dtype, name="A")
    B = placeholder((*some, *((N, K) if transpose_b else (K, N))), dtype, name="B")
    # What the matmul's kernel reads may be another way round than what is given.
    transpose_a, transpose_b = transpose_a != turned[0], transpose_b != turned[1]
    shapes = (
        (*some, *((length, rows) if transpose_a else (rows, length))),
        (*some, *((columns, length) if transpose_b else (length, columns))),
    )
    pads = whole if isinstance(whole, tuple) else tuple(divisor_of(tensor.shape[-1]) % whole != 0 for tensor in (A, B))
    Ap, Bp = (
        in_whole_tiles(tensor, shape, name, turned=turns) if turns or pad else tensor
        for tensor, shape, name, turns, pad in zip((A, B), shapes, ("Ap", "Bp"), turned, pads, strict=True)
    )
    As, Bs = in_whole_tiles(Ap, shapes[0], "As"), in_whole_tiles(Bp, shapes[1], "Bs")
    k = reduce_axis((0, share), "k")

    def swapped(at: Sequence[Any]) -> tuple[Any, ...]:
        return (*at[:-2], at[-1], at[-2]) if swap_ab else tuple(at)

    def accumulated(of: Sequence[Expr], at: Expr) -> Expr:
        *some, i, j = swapped(of)
        a = As[(*some, at, i) if transpose_a else (*some, i, at)]
        b = Bs[(*some, j, at) if transpose_b else (*some, at, j)]
        left, right = (b, a) if swap_ab else (a, b)
        return sum(left * right if dtype == acc_dtype else left.astype(acc_dtype) * right.astype(acc_dtype), axis=k)

    def result(value: Expr, *at: Expr) -> Expr:
        return (epilogue(value, *at) if epilogue else value).astype(out_dtype)

    if split_k == 1:
        P = compute(swapped((*some, rows, columns)), lambda *at: accumulated(at, k), name="P")
        C = tiled = total = compute((*some, M, N), lambda *at: result(P[swapped(at)], *at), name="C")
    else:
        p = reduce_axis((0, split_k), "p")
        shape = (split_k, *some, rows, columns)

        def of_part(p: Expr, *at: Expr) -> Expr:
            return accumulated(at, p * share + k)

        P = compute(swapped(shape), of_part, name="P")
        tiled = compute(shape, lambda *at: P[swapped(at)], name="parts")
        total = compute((*some, M, N), lambda *at: sum(tiled[(p, *at)], axis=p), name="total")
        C = compute((*some, M, N), lambda *at: result(total[at], *at), name="C")
    s = create_schedule(C.op)
    for source, read, turns in zip((A, B), (Ap, Bp), turned, strict=True):
        if turns:
            transposing_copy(s, read, source)
        elif read is not source:
            copy(s[read])
    if split_k > 1:
        add_up(s, C, total)
    return TiledMatmul(s, A, B, (Ap, Bp), (As, Bs), P, tiled, C)


def in_whole_tiles(tensor: Tensor, shape: Sequence[Extent], name: str, *, turned: bool = False) -> Tensor:
    """The tensor, with zeros where it ends before `shape` does; `turned` with its last two axes in the other order."""

    def placed(at: Sequence[Any]) -> tuple[Any, ...]:
        return (*at[:-2], at[-1], at[-2]) if turned else tuple(at)

    def element(*at: Expr) -> Expr:
        inside = [i < had for i, had, has in zip(placed(at), tensor.shape, placed(shape), strict=True) if had != has]
        return if_then_else(all_of(*inside), tensor[placed(at)], 0) if inside else tensor[placed(at)]

    return compute(shape, element, name=name)
