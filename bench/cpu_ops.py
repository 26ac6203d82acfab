"""Operations of tw.ops on the processor, of random shapes in float32, beside eager PyTorch.

python bench/cpu_ops.py OUT.json --seed N [--count N] [--kinds KIND,...] [--seconds N]

Which shapes there are depends on the seed and the kind alone. "thread_ms" are the least times of one thread, the only
one that works, ours and PyTorch's: others on the machine change them little. "wall_ms" are the least times of a clock
with all processors. "speed" are PyTorch's times over ours, of the first and of the second. "compile_s" are seconds of
the processor until the first result. "error" is the largest difference from float64, over the largest element;
"error_eager" is PyTorch's. "kinds" has the geometric mean of the speeds of each kind, and the least one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import subprocess
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from cpu_models import processor
from torch.nn import functional as F

import tilewright as tw
from tilewright import ops

Draw = Callable[[random.Random], "Case"]


@dataclass
class Case:
    """An operation of tw.ops on arrays of such shapes, and PyTorch's. Arrays of integers are below their bounds."""

    name: str
    shapes: list[tuple[int, ...]]
    options: dict[str, Any]
    eager: Callable[..., Any]
    bounds: dict[int, int] = field(default_factory=dict)

    def __str__(self) -> str:
        text = ", ".join("x".join(map(str, shape)) for shape in self.shapes)
        return f"{self.name} {text}" + "".join(f" {name}={value}" for name, value in self.options.items())

    def arrays(self) -> list[torch.Tensor]:
        torch.manual_seed(0)
        return [
            torch.randint(self.bounds[place], shape) if place in self.bounds else torch.randn(shape)
            for place, shape in enumerate(self.shapes)
        ]


