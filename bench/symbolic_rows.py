"""One kernel for any number of rows beside kernels for one number each, both scheduled by rules.

`python bench/symbolic_rows.py [OUT.json]`: softmax and layer_norm of float16, and a float32 matmul with a bias and an
activation, for 1 to 16,384 rows. For each the medians of event times, by turns, with the L2 cache flushed before each
call, and their ratio: the time of the kernel for this number of rows over that of the kernel for any.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tilewright as tw
from tilewright import te
from tilewright.graph.operators import OPERATORS
from tilewright.ops.normalization import normalized

ROWS = (1, 16, 128, 1000, 4096, 16384)
Program = tuple[list[Any], Any]


def softmax(rows: Any) -> Program:
    X = te.placeholder((rows, 1024), "float16", "X")
    return [X], OPERATORS["softmax"](X, axis=1)[0]


def layer_norm(rows: Any) -> Program:
    X = te.placeholder((rows, 4096), "float16", "X")
    return [X], normalized(X, [1], 1e-5, lambda value, *at: value)


def layer(rows: Any) -> Program:
    A, B, bias = te.placeholder((rows, 1024), name="A"), te.placeholder((1024, 1024), name="B"), te.placeholder((1024,))
    k = te.reduce_axis((0, 1024), "k")
    C = te.compute((rows, 1024), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    return [A, B, bias], te.compute((rows, 1024), lambda i, j: te.max(C[i, j] + bias[j], 0.0), name="D")


def function(program: Callable[[Any], Program], rows: Any, target: str) -> tuple[Any, Program]:
    """What the rules make of a program with so many rows."""
    inputs, output = made = program(rows)
    return tw.build(tw.auto_schedule(output, target), [*inputs, output], target, program.__name__), made


def main(target: str = "cuda") -> None:
    import torch
    from simt import Bench

    bench, found = Bench(), list[dict[str, Any]]()
    for program in (softmax, layer_norm, layer):
        of_any, _ = function(program, te.var("rows", min=1, max=ROWS[-1]), target)
        for rows in ROWS:
            own, (inputs, output) = function(program, rows, target)
            tensors = [
                torch.randn([int(extent) for extent in one.shape], device="cuda").to(getattr(torch, one.dtype))
                for one in (*inputs, output)
            ]
            other = torch.empty_like(tensors[-1])
            before, after = bench.medians_ms([lambda: own(*tensors), lambda: of_any(*tensors[:-1], other)], 30)
            same = (tensors[-1].double() - other.double()).abs().max().item()
            found.append(
                {"program": program.__name__, "rows": rows, "own_ms": before, "any_ms": after, "ratio": before / after,
                 "largest_difference": same}
            )  # fmt: skip
            print(json.dumps(found[-1]), flush=True)
    if len(sys.argv) > 1:
        commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True)
        head = {"command": " ".join(["python", *sys.argv]), "commit": commit.stdout.strip(), **bench.results}
        Path(sys.argv[1]).write_text(json.dumps({**head, "cases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
