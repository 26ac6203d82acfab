"""Writes the table by which `tw.ops.matmul` chooses.

`python bench/tune_matmul.py [--best N] [--seconds S] [--out FILE] [part of a problem's text]`

For the products of `model_shapes.py`, squares, and ragged ones it times the choices of `tilewright.ops.choices` that
its model takes for the N fastest (8 unless said), each checked beside torch's result, and keeps the fastest. A choice
is timed by few runs, the three best once more. Entries of products that are not measured stay: those past S seconds,
and those whose `Problem` does not have the text that may follow the options. FILE is the table unless given.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from model_shapes import operands, shapes
from simt import Bench

from tilewright import ops
from tilewright.ops.choices import TABLE, Choice, Problem, candidates, estimate

LAYOUTS = ("NN", "NT", "TN", "TT")
RAGGED = ((4095, 4097, 4093), (2047, 2049, 2051), (8191, 8193, 8189), (4097, 1025, 8191), (1023, 8191, 4095))


def problems() -> list[Problem]:
    """What is tuned."""
    found = [Problem(16, 8192, 8192, "bfloat16", layout) for layout in ("NN", "NT")]
    found += [Problem(*shape, "bfloat16", "NN") for shape in RAGGED]
    found += [shape.problem for shape in shapes()]
    for size in (1024, 2048, 4096):
        found += [Problem(size, size, size, "bfloat16", layout) for layout in LAYOUTS]
    found += [Problem(8192, 8192, 8192, "bfloat16", "NT"), Problem(8192, 1024, 8192, "bfloat16", "NN")]
    found.append(Problem(4096, 4096, 512, "bfloat16", "NN"))
    found += [Problem(4096, 4096, 4096, dtype, "NT") for dtype in ("float16", "tfloat32", "int8")]
    return list(dict.fromkeys(found))


def tune(bench: Bench, problem: Problem, best: int) -> dict[str, Any] | None:
    """The entry of a product."""
    p = problem
    stored = {"tfloat32": "float32"}.get(p.dtype, p.dtype)
    if p.dtype == "int8":
        a, b = (one.float().mul(40).round().clamp(-128, 127).to(torch.int8) for one in operands(_typed(p, "float32")))
    else:
        a, b = operands(_typed(p, stored))
    options: dict[str, Any] = {"transpose_a": p.layout[0] == "T", "transpose_b": p.layout[1] == "T"}
    if p.dtype == "tfloat32":
        options["precision"] = p.dtype
    left, right = (one.mT if there else one for one, there in zip((a, b), (p.layout[0] == "T", p.layout[1] == "T")))
    expected = (left.float() @ right.float()) if p.dtype == "int8" else left @ right
    output = torch.empty(expected.shape, device="cuda", dtype=torch.int32 if p.dtype == "int8" else a.dtype)
    bound = 0.02 * expected.abs().max().item()
    timed: list[tuple[float, Choice, Any]] = []
    for choice in sorted(candidates(p), key=lambda one: estimate(p, one))[:best]:
        try:
            func = ops.matmul.function(a, b, choice=choice, **options)
            output.fill_(-1)
            func(a, b, output)
            if not (output - expected).abs().max().item() <= bound:
                print("WRONG", p, choice, flush=True)
                continue
            timed.append((bench.median_ms(lambda: func(a, b, output), repeat=5), choice, func))
        except Exception as error:  # one that cannot be is none to choose
            print("refused", p, choice, str(error).splitlines()[0], flush=True)
    timed.sort(key=lambda one: one[0])
    again = [(bench.median_ms(lambda: func(a, b, output)), choice) for _, choice, func in timed[:3]]
    if not again:
        return None
    ms, choice = min(again, key=lambda one: one[0])
    fields = {name: getattr(p, name) for name in ("M", "N", "K", "dtype", "layout", "batch")}
    return {"problem": fields, "schedule": choice.schedule, "options": dict(choice.options), "us": round(1e3 * ms, 2)}


def _typed(problem: Problem, dtype: str) -> Problem:
    return Problem(problem.M, problem.N, problem.K, dtype, problem.layout, problem.batch)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--best", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--out", type=Path, default=TABLE)
    parser.add_argument("part", nargs="?", default="")
    given = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = True
    bench = Bench()
    major, minor = torch.cuda.get_device_capability()
    arch = f"sm_{major}{minor}" + "a" * (major >= 9)
    known = json.loads(TABLE.read_text()) if TABLE.exists() else {"command": "python bench/tune_matmul.py", "runs": {}}
    run = known["runs"].setdefault(arch, {"device": bench.results["device"], "entries": []})
    entries = {json.dumps(entry["problem"]): entry for entry in run["entries"]}
    end = time.monotonic() + given.seconds
    for problem in problems():
        if given.part not in str(problem) or time.monotonic() > end:
            continue
        entry = tune(bench, problem, given.best)
        if entry is not None:
            entries[json.dumps(entry["problem"])] = entry
            print(entry, flush=True)
        torch.cuda.empty_cache()
        run["entries"] = list(entries.values())
        lines = ",\n".join("   " + json.dumps(one) for one in run["entries"])
        text = json.dumps(known | {"runs": {**known["runs"], arch: run | {"entries": []}}}, indent=1)
        given.out.write_text(text.replace('"entries": []', '"entries": [\n' + lines + "\n  ]") + "\n")


if __name__ == "__main__":
    main()
