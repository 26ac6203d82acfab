"""One process with Tilewright and the frameworks that bring an LLVM of their own, imported before and after a build."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

FIRST_USE = {
    "torch": "import torch; assert torch.compile(lambda x: torch.sin(x) + 1)(torch.zeros(4)).tolist() == [1.0] * 4",
    "triton": "import triton, triton._C.libtriton",
    "jax": "import jax; assert jax.jit(lambda x: x + 1)(jax.numpy.zeros(4)).tolist() == [1.0] * 4",
}
BUILD = """
import numpy as np
import tilewright as tw
from tilewright import te

def build(target):
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], 32)
    s[B].bind(outer, te.thread_axis("blockIdx.x"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    f = tw.build(s, [A, B], target=target, name="f")
    if target != "cuda -arch=sm_90a":
        b = np.empty(64, "float32")
        f(np.arange(64, dtype="float32"), b)
        assert (b == np.arange(1, 65)).all()
    else:
        assert f.cubin
"""
TARGETS = ["cpu", "sim", "cuda -arch=sm_90a"]


def run(lines: list[str]) -> None:
    program = BUILD + "\n".join([*lines, "print('done')"])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


def installed(names: list[str]) -> list[str]:
    return [name for name in names if importlib.util.find_spec(name)]


@pytest.mark.parametrize("name", FIRST_USE)
@pytest.mark.parametrize("order", ["before", "after"])
def test_one_framework(name: str, order: str) -> None:
    if not installed([name]):
        pytest.skip(f"{name} is not installed")
    builds = [f"build({target!r})" for target in TARGETS]
    run([FIRST_USE[name], *builds] if order == "before" else [*builds, FIRST_USE[name], *builds])


def test_all_frameworks_between_builds() -> None:
    names = installed(list(FIRST_USE))
    if len(names) < 2:
        pytest.skip("fewer than two frameworks are installed")
    lines = ["build('sim')"]
    for name in names:
        lines += [FIRST_USE[name], *(f"build({target!r})" for target in TARGETS)]
    run(lines)


def test_no_symbol_of_llvm_is_global() -> None:
    """Also without a framework: what the process-wide namespace holds is what a second LLVM would collide with."""
    lookup = (
        "import ctypes; assert not hasattr(ctypes.CDLL(None), 'LLVMContextCreate'), 'libLLVM is in the global scope'"
    )
    run([f"build({target!r})" for target in TARGETS] + [lookup])
