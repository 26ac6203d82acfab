"""What ptxas makes of registers that a loop carries and that nothing is written to before it: see
docs/rationale/indices.md."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from ptx import needs_disassembler, run_ptx, sass_of
from tilewright.runtime import cuda

# Block i keeps what its first iteration loads, 3 * in[i], over eight others, which store 3 * in[i + 1] and so on there.
CARRIED = """
.version 8.0
.target sm_90a
.address_size 64
.visible .entry carried(.param .u64 out, .param .u64 in)
{
    .shared .align 4 .b32 cell;
    .reg .pred %p<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [in];
    cvta.to.global.u64 %rd1, %rd1;
    ld.param.u64 %rd2, [out];
    cvta.to.global.u64 %rd2, %rd2;
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, 0;
    BEFORE
NEXT:
    .pragma "nounroll";
    add.s32 %r3, %r1, %r2;
    setp.gt.s32 %p1, %r3, 10;
    @%p1 bra STORED;
    mul.wide.s32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd3;
    ld.global.b32 %r4, [%rd4];
    mul.lo.s32 %r5, %r4, 3;
    st.shared.b32 [cell], %r5;
STORED:
    setp.ne.s32 %p2, %r2, 0;
    @%p2 bra KEPT;
    ld.shared.b32 %r6, [cell];
KEPT:
    add.s32 %r2, %r2, 1;
    setp.lt.s32 %p3, %r2, 9;
    @%p3 bra NEXT;
    mul.wide.u32 %rd5, %r1, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.b32 [%rd6], %r6;
    ret;
}
"""
FORMS = {"undefined": "", "zero": "mov.b32 %r6, 0;"}


@pytest.mark.sweep
@needs_disassembler
@pytest.mark.parametrize("form", FORMS)
def test_what_shares_the_register(form: str) -> None:
    sass = sass_of(CARRIED.replace("BEFORE", FORMS[form]))
    (kept,) = re.findall(r"LDS (R\d+),", sass)
    (stored,) = re.findall(r"STS \[[^]]*\], (R\d+)", sass)
    assert (stored == kept) == (form == "undefined"), "ptxas is mended, or does it otherwise"


@pytest.mark.gpu
@pytest.mark.parametrize("form", FORMS)
def test_ptxas_is_as_we_know_it(form: str, tmp_path: Path) -> None:
    if not cuda(0).exist:
        pytest.skip("no GPU here")
    a = np.arange(1, 12, dtype="int32")
    ptx = CARRIED.replace("BEFORE", FORMS[form])
    got = np.frombuffer(run_ptx(ptx, tmp_path, (11, 1), a.tobytes(), 44), "int32")
    if form == "zero":
        np.testing.assert_array_equal(got, 3 * a)
    else:
        assert list(got) != list(3 * a), (
            "ptxas is mended: gpu-to-nvvm/CarriedRegisters.cpp can go where no older one is"
        )
