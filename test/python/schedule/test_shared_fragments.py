"""Operands that warpgroups compute and share: transposed ones, and second ones, of a matmul in the same kernel."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.instructions import wgmma

Scheduled = tuple[te.Schedule, list[te.Tensor]]
ROWS, STEP, WIDTH = 128, 64, 128


def gram(M: int, N: int, *, is_second: bool = False, is_turned: bool = False, columns: int = 64) -> Scheduled:
    """D = relu(X Y^T)^T X, or its transpose: each block has 128 rows of X, and adds what they give to D."""
    X, Y = te.placeholder((M, WIDTH), "float16", name="X"), te.placeholder((N, WIDTH), "float16", name="Y")
    d, jo, ji = (te.reduce_axis((0, n), name) for n, name in ((WIDTH, "d"), (M // ROWS, "jo"), (ROWS, "ji")))
    XS, YS = (te.compute(x.shape, lambda i, j, x=x: x[i, j], name=f"{x.name}.shared") for x in (X, Y))
    S = te.compute(
        (M, N), lambda j, i: te.sum(XS[j, d].astype("float32") * YS[i, d].astype("float32"), axis=d), name="S"
    )

    def element(*at: Any) -> te.Expr:
        return te.max(S(*(at[::-1] if is_turned else at)), 0.0).astype("float16")

    R = te.compute((N, M) if is_turned else (M, N), element, name="R")

    def term(part: Any, a: Any, b: Any) -> te.Expr:
        j = part * ROWS + ji
        if is_second:
            return XS[j, a].astype("float32") * R[j, b].astype("float32")
        return (R[a, j] if is_turned else R[j, a]).astype("float32") * XS[j, b].astype("float32")

    shape = (WIDTH, N) if is_second else (N, WIDTH)
    P = te.compute((M // ROWS, *shape), lambda part, a, b: te.sum(term(part, a, b), axis=ji), name="P")
    D = te.compute(shape, lambda a, b: te.sum(P[jo, a, b], axis=jo), name="D")
    s = te.create_schedule(D.op)
    a, b = s[D].op.axis
    io, ii = s[D].split(b if is_second else a, factor=STEP)
    warpgroup, inner = s[D].split(a if is_second else b, factor=columns)
    s[D].reorder(jo, io, warpgroup, *((inner, ii) if is_second else (ii, inner)))
    s[D].bind(jo, te.thread_axis("blockIdx.x"), reduce_add=True)
    s[D].bind(warpgroup, te.thread_axis("threadIdx.y"))
    s[D].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    for stage, loop in ((XS, jo), (YS, io)):
        s[stage].set_scope("shared")
        s[stage].compute_at(s[D], loop)
        s[stage].copy_by("tma", swizzle=128)
    s[R].set_scope("shared")
    s[R].compute_at(s[D], io)
    own, rest = s[R].split(s[R].op.axis[is_turned], factor=64)
    if is_turned:
        s[R].reorder(own, s[R].op.axis[0], rest)
    s[R].bind(own, te.thread_axis("threadIdx.y"))
    s[S].set_scope("local")
    s[S].compute_at(s[R], own)
    s[S].tensorize(s[S].op.axis[0], wgmma("float16", "float32", n=STEP, k=WIDTH, transpose_b=True))
    s[P].set_scope("local")
    s[P].compute_at(s[D], warpgroup)
    s[P].tensorize(s[P].op.axis[1], wgmma("float16", "float32", n=columns, k=ROWS, transpose_a=not is_turned))
    s[D].software_pipeline(io, 2)
    s[D].specialize(io, 24, 240)
    return s, [X, Y, D]


@pytest.mark.parametrize("is_second", [False, True])
def test_operands_that_warpgroups_share(is_second: bool) -> None:
    """The simulator sees who reads what is not written yet, or not any more."""
    func = tw.build(*gram(256, 192, is_second=is_second), target="sim", name="f")
    rng = np.random.default_rng(0)
    x, y = ((rng.standard_normal((rows, WIDTH)) / 8).astype("float16") for rows in (256, 192))
    d = np.full((WIDTH, 192) if is_second else (192, WIDTH), np.nan, "float32")
    func(x, y, d)
    scores = np.maximum(x.astype("float64") @ y.astype("float64").T, 0).T @ x.astype("float64")
    exact = scores.T if is_second else scores
    assert np.abs(d - exact).max() <= 2.0**-10 * np.abs(exact).max()


def test_what_becomes_of_them() -> None:
    s, tensors = gram(256, 192)
    text = str(tw.lower(s, tensors, stage="gpu", target="cuda -arch=sm_90a"))
    for op in ("tile.store_fragment", "tile.fence_async", "tile.sync_warpgroup of 2", "tile.wgmma %"):
        assert op in text
    func = tw.build(s, tensors, target="cuda -arch=sm_90a", name="f")
    assert re.search(r"bar(rier)?(\.cta)?\.sync(\.aligned)?\s+15, 256;", func.ptx)
    assert "named_barrier_sync(15, 256);" in func.source("cuda")


def message(scheduled: Scheduled) -> str:
    with pytest.raises(tw.CompileError) as error:
        tw.lower(*scheduled, stage="gpu", target="cuda -arch=sm_90a")
    return re.sub(r"^.*?: (?=error|note)", "", str(error.value), flags=re.M).splitlines()[0]


def added_by_tma(M: int, N: int) -> Scheduled:
    """The same D, of which a warpgroup computes 64 columns as rows of its sums: in shared memory TMA adds them."""
    s, (X, Y, D) = gram(M, N, is_second=True)
    P, jo = D.op.input_tensors[0], D.op.reduce_axis[0]
    C = te.compute((M // ROWS, N, WIDTH), lambda part, a, b: P[part, b, a], name="C")
    E = te.compute((N, WIDTH), lambda a, b: te.sum(C[jo, a, b], axis=jo), name="E")
    (R,) = (one for one in P.op.input_tensors if one.name == "R")
    (S,) = R.op.input_tensors
    XS, YS = S.op.input_tensors
    s = te.create_schedule(E.op)
    a, b = s[E].op.axis
    io, ii = s[E].split(a, factor=STEP)
    s[E].reorder(jo, io, ii, b)
    s[E].bind(jo, te.thread_axis("blockIdx.x"), reduce_add=True)
    s[E].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    s[E].copy_by("tma")
    for stage, loop in ((XS, jo), (YS, io)):
        s[stage].set_scope("shared")
        s[stage].compute_at(s[E], loop)
        s[stage].copy_by("tma", swizzle=128)
    owns = []
    for stage, across in ((R, s[R].op.axis[0]), (C, s[C].op.axis[2])):
        s[stage].set_scope("shared")
        s[stage].compute_at(s[E], io)
        own, _ = s[stage].split(across, factor=64)
        s[stage].reorder(own, *[axis for axis in s[stage].op.axis[:-1] if axis is not across])
        s[stage].bind(own, te.thread_axis("threadIdx.y"))
        owns.append(own)
    for stage, parent, own in ((S, R, owns[0]), (P, C, owns[1])):
        s[stage].set_scope("local")
        s[stage].compute_at(s[parent], own)
    s[S].tensorize(s[S].op.axis[0], wgmma("float16", "float32", n=STEP, k=WIDTH, transpose_b=True))
    s[P].tensorize(s[P].op.axis[1], wgmma("float16", "float32", n=STEP, k=ROWS, transpose_a=True))
    s[E].software_pipeline(io, 2)
    s[E].specialize(io, 24, 240)
    return s, [X, Y, E]


MARKS = r"tile\.(fence_async|sync_warpgroup of 2)\b"


@pytest.mark.parametrize("number", range(3))
def test_without_one_of_its_barriers_or_its_fence(number: int) -> None:
    """Warpgroups wait before one of them writes again, and before one reads what others wrote; TMA and wgmma need a
    fence."""
    s, tensors = gram(128, 192)
    lines = str(tw.lower(s, tensors, "program", target="sim", stage="gpu")).splitlines()
    at = [place for place, line in enumerate(lines) if re.search(MARKS, line)]
    assert len(at) == 3
    func = tw.build("\n".join(lines[: at[number]] + lines[at[number] + 1 :]), target="sim", start="gpu")
    rng = np.random.default_rng(0)
    x, y = (rng.standard_normal((rows, WIDTH)).astype("float16") for rows in (128, 192))
    with pytest.raises(tw.SimulationError) as raised:
        func(x, y, np.zeros((192, WIDTH), "float32"))
    found = ("race on shared memory", "missing fence")[number == 1]
    assert any(found in report for report in raised.value.reports), raised.value.reports


def test_rows_of_another_stage() -> None:
    assert message(gram(128, 64, is_turned=True)) == (
        "error: wgmma of stage 'P': expected an operand of which each of a block's 2 warpgroups computes 64 rows, got "
        "stage 'R' of 64 rows"
    )


def test_another_number_of_warpgroups() -> None:
    assert message(gram(128, 64, columns=32)) == (
        "error: wgmma of stage 'S': expected 2 warpgroups along threadIdx.y, got axis 'D.b.outer'"
    )


OF_STORES = r"tile\.(fence_async|sync_warpgroup$|wait_stores)"


@pytest.mark.parametrize("number", [None, 0, 1, 2, 3])
def test_parts_that_tma_adds(number: int | None) -> None:
    """Right, and with races if a wait, a barrier or the fence before or behind a warpgroup's writes is gone."""
    s, tensors = added_by_tma(128, 192)
    lines = str(tw.lower(s, tensors, "program", target="sim", stage="gpu")).splitlines()
    first = next(place for place, line in enumerate(lines) if "wait_stores" in line)
    at = [place for place, line in enumerate(lines) if place >= first and re.search(OF_STORES, line)]
    rng = np.random.default_rng(0)
    x, y = ((rng.standard_normal((rows, WIDTH)) / 8).astype("float16") for rows in (128, 192))
    e = np.full((192, WIDTH), np.nan, "float32")
    if number is None:
        tw.build("\n".join(lines), target="sim", start="gpu")(x, y, e)
        exact = np.maximum(x.astype("float64") @ y.astype("float64").T, 0).T @ x.astype("float64")
        assert np.abs(e - exact).max() <= 2.0**-10 * np.abs(exact).max()
        return
    func = tw.build("\n".join(lines[: at[number]] + lines[at[number] + 1 :]), target="sim", start="gpu")
    with pytest.raises(tw.SimulationError) as raised:
        func(x, y, e)
    found = "missing fence" if "fence" in lines[at[number]] else "race on shared memory"
    assert any(found in report for report in raised.value.reports), raised.value.reports
