"""Kernels of asynchronous tiles whose printed source is compiled: by types, layouts, schedules and epilogues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import tilewright as tw
from tilewright import schedules, te

Scheduled = tuple[Any, list[Any]]


def matmul(in_dtype: str, out_dtype: str, *, layout: str = "NN", size: int = 4096, **options: Any) -> Scheduled:
    transposed = {"transpose_a": layout[0] == "T", "transpose_b": layout[1] == "T"}
    return schedules.matmul_wgmma(size, size, size, in_dtype, out_dtype, **transposed, **options)


def biased(size: int = 4096) -> Scheduled:
    bias, residual = te.placeholder((size,), "float32", name="bias"), te.placeholder((size, size), "bfloat16", name="R")

    def epilogue(value: te.Expr, i: te.Expr, j: te.Expr) -> te.Expr:
        return te.max(value + bias[j], 0.0) + residual[i, j].astype("float32")

    return matmul("bfloat16", "bfloat16", size=size, epilogue=epilogue, operands=[bias, residual])


def symbolic() -> Scheduled:
    m = te.var("M")
    return schedules.matmul_wgmma(m, 4096, 4096, "bfloat16", "bfloat16")


# Their loops are long enough that no compiler unrolls one: instructions of the text are those of the kernel.
KERNELS: dict[str, Callable[[], Scheduled]] = {
    **{f"bfloat16 {layout}": lambda layout=layout: matmul("bfloat16", "bfloat16", layout=layout)
       for layout in ("NN", "NT", "TN", "TT")},
    "float16": lambda: matmul("float16", "float32", layout="NT"),
    "float16, accumulated in float16": lambda: matmul("float16", "float16", layout="NT", acc_dtype="float16"),
    "float8_e4m3fn": lambda: matmul("float8_e4m3fn", "bfloat16", layout="NT"),
    "float8_e5m2, never promoted": lambda: matmul("float8_e5m2", "float16", layout="NT", promote=0),
    "int8": lambda: matmul("int8", "int32", layout="NT"),
    "tf32": lambda: matmul("tf32", "float32", layout="NT"),
    "tf32, operand A in registers": lambda: matmul("tf32", "float32", layout="TT"),
    "tf32, operand B in registers": lambda: matmul("tf32", "float32", layout="NN", swap_ab=True, tile=(224, 128)),
    "swap_ab": lambda: matmul("bfloat16", "bfloat16", swap_ab=True),
    "a block for each tile": lambda: matmul("bfloat16", "bfloat16", blocks=None, tile=(128, 256)),
    "raster": lambda: matmul("bfloat16", "bfloat16", raster="hilbert"),
    "stream_k": lambda: matmul("bfloat16", "bfloat16", stream_k=True, cluster=(1, 1)),
    "stream_k in clusters": lambda: matmul("bfloat16", "bfloat16", stream_k=True, cluster=(2, 1)),
    **{f"cluster {cluster}": lambda cluster=cluster: matmul("bfloat16", "bfloat16", layout="NT", cluster=cluster)
       for cluster in ((2, 1), (1, 2), (2, 2))},
    "one role": lambda: matmul("bfloat16", "bfloat16", specialize=False, stages=3, tile=(128, 128)),
    "columns": lambda: matmul("bfloat16", "float32", columns=64, cluster=(1, 1)),
    "results of 8 bits": lambda: matmul("int8", "int8", layout="NT", deferred=False, epilogue=lambda c, i, j: c.astype("int8")),
    "epilogue": biased,
    "symbolic": symbolic,
    "attention": lambda: schedules.attention_wgmma(8, 4096, 4096, 128, "bfloat16"),
    "causal attention": lambda: schedules.attention_wgmma(8, 4096, 4096, 128, "bfloat16", causal=True),
    "attention float16": lambda: schedules.attention_wgmma(8, 4096, 4096, 64, "float16"),
}  # fmt: skip

# What a compiler may unroll or merge: that they compile is asked, and that each instruction is there.
OTHERS: dict[str, Callable[[], Scheduled]] = {
    "ping-pong": lambda: matmul("bfloat16", "bfloat16", consumers=2, tile=(64, 128), cluster=(1, 1)),
    "narrower": lambda: matmul("bfloat16", "bfloat16", narrower=16, deferred=True, serpentine_k=True),
    "split_k": lambda: matmul("bfloat16", "bfloat16", size=256, tile=(64, 64), split_k=2, dependent=True),
    "rows of no 16 bytes": lambda: schedules.matmul_wgmma(4095, 4097, 4093, "bfloat16", "bfloat16"),
    "convolution": lambda: schedules.conv2d_wgmma(32, 64, 56, 64, 3),
    "convolution, 3 channels": lambda: schedules.conv2d_wgmma(32, 3, 224, 64, 7, stride=2),
    "convolution in clusters": lambda: schedules.conv2d_wgmma(1, 64, 9, 128, 3, tile=(1, 8, 16, 64), cluster=(1, 2)),
    "ops.matmul": lambda: tw.ops.matmul.schedule(
        *(tw.ops.Operand((512, 512), "float16") for _ in range(2)), target="cuda -arch=sm_90a"
    ),
}
