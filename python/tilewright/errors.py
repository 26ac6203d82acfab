"""The errors that Tilewright raises, all of them `TilewrightError`s.

Those for wrong arguments are TypeErrors or ValueErrors as well.

Every error from a schedule or an expression names the user's own file and line.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = [
    "CompileError",
    "Diagnostic",
    "DriverError",
    "LaunchError",
    "ScheduleError",
    "SimulationError",
    "TilewrightAttributeError",
    "TilewrightBufferError",
    "TilewrightError",
    "TilewrightImportError",
    "TilewrightKeyError",
    "TilewrightMemoryError",
    "TilewrightTypeError",
    "TilewrightValueError",
]


class TilewrightError(RuntimeError):
    """The base of all errors that Tilewright raises: what it refuses, and what fails while a program runs.

    >>> from tilewright import te
    >>> try:
    ...     te.placeholder((-1,), name="A")
    ... except TilewrightError as error:
    ...     print(isinstance(error, ValueError))
    True
    """


# Modules import these under the names of Python's own (`import TilewrightTypeError as TypeError`), so that what they
# raise is caught by either name. Where a module catches Python's own, it raises these by their whole names.


class TilewrightTypeError(TilewrightError, TypeError):
    """A TypeError of Tilewright's: an argument of a type that is not taken."""


class TilewrightValueError(TilewrightError, ValueError):
    """A ValueError of Tilewright's: an argument of the right type that is not taken."""


class TilewrightKeyError(TilewrightError, KeyError):
    """A KeyError of Tilewright's: a name that is not there."""


class TilewrightAttributeError(TilewrightError, AttributeError):
    """An AttributeError of Tilewright's: what scripts for TVM ask for and is not here."""


class TilewrightImportError(TilewrightError, ImportError):
    """An ImportError of Tilewright's: a module that scripts for TVM import and that is not here."""


class TilewrightBufferError(TilewrightError, BufferError):
    """A BufferError of Tilewright's: an array that DLPack cannot hand over."""


class TilewrightMemoryError(TilewrightError, MemoryError):
    """A MemoryError of Tilewright's: an allocation that failed."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message of the compiler, with the place in the user's program that it is about.

    >>> print(Diagnostic("error", "expected 2 axes, got 3", "mmult.py:14"))
    mmult.py:14: error: expected 2 axes, got 3
    """

    severity: str
    message: str
    location: str = ""
    notes: tuple[Diagnostic, ...] = field(default=())

    def __str__(self) -> str:
        lines = [
            f"{self.location}: {self.severity}: {self.message}" if self.location else f"{self.severity}: {self.message}"
        ]
        lines += [str(note) for note in self.notes]
        return "\n".join(lines)


class CompileError(TilewrightError):
    """A program that does not compile. `stage` is the stage that was being made, `diagnostics` are MLIR's own."""

    def __init__(self, message: str, stage: str = "", diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        super().__init__(message)
        self.stage = stage
        self.diagnostics = diagnostics


class ScheduleError(CompileError):
    """A schedule that cannot be: an unknown axis, a consumer that is none, a bind that does not fit."""


class LaunchError(TilewrightError):
    """A launch that failed or that found no device to run on."""


class DriverError(LaunchError):
    """A call of the CUDA driver that failed: `code` and `name` of the result, the `call`, and the `detail`, which says
    what it was for."""

    call: str
    code: int
    name: str
    detail: str

    def __init__(self, call: str, code: int, name: str, detail: str = "") -> None:
        super().__init__(f"{call} failed with {name} ({code})" + (f": {detail}" if detail else ""))
        self.call, self.code, self.name, self.detail = call, code, name, detail


class SimulationError(TilewrightError):
    """What the simulator found while a program ran: `reports` holds one text for each kind and place."""

    reports: tuple[str, ...]

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.reports = tuple(text.splitlines())
