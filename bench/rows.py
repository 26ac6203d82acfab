"""Benchmarks of rows, each measured in a process of its own and written when it is known."""

from __future__ import annotations

import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch


class Row:
    """What is known of a row, printed each time that more is known."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}

    def tell(self, **more: Any) -> None:
        self.found.update(more)
        print(json.dumps(self.found), flush=True)

    def attempt(self, name: str, part: Callable[[], None]) -> None:
        """A part of a row whose failure ends no other part."""
        try:
            part()
        except Exception as error:
            traceback.print_exc()
            self.tell(**{f"{name}_failed": f"{type(error).__name__}: {str(error)[:400]}"})


def medians(calls: Mapping[str, Callable[[], Any]], device: str = "cuda", rounds: int = 100) -> dict[str, float]:
    """The median milliseconds of each call: in each round all run once, in random order."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    order, generator = list(calls), random.Random(0)
    for number in range(rounds + 5):
        generator.shuffle(order)
        for name in order:
            if device == "cuda":
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                begin.record()
                calls[name]()
                end.record()
                end.synchronize()
                took = begin.elapsed_time(end)
            else:
                start = time.perf_counter()
                calls[name]()
                took = 1e3 * (time.perf_counter() - start)
            if number >= 5:
                times[name].append(took)
    return {f"{name}_ms": round(statistics.median(each), 5) for name, each in times.items()}


def error(got: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest error, over the largest element; NaN and infinity where only one of both has them are infinite."""
    got = got.double()
    if not torch.equal(got.isfinite(), exact.isfinite()):
        return float("inf")
    difference = torch.where(exact.isfinite(), got - exact, torch.zeros_like(exact)).abs().max()
    size = torch.where(exact.isfinite(), exact, torch.zeros_like(exact)).abs().max()
    return float(difference / size) if size > 0 else float(difference)


def about(target: str) -> dict[str, Any]:
    """What the rows were measured with."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    found: dict[str, Any] = {"command": " ".join(["python", *sys.argv]), "commit": commit, "torch": torch.__version__}
    if target == "cuda":
        from tilewright.runtime.cuda_driver import driver_version

        found |= {"device": torch.cuda.get_device_name(), "driver": driver_version()}
    return found


def run_rows(
    script: str, out: Path, names: Sequence[str], options: Sequence[str], seconds: float, head: Mapping[str, Any]
) -> dict[str, Any]:
    """Runs `script NAME --row OPTIONS...` for each name; returns the rows, which are in the file `out` as well."""
    end = time.monotonic() + seconds
    rows: dict[str, Any] = {}
    for name in names:
        left = end - time.monotonic()
        if left < 5:
            break
        with tempfile.TemporaryFile("w+") as printed, tempfile.TemporaryFile("w+") as log:
            command = [sys.executable, script, name, "--row", *options]
            try:
                code: Any = subprocess.run(
                    command, stdout=printed, stderr=log, timeout=left, check=False
                ).returncode  # fmt: skip
            except subprocess.TimeoutExpired:
                code = "out of time"
            printed.seek(0)
            log.seek(0)
            lines = [line for line in printed if line.startswith("{")]
            row: dict[str, Any] = json.loads(lines[-1]) if lines else {}
            if code != 0:
                row["failed"] = code if isinstance(code, str) else log.read()[-800:]
        rows[name] = row
        out.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")
        print(name, json.dumps(row), flush=True)
    return rows
