"""Programs whose kernels hold between them all that the gpu stage has."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from tilewright import schedules, te

ROOT = Path(__file__).parent.parent.parent.parent
Program = tuple[Any, list[Any]]


def example(name: str) -> ModuleType:
    (path,) = (ROOT / "python" / "examples").glob(f"[0-9][0-9]_{name}.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def threads(s: Any, tensor: Any, block: int = 32) -> None:
    fused = s[tensor].fuse(*tensor.op.axis) if len(tensor.op.axis) > 1 else tensor.op.axis[0]
    outer, inner = s[tensor].split(fused, factor=block)
    s[tensor].bind(outer, te.thread_axis("blockIdx.x"))
    s[tensor].bind(inner, te.thread_axis("threadIdx.x"))


def pointwise(dtype: str, function: Callable[..., Any], inputs: int = 2, n: int = 77) -> Program:
    arrays = [te.placeholder((n,), dtype=dtype, name="AB"[i]) for i in range(inputs)]
    C = te.compute((n,), lambda i: function(*(array[i] for array in arrays)), name="C")
    s = te.create_schedule(C.op)
    threads(s, C)
    return s, [*arrays, C]


def symbolic() -> Program:
    n, m = te.var("n"), te.var("m")
    A = te.placeholder((n, m), name="A")
    B = te.compute((n, m), lambda i, j: A[i, j] * 2.0 + 1.0, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[1], factor=32)
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.y"))
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    return s, [A, B]


def padded() -> Program:
    A = te.placeholder((30,), name="A")
    B = te.compute((40,), lambda i: te.if_then_else(te.all(i >= 5, i < 35), A[i - 5], 0.0), name="B")
    s = te.create_schedule(B.op)
    threads(s, B)
    return s, [A, B]


def divided() -> Program:
    A = te.placeholder((60,), dtype="int32", name="A")
    B = te.compute(
        (60,), lambda i: te.floordiv(A[i], 7) * 100 + te.floormod(A[i], 7) + A[te.indexmod(59 - i, 60)], name="B"
    )
    s = te.create_schedule(B.op)
    threads(s, B)
    return s, [A, B]


def booleans() -> Program:
    A = te.placeholder((50,), dtype="bool", name="A")
    B = te.placeholder((50,), name="B")
    C = te.compute((50,), lambda i: te.any(A[i], B[i] > 0.5), name="C")
    s = te.create_schedule(C.op)
    threads(s, C)
    return s, [A, B, C]


def scanned() -> Program:
    X = te.placeholder((9, 20), name="X")
    state = te.placeholder((9, 20), name="state")
    init = te.compute((1, 20), lambda _, i: X[0, i], name="init")
    update = te.compute((9, 20), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    S = te.scan(init, update, state, inputs=[X], name="S")
    s = te.create_schedule(S.op)
    s[init].bind(init.op.axis[1], te.thread_axis("threadIdx.x"))
    s[update].bind(update.op.axis[1], te.thread_axis("threadIdx.x"))
    return s, [X, S]


def copied() -> Program:
    """Shared memory filled by cp.async, two steps ahead."""
    A = te.placeholder((64, 64), name="A")
    B = te.placeholder((64, 64), name="B")
    k = te.reduce_axis((0, 64), name="k")
    C = te.compute((64, 64), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    shared = [s.cache_read(tensor, "shared", [C]) for tensor in (A, B)]
    i, j = C.op.axis
    io, ii = s[C].split(i, factor=16)
    jo, ji = s[C].split(j, factor=16)
    ko, ki = s[C].split(C.op.reduce_axis[0], factor=16)
    s[C].reorder(io, jo, ii, ji, ko, ki)
    for axis, tag in ((io, "blockIdx.y"), (jo, "blockIdx.x"), (ii, "threadIdx.y"), (ji, "threadIdx.x")):
        s[C].bind(axis, te.thread_axis(tag))
    for tensor in shared:
        s[tensor].compute_at(s[C], ko)
        fused = s[tensor].fuse(*tensor.op.axis)
        rest, inner = s[tensor].split(fused, factor=16)
        s[tensor].bind(inner, te.thread_axis("threadIdx.x"))
        s[tensor].bind(rest, te.thread_axis("threadIdx.y"))
    s[C].software_pipeline(ko, 3, use_async=True)
    return s, [A, B, C]


def functions(dtype: str) -> Program:
    return pointwise(
        dtype,
        lambda a, b: (
            te.exp(a) + te.log(te.abs(b) + 1.0) + te.sqrt(te.abs(a)) + te.tanh(b) + te.sin(a) * te.floor(b) + te.erf(a)
        ),
    )


def named() -> Program:
    """Tensors and axes called as C++'s words and the helpers of the printed kernels are."""
    A = te.placeholder((40, 8), name="load")
    k = te.reduce_axis((0, 8), name="int")
    B = te.compute((40,), lambda i: te.sum(te.exp(A[i, k]), axis=k), name="expf")
    C = te.compute((40,), lambda i: te.max(B[i], 0.5), name="maximum")
    s = te.create_schedule(C.op)
    for tensor in (B, C):
        s[tensor].bind(tensor.op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [A, C]


def few_lanes() -> Program:
    """A sum over the threads of a block that is smaller than a warp."""
    A = te.placeholder((6, 40), name="A")
    k = te.reduce_axis((0, 40), name="k")
    B = te.compute((6,), lambda i: te.sum(A[i, k], axis=k), name="B")
    s = te.create_schedule(B.op)
    _, inner = s[B].split(B.op.reduce_axis[0], factor=8)
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    s[B].bind(B.op.axis[0], te.thread_axis("blockIdx.x"))
    return s, [A, B]


def launched() -> Program:
    """Two kernels that are launched with attributes."""
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] * 2.0, name="B")
    C = te.compute((64,), lambda i: B[63 - i] + 1.0, name="C")
    s = te.create_schedule(C.op)
    for tensor in (B, C):
        threads(s, tensor, 16)
    s.launch(dependent=True, cooperative=True, cluster=(2, 1, 1))
    return s, [A, C]


