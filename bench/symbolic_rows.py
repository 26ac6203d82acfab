"""One kernel for any number of rows, and one function of kernels for classes of rows, beside kernels for one number
each, all scheduled by rules.

`python bench/symbolic_rows.py [OUT.json]`: softmax and layer_norm of float16, and matmuls of float32 and float16 with a
bias and an activation, for 1 to 16,384 rows. For each the medians of event times, by turns, with the L2 cache flushed
before each call, and their ratios: the time of the kernel for this number of rows over that of the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measuring import compile_all

import tilewright as tw
from tilewright import te
from tilewright.graph.operators import OPERATORS
from tilewright.ops.normalization import normalized

ROWS = (1, 8, 16, 17, 64, 128, 256, 1000, 4096, 16384)
Program = tuple[list[Any], Any]


def softmax(rows: Any) -> Program:
    X = te.placeholder((rows, 1024), "float16", "X")
    return [X], OPERATORS["softmax"](X, axis=1)[0]


def layer_norm(rows: Any) -> Program:
    X = te.placeholder((rows, 4096), "float16", "X")
    return [X], normalized(X, [1], 1e-5, lambda value, *at: value)


def layer(rows: Any, dtype: str = "float32") -> Program:
    A, B = te.placeholder((rows, 1024), dtype, "A"), te.placeholder((1024, 1024), dtype, "B")
    k, bias = te.reduce_axis((0, 1024), "k"), te.placeholder((1024,))
    C = te.compute(
        (rows, 1024), lambda i, j: te.sum(A[i, k].astype("float32") * B[k, j].astype("float32"), axis=k), name="C"
    )
    D = te.compute((rows, 1024), lambda i, j: te.max(C[i, j] + bias[j], 0.0).astype(dtype), name="D")
    return [A, B, bias], D


def layer_of_16_bits(rows: Any) -> Program:
    return layer(rows, "float16")


def function(program: Callable[[Any], Program], rows: Any, target: str, classes: bool = False) -> tuple[Any, Program]:
    """What the rules make of a program with so many rows, or of classes of them."""
    inputs, output = made = program(rows)
    s = tw.auto_schedule(output, target)
    return tw.build(s.classes if classes else s, [*inputs, output], target, program.__name__), made


PROGRAMS = (softmax, layer_norm, layer, layer_of_16_bits)


def prepare(case: tuple[int, int], target: str) -> dict[str, Any]:
    """Leaves a kernel in the cache: that of a number of rows, of any, or of classes of them."""
    place, rows = case
    function(PROGRAMS[place], rows if rows > 0 else te.var("rows", min=1, max=ROWS[-1]), target, classes=rows < 0)
    return {}


def main(target: str = "cuda") -> None:
    import torch
    from simt import Bench

    bench, found = Bench(), list[dict[str, Any]]()
    cases = [(place, rows) for place in range(len(PROGRAMS)) for rows in (0, -1, *ROWS)]
    compile_all(cases, target, os.cpu_count() or 1, time.monotonic() + 120, prepare)
    for program in PROGRAMS:
        of_any, _ = function(program, te.var("rows", min=1, max=ROWS[-1]), target)
        of_classes, _ = function(program, te.var("rows", min=1, max=ROWS[-1]), target, classes=True)
        for rows in ROWS:
            own, (inputs, output) = function(program, rows, target)
            tensors = [
                torch.randn([int(extent) for extent in one.shape], device="cuda").to(getattr(torch, one.dtype))
                for one in (*inputs, output)
            ]
            given, results = tensors[:-1], [torch.empty_like(tensors[-1]) for _ in range(2)]
            one, any_ms, classes_ms = bench.medians_ms(
                [lambda: own(*tensors), lambda: of_any(*given, results[0]), lambda: of_classes(*given, results[1])], 30
            )
            same = max((tensors[-1].double() - result.double()).abs().max().item() for result in results)
            found.append(
                {"program": program.__name__, "rows": rows, "own_ms": one, "any_ms": any_ms, "ratio": one / any_ms,
                 "classes_ms": classes_ms, "ratio_of_classes": one / classes_ms, "largest_difference": same}
            )  # fmt: skip
            print(json.dumps(found[-1]), flush=True)
    if len(sys.argv) > 1:
        commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True)
        head = {"command": " ".join(["python", *sys.argv]), "commit": commit.stdout.strip(), **bench.results}
        Path(sys.argv[1]).write_text(json.dumps({**head, "cases": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
