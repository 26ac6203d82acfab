"""What of the run time only a GPU can prove: `python bench/gpu_smoke.py`.

A kernel of a few PTX instructions is linked for the GPU present and launched through the host program, the C launcher
and the driver. torch and CuPy take part where they are installed. Each check prints a line; the exit status is the
number of failures.
"""

from __future__ import annotations

import gc
import importlib.util
import resource
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import numpy as np
from mlir import ir
from mlir.passmanager import PassManager

import tilewright as tw
from tilewright import nd, te
from tilewright.errors import DriverError, LaunchError
from tilewright.host import HostProgram
from tilewright.ir import context
from tilewright.runtime import (
    CudaProgram,
    DeviceKind,
    Event,
    Signature,
    Stream,
    cuda,
    driver,
    synchronize,
    time_evaluator,
)
from tilewright.runtime.module import runs_on

GPU = cuda(0)

# B = 2 A + C over n floats, in two kernels with a temporary: T = 2 A, B = T + C. {shared} is the bytes of dynamic
# shared memory that the first one asks for.
HOST = """
module attributes {{gpu.container_module}} {{
  gpu.module @axpy_kernels {{
    gpu.func @axpy_kernel0(%a: memref<?xf32>, %t: memref<?xf32>) kernel {{ gpu.return }}
    gpu.func @axpy_kernel1(%t: memref<?xf32>, %c: memref<?xf32>, %b: memref<?xf32>) kernel {{ gpu.return }}
  }}
  func.func @axpy(%a: memref<?xf32> {{te.name = "A", te.dtype = "float32", te.symbols = ["n"]}},
                  %c: memref<?xf32> {{te.name = "C", te.dtype = "float32", te.symbols = ["n"]}},
                  %b: memref<?xf32> {{te.name = "B", te.dtype = "float32", te.symbols = ["n"], te.output}},
                  %workspace: memref<?xi8>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c{block} = arith.constant {block} : index
    %shared = arith.constant {shared} : i32
    %n = memref.dim %a, %c0 : memref<?xf32>
    %t = memref.view %workspace[%c0][%n] : memref<?xi8> to memref<?xf32>
    %grid = arith.ceildivui %n, %c{block} : index
    gpu.launch_func @axpy_kernels::@axpy_kernel0 blocks in (%grid, %c1, %c1) threads in (%c{block}, %c1, %c1)
      dynamic_shared_memory_size %shared args(%a : memref<?xf32>, %t : memref<?xf32>)
    gpu.launch_func @axpy_kernels::@axpy_kernel1 blocks in (%grid, %c1, %c1) threads in (%c{block}, %c1, %c1)
      args(%t : memref<?xf32>, %c : memref<?xf32>, %b : memref<?xf32>)
    return
  }}
}}
"""

PTX_HEAD = """
.version 8.7
.target {arch}
.address_size 64
"""

PTX = """
.visible .entry {name}({params}) {{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %i<4>; .reg .b64 %a<4>; .reg .f32 %f<4>;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r0, %r1, %r2;
  cvt.u64.u32 %i0, %r3;
  ld.param.u64 %i1, [{name}_1];
  setp.ge.u64 %p, %i0, %i1;
  @%p bra DONE_{name};
  shl.b64 %i2, %i0, 2;
{body}
DONE_{name}:
  ret;
}}
"""


def _ptx(name: str, arrays: int, compute: str) -> str:
    """An entry by the kernel ABI: a pointer and an extent for each array; the last one is written from %f0."""
    lines = []
    for i in range(arrays):
        lines.append(
            f"ld.param.u64 %a{i}, [{name}_{2 * i}]; cvta.to.global.u64 %a{i}, %a{i}; add.s64 %a{i}, %a{i}, %i2;"
        )
        if i < arrays - 1:
            lines.append(f"ld.global.f32 %f{i}, [%a{i}];")
    lines += [compute, f"st.global.f32 [%a{arrays - 1}], %f0;"]
    params = ", ".join(f".param .u64 {name}_{i}" for i in range(2 * arrays))
    return PTX.format(name=name, params=params, body="\n".join(lines))


