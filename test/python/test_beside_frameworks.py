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


def run(lines: list[str], first: tuple[str, ...] = ()) -> None:
    program = "\n".join([*first, BUILD, *lines, "print('done')"])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr[-2000:]


def installed(names: list[str]) -> list[str]:
    return [name for name in names if importlib.util.find_spec(name)]


IN_THE_SUITE = [("before", "jax"), ("after", "triton")]  # torch.compile calls a C++ compiler, which takes 20 s


@pytest.mark.parametrize(
    ("order", "name"),
    [
        pytest.param(order, name, marks=() if (order, name) in IN_THE_SUITE else pytest.mark.sweep)
        for order in ("before", "after")
        for name in FIRST_USE
    ],
)
def test_one_framework(order: str, name: str) -> None:
    if not installed([name]):
        pytest.skip(f"{name} is not installed")
    builds = [f"build({target!r})" for target in TARGETS]
    run([FIRST_USE[name], *builds] if order == "before" else [*builds, FIRST_USE[name], *builds])


@pytest.mark.sweep
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


@pytest.mark.sweep
@pytest.mark.parametrize("order", ["before", "after"])
def test_torch_compile_leaves_our_calls_as_they_are(order: str) -> None:
    """A function that calls an operation and a built function, traced by TorchDynamo."""
    if not installed(["torch"]):
        pytest.skip("torch is not installed")
    lines = [
        "from tilewright import ops",
        "import torch",
        "A = te.placeholder((3, 4), name='A')",
        "B = te.compute((3, 4), lambda i, j: A[i, j] * 3, name='B')",
        "triple = tw.build(te.create_schedule(B.op), [A, B], 'cpu')",
        "def function(x): return triple(ops.softmax(x * 2) + 1) - 1",
        "x = torch.randn(3, 4)",
        "made = torch.compile(function, backend='eager')(x)",
        "torch.testing.assert_close(made, 3 * (torch.softmax(2 * x, -1) + 1) - 1)",
    ]
    run(lines, ("import torch._dynamo",) if order == "after" else ())
