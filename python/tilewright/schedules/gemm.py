"""Matrix products without tensor cores."""

from __future__ import annotations

from ..schedule import Schedule, create_schedule
from ..te import Tensor, compute, placeholder, reduce_axis, sum, thread_axis

__all__ = ["sgemm"]


def sgemm(
    M: int, N: int, K: int, *, tile: tuple[int, int] = (128, 128), step: int = 8, lanes: int = 8
) -> tuple[Schedule, list[Tensor]]:
    """C = A B in float32, row-major: A is M x K, B is K x N, C is M x N.

    A block of threads computes a `tile` of C, each thread `lanes` x `lanes` of it, as four groups of 4 x 4 that lie
    half a tile apart: neighbouring threads read neighbouring words. Along k the block goes in steps. The next step's
    elements are on their way in registers while this one's are multiplied; they are stored to the other half of the
    shared buffers, so that a step needs one barrier. A is transposed on its way in: then a thread's rows lie together.

    Raises
    ------
    ValueError
        Where `lanes` is no multiple of 4, or does not divide `tile`; where `step` is no multiple of 4.

    >>> import tilewright as tw
    >>> func = tw.build(*sgemm(256, 256, 256), target="cuda -arch=sm_90a", name="sgemm")
    >>> ".reqntid 16, 16, 1" in func.ptx
    True
    """
    if lanes % 4 or tile[0] % lanes or tile[1] % lanes or step % 4:
        raise ValueError(
            f"expected lanes that are a multiple of 4 and divide the tile, and a step that is a multiple of 4, got "
            f"lanes {lanes}, tile {tile} and step {step}"
        )
    k = reduce_axis((0, K), "k")
    A, B = placeholder((M, K), name="A"), placeholder((K, N), name="B")
    At = compute((K, M), lambda k, i: A[i, k], name="At")
    C = compute((M, N), lambda i, j: sum(At[k, i] * B[k, j], axis=k), name="C")

    s = create_schedule(C.op)
    s[At].set_scope("shared")
    Bs = s.cache_read(B, "shared", [C])
    Al, Bl = s.cache_read(At, "local", [C]), s.cache_read(Bs, "local", [C])
    Cl = s.cache_write(C, "local")

    threads_y, threads_x = tile[0] // lanes, tile[1] // lanes
    i, j = s[C].op.axis
    by, i = s[C].split(i, factor=tile[0])
    bx, j = s[C].split(j, factor=tile[1])
    vy, i = s[C].split(i, nparts=lanes // 4)
    vx, j = s[C].split(j, nparts=lanes // 4)
    ty, i = s[C].split(i, nparts=threads_y)
    tx, j = s[C].split(j, nparts=threads_x)
    s[C].reorder(by, bx, vy, vx, ty, tx, i, j)
    for axis, tag in ((by, "blockIdx.y"), (bx, "blockIdx.x"), (vy, "vthread"), (vx, "vthread")):
        s[C].bind(axis, thread_axis(tag))
    s[C].bind(ty, thread_axis("threadIdx.y"))
    s[C].bind(tx, thread_axis("threadIdx.x"))
    s[C].vectorize(j)

    s[Cl].compute_at(s[C], tx)
    ko, ki = s[Cl].split(s[Cl].op.reduce_axis[0], factor=step)
    s[Cl].reorder(ko, ki, *s[Cl].op.axis)
    for axis in (ki, *s[Cl].op.axis):
        s[Cl].unroll(axis)
    for shared in (At, Bs):
        s[shared].compute_at(s[Cl], ko)
    for local in (Al, Bl):
        s[local].compute_at(s[Cl], ki)
    s[Cl].software_pipeline(ko, depth=2)

    # All threads of the block fetch, each four neighbours at a time: of A along k, of B along j.
    kt, i = s[At].op.axis
    kt, four_k = s[At].split(kt, factor=4)
    s[At].reorder(i, kt, four_k)
    rows = s[At].fuse(i, kt)
    columns = s[Bs].fuse(*s[Bs].op.axis)
    columns, four_j = s[Bs].split(columns, factor=4)
    for shared, fused, four in ((At, rows, four_k), (Bs, columns, four_j)):
        fused, tx = s[shared].split(fused, factor=threads_x)
        fused, ty = s[shared].split(fused, factor=threads_y)
        s[shared].unroll(fused)
        s[shared].bind(ty, thread_axis("threadIdx.y"))
        s[shared].bind(tx, thread_axis("threadIdx.x"))
        s[shared].vectorize(four)
    return s, [A, B, C]
