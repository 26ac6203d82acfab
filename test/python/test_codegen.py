"""PTX to cubin by nvJitLink: no GPU is needed."""

from __future__ import annotations

import pytest

from tilewright.codegen import KernelResources, LinkOptions, link, link_cubin
from tilewright.errors import CompileError

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
    with pytest.raises(ValueError, match="expected an opt_level from 0 to 3, got 4"):
        LinkOptions(opt_level=4)
