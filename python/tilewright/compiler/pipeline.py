"""The way down, edge by edge: the pass pipeline of each edge, the user's own passes between them, and the times.

The passes of an edge are those of `tilewright-opt --tilewright-pipeline="from=A to=B …"`: nothing is lowered here.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from ..cache import Cache
from ..errors import TilewrightTypeError, TilewrightValueError
from ..guards import is_listed, misfit
from ..ir.diagnostics import MLIRError
from ..ir.passes import compile_error, run_passes
from ..messages.location import user_source
from ..messages.progress import Progress
from ..target import Target

__all__ = ["PATHS", "STAGES", "Hook", "Lowering", "hooks_of", "pipeline_text", "stages_of"]

STAGES = ("te", "schedule", "linalg", "loops", "gpu", "nvvm", "host")
"""Every stage that can be shown, in order. `schedule` stands beside `te`, in one module; `host` is made from `gpu`."""

# The stages that a module goes through on the way to each target; `host` is made beside them, when it is asked for.
PATHS: Mapping[str, tuple[str, ...]] = {
    "cuda": ("te", "linalg", "loops", "gpu", "nvvm"),
    "sim": ("te", "linalg", "loops", "gpu"),
    # A program without a schedule that a processor follows has no loops stage: it goes on to host from linalg.
    "cpu": ("te", "linalg", "loops"),
}
# Up to here it is the schedule that decides what is made, so an error is the schedule's.
SCHEDULED = ("loops", "gpu")

Hook = str | Callable[[ir.Module], ir.Module | None]


def stages_of(target: Target) -> tuple[str, ...]:
    """The stages that a program for `target` has, in order."""
    return ("te", "schedule", *PATHS[target.kind][1:], "host")


def pipeline_text(start: str, stop: str, target: Target) -> str:
    """The pass pipeline between two stages, as `tilewright-opt --pass-pipeline=` takes it.

    >>> pipeline_text("te", "loops", Target("cuda", arch="sm_80"))
    'builtin.module(tilewright-pipeline{from=te to=loops target=cuda arch=sm_80})'
    """
    arch = "" if target.arch is None else f" arch={target.arch}"
    return f"builtin.module(tilewright-pipeline{{from={start} to={stop} target={target.kind}{arch}}})"


def hooks_of(after: Mapping[str, Hook | Sequence[Hook]] | None, target: Target) -> dict[str, tuple[Hook, ...]]:
    """The user's own passes by the stage that they follow, checked against the stages that `target` has."""
    hooks: dict[str, tuple[Hook, ...]] = {}
    known = stages_of(target)
    if after is not None and not isinstance(after, Mapping):
        raise TilewrightTypeError(f"expected after as a dictionary of passes by stage, got {type(after).__name__}")
    for stage, given in (after or {}).items():
        if stage not in known:
            raise TilewrightValueError(
                f"expected a stage of target {target.kind} ({', '.join(known)}) in after, got {stage!r}"
            )
        each: tuple[Any, ...] = tuple(given) if is_listed(given) else (given,)
        for hook in each:
            if not isinstance(hook, str) and not callable(hook):
                raise TilewrightTypeError(
                    f"expected a pass's flag or a function in after[{stage!r}], got {type(hook).__name__}"
                )
            if wrong := misfit(hook, "module"):
                raise TilewrightTypeError(f"{user_source()}: after[{stage!r}]: {wrong}")
        key = "te" if stage == "schedule" else stage
        hooks[key] = hooks.get(key, ()) + each
    return hooks


def apply_hook(module: ir.Module, hook: Hook, stage: str) -> ir.Module:
    """Runs one pass of the user's after `stage`; the module that comes back is verified."""
    if isinstance(hook, str):
        flag = hook.removeprefix("--")
        pipeline = flag if flag.startswith("builtin.module(") else f"builtin.module({flag})"
        run_passes(module, pipeline, f"running {hook!r} after {stage}", stage)
        return module
    name = getattr(hook, "__qualname__", repr(hook))
    module.context.load_all_available_dialects()  # for what the user makes ops of
    with module.context, ir.Location.unknown():
        made = hook(module)
        if made is None:
            made = module
        elif not isinstance(made, ir.Module):
            raise TilewrightTypeError(
                f"expected {name}, called after {stage}, to return a module or None, got {type(made).__name__}"
            )
        try:
            made.operation.verify()
        except MLIRError as error:
            raise compile_error(f"verifying what {name} made after {stage}", stage, error) from None
    return made


