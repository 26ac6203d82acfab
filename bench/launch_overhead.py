"""What a call costs beside its kernel: ours by every road, and others' in the same run.

    python bench/launch_overhead.py [--json FILE] [--rounds N]

On a GPU machine with torch the tensors are torch's, the floor is a loop in C around cuLaunchKernelEx, and CuPy, Triton
and cuda.bindings are timed where they are installed. Without a GPU the driver is one that does nothing, compiled here
by cc, and the tensors are objects whose exchange API takes no time: what is left is what this project adds. Since a
real driver leaves little of its callers in the first caches, there is a driver too that does nothing but that; how a
change shows there is how it shows on a GPU machine.

Everything runs on one core, by one clock, in short blocks of calls that take turns, each between two blocks of the
floor's: the queue is emptied before a block, so that no launch waits for one. Figures are nanoseconds a call: the
median and the tenth percentile of the blocks, and the median and the tenth and ninetieth percentile of the differences
between a block and its neighbours.

What a call consists of is timed too, each part in a loop in C of its own and all of them together in one: reading the
tensors, asking for the stream, releasing the GIL, the compiled function with its checks, and the driver's launch by
each of its doors. Alone every part has the caches to itself, so that their sum is less than the whole.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib.util
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import tilewright as tw
from tilewright import te
from tilewright.native.library import library

CUDA_SOURCE = r"""
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
"""
CALLS = 100  # of a block
_kept: list[object] = []


def helper() -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp())
    source = Path(__file__).with_suffix(".c")
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(folder / "helper.so"), str(source)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(folder / "helper.so"))


def vector_add(target: str | tw.Target) -> tw.Function:
    n = te.var("n")
    a, b = (te.placeholder((n,), name=name) for name in "AB")
    c = te.compute((n,), lambda i: a[i] + b[i], name="C")
    s = te.create_schedule(c.op)
    if target != "cpu":
        outer, inner = s[c].split(c.op.axis[0], 64)
        s[c].bind(outer, te.thread_axis("blockIdx.x"))
        s[c].bind(inner, te.thread_axis("threadIdx.x"))
    return tw.build(s, [a, b, c], target, name="add")


class ExchangeAPI(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
        ("allocate", ctypes.c_void_p), ("from_object", ctypes.c_void_p), ("to_object", ctypes.c_void_p),
        ("tensor", ctypes.c_void_p), ("stream", ctypes.c_void_p),
    )  # fmt: skip


def stand_ins(loaded: ctypes.CDLL) -> tuple[tuple[Any, Any, Any], object]:
    """Three objects that are tensors to a caller, and what must live as long as they do."""
    tensor, stream = (ctypes.cast(getattr(loaded, name), ctypes.c_void_p).value for name in ("tensor_of", "stream_of"))
    api = ExchangeAPI(1, 3, None, None, None, None, tensor, stream)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    kind = type("StandIn", (), {"__dlpack_c_exchange_api__": new(ctypes.addressof(api), b"dlpack_exchange_api", None)})
    return (kind(), kind(), kind()), api


Figures = dict[str, dict[str, float]]


def per_call(calls: dict[str, Callable[[int], float]], drain: Callable[[], None], rounds: int) -> Figures:
    """Nanoseconds a call of each, whose function takes the number of calls and gives that. The first is the floor."""
    (floor, lowest), *others = calls.items()
    found: dict[str, list[float]] = {name: [] for name in calls}
    over: dict[str, list[float]] = {name: [] for name, _ in others}

    def block(call: Callable[[int], float]) -> float:
        drain()
        return call(CALLS)

    for call in calls.values():
        block(call)
    # From here on, so that what the libraries run beside this thread keeps the other cores.
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    gc.disable()
    for _ in range(rounds):
        for name, call in others:
            # Between two of the floor's: what drifts drifts for both.
            before, each, after = block(lowest), block(call), block(lowest)
            found[floor].append(before)
            found[name].append(each)
            over[name].append(each - (before + after) / 2)
    gc.enable()
    os.sched_setaffinity(0, cores)

    def percentile(values: list[float], percent: int) -> float:
        return sorted(values)[(len(values) - 1) * percent // 100]

    return {
        name: {
            "median": statistics.median(each),
            "p10": percentile(each, 10),
            **(
                {"over": statistics.median(over[name])}
                | {f"over_p{percent}": percentile(over[name], percent) for percent in (10, 90)}
                if name in over
                else {}
            ),
        }
        for name, each in found.items()
    }


def timed(function: Callable[..., object], *args: Any) -> Callable[[int], float]:
    loop: Any = {}
    names = ", ".join(f"a{i}" for i in range(len(args)))
    lines = (
        "def run(times):", "  begin = clock()", "  for _ in range(times):", f"    f({names})",
        "  return (clock() - begin) / times",
    )  # fmt: skip
    known = {"f": function, "clock": time.perf_counter_ns, **{f"a{i}": arg for i, arg in enumerate(args)}}
    exec("\n".join(lines), known, loop)
    return loop["run"]


def without_driver(loaded: ctypes.CDLL, on_gpu: bool, rounds: int) -> dict[str, Figures]:
    """Calls whose driver does nothing, and calls whose driver takes the caches."""
    import tvm_ffi

    if loaded.make_greedy():
        raise SystemExit("no memory for code of 64 KiB")
    held = ctypes.PyDLL(loaded._name)  # keeps the GIL, as a loop of Python's does
    held.launch_loop.restype = ctypes.c_double
    slots = (ctypes.c_int64 * 6)()
    params = (ctypes.c_void_p * 6)(*(ctypes.addressof(slots) + 8 * i for i in range(6)))
    tensors, _keep = stand_ins(loaded)
    arrays = tuple(np.zeros(64, "float32") for _ in range(3))

    def nothing(a: object, b: object, c: object) -> None:
        pass

    found = {}
    for kind in ("null", "greedy"):
        library().tilewrightCudaUse(ctypes.cast(getattr(loaded, f"{kind}_driver"), ctypes.c_void_p))
        # Each loaded by that driver.
        add, holding = (vector_add(tw.Target("cuda", arch="sm_90a")) for _ in range(2))
        holding.release_gil = False
        for function in (add, add, holding, holding):
            function(*tensors)
        launch = ctypes.cast(getattr(loaded, f"{kind}_launch"), ctypes.c_void_p)

        def floor(times: int, launch: ctypes.c_void_p = launch) -> float:
            return held.launch_loop(launch, None, None, params, ctypes.c_int(times))

        calls: dict[str, Callable[[int], float]] = {
            "a loop in C around the launch": floor,
            "f(a, b, c), 3 stand-ins for torch's tensors": timed(add, *tensors),
            "the same, f.release_gil = False": timed(holding, *tensors),
            "f(a, b, c), called by a loop in C": called_in_c(held, add, tensors),
            "  part: the compiled function with its checks": entered_in_c(held, add, [256, 512, 768]),
        }
        if on_gpu:
            import torch

            real = tuple(torch.ones(64, device="cuda") for _ in range(3))
            add(*real)
            calls["f(a, b, c), torch's tensors"] = timed(add, *real)
        if kind == "null":
            on_cpu = vector_add("cpu")
            on_cpu(*arrays)
            ours = tuple(tvm_ffi.from_dlpack(array) for array in arrays)
            calls |= {
                "an empty Python function": timed(nothing, *tensors),
                "f(a, b, c), 3 NumPy arrays of 64 floats, target cpu": timed(on_cpu, *arrays),
                "f.ffi(a, b, c), the same": timed(on_cpu.ffi, *arrays),
                "f.ffi(a, b, c), 3 tvm_ffi tensors": timed(on_cpu.ffi, *ours),
            }
        where = "a driver that does nothing" if kind == "null" else "a driver that takes the caches"
        found[where] = per_call(calls, lambda: None, rounds)
    library().tilewrightCudaUse(None)
    return found


def loop_in_c(held: ctypes.PyDLL, name: str, *args: Any) -> Callable[[int], float]:
    """One of the loops above, as what `per_call` times."""
    function = getattr(held, name)
    function.restype = ctypes.c_double

    def run(times: int) -> float:
        nanoseconds = function(*args, ctypes.c_int(times))
        assert nanoseconds >= 0, f"{name} failed"
        return nanoseconds

    return run


def address(function: Any) -> ctypes.c_void_p:
    return ctypes.cast(function, ctypes.c_void_p)


def called_in_c(held: ctypes.PyDLL, function: tw.Function, tensors: tuple[Any, ...]) -> Callable[[int], float]:
    """The function as the interpreter calls it, without the interpreter."""
    python, objects = ctypes.pythonapi, (ctypes.c_void_p * len(tensors))(*map(id, tensors))
    return loop_in_c(
        held, "vectorcall_loop", address(python.PyObject_Vectorcall), address(python.Py_DecRef),
        ctypes.c_void_p(id(function)), objects, ctypes.c_int(len(tensors)),
    )  # fmt: skip


def entered_in_c(held: ctypes.PyDLL, function: tw.Function, addresses: list[int]) -> Callable[[int], float]:
    """The compiled function, given tensors of 64 floats at these addresses."""
    from tilewright.runtime import dlpack
    from tilewright.runtime.ffi import Any_

    shape, strides, queue = (ctypes.c_int64 * 1)(64), (ctypes.c_int64 * 1)(1), ctypes.c_void_p()
    read = [dlpack.DLTensor(each, 2, 0, 1, 2, 32, 1, shape, strides, 0) for each in addresses]
    args = (Any_ * len(read))(*(Any_(7, 0, ctypes.addressof(each)) for each in read))
    _kept.append((read, shape, strides))  # what the addresses are of
    entry = ctypes.c_void_p(function._program.host.entry)
    return loop_in_c(held, "entry_loop", entry, ctypes.byref(queue), args, ctypes.c_int(len(read)))


def with_gpu(loaded: ctypes.CDLL, rounds: int) -> Figures:
    import torch

    add, holding = vector_add("cuda"), vector_add("cuda")
    holding.release_gil = False
    a, b, c = (torch.ones(64, device="cuda") for _ in range(3))
    for function in (add, add, holding, holding):
        function(a, b, c)
    add.ffi(a, b, c)
    torch.cuda.synchronize()
    assert bool((c == 2).all())
    functions = library().tilewrightHostFunctionsCuda
    functions.restype, functions.argtypes = ctypes.POINTER(ctypes.c_void_p), (ctypes.c_void_p, ctypes.c_int32)
    kernel = functions(add._program.host.program, 0)[0]
    # The kernel ABI: a pointer and an extent an argument.
    slots = (ctypes.c_int64 * 6)(a.data_ptr(), 64, b.data_ptr(), 64, c.data_ptr(), 64)
    params = (ctypes.c_void_p * 6)(*(ctypes.addressof(slots) + 8 * i for i in range(6)))
    stream = torch.cuda.current_stream().cuda_stream
    loop = loaded.launch_loop
    loop.restype = ctypes.c_double
    loop.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int)
    launch = ctypes.cast(ctypes.CDLL("libcuda.so.1").cuLaunchKernelEx, ctypes.c_void_p)
    parts = parts_of(loaded, add, (a, b, c), kernel, params, stream)
    calls: dict[str, Callable[[int], float]] = {  # the floor first
        "a loop in C around cuLaunchKernelEx": lambda times: loop(launch, kernel, stream, params, times),
        "f(a, b, c), torch's tensors": timed(add, a, b, c),
        "the same, f.release_gil = False": timed(holding, a, b, c),
        "f.ffi(a, b, c), torch's tensors": timed(add.ffi, a, b, c),
        "torch.add(a, b, out=c)": timed(lambda x, y, z: torch.add(x, y, out=z), a, b, c),
    }
    with tempfile.TemporaryDirectory() as folder:
        import tvm_ffi

        add.export_library(f"{folder}/add.so")
        exported = tvm_ffi.load_module(f"{folder}/add.so")
        calls["the exported library by tvm_ffi.load_module"] = timed(exported.add, a, b, c)
    try:
        import cupy

        raw = cupy.RawKernel(CUDA_SOURCE, "add")
        x, y, z = (cupy.ones(64, "float32") for _ in range(3))
        calls["cupy.RawKernel"] = timed(lambda: raw((1,), (64,), (x, y, z, 64)))
    except ImportError:
        pass
    try:
        from cuda.bindings import driver

        types = (ctypes.c_void_p, ctypes.c_int64) * 3
        handle = driver.CUfunction(kernel)
        values = tuple(slots)
        calls["cuda.bindings.driver.cuLaunchKernel"] = timed(
            lambda: driver.cuLaunchKernel(handle, 1, 1, 1, 64, 1, 1, 0, stream, (values, types), 0)
        )
    except ImportError:
        pass
    try:
        calls["triton"] = timed(triton_add(), a, b, c)
    except ImportError:
        pass
    calls.update(parts)
    return per_call(calls, torch.cuda.synchronize, rounds)


def parts_of(
    loaded: ctypes.CDLL, add: tw.Function, tensors: tuple[Any, Any, Any], kernel: int, params: Any, stream: int
) -> dict[str, Callable[[int], float]]:
    """Loops in C around each part of a call with torch's tensors, and around all of them."""
    held = ctypes.PyDLL(loaded._name)  # keeps the GIL

    def loop(name: str, *args: Any) -> Callable[[int], float]:
        return loop_in_c(held, name, *args)

    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    api = ExchangeAPI.from_address(pointer(type(tensors[0]).__dlpack_c_exchange_api__, b"dlpack_exchange_api"))
    objects = (ctypes.c_void_p * 3)(*map(id, tensors))
    count, function = ctypes.c_int(3), ctypes.c_void_p(kernel)
    driver, python = ctypes.CDLL("libcuda.so.1"), ctypes.pythonapi
    save, restore = address(python.PyEval_SaveThread), address(python.PyEval_RestoreThread)
    current, context = ctypes.c_void_p(api.stream), address(driver.cuCtxGetCurrent)
    launch, queue = address(driver.cuLaunchKernelEx), ctypes.c_void_p(stream)
    block, bytes_ = ctypes.c_void_p(params[0]), ctypes.c_size_t(8 * len(params))
    _kept.append(params)
    found = {
        "f(a, b, c), called by a loop in C": called_in_c(held, add, tensors),
        "  part: cuLaunchKernelEx with one block of parameters": loop(
            "packed_loop", launch, function, queue, block, bytes_
        ),
        "  part: cuLaunchKernel": loop("plain_loop", address(driver.cuLaunchKernel), function, queue, params),
        "  part: the compiled function with its checks and the launch": entered_in_c(
            held, add, [tensor.data_ptr() for tensor in tensors]
        ),
        "  part: 3 tensors read by the exchange API": loop("api_loop", ctypes.c_void_p(api.tensor), objects, count),
        "  part: torch's current stream": loop("stream_loop", current),
        "  part: releasing and taking the GIL": loop("gil_loop", save, restore),
        "  part: cuCtxGetCurrent": loop("context_loop", context),
    }
    try:
        theirs = ctypes.CDLL("libtorch_cpu.so", os.RTLD_NOLOAD)
        convert = address(theirs["_ZN2at17toDLPackNonOwningERKNS_6TensorEP8DLTensor"])
    except (OSError, AttributeError):
        return found
    if any(ctypes.c_void_p.from_address(id(tensor) + 16).value != tensor._cdata for tensor in tensors):
        return found
    return {
        **found,
        "  part: 3 tensors read by torch's conversion": loop("torch_loop", convert, objects, count),
        "  all parts but checks and Python, in C": loop(
            "bare_loop", convert, objects, count, current, save, restore, context, launch, function, params
        ),
    }


