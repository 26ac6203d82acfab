"""What the rules' candidates for matmuls of odd extents take on a GPU, beside what their models say, and cuBLAS.

python bench/rule_candidates.py --seed 1001 [--budget 180] [--count 12] [--best 10] [--rows 128] [--out FILE.json]

The matmuls are te programs that `tw.auto_schedule` gives a schedule. Their extents are drawn by a seed that no figure
is then claimed for. Of each there are the tiles of ``mma.sync`` that the model takes for the fastest, those of each
number of parts along K, and what copies of the operands make possible, on warpgroups. Kernels are compiled first, by a
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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Any

from matmul_candidates import problem_of
from measuring import compile_all
from random_cases import draw

import tilewright as tw
from tilewright import te
from tilewright.rules import matrices, operand_copies
from tilewright.schedules.matmuls.problem import Problem


def drawn(seed: int, count: int, rows: int) -> list[Problem]:
    """Matmuls of 9 rows to so many. Fewer rows are no work for tiles."""
    found = map(problem_of, draw(seed, "odd matmul", 40 * count))
    return [one for one in found if 8 < one.M <= rows][:count]


def program(what: Problem) -> list[te.Tensor]:
    M, N, K = what.M, what.N, what.K
    A = te.placeholder((M, K) if what.layout[0] == "N" else (K, M), what.dtype, name="A")
    B = te.placeholder((K, N) if what.layout[1] == "N" else (N, K), what.dtype, name="B")
    k = te.reduce_axis((0, K), name="k")

    def product(i: te.Expr, j: te.Expr) -> te.Expr:
        a, b = A[i, k] if what.layout[0] == "N" else A[k, i], B[k, j] if what.layout[1] == "N" else B[j, k]
        return te.sum(a.astype("float32") * b.astype("float32"), axis=k)

    C = te.compute((M, N), product, name="C")
    return [A, B, te.compute((M, N), lambda i, j: C[i, j].astype(what.dtype), name="D")]


@contextmanager
def copying(way: str) -> Iterator[None]:
    """Operands are copied always, never, or where the model says so."""
    found, by_warps = matrices.copies_before, operand_copies._by_warps
    if way == "as it lies":
        matrices.copies_before = lambda *_: None
    elif way == "copied":
        operand_copies._by_warps = lambda *_: 1.0
    try:
        yield
    finally:
        matrices.copies_before, operand_copies._by_warps = found, by_warps


def function_of(what: Problem, way: str, settings: dict[str, Any], target: str) -> Any:
    """Compiled, with the decisions of the plan."""
    args = program(what)
    with copying(way):
        s = tw.auto_schedule(args[-1], target, settings={"D": settings} if settings else None)
    return tw.build(s, args, target=target, name="matmul"), s.plan or ()


def compiled(case: tuple[Problem, str, dict[str, Any]], target: str) -> dict[str, Any]:
    """Leaves the kernels in the cache; says why if it cannot."""
    try:
        function_of(*case, target)
    except Exception as error:
        return {"failure": str(error).splitlines()[0]}
    return {}


def ways(what: Problem, best: int, target: str) -> list[tuple[str, dict[str, Any]]]:
    """How each is scheduled: the plan's own first."""
    found: list[tuple[str, dict[str, Any]]] = [("model", {}), ("copied", {})]
    with copying("as it lies"):
        plan = tw.auto_schedule(program(what)[-1], target, settings={"D": {"rule": "tensor cores"}}).plan
    tiles = [c.alternatives for one in plan or () for c in one.choices if c.name == "tile"][0]
    taken = list(tiles[: best // 2])
    for kind in (lambda one: one[-1], lambda one: (one[-1] > 1, one[0]), lambda one: (one[-1], one[0][0])):
        seen = {kind(one) for one in taken}
        for one in tiles:
            if kind(one) not in seen and len(taken) < best:
                seen.add(kind(one))
                taken.append(one)
    return found + [("as it lies", {"rule": "tensor cores", "tile": one}) for one in taken]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--budget", type=float, default=180, help="seconds in all (default: 180)")
    parser.add_argument("--count", type=int, default=12, help="matmuls (default: 12)")
    parser.add_argument("--best", type=int, default=10, help="candidates of each (default: 10)")
    parser.add_argument("--rows", type=int, default=128, help="rows at most (default: 128)")
    parser.add_argument("--out", type=Path, default=Path("rule-candidates.json"))
    parser.add_argument("--device", default="H200")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    given = parser.parse_args()
    begin, target = time.monotonic(), f"cuda -device={given.device}"
    problems = drawn(given.seed, given.count, given.rows)
    cases = [(what, *how) for what in problems for how in ways(what, given.best, target)]
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"TILEWRIGHT_CACHE": "on", "TILEWRIGHT_CACHE_DIR": folder}
        said = compile_all(cases, target, given.workers, begin + 0.6 * given.budget, compiled)
        print(f"compiled after {time.monotonic() - begin:.0f} s", flush=True)
        ready: dict[Problem, list[tuple[str, Any, dict[str, Any]]]] = {what: [] for what in problems}
        for (what, way, settings), one in zip(cases, said, strict=True):
            ready[what].append((way, settings, one))
        measure(given, target, ready, begin)


def measure(given: Any, target: str, ready: dict[Problem, list[tuple[str, Any, dict[str, Any]]]], begin: float) -> None:
    import torch
    from model_shapes import operands
    from simt import Bench

    bench = Bench()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    record: dict[str, Any] = {"command": " ".join(["python", *sys.argv]), "commit": commit, **bench.results}
    record["problems"] = []
    for what, some in ready.items():
        if time.monotonic() - begin > given.budget:
            break
        a, b = operands(what)
        left, right = (each.mT if there == "T" else each for each, there in zip((a, b), what.layout))
        expected = left.double() @ right.double()
        output = torch.empty(expected.shape, device="cuda", dtype=a.dtype)
        calls: list[Any] = [lambda left=left, right=right: left @ right]
        rows: list[dict[str, Any]] = []
        for way, settings, said in some:
            row: dict[str, Any] = {"way": way, "settings": settings, **said}
            rows.append(row)
            if "failure" in row:
                continue
            function, decisions = function_of(what, way, settings, target)
            row["rules"] = [(one.rule, str(one.settings)) for one in decisions]
            row["model_us"] = [round(1e6 * one.seconds, 2) if one.seconds else None for one in decisions]
            output.fill_(-1)
            function(a, b, output)
            torch.cuda.synchronize()
            row["error"] = ((output - expected).abs().max() / expected.abs().max()).item()
            row["at"] = len(calls)
            calls.append(lambda function=function, a=a, b=b, output=output: function(a, b, output))
        times = bench.medians_ms(calls, 15)
        for row in rows:
            if "at" in row:
                row["us"] = round(1e3 * times[row.pop("at")], 2)
        record["problems"].append({"what": astuple(what), "torch_us": round(1e3 * times[0], 2), "candidates": rows})
        best = min((row for row in rows if "us" in row), key=lambda row: row["us"])
        print(
            f"{what}: torch {1e3 * times[0]:.1f}, chosen {rows[0].get('us')} {rows[0].get('rules')}, "
            f"copied {rows[1].get('us')}, best {best['us']} {best['way']} {best['settings']}",
            flush=True,
        )
        given.out.write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
