"""Whole models on the processor in float32: tw.compile beside eager PyTorch and, where it is installed, ONNX Runtime.

python bench/cpu_models.py OUT.json [--turns N] [--groups] [name ...]

Each row is a process of its own. Ours and the peers run by turns. "..._thread_ms" is the least time that the processor
gives to one thread, the only one that works: others on the machine change it little. "..._wall_ms" is the least time of
a clock with all processors. "of_eager" and "of_onnxruntime" are the peer's time over ours, the first of each with one
thread and the second with all. "compile_s" are seconds of a clock until the first result, and "compile_processor_s" of
the processor. "error" and "error_eager" are the largest differences from float64, over the largest element. With
--groups, "groups" has our groups in their order, with microseconds of one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import torch
from torch import nn

import models
import tilewright as tw


class Squeeze(nn.Module):
    """A gate for each channel, made of the means of all."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inner = max(8, (width // 4 + 4) // 8 * 8)
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, inner, 1), nn.ReLU(), nn.Conv2d(inner, width, 1), nn.Hardsigmoid()
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.gate(x)


class Inverted(nn.Module):
    """A block of MobileNetV3: wider, each channel by itself, narrower."""

    def __init__(self, size: int, given: int, inner: int, made: int, gates: bool, hard: bool, stride: int) -> None:
        super().__init__()
        act = nn.Hardswish if hard else nn.ReLU
        layers: list[nn.Module] = []
        if inner != given:
            layers += [nn.Conv2d(given, inner, 1, bias=False), nn.BatchNorm2d(inner), act()]
        layers += [nn.Conv2d(inner, inner, size, stride, size // 2, groups=inner, bias=False), nn.BatchNorm2d(inner)]
        layers += [act(), *([Squeeze(inner)] if gates else [])]
        layers += [nn.Conv2d(inner, made, 1, bias=False), nn.BatchNorm2d(made)]
        self.body, self.adds = nn.Sequential(*layers), given == made and stride == 1

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.body(x) if self.adds else self.body(x)


# Filter, inner and made channels, gates, hardswish and stride of MobileNetV3-Large's blocks.
_BLOCKS = (
    (3, 16, 16, 0, 0, 1), (3, 64, 24, 0, 0, 2), (3, 72, 24, 0, 0, 1), (5, 72, 40, 1, 0, 2), (5, 120, 40, 1, 0, 1),
    (5, 120, 40, 1, 0, 1), (3, 240, 80, 0, 1, 2), (3, 200, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1), (3, 184, 80, 0, 1, 1),
    (3, 480, 112, 1, 1, 1), (3, 672, 112, 1, 1, 1), (5, 672, 160, 1, 1, 2), (5, 960, 160, 1, 1, 1),
    (5, 960, 160, 1, 1, 1),
)  # fmt: skip


def mobilenet() -> nn.Module:
    """MobileNetV3-Large."""
    layers: list[nn.Module] = [nn.Conv2d(3, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish()]
    given = 16
    for size, inner, made, gates, hard, stride in _BLOCKS:
        layers.append(Inverted(size, given, inner, made, bool(gates), bool(hard), stride))
        given = made
    layers += [nn.Conv2d(given, 960, 1, bias=False), nn.BatchNorm2d(960), nn.Hardswish(), nn.AdaptiveAvgPool2d(1)]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(960, 1280), nn.Hardswish(), nn.Linear(1280, 1000))


class Words(nn.Module):
    """Two layers of LSTM behind an embedding."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.lstm = nn.Embedding(10000, 256), nn.LSTM(256, 512, 2, batch_first=True)
        self.head = nn.Linear(512, 1000)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(self.words(ids))[0])


def mlp() -> nn.Module:
    """Three layers."""
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


ROWS = ("resnet50 b1", "bert 1x128", "gpt2 1x128", "mobilenetv3 b1", "mlp b1", "mlp b64", "lstm 1x64")


def made(name: str) -> tuple[nn.Module, torch.Tensor]:
    """A model and its input."""
    torch.manual_seed(0)
    kind, size = name.split()
    if kind == "mobilenetv3":
        return mobilenet(), torch.randn(int(size[1:]), 3, 224, 224)
    if kind == "mlp":
        return mlp(), torch.randn(int(size[1:]), 784)
    if kind == "lstm":
        batch, length = map(int, size.split("x"))
        return Words(), torch.randint(10000, (batch, length))
    return models.made(name, False)


def least(calls: dict[str, Callable[[], object]], now: Callable[[], float], turns: int) -> dict[str, float]:
    """The least milliseconds of each call, by turns; at most five seconds each."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        call()
    end = time.monotonic() + 5 * len(calls)
    for turn in range(turns):
        for name, call in calls.items():
            begin = now()
            call()
            found[name].append(now() - begin)
        if time.monotonic() > end and turn > 3:
            break
    return {name: round(1e3 * min(times), 4) for name, times in found.items()}


def onnxruntime_calls(module: nn.Module, x: torch.Tensor, threads: int) -> dict[str, Callable[[], object]]:
    """A call of ONNX Runtime; none where it is not installed."""
    try:
        import onnxruntime
    except ImportError:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        torch.onnx.export(module, (x,), f"{folder}/model.onnx", dynamo=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(f"{folder}/model.onnx", options, providers=["CPUExecutionProvider"])
    feed = {session.get_inputs()[0].name: x.numpy()}
    return {"onnxruntime": lambda: session.run(None, feed)}


def run_row(name: str, turns: int, groups: bool) -> dict[str, Any]:
    module, x = made(name)
    module = module.eval()
    row: dict[str, Any] = {}
    begin, begin_processor = time.perf_counter(), time.process_time()
    model = tw.compile(module, (x,), target="cpu")
    with torch.no_grad():
        got = model(x)
        row["compile_s"] = round(time.perf_counter() - begin, 2)
        row["compile_processor_s"] = round(time.process_time() - begin_processor, 2)
        exact = deepcopy(module).double()(x.double() if x.is_floating_point() else x)
        size = exact.abs().max()
        row["error"], row["error_eager"] = (float((one - exact).abs().max() / size) for one in (got, module(x)))
        processors = len(os.sched_getaffinity(0))
        for threads, now, unit in ((1, time.thread_time, "thread"), (processors, time.perf_counter, "wall")):
            torch.set_num_threads(threads)
            tw.set_num_threads(threads)
            calls = {"ours": lambda: model(x), "eager": lambda: module(x), **onnxruntime_calls(module, x, threads)}
            found = least(calls, now, turns)
            row |= {f"{peer}_{unit}_ms": ms for peer, ms in found.items()}
            for peer in list(found)[1:]:
                row.setdefault(f"of_{peer}", []).append(round(found[peer] / found["ours"], 3))
        if groups:
            tw.set_num_threads(1)
            profile = model.profile(x, repeat=5)
            row["groups"] = [[one.group.name, round(1e6 * one.seconds, 1), one.operations] for one in profile.groups]
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("names", nargs="*", default=list(ROWS))
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--groups", action="store_true")
    parser.add_argument("--row", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_intermixed_args()
    if given.row:
        print(json.dumps(run_row(given.out, given.turns, given.groups)), flush=True)
        return
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    told: dict[str, Any] = {
        "command": f"python bench/cpu_models.py {Path(given.out).name} --turns {given.turns}",
        "commit": commit,
        "device": processor(),
        "processors": len(os.sched_getaffinity(0)),
        "torch": torch.__version__,
        "rows": {},
    }
    for name in given.names:
        command = [sys.executable, __file__, name, "--row", "--turns", str(given.turns)]
        command += ["--groups"] if given.groups else []
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = [line for line in ran.stdout.splitlines() if line.startswith("{")]
        row = json.loads(lines[-1]) if lines else {"failed": ran.stderr[-600:]}
        row["load"] = round(os.getloadavg()[0], 1)
        told["rows"][name] = row
        Path(given.out).write_text(json.dumps(told, indent=1) + "\n")
        print(name, json.dumps(row), flush=True)


def processor() -> str:
    """The name of the processor."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown"


if __name__ == "__main__":
    main()
