"""What a call costs beside its kernel: ours by every road, and others' in the same run.

    python bench/launch_overhead.py [--json FILE]

With a driver that does nothing, compiled here by cc, and tensors that are objects whose exchange API takes no time,
what is left is what this project adds. On a GPU machine with torch the tensors are torch's, the floor is a loop in C
around cuLaunchKernelEx, and CuPy, Triton and cuda.bindings are timed where they are installed. Figures are
nanoseconds a call: the median and the tenth percentile of batches that take turns. The queue is emptied between
batches, so that no launch waits for one.

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
from tilewright.ir import library

C_SOURCE = r"""
#include <stdint.h>
#include <string.h>
#include <time.h>

/* A driver that does nothing, in the order of TilewrightCudaDriver (runtime/host/Cuda.h). */
static void *current = (void *)0xC0;
static int init(unsigned f) { (void)f; return 0; }
static int count(int *n) { *n = 1; return 0; }
static int name(char *t, int n, int d) { (void)n; (void)d; strcpy(t, "nothing"); return 0; }
static int attribute(int *v, int a, int d) { (void)d; *v = a == 75 ? 9 : a == 76 ? 0 : 1 << 20; return 0; }
static int retain(void **c, int d) { (void)d; *c = current; return 0; }
static int get(void **c) { *c = current; return 0; }
static int push(void *c) { current = c; return 0; }
static int pop(void **c) { *c = current; return 0; }
static int load(void **m, const void *i) { (void)i; *m = (void *)1; return 0; }
static int function(void **f, void *m, const char *n) { (void)m; (void)n; *f = (void *)2; return 0; }
static int unload(void *m) { (void)m; return 0; }
static int set(void *f, int a, int v) { (void)f; (void)a; (void)v; return 0; }
static int launch(const void *c, void *f, void **p, void **e) { (void)c; (void)f; (void)p; (void)e; return 0; }
static int error(int c, const char **n) { (void)c; *n = "none"; return 0; }
void *null_driver[] = {init, count, name, attribute, retain, get, push, pop, load, function,
                       unload, set, launch, error, 0, 0, 0, 0, 0};

/* The exchange API of objects that are all one tensor of 64 floats, each with memory of its own. */
typedef struct { void *data; int32_t kind, id, ndim; uint8_t code, bits; uint16_t lanes;
                 int64_t *shape, *strides; uint64_t offset; } Tensor;
static int64_t shape[1] = {64}, strides[1] = {1};
int tensor_of(void *object, Tensor *out) {
  Tensor made = {(void *)((uintptr_t)object << 8), 2, 0, 1, 2, 32, 1, shape, strides, 0};
  *out = made;
  return 0;
}
int stream_of(int32_t kind, int32_t id, void **stream) { (void)kind; (void)id; *stream = 0; return 0; }

static double since(struct timespec begin, int times) {
  struct timespec end;
  clock_gettime(CLOCK_MONOTONIC, &end);
  return ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / times;
}
#define LOOP(...)                                                                                                      \
  struct timespec begin;                                                                                               \
  clock_gettime(CLOCK_MONOTONIC, &begin);                                                                              \
  for (int i = 0; i < times; ++i) {                                                                                    \
    __VA_ARGS__;                                                                                                       \
  }                                                                                                                    \
  return since(begin, times)

typedef struct { unsigned grid[3], block[3], shared; void *stream, *attributes; unsigned count; } Config;
typedef int LaunchEx(const Config *, void *, void **, void **);
typedef unsigned U;
typedef int Launch(void *, U, U, U, U, U, U, U, void *, void **, void **);

/* The floor: nanoseconds a launch. */
double launch_loop(LaunchEx *launch_ex, void *kernel, void *stream, void **params, int times) {
  Config config = {{1, 1, 1}, {64, 1, 1}, 0, stream, 0, 0};
  LOOP(launch_ex(&config, kernel, params, 0));
}

