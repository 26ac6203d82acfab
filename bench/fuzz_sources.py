"""Random expressions as printed CUDA: run on this machine by g++, compiled by NVRTC, compared with the simulator.

    nice -n 19 python bench/fuzz_sources.py OUT.json [--first 0] [--count 2000] [--at-once 50]

A seed makes a program with operators of every kind on elements of every type, and in indices, and a schedule for it
(test/python/fuzz/expressions.py). The simulator runs the program's kernel. The kernel that `source("cuda")` prints is
compiled by g++ and run on the same data, and has to compute the same; NVRTC compiles it for a GPU. A seed that went
wrong stands in OUT.json with its program and the error; the exit status is 1 then. A seed is declined if the generator
wrote a number that the type beside it does not have.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "python"))
GENERATORS = [ROOT / "test" / "python" / "fuzz" / f"{name}.py" for name in ("choices", "expressions", "printed")]


def digest() -> str:
    """Of what makes programs and schedules of seeds."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in GENERATORS)).hexdigest()[:16]


def main() -> int:
    from fuzz.printed import Printed, compare, compile_for_gpu, make

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="the file of results")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--count", type=int, default=2000, help="how many (default: 2000)")
    parser.add_argument("--at-once", type=int, default=50, help="how many g++ compiles together (default: 50)")
    options = parser.parse_args()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    counts: Counter[str] = Counter()
    wrong: dict[str, Any] = {}
    since, generators = time.monotonic(), digest()
    end = options.first + options.count
    for first in range(options.first, end, options.at_once):
        programs: list[Printed] = []
        for seed in range(first, min(first + options.at_once, end)):
            try:
                made = make(seed)
            except Exception as error:
                # A constant that the generator folded from others may be none of its type, which te refuses.
                if isinstance(error, ValueError) and str(error).endswith(", which it does not have"):
                    counts["declined"] += 1
                    continue
                wrong[f"seed{seed}"] = {"error": f"{type(error).__name__}: {error}"}
                continue
            if isinstance(made, Printed):
                programs.append(made)
            else:
                counts["refused"] += 1
        with tempfile.TemporaryDirectory() as folder:
            found = {name: f"g++: {why}" for name, why in compare(programs, Path(folder)).items()}
        found.update({name: f"NVRTC: {why}" for name, why in compile_for_gpu(programs).items()})
        texts = {program.name: program.text for program in programs}
        wrong.update({name: {"error": why, "program": texts[name]} for name, why in found.items()})
        counts["right"] += len(programs) - len(found)
        counts["wrong"] = len(wrong)
        figures = {
            "command": f"python bench/fuzz_sources.py {' '.join(sys.argv[1:])}",
            "commit": commit.stdout.strip(),
            "generators": generators,
            "seeds": f"{options.first} to {min(first + options.at_once, end) - 1}",
            "counts": dict(sorted(counts.items())),
            "seconds": round(time.monotonic() - since, 1),
            "processor seconds": round(sum(os.times()[:4])),  # of the compilers as well
            "went wrong": wrong,
        }
        options.out.write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(dict(counts)))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
