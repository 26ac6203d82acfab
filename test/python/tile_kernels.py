"""Kernels of asynchronous tiles at the gpu stage, taken apart for tests of the simulator."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from mlir import ir
from mlir.passmanager import PassManager

import tilewright as tw
from tilewright import CompileError, SimulationError, schedules
from tilewright.ir import context
from tilewright.runtime.host_program import HostProgram
from tilewright.runtime.simulator import Simulator
from tree import ROOT


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("tile_gemm", ROOT / "bench" / "tile_gemm.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["tile_gemm"] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


tile_gemm = _load()
Gemm = tile_gemm.Gemm


class Scheduled:
    """A product of tf32 whose kernel is made of a schedule, where `Gemm` is written by hand."""

    dtype = "tf32"

    def __init__(self, m: int, n: int, k: int, **options: Any) -> None:
        self.m, self.n, self.k = m, n, k
        self.options = {"blocks": 1, "stages": 2, **options}

    def shapes(self) -> tuple[tuple[int, int], ...]:
        return (self.m, self.k), (self.n, self.k), (self.m, self.n)

    def text(self) -> str:
        scheduled = schedules.matmul_wgmma(self.m, self.n, self.k, "tf32", "float32", transpose_b=True, **self.options)
        return str(tw.lower(*scheduled, stage="gpu"))


# NumPy's type of the operands and of the result, and half a unit in the last place of that.
TYPES: dict[str, tuple[Any, Any, float]] = {
    "bf16": (ml_dtypes.bfloat16, ml_dtypes.bfloat16, 2.0**-8),
    "f16": (np.float16, np.float16, 2.0**-11),
    "tf32": (np.float32, np.float32, 2.0**-24),
    "f8E4M3FN": (ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16, 2.0**-8),
    "f8E5M2": (ml_dtypes.float8_e5m2, ml_dtypes.bfloat16, 2.0**-8),
    "i8": (np.int8, np.int32, 0.0),
}


def rounded(array: np.ndarray) -> np.ndarray:
    """The nearest numbers of tf32, which TMA copies make of those of 32 bits: 10 bits behind the point, ties to even."""
    bits = array.view(np.uint32)
    return ((bits + 0xFFF + (bits >> 13 & 1)) & np.uint32(0xFFFFE000)).astype(np.uint32).view(np.float32)


def operands(gemm: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random A and B, and C full of what is no result."""
    dtype, made, _ = TYPES[gemm.dtype]
    generator = np.random.default_rng(gemm.m + gemm.k)
    shape_a, shape_b, shape_c = gemm.shapes()
    if gemm.dtype == "i8":
        a, b = (generator.integers(-128, 128, shape).astype(np.int8) for shape in (shape_a, shape_b))
        return a, b, np.full(shape_c, 1 << 30, np.int32)
    a, b = (generator.standard_normal(shape).astype(np.float32).astype(dtype) for shape in (shape_a, shape_b))
    return a, b, np.full(shape_c, np.nan, np.float32).astype(made)


EXPANSIONS = ("check-tile-kernels", "expand-tile-maps", "expand-tile-roles")


def expanded(text: str) -> str:
    """The module with places in shared memory, and what `expand-tile-roles` derives: the start of barriers, elections."""
    nested = ",".join(EXPANSIONS)
    with context():
        module = ir.Module.parse(text)
        PassManager.parse(f"builtin.module(plan-tile-memory,gpu.module(gpu.func({nested})))").run(module.operation)
        return str(module.operation.get_asm(enable_debug_info=True))


