"""What ptxas makes of selects, negations and numbers of one bit: seen in SASS, and run where there is a GPU.
docs/rationale/indices.md has the causes."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from ptx import needs_disassembler, run_ptx, sass_of
from tilewright import te, testing
from tilewright.backend.cubin import LinkOptions
from tilewright.runtime import cuda

CUDA = "cuda -arch=sm_90a"

# Each of 32 threads reads four numbers of 32 bits, and writes two.
REPRODUCER = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry chosen(.param .u64 out, .param .u64 in)
.reqntid 32, 1, 1
{
    .reg .pred %p<4>;
    .reg .b16 %h<8>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [in];
    ld.param.u64 %rd2, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %rd3, %r1, 16;
    add.s64 %rd4, %rd1, %rd3;
    mul.wide.u32 %rd5, %r1, 8;
    add.s64 %rd6, %rd2, %rd5;
    BODY
    ret;
}
"""
HALVES = """
    ld.global.nc.b16 %h1, [%rd4]; ld.global.nc.b16 %h2, [%rd4+4]; ld.global.nc.b16 %h3, [%rd4+8];
    ld.global.nc.b32 %r2, [%rd4+12]; setp.lt.s32 %p1, %r2, 3;
    sub.rn.f16 %h4, %h1, %h3; selp.b16 %h5, %h1, %h2, %p1; sub.rn.f16 %h6, %h5, %h3;
    st.global.b16 [%rd6], %h4; st.global.b16 [%rd6+4], %h6;
"""
NEGATED = """
    ld.global.nc.b32 %r2, [%rd4]; ld.global.nc.b32 %r3, [%rd4+4]; ld.global.nc.b32 %r4, [%rd4+8];
    neg.s32 %r2, %r2; max.s32 %r5, %r3, %r2; max.s32 %r5, %r5, %r4; st.global.b32 [%rd6], %r5;
"""
BODIES = {"halves": HALVES, "negated": NEGATED}


@pytest.mark.sweep
@needs_disassembler
def test_the_reproducers() -> None:
    """One register for the number and for the choice, in what ptxas packs."""
    sass = sass_of(REPRODUCER.replace("BODY", HALVES))
    assert re.search(r"HADD2 (R\d+), \1\.H0_H0, -R\d+\.H0_H0", sass), "ptxas is mended, or does it otherwise"
    assert "VIMNMX3" in sass_of(REPRODUCER.replace("BODY", NEGATED))


def data() -> np.ndarray:
    """Of each thread: three small numbers, and one that decides."""
    return np.random.default_rng(0).integers(-9, 10, (32, 4)).astype("int32")


@pytest.mark.gpu
@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("body", BODIES)
def test_ptxas_is_as_we_know_it(body: str, level: int, tmp_path: Path) -> None:
    if not cuda(0).exist:
        pytest.skip("no GPU here")
    given, (a, b, c, d) = data(), data().T
    want = np.zeros((32, 2), "int32")
    if body == "halves":
        given[:, :3] = given[:, :3].astype("float16").view("uint16")
        want[:, 0] = (a - c).astype("float16").view("uint16")
        want[:, 1] = (np.where(d < 3, a, b) - c).astype("float16").view("uint16")
    else:
        want[:, 0] = np.maximum(np.maximum(b, -a), c)
    lanes = (slice(None), slice(0, None, 2) if body == "halves" else slice(0, 2))  # in 16 bits: what is written
    ptx = REPRODUCER.replace("BODY", BODIES[body])
    raw = run_ptx(ptx, tmp_path, (1, 32), given.tobytes(), 256, LinkOptions(opt_level=level))
    got, want = (each.view("uint16").reshape(32, 4)[lanes] for each in (np.frombuffer(raw, "int32"), want))
    from cuda.bindings import nvjitlink  # pyright: ignore[reportAttributeAccessIssue]

    # 13.5 negates again; all up to it pack one register twice.
    if level == 0 or (body == "negated" and nvjitlink.version() >= (13, 5)):
        np.testing.assert_array_equal(got, want)
    elif body == "halves" or nvjitlink.version() < (13, 1):
        assert not np.array_equal(got, want), "ptxas is mended: docs/rationale/indices.md is not"


