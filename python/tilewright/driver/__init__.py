"""From a schedule, a module or IR text to a function that runs: the pipeline, stage by stage."""

from .build import build, lower
from .dispatch import Dispatch, dispatch
from .function import Function, LaunchConfig

__all__ = ["Dispatch", "Function", "LaunchConfig", "build", "dispatch", "lower"]
