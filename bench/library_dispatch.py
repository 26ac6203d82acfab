"""Models whose matmuls may run by cuBLASLt, on one GPU: with the groups that a measurement gives to it, and without.

python bench/library_dispatch.py OUT.json [--seconds N] [--tiny] [--target T] [row ...]

Each row is a process of its own, and is written when it is known. `model.tune_libraries` measures the groups first:
"groups" has for each that cuBLASLt can compute the microseconds by our kernel and by cuBLASLt, and who is to run it.
Then the model is compiled by these records. "plain" is the model without them, "dispatched" with them, "eager"
PyTorch's; "..._ms" are medians of one forward pass by events, all inputs on the GPU, one of each in a random order in
each of 100 rounds. "..._error" is the largest error beside the same weights in float64, over the largest element, and
"right" says that no error is more than four times that of eager PyTorch. "exported_..." are of what `model.export`
writes, "captured_..." of a graph that torch captures, "missing_same" of a process without the library: all bits.

With --tiny --target "cuda -arch=sm_90a" models are small, and only compiled, which needs no GPU.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from models import made as model_of

ROWS = ("mlp relu 4096x4096", "bert 16x512", "mlp gelu 256x4096", "bert 1x128", "mlp relu 256x4096", "mlp relu 32x1024")
LIBRARY = "cublaslt"
_ROUNDS = 100


def made(name: str, tiny: bool) -> tuple[nn.Module, torch.Tensor]:
    """A model and its input: three linear layers of as many rows and columns, or BERT of a batch and a length."""
    kind, *rest = name.split()
    if kind != "mlp":
        return model_of(name, tiny)
    torch.manual_seed(0)
    activation, size = rest
    rows, width = (8, 64) if tiny else map(int, size.split("x"))
    between = nn.ReLU() if activation == "relu" else nn.GELU(approximate="tanh")
    layers = [nn.Linear(width, width), between, nn.Linear(width, width), between, nn.Linear(width, width)]
    return nn.Sequential(*layers), torch.randn(rows, width)


def medians(calls: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """The median milliseconds of each call: in each round all run once, in random order."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    order, generator = list(calls), random.Random(0)
    for number in range(_ROUNDS + 5):
        generator.shuffle(order)
        for name in order:
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            calls[name]()
            end.record()
            end.synchronize()
            if number >= 5:
                times[name].append(begin.elapsed_time(end))
    return {f"{name}_ms": round(statistics.median(each), 5) for name, each in times.items()}


