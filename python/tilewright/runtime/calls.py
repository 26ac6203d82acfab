"""What a call gives, as a value for each argument, and whether these fit: the rules are runtime/host's."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightTypeError, TilewrightValueError
from ..native.library import library
from . import dlpack
from .arguments import Group, OtherFields
from .arrays import Array
from .ffi import TYPE_DLTENSOR, TYPE_LEFT_OUT, Any_

if TYPE_CHECKING:
    from .arguments import Argument
    from .signature import Signature

__all__ = ["LEFT_OUT", "check", "flattened", "leaves_outputs"]


class LeftOut:
    """What stands in a call for an output that is still to be allocated."""

    def __repr__(self) -> str:
        return "what is left out"


LEFT_OUT = LeftOut()


class _Tuple(ctypes.Structure):
    """TilewrightArray of runtime/host/ABI.h."""

    _fields_ = (
        ("references", ctypes.c_uint64),
        ("type", ctypes.c_int32),
        ("padding", ctypes.c_int32),
        ("deleter", ctypes.c_void_p),
        ("elements", ctypes.POINTER(Any_)),
        ("count", ctypes.c_int64),
        ("capacity", ctypes.c_int64),
        ("elements_deleter", ctypes.c_void_p),
    )


_GIVEN = -2  # the type of a value that stands for an object of the caller's, by its number
_ARRAY, _DICT, _OBJECT = 71, 72, 74
_KINDS: dict[type, int] = {type(None): 0, int: 1, bool: 2, float: 3, str: 8, bytes: 9, dict: _DICT}


def _kind_of(value: Any) -> Any_:
    """A value of the kind that something is, for a message to name."""
    is_array = hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__")
    return Any_(TYPE_DLTENSOR if is_array else _KINDS.get(type(value), _OBJECT), 0, 1)  # pyright: ignore[reportUnknownArgumentType]


@cache
def _arrange() -> Any:
    function = library().tilewrightHostArrange
    function.argtypes = (
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p,
        ctypes.c_size_t,
    )  # fmt: skip
    return function


@cache
def _leaves() -> Any:
    function = library().tilewrightHostLeavesOutputs
    function.argtypes = (ctypes.c_void_p, ctypes.c_int32)
    return function


def leaves_outputs(signature: Signature, count: int) -> bool:
    """Whether a call of so many values leaves out the outputs, which are to be allocated."""
    return bool(_leaves()(signature.address, count))


def flattened(signature: Signature, given: Sequence[Any], inputs: bool = False) -> list[Any]:
    """A value for each argument, of what a call gives: groups are taken apart, what it leaves out is what it is then.

    With `inputs` it has left its outputs out, too, which are `LEFT_OUT`.

    Raises
    ------
    TypeError
        For a wrong number of arguments, and for what is no group of the size that is expected.
    """
    if signature.parameters is signature.arguments and len(given) == len(signature.arguments) and not inputs:
        return list(given)
    objects: list[Any] = []
    keep: list[Any] = []

    def value_of(place: str, parameter: Argument | Group, value: Any) -> Any_:
        if not isinstance(parameter, Group):
            objects.append(value)
            return Any_(_GIVEN, 0, len(objects) - 1)
        try:
            elements = parameter.elements_of(value)
        except OtherFields as error:
            raise TilewrightTypeError(f"{signature}: argument {place} ({parameter.name}): {error}") from None
        if elements is None:
            return _kind_of(value)
        values = (Any_ * max(len(elements), 1))()
        for i, (element, one) in enumerate(zip(parameter.elements, elements)):
            at = f".{parameter.fields[i]}" if parameter.fields else f"[{i}]"
            values[i] = value_of(place + at, element, one)
        keep.append(_Tuple(1, _ARRAY, 0, None, values, len(elements), len(elements), None))
        keep.append(values)
        return Any_(_ARRAY, 0, ctypes.addressof(keep[-2]))

    parameters: list[Argument | Group] = list(signature.parameters)
    if inputs:
        parameters = [each for each in parameters if isinstance(each, Group) or not each.is_allocated]
    values = (Any_ * max(len(given), 1))()
    for i, (parameter, one) in enumerate(zip(parameters, given)):
        values[i] = value_of(str(i), parameter, one)
    count = len(signature.arguments)
    found = (Any_ * max(count, 1))()
    message = ctypes.create_string_buffer(4096)
    if _arrange()(signature.address, values, len(given), 2 if inputs else 0, found, message, len(message)):
        raise TilewrightTypeError(message.value.decode())
    result: list[Any] = []
    for argument, value in zip(signature.arguments, found):
        if value.type == _GIVEN:
            result.append(objects[value.pointer or 0])
        else:
            result.append(LEFT_OUT if value.type == TYPE_LEFT_OUT else argument.default)
    return result


@cache
def _host_check() -> Any:
    function = library().tilewrightHostCheck
    function.argtypes = (
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32, ctypes.c_char_p, ctypes.c_int32, ctypes.c_char_p,
        ctypes.c_size_t,
    )  # fmt: skip
    return function


@cache
def _host_unpack() -> Any:
    function = library().tilewrightHostUnpack
    function.argtypes = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    return function


def check(
    signature: Signature, found: list[Array | Any_], count: int, partial: bool = False
) -> tuple[list[int], list[int]]:
    """The addresses and extents of a call. Raises what is wrong with it: the rules and their texts are
    runtime/host/Check.cpp's, the same as for calls that come from elsewhere."""
    tensors, values = list[Any](), list[Any]()
    for one in found:
        if isinstance(one, Any_):
            values.append(one)
            continue
        rank = len(one.shape)
        shape = (ctypes.c_int64 * rank)(*one.shape)
        strides = None if one.strides is None else (ctypes.c_int64 * rank)(*one.strides)
        tensors.append(dlpack.DLTensor(one.address, *one.device, rank, *one.dtype, shape, strides, 0))
        values.append(Any_(TYPE_DLTENSOR, 0, ctypes.addressof(tensors[-1])))
    args = (Any_ * len(values))(*values)
    read_only = bytes(isinstance(one, Array) and one.read_only for one in found)
    ask = _host_check()
    if ask(signature.address, args, count, read_only, partial, None, 0):
        message = ctypes.create_string_buffer(4096)
        code = ask(signature.address, args, count, read_only, partial, message, len(message))
        raise (TilewrightTypeError if code == 1 else TilewrightValueError)(message.value.decode())
    if partial or count != len(values):
        return [], []
    flags = sum(argument.optional for argument in signature.arguments)
    data = (ctypes.c_int64 * (count + flags))()
    extents = (ctypes.c_int64 * (sum(argument.extent_count for argument in signature.arguments) + flags))()
    _host_unpack()(signature.address, args, data, extents)
    return list(data), list(extents)
