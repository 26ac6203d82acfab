"""Printed kernels compile, and compute what the simulator computes of the same program."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from source.kernels import PROGRAMS
from source.nvrtc import compile_cuda
from tilewright import te

SHIM = Path(__file__).parent / "cuda_on_cpu.h"
TARGET = tw.Target("cuda", arch="sm_90a")


def random_array(argument: Any, extents: list[int], rng: np.random.Generator) -> np.ndarray:
    dtype = np.dtype(argument.dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, extents).astype(bool)
    if dtype.kind in "iu":
        bound = np.iinfo(dtype)
        return rng.integers(max(bound.min, -(2**31)), min(bound.max, 2**31 - 1), extents, dtype=dtype)
    return rng.standard_normal(extents).astype(dtype)


def arrays_for(signature: Any) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    symbols: dict[str, int] = {}
    made = []
    for argument in signature.arguments:
        extents = [
            e if isinstance(e, int) else symbols.setdefault(e.name, 5 + 40 * len(symbols)) for e in argument.shape
        ]
        made.append(np.zeros(extents, argument.dtype) if argument.output else random_array(argument, extents, rng))
    return made


def for_cpu(source: str) -> str:
    """The kernels for g++, after the shim: what is PTX in them is the shim's."""
    for head in ("Copies from global", "__device__ void prefetch"):
        source = re.sub(rf"\n(?:// )?{head}.*?\n\n", "\n", source, flags=re.DOTALL)
    source = re.sub(r"#include <cuda_\w+\.h>\n", "", source)
    if "extern __shared__" in source:
        source += "\nalignas(1024) unsigned char shared_memory[1 << 18];\n"
    return source


def on_cpu(source: str, kernels: tuple[str, ...], folder: Path) -> ctypes.CDLL:
    """The kernels as functions that g++ compiled."""
    cases = "\n".join(f"  case {i}: return launch({name}, config, params);" for i, name in enumerate(kernels))
    (folder / "kernels.cpp").write_text(
        f'#include "{SHIM}"\n{for_cpu(source)}\n'
        f'extern "C" void run(int kernel, const uint64_t *config, void **params) {{\n  switch (kernel) {{\n{cases}\n  }}\n}}\n'
    )
    library = folder / "kernels.so"
    command = ["g++", "-std=c++17", "-O1", "-fPIC", "-shared", "-pthread", "-Wno-unknown-pragmas"]
    result = subprocess.run([*command, "-o", str(library), str(folder / "kernels.cpp")], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:4000]
    return ctypes.CDLL(str(library))


def run_printed(function: Any, arrays: list[np.ndarray], folder: Path) -> None:
    """The host program of `function` on the arrays, with the printed kernels in place of its own."""
    from tilewright.host import HostProgram, Launcher, _LaunchFunction

    host = HostProgram(function.module("host"), function.name)
    library = on_cpu(function.source("cuda"), host.kernels, folder)

    def launch(context: Any, kernel: int, config: Any, params: Any, count: int) -> int:
        library.run(kernel, config, params)
        return 0

    callback = _LaunchFunction(launch)
    launcher = Launcher(None, ctypes.cast(callback, ctypes.c_void_p).value)
    shape = [extent for array in arrays for extent in array.shape]
    workspace = np.zeros(host.workspace_bytes(shape) + 256, np.uint8)
    aligned = -(-workspace.ctypes.data // 256) * 256
    assert host.call([array.ctypes.data for array in arrays], shape, aligned, launcher) == 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_printed_kernels_compute_the_same(name: str, tmp_path: Path) -> None:
    s, args = PROGRAMS[name]()
    simulated = tw.build(s, args, tw.Target("sim", arch="sm_90a"), name)
    arrays = arrays_for(simulated.signature)
    printed = [array.copy() for array in arrays]
    simulated(*arrays)
    run_printed(simulated, printed, tmp_path)
    for argument, expected, got in zip(simulated.signature.arguments, arrays, printed):
        if not argument.output:
            continue
        if np.dtype(argument.dtype).kind == "f":
            eps = float(np.finfo(argument.dtype).eps)
            np.testing.assert_allclose(got, expected, rtol=16 * eps, atol=16 * eps, err_msg=argument.name)
        else:
            np.testing.assert_array_equal(got, expected, err_msg=argument.name)


@pytest.mark.parametrize("name", PROGRAMS)
def test_printed_kernels_compile_for_a_gpu(name: str) -> None:
    s, args = PROGRAMS[name]()
    function = tw.build(s, args, TARGET, name)
    image = compile_cuda(function.source("cuda"))
    assert image.startswith(b"\x7fELF")
    for launch in function.launch_config(*arrays_for(function.signature)):
        assert launch.kernel.encode() in image


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
def test_narrow_floats_compile_for_a_gpu(dtype: str) -> None:
    A = te.placeholder((40,), dtype=dtype, name="A")
    B = te.placeholder((40,), name="B")
    C = te.compute((40,), lambda i: (A[i].astype("float32") + B[i]).astype(dtype), name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("threadIdx.x"))
    compile_cuda(tw.build(s, [A, B, C], TARGET, "narrow").source("cuda"))


def test_the_source_reads_like_the_program() -> None:
    s, args = PROGRAMS["tiled_gemm"]()
    assert tw.build(s, args, TARGET, "mmult").source("cuda") == (Path(__file__).parent / "tiled_gemm.cu").read_text()


def test_what_has_no_source() -> None:
    s, args = PROGRAMS["vector_add"]()
    with pytest.raises(tw.TilewrightError, match="^add is compiled for cpu, which has no kernels$"):
        tw.build(s, args, "cpu", "add").source("cuda")
    with pytest.raises(ValueError, match="^expected 'cuda' or 'host', got 'metal'$"):
        tw.build(s, args, "sim", "add").source("metal")
