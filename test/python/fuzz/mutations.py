"""Small changes to a schedule that may make it illegal: it must then be refused."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from fuzz.choices import Choices
from tilewright.te import Trace
from tilewright.te.schedule.steps import Step

THREADS = ("threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x", "blockIdx.y", "vthread")
SCOPES = ("global", "shared", "local")
# Calls that say something of a loop of a stage, with what they take beside it; and of a stage.
OF_LOOP: dict[str, tuple[tuple[int, int], ...]] = {
    "vectorize": (), "unroll": (), "decompose_reduction": (), "software_pipeline": ((2, 4),),
    "storage_align": ((1, 40), (0, 3)), "parallel": (), "reorder": (),
    "loop_partition": (),
}  # fmt: skip
OF_STAGE = (
    "double_buffer", "compute_root", "compute_inline", "reverse_compute_inline", "rolling_buffer", "swizzle",
)  # fmt: skip


def mutated(trace: Trace, choices: Choices) -> Trace:
    """The trace with a call left out, moved, changed or added, once to three times."""
    steps = list(trace.steps)
    for _ in range(choices.integer(1, 3)):
        alone = [i for i, step in enumerate(steps) if not step.makes]  # of which nothing else is made
        kind = choices.integer(0, 4)
        if kind == 0 and alone:
            del steps[choices.pick(alone)]
        elif kind == 1 and alone:
            i = choices.pick(alone)
            steps.insert(choices.integer(i, len(steps) - 1), steps.pop(i))
        elif kind == 2 and steps:
            i = choices.integer(0, len(steps))
            step = _added(steps[:i], choices)
            steps[i:i] = [step] if step is not None else []
        elif steps:
            i = choices.integer(0, len(steps) - 1)
            steps[i] = _changed(steps[i], steps[:i], choices)
    return dataclasses.replace(trace, steps=tuple(steps))


def _axes(steps: Sequence[Step], stage: str | None = None) -> list[tuple[str, str]]:
    """The axes that steps make, with their stages."""
    return [
        (step.stage, name)
        for step in steps
        if step.stage is not None and stage in (None, step.stage) and step.call != "pad_einsum"  # which makes stages
        for name in step.makes
    ]


def _added(before: Sequence[Step], choices: Choices) -> Step | None:
    axes = _axes(before)
    if not axes:
        return None
    stage, axis = choices.pick(axes)
    if choices.chance(25):
        return Step(choices.pick(OF_STAGE), stage)
    if choices.chance(20):
        other, at = choices.pick(axes)
        return Step(choices.pick(["compute_at", "reverse_compute_at"]), stage, ({"stage": other}, {"axis": at}))
    call = choices.pick(tuple(OF_LOOP))
    if call == "storage_align":
        own = [name for step in before if step.call == "axis" and step.stage == stage for name in step.makes]
        axis = choices.pick(own or [axis])
    return Step(call, stage, ({"axis": axis}, *(choices.integer(*limits) for limits in OF_LOOP[call])))


def _changed(step: Step, before: Sequence[Step], choices: Choices) -> Step:
    if step.call in ("vectorize", "unroll") and choices.chance(30):
        return dataclasses.replace(step, call=choices.pick(["vectorize", "unroll"]))
    if step.call == "reorder" and choices.chance(70):
        return dataclasses.replace(step, args=tuple(choices.shuffled(step.args)))
    if step.call in ("compute_at", "reverse_compute_at") and choices.chance(70):
        axes = _axes(before)
        stage, axis = choices.pick(axes) if axes else ("", "")
        return dataclasses.replace(step, args=({"stage": stage}, {"axis": axis})) if axes else step

    def other(arg: Any) -> Any:
        if isinstance(arg, dict) and "axis" in arg:
            axes = _axes(before, None if choices.chance(10) else step.stage)
            return {"axis": choices.pick(axes)[1]} if axes else arg
        if isinstance(arg, dict) and "thread" in arg:
            extent = choices.integer(1, 12) if step.call == "env_threads" else None
            return {"thread": choices.pick(THREADS), "extent": extent}
        if isinstance(arg, bool):
            return not arg
        if isinstance(arg, int):
            return choices.integer(0, 12)
        return choices.pick(SCOPES) if arg in SCOPES else arg

    chosen = choices.integer(0, max(len(step.args) - 1, 0))
    args = tuple(other(arg) if i == chosen and not step.options else arg for i, arg in enumerate(step.args))
    return dataclasses.replace(step, args=args, options={name: other(value) for name, value in step.options.items()})