@dataclass(slots=True)
class Lowering:
    """One program on its way down: the module at every stage that it has reached, and the seconds that each took."""

    name: str
    target: Target
    start: str
    hooks: Mapping[str, tuple[Hook, ...]] = field(default_factory=dict[str, tuple[Hook, ...]])
    modules: dict[str, ir.Module] = field(default_factory=dict[str, ir.Module])
    timings: dict[str, float] = field(default_factory=dict[str, float])
    # of stages that the cache had, until somebody needs them
    texts: dict[str, str] = field(default_factory=dict[str, str])
    cache: Cache | None = None
    cache_hit: bool = False
    line: Progress | None = None  # of the build that is under way
    managed: bool = False  # the function takes this machine's arrays, and copies them

    @contextmanager
    def timed(self, what: str) -> Generator[None]:
        """Adds the time that its block takes to `timings[what]`, and says on a terminal that it is at hand."""
        if self.line is not None:
            # PTX and a cubin follow the stages where there are kernels for a GPU.
            count = len(stages_of(self.target)) + 2 * (self.target.kind == "cuda")
            self.line.show(min(len(self.timings), count), count, "stages", what)
        begin = time.perf_counter()
        try:
            yield
        finally:
            self.timings[what] = self.timings.get(what, 0.0) + time.perf_counter() - begin

    def enter(self, module: ir.Module) -> None:
        """Takes up a module at the start stage; it is copied, and the hooks of that stage run."""
        self._arrive(self.start, self.copied(module))

    def copy_of(self, stage: str) -> ir.Module:
        """A copy of the module at `stage`, for the user to do with as they like."""
        module = self.reach(stage)
        module.context.load_all_available_dialects()  # the bindings make ops of loaded ones only
        return self.copied(module)

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that can be shown, in order: those of the target from where the program was taken up."""
        known = stages_of(self.target)
        return tuple(stage for stage in known[known.index(self.start) :] if stage != "loops" or self.follows_schedule)

    @property
    def follows_schedule(self) -> bool:
        """Whether the loops are those of the schedule. Target cpu does not follow one that is for a GPU, or that leaves
        all loops as they are."""
        if self.target.kind != "cpu" or self.start == "loops":
            return True
        return any(op.operation.name == "schedule.of" for op in self.reach("linalg").body)

    def ir(self, stage: str, *, locations: bool = False) -> str:
        """The text of `stage`; `tilewright-opt` reads it again. With `locations` it says where each op came from.

        "te" is the whole module, the schedule beside the function; "schedule" is the schedule alone.
        """
        if stage not in self.stages:
            raise TilewrightValueError(f"expected a stage of this program ({', '.join(self.stages)}), got {stage!r}")
        if stage != "schedule":
            return str(self.reach(stage).operation.get_asm(enable_debug_info=locations))
        found = (op.operation for op in self.reach("te").body if op.operation.name == "schedule.of")
        return "\n".join(str(op.get_asm(enable_debug_info=locations)) for op in found)

    def reach(self, stage: str) -> ir.Module:
        """The module at `stage`, made if need be from the nearest stage above. It is not to be changed."""
        if stage in self.modules:
            return self.modules[stage]
        if stage in self.texts:
            with self.reach(self.start).context:
                self.modules[stage] = ir.Module.parse(self.texts.pop(stage))
            return self.modules[stage]
        path = PATHS[self.target.kind]
        above = path[path.index(stage) - 1] if stage != "host" else self._above_host()
        if stage != "host" and path.index(stage) <= path.index(self.start):
            raise TilewrightValueError(
                f"expected a stage from {self.start} on, where the program was taken up, got {stage!r}"
            )
        module = self.copied(self.reach(above))
        doing = f"lowering {self.name} from {above} to {stage}"
        with self.timed(stage):
            begin = "gpu" if (above, stage) == ("nvvm", "host") else above
            scheduled = stage in SCHEDULED
            run_passes(
                module, pipeline_text(begin, stage, self.target), doing, stage,
                schedule=scheduled, verifies_each=scheduled or stage == "linalg",
            )  # fmt: skip
        self._arrive(stage, module)
        return self.modules[stage]

    def _above_host(self) -> str:
        """What host is made from: the launches are at gpu, and still there at nvvm, where a program may be taken up."""
        path = PATHS[self.target.kind]
        return max("gpu", self.start, key=path.index) if "gpu" in path else path[-1]

    @staticmethod
    def copied(module: ir.Module) -> ir.Module:
        with module.context, module.operation.location:
            made = ir.Module.create()
            attributes = module.operation.attributes
            for index in range(len(attributes)):  # what iterating gives differs between versions of the bindings
                made.operation.attributes[attributes[index].name] = attributes[index].attr
            for operation in module.body:
                made.body.append(operation.operation.clone())
            return made

    def _arrive(self, stage: str, module: ir.Module) -> None:
        for hook in self.hooks.get(stage, ()):
            with self.timed(f"after {stage}"):
                module = apply_hook(module, hook, stage)
        self.modules[stage] = module
