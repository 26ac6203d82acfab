"""Random ONNX graphs against ONNX's reference in double precision: with all passes, and without one of them.

`python bench/fuzz_graphs.py OUT.json FIRST COUNT [--target cpu] [--seconds S]`: the seeds from FIRST on, in one
process. Every other seed leaves a pass out. The file has the counts, the operators that were in the graphs, and each
seed that went wrong with its error. The graphs are those of test/python/models/random_graphs.py.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "python" / "models"))  # bench/models.py has the name of the folder


def run(seed: int, target: str, operators: Counter[str]) -> str:
    """What is wrong with a seed's results, "" where they are right."""
    from random_graphs import RandomGraph

    from tilewright.graph import PASSES, compile_graph
    from tilewright.onnx import import_onnx

    graph = RandomGraph(seed)
    operators.update(node.op_type for node in graph.nodes)
    without = () if seed % 2 else (PASSES[seed // 2 % len(PASSES)],)
    try:
        results = compile_graph(import_onnx(graph.model()), target, without)(*graph.arguments())
        graph.check(results if isinstance(results, tuple) else (results,))
    except Exception as error:
        left_out = f"without {without[0]}: " if without else ""
        return f"{left_out}{type(error).__name__}: {error}"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=ROOT)
    operators: Counter[str] = Counter()
    wrong: dict[int, str] = {}
    begin = time.monotonic()
    for seed in range(options.first, options.first + options.count):
        options.out.with_suffix(".at").write_text(str(seed))  # for a process that dies
        if error := run(seed, options.target, operators):
            wrong[seed] = error
            print(seed, error[:1500], flush=True)
        done = time.monotonic() - begin
        if seed % 20 == 0 or seed + 1 == options.first + options.count or done > options.seconds:
            found = {
                "command": f"python bench/fuzz_graphs.py {options.out.name} {options.first} {options.count} "
                f"--target {options.target}",
                "commit": commit.stdout.strip(),
                "seeds": [options.first, seed + 1],
                "right": seed + 1 - options.first - len(wrong),
                "wrong": wrong,
                "seconds": round(done),
                "processor seconds": round(time.process_time()),
                "operators": dict(operators.most_common()),
            }
            options.out.write_text(json.dumps(found, indent=1) + "\n")
        if done > options.seconds:
            break
    options.out.with_suffix(".at").unlink()


if __name__ == "__main__":
    main()