def error(got: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest error, over the largest element."""
    return float((got.double() - exact).abs().max() / exact.abs().max())


class Row:
    """What is known of a row, printed each time that more is known."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def tell(self, **more: Any) -> None:
        self.found.update(more)
        print(json.dumps(self.found), flush=True)

    def attempt(self, name: str, part: Callable[[], None]) -> None:
        """A part of a row whose failure ends no other part."""
        try:
            part()
        except Exception as error:
            traceback.print_exc()
            self.tell(**{f"{name}_failed": f"{type(error).__name__}: {str(error)[:400]}"})


def run_row(name: str, tiny: bool, target: str, folder: str) -> None:
    """Prints what is known of a row as a line of JSON."""
    import tilewright as tw
    from tilewright.graph.library_records import candidates_in
    from tilewright.ir import context
    from tilewright.runtime.libraries import find_library

    row, database = Row(), Path(folder) / "tuning.db"
    module, x = made(name, tiny)
    module = module.eval().to(torch.bfloat16)
    x = x.to(torch.bfloat16) if x.is_floating_point() else x
    start = time.perf_counter()
    with torch.no_grad():
        plain = tw.compile(module, (x,), target=target)
    with context():
        candidates = candidates_in(plain.ir("groups"), plain.name, LIBRARY)
    row.tell(
        compile_s=round(time.perf_counter() - start, 1), number_of_groups=len(plain.groups),
        candidates=[plain.groups[one.number].name for one in candidates],
    )  # fmt: skip
    if target != "cuda":
        return
    example, x = (x,), x.cuda()
    with torch.no_grad():
        # The same weights in double precision: those of bfloat16.
        exact = copy.deepcopy(module).double().cuda()(x.double() if x.is_floating_point() else x)
        eager_module = copy.deepcopy(module).cuda()
        eager = eager_module(x)
        row.tell(plain_error=error(plain(x), exact), eager_error=error(eager, exact))
        times = plain.tune_libraries(x, database=database, libraries=[LIBRARY])
        row.tell(
            library=find_library(LIBRARY).version,
            groups=[
                {"name": one.group.name, "own_us": round(one.own_seconds * 1e6, 3),
                 "library_us": round(one.library_seconds * 1e6, 3), "by_library": one.is_faster,
                 **({"told": one.told} if one.told else {})}
                for one in times.groups
            ],
        )  # fmt: skip
        dispatched = tw.compile(module, example, target=target, libraries=[LIBRARY], database=database)
        got = dispatched(x)
        errors = {"dispatched_error": error(got, exact)}
        row.tell(**errors, dispatched_groups=sum(one.library is not None for one in dispatched.groups))
        limit = max(4 * row.found["eager_error"], 1e-5)
        row.tell(
            right=all(row.found[one] <= limit for one in ("plain_error", "dispatched_error")),
            same=all(bool((dispatched(x) == got).all()) for _ in range(8)),
            problems=sorted({one.library.problem for one in dispatched.groups if one.library} - {""}),
        )
        calls: dict[str, Callable[[], Any]] = {
            "plain": lambda: plain(x), "dispatched": lambda: dispatched(x), "eager": lambda: eager_module(x)
        }  # fmt: skip
        row.attempt("times", lambda: row.tell(**medians(calls)))

        def exported() -> None:
            functions: dict[str, Callable[[], Any]] = {}
            for each, model in (("plain", plain), ("dispatched", dispatched)):
                path = Path(folder) / f"{each}.so"
                model.export(path)
                function = tw.load_model(path)
                functions[f"exported_{each}"] = lambda function=function: function(x)
                row.tell(**{f"exported_{each}_error": error(function(x), exact)})
            row.tell(**medians(functions))

        def captured() -> None:
            replays: dict[str, Callable[[], Any]] = {}
            for each, model in (("plain", plain), ("dispatched", dispatched)):
                static, graph = x.clone(), torch.cuda.CUDAGraph()
                model(static)
                torch.cuda.synchronize()
                with torch.cuda.graph(graph):
                    result = model(static)
                same = True
                for one in (x, x.flip(-1).contiguous(), x):
                    static.copy_(one)
                    graph.replay()
                    same &= bool((result == model(one)).all())
                row.tell(**{f"captured_{each}_same": same})
                replays[f"captured_{each}"] = graph.replay
            row.tell(**medians(replays))

        def missing() -> None:
            find_library(LIBRARY, "/nowhere/libcublasLt.so")
            without = tw.compile(module, example, target=target, libraries=[LIBRARY], database=database)
            row.tell(missing_same=bool((without(x) == plain(x)).all()))
            row.tell(missing_told=sorted({one.library.problem for one in without.groups if one.library}))

        row.attempt("exported", exported)
        row.attempt("captured", captured)
        row.attempt("missing", missing)


def about(target: str) -> dict[str, Any]:
    """What the rows were measured with."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    found: dict[str, Any] = {"command": " ".join(["python", *sys.argv]), "commit": commit, "torch": torch.__version__}
    if target == "cuda":
        from tilewright.runtime.cuda_driver import driver_version

        found |= {"device": torch.cuda.get_device_name(), "driver": driver_version()}
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", default=list(ROWS))
    parser.add_argument("--seconds", type=float, default=420, help="of all rows together")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--row", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_intermixed_args()
    if given.row:
        with tempfile.TemporaryDirectory() as folder:
            run_row(str(given.out), given.tiny, given.target, folder)
        return 0
    end = time.monotonic() + given.seconds
    told: dict[str, Any] = {**about(given.target), "tiny": given.tiny, "rows": {}}
    for name in given.names:
        left = end - time.monotonic()
        if left < 5:
            break
        command = [sys.executable, __file__, name, "--row", "--target", given.target, *(["--tiny"] * given.tiny)]
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as log:
            try:
                code: Any = subprocess.run(command, stdout=out, stderr=log, timeout=left, check=False).returncode
            except subprocess.TimeoutExpired:
                code = "out of time"
            out.seek(0)
            log.seek(0)
            lines = [line for line in out if line.startswith("{")]
            row: dict[str, Any] = json.loads(lines[-1]) if lines else {}
            if code != 0:
                row["failed"] = code if isinstance(code, str) else log.read()[-800:]
        told["rows"][name] = row
        given.out.write_text(json.dumps(told, indent=1) + "\n")
        print(name, json.dumps(row), flush=True)
    return any("failed" in row or row.get("right") is False for row in told["rows"].values())


if __name__ == "__main__":
    sys.exit(main())
