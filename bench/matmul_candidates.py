"""What the candidates of matmuls take on a GPU, beside what the cost model says: data to fit the model to.

`python bench/matmul_candidates.py --seed 1001 [--budget 180] [--count 60] [--best 12] [--refined 1] [--out FILE.json]`

Problems are those of `random_cases.py` for a seed, which no figure is then claimed for. Of each, the candidates that
the model takes for the fastest, and the best by the model of each kind of schedule. Kernels are compiled first, by a
process a core; then they are timed as the other benchmarks are, each checked beside torch's result.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from random_cases import Case, draw, in_turns
from tune_matmul import compile_for, function_of

from tilewright import Target
from tilewright.devices import GPU
from tilewright.schedules.matmuls.candidates import candidates, refinements
from tilewright.schedules.matmuls.cost_model import estimate
from tilewright.schedules.matmuls.problem import Choice, Problem
from tilewright.schedules.matmuls.selection import choose

GROUPS = ("aligned matmul", "aligned matmul", "odd matmul", "tf32 matmul", "f8 matmul", "int8 matmul")


def problem_of(case: Case) -> Problem:
    options = dict(case.options)
    a, b = (one.shape for one in case.arrays)
    M, K = reversed(a) if options["transpose_a"] else a
    N = b[0] if options["transpose_b"] else b[1]
    layout = "NT"[options["transpose_a"]] + "NT"[options["transpose_b"]]
    return Problem(M, N, K, options.get("precision", case.arrays[0].dtype), layout)


def kind(choice: Choice) -> tuple[object, ...]:
    """What the best by the model is taken of."""
    options = choice.options
    return (
        choice.schedule, *(name in options for name in ("stream_k", "split_k", "swap_ab", "narrower", "pad")),
        options.get("cluster"), options["tile"][0],
    )  # fmt: skip


def wanted(problem: Problem, device: GPU, best: int, refined: int) -> list[Choice]:
    """Two thirds of them are the fastest by the model, the others the fastest of their kind. Besides there are the
    variants of as many of the fastest as are refined."""
    ordered = sorted(candidates(problem, device), key=lambda one: estimate(problem, one, device))
    found = {str(choice): choice for choice in [choose(problem, device), *ordered[: 2 * best // 3]]}
    seen = {kind(choice) for choice in found.values()}
    for choice in ordered:
        if len(found) >= best:
            break
        if kind(choice) not in seen:
            seen.add(kind(choice))
            found[str(choice)] = choice
    for choice in ordered[:refined]:
        found |= {str(one): one for one in refinements(problem, choice, device) if str(one) not in found}
    return list(found.values())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--budget", type=float, default=180, help="seconds in all (default: 180)")
    parser.add_argument("--count", type=int, default=60, help="problems (default: 60)")
    parser.add_argument("--best", type=int, default=12, help="candidates of each (default: 12)")
    parser.add_argument("--refined", type=int, default=0, help="the fastest that are refined (default: 0)")
    parser.add_argument("--out", type=Path, default=Path("matmul-candidates.json"))
    parser.add_argument("--device", default="H200")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    given = parser.parse_args()
    begin = time.monotonic()
    device = Target(f"cuda -device={given.device}").device
    assert device is not None
    drawn = [draw(given.seed + place, group, given.count) for place, group in enumerate(GROUPS)]
    problems = [problem_of(case) for case in in_turns(drawn)][: given.count]
    jobs = {problem: wanted(problem, device, given.best, given.refined) for problem in problems}
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"TILEWRIGHT_CACHE": "on", "TILEWRIGHT_CACHE_DIR": folder}
        pool = ProcessPoolExecutor(given.workers, mp_context=get_context("spawn"))
        ready: dict[Problem, list[tuple[Choice, Any]]] = {
            problem: [(choice, pool.submit(compile_for, problem, choice, device.arch)) for choice in choices]
            for problem, choices in jobs.items()
        }
        for place, submitted in enumerate(ready.values()):
            for _, future in submitted:
                left = begin + 0.6 * given.budget - time.monotonic()
                try:
                    future.result(timeout=max(0.0, left))
                except Exception:
                    break
            if place % 10 == 0:
                print(f"compiled {place} of {len(ready)}", flush=True)
        pool.shutdown(wait=False, cancel_futures=True)
        print(f"compiled after {time.monotonic() - begin:.0f} s", flush=True)
        measure(given, device, ready, begin)


def measure(given: Any, device: GPU, ready: dict[Problem, list[tuple[Choice, Any]]], begin: float) -> None:
    import torch
    from model_shapes import operands
    from simt import Bench

    bench = Bench()
    torch.backends.cuda.matmul.allow_tf32 = True
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    record: dict[str, Any] = {"command": " ".join(["python", *sys.argv]), "commit": commit, **bench.results}
    record["problems"] = []
    for p, submitted in ready.items():
        if time.monotonic() - begin > given.budget:
            break
        stored = {"tf32": "float32", "int8": "float32", "float8_e4m3fn": "float32"}.get(p.dtype, p.dtype)
        a, b = operands(Problem(p.M, p.N, p.K, stored, p.layout))
        one = torch.ones((), device="cuda")
        if p.dtype == "int8":
            a, b = (each.mul(40).round().clamp(-128, 127).to(torch.int8) for each in (a, b))
        elif p.dtype == "float8_e4m3fn":
            a, b = (each.to(torch.float8_e4m3fn) for each in (a, b))
        left, right = (each.mT if there == "T" else each for each, there in zip((a, b), p.layout))
        peer = {
            "int8": lambda left=left, right=right: torch._int_mm(left, right),
            "float8_e4m3fn": lambda left=left, right=right, one=one: torch._scaled_mm(
                left, right, one, one, out_dtype=torch.bfloat16
            ),
        }.get(p.dtype, lambda left=left, right=right: left @ right)
        expected = peer().float()
        made = torch.float32 if p.dtype in ("tf32", "float8_e4m3fn") else a.dtype
        output = torch.empty(expected.shape, device="cuda", dtype=torch.int32 if p.dtype == "int8" else made)
        calls, rows = [peer], []
        for choice, future in submitted:
            row: dict[str, Any] = {"schedule": choice.schedule, "options": dict(choice.options)}
            row["model_us"] = round(1e6 * estimate(p, choice, device), 2)
            rows.append(row)
            if not future.done() or future.cancelled() or (why := future.result()):
                row["failure"] = "not compiled in time" if not future.done() or future.cancelled() else why
                continue
            try:
                func = function_of(p, choice, device.arch)
                output.fill_(-1)
                func(a, b, output)
                torch.cuda.synchronize()
            except Exception as error:
                row["failure"] = str(error).splitlines()[0]
                continue
            row["right"] = (output.float() - expected).abs().max().item() <= 0.02 * expected.abs().max().item()
            row["at"] = len(calls)
            calls.append(lambda func=func, a=a, b=b, output=output: func(a, b, output))
        times = bench.medians_ms(calls, 15)
        for row in rows:
            if "at" in row:
                row["us"] = round(1e3 * times[row.pop("at")], 2)
        fields = {name: getattr(p, name) for name in ("M", "N", "K", "dtype", "layout")}
        record["problems"].append({**fields, "torch_us": round(1e3 * times[0], 2), "candidates": rows})
        best = min((row["us"] for row in rows if "us" in row), default=0)
        first = rows[0].get("us", 0)
        print(
            f"{p.M}x{p.N}x{p.K} {p.dtype} {p.layout}: torch {1e3 * times[0]:.1f}, chosen {first}, best {best}",
            flush=True,
        )
        given.out.write_text(json.dumps(record) + "\n")
        torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
