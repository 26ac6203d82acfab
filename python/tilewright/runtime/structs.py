"""Signatures as the run time has them: the structs of runtime/host/ABI.h."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import dlpack
from .arguments import Argument, Group, Symbol, by_level, places_of
from .ffi import TYPE_LEFT_OUT, Any_
from .numbers import any_of

if TYPE_CHECKING:
    from .signature import Signature

__all__ = ["as_struct", "otherwise_of"]

_NO_MAXIMUM = (1 << 63) - 1  # of an extent that may be as large as any
_NO_MINIMUM = -1 << 63


class _Extent(ctypes.Structure):
    """TilewrightExtent of runtime/host/ABI.h."""

    _fields_ = (
        ("number", ctypes.c_int64),
        ("symbol", ctypes.c_char_p),
        ("divisible_by", ctypes.c_int64),
        ("minimum", ctypes.c_int64),
        ("maximum", ctypes.c_int64),
    )


class _ArgumentStruct(ctypes.Structure):
    """TilewrightArgument of runtime/host/ABI.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("extents", ctypes.POINTER(_Extent)),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("output", ctypes.c_int32),
        ("alignment", ctypes.c_int32),
        ("kind", ctypes.c_int32),
        ("optional", ctypes.c_int32),
        ("place", ctypes.c_char_p),
        ("otherwise", Any_),
        ("strides", ctypes.POINTER(_Extent)),
    )


class _ParameterStruct(ctypes.Structure):
    """TilewrightParameter of runtime/host/ABI.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("place", ctypes.c_char_p),
        ("kind", ctypes.c_int32),
        ("first", ctypes.c_int32),
        ("count", ctypes.c_int32),
    )


class _SignatureStruct(ctypes.Structure):
    """TilewrightSignature of runtime/host/ABI.h."""

    _fields_ = (
        ("text", ctypes.c_char_p),
        ("name", ctypes.c_char_p),
        ("arguments", ctypes.POINTER(_ArgumentStruct)),
        ("argument_count", ctypes.c_int32),
        ("device", ctypes.c_int32),
        ("parameters", ctypes.POINTER(_ParameterStruct)),
        ("parameter_count", ctypes.c_int32),
    )


def otherwise_of(parameter: Argument | Group) -> Any_:
    """What it is in a call that leaves it out."""
    if isinstance(parameter, Group):
        return Any_(TYPE_LEFT_OUT, 0, None)
    if parameter.default is not None:
        return any_of(parameter.default)
    return Any_() if parameter.optional else Any_(TYPE_LEFT_OUT, 0, None)


def _as_structs(signature: Signature) -> Any:
    """What a call gives, as the run time has it; None where those are the arguments."""
    if not any(isinstance(one, Group) for one in signature.parameters):
        return None
    numbers = {id(argument): i for i, argument in enumerate(signature.arguments)}
    rows = [
        _ParameterStruct(
            one.name.encode(),
            place.encode(),
            (2 if one.is_shape else 1) if isinstance(one, Group) else 0,
            first if isinstance(one, Group) else numbers[id(one)],
            len(one.elements) if isinstance(one, Group) else 0,
        )
        for place, one, first in by_level(signature.parameters)
    ]
    return (_ParameterStruct * len(rows))(*rows)


def _extents_of(numbers: Sequence[int | Symbol]) -> ctypes.Array[_Extent] | None:
    """Extents or strides as the run time has them."""
    extents = [
        _Extent(number, None, 1, 0, _NO_MAXIMUM)
        if isinstance(number, int)
        else _Extent(
            -1,
            number.name.encode(),
            number.divisible_by,
            _NO_MINIMUM if number.minimum is None else number.minimum,
            _NO_MAXIMUM if number.maximum is None else number.maximum,
        )
        for number in numbers
    ]
    return (_Extent * len(extents))(*extents) if extents else None


def as_struct(signature: Signature) -> _SignatureStruct:
    """The signature as the run time has it, made once."""
    if signature.made_structs:
        return signature.made_structs[0]
    arguments: list[Any] = []
    places = [place for place, one in places_of(signature.parameters) if not isinstance(one, Group)]
    for place, argument in zip(places, signature.arguments):
        extents, strides = _extents_of(argument.shape), _extents_of(argument.strides or ())
        code, bits = dlpack.dtype_code(argument.dtype)
        arguments.append(
            _ArgumentStruct(
                argument.name.encode(),
                extents,
                code | bits << 8 | 1 << 16,
                0 if argument.is_number else len(argument.shape),
                argument.output,
                argument.alignment,
                2 if argument.is_pointer else argument.is_number,
                argument.optional,
                place.encode(),
                otherwise_of(argument),
                strides,
            )
        )
    struct = _SignatureStruct(
        str(signature).encode(), signature.name.encode(), (_ArgumentStruct * len(arguments))(*arguments),
        len(arguments), signature.device_kind.value, _as_structs(signature), len(signature.parameters),
    )  # fmt: skip
    signature.made_structs.append(struct)
    return struct
