"""Each pass alone on changed IR: counts, and the seeds that end a process, with the IR (base64).

nice -n 19 python bench/fuzz_passes.py --hours 1 --json bench/results/fuzz-passes.json
python bench/fuzz_passes.py --seed 1234          # one case again, through tilewright-opt
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "test" / "python"))

from fuzz.alone import ROOT, case_of, opt, run_seeds, where

CHUNK = 200


def again(seed: int, keep: str | None) -> None:
    """Runs the case of a seed pass by pass, and shows what became of each."""
    name, content, pipelines = case_of(seed)
    if keep:
        Path(keep).write_bytes(content)
    print(f"{seed}: {name}")
    for pipeline in ("", *pipelines):
        status, said = opt(content, pipeline)
        print(f"{status:5} {pipeline}  {where(said) if status < 0 else ''}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hours", type=float, default=1.0)
    parser.add_argument("--count", type=int, help="so many seeds, instead of hours")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, help="one case again")
    parser.add_argument("--keep", help="with --seed: writes its IR there")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.seed is not None:
        again(options.seed, options.keep)
        return
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout.strip()
    begin, first = time.time(), options.first
    counts: Counter[str] = Counter()
    found: dict[str, list[dict[str, object]]] = {}
    last = sys.maxsize if options.count is None else first + options.count
    while first < last if options.count else time.time() < begin + 3600 * options.hours:
        for crash in run_seeds(range(first, min(first + CHUNK, last)), counts):
            said = crash.signal
            # What is said of the place is the tool's, whose library names its functions.
            if crash.signal.startswith("SIG") and crash.signal != "SIGVTALRM":
                status, told = opt(case_of(crash.seed)[1], crash.pipeline)
                said = f"{crash.signal} {where(told)}" if status < 0 else f"{crash.signal}, not in tilewright-opt"
            if not crash.pipeline:
                said = f"while reading: {said}"
            cases = found.setdefault(f"{said}", [])
            if len(cases) < 5:
                # Seeds are of the inputs of the day; the IR stays what it is.
                changed = base64.b64encode(case_of(crash.seed)[1]).decode()
                cases.append({"seed": crash.seed, "input": crash.name, "pipeline": crash.pipeline, "ir": changed})
                print(crash.seed, crash.name, crash.pipeline, said, flush=True)
        first = min(first + CHUNK, last)
        if options.json:
            figures = {
                "command": " ".join(["python", "bench/fuzz_passes.py", *sys.argv[1:]]), "commit": commit,
                "seconds": round(time.time() - begin), "processor seconds": round(sum(os.times()[:4])),
                "seeds": [options.first, first - 1], "counts": dict(counts),
                "crashes": dict(sorted(found.items())),
            }  # fmt: skip
            options.json.write_text(json.dumps(figures, indent=1) + "\n")
    print(dict(counts))


if __name__ == "__main__":
    main()
