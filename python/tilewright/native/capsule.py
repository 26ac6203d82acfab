"""Python's capsules: addresses under a name.

The functions are prototypes of our own. Those of `ctypes.pythonapi` are one object for the whole process, so that
whoever sets their types sets them for all.
"""

from __future__ import annotations

import ctypes

__all__ = ["capsule_like", "capsule_name", "capsule_pointer"]


def _function(name: str, result: object, *arguments: object) -> ctypes._FuncPointer:  # pyright: ignore[reportPrivateUsage]
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))  # type: ignore[arg-type]


_get_name = _function("PyCapsule_GetName", ctypes.c_void_p, ctypes.py_object)
_get_pointer = _function("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
_new = _function("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)


def capsule_name(capsule: object) -> bytes:
    """The name of a capsule; ValueError, Python's own, of another object."""
    return ctypes.cast(_get_name(capsule), ctypes.c_char_p).value or b""


def capsule_pointer(capsule: object) -> int:
    """The address inside a capsule."""
    return _get_pointer(capsule, _get_name(capsule))


def capsule_like(capsule: object, address: int) -> object:
    """A capsule of `address` under the name of another, which stays where it is."""
    return _new(address, _get_name(capsule), None)
