"""The printed source of kernels of asynchronous tiles has the instructions of the kernels, and compiles without spills."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

import tilewright as tw
from source.nvrtc import compile_to_ptx
from source.tile_kernels import KERNELS, OTHERS
from tilewright import ops
from tilewright.backend.cpp_source import cuda_source
from tilewright.backend.ptx import emit_ptx

TARGET = tw.Target("cuda", arch="sm_90a")
# The asynchronous instructions, up to where two ways to write one of them differ.
INSTRUCTION = re.compile(
    r"^\s*(?:@!?%\w+ )?(wgmma\.(?:mma_async[\w.:]*|fence|commit_group|wait_group)|cp\.async\.bulk\.tensor[\w.:]*"
    r"|mbarrier\.(?:init|try_wait\.parity|arrive\.expect_tx|arrive)(?=\.)|mapa|stmatrix[\w.]*|setmaxnreg\.\w+|elect\.sync"
    r"|prefetch\.tensormap|bar\.red|atom|fence\.(?:mbarrier_init|proxy\.async)|barrier\.cluster\.\w+)",
    re.MULTILINE,
)


def instructions(ptx: str) -> Counter[str]:
    return Counter(INSTRUCTION.findall(ptx))


def both(scheduled: tuple[tw.Schedule, list[tw.te.Tensor]]) -> tuple[Counter[str], Counter[str], str]:
    """The instructions of a kernel and of its printed source, and what the compiler says of that."""
    kernel = emit_ptx(tw.lower(*scheduled, "kernel", stage="nvvm", target=TARGET))
    source = cuda_source(tw.lower(*scheduled, "kernel", stage="gpu", target=TARGET), "sm_90a")
    assert "__grid_constant__ CUtensorMap" in source
    _, ptx, log = compile_to_ptx(source, "sm_90a", "--ptxas-options=-v")
    return instructions(kernel), instructions(ptx), log


@pytest.mark.sweep
@pytest.mark.parametrize("name", KERNELS)
def test_instructions_are_those_of_the_kernel(name: str) -> None:
    kernel, printed, log = both(KERNELS[name]())
    assert kernel == printed
    assert "wgmma.fence" in kernel
    assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}, log
    # What goes in registers from one wgmma to the next makes ptxas run attention's one after the other.
    assert ("serialized" in log) == ("attention" in name), log


FUSED = re.compile(r"\b(?:fma\.rn\.f32|(?:add|sub)\.f32)\b")


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["attention", "causal attention"])
def test_the_text_says_which_products_are_fused(name: str) -> None:
    """What ptxas may fuse, or not, would give other bits: the mask of causal attention came between both."""
    scheduled = KERNELS[name]()
    kernel = emit_ptx(tw.lower(*scheduled, "kernel", stage="nvvm", target=TARGET))
    source = cuda_source(tw.lower(*scheduled, "kernel", stage="gpu", target=TARGET), "sm_90a")
    _, printed, _ = compile_to_ptx(source)
    assert Counter(FUSED.findall(printed)) == Counter(FUSED.findall(kernel)) == {"fma.rn.f32": 128}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", OTHERS)
def test_each_instruction_of_the_kernel_is_there(name: str) -> None:
    kernel, printed, log = both(OTHERS[name]())
    assert set(kernel) == set(printed)
    assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}, log
    assert "serialized" not in log, log


def test_a_program_of_both_kinds_prints_all() -> None:
    function = tw.build(*OTHERS["rows of no 16 bytes"](), target=TARGET, name="kernel")
    source = function.source("cuda")
    assert source.count('extern "C" __global__') == len(re.findall(r"\.entry", function.ptx)) > 1
    assert "wgmma.mma_async" in source


@pytest.mark.parametrize("what", ["cuda", "host"])
def test_other_gpus_have_no_source(what: str) -> None:
    """Their warps multiply, and their threads may copy, which the text has no form for."""
    q = np.zeros((1, 2, 192, 64), "float16")
    s, tensors = ops.attention.schedule(q, q, q, target="cuda -device=A100")
    func = tw.build(s, tensors, target="cuda -device=A100", name="attention")
    with pytest.raises(tw.CompileError) as refused:
        func.source(what)
    assert str(refused.value).startswith(
        "expected the architecture sm_90a for matmuls of warpgroups in C++, got sm_80: other GPUs have the PTX"
    )
