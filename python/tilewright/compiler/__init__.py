"""From a schedule, a module or IR text to a function that runs: the pipeline, stage by stage."""

from ..instructions import intrinsics_like
from ..te.compiler_interface import CompilerInterface, install
from .dispatcher import Dispatch, dispatch
from .entry_points import build, build_classes, lower
from .function import Function, LaunchConfig
from .pipeline import pipeline_text

__all__ = ["Dispatch", "Function", "LaunchConfig", "build", "build_classes", "dispatch", "lower"]

install(CompilerInterface(lower, build, pipeline_text, intrinsics_like))
