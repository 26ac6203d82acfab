"""The CUDA driver, through cuda-bindings, and nothing before it is needed.

Importing this module loads nothing. The first call loads libcuda and initialises it. If that fails, the error says
whether the driver or the GPU is missing.
"""

from __future__ import annotations

import sys
import threading
from types import ModuleType
from typing import Any

from ..errors import DriverError, LaunchError

__all__ = ["call", "driver_version", "is_finalizing", "module"]

LIBRARY = "libcuda.so.1"
_NO_DEVICE = 100
_INSTEAD = 'targets "sim" and "cpu" need none'

_lock = threading.Lock()
_module: ModuleType | None = None


def is_finalizing() -> bool:
    """True while the interpreter goes down, when the driver may have gone before."""
    return sys is None or sys.is_finalizing()


def _load() -> ModuleType:
    try:
        from cuda.bindings import driver
    except ImportError as error:
        raise LaunchError(f"no CUDA driver: cuda-bindings cannot be imported ({error})") from None
    try:
        (result,) = driver.cuInit(0)
    except RuntimeError as error:
        # cuda-bindings finds libcuda at the first call; its own message names neither what is missing nor what for.
        raise LaunchError(
            f"no CUDA driver: {LIBRARY} was not found; install NVIDIA's driver to run on a GPU ({_INSTEAD})"
        ) from error
    code = int(result)
    if code == _NO_DEVICE:
        raise DriverError("cuInit", code, result.name, f"the driver is there, but no GPU is ({_INSTEAD})")
    if code:
        raise DriverError("cuInit", code, result.name, f"the driver is there, but does not start ({_INSTEAD})")
    return driver


def module() -> Any:
    """cuda-bindings' driver module, initialised.

    Raises
    ------
    LaunchError
        Where there is no driver.
    DriverError
        Where the driver finds no GPU or does not start.
    """
    global _module
    if _module is None:
        with _lock:
            if _module is None:
                _module = _load()
    return _module


def call(name: str, *args: Any) -> Any:
    """Calls a function of the driver and returns its one result, None or the tuple of its results.

    >>> call("cuDriverGetVersion")  # doctest: +SKIP
    13000

    Raises
    ------
    DriverError
        With the call, its code and the code's name.
    """
    result, *values = getattr(module(), name)(*args)
    code = int(result)
    if code:
        raise DriverError(name, code, result.name)
    if not values:
        return None
    return values[0] if len(values) == 1 else tuple(values)


def driver_version() -> str:
    """The version of CUDA that the driver is for, such as "13000". Raises LaunchError where there is no driver."""
    return str(call("cuDriverGetVersion"))
