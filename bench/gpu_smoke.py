"""What of the run time only a GPU can prove: `python bench/gpu_smoke.py`.

A kernel of a few PTX instructions is linked for the GPU present and launched through the host program, the C launcher
and the driver. torch and CuPy take part where they are installed. Each check prints a line; the exit status is the
number of failures.
"""

from __future__ import annotations

import sys
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import smoke_libraries  # noqa: F401 - whose checks count too
from smoke_program import CHECKS, GPU, check, cubin_for, inputs, program

import tilewright as tw
from tilewright import nd, te
from tilewright.errors import DriverError, LaunchError
from tilewright.runtime import (
    Event,
    Stream,
    cuda,
    cuda_driver,
    synchronize,
    time_evaluator,
)
from tilewright.runtime.module import runs_on


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
                cuda_driver.call("cuModuleUnload", cuda_driver.call("cuModuleLoadData", cubin_for(arch)))
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

    def work(_: int) -> None:
        stream = Stream(GPU)
        with stream:
            for _ in range(100):
                out = nd.zeros(5000, "float32", GPU)
                run(nd.array(a, GPU), nd.array(c, GPU), out)
                np.testing.assert_array_equal(out.numpy(), a + a + c)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


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
    from tilewright.runtime import cuda_driver

    run, n = program(GPU.arch), 1000
    a, c = inputs(n)
    a_there, c_there, out = nd.array(a, GPU), nd.array(c, GPU), nd.zeros(n, "float32", GPU)
    stream = Stream(GPU)
    run(a_there, c_there, out, stream=stream)
    synchronize(GPU)
    bindings = cuda_driver.module()
    with GPU.active():
        mode = bindings.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
        cuda_driver.call("cuStreamBeginCapture", stream.handle, mode)
        run(a_there, c_there, out, stream=stream)
        graph = cuda_driver.call("cuStreamEndCapture", stream.handle)
        nodes = cuda_driver.call("cuGraphGetNodes", graph, 0)
        executable = cuda_driver.call("cuGraphInstantiate", graph, 0)
        a_there.copyfrom(2 * a)
        synchronize(GPU)
        cuda_driver.call("cuGraphLaunch", executable, stream.handle)
        stream.synchronize()
    np.testing.assert_array_equal(out.numpy(), 4 * a + c)
    return f"nodes: {nodes[-1] if isinstance(nodes, tuple) else nodes}"


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
