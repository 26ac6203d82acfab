"""Passes of others, from shared libraries that MLIR's tools load too."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from ..errors import TilewrightError

__all__ = ["load_pass_plugin"]

_API_VERSION = 1
_loaded: dict[Path, ctypes.CDLL] = {}


class _Info(ctypes.Structure):
    """mlir::PassPluginLibraryInfo."""

    _fields_ = [
        ("api_version", ctypes.c_uint32),
        ("name", ctypes.c_char_p),
        ("version", ctypes.c_char_p),
        ("register_passes", ctypes.CFUNCTYPE(None)),
    ]


def load_pass_plugin(path: str | os.PathLike[str]) -> str:
    """Loads an MLIR plug-in with passes from the file `path`, and returns its name. ``after=`` then takes its passes by
    name.

    The plug-in is a shared library with the function ``mlirGetPassPluginInfo``, as for ``tilewright-opt
    --load-pass-plugin``. Build it with the headers of the MLIR that the bindings use, and link it with
    ``libMLIRPythonCAPI.so``. A plug-in for another MLIR may end the process. The tutorial's page on passes builds a
    plug-in. A plug-in that is loaded already is not loaded again.

    Raises
    ------
    TilewrightError
        Where there is no such file, or it is no plug-in of this version of MLIR's interface.

    >>> load_pass_plugin("double-by-adding.so")             # doctest: +SKIP
    'DoubleByAdding'
    """
    file = Path(path).resolve()
    if not file.is_file():
        raise TilewrightError(f"{path}: expected a pass plug-in, got no such file")
    first = file not in _loaded
    try:
        library = _loaded[file] if file in _loaded else ctypes.CDLL(str(file))
        entry = library.mlirGetPassPluginInfo
    except (OSError, AttributeError) as error:
        raise TilewrightError(
            f"{path}: expected a pass plug-in with the function mlirGetPassPluginInfo: {error}"
        ) from None
    entry.restype = _Info
    info = entry()
    if info.api_version != _API_VERSION:
        raise TilewrightError(
            f"{path}: expected a pass plug-in of version {_API_VERSION} of MLIR's interface, got {info.api_version}"
        )
    if first:
        info.register_passes()
        _loaded[file] = library
    return info.name.decode()
