"""PTX to cubin by nvJitLink: no GPU is needed."""

from __future__ import annotations

from pathlib import Path

import pytest
from mlir import ir

from tilewright.backend import cubin as cubin_module
from tilewright.backend.cubin import KernelResources, LinkOptions, find_ptxas, link, link_cubin
from tilewright.backend.ptx import emit_ptx
from tilewright.errors import CompileError
from tilewright.ir import context

PTX = """
.version 8.6
.target sm_90a
.address_size 64
.visible .entry copy(.param .u64 p) {
  .reg .b64 %r<2>;
  .reg .f32 %f<2>;
  ld.param.u64 %r1, [p];
  ld.global.f32 %f1, [%r1];
  st.global.f32 [%r1+4], %f1;
  ret;
}
"""


def test_link() -> None:
    cubin = link(PTX, "sm_90a")
    assert cubin.image.startswith(b"\x7fELF")
    assert cubin.resources.keys() == {"copy"}
    resources = cubin.resources["copy"]
    assert resources.registers > 0
    assert resources == KernelResources(resources.registers, 0, 0, 0)


def test_refused_ptx_has_the_linkers_log() -> None:
    with pytest.raises(CompileError, match="line 11; error   : Not a name of any known instruction: 'foo'") as error:
        link_cubin(PTX.replace("ret;", "foo.b32;"), "sm_90a")
    assert error.value.stage == "cubin"


def test_unknown_arch() -> None:
    with pytest.raises(CompileError, match="nvJitLink refused its options .*UNSUPPORTED_ARCH") as error:
        link_cubin(PTX, "sm_12")
    assert error.value.stage == "cubin"


def test_options() -> None:
    for level in (1, 4):
        with pytest.raises(ValueError, match=f"expected an opt_level of 0 or 3, got {level}"):
            LinkOptions(opt_level=level)


ROLES = PTX.replace("  ld.param", "  setmaxnreg.dec.sync.aligned.u32 24;\n  ld.param", 1).replace(
    "(.param .u64 p)", "(.param .u64 p)\n.reqntid 128, 1, 1\n.minnctapersm 1"
)


def install(folder: Path, script: str) -> None:
    path = folder / "ptxas"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without NVIDIA's tools: a PATH of one empty folder, and no package that has them."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    find = cubin_module.shutil.which
    monkeypatch.setattr(cubin_module.shutil, "which", lambda tool, path=None: find(tool, path=str(tmp_path)))
    return tmp_path


def test_registers_are_not_handed_out_without_ptxas(bare: Path) -> None:
    ((_, note),) = link(ROLES, "sm_90a").notes
    assert note == (
        "(C7504) Potential Performance Loss: 'setmaxnreg' ignored to maintain compatibility across compilation units."
    )


def test_ptxas_links_what_hands_out_registers(bare: Path) -> None:
    install(bare, 'for last; do :; done; echo "$1 $2" > "$last"; echo "(C7510) slow" >&2')
    cubin = link(ROLES, "sm_90a")
    assert cubin.image == b"-arch=sm_90a -O3\n"
    assert cubin.notes == (("", "(C7510) slow"),)
    assert link(PTX, "sm_90a").image.startswith(b"\x7fELF")


def test_ptxas_that_refuses(bare: Path) -> None:
    install(bare, 'echo "fatal: no" >&2; exit 3')
    with pytest.raises(CompileError) as caught:
        link(ROLES, "sm_90a")
    assert str(caught.value) == "ptxas refused the PTX for sm_90a:\nfatal: no"
    assert caught.value.stage == "cubin"


@pytest.mark.skipif(find_ptxas() is None, reason="ptxas is not installed")
def test_real_ptxas() -> None:
    cubin = link(ROLES, "sm_90a")
    assert cubin.notes == () and cubin.resources.keys() == {"copy"}


def test_divisions_of_small_numbers_are_no_calls() -> None:
    text = """
    module {
      gpu.module @kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] {
        llvm.func @f(%p: !llvm.ptr, %x: i16, %y: i16) attributes {gpu.kernel, nvvm.kernel} {
          %0 = llvm.udiv %x, %y : i16
          %1 = llvm.srem %x, %y : i16
          %2 = llvm.add %0, %1 : i16
          llvm.store %2, %p : i16, !llvm.ptr
          llvm.return
        }
      }
    }
    """
    with context():
        ptx = emit_ptx(ir.Module.parse(text))
    assert "div.u32" in ptx and "rem.s32" in ptx
    assert "div.u16" not in ptx and "rem.s16" not in ptx
