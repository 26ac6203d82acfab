"""Tilewright: tensor expressions and schedules, compiled through MLIR to GPU kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import te
from .driver import Function, LaunchConfig, build, lower
from .errors import CompileError, DriverError, LaunchError, ScheduleError, SimulationError, TilewrightError
from .schedule import create_schedule
from .target import Target

if TYPE_CHECKING:
    from . import nd, testing
    from .runtime import Device, Event, Stream, cpu, cuda, current_stream, synchronize, time_evaluator

__version__ = "0.1.0"
__all__ = [
    "CompileError",
    "Device",
    "DriverError",
    "Event",
    "Function",
    "LaunchConfig",
    "LaunchError",
    "ScheduleError",
    "SimulationError",
    "Stream",
    "Target",
    "TilewrightError",
    "cpu",
    "cuda",
    "current_stream",
    "nd",
    "synchronize",
    "build",
    "create_schedule",
    "lower",
    "te",
    "testing",
    "time_evaluator",
]

# The run time brings NumPy and the JIT; who only builds expressions does not wait for them.
_RUNTIME = ("Device", "Event", "Stream", "cpu", "cuda", "current_stream", "synchronize", "time_evaluator")


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in ("nd", "testing"):
        return import_module(f".{name}", __name__)
    if name in _RUNTIME:
        return getattr(import_module(".runtime", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
