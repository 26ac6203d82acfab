"""What stands beside a matmul by warpgroups and is no part of it: the message says where that is computed."""

from __future__ import annotations

import re

import pytest

import tilewright as tw
from tilewright import te
from tilewright.instructions import wgmma


def scaled(where: str, what: str = "sum") -> tuple[te.Schedule, list[te.Tensor]]:
    """A B, each row divided by S, in shared memory by block or warpgroup: the sum of A's row, or a copy of an input."""
    A, B = te.placeholder((256, 256), "bfloat16", name="A"), te.placeholder((256, 256), "bfloat16", name="B")
    h, k = te.reduce_axis((0, 256), name="h"), te.reduce_axis((0, 256), name="k")
    row = te.placeholder((256,), name="row")
    S = row if what == "copy" else te.compute((256,), lambda i: te.sum(A[i, h].astype("float32"), axis=h), name="S")
    P = te.compute(
        (256, 256), lambda i, j: te.sum(A[i, k].astype("float32") * B[k, j].astype("float32"), axis=k), name="P"
    )
    C = te.compute((256, 256), lambda i, j: P[i, j] / S[i], name="C")
    s = te.create_schedule(C.op)
    loads = [s.cache_read(operand, "shared", [P]) for operand in (A, B)]
    by, bx, i, _ = s[C].tile(*C.op.axis, 128, 128)
    s[C].bind(by, te.thread_axis("blockIdx.y"))
    s[C].bind(bx, te.thread_axis("blockIdx.x"))
    s[C].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    warpgroup, _ = s[C].split(i, factor=64)
    s[C].bind(warpgroup, te.thread_axis("threadIdx.y"))
    s[P].set_scope("local")
    s[P].compute_at(s[C], warpgroup)
    i, j = s[P].op.axis
    ko, ki = s[P].split(s[P].op.reduce_axis[0], factor=64)
    s[P].reorder(ko, i, j, ki)
    s[P].tensorize(i, wgmma("bfloat16", "float32", n=128))
    for load in loads:
        s[load].compute_at(s[P], ko)
        s[load].copy_by("tma")
    s[P].software_pipeline(ko, 3)
    if where == "root":
        block, thread = s[S].split(S.op.axis[0], factor=64)
        s[S].bind(block, te.thread_axis("blockIdx.x"))
        s[S].bind(thread, te.thread_axis("threadIdx.x"))
    elif where != "nowhere":
        shared = s.cache_read(row, "shared", [C]) if what == "copy" else S
        s[shared].set_scope("shared")
        s[shared].compute_at(s[C], {"block": bx, "warpgroup": warpgroup}[where])
    return s, [A, B, row, C] if what == "copy" else [A, B, C]


@pytest.mark.parametrize(
    ("where", "what", "expected"),
    [
        (
            "block",
            "sum",
            "wgmma: expected stages that read the accumulator beside the matmul, got the reduction of stage 'S': compute stage "
            "'S' in a kernel of its own, in global memory, by s[S].compute_root()",
        ),
        (
            "warpgroup",
            "sum",
            "wgmma of stage 'P': expected no loop bound to threadIdx.x, whose threads are the lanes of the instruction, "
            "got axis 'S.i.outer.inner': compute stage 'S' in a kernel of its own, in global memory, by "
            "s[S].compute_root()",
        ),
        (
            "block",
            "copy",
            "wgmma: expected stage 'row.shared' to be computed by each warpgroup of its own rows, got it outside of them: "
            "leave out the cache_read of 'row', which then comes from global memory",
        ),
        (
            "warpgroup",
            "copy",
            "wgmma of stage 'P': expected no loop bound to threadIdx.x, whose threads are the lanes of the instruction, "
            "got axis 'row.shared.ax0.outer.inner': leave out the cache_read of 'row', which then comes from global memory",
        ),
    ],
)
def test_a_stage_beside_the_matmul_is_refused_with_the_way_out(where: str, what: str, expected: str) -> None:
    with pytest.raises(tw.ScheduleError) as error:
        tw.lower(*scaled(where, what), stage="gpu", target="cuda -arch=sm_90a")
    line = str(error.value).splitlines()[0]
    assert re.fullmatch(r".*test_wgmma_row_statistics\.py:\d+: error: (.*)", line)[1] == expected  # type: ignore[index]


@pytest.mark.parametrize("way", [("root", "sum"), ("nowhere", "copy")])
def test_the_way_out_is_one(way: tuple[str, str]) -> None:
    assert "tile.ring" in str(tw.lower(*scaled(*way), stage="gpu", target="cuda -arch=sm_90a"))
