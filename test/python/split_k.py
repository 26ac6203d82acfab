"""A matmul whose blocks share K and add to the result, for tests and the benchmark beside a second kernel."""

from __future__ import annotations

from tilewright import te
from tilewright.instructions import wgmma

__all__ = ["matmul_that_adds"]


def matmul_that_adds(
    M: int, N: int, K: int, dtype: str, *, parts: int, is_copied: bool, stages: int = 2
) -> tuple[te.Schedule, list[te.Tensor]]:
    """A B^T of which `parts` blocks each sum over a part of K, stored from registers or by TMA."""
    total = "int32" if dtype == "int8" else "float32"
    step = 128 // (1 if dtype == "int8" else 2)
    A, B = te.placeholder((M, K), dtype, name="A"), te.placeholder((N, K), dtype, name="B")
    k = te.reduce_axis((0, K), "k")
    C = te.compute((M, N), lambda i, j: te.sum(A[i, k].astype(total) * B[j, k].astype(total), axis=k), name="C")
    s = te.create_schedule(C.op)
    part, _ = s[C].split(k, nparts=parts)
    P = s.rfactor(C, part)
    AS, BS = (s.cache_read(one, "shared", [P]) for one in (A, B))
    stored = s.cache_read(P, "shared", [C]) if is_copied else C
    (of_part,) = s[C].op.reduce_axis
    i, j = s[C].op.axis
    block, i = s[C].split(i, factor=128)
    s[C].reorder(of_part, block, i, j)
    s[C].bind(of_part, te.thread_axis("blockIdx.x"), reduce_add=True)
    s[C].bind(block, te.thread_axis("blockIdx.y"))
    s[C].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    if is_copied:
        s[stored].compute_at(s[C], block)
        s[C].copy_by("tma")
        i = s[stored].op.axis[1]
    warpgroup, _ = s[stored].split(i, factor=64)
    s[stored].bind(warpgroup, te.thread_axis("threadIdx.y"))
    s[P].set_scope("local")
    s[P].compute_at(s[stored], warpgroup)
    ko, ki = s[P].split(s[P].op.reduce_axis[0], factor=step)
    _, i, j = s[P].op.axis
    s[P].reorder(ko, i, j, ki)
    for stage in (AS, BS):
        s[stage].compute_at(s[P], ko)
        s[stage].copy_by("tma", swizzle=128)
    s[P].software_pipeline(ko, stages)
    s[P].specialize(ko, 40, 232)
    s[P].tensorize(i, wgmma(dtype, total, n=N, k=step, transpose_b=True))
    return s, [A, B, C]
