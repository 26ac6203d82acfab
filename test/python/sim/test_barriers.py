"""Every barrier that the compiler inserts is needed: without any one of them the simulator sees a race.

A barrier that can go without a report is either superfluous or one whose race the simulator does not see.
"""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.errors import SimulationError

F4 = np.float32


def bind(stage, **axes) -> None:
    for index, axis in axes.items():
        stage.bind(axis, te.thread_axis(f"{'blockIdx' if index[0] == 'b' else 'threadIdx'}.{index[1]}"))


def gemm(cached: str = "AB", n: int = 16, tile: int = 8):
    """C = A B by tiles of a block, the tiles of A and B that a step over k needs in shared memory."""
    A, B = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), "k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    io, jo, ii, ji = s[C].tile(C.op.axis[0], C.op.axis[1], tile, tile)
    bind(s[C], by=io, bx=jo, ty=ii, tx=ji)
    s[CL].compute_at(s[C], ji)
    ko, _ = s[CL].split(k, 4)
    for tensor in (A, B):
        if tensor.name in cached:
            s[s.cache_read(tensor, "shared", [CL])].compute_at(s[CL], ko)
    return s, [A, B, C], lambda a, b: a.astype("f8") @ b


def pipelined(depth: int, use_async: bool = False, vectorized: bool = False, doubled: bool = False, n: int = 32):
    """A product whose tiles are fetched ahead; with `doubled` only A's and B's buffers say so, not the loop."""
    A, B = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), "k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    AS, BS = s.cache_read(A, "shared", [CL]), s.cache_read(B, "shared", [CL])
    io, jo, ii, ji = s[C].tile(*C.op.axis, 8, 8)
    bind(s[C], by=io, bx=jo, ty=ii, tx=ji)
    s[CL].compute_at(s[C], ji)
    ko, ki = s[CL].split(s[CL].op.reduce_axis[0], 8)
    for shared in (AS, BS):
        s[shared].compute_at(s[CL], ko)
        if vectorized:
            _, inner = s[shared].split(s[shared].fuse(*s[shared].op.axis), 4)
            s[shared].vectorize(inner)
        if doubled:
            s[shared].double_buffer()
    if not doubled:
        s[CL].software_pipeline(ko, depth, use_async)
    return s, [A, B, C], lambda a, b: a.astype("f8") @ b


def vthreads(n: int = 16):
    """Each thread computes four elements, half a tile apart."""
    A, B = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), "k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    AS, BS = s.cache_read(A, "shared", [CL]), s.cache_read(B, "shared", [CL])
    io, jo, ii, ji = s[C].tile(*C.op.axis, 8, 8)
    vy, ii = s[C].split(ii, nparts=2)
    vx, ji = s[C].split(ji, nparts=2)
    s[C].reorder(io, jo, vy, vx, ii, ji)
    for axis in (vy, vx):
        s[C].bind(axis, te.thread_axis("vthread"))
    bind(s[C], by=io, bx=jo, ty=ii, tx=ji)
    s[CL].compute_at(s[C], ji)
    ko, _ = s[CL].split(s[CL].op.reduce_axis[0], 4)
    for shared in (AS, BS):
        s[shared].compute_at(s[CL], ko)
    return s, [A, B, C], lambda a, b: a.astype("f8") @ b


def reduced_together(along: str, threads: int, n: int = 6, width: int = 200):
    """The threads of a block reduce two rows one after the other and combine what each of them has."""
    A = te.placeholder((n, width), name="A")
    k = te.reduce_axis((0, width), "k")
    C = te.compute((n,), lambda i: te.sum(A[i, k], axis=k), name="C")
    s = te.create_schedule(C.op)
    _, part = s[C].split(C.op.reduce_axis[0], threads)
    block, _ = s[C].split(C.op.axis[0], 2)
    bind(s[C], bx=block, **{along: part})
    return s, [A, C], lambda a: a.astype("f8").sum(1)


