"""Checks of gpu_smoke.py that take other libraries: torch, CuPy, tvm-ffi, and two GPUs."""

from __future__ import annotations

import gc
import importlib.util
import resource
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import two_gpus as on_two_gpus
from launch_soak import build_in_two
from smoke_program import GPU, check, program
from two_gpus import late_tensor

from tilewright import nd


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
        a2 = late_tensor(n)
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
    for wrong in (a.cpu(), a.double(), a[1:]):
        try:
            run(wrong, c, b)
        except (TypeError, ValueError) as error:
            errors.append(str(error).split(": ", 1)[1].rpartition("argument 0 (A): ")[2])
    assert len(errors) == 3, errors
    b.zero_()
    run(a.clone().requires_grad_(), c, b)  # autograd knows nothing of what a function reads
    assert torch.equal(b, explicit)
    return "; ".join(errors)


@check
def builtin_calls() -> str:
    """Calls by the builtin: torch's tensors and streams, graphs, threads, memory that stays as it is."""
    if importlib.util.find_spec("torch") is None:
        return "skipped: torch is not installed"
    import torch

    f, n = build_in_two("cuda", "scaled"), 100003
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
        late, out = late_tensor(n), torch.empty(n, device="cuda")
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
        build_in_two("cuda", "scaled").export_library(f"{folder}/scaled.so", architectures=["sm_80", "sm_90a"])
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


@check
def two_gpus() -> str:
    """Calls run where their arrays are, whatever the thread's current device is, and leave that as it is."""
    return "; ".join(f"{name}: {told}" for name, told in on_two_gpus.check().items())
