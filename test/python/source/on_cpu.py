"""Printed kernels as functions of this machine, by g++ and a header that stands for CUDA."""

from __future__ import annotations

import ctypes
import functools
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import tilewright as tw
from tilewright.runtime.host_program import HostProgram, Launcher, _LaunchFunction

SHIM = Path(__file__).parent / "cuda_on_cpu.h"
# What is PTX in the kernels' helpers: the header has it.
IN_PTX = (
    "Copies from global",
    "__device__ void prefetch",
    "What the kernels before this one",
    "Each lane gives the address",
    "The lanes of a warp multiply",
)


# Without optimization, which takes longer than the kernels run; a precompiled header is for the same options alone.
FLAGS = ["-std=c++17", "-fPIC", "-pthread", "-Wno-unknown-pragmas"]


@functools.cache
def _shim() -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """The header beside its precompiled form, and the folder that holds both."""
    folder = tempfile.TemporaryDirectory()
    shim = Path(shutil.copy(SHIM, folder.name))
    subprocess.run(["g++", *FLAGS, "-x", "c++-header", str(shim), "-o", f"{shim}.gch"], check=True)
    return folder, shim


def compile_kernels(source: Path, kernels: str, library: Path, *more: str) -> None:
    """What `for_cpu` has made of kernels, as a library with what else is linked."""
    source.write_text(f'#include "{_shim()[1]}"\n{kernels}')
    command = ["g++", *FLAGS, "-shared", "-o", str(library), str(source), *more]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:4000]


def for_cpu(source: str) -> str:
    """Printed kernels for g++, after the header."""
    for head in IN_PTX:
        source = re.sub(rf"\n(?:// )?{head}.*?\n\n", "\n", source, flags=re.DOTALL)
    source = re.sub(r"#include <cuda_\w+\.h>\n", "", source)
    if "extern __shared__" in source:
        source = source.replace("extern __shared__ __align__(1024) unsigned char shared_memory[];", "")
        source = "alignas(1024) static unsigned char shared_memory[1 << 18];\n" + source
    return source


def compile_on_cpu(functions: Mapping[str, tw.Function], folder: Path) -> dict[str, Callable[..., int]]:
    """Of each function one that runs a printed kernel by its number. They are compiled together, which is faster: their
    names differ."""
    parts: list[str] = []
    for name, function in functions.items():
        kernels = HostProgram(function.module("host"), function.name).kernels
        cases = "\n".join(f"  case {i}: return launch({kernel}, config, params);" for i, kernel in enumerate(kernels))
        parts.append(
            f"namespace of_{name} {{\n{for_cpu(function.source('cuda'))}\n"
            f'extern "C" int run_{name}(int kernel, const uint64_t *config, void **params) {{\n'
            f"  switch (kernel) {{\n{cases}\n  }}\n  return 2;\n}}\n}}"
        )
    library = folder / "kernels.so"
    compile_kernels(folder / "kernels.cpp", "\n".join(parts), library)
    loaded = ctypes.CDLL(str(library))
    return {name: getattr(loaded, f"run_{name}") for name in functions}


def run_printed(function: tw.Function, run: Callable[..., int], arrays: list[np.ndarray]) -> None:
    """The host program of `function` on the arrays, with the printed kernels in place of its own."""
    host = HostProgram(function.module("host"), function.name)

    def launch(context: Any, kernel: int, config: Any, params: Any, count: int) -> int:
        return run(kernel, config, params)

    callback = _LaunchFunction(launch)
    launcher = Launcher(None, ctypes.cast(callback, ctypes.c_void_p).value)
    shape: list[int] = []
    for argument, array in zip(function.signature.arguments, arrays):
        shape += array.shape
        if argument.strides is not None:
            shape += (stride // array.itemsize for stride in array.strides)
    workspace = np.zeros(host.workspace_bytes(shape) + 256, np.uint8)
    aligned = -(-workspace.ctypes.data // 256) * 256
    assert host.call([array.ctypes.data for array in arrays], shape, aligned, launcher) == 0


def random_array(argument: Any, extents: list[int], rng: np.random.Generator, step: float) -> np.ndarray:
    dtype = np.dtype(argument.dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, extents).astype(bool)
    if dtype.kind in "iu":
        bound = np.iinfo(dtype)
        return rng.integers(max(bound.min, -(2**31)), min(bound.max, 2**31 - 1), extents, dtype=dtype)
    found = rng.standard_normal(extents)
    return (np.round(found / step) * step if step else found).astype(dtype)


def arrays_for(signature: Any, step: float = 0) -> list[np.ndarray]:
    """Random arguments. Floats are multiples of `step`: of a quarter, sums of products are exact in any order."""
    rng = np.random.default_rng(1)
    symbols: dict[str, int] = {}
    made = []
    for argument in signature.arguments:
        extents = [
            e if isinstance(e, int) else symbols.setdefault(e.name, 5 + 40 * len(symbols)) for e in argument.shape
        ]
        made.append(
            np.zeros(extents, argument.dtype) if argument.output else random_array(argument, extents, rng, step)
        )
    return made