def cubin_for(arch: str) -> bytes:
    """The two kernels, linked in process by nvJitLink."""
    from cuda.bindings import nvjitlink

    ptx = PTX_HEAD.format(arch=arch) + _ptx("axpy_kernel0", 2, "add.f32 %f0, %f0, %f0;")
    ptx += _ptx("axpy_kernel1", 3, "add.f32 %f0, %f0, %f1;")
    handle = nvjitlink.create(1, [f"-arch={arch}"])
    data = ptx.encode()
    nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "axpy")
    nvjitlink.complete(handle)
    linked = bytearray(nvjitlink.get_linked_cubin_size(handle))
    nvjitlink.get_linked_cubin(handle, linked)
    nvjitlink.destroy(handle)
    return bytes(linked)


def program(arch: str, block: int = 256, shared: int = 0) -> CudaProgram:
    with context():
        module = ir.Module.parse(HOST.format(block=block, shared=shared))
        PassManager.parse("builtin.module(tilewright-pipeline{from=gpu to=host})").run(module.operation)
        function = next(op for op in module.body.operations if "tilewright.kernels" in op.attributes)
        signature = Signature.from_function(function.operation, DeviceKind.CUDA)
        return CudaProgram(HostProgram(module, cubins={arch: cubin_for(arch)}), signature)