TRITON_SOURCE = """
import triton
import triton.language as tl

@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(c + i, tl.load(a + i, mask=inside) + tl.load(b + i, mask=inside), mask=inside)

def launch(a, b, c):
    add[(1,)](a, b, c, 64, BLOCK=64)
"""


def triton_add() -> Callable[..., object]:
    """Triton reads its kernels' source, so this one gets a file."""
    file = Path(tempfile.mkdtemp()) / "bench_launch_triton.py"
    file.write_text(TRITON_SOURCE)
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.launch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="where the figures go")
    parser.add_argument("--rounds", type=int, default=300, help="blocks of 100 calls, of each")
    options = parser.parse_args()
    loaded = helper()
    found = {"on a GPU": with_gpu(loaded, options.rounds)} if tw.cuda(0).exist else {}
    found |= without_driver(loaded, bool(found), options.rounds)
    for where, figures in found.items():
        print(f"{where + ', nanoseconds a call':66}  median     p10    over the floor: median     p10     p90")
        for name, figure in figures.items():
            columns = [f"{figure[each]:8.0f}" for each in ("median", "p10")]
            if "over" in figure:
                columns += [" " * 16, *(f"{figure[each]:8.0f}" for each in ("over", "over_p10", "over_p90"))]
            print(f"  {name:64}{''.join(columns)}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
