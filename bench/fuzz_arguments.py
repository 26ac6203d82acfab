"""Random arguments of calls, for as long as there is time: never a crash, always the right answer.

    nice -n 19 python bench/fuzz_arguments.py arguments OUT.json [--first 0] [--seconds 7200] [--at-once 20000]

`arguments` are arrays, `numbers` numbers, `parameters` tuples, shapes, addresses and what is left out, `tensors` those
of DLPack by the C ABI (test/python/fuzz/test_*.py, which say what is right). What went wrong stands in OUT.json, with
the first seed of those that ran with it; the exit status is 1 then.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "python"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["arguments", "numbers", "parameters", "tensors"])
    parser.add_argument("out", type=Path, help="the file of results")
    parser.add_argument("--first", type=int, default=0, help="the first seed (default: 0)")
    parser.add_argument("--seconds", type=float, default=7200, help="how long (default: 7200)")
    parser.add_argument("--at-once", type=int, default=20_000, help="seeds between two looks at the clock")
    options = parser.parse_args()
    check = importlib.import_module(f"fuzz.test_{options.what}").check
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True)
    begin, at, wrong = time.monotonic(), options.first, dict[int, str]()
    while time.monotonic() - begin < options.seconds:
        try:
            check(range(at, at + options.at_once))
        except AssertionError as error:
            wrong[at] = str(error)[:3000]
            print(at, wrong[at], flush=True)
        at += options.at_once
        figures = {
            "command": f"python bench/fuzz_arguments.py {' '.join(sys.argv[1:])}",
            "commit": commit.stdout.strip(),
            "seeds": [options.first, at - 1],
            "seconds": round(time.monotonic() - begin),
            "processor seconds": round(time.process_time()),
            "went wrong": wrong,
        }
        options.out.write_text(json.dumps(figures, indent=1) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