PROGRAMS: dict[str, Callable[[], Program]] = {
    "vector_add": lambda: example("vector_add").vector_add(1000),
    "tiled_gemm": lambda: example("tiled_gemm").mmult(16, 16, 16),
    "register_tiled_gemm": lambda: example("register_tiled_gemm").sgemm(48, 40, 24, block=32, thread=4, block_k=8),
    "conv2d": lambda: example("conv2d").conv2d(4, 8, 9, 9, block=16, block_k=4),
    "dense": lambda: example("dense").dense(8, 16, 8),
    "softmax": lambda: example("softmax").softmax(5, 20),
    "argmax": lambda: example("argmax").argmax(10, 77),
    "gelu": lambda: schedules.gelu(10, 7),
    "layer_norm": lambda: schedules.layer_norm(3, 100),
    "rows": lambda: schedules.softmax(3, 200),
    "matvec": lambda: schedules.matvec(16, 64, dtype="float16"),
    "column_sum": lambda: schedules.column_sum(64, 256),
    "transpose": lambda: schedules.transpose(40, 30),
    "mma_float16": lambda: schedules.matmul_mma(64, 32, 48, tile=(64, 32), warps=(2, 1), block_k=16),
    "mma_half_sums": lambda: schedules.matmul_mma(
        32, 32, 32, acc_dtype="float16", tile=(32, 16), warps=(1, 1), transpose_a=True
    ),
    "mma_bfloat16": lambda: schedules.matmul_mma(
        32, 24, 32, "bfloat16", tile=(32, 16), warps=(1, 1), transpose_b=True, stages=2
    ),
    "mma_tf32": lambda: schedules.matmul_mma(32, 32, 32, "tf32", tile=(32, 16), warps=(2, 2)),
    "mma_int8": lambda: schedules.matmul_mma(32, 32, 64, "int8", tile=(32, 32), warps=(1, 2), transpose_b=True),
    "mma_edges": lambda: schedules.matmul_mma(40, 48, 40, tile=(32, 32), warps=(1, 2)),
    "conv2d_mma": lambda: schedules.conv2d_mma(1, 16, 6, 16, 3, tile=(32, 16), warps=(1, 1)),
    "winograd": lambda: schedules.conv2d_winograd(1, 8, 6, 8),
    "vecmat": lambda: schedules.vecmat(64, 64),
    "few_lanes": few_lanes,
    "launched": launched,
    "named": named,
    "symbolic": symbolic,
    "padded": padded,
    "divided": divided,
    "booleans": booleans,
    "scanned": scanned,
    "copied": copied,
    "float": lambda: functions("float32"),
    "double": lambda: functions("float64"),
    "half": lambda: functions("float16"),
    "wrapping": lambda: pointwise("int32", lambda a, b: a * b + (a - b) * 65537),
    "narrow": lambda: pointwise("int8", lambda a, b: a * b + a),
    "unsigned": lambda: pointwise("uint8", lambda a, b: te.max(a, b) + te.min(a, b) * a),
    "long": lambda: pointwise("int64", lambda a, b: a * b - (a ^ b)),
    "bits": lambda: pointwise("int32", lambda a, b: te.popcount(a) + (a << 3) + (b >> 2) + (a & b) + (a | b)),
    "largest": lambda: pointwise("float32", lambda a, b: te.max(a, b) - te.min(a, b)),
    "casts": lambda: pointwise(
        "float32", lambda a, b: (a * 10.0).astype("int32").astype("float32") + b.astype("float16").astype("float32")
    ),
}
# What these compute of small multiples of a power of two is exact, in whatever order.
SUMS_OF_PRODUCTS = {
    *(name for name in PROGRAMS if name.startswith("mma_")),
    *(
        "tiled_gemm",
        "register_tiled_gemm",
        "conv2d",
        "dense",
        "column_sum",
        "conv2d_mma",
        "winograd",
        "vecmat",
        "copied",
    ),
    "few_lanes",
}
