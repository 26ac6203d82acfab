"""What ptxas makes of pairs of 16-bit floats of which one is negated: see docs/rationale/indices.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from ptx import needs_disassembler, run_ptx, sass_of
from tilewright import te, testing
from tilewright.runtime import cuda

# in[0] + in[1] and NUMBER + in[2], both at once.
PAIRS = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry pairs(.param .u64 out, .param .u64 in)
{
    .reg .b16 %h<8>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [in];
    cvta.to.global.u64 %rd1, %rd1;
    ld.param.u64 %rd2, [out];
    cvta.to.global.u64 %rd2, %rd2;
    ld.global.v2.b32 {%r1, %r2}, [%rd1];
    mov.b32 {%h1, %h2}, %r1;
    mov.b32 {%h3, %h4}, %r2;
    NUMBER
    mov.b32 %r3, {%h1, %h5};
    mov.b32 %r4, {%h2, %h3};
    add.f16x2 %r5, %r3, %r4;
    st.global.b32 [%rd2], %r5;
    ret;
}
"""
NUMBERS = {"constant": "mov.b16 %h5, 0xBC00;", "negated": "neg.f16 %h5, %h4;", "positive": "mov.b16 %h5, 0x3C00;"}


def loses_signs(number: str) -> bool | None:
    """What was seen of 13.0, and of 13.5, which is mended; of those between nothing is known."""
    from cuda.bindings import nvjitlink  # pyright: ignore[reportAttributeAccessIssue]

    version = nvjitlink.version()
    return False if number == "positive" or version >= (13, 5) else True if version < (13, 1) else None


@pytest.mark.sweep
@needs_disassembler
@pytest.mark.parametrize("number", ["constant", "negated"])
def test_what_loses_its_sign(number: str) -> None:
    signs = re.findall(r" -R\d", sass_of(PAIRS.replace("NUMBER", NUMBERS[number])))
    if loses_signs(number) is not None:
        assert (not signs) == loses_signs(number)


@pytest.mark.gpu
@pytest.mark.parametrize("number", NUMBERS)
def test_ptxas_is_as_we_know_it(number: str, tmp_path: Path) -> None:
    if not cuda(0).exist:
        pytest.skip("no GPU here")
    a = np.array([1, 2, 3, 5], "float16")
    got = np.frombuffer(run_ptx(PAIRS.replace("NUMBER", NUMBERS[number]), tmp_path, (1, 1), a.tobytes(), 4), "float16")
    want = [3, {"constant": 2, "negated": -2, "positive": 4}[number]]
    if loses_signs(number) is not None:
        assert (list(got) != want) == loses_signs(number)


FORMS = ["constant", "negated", "fused", "whole"]


def pairs(form: str, dtype: str) -> tuple[te.Schedule, list[te.Tensor]]:
    """Pairs of x[0] and -1 or -x[3], with others of x[1] and x[2] that one thread computes with."""
    A = te.placeholder((64, 4), dtype, name="A")

    def element(i: te.Var, j: te.Var) -> te.Expr:
        negated = te.select(j < 1, A[i, 0], -A[i, 3])
        return {
            "constant": lambda: te.select(j < 1, A[i, 0], te.const(-1, dtype)) + A[i, 1 + j],
            "negated": lambda: negated * A[i, 1 + j],
            "fused": lambda: negated * A[i, 1 + j] + A[i, 2 + j],
            "whole": lambda: A[i, j] * A[i, 2 + j],
        }[form]()

    Y = te.compute((64, 2), element, name="Y")
    s = te.create_schedule(Y.op)
    i, j = Y.op.axis
    s[Y].bind(i, te.thread_axis("threadIdx.x"))
    s[Y].vectorize(j)
    return s, [A, Y]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("form", FORMS)
def test_pairs_with_one_sign_changed_are_not_packed(form: str, dtype: str) -> None:
    s, args = pairs(form, dtype)
    ptx = tw.build(s, args, target="cuda -arch=sm_90a", name="f").ptx
    assert ("f16x2" in ptx) == (form == "whole")


def check_pairs(target: str, form: str) -> None:
    s, args = pairs(form, "float16")
    a = np.random.default_rng(0).integers(-4, 5, (64, 4)).astype("float16")
    constant = np.stack([a[:, 0] + a[:, 1], a[:, 2] - 1], 1)
    negated = np.stack([a[:, 0] * a[:, 1], -a[:, 3] * a[:, 2]], 1)
    want = {"constant": constant, "negated": negated, "fused": negated + a[:, 2:], "whole": a[:, :2] * a[:, 2:]}[form]
    (got,) = testing.run(tw.build(s, args, target=target, name="f"), [a], [((64, 2), "float16")])
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("form", FORMS)
def test_on_the_simulator(form: str) -> None:
    check_pairs("sim", form)


@pytest.mark.gpu
@pytest.mark.parametrize("form", FORMS)
def test_on_a_gpu(form: str) -> None:
    if not cuda(0).exist:
        pytest.skip("no GPU here")
    check_pairs("cuda", form)
