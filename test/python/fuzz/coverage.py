"""What random cases have in them: the primitives that they call, and what else they are meant to try."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fuzz.gathers import INDEX_DTYPES
from fuzz.language import LARGEST
from fuzz.program import Program
from fuzz.programs import KINDS
from fuzz.schedules import Scheduler
from primitives import NO_PRIMITIVES, PRIMITIVES

_SCOPES = ("global", "local", "shared")
# Of kernels of asynchronous tiles, which multiply by wgmma alone: they have tests of their own.
_ASYNCHRONOUS = {f"Stage.{name}" for name in ("copy_by", "specialize", "cluster", "persistent")}
WANTED = {
    *(name for name in PRIMITIVES if name not in _ASYNCHRONOUS),
    *(f"program: {kind.__name__}" for kind in KINDS),
    *(f"dtype: {dtype}" for dtype in LARGEST),
    *(f"indices: {dtype}" for dtype in INDEX_DTYPES),
    *(f"{call}: {scope}" for call in ("cache_read", "cache_write", "set_scope") for scope in _SCOPES),
    *(f"bind: {index}.{dim}" for index in ("blockIdx", "threadIdx") for dim in "xyz"),
    *(f"split: {option}" for option in ("factor", "nparts", "disable_predication")),
    "bind: vthread", "software_pipeline: use_async",
    "extent: symbolic", "extent: divisible", "extent: 0", "no dimensions", "large data",
    "rfactor: then across threads", "reduction: across threads", "reduction: of tuples across threads",
}  # fmt: skip


@contextmanager
def called(calls: set[str]) -> Iterator[None]:
    """Adds to `calls` the primitives that are called in the block."""
    owners = {owner.__name__: owner for owner in NO_PRIMITIVES}
    before: list[tuple[type, str, Any]] = []

    def counting(name: str, method: Any) -> Any:
        @functools.wraps(method)
        def call(*args: Any, **options: Any) -> Any:
            calls.add(name)
            return method(*args, **options)

        return call

    for name, method in PRIMITIVES.items():
        owner, call = owners[name.split(".")[0]], name.split(".")[1]
        before.append((owner, call, vars(owner).get(call)))
        setattr(owner, call, counting(name, method))
    try:
        yield
    finally:
        for owner, call, method in before:
            if method is None:
                delattr(owner, call)  # it has it from its base
            else:
                setattr(owner, call, method)


def features(program: Program, scheduler: Scheduler) -> set[str]:
    """What a case tries beside the primitives as such."""
    found = {f"program: {kind}" for kind in program.kinds}
    found |= {f"dtype: {value.dtype}" for value in (*program.inputs, *program.computed)}
    found |= {f"indices: {value.dtype}" for value in program.indices}
    found |= {"extent: 0" for value in program.computed if value.is_empty}
    found |= {"no dimensions" for value in program.computed if not value.shape}
    found |= {"large data" for value in program.inputs if value not in program.indices and value.bound > 100}
    for extent, variable in program.symbols.values():
        found.add("extent: divisible" if variable.divisible_by > 1 and extent else "extent: symbolic")
    for step in scheduler.schedule.trace().steps:
        if step.call in ("cache_read", "cache_write", "set_scope"):
            found.add(f"{step.call}: {next(arg for arg in step.args if arg in _SCOPES)}")
        elif step.call == "bind":
            found.add(f"bind: {step.args[1]['thread']}")
        elif step.call in ("split", "software_pipeline"):
            found |= {f"{step.call}: {option}" for option in step.options}
    for op, place in scheduler.places.items():
        if any(loop.is_reduce and loop.tag for loop in place.loops):
            found.add("reduction: of tuples across threads" if op.num_outputs > 1 else "reduction: across threads")
            if any(read in scheduler.flow.factored for read in scheduler.flow.reads(op)):
                found.add("rfactor: then across threads")
    return found