/* The same with the parameters as one block of bytes. */
double packed_loop(LaunchEx *launch_ex, void *kernel, void *stream, void *block, size_t bytes, int times) {
  Config config = {{1, 1, 1}, {64, 1, 1}, 0, stream, 0, 0};
  void *extra[] = {(void *)1, block, (void *)2, &bytes, 0};
  LOOP(launch_ex(&config, kernel, 0, extra));
}

double plain_loop(Launch *launch, void *kernel, void *stream, void **params, int times) {
  LOOP(launch(kernel, 1, 1, 1, 64, 1, 1, 0, stream, params, 0));
}

/* The parts of a call. */
double api_loop(int (*read)(void *, Tensor *), void **objects, int count, int times) {
  Tensor tensors[8];
  LOOP(for (int j = 0; j < count; ++j) read(objects[j], &tensors[j]));
}

double torch_loop(void (*convert)(void *, Tensor *), void **objects, int count, int times) {
  Tensor tensors[8];
  LOOP(for (int j = 0; j < count; ++j) convert((char *)objects[j] + 16, &tensors[j]));
}

double stream_loop(int (*current)(int32_t, int32_t, void **), int times) {
  void *stream;
  LOOP(current(2, 0, &stream));
}

double gil_loop(void *(*save)(void), void (*restore)(void *), int times) { LOOP(restore(save())); }

double context_loop(int (*get_current)(void **), int times) {
  void *context;
  LOOP(get_current(&context));
}

double entry_loop(int (*entry)(void **, void *, int), void **stream, void *args, int count, int times) {
  LOOP(if (entry(stream, args, count)) return -1);
}

/* The function as the interpreter calls it, without the interpreter's loop around. */
double vectorcall_loop(void *(*call)(void *, void **, size_t, void *), void (*release)(void *), void *function,
                       void **objects, int count, int times) {
  LOOP(void *result = call(function, objects, count, 0); if (!result) return -1; release(result));
}

