"""The stages of a program with their lines, from one lowering in which every op keeps its line at each stage.

At each stage MLIR's snapshot-op-locations prints the module and adds to each op's location the line where it stands.
The passes to the next stage keep locations, as they keep those of the user's lines. So an op of the nvvm stage knows
its line at each stage above. Passes read only names in locations, so the code is the same as in any other build.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mlir import ir
from mlir.passmanager import PassManager

from ..compiler.pipeline import PATHS, SCHEDULED, Lowering, apply_hook, pipeline_text
from ..ir.passes import run_passes
from ..native.capsule import capsule_pointer
from ..native.library import library
from .panes import Origin, Pane, merged, origin_reader

__all__ = ["Numbered", "number_stages"]

_TITLES = {
    "te": "te and schedule",
    "linalg": "linalg",
    "loops": "loops",
    "gpu": "gpu",
    "nvvm": "nvvm",
    "host": "host",
}


@dataclass(slots=True)
class Numbered:
    """A program with numbered lines at each stage: the panes of its stages, its modules, and what reads locations."""

    lowering: Lowering
    folder: Path
    panes: dict[str, Pane] = field(default_factory=dict[str, Pane])
    files: dict[str, str] = field(default_factory=dict[str, str])
    read: Callable[[ir.Location], Origin] = field(init=False)

    def __post_init__(self) -> None:
        self.read = origin_reader(self.files)

    def add(self, module: ir.Module, stage: str, above: str | None) -> None:
        """Numbers the lines of a stage and makes its pane."""
        text = self.number(module, stage)
        self.panes[stage] = Pane.of(stage, _TITLES[stage], "mlir", above, text, self.origins(module, stage))

    def number(self, module: ir.Module, stage: str) -> str:
        """Adds to each op's location its line at `stage`, and returns the text."""
        file = self.folder / f"{stage}.mlir"
        self.files[str(file)] = stage
        snapshot = f"builtin.module(snapshot-op-locations{{filename={file} tag={stage}}})"
        run_passes(module, snapshot, f"numbering the lines of stage {stage}", stage)
        return file.read_text(encoding="utf-8", errors="replace")

    def origins(self, module: ir.Module, stage: str) -> dict[int, Origin]:
        """Of each line of the text at `stage` where its ops came from."""
        found: dict[int, list[Origin]] = {}

        def visit(op: ir.Operation) -> ir.WalkResult:
            origin = self.read(op.location)
            for pane, line in origin:
                if pane == stage:
                    found.setdefault(int(str(line)), []).append(origin)
            return ir.WalkResult.ADVANCE

        module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
        return {line: frozenset(atom for atom in merged(each) if atom[0] != stage) for line, each in found.items()}


def number_stages(given: Lowering, folder: Path) -> Numbered:
    """Lowers a program again from where `given` was taken up, and numbers the lines of each stage in `folder`.

    Raises CompileError and ScheduleError as the build does.
    """
    lowering = Lowering(given.name, given.target, given.start, given.hooks)
    lowering.modules[given.start] = given.copy_of(given.start)  # behind its hooks
    made = Numbered(lowering, folder)
    above: str | None = None
    for stage in _path(given):
        if above is not None:
            lowering.modules[stage] = _lower(lowering, above, stage)
        made.add(lowering.modules[stage], stage, above or "source")
        above = stage
    fork = "gpu" if "gpu" in lowering.modules else above
    if fork not in (None, "nvvm"):
        made.add(_lower(lowering, fork, "host"), "host", fork)
    return made


def _path(given: Lowering) -> Iterator[str]:
    """The stages from where a program is taken up."""
    path = PATHS[given.target.kind]
    for stage in path[path.index(given.start) :]:
        if stage != "loops" or given.target.kind != "cpu" or given.follows_schedule:
            yield stage


def _lower(lowering: Lowering, above: str, stage: str) -> ir.Module:
    """The module at `stage`, with the user's own passes behind it; what passes make from nothing names them."""
    module = lowering.copy_of(above)
    pipeline = pipeline_text(above, stage, lowering.target)
    doing = f"lowering {lowering.name} from {above} to {stage}"
    run_passes(module, pipeline, doing, stage, schedule=stage in SCHEDULED, prepare=name_passes)
    for hook in lowering.hooks.get(stage, ()):
        module = apply_hook(module, hook, stage)
    return module


def name_passes(manager: PassManager) -> None:
    """From here on the passes of `manager` name themselves in the locations of ops that they make from nothing."""
    name = library().tilewrightNamePasses
    name.argtypes, name.restype = (ctypes.c_void_p,), None
    name(capsule_pointer(manager._CAPIPtr))
