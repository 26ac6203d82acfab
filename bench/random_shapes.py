"""`tw.ops` on shapes that are drawn anew, beside the best that torch's libraries have.

`python bench/random_shapes.py --seed 7 [--budget 300] [--groups "aligned matmul,rows"] [--out FILE.json]`

Groups: aligned and odd matmuls of 16 bits, float8, int8, tf32 and float32 ones, operations of rows, convolutions
(`random_cases.py`). All kernels are compiled first, by a process a core. Then each is checked against float64 on random
data, with torch's own error as the measure, and timed beside its peers: medians of event times in random order, the L2
cache flushed by reading before each call. Peers are torch (cuBLAS, cuDNN with benchmark), the best of the algorithms
that cuBLASLt's heuristics offer, and for rows torch.compile. A ratio is the best peer's time in that run over ours.

Groups take turns, so that a run that ends with its budget has some of each. The file is written every 20 s: for each
group the geometric mean, the least, both without the one case that is farthest from the mean, and how many are below
0.9; then all cases. A kernel that hangs or faults ends a process that measures, not the run.
"""

from __future__ import annotations

import time
from multiprocessing.connection import Connection
from typing import Any

from measuring import answer, parser_of, run_cases
from random_cases import GROUPS, Case, draw, function_of, in_turns


def prepare(case: Case, target: str) -> dict[str, Any]:
    """Leaves the kernels of a case in the cache; says how it is scheduled, or why it is not."""
    begin = time.perf_counter()
    try:
        function_of(case, target)
    except Exception as error:  # the other cases are still worth having
        return {"failure": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
    return {"compile_s": round(time.perf_counter() - begin, 2), "plan": plan_of(case, target)}


def plan_of(case: Case, target: str) -> str:
    """The rules of each kernel with their settings, or the choice of a matmul."""
    from tilewright import ops
    from tilewright.schedules.matmuls.problem import Problem
    from tilewright.schedules.matmuls.selection import choose
    from tilewright.target import Target

    options = dict(case.options)
    s, _ = getattr(ops, case.op).schedule(
        *(ops.Operand(one.shape, one.dtype) for one in case.arrays), target=target, **options
    )
    if s.plan is not None:
        return "; ".join(f"{one.rule} {one.settings}" for one in s.plan)
    if case.op != "matmul" or case.group == "f32 matmul":
        return "a schedule of the library"
    a, b = (one.shape for one in case.arrays)
    M, K = reversed(a) if options["transpose_a"] else a
    layout = "NT"[options["transpose_a"]] + "NT"[options["transpose_b"]]
    N = b[0] if options["transpose_b"] else b[1]
    chosen = choose(Problem(M, N, K, options.get("precision", case.arrays[0].dtype), layout), Target(target).device)
    return f"{chosen.schedule} {dict(chosen.options)}"


def serve(pipe: Connection, target: str, compile_mode: str, repeat: int) -> None:
    """The process that measures: it is sent cases and sends results, after one message about the machine."""
    import torch
    from random_peers import Measure

    measure = Measure(compile_mode, repeat)
    pipe.send({"device": measure.device, "torch": torch.__version__, **measure.bench.results})
    answer(pipe, lambda case: measure(case, target))


def main() -> None:
    parser = parser_of(__doc__, "random-shapes.json", budget=300, repeat=40)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--groups", default=",".join(GROUPS), help="comma-separated (default: all)")
    parser.add_argument("--count", type=int, help="cases a group (default: as many as the group says)")
    parser.add_argument("--compile", default="default", help="torch.compile's mode for rows, or none")
    given = parser.parse_args()
    names = [name.strip() for name in given.groups.split(",")]
    if unknown := set(names) - set(GROUPS):
        parser.error(f"expected groups of {', '.join(GROUPS)}, got {', '.join(unknown)}")
    cases = list(in_turns([draw(given.seed, name, given.count) for name in names]))
    run_cases(cases, given, prepare, serve, (given.target, given.compile, given.repeat), share=0.4)


if __name__ == "__main__":
    main()
