"""Whether the printed CUDA C++ of kernels computes on a GPU what the kernels themselves do, and how fast.

`python bench/source_cuda.py [OUT.json]`: each program is built, its `source("cuda")` compiled by NVRTC, and the cubin
of it launched by the same host program on the same random arrays. Results are compared element by element: the same
bits, or for programs with functions of mathematics (CUDA's in the source, Tilewright's own in the kernels) within 16
units of the last place; both are timed. On sm_90a the kernels of TMA and wgmma are compared, too. Then the
`source("host")` of each program, `host="managed"`, is compiled by g++ and run on NumPy's arrays; its results are to
have the same bits. Needs a GPU, g++, NVRTC and CUDA's headers:
`pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl`.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "test" / "python"))

import tilewright as tw  # noqa: E402
from source.kernels import PROGRAMS, example  # noqa: E402
from source.nvrtc import compile_cuda, include_folders  # noqa: E402
from source.on_cpu import arrays_for  # noqa: E402
from source.tensors import Tensor, aligned, tensor_of, with_entry  # noqa: E402
from source.tile_kernels import KERNELS, OTHERS  # noqa: E402
from tilewright import schedules  # noqa: E402
from tilewright.runtime import CudaProgram  # noqa: E402
from tilewright.runtime.host_program import HostProgram  # noqa: E402

LARGE = {
    "vector_add 2^24": lambda: example("vector_add").vector_add(1 << 24),
    "register_tiled_gemm 2048": lambda: example("register_tiled_gemm").sgemm(2048, 2048, 2048),
    "sgemm 4096": lambda: schedules.sgemm(4096, 4096, 4096),
    "softmax 4096 x 2048": lambda: schedules.softmax(4096, 2048),
    "layer_norm 4096 x 2048": lambda: schedules.layer_norm(4096, 2048),
    "matvec 4096": lambda: schedules.matvec(4096, 4096),
    "transpose 4096": lambda: schedules.transpose(4096, 4096),
    "matmul_mma 4096 float16": lambda: schedules.matmul_mma(4096, 4096, 4096),
    "matmul_mma 4096 int8": lambda: schedules.matmul_mma(4096, 4096, 4096, "int8", transpose_b=True),
}


def compare(name: str, scheduled: tuple[Any, list[Any]], timed: bool) -> dict[str, Any]:
    function = tw.build(*scheduled, target="cuda", name="kernel", cache=False)
    arch = function.target.arch
    source = function.source("cuda")
    # The program compiled from its source: all but the cubin is the same.
    host = HostProgram(function.module("host"), "kernel", "cuda", {arch: compile_cuda(source, arch)})
    printed = CudaProgram(host, function.signature)
    arrays = arrays_for(function.signature)
    sides = []
    for call in (function, printed):
        given = [tw.nd.array(array, tw.cuda(0)) for array in arrays]
        call(*given)
        tw.synchronize()
        sides.append([array.numpy() for array in given])
    worst = 0.0
    for argument, own, other in zip(function.signature.arguments, *sides):
        if not argument.output:
            continue
        if np.array_equal(own.view(np.uint8), other.view(np.uint8)):
            continue
        if own.dtype.kind != "f":
            worst = float("inf")
            continue
        scale = float(np.finfo(own.dtype).eps) * np.maximum(np.abs(own.astype(np.float64)), 1.0)
        worst = max(worst, float(np.max(np.abs(own.astype(np.float64) - other.astype(np.float64)) / scale)))
    row: dict[str, Any] = {"same bits": worst == 0.0, "worst, units of the last place": round(worst, 2)}
    if timed:
        given = [tw.nd.array(array, tw.cuda(0)) for array in arrays]
        for what, call in (("kernel, us", function), ("from source, us", printed)):
            row[what] = round(tw.time_evaluator(call, tw.cuda(0))(*given).median * 1e6, 2)
    print(name, row, flush=True)
    return row


def compare_host(name: str, scheduled: tuple[Any, list[Any]]) -> bool:
    """Whether a printed host program, with its cubin and the driver, writes what the function does."""
    function = tw.build(*scheduled, target="cuda", name="program", cache=False, host="managed")
    wanted = [aligned(array) for array in arrays_for(function.signature)]
    got = [aligned(array) for array in wanted]
    function(*wanted)
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "program.cpp", Path(folder) / "program.so"
        source.write_text(with_entry(function.source("host"), function.name, len(got)))
        includes = [f"-I{place}" for place in (*include_folders(), "/usr/local/cuda/include")]
        subprocess.run(["g++", "-std=c++17", "-O1", "-shared", "-fPIC", *includes, "-o", library, source], check=True)
        ctypes.CDLL("libcuda.so.1", ctypes.RTLD_GLOBAL)
        loaded = ctypes.CDLL(str(library))
        tensors = [tensor_of(array, 1) for array in got]
        text = ctypes.create_string_buffer(4000)
        pointers = (ctypes.POINTER(Tensor) * len(tensors))(*(ctypes.pointer(tensor) for tensor in tensors))
        code = loaded.call_it(pointers, text)
    is_same = code == 0 and all(np.array_equal(a.view(np.uint8), b.view(np.uint8)) for a, b in zip(wanted, got))
    print("host", name, "same bits" if is_same else f"differs: {code} {text.value.decode()}", flush=True)
    return is_same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, help="a file for the figures beside standard output")
    options = parser.parse_args()
    rows = {name: compare(name, make(), timed=False) for name, make in PROGRAMS.items()}
    rows |= {name: compare(name, make(), timed=True) for name, make in LARGE.items()}
    if tw.cuda(0).arch.startswith("sm_90"):
        rows |= {f"tiles: {name}": compare(name, make(), timed=True) for name, make in (KERNELS | OTHERS).items()}
    wrong = [name for name, row in rows.items() if row["worst, units of the last place"] > 16]
    hosts = {name: compare_host(name, make()) for name, make in PROGRAMS.items()}
    wrong += [f"host program of {name}" for name, is_same in hosts.items() if not is_same]
    figures = {
        "command": "python bench/source_cuda.py OUT.json",
        "gpu": tw.cuda(0).name,
        "programs": rows,
        "host programs with the same bits": sum(hosts.values()),
        "wrong": wrong,
    }
    if options.out is not None:
        options.out.write_text(json.dumps(figures, indent=1) + "\n")
    if wrong:
        sys.exit(f"not the same: {', '.join(wrong)}")


if __name__ == "__main__":
    main()
