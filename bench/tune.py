"""What `tw.tune` gains: random matmuls and operations of rows, before and after, beside torch.

`python bench/tune.py [--seed 5] [--matmuls 4] [--rows 2] [--trials 64] [--seconds 30] [--budget 200] [--out FILE.json]`

Shapes are drawn by `random_cases.py`, where matmuls are te programs whose schedules are those of `tw.auto_schedule`.
Each is tuned by itself, with `--trials` trials at most and no trial begun after `--seconds`. The file has for each the
time of the first schedule and of the best one, measured side by side; what torch takes, timed with both by turns; how
the trials ended, and how many a second were measured, starting the workers included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from random_cases import Case, draw

import tilewright as tw
from tilewright import te
from tilewright.graph.operators import OPERATORS


def matmul_of(case: Case) -> tuple[list[Any], Any]:
    """A product as te has it: the inputs, and the output."""
    (a, b), options = case.arrays, dict(case.options)
    A, B = te.placeholder(a.shape, a.dtype, "A"), te.placeholder(b.shape, b.dtype, "B")
    ways = options["transpose_a"], options["transpose_b"]
    (M, K), N = a.shape[::-1] if ways[0] else a.shape, b.shape[0] if ways[1] else b.shape[1]
    k = te.reduce_axis((0, K), "k")
    wide = [lambda i: A[k, i] if ways[0] else A[i, k], lambda j: B[j, k] if ways[1] else B[k, j]]
    total = te.compute(
        (M, N), lambda i, j: te.sum(wide[0](i).astype("float32") * wide[1](j).astype("float32"), axis=k), name="total"
    )
    return [A, B], te.compute((M, N), lambda i, j: total[i, j].astype(a.dtype), name="C")


def rows_of(case: Case) -> tuple[list[Any], Any]:
    x = case.arrays[0]
    X = te.placeholder(x.shape, x.dtype, "X")
    return [X], OPERATORS[case.op](X, axis=1)[0]


def tuned(case: Case, target: str, trials: int, seconds: float, bench: Any) -> dict[str, Any]:
    """Tunes a case, and measures the first schedule, the best one and torch."""
    inputs, output = matmul_of(case) if case.op == "matmul" else rows_of(case)
    times: list[float] = []
    begin = time.monotonic()
    result = tw.tune(
        [output], target, trials=trials, seconds=seconds, args=[*inputs, output],
        progress=lambda _: times.append(time.monotonic() - begin),
    )  # fmt: skip
    whole = time.monotonic() - begin
    found: dict[str, Any] = {
        "gain": round(1 / result.score, 4), "best_ms": 1e3 * result.seconds[0], "first_ms": 1e3 * result.seconds[1],
        "trials": len(result.trials), "ended": dict(Counter(one.status for one in result.trials)),
        "choices": dict(result.choices), "seconds": round(whole, 1), "first_trial_s": round(times[0], 2),
        "trials_a_second": round((len(times) - 1) / max(1e-3, times[-1] - times[0]), 2),
        "causes": sorted({one.cause[:200] for one in result.trials if one.cause})[:5],
    }  # fmt: skip
    if bench is None:
        return found
    import torch
    from random_peers import expression_of, tensor_of

    tensors = [tensor_of(one) for one in case.arrays]
    expression = expression_of(case)
    made = torch.empty_like(expression(*tensors))
    first = tw.build(tw.auto_schedule(output, target), [*inputs, output], target, "first")
    best = result.build("best")
    calls = [lambda: first(*tensors, made), lambda: best(*tensors, made), lambda: expression(*tensors)]
    before, after, theirs = bench.medians_ms(calls, 40)
    return found | {
        "ms": {"first": before, "best": after, "torch": theirs}, "ratio_before": theirs / before,
        "ratio": theirs / after,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--matmuls", type=int, default=4)
    parser.add_argument("--rows", type=int, default=2)
    parser.add_argument("--largest", type=int, default=16384, help="the longest side of a matrix")
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30, help="a program (default: 30)")
    parser.add_argument("--budget", type=float, default=200, help="seconds in all (default: 200)")
    parser.add_argument("--out", type=Path, default=Path("tune.json"))
    parser.add_argument("--target", default="cuda")
    given = parser.parse_args()
    begin = time.monotonic()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    written: dict[str, Any] = {
        "command": " ".join(["python", *sys.argv]), "commit": commit, "cores": os.cpu_count(), "cases": [],
    }  # fmt: skip
    bench = None
    if given.target.startswith("cuda"):
        from simt import Bench

        bench = Bench()
        written |= bench.results
    matmuls = draw(given.seed, "aligned matmul", given.matmuls, given.largest)
    rows = [one for one in draw(given.seed, "rows", 40, given.largest) if one.op in ("softmax", "log_softmax")]
    some = [one for pair in zip(rows, matmuls) for one in pair if rows.index(pair[0]) < given.rows]
    for case in dict.fromkeys([*some, *matmuls, *rows[: given.rows]]):
        if time.monotonic() - begin > given.budget - 10:
            break
        try:
            found = tuned(case, given.target, given.trials, given.seconds, bench)
        except Exception as error:  # the other programs are still worth having
            found = {"failure": f"{type(error).__name__}: {str(error)[:300]}"}
        written["cases"].append({"case": str(case), **found})
        print(json.dumps(written["cases"][-1]), flush=True)
        given.out.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
