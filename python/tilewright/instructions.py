"""Instructions of the hardware by name, for `Stage.tensorize`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from math import prod

from .dtypes import dtype_of
from .errors import TilewrightValueError as ValueError
from .messages.location import Source, user_source
from .te import compute, placeholder, reduce_axis, sum
from .te.arithmetic import constant
from .te.expr import Expr, IterVar
from .te.intrinsic import TensorIntrin, trusted_intrinsic
from .te.statements import Buffer, Instruction, Loop, Statement, Store
from .te.tensor import ComputeOp

__all__ = ["MMA_SYNC", "WGMMA", "mma_sync", "wgmma"]

# The types of the operands and of the accumulator, and the instruction's k; each has 16 rows and 8 columns.
MMA_SYNC = {
    ("float16", "float32"): 16,
    ("float16", "float16"): 16,
    ("bfloat16", "float32"): 16,
    ("tf32", "float32"): 8,
    ("int8", "int32"): 32,
    ("float8_e4m3fn", "float32"): 32,
    ("float8_e5m2", "float32"): 32,
}
_ROWS, _COLUMNS = 16, 8

# The same of warpgroups, whose matmuls have 64 rows and up to 256 columns.
WGMMA = {
    ("float16", "float32"): 16,
    ("float16", "float16"): 16,
    ("bfloat16", "float32"): 16,
    ("tf32", "float32"): 8,
    ("float8_e4m3fn", "float32"): 32,
    ("float8_e5m2", "float32"): 32,
    ("int8", "int32"): 32,
}
# What no warpgroup has an instruction for: its warps multiply.
_BY_WARPS = {("float32", "float32"): 8}
_WARPGROUP_ROWS, _MAX_COLUMNS = 64, 256


def mma_sync(
    in_dtype: str = "float16", out_dtype: str = "float32", *, transpose_a: bool = False, transpose_b: bool = False
) -> TensorIntrin:
    """A warp multiplies tiles by its tensor cores: ``mma.sync`` of sm_80 and up, of 8-bit floats of sm_89 and up.

    What it computes is ``sum(a[i, k] * b[k, j], axis=k)`` for 16 rows and 8 columns, both operands cast to `out_dtype`
    first where that is another. `MMA_SYNC` has the types and the extents of k. ``"tf32"`` stands for float32 that
    is rounded to tf32.

    Parameters
    ----------
    in_dtype, out_dtype
        The types of the operands and of the accumulator.
    transpose_a
        Operand A is indexed ``a[k, i]``.
    transpose_b
        Operand B is indexed ``b[j, k]``.

    Notes
    -----
    The stage that it is used on has scope ``"local"``, as a `cache_write` makes it, and 32 threads along threadIdx.x,
    which is bound to no loop around it: they are the lanes that compute it together, and share out its elements. So
    they do with what is read: stages in scope ``"local"``, which then hold the tiles of one warp, or shared memory
    itself. Stages that read the sums have loops of multiples of 8 along their rows and columns.

    Raises
    ------
    ValueError
        Where there is no instruction of these types.

    >>> from tilewright import te
    >>> from tilewright.instructions import mma_sync
    >>> A, B = (te.placeholder((64, 64), "float16", name=name) for name in "AB")
    >>> k = te.reduce_axis((0, 64), name="k")
    >>> C = te.compute(
    ...     (64, 64),
    ...     lambda i, j: te.sum(A[i, k].astype("float32") * B[j, k].astype("float32"), axis=k),
    ...     name="C",
    ... )
    >>> s = te.create_schedule(C.op)
    >>> CL = s.cache_write(C, "local")
    >>> i, j, im, jm = s[C].tile(*C.op.axis, 16, 8)
    >>> s[C].bind(i, te.thread_axis("blockIdx.x"))
    >>> s[C].env_threads([te.thread_axis((0, 32), "threadIdx.x")])
    >>> s[CL].compute_at(s[C], j)
    >>> ko, ki = s[CL].split(s[CL].op.reduce_axis[0], factor=16)
    >>> m, n = s[CL].op.axis
    >>> s[CL].reorder(ko, m, n, ki)
    >>> s[CL].tensorize(m, mma_sync("float16", "float32", transpose_b=True))
    >>> import tilewright as tw
    >>> "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32" in tw.build(s, [A, B, C], "cuda -arch=sm_80").ptx
    True
    """
    if (in_dtype, out_dtype) not in MMA_SYNC:
        known = ", ".join(f"{given} to {made}" for given, made in MMA_SYNC)
        raise ValueError(f"{user_source()}: mma_sync: expected types of {known}, got {in_dtype} to {out_dtype}")
    extent = MMA_SYNC[in_dtype, out_dtype]
    transposed = bool(transpose_a), bool(transpose_b)
    return _product("mma_sync", (_ROWS,), _COLUMNS, extent, in_dtype, out_dtype, *transposed, user_source())


def wgmma(
    in_dtype: str = "float16",
    out_dtype: str = "float32",
    *,
    n: int = 256,
    k: int | None = None,
    rows: Sequence[int] = (64,),
    transpose_a: bool = False,
    transpose_b: bool = False,
    promote: int = 0,
) -> TensorIntrin:
    """A warpgroup multiplies tiles of shared memory by its tensor cores: ``wgmma`` of sm_90a.

    On other GPUs from sm_80 on, its warps multiply 16-bit types by ``mma.sync``, in schedules without ``specialize``.
    On any of them they multiply float32. Each element is split in two of tf32, and each product is three of these
    (Triton's ``tf32x3``). The error of a product is some 2⁻²¹ of it.

    It computes ``sum(a[i, k] * b[k, j], axis=k)`` for 64 rows and `n` columns. Both operands are cast to `out_dtype`
    first where it differs. `WGMMA` lists the types and the k of one instruction; that of float32 is 8. `k` is a
    multiple of that, by default 128 bytes of an operand. ``"tf32"`` means float32 that TMA has rounded to tf32.

    Parameters
    ----------
    in_dtype, out_dtype
        The types of the operands and of the accumulator.
    n
        The columns, a multiple of 8 up to 256, of int8 beyond 32 one of 16.
    k
        The K tile of one use: an iteration of the pipelined loop loads this many elements along k, or a multiple.
    rows
        The extents of the axes that the 64 rows run over, where there are several. For a convolution these are rows and
        columns of an image: ``a[y, x, k]`` and ``c[y, x, j]``. Axes of one element may be left out.
    transpose_a
        Operand A is indexed ``a[k, i]``. Only for 16-bit types and float32, and for tf32, which threads load to
        registers then.
    transpose_b
        Operand B is indexed ``b[j, k]``. Required for types other than those of 16 bits and float32.
    promote
        For 8-bit floats, the tensor cores' accumulators keep few bits. After this many iterations they are added to
        float32 registers, which takes twice the registers. 0 means never.

    Notes
    -----
    The stage that it is used on has scope ``"local"``, as `cache_write` makes it. It has 128 threads along threadIdx.x,
    which no loop is bound to: they are the lanes. Warpgroups lie along threadIdx.y. The operands are stages in shared
    memory that TMA fills (`copy_by`), in a loop that is a `software_pipeline`. A producer warpgroup may issue the TMA
    loads (`specialize`). A stage that reads the accumulator computes each element at its own place.

    Raises
    ------
    ValueError
        Where there is no instruction of these types and this shape.

    >>> from tilewright import te
    >>> from tilewright.instructions import wgmma
    >>> A, B = (te.placeholder((64, 64), "bfloat16", name=name) for name in "AB")
    >>> k = te.reduce_axis((0, 64), name="k")
    >>> C = te.compute(
    ...     (64, 64),
    ...     lambda i, j: te.sum(A[i, k].astype("float32") * B[j, k].astype("float32"), axis=k),
    ...     name="C",
    ... )
    >>> s = te.create_schedule(C.op)
    >>> CL = s.cache_write(C, "local")
    >>> AS, BS = (s.cache_read(tensor, "shared", [CL]) for tensor in (A, B))
    >>> block, i = s[C].split(C.op.axis[0], factor=64)
    >>> s[C].bind(block, te.thread_axis("blockIdx.x"))
    >>> s[C].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    >>> s[CL].compute_at(s[C], block)
    >>> ko, ki = s[CL].split(s[CL].op.reduce_axis[0], factor=64)
    >>> m, n = s[CL].op.axis
    >>> s[CL].reorder(ko, m, n, ki)
    >>> for stage in (AS, BS):
    ...     s[stage].compute_at(s[CL], ko)
    ...     s[stage].copy_by("tma")
    >>> s[CL].software_pipeline(ko, 2)
    >>> s[CL].specialize(ko)
    >>> s[CL].tensorize(m, wgmma("bfloat16", "float32", n=64, transpose_b=True))
    >>> import tilewright as tw
    >>> "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16" in tw.build(s, [A, B, C], "cuda -arch=sm_90a").ptx
    True
    """
    source = user_source()
    steps = WGMMA | _BY_WARPS
    if (in_dtype, out_dtype) not in steps:
        known = ", ".join(f"{given} to {made}" for given, made in steps)
        raise ValueError(f"{source}: wgmma: expected types of {known}, got {in_dtype} to {out_dtype}")
    if n % 8 or not 8 <= n <= _MAX_COLUMNS:
        raise ValueError(f"{source}: wgmma: expected a multiple of 8 columns up to {_MAX_COLUMNS}, got {n}")
    step = steps[in_dtype, out_dtype]
    # 32 bytes a step.
    extent = 4 * step if k is None else k
    if extent < 1 or extent % step:
        raise ValueError(f"{source}: wgmma: expected a multiple of {step} elements of {in_dtype} along K, got {extent}")
    if step != 16 and in_dtype != "float32" and (transpose_a and in_dtype != "tf32" or not transpose_b):
        raise ValueError(
            f"{source}: wgmma: expected operands of {in_dtype} whose rows are summed over along, a[i, k] and b[j, k], "
            f"got {'a[k, i]' if transpose_a else 'b[k, j]'}"
        )
    rows = tuple(rows)
    if prod(rows) != _WARPGROUP_ROWS or min(rows) < 1:
        raise ValueError(f"{source}: wgmma: expected axes of {_WARPGROUP_ROWS} rows together, got extents of {rows}")
    if promote < 0:
        raise ValueError(f"{source}: wgmma: expected to promote after at least 0 iterations, got {promote}")
    transposed = bool(transpose_a), bool(transpose_b)
    return _product("wgmma", rows, n, extent, in_dtype, out_dtype, *transposed, source, int(promote))


def intrinsics_like(
    name: str,
    a: tuple[str, Sequence[int]],
    b: tuple[str, Sequence[int]],
    c: tuple[str, Sequence[int]],
    promote: int = 0,
    tf32x3: bool = False,
) -> Iterator[TensorIntrin]:
    """The intrinsics here that are called so and multiply tensors `a` and `b` of such types and shapes to `c`.

    `promote` is that of `wgmma`, and `tf32x3` whether it is of float32, not of tf32.

    >>> from tilewright.instructions import intrinsics_like
    >>> list(intrinsics_like("mma_sync", ("float16", (16, 16)), ("float16", (8, 16)), ("float32", (16, 8))))[1]
    intrinsic(mma_sync)
    """
    (dtype, of_a), _, (out, rows_and_columns) = a, b, c
    kind = "tf32" if dtype == "float32" and not tf32x3 else dtype
    *rows, n = rows_and_columns
    for transpose_a in (False, True):
        for transpose_b in (False, True):
            with suppress(ValueError, IndexError):
                if name == "mma_sync":
                    yield mma_sync(kind, out, transpose_a=transpose_a, transpose_b=transpose_b)
                elif name == "wgmma":
                    yield wgmma(
                        kind, out, n=n, k=of_a[0] if transpose_a else of_a[-1], rows=rows, transpose_a=transpose_a,
                        transpose_b=transpose_b, promote=promote,
                    )  # fmt: skip


@lru_cache
def _product(
    name: str,
    rows: tuple[int, ...],
    columns: int,
    extent: int,
    in_dtype: str,
    out_dtype: str,
    transpose_a: bool,
    transpose_b: bool,
    source: Source,
    promote: int = 0,
) -> TensorIntrin:
    dtype = "float32" if in_dtype == "tf32" else in_dtype
    shapes = {
        "a": (extent, *rows) if transpose_a else (*rows, extent),
        "b": (columns, extent) if transpose_b else (extent, columns),
        "c": (*rows, columns),
    }
    a, b = (placeholder(shapes[given], dtype, name=given) for given in "ab")
    k = reduce_axis((0, extent), "k")

    def multiplied(x: Expr, y: Expr) -> Expr:
        return x * y if dtype == out_dtype else x.astype(out_dtype) * y.astype(out_dtype)

    c = compute(
        shapes["c"],
        lambda *at: sum(
            multiplied(
                a[(k, *at[:-1]) if transpose_a else (*at[:-1], k)], b[(at[-1], k) if transpose_b else (k, at[-1])]
            ),
            axis=k,
        ),
        name="c",
    )
    buffers = {
        given: Buffer(given, of, dtype_of(out_dtype if given == "c" else dtype), source) for given, of in shapes.items()
    }

    along = ["m"] if len(rows) == 1 else [f"m{number}" for number in range(len(rows))]
    m_extents = dict(zip(along, rows, strict=True))

    def statements(extents: dict[str, int], instruction: Instruction | None = None) -> list[Statement]:
        variables = {axis: IterVar(axis, (0, size), "spatial", source) for axis, size in extents.items()}
        m, n = [variables[axis] for axis in along], variables["n"]
        value: Expr = constant(0, dtype_of(out_dtype), source)
        k = variables.get("k")
        if k is not None:
            value = buffers["c"][(*m, n)] + multiplied(
                buffers["a"][(k, *m) if transpose_a else (*m, k)], buffers["b"][(n, k) if transpose_b else (k, n)]
            )
        body: list[Statement] = [Store(buffers["c"], buffers["c"].check((*m, n), source), value, source)]
        for axis, variable in reversed(variables.items()):
            mark = instruction if axis == along[0] else None
            body = [Loop(variable, extents[axis], "serial", source, body=body, instruction=mark)]
        return body

    parts = {
        "reset": statements({**m_extents, "n": columns}),
        "update": statements(
            {**m_extents, "n": columns, "k": extent},
            Instruction(name, (prod(rows), columns, extent), promote, in_dtype == "float32"),
        ),
    }
    assert isinstance(c.op, ComputeOp)
    return trusted_intrinsic(name, c.op, parts, list(buffers.values()))
