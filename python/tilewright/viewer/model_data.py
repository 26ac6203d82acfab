"""What the page of a model shows, as data: its groups, the arena's plan, and the profile of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mlir import ir

from ..errors import TilewrightTypeError, TilewrightValueError
from ..messages.progress import progress
from ..report.formulas import formulas
from ..te.schedule.nest import nest_text
from .measures import kernel_data

if TYPE_CHECKING:
    from ..compiler import Function
    from ..graph import Model
    from ..graph.checks import Profile
    from ..graph.groups import Group
    from ..target import Target

__all__ = ["model_data"]

FORMAT = 1
# The rates that roofs are drawn of, slowest first: how each is called, the type of the operands, and the instructions,
# of which the fastest counts.
_ROOFS = (
    ("fma on float32", "float32", ("fma",)),
    ("tensor cores on tf32", "tf32", ("mma", "wgmma")),
    ("tensor cores on 16-bit types", "float16", ("mma", "wgmma")),
)


def model_data(model: Model, profile: Profile | None = None) -> dict[str, Any]:
    """A model: its inputs and outputs, its groups, the programs that these run, the arena, and the profile if given."""
    programs: dict[str, int] = {}
    shown: list[dict[str, Any]] = []
    with progress(f"viewing {model.name}") as line:
        for number, group in enumerate(model.groups):
            line.show(number, len(model.groups), "groups", group.name)
            if group.key not in programs:
                programs[group.key] = len(programs)
                shown.append(_program(group.function))
    return {
        "format": FORMAT,
        "kind": "model",
        "name": model.name,
        "target": str(model.target),
        "inputs": [{"name": name, "type": str(kind)} for name, kind in model.inputs],
        "outputs": [{"name": name, "type": str(kind)} for name, kind in model.outputs],
        "groups": _groups(model, programs),
        "programs": shown,
        "plan": {
            "arena_bytes": model.plan.arena_bytes,
            "buffers": [
                {
                    "name": buffer.name,
                    "type": str(buffer.type),
                    "offset": buffer.offset,
                    "bytes": buffer.bytes,
                    "first": buffer.first,
                    "last": buffer.last,
                }
                for buffer in model.plan.buffers
            ],
        },
        "ir": {stage: model.ir(stage).splitlines() for stage in model.stages},
        "profile": None if profile is None else _profile(model, profile),
    }


def _groups(model: Model, programs: dict[str, int]) -> list[dict[str, Any]]:
    made_by = {value: number for number, group in enumerate(model.groups) for value in group.results}
    names = {**model.weight_names, **dict(zip(model.arguments, (name for name, _ in model.inputs)))}
    outputs: dict[ir.Value, list[str]] = {}
    for value, (name, _) in zip(model.results, model.outputs):
        outputs.setdefault(model.parts.root_of(value), []).append(name)
    return [_group(model, group, programs[group.key], made_by, names, outputs) for group in model.groups]


def _group(
    model: Model,
    group: Group,
    program: int,
    made_by: dict[ir.Value, int],
    names: dict[ir.Value, str],
    outputs: dict[ir.Value, list[str]],
) -> dict[str, Any]:
    return {
        "name": group.name,
        "operators": list(group.operators),
        "nodes": list(group.nodes),
        "program": program,
        "inputs": [
            {"name": names.get(value), "type": str(argument), "group": made_by.get(value)}
            for value, argument in zip(map(model.parts.root_of, group.inputs), map(_type, group.arguments))
        ],
        "results": [
            {
                "type": str(kind),
                "ends": end,
                "offset": offset if offset >= 0 else None,
                "outputs": outputs.get(value, []),
            }
            for value, kind, end, offset in zip(
                group.results, group.types, group.ends or ("",) * len(group.results), group.offsets
            )
        ],
        "symbols": [symbol.name for symbol in group.symbols],
    }


def _type(argument: Any) -> str:
    return f"{argument.dtype}[{', '.join(map(str, argument.shape))}]"


def _program(function: Function) -> dict[str, Any]:
    """What the groups of one program share: its te, its loop nest, and its launches."""
    texts = {"te": function.ir("te")}
    if "loops" in function.stages:
        texts["nest"] = nest_text(function.module("loops"), {})
    return {
        "name": function.name,
        "te": texts["te"].splitlines(),
        "nest": texts.get("nest", "").splitlines(),
        "launches": _launches(function),
    }


def _launches(function: Function) -> list[dict[str, Any]]:
    """The kernels with their numbers; of symbolic extents the formulas alone."""
    if function.target.kind == "cpu":
        return []
    texts = formulas(function.module("gpu"))
    try:
        launches = function.launch_config()
    except (TilewrightTypeError, TilewrightValueError):  # of symbolic extents
        return [
            {
                "name": name,
                "numbers": [
                    {"name": number, "value": None, "formula": text, "origin": None} for number, text in each.items()
                ],
            }
            for name, each in texts.items()
        ]
    return [kernel_data(launch, None, texts.get(launch.kernel, {})) for launch in launches]


def _profile(model: Model, profile: Profile) -> dict[str, Any]:
    if [one.group for one in profile.groups] != list(model.groups):
        raise TilewrightValueError(f"expected a profile of {model.name}, got one of another model's groups")
    return {
        "seconds": profile.seconds,
        "groups": [
            {
                "seconds": one.seconds,
                "bytes": one.bytes,
                "operations": one.operations,
                "least_seconds": one.least or None,
            }
            for one in profile.groups
        ],
        "machine": _machine(model.target),
    }


def _machine(target: Target) -> dict[str, Any] | None:
    """The roofs of the GPU that the model is for; of a processor they are not known."""
    gpu = target.device if target.kind == "cuda" else None
    if gpu is None:
        return None
    roofs = [
        {"name": text, "operations_per_second": max(gpu.peak(unit, dtype) for unit in units)}
        for text, dtype, units in _ROOFS
    ]
    return {
        "name": gpu.name,
        "bytes_per_second": gpu.bandwidth,
        "roofs": [roof for roof in roofs if roof["operations_per_second"]],
    }
