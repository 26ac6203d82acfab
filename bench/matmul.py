"""The ready product by warpgroups (`schedules.matmul_wgmma`) beside torch, in one run on one GPU.

`python bench/matmul.py OUT.json [square tune layouts types shapes ragged epilogue ...]`: medians of event times,
inputs random, the L2 cache flushed before every run, each result, written over NaN, checked against float64 with the
error of torch's own as the measure. The file says with which command, of which commit and on which device.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

import tensor_cores_alone
import torch
from simt import Bench

import tilewright as tw
from tilewright import schedules, te
from tilewright.backend.cubin import link
from tilewright.ir import Module, context

torch.backends.cuda.matmul.allow_tf32 = True
DTYPES = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "tf32": torch.float32,
    "int8": torch.int8,
    "float8_e4m3fn": torch.float8_e4m3fn,
}
MADE = {"int8": "int32", "tf32": "float32", "float8_e4m3fn": "bfloat16"}


def factor(rows: int, columns: int, dtype: str) -> torch.Tensor:
    if dtype == "int8":
        return torch.randint(-128, 128, (rows, columns), device="cuda", dtype=torch.int8)
    return torch.randn(rows, columns, device="cuda", dtype=torch.float32).to(DTYPES[dtype])


def square(extent: int) -> tuple[int, int, int]:
    return extent, extent, extent


def measure(
    bench: Bench,
    shape: tuple[int, int, int],
    dtype: str = "bfloat16",
    layout: str = "NT",
    triton: bool = False,
    **choice: Any,
) -> None:
    """One kernel beside torch's product, and Triton's. `layout` is that of A and B: N as it is, T transposed."""
    M, N, K = shape
    transpose_a, transpose_b = layout[0] == "T", layout[1] == "T"
    made = choice.pop("out_dtype", MADE.get(dtype, dtype))
    name = f"{dtype} {layout} {M}x{N}x{K} to {made} {json.dumps(choice)}"
    begin = time.perf_counter()
    scheduled = schedules.matmul_wgmma(M, N, K, dtype, made, transpose_a=transpose_a, transpose_b=transpose_b, **choice)
    func: Any = tw.build(*scheduled, target="cuda -arch=sm_90a", name="matmul", cache=False)
    compile_ms = 1e3 * (time.perf_counter() - begin)
    a = factor(*((K, M) if transpose_a else (M, K)), dtype)
    b = factor(*((N, K) if transpose_b else (K, N)), dtype)
    left, right = a.t() if transpose_a else a, b.t() if transpose_b else b
    one = torch.ones((), device="cuda")
    peer: Callable[[], torch.Tensor] = {
        "int8": lambda: torch._int_mm(left, right),
        "float8_e4m3fn": lambda: torch._scaled_mm(
            left, right, one, one, out_dtype=torch.bfloat16, use_fast_accum=choice.get("promote") == 0
        ),
    }.get(dtype, lambda: torch.matmul(left, right))
    exact = left.double() @ right.double()
    output = torch.full((M, N), -1 if dtype == "int8" else float("nan"), device="cuda", dtype=getattr(torch, made))
    func(a, b, output)
    error = (output.double() - exact).abs().max().item()
    cubin = link(func.ptx, "sm_90a")
    result: dict[str, Any] = {
        "error": error,
        "compile_ms": round(compile_ms, 1),
        "notes": cubin.notes,
        "registers": [one.registers for one in cubin.resources.values()],
    }
    try:
        peers = (peer().double() - exact).abs().max().item()
        result |= {"torch_error": peers, "right": error <= 2 * peers + 1e-6 * exact.abs().max().item()}
    except RuntimeError as refused:  # torch has no such product
        bound = 0 if dtype == "int8" else 2.0**-8 * exact.abs().max().item()
        result |= {"torch": str(refused).splitlines()[0], "right": error <= bound}
    calls = [lambda: func(a, b, output), *([] if "torch" in result else [peer])]
    if triton:
        from triton_matmul import product

        theirs = torch.full_like(output, float("nan"))
        result["triton_error"] = (product(a, b, theirs).double() - exact).abs().max().item()
        calls.append(lambda: product(a, b, theirs))
    timed = bench.medians_ms(calls)
    result["ms"] = ms = timed[0]
    if "torch" not in result:
        result["torch_ms"] = timed[1]
    result["TFLOPs"] = 2.0 * M * N * K / ms / 1e9
    if triton:
        result["triton_ms"] = timed[-1]
    for one in ("torch", "triton"):
        if f"{one}_ms" in result:
            result[f"of_{one}"] = result[f"{one}_ms"] / ms
    bench.results[name] = result
    print(name, json.dumps(result), flush=True)


def bench_square(bench: Bench) -> None:
    order = {"narrower": 16, "serpentine_k": True, "group": 4}
    for layout in ("NT", "NN"):
        for dtype in ("bfloat16", "float16"):
            measure(bench, square(4096), dtype, layout, raster="hilbert", group=16)
            measure(bench, square(4096), dtype, layout, **order)
            measure(bench, square(4096), dtype, layout, swap_ab=True, **order)
            measure(bench, square(8192), dtype, layout, narrower=16)
            measure(bench, square(8192), dtype, layout, swap_ab=True, narrower=16)
        measure(bench, square(8192), layout=layout, stream_k=True)
    measure(bench, square(4096))
    measure(bench, square(4096), blocks=None)
    measure(bench, square(4096), deferred=False)
    measure(bench, square(4096), out_dtype="float32")


def bench_tune(bench: Bench) -> None:
    """What a tile, its clusters and its order are worth."""
    for extent in (4096, 8192):
        for group in (4, 8, 32):
            measure(bench, square(extent), group=group)
        for cluster in ((2, 1), (1, 2)):
            measure(bench, square(extent), cluster=cluster)
        for tile in ((128, 192), (192, 128), (192, 192), (256, 128)):
            measure(bench, square(extent), tile=tile)


def bench_layouts(bench: Bench) -> None:
    for layout in ("NN", "NT", "TN", "TT"):
        measure(bench, square(4096), layout=layout)


def bench_types(bench: Bench) -> None:
    for tile in ((128, 128), (128, 256)):
        measure(bench, square(4096), "tf32", tile=tile)
        measure(bench, square(8192), "int8", tile=tile)
    # Sums that the tensor cores keep beside torch's own of that kind.
    for choice in ({}, {"promote": 128}, {"tile": (192, 128)}, {"promote": 0, "tile": (128, 256)}):
        measure(bench, square(8192), "float8_e4m3fn", **choice)


def bench_shapes(bench: Bench) -> None:
    for shape in (square(1024), square(2048), (4096, 4096, 512), (8192, 1024, 8192)):
        measure(bench, shape)
        measure(bench, shape, tile=(128, 128))
    measure(bench, square(1024), tile=(64, 128))
    measure(bench, square(1024), tile=(128, 128), split_k=2)
    for split_k in (1, 2):
        measure(bench, (16, 8192, 8192), tile=(64, 64), cluster=(1, 2), split_k=split_k)
        measure(bench, (16, 8192, 8192), tile=(64, 128), cluster=(1, 2), split_k=split_k)


def bench_ragged(bench: Bench) -> None:
    for shape in ((4100, 4104, 4104), (4095, 4097, 4096), (4095, 4097, 4093), (1000, 3000, 520)):
        measure(bench, shape)


def bench_epilogue(bench: Bench) -> None:
    """A bias, gelu and a cast in the kernel, beside torch.compile of the same."""
    extent = 4096
    bias = te.placeholder((extent,), "float32", name="bias")

    def epilogue(x: Any, i: Any, j: Any) -> Any:
        y = x + bias[j]
        return 0.5 * y * (1.0 + te.erf(y * 0.7071067811865476))

    func = tw.build(
        *schedules.matmul_wgmma(
            extent, extent, extent, "bfloat16", "bfloat16", transpose_b=True, operands=[bias], epilogue=epilogue
        ),
        target="cuda -arch=sm_90a",
        name="matmul",
        cache=False,
    )
    a, b = factor(extent, extent, "bfloat16"), factor(extent, extent, "bfloat16")
    c = torch.randn(extent, device="cuda")
    output = torch.full((extent, extent), float("nan"), device="cuda", dtype=torch.bfloat16)
    func(a, b, c, output)
    exact = torch.nn.functional.gelu(a.double() @ b.double().t() + c.double())
    short = c.to(torch.bfloat16)
    peer = torch.compile(lambda: torch.nn.functional.gelu(torch.nn.functional.linear(a, b, short)))
    error = (output.double() - exact).abs().max().item()
    peers = (peer().double() - exact).abs().max().item()
    ms, torch_ms = bench.medians_ms([lambda: func(a, b, c, output), peer])
    bench.results["bias gelu"] = {
        "error": error,
        "torch_error": peers,
        "right": error <= 2 * peers,
        "ms": ms,
        "torch_ms": torch_ms,
        "of_torch": torch_ms / ms,
    }


# Writes down the time in nanoseconds and the cycles of one multiprocessor.
STAMP = """
module attributes {gpu.container_module} {
  gpu.module @stamp_kernels {
    gpu.func @stamp_kernel0(%out: memref<2xi64>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0 : i32
      %processor = nvvm.read.ptx.sreg.smid : i32
      %isFirst = arith.cmpi eq, %processor, %zero : i32
      scf.if %isFirst {
        %time = nvvm.read.ptx.sreg.globaltimer : i64
        %cycles = nvvm.read.ptx.sreg.clock64 : i64
        memref.store %time, %out[%c0] : memref<2xi64>
        memref.store %cycles, %out[%c1] : memref<2xi64>
      }
      gpu.return
    }
  }
  func.func @stamp(%out: memref<2xi64> {te.name = "out", te.dtype = i64, te.output}) {
    %one = arith.constant 1 : index
    %blocks = arith.constant 528 : index
    %threads = arith.constant 32 : index
    gpu.launch_func @stamp_kernels::@stamp_kernel0 blocks in (%blocks, %one, %one) threads in (%threads, %one, %one)
        args(%out : memref<2xi64>)
    return
  }
}
"""


def bench_triton(bench: Bench) -> None:
    """Beside Triton, too."""
    for shape in (square(2048), square(4096), square(8192), (4096, 4096, 512), (8192, 1024, 8192)):
        measure(bench, shape, triton=True)


def bench_symbolic(bench: Bench) -> None:
    """One kernel for any number of rows, and one for any product, beside torch at each."""
    m, n, k = te.var("M"), te.var("N", divisible_by=8), te.var("K", min=1, divisible_by=8)
    kernels: dict[str, tuple[tuple[Any, Any, Any], tuple[tuple[int, int, int], ...]]] = {
        "M": ((m, 4096, 4096), tuple((rows, 4096, 4096) for rows in (0, 1, 100, 128, 1000, 4096, 5000))),
        "M, N and K": ((m, n, k), (square(1000), square(4096), (300, 5000, 72), (4097, 4104, 8))),
    }
    for name, (extents, shapes) in kernels.items():
        scheduled = schedules.matmul_wgmma(*extents, "bfloat16", "bfloat16", transpose_b=True)
        func: Any = tw.build(*scheduled, target="cuda -arch=sm_90a", name="matmul", cache=False)
        for M, N, K in shapes:
            # Rows beyond the last are to stay as they are.
            a, b = factor(M, K, "bfloat16"), factor(N, K, "bfloat16")
            output = torch.full((M + 3, N), float("nan"), device="cuda", dtype=torch.bfloat16)
            func(a, b, output[:M])
            exact = a.double() @ b.double().t()
            theirs = a @ b.t()
            right = bool(output[M:].isnan().all())
            if M:
                error, peers = ((one.double() - exact).abs().max().item() for one in (output[:M], theirs))
                right = right and error <= 2 * peers + 1e-6 * exact.abs().max().item()
            result: dict[str, Any] = {"right": right}
            if M:
                ms, torch_ms = bench.medians_ms([lambda: func(a, b, output[:M]), lambda: a @ b.t()])
                result |= {"ms": ms, "torch_ms": torch_ms, "of_torch": torch_ms / ms}
            bench.results[f"symbolic {name}: {M}x{N}x{K}"] = result
            print(name, M, N, K, result, flush=True)


def bench_strided(bench: Bench) -> None:
    """Factors and a result with rows that are longer than what they have, by TMA all the same."""
    M, N, K, more = 4096, 4096, 4096, 64
    a, b = factor(M, K + more, "bfloat16")[:, :K], factor(N, K + more, "bfloat16")[:, :K]
    output = torch.full((M, N + more), float("nan"), device="cuda", dtype=torch.bfloat16)
    s, tensors = schedules.matmul_wgmma(M, N, K, "bfloat16", "bfloat16", transpose_b=True)
    leading = [te.var(name, divisible_by=8) for name in ("lda", "ldb", "ldc")]
    arguments = [te.strided(tensor, (ld, 1)) for tensor, ld in zip(tensors, leading)]
    func: Any = tw.build(s, arguments, target="cuda -arch=sm_90a", name="matmul", cache=False)
    func(a, b, output[:, :N])
    exact = a.double() @ b.double().t()
    error, peers = ((one.double() - exact).abs().max().item() for one in (output[:, :N], a @ b.t()))
    ms, torch_ms = bench.medians_ms([lambda: func(a, b, output[:, :N]), lambda: a @ b.t()])
    bench.results[f"strided {M}x{N}x{K}"] = {
        "right": error <= 2 * peers and bool(output[:, N:].isnan().all()),
        "ms": ms,
        "torch_ms": torch_ms,
        "of_torch": torch_ms / ms,
    }


def bench_clock(bench: Bench) -> None:
    """One product after the other for a quarter of a second, 4 times in random order, and products for which nothing is
    copied: what the power that a GPU may take leaves of its clock, and in how many cycles the tensor cores multiply."""
    with context():
        stamp: Any = tw.build(Module.parse(STAMP), target="cuda -arch=sm_90a", name="stamp", start="gpu")
    processors = torch.cuda.get_device_properties(0).multi_processor_count
    for extent in (4096, 8192):
        a, b = factor(extent, extent, "bfloat16"), factor(extent, extent, "bfloat16")
        output = torch.empty(extent, extent, device="cuda", dtype=torch.bfloat16)
        flops = 2.0 * extent**3
        calls: dict[str, tuple[Callable[[], Any], float]] = {"torch": (lambda a=a, b=b: torch.matmul(a, b.t()), flops)}
        choices: tuple[dict[str, Any], ...] = ({}, {"deferred": False}, {"stream_k": True}, {"narrower": 16})
        for choice in choices:
            scheduled = schedules.matmul_wgmma(
                extent, extent, extent, "bfloat16", "bfloat16", transpose_b=True, **choice
            )
            func: Any = tw.build(*scheduled, target="cuda -arch=sm_90a", name="matmul", cache=False)
            calls[json.dumps(choice)] = lambda func=func, a=a, b=b, output=output: func(a, b, output), flops
        steps = round(flops / tensor_cores_alone.flops(processors, 1))
        alone = tensor_cores_alone.build(processors, steps)
        # Sums of the same products over and over would grow as no product's do: the second half takes back the first.
        x, y = factor(128, 128, "bfloat16"), factor(256, 128, "bfloat16")
        tiles = torch.cat((x, -x), 1), torch.cat((y, y), 1), torch.empty(2, 16384, device="cuda")
        done = tensor_cores_alone.flops(processors, steps)
        calls["tensor cores alone"] = lambda alone=alone, tiles=tiles: alone(*tiles), done
        repeat = int(0.25 * 7e14 / flops)
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
        for _ in range(4):
            for name in random.sample(list(calls), len(calls)):
                begin, end = stamps = torch.zeros(2, 2, device="cuda", dtype=torch.int64)
                for _ in range(repeat // 5):
                    calls[name][0]()
                stamp(begin)
                for _ in range(repeat):
                    calls[name][0]()
                stamp(end)
                (ns, cycles), (last_ns, last_cycles) = stamps.tolist()
                found[name].append(((last_ns - ns) / repeat, (last_cycles - cycles) / repeat))
        for name, timed in found.items():
            ns, cycles = (statistics.median(values) for values in zip(*timed))
            # A multiprocessor multiplies and adds 2048 pairs of 16 bits in a cycle.
            bench.results[f"back to back {extent} {name}"] = {
                "ms": ns / 1e6,
                "TFLOPs": calls[name][1] / ns / 1e3,
                "GHz": cycles / ns,
                "of_cycles": calls[name][1] / (4096 * processors * cycles),
            }


def bench_compile(bench: Bench) -> None:
    """How long kernels of large squares take from their schedule to what the driver loads, in random order."""
    order = {"narrower": 16, "serpentine_k": True, "group": 4}
    choices: tuple[dict[str, Any], ...] = (
        {},
        order | {"transpose_b": True},
        order | {"swap_ab": True},
        order | {"swap_ab": True, "transpose_b": True},
        {"narrower": 16, "transpose_b": True},
        {"stream_k": True},
    )
    found: dict[str, list[float]] = {json.dumps(choice): [] for choice in choices}
    for _ in range(10):
        for choice in random.sample(choices, len(choices)):
            begin = time.perf_counter()
            scheduled = schedules.matmul_wgmma(8192, 8192, 8192, "bfloat16", "bfloat16", **choice)
            tw.build(*scheduled, target="cuda -arch=sm_90a", name="matmul", cache=False)
            found[json.dumps(choice)].append(1e3 * (time.perf_counter() - begin))
    for name, times in found.items():
        # The first of each is not warm.
        bench.results[f"compile {name}"] = {
            "median_ms": round(statistics.median(times[1:]), 1),
            "least_ms": round(min(times[1:]), 1),
            "most_ms": round(max(times[1:]), 1),
        }


GROUPS = {
    "square": bench_square,
    "tune": bench_tune,
    "layouts": bench_layouts,
    "types": bench_types,
    "shapes": bench_shapes,
    "ragged": bench_ragged,
    "epilogue": bench_epilogue,
    "triton": bench_triton,
    "symbolic": bench_symbolic,
    "strided": bench_strided,
    "clock": bench_clock,
    "compile": bench_compile,
}


if __name__ == "__main__":
    Bench().run(GROUPS)
