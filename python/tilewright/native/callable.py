"""Objects whose call costs no more than a builtin's (runtime/PythonCallable.cpp).

The library has no part of Python's headers: it is given the functions of the interpreter that it calls.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from .library import library

__all__ = ["CallableBase", "Interpreter", "hold_lock", "holds_lock", "interpreter", "set_target", "shorten_calls"]

# TilewrightInterpreter of runtime/PythonCall.h, up to `none`.
_FUNCTIONS = (
    "Py_IncRef", "Py_DecRef", "PyEval_SaveThread", "PyEval_RestoreThread", "PyObject_Call", "PyTuple_New",
    "PyTuple_SetItem", "PyTuple_GetItem", "PyTuple_Size", "PyDict_New", "PyDict_SetItem", "PyCapsule_New",
    "PyCapsule_GetPointer", "PyCFunction_NewEx", "PyObject_GetAttrString", "PyErr_Clear", "PyType_IsSubtype",
    "PyObject_GetBuffer", "PyBuffer_Release", "PyUnicode_CompareWithASCIIString", "PyLong_AsVoidPtr", "PyErr_Occurred",
    "PyType_FromSpec", "PyType_GetSlot", "PyVectorcall_Call",
)  # fmt: skip
_NUMBER_FUNCTIONS = ("PyLong_AsLongLongAndOverflow", "PyFloat_AsDouble")
_SEQUENCE_FUNCTIONS = ("PySequence_Size", "PySequence_GetItem")
_HAVE_VECTORCALL = 1 << 11  # Py_TPFLAGS_HAVE_VECTORCALL


class Interpreter(ctypes.Structure):
    """TilewrightInterpreter."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in _FUNCTIONS),
        ("none", ctypes.c_void_p),
        ("array_type", ctypes.c_void_p),
        ("type_offset", ctypes.c_ssize_t),
        ("none_references", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in _NUMBER_FUNCTIONS),
        ("long_type", ctypes.c_void_p),
        ("float_type", ctypes.c_void_p),
        ("bool_type", ctypes.c_void_p),
        ("is_true", ctypes.c_void_p),
        *((name, ctypes.c_void_p) for name in _SEQUENCE_FUNCTIONS),
        ("tuple_type", ctypes.c_void_p),
        ("list_type", ctypes.c_void_p),
    )


@cache
def interpreter() -> Interpreter:
    """What the library calls of this interpreter."""
    addresses, of_numbers, of_sequences = (
        [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in names]
        for names in (_FUNCTIONS, _NUMBER_FUNCTIONS, _SEQUENCE_FUNCTIONS)
    )
    # The header of an object ends with its type, on the interpreter with the GIL and on the one without.
    offset = object.__basicsize__ - ctypes.sizeof(ctypes.c_void_p)
    # In front of it stands the count of references, which None does without from 3.12 on.
    counted = id(None) + offset - ctypes.sizeof(ctypes.c_ssize_t) if sys.version_info < (3, 12) else None
    numbers = (*of_numbers, id(int), id(float), id(bool), id(True))
    sequences = (*of_sequences, id(tuple), id(list))
    return Interpreter(*addresses, id(None), id(np.ndarray), offset, counted, *numbers, *sequences)


def _function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of the library, called with the interpreter's lock held."""
    return ctypes.PYFUNCTYPE(result, *arguments)(ctypes.cast(getattr(library(), name), ctypes.c_void_p).value or 0)


if TYPE_CHECKING:

    class CallableBase:
        """The base of classes whose objects call what `set_target` gives them."""

        __slots__ = ()

        def __call__(self, *arguments: Any, **named: Any) -> Any:
            """Calls the target."""

else:
    CallableBase = _function("tilewrightCallableType", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p)(
        ctypes.addressof(interpreter()), b"tilewright.native.callable.CallableBase"
    )

_Derived = TypeVar("_Derived", bound=CallableBase)
_set = _function("tilewrightCallableSet", None, ctypes.py_object, ctypes.py_object)
_hold = _function("tilewrightCallableHold", None, ctypes.py_object, ctypes.c_int32)
_holds = _function("tilewrightCallableHolds", ctypes.c_int32, ctypes.py_object)


def set_target(made: CallableBase, target: Callable[..., Any]) -> None:
    """What the object calls from now on. A builtin of `runtime.caller` stays for good."""
    _set(made, target)


def hold_lock(made: CallableBase, holds: bool) -> None:
    """Whether calls keep the interpreter's lock while they launch."""
    _hold(made, holds)


def holds_lock(made: CallableBase) -> bool:
    """What `hold_lock` said last, at first False."""
    return bool(_holds(made))


def shorten_calls(derived: type[_Derived]) -> type[_Derived]:
    """For a class that overrides no call. Before Python 3.12 it does not get the short way from its base."""
    if not derived.__flags__ & _HAVE_VECTORCALL:
        _function("tilewrightCallableShorten", None, ctypes.py_object, ctypes.c_uint64)(derived, derived.__flags__)
    return derived
