"""Writes the table by which `tw.ops.matmul` chooses.

`python bench/tune_matmul.py [--best N] [--seconds S] [--out FILE] [part of a problem's text]`

For the products of `model_shapes.py`, squares, and ragged ones it times the choices of
`tilewright.schedules.matmuls.candidates` that the cost model takes for the N fastest (10 unless said), then the
refinements of the two that were, and keeps the fastest. Choices are timed in turn, by few runs, or more where these are
short, and the best once more, by many; each is checked beside torch's result. Other processes compile ahead, for the
cache. Entries of products that are not measured stay: those past S seconds, and those whose `Problem` does not have the
text that may follow the options. FILE is the table unless given.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, ProcessPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

from tilewright import ops
from tilewright.schedules.matmuls.candidates import candidates, refinements
from tilewright.schedules.matmuls.cost_model import estimate
from tilewright.schedules.matmuls.problem import Choice, Problem
from tilewright.schedules.matmuls.selection import TABLE

LAYOUTS = ("NN", "NT", "TN", "TT")
RAGGED = ((4095, 4097, 4093), (2047, 2049, 2051), (8191, 8193, 8189), (4097, 1025, 8191), (1023, 8191, 4095))
# What factors are stored as, where that is not their type.
STORED = {"tf32": "float32"}


def problems() -> list[Problem]:
    """What is tuned, the figures that are asked for first."""
    from model_shapes import shapes

    found = [Problem(rows, 8192, 8192, "bfloat16", layout) for rows in (16, 64) for layout in ("NN", "NT")]
    found += [Problem(size, size, size, "bfloat16", layout) for size in (1024, 2048, 4096) for layout in ("NN", "NT")]
    found += [Problem(8192, 8192, 8192, "bfloat16", layout) for layout in ("NN", "NT")]
    found += [Problem(8192, 1024, 8192, "bfloat16", layout) for layout in ("NN", "NT")]
    found += [Problem(4096, 4096, 512, "bfloat16", layout) for layout in ("NN", "NT")]
    found += [Problem(*shape, "bfloat16", "NN") for shape in RAGGED]
    found += [shape.problem for shape in shapes()]
    found += [Problem(size, size, size, "float16", layout) for size in (4096, 8192) for layout in ("NN", "NT")]
    found += [Problem(4096, 4096, 4096, dtype, "NT") for dtype in ("tf32", "int8")]
    found += [Problem(size, size, size, "bfloat16", layout) for size in (1024, 4096) for layout in ("TN", "TT")]
    return list(dict.fromkeys(found))


def function_of(problem: Problem, choice: Choice, arch: str) -> Any:
    """Called from here alone: what is known of a program from one line is known to all processes."""
    p, some = problem, (problem.batch,) if problem.batch > 1 else ()
    dtype = STORED.get(p.dtype, p.dtype)
    a = ops.Operand((*some, *((p.K, p.M) if p.layout[0] == "T" else (p.M, p.K))), dtype)
    b = ops.Operand((*some, *((p.N, p.K) if p.layout[1] == "T" else (p.K, p.N))), dtype)
    options: dict[str, Any] = {"transpose_a": p.layout[0] == "T", "transpose_b": p.layout[1] == "T"}
    if p.dtype in STORED:
        options["precision"] = p.dtype
    return ops.matmul.function(a, b, choice=choice, target=f"cuda -arch={arch}", **options)


def compile_for(problem: Problem, choice: Choice, arch: str) -> str:
    """Leaves the kernels in the cache; returns why there are none, or nothing."""
    try:
        function_of(problem, choice, arch)
    except Exception as error:  # one that cannot be is none to choose
        return str(error).splitlines()[0]
    return ""


class Tuner:
    """Times choices on the GPU, and has them compiled beside."""

    def __init__(self, pool: Executor, arch: str, best: int) -> None:
        from simt import Bench

        self.bench, self.pool, self.arch, self.best = Bench(), pool, arch, best
        described = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True)
        self.commit = described.stdout.strip()

    def first_choices(self, problem: Problem) -> list[Choice]:
        by_model = sorted(candidates(problem), key=lambda one: estimate(problem, one))
        return list(islice(by_model, self.best))

    def compile(self, jobs: Iterable[tuple[Problem, Choice]]) -> None:
        submitted = [(job, self.pool.submit(compile_for, *job, self.arch)) for job in jobs]
        for (problem, choice), future in submitted:
            if why := future.result():
                print("refused", problem, choice, why, flush=True)

    def tune(self, problem: Problem) -> dict[str, Any] | None:
        """The entry of a product."""
        import torch
        from model_shapes import operands

        p = problem
        exact = {"tf32": "float32", "int8": "float32"}.get(p.dtype, p.dtype)
        a, b = operands(Problem(p.M, p.N, p.K, exact, p.layout, p.batch))
        if p.dtype == "int8":
            a, b = (one.mul(40).round().clamp(-128, 127).to(torch.int8) for one in (a, b))
        left, right = (one.mT if there == "T" else one for one, there in zip((a, b), p.layout))
        expected = left.float() @ right.float() if p.dtype == "int8" else left @ right
        output = torch.empty(expected.shape, device="cuda", dtype=torch.int32 if p.dtype == "int8" else a.dtype)
        bound = 0.02 * expected.abs().max().item()

        def run(choices: list[Choice], repeat: int) -> list[tuple[float, Choice]]:
            right: list[tuple[Callable[[], Any], Choice]] = []
            for choice in choices:
                try:
                    func = function_of(p, choice, self.arch)
                except Exception:  # said when it was compiled
                    continue
                output.fill_(-1)
                func(a, b, output)
                if (output - expected).abs().max().item() <= bound:
                    right.append((lambda func=func: func(a, b, output), choice))
                else:
                    print("WRONG", p, choice, flush=True)
            # In turn: the clock of a hot GPU differs from one second to the next by more than choices do.
            times = self.bench.medians_ms([call for call, _ in right], repeat)
            return sorted(zip(times, (choice for _, choice in right)), key=lambda one: one[0])

        likely = self.first_choices(p)
        few, many = (25, 100) if likely and estimate(p, likely[0]) < 1e-4 else (10, 60)
        first = run(likely, few)
        finer = [choice for _, one in first[:2] for choice in refinements(p, one)]
        self.compile((p, choice) for choice in finer)
        best = sorted([*first, *run(finer, few)], key=lambda one: one[0])[:6]
        again = run([choice for _, choice in best], many)
        if not again:
            return None
        ms, choice = again[0]
        torch_ms = self.bench.median_ms(lambda: left @ right) if p.dtype != "int8" else None
        fields = {name: getattr(p, name) for name in ("M", "N", "K", "dtype", "layout", "batch")}
        entry = {
            "problem": fields,
            "schedule": choice.schedule,
            "options": dict(choice.options),
            "us": round(1e3 * ms, 2),
            "commit": self.commit,
        }
        return entry | ({"torch_us": round(1e3 * torch_ms, 2)} if torch_ms else {})


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--best", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument("part", nargs="?", default="")
    given = parser.parse_args()
    end = time.monotonic() + given.seconds
    major, minor = torch.cuda.get_device_capability()
    arch = f"sm_{major}{minor}" + "a" * (major >= 9)
    so_far = next((file for file in (given.out, TABLE) if file.exists()), None)
    known = json.loads(so_far.read_text()) if so_far else {"command": "python bench/tune_matmul.py", "runs": {}}
    wanted = [problem for problem in problems() if given.part in str(problem)]
    with ProcessPoolExecutor(min(12, os.cpu_count() or 1), mp_context=multiprocessing.get_context("spawn")) as pool:
        tuner = Tuner(pool, arch, given.best)
        # After `simt` was imported, which turns it off for its own peers.
        torch.backends.cuda.matmul.allow_tf32 = True
        run = known["runs"].setdefault(tuner.bench.results["device"], {"arch": arch, "entries": []})
        entries = {json.dumps(entry["problem"]): entry for entry in run["entries"]}
        for count, problem in enumerate(wanted):
            if time.monotonic() > end:
                print(f"{len(wanted) - count} products are left", flush=True)
                break
            if count % 8 == 0:
                tuner.compile((one, choice) for one in wanted[count : count + 8] for choice in tuner.first_choices(one))
            entry = tuner.tune(problem)
            if entry is not None:
                entries[json.dumps(entry["problem"])] = entry
                print(json.dumps(entry), flush=True)
            torch.cuda.empty_cache()
            run["entries"] = list(entries.values())
            write(given.out, known)


def write(file: Path, table: dict[str, Any]) -> None:
    """One line an entry."""
    runs = []
    for device, run in table["runs"].items():
        fields = [f"   {json.dumps(name)}: {json.dumps(value)}" for name, value in run.items() if name != "entries"]
        lines = ",\n".join("    " + json.dumps(entry) for entry in run["entries"])
        fields.append(f'   "entries": [\n{lines}\n   ]')
        runs.append(f"  {json.dumps(device)}: {{\n" + ",\n".join(fields) + "\n  }")
    text = json.dumps({**table, "runs": {}}, indent=1)
    file.write_text(text.replace('"runs": {}', '"runs": {\n' + ",\n".join(runs) + "\n }") + "\n")


if __name__ == "__main__":
    main()