def register_gemm(n: int = 16):
    """Each thread computes 2 by 2 elements from registers, which it fills from shared memory by vectors."""
    A, B = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), "k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    AS, BS = s.cache_read(A, "shared", [CL]), s.cache_read(B, "shared", [CL])
    AL, BL = s.cache_read(AS, "local", [CL]), s.cache_read(BS, "local", [CL])
    io, jo, ii, ji = s[C].tile(*C.op.axis, 8, 8)
    ty, ii = s[C].split(ii, 2)
    tx, ji = s[C].split(ji, 2)
    s[C].reorder(io, jo, ty, tx, ii, ji)
    s[C].vectorize(ji)
    bind(s[C], by=io, bx=jo, ty=ty, tx=tx)
    s[CL].compute_at(s[C], tx)
    (k,) = s[CL].op.reduce_axis
    ko, ki = s[CL].split(k, 4)
    s[CL].reorder(ko, ki, *s[CL].op.axis)
    for shared in (AS, BS):
        s[shared].compute_at(s[CL], ko)
        _, inner = s[shared].split(s[shared].fuse(*s[shared].op.axis), 2)
        s[shared].vectorize(inner)
    for local in (AL, BL):
        s[local].compute_at(s[CL], ki)
    return s, [A, B, C], lambda a, b: a.astype("f8") @ b


def smoothed(n: int = 64, block: int = 16):
    """A stage computed in shared memory for the block that reads it with its neighbours."""
    A = te.placeholder((n + 2,), name="A")
    B = te.compute((n + 2,), lambda i: A[i] * A[i], name="B")
    C = te.compute((n,), lambda i: B[i] + B[i + 1] + B[i + 2], name="C")
    s = te.create_schedule(C.op)
    o, i = s[C].split(C.op.axis[0], block)
    bind(s[C], bx=o, tx=i)
    s[B].compute_at(s[C], o)
    s[B].set_scope("shared")
    return s, [A, C], lambda a: (a**2)[:-2] + (a**2)[1:-1] + (a**2)[2:]


def chain(length: int = 3, n: int = 64, block: int = 16):
    """Stages in shared memory, each reversing the one before: two places serve them all."""
    A = te.placeholder((n,), name="A")
    stages, read = [], A
    for number in range(length):
        read = te.compute((n,), lambda i, read=read: read[i + (block - 1) - 2 * (i % block)] + 1, name=f"S{number}")
        stages.append(read)
    C = te.compute((n,), lambda i: read[i + (block - 1) - 2 * (i % block)] * 2, name="C")
    s = te.create_schedule(C.op)
    o, i = s[C].split(C.op.axis[0], block)
    bind(s[C], bx=o, tx=i)
    for stage in stages:
        s[stage].compute_at(s[C], o)
        s[stage].set_scope("shared")

    def expected(a):
        for _ in stages:
            a = a.reshape(-1, block)[:, ::-1].ravel() + 1
        return a.reshape(-1, block)[:, ::-1].ravel() * 2

    return s, [A, C], expected


def stencil(n: int = 32, rows: int = 4, width: int = 16):
    """A block walks down a column of tiles; the rows of a tile and those around it in one shared buffer, used again."""
    A = te.placeholder((n + 2, width + 2), name="A")
    C = te.compute(
        (n, width),
        lambda i, j: A[i, j + 1] + A[i + 2, j + 1] + A[i + 1, j] + A[i + 1, j + 2] - A[i + 1, j + 1] * 4,
        name="C",
    )
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    down, ii = s[C].split(i, rows)
    by, down = s[C].split(down, 4)
    s[C].reorder(by, down, ii, j)
    bind(s[C], by=by, ty=ii, tx=j)
    s[s.cache_read(A, "shared", [C])].compute_at(s[C], down)

    def expected(a):
        middle = a[1:-1, 1:-1]
        return a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] - middle * 4

    return s, [A, C], expected