def halves() -> tuple[te.Schedule, list[te.Tensor]]:
    """Differences with a number, and with what is chosen of it and another, in one thread."""
    A = te.placeholder((4, 64), "float16", name="A")

    def differences(j: te.Var) -> tuple[te.Expr, te.Expr]:
        chosen = te.select(A[3, j] < 3, A[0, j], A[1, j])
        return A[0, j] - A[2, j], chosen - A[2, j]

    first, second = te.compute((64,), differences, name="Y")
    s = te.create_schedule(first.op)
    s[first].bind(first.op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [A, first, second]


def negated(form: str) -> tuple[te.Schedule, list[te.Tensor]]:
    """The largest or the smallest of three numbers, of which the first is negated, or all are."""
    A = te.placeholder((3, 64), "int32", name="A")
    k = te.reduce_axis((0, 3), name="k")
    Y = {
        "max": lambda: te.compute((64,), lambda j: te.max(te.max(A[1, j], -A[0, j]), A[2, j]), name="Y"),
        "min": lambda: te.compute((64,), lambda j: te.min(te.min(A[1, j], -A[0, j]), A[2, j]), name="Y"),
        "all": lambda: te.compute((64,), lambda j: te.max(-A[k, j], axis=k), name="Y"),
    }[form]()
    s = te.create_schedule(Y.op)
    if form == "all":
        s[Y].unroll(k)
    s[Y].bind(Y.op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [A, Y]


FORMS = ["max", "min", "all"]


def test_halves_are_chosen_by_masks() -> None:
    s, args = halves()
    assert "selp.b16" not in tw.build(s, args, target=CUDA, name="f").ptx


@pytest.mark.parametrize("form", FORMS)
def test_extrema_read_no_negation(form: str) -> None:
    s, args = negated(form)
    ptx = tw.build(s, args, target=CUDA, name="f").ptx
    assert "neg.s32" not in ptx and len(re.findall(r"not\.b32", ptx)) == (3 if form == "all" else 1)


def check_halves(target: str) -> None:
    s, args = halves()
    a = data().T.repeat(2, axis=1).astype("float16")
    first, second = testing.run(tw.build(s, args, target=target, name="f"), [a], 2 * [((64,), "float16")])
    np.testing.assert_array_equal(first, a[0] - a[2])
    np.testing.assert_array_equal(second, np.where(a[3] < 3, a[0], a[1]) - a[2])


def check_negated(target: str, form: str) -> None:
    s, args = negated(form)
    a = data().T[:3].repeat(2, axis=1)
    a[0, :4] = -(2**31), 2**31 - 1, 0, -1  # the first is its own negation
    parts = {"max": [a[1], -a[0], a[2]], "min": [a[1], -a[0], a[2]], "all": [-a[0], -a[1], -a[2]]}[form]
    want = np.min(parts, axis=0) if form == "min" else np.max(parts, axis=0)
    (got,) = testing.run(tw.build(s, args, target=target, name="f"), [a], [((64,), "int32")])
    np.testing.assert_array_equal(got, want)


def bits() -> tuple[te.Schedule, list[te.Tensor]]:
    """Rows that a thread copies eight of, where none of two quotients is one: 13.0 copied the first of each thread."""
    A = te.placeholder((2, 24), name="A")
    Y = te.compute((1, 24), lambda i, j: A[i, j], name="Y")
    s = te.create_schedule(Y.op)
    i, j = Y.op.axis
    i_outer, j_outer, i_inner, j_inner = s[Y].tile(i, j, 2, 3)
    inner = s[Y].fuse(i_inner, j_inner)
    all_ = s[Y].fuse(s[Y].fuse(i_outer, j_outer), inner)
    threads, each = s[Y].split(all_, factor=8)
    s[Y].bind(threads, te.thread_axis("threadIdx.x"))
    return s, [A, Y]


def check_bits(target: str) -> None:
    s, args = bits()
    a = np.arange(48, dtype="float32").reshape(2, 24)
    (got,) = testing.run(tw.build(s, args, target=target, name="f"), [a], [((1, 24), "float32")])
    np.testing.assert_array_equal(got, a[:1])


def test_on_the_simulator() -> None:
    check_halves("sim")
    check_bits("sim -gpu-indices=on")
    for form in FORMS:
        check_negated("sim", form)


@pytest.mark.gpu
def test_on_a_gpu() -> None:
    if not cuda(0).exist:
        pytest.skip("no GPU here")
    check_halves("cuda")
    check_bits("cuda")
    for form in FORMS:
        check_negated("cuda", form)
