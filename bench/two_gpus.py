"""Functions and libraries where there are two GPUs: a call runs where its arrays are, the thread stays where it was.

    python bench/two_gpus.py [--json FILE]

`f(...)`, `f.ffi` and an exported library, from each current device, on each one's streams, and from threads whose
device is the other one; arrays of both are refused. Needs torch.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import json
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from launch_soak import build_in_two

from tilewright.runtime import cuda

N = 5001


def current_context() -> int | None:
    """The driver's own word for where the thread is."""
    context = ctypes.c_void_p()
    assert ctypes.CDLL("libcuda.so.1").cuCtxGetCurrent(ctypes.byref(context)) == 0
    return context.value


def late_tensor(n: int, index: int = 0) -> Any:
    """A tensor that takes a GPU's current stream a while: who reads it on another stream reads too early."""
    import torch

    big = torch.randn(1 << 26, device=f"cuda:{index}")
    for _ in range(8):
        big = big * 1.0001
    return big[:n].contiguous()


class Arrays:
    def __init__(self) -> None:
        import torch

        self.pairs = [(torch.randn(N, device=f"cuda:{i}"), torch.zeros(N, device=f"cuda:{i}")) for i in range(2)]


def under_each_device(roads: dict[str, Callable[..., Any]], arrays: Arrays) -> str:
    import torch

    for current in range(2):
        torch.cuda.set_device(current)
        torch.zeros(1, device="cuda")
        context = current_context()
        for name, call in roads.items():
            for a, b in arrays.pairs:
                b.zero_()
                call(a, b)
                assert torch.cuda.current_device() == current, f"{name}: the current device is another one"
                assert current_context() == context, f"{name}: the current context is another one"
                assert torch.equal(b, 2 * a + 1), name
                made = call(a)
                if not isinstance(made, torch.Tensor):
                    made = torch.from_dlpack(made)
                assert made.device == a.device and torch.equal(made, b), name
    torch.cuda.set_device(0)
    return ", ".join(roads)


def arrays_of_both(roads: dict[str, Callable[..., Any]], arrays: Arrays) -> str:
    told = ""
    for name, call in roads.items():
        for first, second in ((0, 1), (1, 0)):
            try:
                call(arrays.pairs[first][0], arrays.pairs[second][1])
            except ValueError as error:
                told = str(error)
                expected = f"argument 1 (B): expected an array on cuda:{first}, got one on cuda:{second}"
                assert told.endswith(expected), f"{name}: {told}"
            else:
                raise AssertionError(f"{name} took arrays of two GPUs")
    return told


def streams(roads: dict[str, Callable[..., Any]], arrays: Arrays) -> str:
    """Work that is late on a stream of the other device."""
    import torch

    for index, (a, b) in enumerate(arrays.pairs):
        torch.cuda.set_device(1 - index)
        for name, call in roads.items():
            side = torch.cuda.Stream(index)
            side.wait_stream(torch.cuda.current_stream(index))
            with torch.cuda.stream(side):
                torch.cuda.set_device(index)
                late = late_tensor(N, index)
                call(late, b)
                assert torch.equal(b, 2 * late + 1), f"{name} did not follow the stream of cuda:{index}"
            torch.cuda.set_device(1 - index)
        side = torch.cuda.Stream(index)
        torch.cuda.synchronize(index)
        roads["f"](a, b, stream=side)
        side.synchronize()
        assert torch.equal(b, 2 * a + 1), "stream="
    torch.cuda.set_device(0)
    return "both devices' streams"


def threads(roads: dict[str, Callable[..., Any]], arrays: Arrays) -> str:
    import torch

    def work(index: int, call: Callable[..., Any]) -> None:
        torch.cuda.set_device(1 - index)  # not the one that the arrays are on
        a, b = arrays.pairs[index][0], torch.zeros(N, device=f"cuda:{index}")
        for _ in range(2000):
            call(a, b)
        assert torch.equal(b, 2 * a + 1)

    jobs = [(index, call) for call in roads.values() for index in (0, 1)]
    with ThreadPoolExecutor(len(jobs)) as pool:
        list(pool.map(work, *zip(*jobs)))
    return f"{len(jobs)} threads"


def loaded_first(path: str) -> str:
    """Eagerly, on the second device alone, by a function and a library that have loaded nothing yet."""
    import torch
    import tvm_ffi

    f = build_in_two("cuda", "scaled")
    f.load(cuda(1))
    library = tvm_ffi.load_module(path)
    library.scaled_load(1)
    graph = torch.cuda.CUDAGraph()
    a, b, c = (torch.ones(N, device="cuda:1") for _ in range(3))
    # torch's own stream for captures belongs to the GPU of the first one.
    with torch.cuda.graph(graph, stream=torch.cuda.Stream(1)):
        f(a, b)
        library.scaled(b, c)
    graph.replay()
    torch.cuda.synchronize(1)
    assert bool((b == 3).all()) and bool((c == 7).all())
    return "captured into a graph on cuda:1"


def check() -> dict[str, str]:
    """What each check says; the first that fails raises."""
    if not cuda(1).exist:
        return {"skipped": "there is one GPU"}
    if importlib.util.find_spec("torch") is None:
        return {"skipped": "torch is not installed"}
    import tvm_ffi

    f, arrays = build_in_two("cuda", "scaled"), Arrays()
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/scaled.so"
        f.export_library(path, architectures=["sm_80", "sm_90a"])
        roads = {"f": f, "f.ffi": f.ffi, "library": tvm_ffi.load_module(path).scaled}
        found = {each.__name__: each(roads, arrays) for each in (under_each_device, arrays_of_both, streams, threads)}
        found[loaded_first.__name__] = loaded_first(path)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, help="where the results go")
    options = parser.parse_args()
    found = check()
    for name, told in found.items():
        print(f"{name}: {told}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