def row_sums(n: int = 8, width: int = 32):
    """Thread 0 alone sums up what all threads have written, and all threads read the sum."""
    A = te.placeholder((n, width), name="A")
    k = te.reduce_axis((0, width), "k")
    B = te.compute((n, width), lambda i, j: A[i, j] * A[i, j], name="B")
    T = te.compute((n,), lambda i: te.sum(B[i, k], axis=k), name="T")
    C = te.compute((n, width), lambda i, j: B[i, j] / T[i], name="C")
    s = te.create_schedule(C.op)
    i, j = C.op.axis
    bind(s[C], bx=i, tx=j)
    for stage in (B, T):
        s[stage].compute_at(s[C], i)
        s[stage].set_scope("shared")
    return s, [A, C], lambda a: a**2 / (a.astype("f8") ** 2).sum(1, keepdims=True)


def two_dimensional(n: int = 32, block: int = 8):
    """Two stages that threads along x share, in a block that has threads along y too: one of those writes."""
    A = te.placeholder((n, n), name="A")
    B = te.compute((n,), lambda i: A[i, 0] + 1, name="B")
    D = te.compute((n,), lambda i: B[i + (block - 1) - 2 * (i % block)] * 2, name="D")
    C = te.compute((n, n), lambda i, j: A[i, j] * D[j + (block - 1) - 2 * (j % block)], name="C")
    s = te.create_schedule(C.op)
    io, jo, ii, ji = s[C].tile(C.op.axis[0], C.op.axis[1], 4, block)
    bind(s[C], by=io, bx=jo, ty=ii, tx=ji)
    for stage in (B, D):
        s[stage].compute_at(s[C], jo)
        s[stage].set_scope("shared")
        bind(s[stage], tx=stage.op.axis[0])

    def expected(a):
        b = (a[:, 0] + 1).reshape(-1, block)[:, ::-1]
        return a * (b * 2)[:, ::-1].ravel()

    return s, [A, C], expected


def own_elements(n: int = 96, block: int = 16):
    """Stages in shared memory of which each thread reads what it wrote itself, some of them at places used before."""
    A = te.placeholder((n,), name="A")
    read = A
    stages = []
    for number in range(4):
        # Longer than what is read of it, and so read at computed indices.
        read = te.compute((n - number,), lambda i, read=read: read[i] * 2, name=f"S{number}")
        stages.append(read)
    C = te.compute((64,), lambda i: read[i] + 1, name="C")
    s = te.create_schedule(C.op)
    o, i = s[C].split(C.op.axis[0], block)
    t, _ = s[C].split(i, 2)
    bind(s[C], bx=o, tx=t)
    for stage in stages:
        s[stage].compute_at(s[C], o)
        s[stage].set_scope("shared")
        _, t, _ = halves(s, stage, block)
        bind(s[stage], tx=t)
    return s, [A, C], lambda a: a[:64] * 16 + 1


def halves(s, stage, block: int):
    """The stage's axis in blocks, in threads of two elements each."""
    o, i = s[stage].split(stage.op.axis[0], block)
    t, i = s[stage].split(i, 2)
    return o, t, i


# Each with the number of its barriers.
PROGRAMS = {
    "gemm": (gemm, 2),
    "gemm with A cached": (lambda: gemm("A"), 2),
    "register_gemm": (register_gemm, 2),
    "smoothed": (smoothed, 1),
    "chain of 2": (lambda: chain(2), 2),
    "chain of 3": (chain, 3),
    "chain of 5": (lambda: chain(5), 5),
    "stencil": (stencil, 2),
    "row_sums": (row_sums, 2),
    "own_elements": (own_elements, 0),
    "gemm with a ragged edge": (lambda: gemm(n=18), 2),
    "two_dimensional": (two_dimensional, 2),
    "vthreads": (vthreads, 2),
    "double_buffer": (lambda: pipelined(2, doubled=True), 1),
    "software_pipeline": (lambda: pipelined(3), 1),
    "cp.async": (lambda: pipelined(2, True), 1),
    "cp.async of vectors, four deep": (lambda: pipelined(4, True, True), 1),
    "a reduction across warps": (lambda: reduced_together("tx", 64), 2),
    "a reduction in shared memory": (lambda: reduced_together("ty", 16), 2),
}
# Of the programs with copies by cp.async, the number of places where a group of them ends.
COPYING = {"cp.async": 2, "cp.async of vectors, four deep": 4}


