"""What the scoreboards share: cases that are run in shards, each a process, and the rows of a page."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

__all__ = ["read_command", "rows", "told"]


def read_command(
    tool: str, description: str | None, run_shard: Callable[[int, int, str, int, str], None]
) -> Callable[[], dict[str, str]] | None:
    """Reads the command line of a `tool`. In a process for one shard this runs the shard, and returns None. Else it
    returns what runs all shards, and gives the result of every case that is run in time. With --out, it runs them
    itself, writes that file, and returns None."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--only", default=".")
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--target", default="cpu", help="what the cases are compiled for")
    parser.add_argument("--out", type=Path, help="a file for the results, in place of the page and its data")
    parser.add_argument("--shard", help=argparse.SUPPRESS)
    parser.add_argument("--skip", type=int, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.target != "cpu" and not (options.shard or options.out):
        parser.error("the page is of target cpu: expected --out with another target")
    if options.shard:
        number, shards = map(int, options.shard.split("/"))
        run_shard(number, shards, options.only, options.skip, options.target)
        return None
    rest = ["--only", options.only, "--target", options.target]
    if not options.out:
        return lambda: _collect(tool, options.shards, rest, options.minutes)
    results = _collect(tool, options.shards, rest, options.minutes)
    report = {
        "command": f"python {' '.join([Path(tool).name, *sys.argv[1:]])}",
        "target": options.target,
        "counts": dict(Counter(result.split(":")[0] for result in results.values())),
        "what does not pass": {
            name: one for name, one in sorted(results.items()) if not one.startswith(("passes", "out"))
        },
    }
    options.out.write_text(json.dumps(report, indent=1) + "\n")
    print(report["counts"])
    return None


def _collect(tool: str, shards: int, rest: list[str], minutes: float) -> dict[str, str]:
    end = time.monotonic() + 60 * minutes
    with ThreadPoolExecutor(shards) as pool:
        parts = pool.map(lambda number: _collect_shard(tool, f"{number}/{shards}", rest, end), range(shards))
        return {name: result for part in parts for name, result in part.items()}


def _collect_shard(tool: str, shard: str, rest: list[str], end: float) -> dict[str, str]:
    results: dict[str, str] = {}
    skip = 0
    while True:
        process = _start(tool, shard, rest, skip)
        position, name = -1, ""
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith("{"):
                continue
            said = json.loads(line)
            if "result" in said:
                results[said["name"]] = said["result"]
                print(said["name"], said["result"][:200], flush=True)
            else:
                position, name = said["position"], said["name"]
            if time.monotonic() > end:
                process.kill()
                return results
        if process.wait() == 0 or not name:
            return results
        results[name], skip = "fails: ends the process", position + 1
        print(name, results[name], flush=True)


def _start(tool: str, shard: str, rest: list[str], skip: int) -> subprocess.Popen[str]:
    command = [sys.executable, tool, "--shard", shard, *rest, "--skip", str(skip)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def told(error: BaseException) -> str:
    """The result of a case that raises: "refused" where the compiler says why."""
    from tilewright import TilewrightError

    if isinstance(error, TilewrightError):
        return f"refused: {str(error).splitlines()[0]}"
    return "wrong" if isinstance(error, AssertionError) else f"fails: {type(error).__name__}"


def rows(results: Mapping[str, str], passes: tuple[str, ...]) -> list[str]:
    """The rows of a table of what does not pass: by result, the names of the cases, the most frequent result first."""
    rest: dict[str, list[str]] = {}
    for name, result in sorted(results.items()):
        if not result.startswith(passes):
            rest.setdefault(result.replace("|", "/"), []).append(name)
    return [f"| {why} | {', '.join(names)} |" for why, names in sorted(rest.items(), key=lambda row: -len(row[1]))]
