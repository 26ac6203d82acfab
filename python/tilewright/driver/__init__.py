"""From a schedule, a module or IR text to a function that runs: the pipeline, stage by stage."""

from .build import build, lower
from .function import Function, LaunchConfig

__all__ = ["Function", "LaunchConfig", "build", "lower"]
