"""A program, its stages and the passes between them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import CompileError, TilewrightValueError
from .passes import REQUIRED, Step, pass_texts
from .runs import Array, Run, copied, in_sequence, on_processor, taken_up

if TYPE_CHECKING:
    from mlir import ir

    from ..compiler.pipeline import Hook, Lowering
    from ..runtime.signature import Signature
    from ..target import Target

__all__ = ["PLACES", "BisectedProgram"]

PLACES = {
    "te": "by NumPy", "linalg": "on the processor", "loops": "on the processor", "gpu": "on the simulator",
    "cubin": "on the GPU", "host": "on the processor",
}  # fmt: skip


class BisectedProgram:
    """A program, its stages and what they compute."""

    program: Any
    args: Any
    target: Target
    signature: Signature
    name: str

    def __init__(
        self, program: Any, args: Any, target: Any, name: str | None, after: Mapping[str, Hook | Sequence[Hook]] | None
    ) -> None:
        from ..compiler.entry_points import take_up
        from ..runtime import DeviceKind, Signature
        from ..target import Target

        self.program, self.args = program, args
        self.target = Target.of(target)
        self.lowering: Lowering = take_up(program, args, self.target, name, after=after)
        from ..compiler.programs import program_function

        self.signature = Signature.from_function(program_function(self.lowering), DeviceKind.CPU)
        self.name = self.lowering.name
        for argument in self.signature.arguments:
            if argument.strides is not None or argument.optional or argument.is_pointer:
                raise TilewrightValueError(
                    f"{self.signature}: expected row-major arrays and numbers that every call gives, got {argument}"
                )
        self.runs: dict[str, Run] = {}

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that can be run, in order."""
        if self.target.kind == "cpu":
            return ("te", "linalg", "loops", "host")
        return ("te", "linalg", "loops", "gpu", "cubin")

    def module(self, stage: str) -> ir.Module:
        return self.lowering.reach(stage)

    def run_at(self, stage: str) -> Run:
        if stage not in self.runs:
            if stage == "te":
                self.runs[stage] = self._interpreter()
            else:
                if stage == "cubin":
                    self._check_gpu()
                self.runs[stage] = self.compiled(
                    stage, self.module({"cubin": "nvvm", "host": "loops"}.get(stage, stage))
                )
        return self.runs[stage]

    def _check_gpu(self) -> None:
        from ..runtime.device import device

        if self.target.kind != "cuda":
            raise CompileError(f"target {self.target.kind} has no cubin")
        if not device("cuda").exist:
            raise CompileError("no GPU")

    def compiled(self, stage: str, module: ir.Module) -> Run:
        """A module of a stage as something that runs."""
        from ..target import Target

        if stage in ("linalg", "loops"):
            if stage == "loops" and "te.extern" in str(module):
                raise CompileError("the statements of te.extern run on threads alone")
            return on_processor(in_sequence(module), self.name, self.signature)
        if stage == "host":
            return on_processor(copied(module), self.name, self.signature)
        if stage == "gpu":
            return taken_up(module, self.name, "gpu", Target("sim", arch=self.target.arch))
        return taken_up(module, self.name, "nvvm", self.target, managed=True)

    def _interpreter(self) -> Run:
        """The program by NumPy."""
        from ..messages.location import user_source
        from ..te.arguments import ArgumentList
        from ..te.expr import Var
        from ..te.interpret import NoMeaningInNumPy, interpret
        from ..te.tensor import Tensor

        if self.args is None:
            raise CompileError("a program that is IR is taken as it stands")
        args = ArgumentList.of(self.args, user_source()).args
        marked = [one.output for one in self.signature.arguments]

        def run(arrays: Sequence[Array]) -> str:
            numbers: dict[Any, Any] = {}
            given: dict[Any, Array] = {}
            for arg, array in zip(args, arrays):
                if isinstance(arg, Var):
                    numbers[arg] = array
                elif isinstance(arg, Tensor):
                    numbers.update((one, n) for one, n in zip(arg.shape, array.shape) if isinstance(one, Var))
                    given[arg] = array
            outputs = [arg for arg, is_output in zip(args, marked) if is_output]
            inputs = {arg: array for arg, array in given.items() if arg not in outputs}
            for out, made in zip(outputs, interpret(outputs, inputs, numbers)):
                given[out][...] = made
            return ""

        if any(isinstance(op, _extern()) for op in _operations(args)):
            raise NoMeaningInNumPy("te.extern has statements, no expressions")
        return run

    def steps(self, before: str, stage: str) -> list[Step]:
        """The passes from one stage to a later one, the user's own among them."""
        from ..compiler.pipeline import PATHS, apply_hook, pipeline_text
        from ..ir.passes import run_passes

        path = PATHS[self.target.kind]
        steps: list[Step] = []

        def hooks(at: str) -> None:
            for hook in self.lowering.hooks.get(at, ()):
                told = hook if isinstance(hook, str) else getattr(hook, "__qualname__", repr(hook))
                steps.append(Step(f"{told} (after {at})", lambda m, h=hook: apply_hook(m, h, at), False))

        def passes(start: str, stop: str) -> None:
            for text in pass_texts(pipeline_text(start, stop, self.target), self.module(self.lowering.start)):
                label = text.removeprefix("builtin.module(").split("{")[0].rstrip(")").split("(")[-1]

                def run(module: ir.Module, text: str = text) -> ir.Module:
                    run_passes(module, text, f"finding the pass that is wrong in {self.name}", stop)
                    return module

                steps.append(Step(label, run, label in REQUIRED))

        if before == "te":
            hooks("te")
        for start, stop in zip(path, path[1:]):
            if path.index(before) <= path.index(start) and path.index(stop) <= path.index(stage):
                passes(start, stop)
                hooks(stop)
        return steps

    def start_of(self, before: str) -> ir.Module:
        """The module before the user's own passes of te, or at a later stage after its."""
        from ..compiler.entry_points import take_up

        if before != "te":
            return self.module(before)
        return take_up(self.program, self.args, self.target, self.lowering.name).reach("te")


def _operations(args: Sequence[Any]) -> list[Any]:
    from ..te.program import operations
    from ..te.tensor import Tensor

    return operations([arg.op for arg in args if isinstance(arg, Tensor)])


def _extern() -> type:
    from ..te.extern_op import ExternOp

    return ExternOp
