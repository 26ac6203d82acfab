"""How long a program takes from te to a cubin, by stage, and how long `import tilewright` takes.

`python bench/compile_time.py [OUT.json]`: the register-tiled GEMM of python/examples/03 at 4096 x 4096 x 4096 in
float32, built again and again in one process of which the first build only warms it up, and the import in processes of
their own. Medians, in milliseconds. No GPU is needed. What the figures are held against: 400 ms for each of the two.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parent.parent
SIZE = 4096


def example() -> ModuleType:
    """python/examples/03, which is no package."""
    (path,) = (ROOT / "python" / "examples").glob("03_*.py")
    spec = importlib.util.spec_from_file_location("register_tiled_gemm", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"expected a Python file, got {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def milliseconds(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.perf_counter()
    result = call()
    return (time.perf_counter() - begin) * 1e3, result


def spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": round(statistics.median(values), 2), "min": round(min(values), 2), "max": round(max(values), 2)}


def builds(repeat: int, arch: str) -> dict[str, Any]:
    """te to cubin. "expressions and schedule" is the user's Python, "te" the emission of its IR, "total" all of it."""
    import tilewright as tw

    gemm = example().sgemm
    rows: list[dict[str, float]] = []
    processors: list[float] = []
    for _ in range(repeat + 1):
        written, (schedule, args) = milliseconds(lambda: gemm(SIZE, SIZE, SIZE))
        target = tw.Target("cuda", arch=arch)
        processor = time.process_time()
        built, func = milliseconds(lambda: tw.build(schedule, args, target=target, name="sgemm", cache=False))
        processor = (time.process_time() - processor) * 1e3
        stages = {stage: seconds * 1e3 for stage, seconds in func.timings.items()}
        rest = built - sum(stages.values())
        rows.append({"expressions and schedule": written, **stages, "rest": rest, "total": written + built})
        processors.append(written + processor)
    cold, *warm = rows
    return {
        "total": spread([row["total"] for row in warm]),
        "total, time of the processor": spread(processors[1:]),
        "first build": round(cold["total"], 2),
        "by stage, medians": {
            part: round(statistics.median(row[part] for row in warm), 2) for part in cold if part != "total"
        },
    }


def imports(repeat: int) -> dict[str, float]:
    """`import tilewright` in a fresh process each, without the start of Python itself."""
    code = "import time; t = time.perf_counter(); import tilewright; print((time.perf_counter() - t) * 1e3)"
    return spread([float(subprocess.check_output([sys.executable, "-c", code], text=True)) for _ in range(repeat)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, help="a file for the figures beside standard output")
    parser.add_argument("--repeat", type=int, default=15, help="builds, and imports, that are timed (default: 15)")
    parser.add_argument("--arch", default="sm_90a", help="the architecture to compile for (default: sm_90a)")
    options = parser.parse_args()
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    figures = {
        "command": f"python bench/compile_time.py OUT.json --repeat {options.repeat} --arch {options.arch}",
        "commit": commit,
        "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine().replace('_', '-')}",
        "unit": "ms",
        "import tilewright": imports(options.repeat),
        f"te to cubin, sgemm {SIZE}^3, warm": builds(options.repeat, options.arch),
    }
    text = json.dumps(figures, indent=1)
    print(text)
    if options.out is not None:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
