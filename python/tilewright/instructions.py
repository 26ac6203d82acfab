"""Instructions of the hardware by name, for `Stage.tensorize`."""

from __future__ import annotations

from functools import lru_cache

from .source import user_source
from .te import compute, placeholder, reduce_axis, sum
from .te.dtypes import dtype_of
from .te.expr import Expr, IterVar, constant
from .te.intrinsic import TensorIntrin, trusted_intrinsic
from .te.statements import Buffer, Loop, Statement, Store
from .te.tensor import ComputeOp

__all__ = ["MMA_SYNC", "mma_sync"]

# The types of the factors and of the sums, and how far along k a product goes; each has 16 rows and 8 columns.
MMA_SYNC = {
    ("float16", "float32"): 16,
    ("float16", "float16"): 16,
    ("bfloat16", "float32"): 16,
    ("tfloat32", "float32"): 8,
    ("int8", "int32"): 32,
    ("float8_e4m3fn", "float32"): 32,
    ("float8_e5m2", "float32"): 32,
}
_ROWS, _COLUMNS = 16, 8


def mma_sync(
    in_dtype: str = "float16", out_dtype: str = "float32", *, transpose_a: bool = False, transpose_b: bool = False
) -> TensorIntrin:
    """A warp multiplies tiles by its tensor cores: ``mma.sync`` of sm_80 and up, of 8-bit floats of sm_89 and up.

    What it computes is ``sum(a[i, k] * b[k, j], axis=k)`` for 16 rows and 8 columns, both factors cast to `out_dtype`
    first where that is another. `MMA_SYNC` has the types and the extents of k. ``"tfloat32"`` stands for float32 of
    which the 13 last bits do not count.

    Parameters
    ----------
    in_dtype, out_dtype
        The types of the factors and of the sums.
    transpose_a
        The first factor is indexed ``a[k, i]``.
    transpose_b
        The second factor is indexed ``b[j, k]``.

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
    return _mma_sync(in_dtype, out_dtype, bool(transpose_a), bool(transpose_b))


@lru_cache
def _mma_sync(in_dtype: str, out_dtype: str, transpose_a: bool, transpose_b: bool) -> TensorIntrin:
    source, extent = user_source(), MMA_SYNC[in_dtype, out_dtype]
    dtype = "float32" if in_dtype == "tfloat32" else in_dtype
    shapes = {
        "a": (extent, _ROWS) if transpose_a else (_ROWS, extent),
        "b": (_COLUMNS, extent) if transpose_b else (extent, _COLUMNS),
        "c": (_ROWS, _COLUMNS),
    }
    a, b = (placeholder(shapes[name], dtype, name=name) for name in "ab")
    k = reduce_axis((0, extent), "k")

    def product(x: Expr, y: Expr) -> Expr:
        return x * y if dtype == out_dtype else x.astype(out_dtype) * y.astype(out_dtype)

    c = compute(
        shapes["c"],
        lambda i, j: sum(product(a[(k, i) if transpose_a else (i, k)], b[(j, k) if transpose_b else (k, j)]), axis=k),
        name="c",
    )
    buffers = {
        name: Buffer(name, shape, dtype_of(out_dtype if name == "c" else dtype), source)
        for name, shape in shapes.items()
    }

    def statements(extents: dict[str, int], instruction: str | None = None) -> list[Statement]:
        variables = {name: IterVar(name, (0, size), "spatial", source) for name, size in extents.items()}
        m, n = variables["m"], variables["n"]
        value: Expr = constant(0, dtype_of(out_dtype), source)
        k = variables.get("k")
        if k is not None:
            value = buffers["c"][m, n] + product(
                buffers["a"][(k, m) if transpose_a else (m, k)], buffers["b"][(n, k) if transpose_b else (k, n)]
            )
        body: list[Statement] = [Store(buffers["c"], buffers["c"].check((m, n), source), value, source)]
        for name, variable in reversed(variables.items()):
            mark = instruction if name == "m" else None
            body = [Loop(variable, extents[name], "serial", source, body=body, instruction=mark)]
        return body

    sizes = {"m": _ROWS, "n": _COLUMNS, "k": extent}
    parts = {
        "reset": statements({"m": _ROWS, "n": _COLUMNS}),
        "update": statements(sizes, "mma_sync"),
    }
    assert isinstance(c.op, ComputeOp)
    return trusted_intrinsic("mma_sync", c.op, parts, list(buffers.values()))
