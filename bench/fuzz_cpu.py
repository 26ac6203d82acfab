"""Random programs of target cpu, without a schedule and with random ones that it follows: each is exact, or refused.

`python bench/fuzz_cpu.py OUT.json FIRST COUNT [SECONDS]`: the seeds from FIRST on, in one process, at most so many
seconds. The file has the counts, and each seed that went wrong with its error. The schedules are those of the fuzzer
for GPUs (test/python/fuzz), with parallel loops in place of blocks and threads (test/python/fuzz/processor.py).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "python"))


def run(seed: int) -> tuple[str, str]:
    """What became of a seed: "right", "refused" or "wrong", and why."""
    from fuzz.check import check, is_clear
    from fuzz.choices import Choices, Seeded
    from fuzz.processor import for_processor
    from fuzz.programs import random_program
    from fuzz.schedules import Scheduler
    from tilewright import ScheduleError, te

    choices = Choices(Seeded(seed))
    program = random_program(choices, on_threads=False)
    scheduler = Scheduler(choices, program, "cpu")
    try:
        scheduler.run()
        trace = for_processor(scheduler.schedule.trace(), choices)
        schedule = te.create_schedule(list(scheduler.schedule.outputs))
        trace.apply(schedule)
        check(program, te.create_schedule(list(scheduler.schedule.outputs)), "cpu")
        check(program, schedule, "cpu")
    except ScheduleError as error:
        return ("refused", str(error)) if is_clear(str(error)) else ("wrong", f"an unclear refusal: {error}")
    except Exception as error:
        return "wrong", f"{type(error).__name__}: {error}"
    return "right", ""


def main() -> None:
    import tilewright as tw

    tw.set_num_threads(3)
    out, first, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else float("inf")
    begin = time.monotonic()
    counts: Counter[str] = Counter()
    why: Counter[str] = Counter()
    wrong: dict[int, str] = {}
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, cwd=ROOT
    ).stdout.strip()
    for seed in range(first, first + count):
        (out.with_suffix(".at")).write_text(str(seed))  # for a process that dies
        result, error = run(seed)
        counts[result] += 1
        if result == "wrong":
            wrong[seed] = error
            print(seed, error[:1500], flush=True)
        elif result == "refused":
            why[error.splitlines()[0].split(": error: ")[-1].split(":")[0]] += 1
        done = time.monotonic() - begin
        if seed % 50 == 0 or seed + 1 == first + count or done > seconds:
            found = {
                "command": f"python bench/fuzz_cpu.py {out.name} {first} {count}",
                "commit": commit,
                "seeds": [first, seed + 1],
                "counts": dict(counts),
                "refused by": dict(why),
                "wrong": wrong,
                "seconds": round(done),
                "processor seconds": round(time.process_time()),
                "threads": tw.num_threads(),
            }
            out.write_text(json.dumps(found, indent=1) + "\n")
        if done > seconds:
            break
    out.with_suffix(".at").unlink()


if __name__ == "__main__":
    main()
