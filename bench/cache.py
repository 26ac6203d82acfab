"""How long a new process takes to build a kernel that another one has compiled before.

`python bench/cache.py [OUT.json]`: the register-tiled GEMM of python/examples/03 in processes of their own, all on one
fresh cache, which the first fills. Milliseconds after `import tilewright`: "expressions and schedule" is the user's
Python, "build" is `tw.build`. No GPU is needed. What the figures are held against: 10 ms for a build.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from compile_time import ROOT, SIZE, example, milliseconds


def one() -> dict[str, float | bool]:
    """The build in this process, with the cache that the environment names."""
    gemm = example().sgemm

    import tilewright as tw

    target = tw.Target("cuda", arch="sm_90a")
    written, (schedule, args) = milliseconds(lambda: gemm(SIZE, SIZE, SIZE))
    built, function = milliseconds(lambda: tw.build(schedule, args, target=target, name="sgemm"))
    return {"expressions and schedule": round(written, 2), "build": round(built, 2), "hit": function.cache_hit}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, help="a file for the figures beside standard output")
    parser.add_argument("--repeat", type=int, default=15, help="processes that find the kernel (default: 15)")
    parser.add_argument("--one", action="store_true", help="one build in this process")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(one()))
        return
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TILEWRIGHT_CACHE": "on", "TILEWRIGHT_CACHE_DIR": folder}
        command = [sys.executable, __file__, "--one"]
        runs = [
            json.loads(subprocess.check_output(command, env=environment, text=True)) for _ in range(options.repeat + 1)
        ]
    first, *rest = runs
    assert not first["hit"] and all(run["hit"] for run in rest)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    figures = {
        "command": f"python bench/cache.py OUT.json --repeat {options.repeat}",
        "commit": commit.stdout.strip(),
        "unit": "ms",
        "compiled": {name: first[name] for name in ("expressions and schedule", "build")},
        "found, medians": {
            name: round(statistics.median(run[name] for run in rest), 2)
            for name in ("expressions and schedule", "build")
        },
        "found, longest build": max(run["build"] for run in rest),
    }
    text = json.dumps(figures, indent=1)
    print(text)
    if options.out is not None:
        options.out.write_text(text + "\n")


if __name__ == "__main__":
    main()
