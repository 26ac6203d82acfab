"""`Function.sass()`: with no tool, with one that fails, and with NVIDIA's own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tilewright as tw
from tilewright import te
from tilewright.backend import sass


@pytest.fixture(scope="module")
def kernel() -> tw.Function:
    A = te.placeholder((256,), name="A")
    B = te.compute((256,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    return tw.build(s, [A, B], target=tw.Target("cuda", arch="sm_90a"), name="double")


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without NVIDIA's tools: a PATH of one empty folder, and no package that has them."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sass.importlib.util, "find_spec", lambda name: None)
    return tmp_path


def install(folder: Path, tool: str, script: str) -> None:
    path = folder / tool
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_no_tool(kernel: tw.Function, bare: Path) -> None:
    with pytest.raises(tw.TilewrightError) as caught:
        kernel.sass()
    assert str(caught.value) == (
        "expected nvdisasm or cuobjdump to disassemble the cubin, got neither: "
        "the CUDA toolkit has both, pip install nvidia-cuda-nvdisasm brings the first"
    )


def test_the_path_comes_first(kernel: tw.Function, bare: Path) -> None:
    install(bare, "cuobjdump", 'echo "cuobjdump $1"')
    assert kernel.sass() == "cuobjdump -sass\n"
    install(bare, "nvdisasm", 'echo "nvdisasm $1"')
    assert kernel.sass() == "nvdisasm -c\n"


def test_a_tool_that_fails(kernel: tw.Function, bare: Path) -> None:
    install(bare, "nvdisasm", 'echo "fatal: $2 is not for me" >&2; exit 3')
    with pytest.raises(tw.TilewrightError) as caught:
        kernel.sass()
    assert str(caught.value) == "nvdisasm failed with code 3: fatal: the cubin is not for me"


def test_only_cuda_has_machine_code() -> None:
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1.0, name="B")
    with pytest.raises(tw.TilewrightError) as caught:
        tw.build(te.create_schedule(B.op), [A, B], target="cpu", name="f").sass()
    assert str(caught.value) == (
        'f is compiled for cpu, and only target cuda makes a cubin: build it for "cuda", which needs no GPU'
    )


@pytest.mark.sweep
@pytest.mark.skipif(sass.find_disassembler() is None, reason="neither nvdisasm nor cuobjdump is installed")
def test_real_tool(kernel: tw.Function) -> None:
    text = kernel.sass()
    assert "double_kernel0" in text
    assert re.search(r"\bSTG\.E\b", text) and re.search(r"\bEXIT\b", text)