@functools.cache
def lowered(name: str):
    """The lines of the gpu stage, and where the barriers are."""
    s, args, expected = PROGRAMS[name][0]()
    lines = str(tw.lower(s, args, "program", target="sim", stage="gpu")).splitlines()
    return lines, [n for n, line in enumerate(lines) if line.strip() == "gpu.barrier"], args, expected


def run(name: str, lines: list[str]) -> tuple[list[np.ndarray], np.ndarray]:
    args = lowered(name)[2]
    func = tw.build("\n".join(lines), target="sim", start="gpu")
    rng = np.random.default_rng(0)
    *inputs, output = (rng.random([int(str(n)) for n in tensor.shape], dtype=F4) for tensor in args)
    func(*inputs, output)
    return inputs, output


@pytest.mark.parametrize("name", PROGRAMS)
def test_with_all_barriers_there_is_no_race(name: str) -> None:
    lines, barriers, _, expected = lowered(name)
    assert len(barriers) == PROGRAMS[name][1]
    inputs, output = run(name, lines)
    np.testing.assert_allclose(output, expected(*inputs), rtol=1e-5)


@pytest.mark.sample(12)
@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, (_, count) in PROGRAMS.items() for number in range(count)]
)
def test_without_a_barrier_there_is_a_race(name: str, number: int) -> None:
    lines, barriers, _, _ = lowered(name)
    without = lines[: barriers[number]] + lines[barriers[number] + 1 :]
    with pytest.raises(SimulationError) as raised:
        run(name, without)
    found = ("race on shared memory", "copy that is not waited for")[: 1 + (name in COPYING)]
    assert any(text in report for report in raised.value.reports for text in found), raised.value.reports


def lines_with(lines: list[str], text: str) -> list[int]:
    return [at for at, line in enumerate(lines) if text in line]


@pytest.mark.parametrize("name", COPYING)
def test_without_the_wait_for_a_copy_or_with_a_shorter_one_it_is_read_too_early(name: str) -> None:
    lines = lowered(name)[0]
    (at,) = lines_with(lines, "nvvm.cp.async.wait.group")
    before, groups = lines[at].rsplit(" ", 1)
    for changed in ([], [f"{before} {int(groups) + 1}"]):
        with pytest.raises(SimulationError) as raised:
            run(name, lines[:at] + changed + lines[at + 1 :])
        assert any("copy that is not waited for" in report for report in raised.value.reports), raised.value.reports


@pytest.mark.parametrize(
    ("name", "number"), [(name, number) for name, count in COPYING.items() for number in range(count)]
)
def test_a_copy_in_no_group_is_read_too_early(name: str, number: int) -> None:
    lines = lowered(name)[0]
    commits = lines_with(lines, "nvvm.cp.async.commit.group")
    assert len(commits) == COPYING[name]
    with pytest.raises(SimulationError) as raised:
        run(name, lines[: commits[number]] + lines[commits[number] + 1 :])
    assert any("copy that is not waited for" in report for report in raised.value.reports), raised.value.reports


def test_a_copy_that_is_not_waited_for_names_both_lines() -> None:
    lines, _, args, _ = lowered("cp.async")
    (at,) = lines_with(lines, "nvvm.cp.async.wait.group")
    with pytest.raises(SimulationError) as raised:
        run("cp.async", lines[:at] + lines[at + 1 :])
    first = raised.value.reports[0]
    assert re.fullmatch(
        r"(.+:\d+|an unknown line): copy that is not waited for: thread \(\d+, \d+, 0\) reads 'A.shared' at "
        r"\[\d+, \d+, \d+\], to which thread \(\d+, \d+, 0\) copies at (.+:\d+|an unknown line) with no wait between, in "
        r"block \(0, 0, 0\) in program_kernel0( \(.*\))?",
        first,
    ), first