def run_expanded(text: str, arrays: Sequence[np.ndarray], shared_bytes: int | None = None) -> None:
    """Runs a module that is `expanded` already. Raises what the simulator finds. `shared_bytes` are those of its launch,
    where it does not say."""
    if shared_bytes is not None:
        text = text.replace("args(", "dynamic_shared_memory_size %shared_bytes args(")
        text = text.replace("%one = ", f"%shared_bytes = arith.constant {shared_bytes} : i32\n    %one = ")
    with context():
        host = ir.Module.parse(text)
        PassManager.parse("builtin.module(tilewright-pipeline{from=gpu to=host target=sim})").run(host.operation)
        program = HostProgram(host, None, "sim")
        kernels = ir.Module.parse(text)
        passes = str(PassManager.parse("builtin.module(gpu-to-sim{checks=true})"))
        for name in EXPANSIONS:
            passes = re.sub(rf",gpu\.func\({name}(\{{[^}}]*\}})?\)", "", passes)
        PassManager.parse(passes).run(kernels.operation)
        simulator = Simulator(kernels, program.kernels, checks=True)
    program.attach(simulator)
    program.run([array.ctypes.data for array in arrays], [extent for array in arrays for extent in array.shape])


# What the simulator does is what a GPU does: such tests say the same of both.
both = pytest.mark.parametrize("target", ["sim", pytest.param("cuda", marks=pytest.mark.gpu)])


def build(text: str, target: str = "sim", name: str = "f", checks: bool = True) -> Callable[..., object]:
    """The function of a module of the gpu stage, for the simulator, or for the GPU, where there is one with wgmma. It takes
    NumPy arrays, and what the kernel does not write stays what it was."""
    if target == "cuda" and (not tw.cuda(0).exist or tw.cuda(0).compute_version != "9.0"):
        pytest.skip("no GPU of compute capability 9.0 here")
    with context():
        module = ir.Module.parse(text)
        PassManager.parse("builtin.module(plan-tile-memory)").run(module.operation)
        if target == "sim":
            return tw.build(module, target=tw.Target("sim", checks=checks), name=name, start="gpu")
        function = tw.build(module, target=tw.Target("cuda", arch="sm_90a"), name=name, start="gpu")

    def run(*arrays: np.ndarray) -> None:
        there = [tw.nd.array(array, tw.cuda(0)) for array in arrays]
        function(*there)
        for array, result in zip(arrays, there):
            array[...] = result.numpy()

    return run


def host_function(
    name: str,
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    maps: Mapping[str, str],
    threads: int = 128,
    cluster: int = 1,
) -> str:
    """The function that launches `<name>_kernel0` in one block, or one cluster along x: tensors by name with their types, and of those that the
    kernel takes as tensor maps the maps' types."""
    tensors = {**inputs, **outputs}
    arguments = []
    for tensor, kind in tensors.items():
        dtype = kind.rstrip(">").rpartition("x")[2]
        output = ", te.output" if tensor in outputs else ""
        arguments.append(f'%{tensor}: {kind} {{te.name = "{tensor}", te.dtype = {dtype}{output}}}')
    encodes = "\n    ".join(f"%map_{x} = tile.encode %{x} : {tensors[x]} -> {kind}" for x, kind in maps.items())
    passed = ", ".join(f"%map_{x} : {maps[x]}" if x in maps else f"%{x} : {kind}" for x, kind in tensors.items())
    clusters = "clusters in (%blocks, %one, %one) " if cluster > 1 else ""
    return f"""func.func @{name}({", ".join(arguments)}) {{
    %one = arith.constant 1 : index
    %blocks = arith.constant {cluster} : index
    %threads = arith.constant {threads} : index
    {encodes}
    gpu.launch_func @{name}_kernels::@{name}_kernel0 {clusters}blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
        args({passed})
    return
  }}"""


def lines_without_need(
    text: str, pattern: str, least: int, right: np.ndarray, run: Callable[[str], np.ndarray]
) -> list[str]:
    """Of the lines of a kernel that begin as the pattern says, which are at least so many: those without which it still
    gives the right result. Each is deleted alone, and `run` is what the simulator makes of the rest."""
    lines = text.splitlines()
    places = [number for number, line in enumerate(lines) if re.match(r"\s*" + pattern, line)]
    assert len(places) >= least
    unneeded = list[str]()
    for place in places:
        try:
            made = run("\n".join(line for number, line in enumerate(lines) if number != place))
        except (SimulationError, CompileError):
            continue
        if (made == right).all():
            unneeded.append(lines[place].strip())
    return unneeded
