"""The search for the stage, the pass and the smallest inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import CompileError, TilewrightError, TilewrightValueError
from ..messages.printable import printable
from .comparison import differs
from .inputs import Inputs, least
from .program import PLACES, BisectedProgram
from .result import StageResult
from .runs import Array, Run, copied, shared

if TYPE_CHECKING:
    from ..runtime import Signature

__all__ = ["Found", "Search"]

_RUNS = 400
"""How often a stage is run to make the inputs smaller."""


def outputs_of(run: Run, signature: Signature, arrays: Sequence[Array]) -> tuple[list[Array], str]:
    given = [shared(array) if one.output else array for one, array in zip(signature.arguments, arrays)]
    call = [array.item() if one.is_number else array for one, array in zip(signature.arguments, given)]
    wrong = run(call)
    return [array for one, array in zip(signature.arguments, given) if one.output], wrong


@dataclass(frozen=True, slots=True)
class Found:
    """What became of each stage; the last right one before the first wrong one, and that one."""

    stages: tuple[StageResult, ...]
    right: str | None
    wrong: str | None


class Search:
    program: BisectedProgram
    inputs: Inputs
    rtol: float | None
    names: list[str]

    def __init__(self, program: BisectedProgram, inputs: Inputs, rtol: float | None) -> None:
        self.program, self.inputs, self.rtol = program, inputs, rtol
        self.names = [one.name for one in program.signature.arguments if one.output]

    def _expected(self, run: Run, arrays: Sequence[Array]) -> list[Array]:
        made, wrong = outputs_of(run, self.program.signature, arrays)
        if wrong:
            raise TilewrightError(f"{self.program.name}: the first stage that runs fails: {wrong}")
        return made

    def difference(self, reference: Run, other: Run, arrays: Sequence[Array]) -> str:
        """What differs on these inputs, or ""."""
        expected = self._expected(reference, arrays)
        got, wrong = outputs_of(other, self.program.signature, arrays)
        if wrong:
            return printable(wrong.splitlines()[0])
        for name, mine, theirs in zip(self.names, got, expected):
            apart = differs(mine, theirs, self.rtol)
            if apart.any():
                place = tuple(int(at) for at in np.argwhere(apart)[0]) if apart.ndim else ()
                count = f"{int(apart.sum())} of {apart.size} elements"
                return f"{name}{list(place)}: expected {theirs[place]}, got {mine[place]}; {count} differ"
        return ""

    def stages(self) -> Found:
        """Runs each stage that can be run."""
        from ..te.interpret import ReadOutside

        results: list[StageResult] = []
        right: str | None = None
        wrong: str | None = None
        reference: Run | None = None
        for stage in self.program.stages:
            try:
                run = self.program.run_at(stage)
                if reference is None:
                    try:
                        self._expected(run, self.inputs.arrays)
                    except ReadOutside as error:
                        if self.inputs.given is not None or self.inputs.low >= 0:
                            raise
                        self.inputs = Inputs(self.program.signature, self.inputs.seed, None, low=0)
                        try:
                            self._expected(run, self.inputs.arrays)
                        except ReadOutside:
                            raise TilewrightValueError(f"{error}: give inputs=") from None
                    reference, found_here = run, ""
                else:
                    found_here = self.difference(reference, run, self.inputs.arrays)
            except CompileError as error:
                results.append(StageResult(stage, "not run", printable(str(error).splitlines()[0])))
                continue
            except TilewrightError as error:
                if stage != "te" or isinstance(error, TilewrightValueError | ReadOutside):
                    raise
                results.append(StageResult(stage, "not run", printable(str(error).splitlines()[0])))
                continue
            results.append(StageResult(stage, "wrong" if found_here else "right", PLACES[stage]))
            if found_here and wrong is None:
                wrong = stage
            elif not found_here and wrong is None:
                right = stage
        return Found(tuple(results), right, wrong)

    def shrink(self, right: str, wrong: str) -> str:
        """Makes the inputs smaller for as long as the stage differs; what differs in the end."""
        reference = self.program.run_at(right)
        other, runs = self.program.run_at(wrong), 0
        found = self.difference(reference, other, self.inputs.arrays)

        def attempt(arrays: list[Array]) -> bool:
            nonlocal runs, found
            if runs >= _RUNS:
                return False
            runs += 1
            try:
                now = self.difference(reference, other, arrays)
            except TilewrightError:
                return False
            if now:
                self.inputs.arrays, found = arrays, now
            return bool(now)

        if self.inputs.given is None:
            for name, symbol in self.inputs.symbols.items():
                for wanted in range(1, self.inputs.values[name]):
                    values = {**self.inputs.values, name: least(symbol, wanted)}
                    if values[name] < self.inputs.values[name] and attempt(self.inputs.make(values)):
                        self.inputs.values = values
                        break
        for at, argument in enumerate(self.program.signature.arguments):
            if not argument.output and not argument.is_number:
                self._shrink_array(at, attempt)
        return found

    def _shrink_array(self, at: int, attempt: Callable[[list[Array]], bool]) -> None:
        """Zeros in the place of parts of an array, halves first; then ones for what is left."""

        def tried(change: Callable[[Array], None]) -> bool:
            arrays = list(self.inputs.arrays)
            flat = arrays[at].copy().reshape(-1)  # pyright: ignore[reportUnknownVariableType]
            change(flat)  # pyright: ignore[reportUnknownArgumentType]
            arrays[at] = flat.reshape(arrays[at].shape)
            return attempt(arrays)

        parts = [np.flatnonzero(self.inputs.arrays[at].reshape(-1))]
        while parts:
            part = parts.pop()
            if not len(part) or tried(lambda flat, part=part: flat.__setitem__(part, 0)) or len(part) == 1:
                continue
            parts += [part[len(part) // 2 :], part[: len(part) // 2]]
        for place in np.flatnonzero(self.inputs.arrays[at].reshape(-1))[:16]:
            if self.inputs.arrays[at].reshape(-1)[place] != 1:
                tried(lambda flat, place=place: flat.__setitem__(place, 1))

    def passes(self, right: str, wrong: str) -> tuple[str, ...]:
        """The first pass between two stages whose result differs, or those of which it is one."""
        if wrong in ("cubin", "host"):
            return ()
        program, reference = self.program, self.program.run_at(right)
        steps = program.steps(right, wrong)
        last_right = -1
        module = copied(program.start_of(right))
        for count in range(len(steps) + 1):
            if count > 0:
                step, before = steps[count - 1], str(module)
                try:
                    module = step.run(module)
                except CompileError:  # nor can more of the passes run
                    break
                is_unchanged = str(module) == before
                if (step.required or is_unchanged) and last_right == count - 1:
                    # A required pass has run already, behind the steps before; one that changes nothing is right.
                    last_right = count
                    continue
                if is_unchanged and not step.required:
                    continue
            behind = [step for step in steps[count:] if step.required]
            try:
                whole = copied(module)
                for step in behind:
                    whole = step.run(whole)
                run = program.compiled(wrong, whole)
            except CompileError:
                continue
            if not self.difference(reference, run, self.inputs.arrays):
                last_right = count
            elif count == 0:
                # What a processor runs was made by passes, too.
                by = ("linalg-to-cpu",) if wrong == "linalg" else ()
                return (*(step.label for step in behind), *by)
            else:
                return tuple(step.label for step in steps[max(last_right, 0) : count])
        return ()
