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
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from rows import Row, about, error, medians, run_rows
from torch import nn

from models import made as model_of

ROWS = ("mlp relu 4096x4096", "bert 16x512", "mlp gelu 256x4096", "bert 1x128", "mlp relu 256x4096", "mlp relu 32x1024")
LIBRARY = "cublaslt"


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
    options = ["--target", given.target, *(["--tiny"] * given.tiny)]
    head = {**about(given.target), "tiny": given.tiny}
    rows = run_rows(__file__, given.out, given.names, options, given.seconds, head)
    return any("failed" in row or row.get("right") is False for row in rows.values())


if __name__ == "__main__":
    sys.exit(main())
