"""Matrix products by the warpgroups of sm_90a, which asynchronous copies feed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..instructions import WGMMA, wgmma
from ..schedule import Schedule, create_schedule
from ..te import Expr, Tensor, compute, if_then_else, placeholder, reduce_axis, sum, thread_axis
from ..te import all as all_of

__all__ = ["matmul_wgmma"]

_BITS = {"int8": 8, "float8_e4m3fn": 8, "float8_e5m2": 8, "float16": 16, "bfloat16": 16, "tfloat32": 32}
_BITS_MADE = {**_BITS, "float32": 32, "int32": 32}
# Bytes that rows of tensors are multiples of, for the copy engine.
_ALIGNED = 16
_SPAN = 128


def matmul_wgmma(
    M: int,
    N: int,
    K: int,
    in_dtype: str = "bfloat16",
    out_dtype: str | None = None,
    *,
    sum_dtype: str | None = None,
    transpose_a: bool = False,
    transpose_b: bool = False,
    inputs: Sequence[Tensor] = (),
    epilogue: Callable[[Expr, Expr, Expr], Expr] | None = None,
    tile: tuple[int, int] = (128, 256),
    depth: int | None = None,
    columns: int | None = None,
    cluster: int | None = None,
    blocks: int | None = 132,
    group: int = 8,
    registers: tuple[int, int] = (40, 232),
) -> tuple[Schedule, list[Tensor]]:
    """C = A B by ``wgmma``: A is M x K, B is K x N, C is M x N, row-major; a factor that is transposed is stored as
    K x M, or N x K.

    A block computes a `tile` of C, each warpgroup 64 rows of it, in steps of 128 bytes of a factor along k, while a
    warpgroup of its own has the factors of the next `depth - 1` steps copied to shared memory. Blocks in clusters of
    `cluster` along C's rows share what they read of B; `blocks` of them, the multiprocessors of an H100 or H200, go
    through all tiles, `group` tiles of a column together (None: a block a tile). A thread that copies and one that
    multiplies have so many `registers`. C is cast to `out_dtype`, and stored by the copy engine, `columns` at a time.

    `epilogue` is what becomes of an element: a function of the sum, its row and its column, which may read the tensors
    `inputs`; it is computed in the registers that hold the sums. The tensors of the program are A, B, these, and C.

    What tiles have past the edges is zero, as the engine fills it in; it does not store there.

    Raises
    ------
    ValueError
        Where there is no instruction of these types; where the rows of A or B, as they are stored, are no multiples of 16
        bytes; where `tile` is none of 64 x 8.

    >>> import tilewright as tw
    >>> s, tensors = matmul_wgmma(256, 512, 256, "bfloat16", "bfloat16", transpose_b=True)
    >>> func = tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul")
    >>> "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16" in func.ptx
    True
    """
    sum_dtype = sum_dtype or ("int32" if in_dtype == "int8" else "float32")
    out_dtype = out_dtype or sum_dtype
    step = _SPAN * 8 // _BITS.get(in_dtype, 16)
    warpgroups, n = tile[0] // 64, tile[1]
    if tile[0] % 64 or warpgroups < 1:
        raise ValueError(f"expected a tile with a multiple of 64 rows, one warpgroup each, got {tile}")
    instruction = wgmma(in_dtype, sum_dtype, n=n, k=step, transpose_a=transpose_a, transpose_b=transpose_b)
    dtype = "float32" if in_dtype == "tfloat32" else in_dtype
    for name, extent in (("A", M if transpose_a else K), ("B", K if transpose_b else N)):
        if extent * _BITS[in_dtype] // 8 % _ALIGNED:
            raise ValueError(
                f"expected rows of {name} that are multiples of {_ALIGNED} bytes, which the copy engine can step over, "
                f"got {extent} elements of {dtype}"
            )

    rows, width, length = (-(-extent // by) * by for extent, by in zip((M, N, K), (*tile, step), strict=True))
    A = placeholder((K, M) if transpose_a else (M, K), dtype, name="A")
    B = placeholder((N, K) if transpose_b else (K, N), dtype, name="B")

    def padded(tensor: Tensor, shape: tuple[int, int], name: str) -> Tensor:
        def element(x: Expr, y: Expr) -> Expr:
            inside = [at < had for at, had, has in zip((x, y), tensor.shape, shape) if had != has]
            return if_then_else(all_of(*inside), tensor[x, y], 0) if inside else tensor[x, y]

        return compute(shape, element, name=name)

    As = padded(A, (length, rows) if transpose_a else (rows, length), "As")
    Bs = padded(B, (width, length) if transpose_b else (length, width), "Bs")
    k = reduce_axis((0, length), "k")

    def product(i: Expr, j: Expr) -> Expr:
        a, b = As[(k, i) if transpose_a else (i, k)], Bs[(j, k) if transpose_b else (k, j)]
        return a * b if dtype == sum_dtype else a.astype(sum_dtype) * b.astype(sum_dtype)

    P = compute((rows, width), lambda i, j: sum(product(i, j), axis=k), name="P")

    def made(i: Expr, j: Expr) -> Expr:
        value = P[i, j] if epilogue is None else epilogue(P[i, j], i, j)
        return value.astype(out_dtype)

    C = compute((M, N), made, name="C")
    s = create_schedule(C.op)

    # The engine stores rows that it can step over.
    is_copied = N * _BITS_MADE[out_dtype] // 8 % _ALIGNED == 0
    stored = s.cache_write(C, "shared") if is_copied else C
    by, i = s[C].split(s[C].op.axis[0], factor=tile[0])
    bx, j = s[C].split(s[C].op.axis[1], factor=n)
    s[C].reorder(by, bx, i, j)
    s[C].bind(by, thread_axis("blockIdx.y"))
    s[C].bind(bx, thread_axis("blockIdx.x"))
    s[C].env_threads([thread_axis((0, 128), "threadIdx.x")])
    if is_copied:
        s[stored].compute_at(s[C], bx)
        i, _ = s[stored].op.axis
        # What is left of shared memory beside the ring.
        wide = _SPAN * 8 // _BITS_MADE[out_dtype]
        columns = columns or (n if n * _BITS_MADE[out_dtype] <= 256 * 16 else min(n, 2 * wide))
        s[C].copy_by("tma", swizzle=_SPAN, columns=columns)
    warpgroup, _ = s[stored].split(i, factor=64)
    s[stored].bind(warpgroup, thread_axis("threadIdx.y"))

    s[P].set_scope("local")
    s[P].compute_at(s[stored], warpgroup)
    i, j = s[P].op.axis
    ko, ki = s[P].split(s[P].op.reduce_axis[0], factor=step)
    s[P].reorder(ko, i, j, ki)
    s[P].tensorize(i, instruction)
    for stage in (As, Bs):
        s[stage].set_scope("shared")
        s[stage].compute_at(s[P], ko)
        s[stage].copy_by("tma", swizzle=_SPAN)
    s[P].software_pipeline(ko, depth or 3)
    s[P].specialize(ko, *registers)

    if cluster is None:
        cluster = 2 if rows // tile[0] % 2 == 0 else 1
    if cluster > 1:
        s[C].cluster(by, cluster)
    if blocks is not None:
        s[C].persistent(blocks, raster="grouped", group=group)
    return s, [A, B, *inputs, C]
