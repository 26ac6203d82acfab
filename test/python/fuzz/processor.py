"""Random schedules for a processor: those for a GPU with threads of a processor in place of a GPU's."""

from __future__ import annotations

import dataclasses

from fuzz.choices import Choices
from tilewright.te import Trace

# What speaks of a GPU alone: target cpu follows no schedule that has one of these.
OF_GPU = ("env_threads", "launch_bounds", "set_store_predicate", "launch")
LANES = (2, 3, 4, 7, 8, 16, 20)


def for_processor(trace: Trace, choices: Choices) -> Trace:
    """The trace with loops that are parallel, or plain, in place of those bound to blocks and threads, and with vectors of
    any number of lanes."""
    vectorized = {step.args[0]["axis"] for step in trace.steps if step.call == "vectorize"}
    reduced: set[str] = set()
    steps = []
    for step in trace.steps:
        axes = [arg["axis"] for arg in step.args if isinstance(arg, dict) and "axis" in arg]
        if step.call == "reduce_axis" or (step.call in ("split", "tile", "fuse") and reduced & set(axes)):
            reduced |= set(step.makes)
        if step.call in OF_GPU:
            continue
        if step.call == "bind" and not step.args[1]["thread"].startswith("vthread"):
            if axes[0] not in reduced and choices.chance(50):
                steps.append(dataclasses.replace(step, call="parallel", args=step.args[:1], options={}))
            continue
        if step.call == "split" and list(step.options) == ["factor"] and step.makes[1] in vectorized:
            step = dataclasses.replace(step, options={"factor": choices.pick(LANES)})
        steps.append(step)
    return dataclasses.replace(trace, steps=tuple(steps))
