"""cuBLASLt's matmuls, called directly: the algorithms that its heuristics offer for a problem.

torch takes cuBLAS's default. What a user reaches with more work is the best of those algorithms, timed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import byref, c_float, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any

import torch

__all__ = ["algorithms"]

# cudaDataType, cublasComputeType_t, and what cublasLt.h numbers attributes with.
_TYPES = {
    torch.float32: 0, torch.float16: 2, torch.int8: 3, torch.int32: 10, torch.bfloat16: 14, torch.float8_e4m3fn: 28,
}  # fmt: skip
_COMPUTE_32F, _COMPUTE_32F_TF32, _COMPUTE_32I = 68, 77, 72
_TRANSA, _TRANSB = 3, 4
_BATCH_COUNT, _BATCH_STRIDE = 5, 6
_MAX_WORKSPACE = 1
_WORKSPACE = 32 << 20


class _Heuristic(ctypes.Structure):
    _fields_ = (
        ("algo", c_uint64 * 8), ("workspace", c_size_t), ("state", c_int), ("waves", c_float), ("reserved", c_int * 4),
    )  # fmt: skip


class _Library:
    """libcublasLt.so, its handle and a workspace."""

    _only: _Library | None = None

    def __init__(self) -> None:
        torch.cuda.current_blas_handle()  # torch loads the library
        self.library = ctypes.CDLL("libcublasLt.so.13" if torch.version.cuda.startswith("13") else "libcublasLt.so.12")
        self.handle = c_void_p()
        self.call("cublasLtCreate", byref(self.handle))
        self.workspace = torch.empty(_WORKSPACE, dtype=torch.uint8, device="cuda")

    @classmethod
    def get(cls) -> _Library:
        cls._only = cls._only or cls()
        return cls._only

    def call(self, name: str, *args: Any) -> None:
        status = getattr(self.library, name)(*args)
        if status:
            raise RuntimeError(f"{name}: status {status}")

    def made(self, name: str, *args: Any) -> c_void_p:
        found = c_void_p()
        self.call(name, byref(found), *args)
        return found

    def set(self, what: str, where: c_void_p, attribute: int, value: Any) -> None:
        self.call(f"cublasLt{what}SetAttribute", where, attribute, byref(value), c_size_t(ctypes.sizeof(value)))

    def layout(self, of: torch.Tensor) -> c_void_p:
        """Of a tensor in rows: to cuBLAS its transpose, in columns."""
        *batch, rows, columns = of.shape
        made = self.made(
            "cublasLtMatrixLayoutCreate", c_int(_TYPES[of.dtype]), c_uint64(columns), c_uint64(rows), c_int64(columns)
        )
        if batch:
            self.set("MatrixLayout", made, _BATCH_COUNT, c_int32(batch[0]))
            self.set("MatrixLayout", made, _BATCH_STRIDE, c_int64(rows * columns))
        return made


def algorithms(
    a: torch.Tensor,
    b: torch.Tensor,
    c: torch.Tensor,
    *,
    transpose_a: bool,
    transpose_b: bool,
    tf32: bool,
    most: int = 8,
) -> list[Callable[[], None]]:
    """Calls that write the product of `a` and `b`, as they are stored, to `c`, the one that cuBLASLt expects to be the
    fastest first. Raises RuntimeError where cuBLASLt has none."""
    lib = _Library.get()
    of_ints = a.dtype == torch.int8
    compute = _COMPUTE_32I if of_ints else _COMPUTE_32F_TF32 if tf32 else _COMPUTE_32F
    scale = torch.int32 if of_ints else torch.float32
    desc = lib.made("cublasLtMatmulDescCreate", c_int(compute), c_int(_TYPES[scale]))
    # C in columns is its transpose in rows: the product of B's transpose and A's.
    lib.set("MatmulDesc", desc, _TRANSA, c_int32(transpose_b))
    lib.set("MatmulDesc", desc, _TRANSB, c_int32(transpose_a))
    first, second, result = lib.layout(b), lib.layout(a), lib.layout(c)
    preference = lib.made("cublasLtMatmulPreferenceCreate")
    lib.set("MatmulPreference", preference, _MAX_WORKSPACE, c_uint64(_WORKSPACE))
    found, count = (_Heuristic * most)(), c_int()
    lib.call(
        "cublasLtMatmulAlgoGetHeuristic", lib.handle, desc, first, second, result, result, preference, c_int(most),
        found, byref(count),
    )  # fmt: skip
    one, zero = (c_int32(1), c_int32(0)) if of_ints else (c_float(1), c_float(0))
    where = [c_void_p(tensor.data_ptr()) for tensor in (b, a, c, lib.workspace)]
    matmul, stream = lib.library.cublasLtMatmul, c_void_p(torch.cuda.current_stream().cuda_stream)

    def call_of(algo: Any, workspace: int) -> Callable[[], None]:
        arguments = (
            lib.handle, desc, byref(one), where[0], first, where[1], second, byref(zero), where[2], result, where[2],
            result, byref(algo), where[3], c_size_t(workspace), stream,
        )  # fmt: skip

        def call() -> None:
            if status := matmul(*arguments):
                raise RuntimeError(f"cublasLtMatmul: status {status}")

        return call

    return [call_of(each.algo, each.workspace) for each in found[: count.value] if each.state == 0]
