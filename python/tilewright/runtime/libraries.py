"""Libraries of kernels that groups of a model may be calls of. They are found at run time, and never required."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_mapping, is_sequence
from ..native.library import library as native_library

__all__ = ["LIBRARIES", "FoundLibrary", "LibraryCallRow", "as_libraries", "find_library"]

LIBRARIES = ("cublaslt",)
"""The libraries by name, each at its number in runtime/host/Model.h."""

# Where the wheels of PyPI have them: nvidia-cublas and nvidia-cublas-cu12.
_IN_WHEELS = {"cublaslt": ("cu13/lib/libcublasLt.so.13", "cublas/lib/libcublasLt.so.12")}


class LibraryCallRow(ctypes.Structure):
    """TilewrightLibraryCall of runtime/host/Model.h."""

    _fields_ = tuple(
        (name, ctypes.c_int64)
        for name in (
            "group",
            "library",
            "operation",
            "a",
            "b",
            "bias",
            "residual",
            "result",
            "a_order",
            "b_order",
            "epilogue",
        )  # fmt: skip
    )

    def numbers(self) -> list[int]:
        """The fields in their order."""
        return [getattr(self, field[0]) for field in self._fields_]


@dataclass(frozen=True, slots=True)
class FoundLibrary:
    """A library of a name: its version, or the problem that keeps it from being used."""

    name: str
    version: str = ""
    problem: str = ""


def find_library(name: str, path: str | os.PathLike[str] | None = None) -> FoundLibrary:
    """Opens the library of that name, of `LIBRARIES`, unless it is open.

    `path` is its file, which is the process's library of that name from then on. Without one, what is open or loaded by
    another package comes first. Then come the names of the library, and the wheels of PyPI.

    Raises ValueError for another name.

    >>> bool(find_library("cublaslt", "/nowhere/libcublasLt.so").problem)
    True
    """
    if name not in LIBRARIES:
        raise ValueError(f"expected a library ({', '.join(LIBRARIES)}), got {name!r}")
    if path is not None:
        _use(name, os.fspath(path))
        return _opened(name)
    found = _opened(name)
    if found.problem and not _used.get(name):
        for file in _in_wheels(name):
            _use(name, str(file))
            if not (opened := _opened(name)).problem:
                return opened
        _use(name, None)
    return found


_used: dict[str, str | None] = {}


def _use(name: str, path: str | None) -> None:
    use = native_library().tilewrightHostUseLibrary
    use.argtypes, use.restype = (ctypes.c_int64, ctypes.c_char_p), None
    use(LIBRARIES.index(name), None if path is None else os.fsencode(path))
    _used[name] = path


def _opened(name: str) -> FoundLibrary:
    open_ = native_library().tilewrightHostOpenLibrary
    open_.argtypes, open_.restype = (ctypes.c_int64, ctypes.POINTER(ctypes.c_uint64)), ctypes.c_char_p
    version = ctypes.c_uint64()
    problem: bytes | None = open_(LIBRARIES.index(name), ctypes.byref(version))
    return FoundLibrary(name, str(version.value)) if problem is None else FoundLibrary(name, "", problem.decode())


def _in_wheels(name: str) -> Iterator[Path]:
    spec = importlib.util.find_spec("nvidia")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        yield from (file for each in _IN_WHEELS[name] if (file := Path(folder) / each).exists())


def as_libraries(given: Sequence[str] | Mapping[str, str | os.PathLike[str]]) -> dict[str, Any]:
    """Libraries by name with their files, None where a library is found by its name.

    Raises
    ------
    TypeError
        For what is neither a sequence of names nor a mapping from names to files.
    ValueError
        For a name that is not in `LIBRARIES`.

    >>> as_libraries(["cublaslt"])
    {'cublaslt': None}
    """
    found: dict[Any, Any]
    if is_mapping(given):
        found = dict(given)
    elif is_sequence(given) and not isinstance(given, str):
        found = dict.fromkeys(given)
    else:
        raise TypeError(
            f"expected libraries as a sequence of names, or a mapping from names to files, got {type(given).__name__}"
        )
    for name, path in found.items():
        if name not in LIBRARIES:
            raise ValueError(f"expected a library ({', '.join(LIBRARIES)}), got {name!r}")
        if not isinstance(path, (str, os.PathLike, type(None))):
            raise TypeError(f"expected the file of {name} as a path, got {type(path).__name__}")
    return found
