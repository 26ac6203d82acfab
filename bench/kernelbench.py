"""KernelBench's problems of levels 1 and 2, scheduled by rules, beside torch and torch.compile.

`python bench/kernelbench.py [--budget 200] [--seed 1] [--levels 1,2] [--only conv] [--out FILE.json]`

The problems are those of test/python/kernelbench, with the extents of `kernelbench_shapes.py`, in float32. First a
process a core compiles: our kernels, and torch.compile's into Inductor's cache on disk. Then each problem is checked
against float64, with torch's own error as the measure, and timed as `random_shapes.py` times its shapes. A ratio is the
time of the faster of eager torch and torch.compile over ours. Problems are in random order, the levels by turns, so
that a run that ends with its budget is a sample.
"""

from __future__ import annotations

import math
import random
import sys
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "test" / "python"))

from kernelbench_shapes import shapes_of
from measuring import answer, parser_of, run_cases


@dataclass(frozen=True, slots=True)
class Case:
    """A problem by its level and its place there."""

    level: int
    place: int

    @property
    def group(self) -> str:
        return f"level {self.level}"

    @property
    def problem(self) -> Any:
        from kernelbench.level1 import LEVEL1
        from kernelbench.level2 import LEVEL2

        return (LEVEL1, LEVEL2)[self.level - 1][self.place]

    @property
    def shapes(self) -> tuple[tuple[int, ...], ...]:
        return shapes_of(self.level, self.place, self.problem[1])

    def __str__(self) -> str:
        return f"{self.place + 1}_{self.problem[0]} {', '.join('x'.join(map(str, one)) for one in self.shapes)}"


def cases_of(seed: int, levels: list[int]) -> list[Case]:
    """All problems of the levels, which take turns.

    >>> len(cases_of(1, [1, 2])), {case.level for case in cases_of(1, [1, 2])[:2]} == {1, 2}
    (200, True)
    """
    rng = random.Random(seed)
    orders = [[Case(level, place) for place in rng.sample(range(100), 100)] for level in levels]
    return [case for some in zip(*orders) for case in some]


def build(case: Case, target: str) -> tuple[Any, str]:
    """The compiled function, which takes the inputs and the output, and what the rules decided."""
    import tilewright as tw
    from kernelbench.words import OfTe
    from tilewright import te

    name, _, words = case.problem
    dtypes = ["float32"] * len(case.shapes)
    if name == "CrossEntropyLoss":
        dtypes[1] = "int64"
    given = [te.placeholder(shape, dtype, f"x{i}") for i, (shape, dtype) in enumerate(zip(case.shapes, dtypes))]
    output = words(OfTe, *given)
    s = tw.auto_schedule(output, target)
    plan = "; ".join(f"{one.rule} {one.settings}" for one in s.plan) if s.plan is not None else ""
    return tw.build(s, [*given, output], target=target, name="problem"), plan


def tensors_of(case: Case) -> list[Any]:
    import torch

    found = [torch.randn(shape, device="cuda") * 0.5 for shape in case.shapes]
    if case.problem[0] == "CrossEntropyLoss":
        found[1] = torch.randint(0, case.shapes[0][1], case.shapes[1], device="cuda")
    return found


def _set_precision() -> None:
    """The same for all that compiles and measures: torch's caches go by it."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True


def compiled(case: Case) -> Any:
    """What torch.compile makes of a problem."""
    import torch

    from kernelbench.words import OfTorch

    torch._dynamo.reset()
    _set_precision()
    words = OfTorch()
    return torch.compile(lambda *tensors: case.problem[2](words, *tensors), dynamic=False)


def prepare(case: Case, target: str) -> dict[str, Any]:
    """Leaves our kernels and torch.compile's in their caches."""
    begin = time.perf_counter()
    try:
        _, plan = build(case, target)
    except Exception as error:  # the other problems are still worth having
        return {"failure": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
    said = {"compile_s": round(time.perf_counter() - begin, 2), "plan": plan}
    try:
        import torch

        if torch.cuda.is_available():
            with torch.no_grad():
                compiled(case)(*tensors_of(case))
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
    except Exception as error:
        said["torch.compile"] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return said


def measure(bench: Any, case: Case, target: str, repeat: int) -> dict[str, Any]:
    import torch

    from kernelbench.words import OfTorch

    _set_precision()
    func, _ = build(case, target)
    words, tensors = OfTorch(), tensors_of(case)
    with torch.no_grad():
        theirs = case.problem[2](words, *tensors)
        output = torch.full_like(theirs, float("nan") if theirs.dtype.is_floating_point else -1).contiguous()
        func(*tensors, output)
        torch.cuda.synchronize()
        exact = case.problem[2](words, *(one.double() if one.is_floating_point() else one for one in tensors))
        if theirs.dtype.is_floating_point:
            largest = exact.abs().max().item()
            error, peers = ((one.double() - exact).abs().max().nan_to_num(math.inf).item() for one in (output, theirs))
            result: dict[str, Any] = {
                "right": error <= 4 * peers + 1e-6 * largest,
                "error": error,
                "torch_error": peers,
            }
        else:
            result = {"right": bool((output == exact).all())}
        del exact
        calls = {"torch": lambda: case.problem[2](words, *tensors)}
        function = compiled(case)
        begin = time.perf_counter()
        try:
            function(*tensors)
            calls["torch.compile"] = lambda: function(*tensors)
        except Exception as error:
            result["torch.compile"] = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        result["torch_compile_s"] = round(time.perf_counter() - begin, 2)
        timed = bench.medians_ms([lambda: func(*tensors, output), *calls.values()], repeat)
    ms, others = timed[0], dict(zip(calls, timed[1:]))
    moved = sum(one.numel() * one.element_size() for one in (*tensors, output))
    torch.cuda.empty_cache()
    return result | {
        "ms": ms, "peers_ms": others, "ratio": min(others.values()) / ms,
        "of_copy": round(moved / ms / bench.copied_per_ms, 3),
    }  # fmt: skip


def serve(pipe: Connection, target: str, repeat: int) -> None:
    """The process that measures."""
    from simt import Bench

    bench = Bench()
    pipe.send(dict(bench.results))
    answer(pipe, lambda case: measure(bench, case, target, repeat))


def caches_of_inductor(folder: str) -> dict[str, str]:
    """What torch.compile compiles in one process is found by the others."""
    return {
        "TORCHINDUCTOR_CACHE_DIR": f"{folder}/inductor",
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "1",
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
    }


def main() -> None:
    parser = parser_of(__doc__, "kernelbench.json", budget=200, repeat=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--levels", default="1,2")
    parser.add_argument("--count", type=int, default=200, help="problems at most")
    parser.add_argument("--only", default="", help="problems whose names have this in them, of any case: 'conv'")
    given = parser.parse_args()
    cases = cases_of(given.seed, [int(level) for level in given.levels.split(",")])
    cases = [case for case in cases if given.only.lower() in case.problem[0].lower()][: given.count]
    run_cases(cases, given, prepare, serve, (given.target, given.repeat), share=0.45, environment=caches_of_inductor)


if __name__ == "__main__":
    main()