/* All that a call cannot do without, as one would write it in C for this one kernel. */
double bare_loop(void (*convert)(void *, Tensor *), void **objects, int count,
                 int (*current)(int32_t, int32_t, void **), void *(*save)(void), void (*restore)(void *),
                 int (*get_current)(void **), LaunchEx *launch_ex, void *kernel, void **params, int times) {
  Tensor tensors[8];
  void *context;
  Config config = {{1, 1, 1}, {64, 1, 1}, 0, 0, 0, 0};
  LOOP(for (int j = 0; j < count; ++j) convert((char *)objects[j] + 16, &tensors[j]); current(2, 0, &config.stream);
       void *state = save(); get_current(&context); launch_ex(&config, kernel, params, 0); restore(state));
}
"""
CUDA_SOURCE = r"""
extern "C" __global__ void add(const float *a, const float *b, float *c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
"""
BATCHES, CALLS = 41, 500
_kept: list[object] = []


def helper() -> ctypes.CDLL:
    folder = Path(tempfile.mkdtemp())
    (folder / "helper.c").write_text(C_SOURCE)
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(folder / "helper.so"), str(folder / "helper.c")]
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


def per_call(calls: dict[str, Callable[[int], float]], drain: Callable[[], None]) -> dict[str, dict[str, float]]:
    """Nanoseconds a call of each, whose function takes the number of calls and gives that."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call(100)
    gc.disable()
    for _ in range(BATCHES):
        for name, call in calls.items():
            drain()
            found[name].append(call(CALLS))
    gc.enable()
    return {
        name: {"median": statistics.median(each), "p10": sorted(each)[len(each) // 10]} for name, each in found.items()
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


def without_driver(loaded: ctypes.CDLL, on_gpu: bool) -> dict[str, dict[str, float]]:
    library().tilewrightCudaUse(ctypes.cast(loaded.null_driver, ctypes.c_void_p))
    add, on_cpu = vector_add(tw.Target("cuda", arch="sm_90a")), vector_add("cpu")
    tensors, _keep = stand_ins(loaded)
    arrays = tuple(np.zeros(64, "float32") for _ in range(3))
    on_cpu(*arrays)
    add(*tensors)
    add(*tensors)

    def nothing(a: object, b: object, c: object) -> None:
        pass

    import tvm_ffi

    ours = tuple(tvm_ffi.from_dlpack(array) for array in arrays)
    calls: dict[str, Callable[[int], float]] = {}
    if on_gpu:
        import torch

        real = tuple(torch.ones(64, device="cuda") for _ in range(3))
        calls["f(a, b, c), torch's tensors, a driver that does nothing"] = timed(add, *real)
    return per_call(
        {
            "an empty Python function": timed(nothing, *tensors),
            "f(a, b, c), 3 stand-ins for torch's tensors, a driver that does nothing": timed(add, *tensors),
            "f(a, b, c), 3 NumPy arrays of 64 floats, target cpu": timed(on_cpu, *arrays),
            "f.ffi(a, b, c), the same": timed(on_cpu.ffi, *arrays),
            "f.ffi(a, b, c), 3 tvm_ffi tensors": timed(on_cpu.ffi, *ours),
            **calls,
        },
        lambda: None,
    )


def with_gpu(loaded: ctypes.CDLL) -> dict[str, dict[str, float]]:
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
    calls: dict[str, Callable[[int], float]] = {
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
    return per_call(calls, torch.cuda.synchronize)


def parts_of(
    loaded: ctypes.CDLL, add: tw.Function, tensors: tuple[Any, Any, Any], kernel: int, params: Any, stream: int
) -> dict[str, Callable[[int], float]]:
    """Loops in C around each part of a call with torch's tensors, and around all of them."""
    from tilewright.runtime import dlpack
    from tilewright.runtime.ffi import Any_

    held = ctypes.PyDLL(loaded._name)  # keeps the GIL

    def address(function: Any) -> ctypes.c_void_p:
        return ctypes.cast(function, ctypes.c_void_p)

    def loop(name: str, *args: Any) -> Callable[[int], float]:
        function = getattr(held, name)
        function.restype = ctypes.c_double

        def run(times: int) -> float:
            nanoseconds = function(*args, ctypes.c_int(times))
            assert nanoseconds >= 0, f"{name} failed"
            return nanoseconds

        return run

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
    shape, strides = (ctypes.c_int64 * 1)(64), (ctypes.c_int64 * 1)(1)
    read = [dlpack.DLTensor(t.data_ptr(), 2, t.device.index or 0, 1, 2, 32, 1, shape, strides, 0) for t in tensors]
    args = (Any_ * 3)(*(Any_(7, 0, ctypes.addressof(each)) for each in read))
    _kept.append((read, shape, strides, params))  # what the addresses are of
    called = loop(
        "vectorcall_loop", address(python.PyObject_Vectorcall), address(python.Py_DecRef), ctypes.c_void_p(id(add)),
        objects, count,
    )  # fmt: skip
    found = {
        "f(a, b, c), called by a loop in C": called,
        "  part: cuLaunchKernelEx with one block of parameters": loop(
            "packed_loop", launch, function, queue, block, bytes_
        ),
        "  part: cuLaunchKernel": loop("plain_loop", address(driver.cuLaunchKernel), function, queue, params),
        "  part: the compiled function with its checks and the launch": loop(
            "entry_loop", ctypes.c_void_p(add._program.host.entry), ctypes.byref(queue), args, count
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
    options = parser.parse_args()
    loaded = helper()
    found = {"on a GPU": with_gpu(loaded)} if tw.cuda(0).exist else {}
    found["without a driver"] = without_driver(loaded, bool(found))
    for where, figures in found.items():
        print(f"{where}, nanoseconds a call" + " " * 52 + "median      p10")
        for name, figure in figures.items():
            print(f"  {name:78}{figure['median']:9.0f}{figure['p10']:9.0f}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
