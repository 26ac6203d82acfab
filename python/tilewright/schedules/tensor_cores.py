"""Matrix products by tensor cores."""

from __future__ import annotations

from math import gcd

from ..instructions import MMA_SYNC, mma_sync
from ..schedule import Schedule, Stage, create_schedule
from ..te import Expr, Tensor, compute, if_then_else, placeholder, reduce_axis, sum, thread_axis
from ..te import all as all_of

__all__ = ["matmul_mma"]

_BITS = {"int8": 8, "float16": 16, "bfloat16": 16, "tfloat32": 32}
# Bytes that a thread copies at once.
_COPY = 16


def matmul_mma(
    M: int,
    N: int,
    K: int,
    in_dtype: str = "float16",
    out_dtype: str | None = None,
    *,
    sum_dtype: str | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    tile: tuple[int, int] = (128, 128),
    step: int | None = None,
    warps: tuple[int, int] = (2, 4),
    depth: int = 3,
    min_blocks: int | None = None,
) -> tuple[Schedule, list[Tensor]]:
    """C = A B by ``mma.sync``: A is M x K, B is K x N, C is M x N, row-major; a factor that is transposed is stored as
    K x M, or N x K.

    A block of `warps` computes a `tile` of C, each warp a part of it that lies together. Along k it goes in steps of
    128 bytes of a factor, unless `step` is given: while it multiplies, the factors of the next `depth - 1` steps are on
    their way to shared memory by ``cp.async``, 16 bytes a thread. Granules of 16 bytes are exchanged within the rows of
    shared memory, so that ``ldmatrix`` reads its rows from all banks. The lanes of a warp store their own elements of
    C, cast to `out_dtype`, two beside each other. With `min_blocks`, registers are spared until so many blocks fit a
    multiprocessor, which then wait at different times.

    What tiles have past the edges of A and B is filled with zeros; then it goes by way of registers, as many elements
    at once as the rows of a factor are multiples of.

    Raises
    ------
    ValueError
        Where there is no instruction of these types; where `tile` is no multiple of `warps` times 16 x 8, or `step`
        none of the instruction's k.

    >>> import tilewright as tw
    >>> s, tensors = matmul_mma(256, 256, 256, "bfloat16", transpose_b=True)
    >>> func = tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul")
    >>> "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" in func.ptx
    True
    """
    sum_dtype = sum_dtype or ("int32" if in_dtype == "int8" else "float32")
    mma = mma_sync(in_dtype, sum_dtype, transpose_a=transpose_a, transpose_b=transpose_b)
    instruction_k = MMA_SYNC[in_dtype, sum_dtype]
    dtype = "float32" if in_dtype == "tfloat32" else in_dtype
    granule = _COPY * 8 // _BITS[in_dtype]
    step = step or 8 * granule
    if tile[0] % (16 * warps[0]) or tile[1] % (8 * warps[1]) or step % instruction_k:
        raise ValueError(
            f"expected a tile of multiples of {16 * warps[0]} x {8 * warps[1]}, which {warps[0]} x {warps[1]} warps "
            f"share, and a step that is a multiple of {instruction_k}, got a tile of {tile} and a step of {step}"
        )

    rows, columns, length = (-(-extent // by) * by for extent, by in zip((M, N, K), (*tile, step), strict=True))
    A = placeholder((K, M) if transpose_a else (M, K), dtype, name="A")
    B = placeholder((N, K) if transpose_b else (K, N), dtype, name="B")

    def padded(tensor: Tensor, shape: tuple[int, int], name: str) -> Tensor:
        def element(x: Expr, y: Expr) -> Expr:
            inside = [at < had for at, had, has in zip((x, y), tensor.shape, shape) if had != has]
            return if_then_else(all_of(*inside), tensor[x, y], 0) if inside else tensor[x, y]

        return compute(shape, element, name=name)

    As = padded(A, (length, rows) if transpose_a else (rows, length), "As")
    Bs = padded(B, (columns, length) if transpose_b else (length, columns), "Bs")
    k = reduce_axis((0, length), "k")

    def product(i: Expr, j: Expr) -> Expr:
        a, b = As[(k, i) if transpose_a else (i, k)], Bs[(j, k) if transpose_b else (k, j)]
        return a * b if dtype == sum_dtype else a.astype(sum_dtype) * b.astype(sum_dtype)

    Cl = compute((rows, columns), lambda i, j: sum(product(i, j), axis=k), name="Cl")
    C = compute((M, N), lambda i, j: Cl[i, j].astype(out_dtype or sum_dtype), name="C")
    s = create_schedule(C.op)

    by, i = s[C].split(C.op.axis[0], factor=tile[0])
    bx, j = s[C].split(C.op.axis[1], factor=tile[1])
    wy, i = s[C].split(i, nparts=warps[0])
    wx, j = s[C].split(j, nparts=warps[1])
    s[C].reorder(by, bx, wy, wx, i, j)
    for axis, tag in zip((by, bx, wy, wx), ("blockIdx.y", "blockIdx.x", "threadIdx.z", "threadIdx.y"), strict=True):
        s[C].bind(axis, thread_axis(tag))

    if min_blocks is not None:
        s[C].launch_bounds(min_blocks)

    s[Cl].set_scope("local")
    s[Cl].compute_at(s[C], wx)
    i, j = s[Cl].op.axis
    ko, ki = s[Cl].split(s[Cl].op.reduce_axis[0], factor=step)
    ki, kt = s[Cl].split(ki, factor=instruction_k)
    i, it = s[Cl].split(i, factor=16)
    j, jt = s[Cl].split(j, factor=8)
    s[Cl].reorder(ko, ki, i, j, it, jt, kt)
    for axis in (ki, i, j):
        s[Cl].unroll(axis)
    s[Cl].tensorize(it, mma)

    is_whole = all(stage.shape == tensor.shape for stage, tensor in ((As, A), (Bs, B)))
    factors = ((As, M if transpose_a else K, not transpose_a), (Bs, K if transpose_b else N, transpose_b))
    beside = max(1, 8 * granule // step)
    for stage, extent, has_k_in_rows in factors:
        s[stage].set_scope("shared")
        fragments = s.cache_read(stage, "local", [Cl])
        s[fragments].compute_at(s[Cl], ki)
        s[stage].compute_at(s[Cl], ko)
        if has_k_in_rows and step < 8 * granule:
            # Rows shorter than all banks lie side by side.
            s[stage].transform_layout(lambda x, y: [x // beside, x % beside * step + y])
        s[stage].swizzle(granule)
        # As many elements at once as all rows of the tensor are multiples of: then no predicate parts them.
        _fetch(s[stage], gcd(granule, extent), warps)
    s[Cl].software_pipeline(ko, depth if is_whole else 2, use_async=is_whole)
    return s, [A, B, C]


def _fetch(stage: Stage, width: int, warps: tuple[int, int]) -> None:
    """All threads of the block compute a stage of two axes, in turns, neighbours what lies together."""
    row, column = stage.op.axis
    column, lane = stage.split(column, factor=width)
    turn, x = stage.split(stage.fuse(row, column), factor=32)
    turn, y = stage.split(turn, factor=warps[1])
    turn, z = stage.split(turn, factor=warps[0])
    stage.unroll(turn)
    for axis, tag in ((x, "threadIdx.x"), (y, "threadIdx.y"), (z, "threadIdx.z")):
        stage.bind(axis, thread_axis(tag))
    if width > 1:
        stage.vectorize(lane)
