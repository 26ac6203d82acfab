"""Numbers as arguments of compiled functions."""

from __future__ import annotations

import ctypes
import operator
from functools import cache
from typing import Any

import numpy as np

from ..errors import TilewrightTypeError, TilewrightValueError
from ..native.library import library
from . import dlpack
from .ffi import Any_

__all__ = ["NotANumber", "address_of", "any_of", "bits_of"]

# Of TVMFFIAny.
_INT, _BOOL, _FLOAT, _POINTER, _BIG_INT = 1, 2, 3, 4, 78
_UNSIGNED = 1  # as the padding of an int: its 64 bits have no sign (runtime/host/ABI.h)


class NotANumber(Exception):
    """An object that is no number, with what it is."""


def any_of(value: Any) -> Any_:
    """The number as compiled functions take it; whether it fits is for their checks to say.

    >>> any_of(3).type, any_of(True).type, any_of(np.float32(0.5)).type
    (1, 2, 3)
    """
    if isinstance(value, (bool, np.bool_)):
        return Any_(_BOOL, 0, int(value))  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, (float, np.floating)):
        return Any_(_FLOAT, 0, ctypes.c_uint64.from_buffer(ctypes.c_double(float(value))).value)  # pyright: ignore[reportUnknownArgumentType]
    if not isinstance(value, (int, np.integer)):
        raise NotANumber(type(value).__name__)
    number = operator.index(value)  # pyright: ignore[reportUnknownArgumentType]
    if -1 << 63 <= number < 1 << 63:
        return Any_(_INT, 0, number & (1 << 64) - 1)
    return Any_(_INT, _UNSIGNED, number) if 0 <= number < 1 << 64 else Any_(_BIG_INT, 0, None)


def address_of(value: Any) -> Any_:
    """The address that an int, a `ctypes.c_void_p` or an object with `__tvm_ffi_opaque_ptr__` says.

    >>> address_of(64).pointer, address_of(ctypes.c_void_p(128)).pointer
    (64, 128)
    """
    if isinstance(value, ctypes.c_void_p):
        return Any_(_POINTER, 0, value.value)
    said = getattr(value, "__tvm_ffi_opaque_ptr__", None)
    if said is not None:
        value = said()
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)):
        raise NotANumber(type(value).__name__)  # pyright: ignore[reportUnknownArgumentType]
    return any_of(value)


@cache
def _read() -> Any:
    function = library().tilewrightHostReadNumber
    function.argtypes = (ctypes.POINTER(Any_), ctypes.c_int32, ctypes.POINTER(ctypes.c_int64))
    return function


def bits_of(value: Any, dtype: str, what: str) -> int:
    """The number of that type, as its bits among the extents of a program.

    >>> hex(bits_of(1.5, "float32", "alpha"))
    '0x3fc00000'

    Raises
    ------
    TypeError, ValueError
        Where it is none of that type.
    """
    bits = ctypes.c_int64()
    code, size = dlpack.dtype_code(dtype)
    try:
        found = _read()(any_of(value), code | size << 8 | 1 << 16, bits)
    except NotANumber as error:
        raise TilewrightTypeError(f"{what}: expected {dtype}, got {error}") from None
    if found:
        raise (TilewrightTypeError if found == 1 else TilewrightValueError)(f"{what}: expected {dtype}, got {value!r}")
    return bits.value
