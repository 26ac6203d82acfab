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
import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from random_cases import draw

import tilewright as tw
from tilewright import te

Extents = tuple[int, int, int, str, str]


def drawn(seed: int, count: int, rows: int) -> list[Extents]:
    """Rows, columns, K, layout and type: of 9 rows to so many: fewer are no tiles' work."""
    found: list[Extents] = []
    for case in draw(seed, "odd matmul", 40 * count):
        a, b = (one.shape for one in case.arrays)
        options = dict(case.options)
        M, K = reversed(a) if options["transpose_a"] else a
        N = b[0] if options["transpose_b"] else b[1]
        if 8 < M <= rows and len(found) < count:
            layout = "NT"[options["transpose_a"]] + "NT"[options["transpose_b"]]
            found.append((M, N, K, layout, case.arrays[0].dtype))
    return found


def program(what: Extents) -> list[te.Tensor]:
    M, N, K, layout, dtype = what
    A = te.placeholder((M, K) if layout[0] == "N" else (K, M), dtype, name="A")
    B = te.placeholder((K, N) if layout[1] == "N" else (N, K), dtype, name="B")
    k = te.reduce_axis((0, K), name="k")

    def product(i: te.Expr, j: te.Expr) -> te.Expr:
        a, b = A[i, k] if layout[0] == "N" else A[k, i], B[k, j] if layout[1] == "N" else B[j, k]
        return te.sum(a.astype("float32") * b.astype("float32"), axis=k)

    C = te.compute((M, N), product, name="C")
    return [A, B, te.compute((M, N), lambda i, j: C[i, j].astype(dtype), name="D")]


def function_of(what: Extents, way: str, settings: dict[str, Any], target: str) -> Any:
    """Compiled with copies of the operands always, never, or where the model says so."""
    from tilewright.rules import matrices, operand_copies

    found = operand_copies.copies_before
    by_warps = operand_copies._by_warps
    if way == "as it lies":
        matrices.copies_before = lambda *_: None
    elif way == "copied":
        operand_copies._by_warps = lambda *_: 1.0
    try:
        args = program(what)
        s = tw.auto_schedule(args[-1], target, settings={"D": settings} if settings else None)
        function = tw.build(s, args, target=target, name="matmul")
        rules = [(one.rule, one.settings, one.seconds) for one in s.plan or ()]
    finally:
        matrices.copies_before, operand_copies._by_warps = found, by_warps
    return function, rules


def compiled(*what: Any) -> str:
    try:
        function_of(*what)
    except Exception as error:
        return str(error).splitlines()[0]
    return ""


def ways(what: Extents, best: int, target: str) -> list[tuple[str, dict[str, Any]]]:
    """How each is scheduled: the plan's own first."""
    from tilewright.rules import matrices

    found: list[tuple[str, dict[str, Any]]] = [("model", {}), ("copied", {})]
    given, matrices.copies_before = matrices.copies_before, lambda *_: None
    try:
        plan = tw.auto_schedule(program(what)[-1], target, settings={"D": {"rule": "tensor cores"}}).plan
    finally:
        matrices.copies_before = given
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
    jobs = {what: ways(what, given.best, target) for what in drawn(given.seed, given.count, given.rows)}
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"TILEWRIGHT_CACHE": "on", "TILEWRIGHT_CACHE_DIR": folder}
        with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
            ready = {
                what: [(way, s, pool.submit(compiled, what, way, s, target)) for way, s in some]
                for what, some in jobs.items()
            }
            why = {what: [(way, s, one.result()) for way, s, one in some] for what, some in ready.items()}
        print(f"compiled after {time.monotonic() - begin:.0f} s", flush=True)
        measure(given, target, why, begin)


def measure(given: Any, target: str, ready: dict[Extents, list[tuple[str, Any, str]]], begin: float) -> None:
    import torch
    from simt import Bench

    bench = Bench()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    record: dict[str, Any] = {"command": " ".join(["python", *sys.argv]), "commit": commit, **bench.results}
    record["problems"] = []
    for what, some in ready.items():
        if time.monotonic() - begin > given.budget:
            break
        M, N, K, layout, dtype = what
        a, b = (
            torch.randn(*(shape if one == "N" else reversed(shape)), device="cuda").to(getattr(torch, dtype))
            for one, shape in zip(layout, ((M, K), (K, N)))
        )
        left, right = (each.mT if there == "T" else each for each, there in zip((a, b), layout))
        expected = left.double() @ right.double()
        output = torch.empty(M, N, device="cuda", dtype=a.dtype)
        calls: list[Any] = [lambda left=left, right=right: left @ right]
        rows: list[dict[str, Any]] = []
        for way, settings, failure in some:
            row: dict[str, Any] = {"way": way, "settings": settings}
            rows.append(row)
            if failure:
                row["failure"] = failure
                continue
            function, rules = function_of(what, way, settings, target)
            row["rules"] = [(rule, str(how)) for rule, how, _ in rules]
            row["model_us"] = [round(1e6 * seconds, 2) if seconds else None for _, _, seconds in rules]
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
        record["problems"].append({"what": what, "torch_us": round(1e3 * times[0], 2), "candidates": rows})
        best = min((row for row in rows if "us" in row), key=lambda row: row["us"])
        print(
            f"{what}: torch {1e3 * times[0]:.1f}, chosen {rows[0].get('us')} {rows[0].get('rules')}, "
            f"copied {rows[1].get('us')}, best {best['us']} {best['way']} {best['settings']}",
            flush=True,
        )
        given.out.write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    random.seed(0)
    main()
