"""From a schedule, a module or IR text to a function that runs: the pipeline, stage by stage."""

from .dispatcher import Dispatch, dispatch
from .entry_points import build, lower
from .function import Function, LaunchConfig

__all__ = ["Dispatch", "Function", "LaunchConfig", "build", "dispatch", "lower"]
