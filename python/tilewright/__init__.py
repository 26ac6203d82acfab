"""Tilewright: tensor expressions and schedules, compiled through MLIR to GPU kernels."""

from . import te
from .driver import Function, LaunchConfig, build, lower
from .errors import CompileError, DriverError, LaunchError, ScheduleError, TilewrightError
from .schedule import create_schedule
from .target import Target

__version__ = "0.1.0"
__all__ = [
    "CompileError",
    "DriverError",
    "Function",
    "LaunchConfig",
    "LaunchError",
    "ScheduleError",
    "Target",
    "TilewrightError",
    "build",
    "create_schedule",
    "lower",
    "te",
]
