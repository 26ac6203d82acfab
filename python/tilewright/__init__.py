"""Tilewright: tensor expressions and schedules, compiled through MLIR to GPU kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import cache, target, te
from .cache import Cache
from .compiler import Dispatch, Function, LaunchConfig, build, dispatch, lower
from .errors import CompileError, DriverError, LaunchError, ScheduleError, SimulationError, TilewrightError
from .native.dynamo import leave_calls_to_python
from .target import Target
from .te.schedule import create_schedule
from .tvm_compat.missing_names import attribute_of

leave_calls_to_python()

if TYPE_CHECKING:
    from . import nd, ops, runtime, testing, tir, transform, tuning, viewer
    from .aot.library import export_header, export_library, export_object
    from .aot.load import load_model
    from .ir.plugins import load_pass_plugin
    from .models import compile
    from .rules import auto_schedule
    from .runtime import (
        Device,
        Event,
        Stream,
        cpu,
        cuda,
        current_stream,
        gpu,
        synchronize,
        time_evaluator,
    )
    from .runtime.cpu_program import num_threads, set_num_threads
    from .runtime.device import device
    from .tuning import tune
    from .viewer import view, view_data

__version__ = "0.1.0"
__all__ = [
    "Cache",
    "CompileError",
    "Device",
    "Dispatch",
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
    "cache",
    "cpu",
    "cuda",
    "current_stream",
    "device",
    "dispatch",
    "export_header",
    "export_library",
    "export_object",
    "gpu",
    "load_model",
    "load_pass_plugin",
    "nd",
    "num_threads",
    "runtime",
    "set_num_threads",
    "synchronize",
    "auto_schedule",
    "build",
    "compile",
    "create_schedule",
    "lower",
    "ops",
    "target",
    "te",
    "testing",
    "time_evaluator",
    "tir",
    "transform",
    "tune",
    "tuning",
    "view",
    "view_data",
    "viewer",
]

# The run time brings NumPy and the JIT; who only builds expressions does not wait for them.
_RUNTIME = ("Device", "Event", "Stream", "cpu", "cuda", "current_stream", "gpu", "synchronize", "time_evaluator")
_missing = attribute_of("", f"module {__name__!r}")


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name == "TVMError":
        return TilewrightError
    if name == "convert":
        return import_module(".tir", __name__).convert
    if name == "hybrid":
        return te.hybrid
    if name in ("contrib", "error", "ir", "nd", "ops", "runtime", "testing", "tir", "transform", "tuning", "viewer"):
        return import_module(f".{name}", __name__)
    if name == "auto_schedule":
        return import_module(".rules", __name__).auto_schedule
    if name == "device":
        return import_module(".runtime.device", __name__).device
    if name in ("export_header", "export_library", "export_object"):
        return getattr(import_module(".aot.library", __name__), name)
    if name == "load_model":
        return import_module(".aot.load", __name__).load_model
    if name == "compile":
        return import_module(".models", __name__).compile
    if name == "tune":
        return import_module(".tuning", __name__).tune
    if name in ("view", "view_data"):
        return getattr(import_module(".viewer", __name__), name)
    if name == "load_pass_plugin":
        return import_module(".ir.plugins", __name__).load_pass_plugin
    if name in ("num_threads", "set_num_threads"):
        return getattr(import_module(".runtime.cpu_program", __name__), name)
    if name in _RUNTIME:
        return getattr(import_module(".runtime", __name__), name)
    return _missing(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
