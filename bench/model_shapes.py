"""Products of real models beside torch.

`python bench/model_shapes.py OUT.json [models | ragged | plain] [part of a name]`

Forty shapes in bfloat16, each by `tw.ops.matmul`: what the layers of a 7B and a 70B model multiply for 1, 16, 128 and
4096 tokens, vocabulary heads, and heads in batches. Weights are stored as torch's linear layers have them, N x K.
"ragged" has ten with rows that no instruction fetches whole instead, "plain" the ones that everybody measures.

Medians of event times, inputs random, the L2 cache flushed before every run; each result, written over NaN, is checked
against float64 with the error of torch's own as the measure. Last come the geometric mean of the ratios, and the least.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from simt import Bench, normal

from tilewright import ops
from tilewright.devices import find
from tilewright.schedules.matmuls.problem import Problem
from tilewright.schedules.matmuls.selection import choose

# The outputs and inputs of a layer: its name to N, K.
LAYERS = {
    "7B qkv": (12288, 4096),
    "7B attention out": (4096, 4096),
    "7B gate and up": (22016, 4096),
    "7B down": (4096, 11008),
    "70B qkv": (10240, 8192),
    "70B attention out": (8192, 8192),
    "70B gate and up": (57344, 8192),
    "70B down": (8192, 28672),
}
TOKENS = (1, 16, 128, 4096)


@dataclass(frozen=True, slots=True)
class Shape:
    """A product of a model: M tokens, or as many in each of a batch."""

    name: str
    problem: Problem

    def __str__(self) -> str:
        p = self.problem
        return f"{self.name}: {f'{p.batch} x ' * (p.batch > 1)}{p.M}x{p.N}x{p.K} {p.layout}"


def shapes() -> list[Shape]:
    """The suite.

    >>> len(shapes())
    40
    """
    found = [
        Shape(name, Problem(tokens, N, K, "bfloat16", "NT")) for tokens in TOKENS for name, (N, K) in LAYERS.items()
    ]
    for name, tokens, N, K in (
        ("7B vocabulary head", 1, 32000, 4096),
        ("7B vocabulary head", 128, 32000, 4096),
        ("70B vocabulary head", 16, 128256, 8192),
        ("70B vocabulary head", 128, 128256, 8192),
    ):
        found.append(Shape(name, Problem(tokens, N, K, "bfloat16", "NT")))
    for name, M, N, K, layout, batch in (
        ("32 heads, scores", 2048, 2048, 128, "NT", 32),
        ("32 heads, values", 2048, 128, 2048, "NN", 32),
        ("8 heads of 16 tokens, scores", 128, 4096, 128, "NT", 8),
        ("8 heads of 16 tokens, values", 128, 128, 4096, "NN", 8),
    ):
        found.append(Shape(name, Problem(M, N, K, "bfloat16", layout, batch)))
    return found


RAGGED = (
    (4095, 4097, 4093),
    (4097, 4095, 4099),
    (4093, 4099, 4095),
    (2047, 2049, 2051),
    (8191, 8193, 8189),
    (4097, 1025, 8191),
    (1023, 8191, 4095),
    (3001, 5003, 4001),
    (4090, 4102, 4098),
    (6145, 3071, 2047),
)
"""Odd extents, and such that only pairs of elements are aligned."""


def ragged() -> list[Shape]:
    return [Shape("ragged", Problem(*shape, "bfloat16", "NN")) for shape in RAGGED]


def plain() -> list[Shape]:
    """Squares, a short k, a narrow C, and few rows, with B as it is and as weights are stored."""
    extents = [(size, size, size) for size in (1024, 2048, 4096, 8192)]
    extents += [(4096, 4096, 512), (8192, 1024, 8192), (16, 8192, 8192)]
    return [Shape("plain", Problem(*shape, "bfloat16", layout)) for shape in extents for layout in ("NT", "NN")]


SUITES = {"models": shapes, "ragged": ragged, "plain": plain}


def operands(problem: Problem) -> tuple[torch.Tensor, torch.Tensor]:
    """Random factors, as they are stored."""
    p, some = problem, (problem.batch,) if problem.batch > 1 else ()
    a = (p.K, p.M) if p.layout[0] == "T" else (p.M, p.K)
    b = (p.N, p.K) if p.layout[1] == "T" else (p.K, p.N)
    dtype = getattr(torch, p.dtype)
    return normal(*some, *a, dtype=dtype), normal(*some, *b, dtype=dtype)


def measure(bench: Bench, shape: Shape) -> dict[str, Any]:
    p = shape.problem
    a, b = operands(p)
    options = {"transpose_a": p.layout[0] == "T", "transpose_b": p.layout[1] == "T"}
    begin = time.perf_counter()
    func = ops.matmul.function(a, b, **options)
    compile_ms = 1e3 * (time.perf_counter() - begin)
    left, right = (one.mT if there else one for one, there in zip((a, b), options.values()))
    theirs = left @ right
    output = torch.full_like(theirs, float("nan"))
    func(a, b, output)
    error = peers = largest = 0.0
    rows = max(1, (1 << 28) // p.N)  # as much in float64 as there is room for
    for first in range(0, p.M, rows):
        some = (..., slice(first, first + rows), slice(None))
        exact = left[some].double() @ right.double()
        error = max(error, (output[some] - exact).abs().max().nan_to_num(torch.inf).item())
        peers = max(peers, (theirs[some] - exact).abs().max().item())
        largest = max(largest, exact.abs().max().item())
    ms, torch_ms = bench.medians_ms([lambda: func(a, b, output), lambda: left @ right])
    chosen = choose(p, find("H200"))
    return {
        "right": error <= 2 * peers + 1e-6 * largest,
        "error": error,
        "torch_error": peers,
        "ms": ms,
        "torch_ms": torch_ms,
        "of_torch": torch_ms / ms,
        "TFLOPs": 2.0 * p.batch * p.M * p.N * p.K / ms / 1e9,
        "TBs": 2.0 * p.batch * (p.M * p.K + p.N * p.K + p.M * p.N) / ms / 1e9,
        "compile_ms": round(compile_ms, 1),
        "choice": f"{chosen.schedule} {dict(chosen.options)}",
    }


if __name__ == "__main__":
    bench = Bench()
    named, *rest = [*sys.argv[2:], ""]
    suite, wanted = (SUITES[named], rest[0]) if named in SUITES else (shapes, named)
    ratios = {}
    for shape in suite():
        if wanted not in str(shape):
            continue
        try:
            bench.results[str(shape)] = result = measure(bench, shape)
            ratios[str(shape)] = result["of_torch"]
            print(
                f"{result['of_torch']:.3f} {shape} {result['choice']} {'' if result['right'] else 'WRONG'}", flush=True
            )
        except Exception as error:  # the other figures are still worth having
            bench.results[str(shape)] = f"{type(error).__name__}: {error}"
            print(shape, error, flush=True)
        torch.cuda.empty_cache()
    least = min(ratios, key=ratios.__getitem__)
    bench.results["all"] = {
        "shapes": len(ratios),
        "all_right": all(one["right"] for name, one in bench.results.items() if name in ratios),
        "geometric_mean_of_torch": statistics.geometric_mean(ratios.values()),
        "least_of_torch": {"ratio": ratios[least], "shape": least},
    }
    print(json.dumps(bench.results["all"], indent=1))
    Path(sys.argv[1]).write_text(json.dumps(bench.results, indent=1) + "\n")