def between(rng: random.Random, low: float, high: float, multiple: int = 1) -> int:
    """A number whose logarithm is as likely as any other."""
    return max(multiple, int(math.exp(rng.uniform(math.log(low), math.log(high)))) // multiple * multiple)


def shape_of(rng: random.Random, rank: int, low: int = 10_000, high: int = 4_000_000) -> tuple[int, ...]:
    """Extents of so many elements."""
    if rank == 1:
        return (between(rng, low, high),)
    while True:
        shape = tuple(between(rng, 2, 5000) for _ in range(rank))
        if low <= math.prod(shape) <= high:
            return shape


def elementwise(rng: random.Random) -> Case:
    name = rng.choice(("add", "gelu", "relu", "sigmoid", "silu", "tanh"))
    shape = shape_of(rng, 2 if name == "gelu" else rng.choice((1, 2, 3)))
    eager = {"add": torch.add, "gelu": F.gelu, "relu": F.relu, "sigmoid": torch.sigmoid, "silu": F.silu}
    return Case(name, [shape] * (2 if name == "add" else 1), {}, eager.get(name, torch.tanh))


def reductions(rng: random.Random) -> Case:
    shape = shape_of(rng, rng.choice((1, 2, 3, 4)))
    axis = tuple(sorted(rng.sample(range(len(shape)), rng.randint(1, min(2, len(shape))))))
    name = rng.choice(("sum", "mean", "max", "min"))
    eager = {"sum": torch.sum, "mean": torch.mean, "max": torch.amax, "min": torch.amin}[name]
    return Case(name, [shape], {"axis": axis}, lambda x: eager(x, axis))


def norms(rng: random.Random) -> Case:
    name = rng.choice(("layer_norm", "rms_norm", "group_norm", "batch_norm"))
    if name in ("layer_norm", "rms_norm"):
        shape = shape_of(rng, 2)
        if name == "layer_norm":
            return Case(name, [shape, shape[1:], shape[1:]], {}, lambda x, w, b: F.layer_norm(x, shape[1:], w, b))
        return Case(name, [shape, shape[1:]], {}, lambda x, w: F.rms_norm(x, shape[1:], w, 1e-5))
    channels, size = between(rng, 8, 256, 8), between(rng, 7, 112)
    shape = (rng.choice((1, 2, 8)), channels, size, size)
    own = (channels,)
    if name == "group_norm":
        return Case(
            name, [shape, own, own], {"groups": 8}, lambda x, w, b: F.group_norm(x, 8, w, b),
        )  # fmt: skip
    return Case(
        name, [shape, own, own, own, own], {}, lambda x, mean, variance, w, b: F.batch_norm(x, mean, variance, w, b)
    )


def softmax(rng: random.Random) -> Case:
    name = rng.choice(("softmax", "log_softmax", "cross_entropy"))
    shape = shape_of(rng, 2)
    if name == "cross_entropy":
        return Case(name, [shape, shape[:1]], {}, lambda x, y: F.cross_entropy(x, y, reduction="none"), {1: shape[1]})
    axis = rng.choice((0, 1, 1))
    eager = torch.softmax if name == "softmax" else torch.log_softmax
    return Case(name, [shape], {"axis": axis}, lambda x: eager(x, axis))


def places(rng: random.Random) -> Case:
    name, shape = rng.choice(("argmax", "argmin")), shape_of(rng, rng.choice((1, 2, 3)))
    axis = rng.randrange(len(shape))
    eager = getattr(torch, name)
    return Case(name, [shape], {"axis": axis}, lambda x: eager(x, axis))


def cumsum(rng: random.Random) -> Case:
    shape = shape_of(rng, rng.choice((1, 2, 3)))
    axis = rng.randrange(len(shape))
    return Case("cumsum", [shape], {"axis": axis}, lambda x: torch.cumsum(x, axis))


def top_k(rng: random.Random) -> Case:
    shape = shape_of(rng, 2, high=1_000_000)
    k = min(shape[1], between(rng, 1, 200))
    return Case("top_k", [shape], {"k": k}, lambda x: torch.topk(x, k))


def sort(rng: random.Random) -> Case:
    shape = shape_of(rng, 2, high=500_000)
    return Case("top_k", [shape], {"k": shape[1]}, lambda x: torch.sort(x, dim=1, descending=True, stable=True))


def _convolution(rng: random.Random, kind: str) -> Case:
    """Images of one to three dimensions as those of networks, with few enough multiplications for a processor."""
    while True:
        rank = rng.choice((1, 2, 2, 2, 3))
        size, kernel = between(rng, 7, {1: 4000, 2: 224, 3: 32}[rank]), rng.choice((1, 3, 3, 5, 7))
        channels, filters, batch = between(rng, 3, 256), between(rng, 8, 256), rng.choice((1, 1, 1, 4))
        stride, groups = rng.choice((1, 1, 2)), 1
        if kind == "grouped":
            groups = rng.choice((2, 4, 8))
            channels, filters = (max(groups, one // groups * groups) for one in (channels, filters))
        elif kind == "depthwise":
            filters = groups = channels
        if size >= kernel and batch * size**rank * channels * filters // groups * kernel**rank <= 5e8:
            break
    x = (batch, channels, *(size,) * rank)
    options = {"stride": stride, "padding": kernel // 2, "groups": groups}
    if kind == "transposed":
        w, name = (channels, filters, *(kernel,) * rank), "conv_transpose"
    else:
        w, name = (filters, channels // groups, *(kernel,) * rank), "conv"
    eager = getattr(F, f"{name}{rank}d")
    return Case(name, [x, w], options, lambda x, w: eager(x, w, **options))


def pools(rng: random.Random) -> Case:
    name, rank = rng.choice(("max_pool", "avg_pool")), rng.choice((1, 2, 2, 3))
    shape = (rng.choice((1, 4)), between(rng, 8, 128), *(between(rng, 7, {1: 4000, 2: 112, 3: 24}[rank]),) * rank)
    kernel, stride = rng.choice(((2, 2), (3, 2), (3, 1), (3, 3)))
    options = {"kernel": kernel, "stride": stride, "padding": kernel // 2 if kernel == 3 else 0}
    eager = getattr(F, f"{name}{rank}d")
    return Case(name, [shape], options, lambda x: eager(x, kernel, stride, options["padding"]))


def matmul(rng: random.Random) -> Case:
    while True:
        m, n, k = (between(rng, 8, 2048) for _ in "mnk")
        if 1e6 <= m * n * k <= 3e8:
            break
    how = rng.choice(({}, {}, {"transpose_a": True}, {"transpose_b": True}))
    shapes = [(k, m) if "transpose_a" in how else (m, k), (n, k) if "transpose_b" in how else (k, n)]
    return Case(
        "matmul", shapes, how,
        lambda a, b: (a.T if "transpose_a" in how else a) @ (b.T if "transpose_b" in how else b),
    )  # fmt: skip


def vectors(rng: random.Random) -> Case:
    rows, columns = shape_of(rng, 2, 100_000, 16_000_000)
    if rng.random() < 0.5:
        return Case("matvec", [(rows, columns), (columns,)], {}, torch.mv)
    return Case("vecmat", [(rows,), (rows, columns)], {}, lambda x, b: x @ b)


def moves(rng: random.Random) -> Case:
    name = rng.choice(("permute", "concatenate", "pad", "gather", "embedding"))
    shape = shape_of(rng, rng.choice((2, 3, 4)))
    if name == "permute":
        axes = tuple(rng.sample(range(len(shape)), len(shape)))
        return Case(name, [shape], {"axes": axes}, lambda x: x.permute(axes).contiguous())
    axis = rng.randrange(len(shape))
    if name == "concatenate":
        other = tuple(between(rng, 2, 100) if d == axis else extent for d, extent in enumerate(shape))
        return Case(name, [shape, other], {"axis": axis}, lambda a, b: torch.cat([a, b], axis))
    if name == "pad":
        before, after = ([rng.randrange(4) for _ in shape] for _ in "ba")
        pairs = [one for pair in reversed(list(zip(before, after))) for one in pair]
        return Case(name, [shape], {"before": tuple(before), "after": tuple(after)}, lambda x: F.pad(x, pairs))
    if name == "gather":
        count = between(rng, 2, 1000)
        return Case(
            name, [shape, (count,)], {"axis": axis}, lambda x, i: torch.index_select(x, axis, i), {1: shape[axis]}
        )
    table = shape_of(rng, 2)
    return Case(name, [table, (between(rng, 10, 4000),)], {}, lambda x, i: F.embedding(i, x), {1: table[0]})


KINDS: dict[str, Draw] = {
    "elementwise": elementwise, "reductions": reductions, "norms": norms, "softmax": softmax, "argmax": places,
    "cumsum": cumsum, "top_k": top_k, "sort": sort, "convolutions": lambda rng: _convolution(rng, "plain"),
    "grouped convolutions": lambda rng: _convolution(rng, "grouped"),
    "depthwise convolutions": lambda rng: _convolution(rng, "depthwise"),
    "transposed convolutions": lambda rng: _convolution(rng, "transposed"), "pools": pools, "matmul": matmul,
    "matrix and vector": vectors, "moves": moves,
}  # fmt: skip


def least(call: Callable[[], object], now: Callable[[], float], seconds: float = 0.3) -> float:
    """The least milliseconds of a call. Threads of others, which look for work for a while, have ended by then."""
    time.sleep(0.02)
    call()
    times: list[float] = []
    end = time.monotonic() + seconds
    while len(times) < 4 or (len(times) < 60 and time.monotonic() < end):
        begin = now()
        call()
        times.append(now() - begin)
    return round(1e3 * min(times), 4)


def error(got: Any, exact: Any) -> float:
    """The largest difference, over the largest element; of the first of several results, which are in order."""
    one, right = ((value[0] if isinstance(value, tuple) else value).double() for value in (got, exact))
    return float((one - right).abs().max() / right.abs().max().clamp(min=1e-30))


def measure(case: Case) -> dict[str, Any]:
    """What is known of a case."""
    arrays = case.arrays()
    if case.name == "batch_norm":
        arrays[2] = arrays[2].abs() + 0.5
    operation = getattr(ops, case.name)

    def ours() -> Any:
        return operation(*arrays, **case.options, target="cpu")

    def eager() -> Any:
        return case.eager(*arrays)

    begin = time.process_time()
    got = ours()
    row: dict[str, Any] = {"compile_s": round(time.process_time() - begin, 2)}
    exact = case.eager(*(one.double() if one.is_floating_point() else one for one in arrays))
    row |= {"error": error(got, tuple(exact) if isinstance(got, tuple) else exact)}
    want = eager()
    row |= {"error_eager": error(tuple(want) if isinstance(got, tuple) else want, exact), "speed": []}
    processors = len(os.sched_getaffinity(0))
    for threads, now, unit in ((1, time.thread_time, "thread"), (processors, time.perf_counter, "wall")):
        torch.set_num_threads(threads)
        tw.set_num_threads(threads)
        mine, theirs = least(ours, now), least(eager, now)
        row[f"{unit}_ms"] = [mine, theirs]
        row["speed"].append(round(theirs / mine, 3))
    return row


def summary(rows: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """By kind, the geometric mean of the speeds and the least, with one thread and with all."""
    found: dict[str, Any] = {}
    for kind in dict.fromkeys(row["kind"] for row in rows.values()):
        speeds = [row["speed"] for row in rows.values() if row["kind"] == kind and len(row.get("speed", ())) == 2]
        if speeds:
            means = [round(math.exp(sum(map(math.log, each)) / len(each)), 2) for each in zip(*speeds)]
            found[kind] = {"mean": means, "least": [round(min(each), 2) for each in zip(*speeds)], "cases": len(speeds)}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--kinds", default="")
    parser.add_argument("--seconds", type=float, default=3600)
    given = parser.parse_args()
    kinds = given.kinds.split(",") if given.kinds else list(KINDS)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    told: dict[str, Any] = {
        "command": f"python bench/cpu_ops.py {Path(given.out).name} --seed {given.seed} --count {given.count}",
        "commit": commit, "device": processor(), "processors": len(os.sched_getaffinity(0)),
        "torch": torch.__version__, "kinds": {}, "rows": {},
    }  # fmt: skip
    end = time.monotonic() + given.seconds
    drawn = {kind: random.Random(f"{given.seed} {kind}") for kind in kinds}
    for _ in range(given.count):
        for kind, rng in drawn.items():
            case = KINDS[kind](rng)
            if time.monotonic() > end:
                continue
            row: dict[str, Any] = {"kind": kind}
            try:
                row |= measure(case)
            except Exception as failure:
                traceback.print_exc()
                row["failed"] = f"{type(failure).__name__}: {str(failure)[:400]}"
            row["load"] = round(os.getloadavg()[0], 1)
            told["rows"][str(case)] = row
            told["kinds"] = summary(told["rows"])
            Path(given.out).write_text(json.dumps(told, indent=1) + "\n")
            print(case, json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