def inputs(n: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.standard_normal(n, "float32"), random.standard_normal(n, "float32")


CHECKS: list[Callable[[], str | None]] = []


def check(function: Callable[[], str | None]) -> Callable[[], str | None]:
    CHECKS.append(function)
    return function


@check
def device() -> str:
    return f"{GPU.name}, {GPU.arch}, {GPU.attribute('MULTIPROCESSOR_COUNT')} SMs, L2 {GPU.l2_bytes >> 20} MiB"


@check
def copies() -> None:
    for dtype in ("float32", "bfloat16", "float8_e4m3fn", "int64", "bool"):
        source = (np.arange(1000) % 100).astype(nd.empty((), dtype).dtype)
        there = nd.array(source, GPU)
        np.testing.assert_array_equal(there.numpy(), source)
        np.testing.assert_array_equal(there.copyto(GPU).numpy(), source)
        np.testing.assert_array_equal(there.copyto(nd.cpu()).numpy(), source)
    assert not nd.zeros((33, 7), "int32", GPU).numpy().any()
    if cuda(1).exist:
        np.testing.assert_array_equal(there.copyto(cuda(1)).numpy(), source)


@check
def launch() -> str:
    run = program(GPU.arch)
    for n in (1, 255, 256, 100003, 0):
        a, c = inputs(n)
        b = nd.zeros(n, "float32", GPU)
        run(nd.array(a, GPU), nd.array(c, GPU), b)
        np.testing.assert_array_equal(b.numpy(), a + a + c)
    return f"{run.kernel_attributes()[0]}"


@check
def launch_on_every_gpu() -> str:
    run, count = program(GPU.arch), 0
    a, c = inputs(1000)
    for index in range(16):
        if not cuda(index).exist:
            break
        there = cuda(index)
        b = nd.zeros(1000, "float32", there)
        run(nd.array(a, there), nd.array(c, there), b)
        np.testing.assert_array_equal(b.numpy(), a + a + c)
        count += 1
    return f"{count} GPUs"


@check
def much_shared_memory() -> None:
    a, c = inputs(1000)
    b = nd.zeros(1000, "float32", GPU)
    limit = GPU.attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")
    program(GPU.arch, shared=limit)(nd.array(a, GPU), nd.array(c, GPU), b)
    np.testing.assert_array_equal(b.numpy(), a + a + c)
    try:
        program(GPU.arch, shared=limit + 1024)(nd.array(a, GPU), nd.array(c, GPU), b)
    except DriverError as error:
        assert f"expected at most {limit} for shared memory, got {limit + 1024}" in str(error), error
    else:
        raise AssertionError("a launch with too much shared memory went through")


@check
def refused_launch() -> str:
    arrays = [nd.zeros(10, "float32", GPU) for _ in range(3)]
    try:
        program(GPU.arch, block=2048)(*arrays)
    except DriverError as error:
        assert error.name == "CUDA_ERROR_INVALID_VALUE" and "expected at most 1024 for block.x, got 2048" in str(error)
        return str(error)
    raise AssertionError("a block of 2048 threads was launched")


@check
def other_architecture() -> str:
    arch = next(arch for arch in ("sm_80", "sm_90", "sm_100") if not runs_on(arch, GPU.compute_capability))
    try:
        program(arch)(*[nd.zeros(10, "float32", GPU) for _ in range(3)])
    except LaunchError as error:
        return str(error)
    raise AssertionError(f"a cubin for {arch} was loaded")


@check
def driver_agrees_on_architectures() -> str:
    """What `runs_on` refuses, the driver refuses too, and what it lets through, the driver loads."""
    told = []
    for arch in ("sm_80", "sm_90", "sm_90a", "sm_100"):
        try:
            with GPU.active():
                driver.call("cuModuleUnload", driver.call("cuModuleLoadData", cubin_for(arch)))
            loads = True
        except DriverError as error:
            loads, _ = False, told.append(f"{arch}: {error.name}")
        assert loads == runs_on(arch, GPU.compute_capability), (arch, loads)
    return ", ".join(told)


@check
def streams_and_events() -> str:
    run, n = program(GPU.arch), 1 << 24
    a, c = inputs(n)
    a, c = nd.array(a, GPU), nd.array(c, GPU)
    outs = [nd.zeros(n, "float32", GPU) for _ in range(4)]
    synchronize(GPU)
    streams = [Stream(GPU) for _ in outs]
    start = streams[0].record()
    for stream, out in zip(streams, outs):
        stream.wait(start)
        run(a, c, out, stream=stream)
    for stream in streams[1:]:
        streams[0].wait(stream)
    stop = Event(GPU)
    stop.record(streams[0])
    stop.synchronize()
    assert stop.done
    for out in outs:
        np.testing.assert_array_equal(out.numpy(), outs[0].numpy())
    return f"{stop.seconds_since(start) * 1e6:.0f} us for 4 launches of 16 Mi on 4 streams"


@check
def pool_follows_streams() -> str:
    """Arrays are dropped while work on other streams reads them; what takes their memory must not be seen by it."""
    run, n = program(GPU.arch), 1 << 20
    a, c = inputs(n)
    streams = [Stream(GPU) for _ in range(3)]
    wrong = 0
    for i in range(200):
        here = nd.array(a * i, GPU)
        there, out = nd.array(c, GPU), nd.empty(n, "float32", GPU)
        synchronize(GPU)
        run(here, there, out, stream=streams[i % 3])
        del here, there
        trash = nd.array(np.full(n, np.nan, "float32"), GPU)
        with streams[i % 3]:
            wrong += not np.array_equal(out.numpy(), a * i + a * i + c)
        del trash
    assert wrong == 0, f"{wrong} of 200 wrong"
    return str(nd.stats(GPU))


@check
def flat_memory() -> str:
    run = program(GPU.arch)
    arrays = [nd.zeros(1000, "float32", GPU) for _ in range(3)]
    run(*arrays)
    synchronize(GPU)
    before = nd.stats(GPU).reserved
    start = time.perf_counter()
    for _ in range(10000):
        run(*arrays)
    elapsed = time.perf_counter() - start
    synchronize(GPU)
    assert nd.stats(GPU).reserved == before
    return f"{elapsed / 10000 * 1e6:.1f} us a call of two launches"


@check
def many_threads() -> None:
    run = program(GPU.arch)
    a, c = inputs(5000)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            stream = Stream(GPU)
            with stream:
                for _ in range(100):
                    out = nd.zeros(5000, "float32", GPU)
                    run(nd.array(a, GPU), nd.array(c, GPU), out)
                    np.testing.assert_array_equal(out.numpy(), a + a + c)
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


@check
def time_evaluator_is_plausible() -> str:
    run, n = program(GPU.arch), 1 << 26
    arrays = [nd.zeros(n, "float32", GPU) for _ in range(3)]
    timing = time_evaluator(run, GPU, repeat=50)(*arrays)
    gigabytes = 5 * 4 * n / 1e9
    assert 50 < gigabytes / timing.median < 20000, timing
    small = [nd.zeros(1 << 20, "float32", GPU) for _ in range(3)]
    cold = time_evaluator(run, GPU, repeat=50)(*small)
    warm = time_evaluator(run, GPU, repeat=50, flush_l2=False)(*small)
    small_figures = f"1 Mi cold {cold.median * 1e6:.1f} us, warm {warm.median * 1e6:.1f} us"
    return f"{gigabytes / timing.median:.0f} GB/s; {timing}; {small_figures}"


@check
def graph_capture() -> str:
    """A call in a captured stream becomes part of the graph; its first launch must not need a synchronisation."""
    from tilewright.runtime import driver

    run, n = program(GPU.arch), 1000
    a, c = inputs(n)
    a_there, c_there, out = nd.array(a, GPU), nd.array(c, GPU), nd.zeros(n, "float32", GPU)
    stream = Stream(GPU)
    run(a_there, c_there, out, stream=stream)
    synchronize(GPU)
    cuda_driver = driver.module()
    with GPU.active():
        mode = cuda_driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        driver.call("cuStreamBeginCapture", stream.handle, mode)
        run(a_there, c_there, out, stream=stream)
        graph = driver.call("cuStreamEndCapture", stream.handle)
        nodes = driver.call("cuGraphGetNodes", graph, 0)
        executable = driver.call("cuGraphInstantiate", graph, 0)
        a_there.copyfrom(2 * a)
        synchronize(GPU)
        driver.call("cuGraphLaunch", executable, stream.handle)
        stream.synchronize()
    np.testing.assert_array_equal(out.numpy(), 4 * a + c)
    return f"nodes: {nodes[-1] if isinstance(nodes, tuple) else nodes}"


@check
def torch_tensors() -> str:
    if importlib.util.find_spec("torch") is None:
        return "skipped: torch is not installed"
    import torch

    run, n = program(GPU.arch), 100003
    a, c = (torch.randn(n, device="cuda") for _ in range(2))
    b = torch.zeros(n, device="cuda")
    run(a, c, b)
    assert torch.equal(b, a + a + c)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        big = torch.randn(1 << 26, device="cuda")
        for _ in range(8):
            big = big * 1.0001
        a2 = big[:n].contiguous()
        out = torch.empty_like(a2)
        run(a2, c, out)
        assert torch.equal(out, a2 + a2 + c), "the launch did not follow torch's current stream"
    explicit = torch.zeros(n, device="cuda")
    torch.cuda.synchronize()
    run(a, c, explicit, stream=side)
    side.synchronize()
    assert torch.equal(explicit, b)

    ours = nd.from_dlpack(a)
    assert ours.address == a.data_ptr()
    np.testing.assert_array_equal(ours.numpy(), a.cpu().numpy())
    theirs = torch.from_dlpack(nd.array(np.arange(12, dtype="float32").reshape(3, 4), GPU))
    assert theirs.device.type == "cuda" and theirs.sum().item() == 66
    gc.collect()
    assert theirs.sum().item() == 66
    brain = torch.from_dlpack(nd.array(np.arange(4), GPU, "float32")).bfloat16()
    assert nd.from_dlpack(brain).dtype.name == "bfloat16"
    errors = []
    for wrong in (a.cpu(), a.double(), a[1:], a.requires_grad_()):
        try:
            run(wrong, c, b)
        except (TypeError, ValueError) as error:
            errors.append(str(error).split(": ", 1)[1].rpartition("argument 0 (A): ")[2])
    assert len(errors) == 4, errors
    return "; ".join(errors)


def built(name: str = "scaled") -> tw.Function:
    """B = 2 A + 1 in two kernels with a temporary, by the whole stack."""
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    t = te.compute((n,), lambda i: a[i] * 2, name="T")
    b = te.compute((n,), lambda i: t[i] + 1, name="B")
    s = te.create_schedule(b.op)
    for stage in (t, b):
        outer, inner = s[stage].split(stage.op.axis[0], 128)
        s[stage].bind(outer, te.thread_axis("blockIdx.x"))
        s[stage].bind(inner, te.thread_axis("threadIdx.x"))
    return tw.build(s, [a, b], "cuda", name=name)


@check
def builtin_calls() -> str:
    """Calls by the builtin: torch's tensors and streams, graphs, threads, memory that stays as it is."""
    if importlib.util.find_spec("torch") is None:
        return "skipped: torch is not installed"
    import torch

    f, n = built(), 100003
    a, b = torch.randn(n, device="cuda"), torch.zeros(n, device="cuda")
    for call in (f, f.ffi):
        b.zero_()
        call(a, b)
        assert torch.equal(b, 2 * a + 1)
        assert torch.equal(call(a), 2 * a + 1)
        call(torch.nn.Parameter(a.clone()), b)
    f(B=b, A=a)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        big = torch.randn(1 << 26, device="cuda")
        for _ in range(8):
            big = big * 1.0001
        late, out = big[:n].contiguous(), torch.empty(n, device="cuda")
        f(late, out)
        assert torch.equal(out, 2 * late + 1), "the launch did not follow torch's current stream"
    f(a, b, stream=side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        f(a, b)
    a.fill_(3)
    graph.replay()
    torch.cuda.synchronize()
    assert bool((b == 7).all())

    failures: list[BaseException] = []

    def work(value: float) -> None:
        try:
            mine, result = torch.full((1000,), value, device="cuda"), torch.empty(1000, device="cuda")
            for _ in range(1000):
                f(mine, result)
            assert bool((result == 2 * value + 1).all())
        except BaseException as error:  # noqa: BLE001 - told by the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(float(i),)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    free = torch.cuda.mem_get_info()[0]
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(200_000):
        f(a, b)
    torch.cuda.synchronize()
    assert torch.cuda.mem_get_info()[0] == free, "memory of the GPU went"
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - resident
    assert grown < 4096, f"{grown} KiB of memory went"
    told = ""
    try:
        f(a.cpu(), b)
    except ValueError as error:
        told = str(error)
    assert told.endswith("argument 0 (A): expected an array on cuda, got one on cpu"), told
    return "200000 calls in flat memory"


@check
def exported_library() -> str:
    """A library for two architectures, loaded in a process of its own without this project."""
    if importlib.util.find_spec("torch") is None:
        return "skipped: torch is not installed"
    code = (
        "import sys, torch, tvm_ffi\n"
        "module = tvm_ffi.load_module(sys.argv[1])\n"
        "module.scaled_load(0)\n"
        "a, b = torch.randn(1000, device='cuda'), torch.zeros(1000, device='cuda')\n"
        "module.scaled(a, b)\n"
        "assert torch.equal(b, 2 * a + 1) and torch.equal(module.scaled(a), b)\n"
        "assert not [name for name in sys.modules if name.startswith('tilewright')]\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        built().export_library(f"{folder}/scaled.so", architectures=["sm_80", "sm_90a"])
        subprocess.run([sys.executable, "-c", code, f"{folder}/scaled.so"], check=True)
        return f"{Path(folder, 'scaled.so').stat().st_size} bytes"


@check
def cupy_arrays() -> str:
    if importlib.util.find_spec("cupy") is None:
        return "skipped: CuPy is not installed"
    import cupy

    run, n = program(GPU.arch), 100003
    a, c = cupy.random.standard_normal((2, n), dtype="float32")
    a, c = a.copy(), c.copy()
    b = cupy.zeros(n, "float32")
    run(a, c, b)
    assert bool((b == a + a + c).all())
    with cupy.cuda.Stream(non_blocking=True):
        big = cupy.ones(1 << 26, "float32")
        for _ in range(8):
            big = big * cupy.float32(1.5)
        a2 = big[:n].copy()
        out = cupy.empty_like(a2)
        run(a2, c, out)
        assert bool((out == a2 + a2 + c).all()), "the launch did not follow CuPy's current stream"
    theirs = cupy.from_dlpack(nd.array(np.arange(12, dtype="float32"), GPU))
    assert float(theirs.sum()) == 66
    return "ok"


def chained(n: int = 1 << 14, length: int = 16, **launch: object) -> tw.Function:
    """A, each element of it doubled or halved `length` times by a kernel of its own, which needs all of the one before:
    each kernel reads the array back to front."""
    a = te.placeholder((n,), name="A")
    stages = [a]
    for i in range(length):
        before, factor = stages[-1], 2.0 if i % 2 == 0 else 0.5
        stages.append(te.compute((n,), lambda x, t=before, f=factor: t[n - 1 - x] * f, name=f"T{i}"))
    s = te.create_schedule(stages[-1].op)
    for stage in stages[1:]:
        outer, inner = s[stage].split(stage.op.axis[0], 128)
        s[stage].bind(outer, te.thread_axis("blockIdx.x"))
        s[stage].bind(inner, te.thread_axis("threadIdx.x"))
    s.launch(**launch)  # type: ignore[arg-type]
    return tw.build(s, [a, stages[-1]], "cuda", name="chained")


@check
def launches_of_the_schedule() -> str:
    """Dependent, cooperative and clustered kernels compute what plain ones do; what a GPU cannot do is told."""
    if GPU.attribute("COMPUTE_CAPABILITY_MAJOR") < 9:
        return "skipped: the GPU has no clusters"
    n, told = 1 << 14, []
    values = np.random.default_rng(1).standard_normal(n).astype("float32")
    there = nd.array(values, GPU)
    for launch in ({}, {"dependent": True}, {"cooperative": True}, {"cluster": (4, 1, 1)}):
        f, out = chained(n, **launch), nd.zeros(n, "float32", GPU)
        for _ in range(200):  # one chain after the other: each waits for the one before
            f(there, out)
        np.testing.assert_array_equal(out.numpy(), values, err_msg=str(launch))
        start = time.perf_counter()
        for _ in range(2000):
            f(there, out)
        synchronize(GPU)
        kernel = (time.perf_counter() - start) / 2000 / 16
        told.append(f"{next(iter(launch), 'plain')} {kernel * 1e6:.2f} us a kernel")
        np.testing.assert_array_equal(out.numpy(), values, err_msg=str(launch))
    for launch, size, expected in (
        ({"cluster": (4, 1, 1)}, 128 * 6, "expected grid.x to be a multiple of the cluster's 4, got 6"),
        ({"cooperative": True}, 1 << 22, "the schedule asks for all blocks at once: launch fewer, or smaller ones"),
    ):
        try:
            chained(size, 1, **launch)(nd.zeros(size, "float32", GPU), nd.zeros(size, "float32", GPU))
        except DriverError as error:
            assert str(error).endswith(expected), error
            told.append(error.name)
        else:
            raise AssertionError(f"{launch} of {size} elements was launched")
    return ", ".join(told)


@check
def two_gpus() -> str:
    """Calls run where their arrays are, whatever the thread's current device is, and leave that as it is."""
    import two_gpus as script  # beside this file

    return "; ".join(f"{name}: {told}" for name, told in script.check().items())


@check
def out_of_memory() -> str:
    try:
        nd.empty(1 << 50, "float32", GPU)
    except DriverError as error:
        assert error.name == "CUDA_ERROR_OUT_OF_MEMORY"
        return str(error)
    raise AssertionError("4 PiB were allocated")


def main() -> int:
    failures = 0
    for function in CHECKS:
        try:
            told = function()
            print(f"PASS {function.__name__}" + (f": {told}" if told else ""), flush=True)
        except Exception:  # noqa: BLE001 - each check stands for itself
            failures += 1
            print(f"FAIL {function.__name__}\n{traceback.format_exc()}", flush=True)
    print(f"{len(CHECKS) - failures} of {len(CHECKS)} checks passed")
    return failures


if __name__ == "__main__":
    sys.exit(main())
