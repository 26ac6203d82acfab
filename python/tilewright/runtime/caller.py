"""Calls from Python that cost little beside the launch: built functions as builtins of the interpreter.

The builtin (runtime/PythonCall.cpp) takes torch's tensors by DLPack's exchange API, NumPy's arrays by the buffer
protocol and Python's own numbers. It hands everything else to the program's own `__call__`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from ..native.callable import interpreter
from ..native.library import library
from .arguments import Group, by_level
from .device import DeviceKind, cuda
from .ffi import Any_, raise_error
from .structs import otherwise_of

if TYPE_CHECKING:
    from .arguments import Argument
    from .signature import Signature

__all__ = ["make_caller"]


# TilewrightCallerInput and those that follow of runtime/PythonCall.h
_INPUT, _OUTPUT, _NUMBER, _OPTIONAL, _POINTER, _GROUP = range(6)


class _Item(ctypes.Structure):
    """TilewrightCallerItem of runtime/PythonCall.h."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("kind", ctypes.c_int32),
        ("first", ctypes.c_int32),
        ("count", ctypes.c_int32),
        ("padding", ctypes.c_int32),
        ("otherwise", Any_),
    )


class Entered(Protocol):
    """What is compiled."""

    @property
    def entry(self) -> int: ...


class Called(Protocol):
    """What a builtin falls back on."""

    @property
    def host(self) -> Entered: ...

    @property
    def signature(self) -> Signature: ...

    def __call__(self, *arrays: object, stream: object = None) -> None: ...


@cache
def _new() -> Any:
    # With the interpreter's lock held, for it makes Python objects.
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.py_object, ctypes.py_object,
        ctypes.py_object,
    )  # fmt: skip
    return prototype(ctypes.cast(library().tilewrightCallerNew, ctypes.c_void_p).value or 0)


@cache
def _set() -> Any:
    prototype = ctypes.PYFUNCTYPE(
        None, ctypes.py_object, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p
    )
    return prototype(ctypes.cast(library().tilewrightCallerSet, ctypes.c_void_p).value or 0)


class _Slow:
    """The call of what the builtin cannot read itself."""

    __slots__ = ("_program",)

    def __init__(self, program: Called) -> None:
        self._program = program

    def __call__(self, *arrays: object, stream: object = None, **named: object) -> object:
        signature, result = self._program.signature, None
        arrays, leaves_outputs = signature.arranged(arrays, named)
        if leaves_outputs:
            arrays, made = signature.with_outputs(arrays)
            result = made[0] if len(made) == 1 else made
        self._program(*arrays, stream=stream)
        return result


def make_caller(program: Called, slow: Callable[..., object] | None = None) -> Callable[..., Any]:
    """A builtin function that calls the program. It keeps the program alive. What it cannot read itself `slow` takes,
    or else the program's own `__call__`."""
    signature = program.signature

    def stream_handle(stream: object, array: Any) -> int:
        _, index = array.__dlpack_device__()
        return signature.stream(stream, cuda(int(index))).handle

    on_gpu = signature.device_kind is DeviceKind.CUDA
    text = f"{signature}\n\n{'On the current stream, or stream=.' if on_gpu else ''}"
    function = _new()(
        ctypes.addressof(interpreter()), signature.name.encode(), text.encode(), slow or _Slow(program),
        stream_handle, raise_error,
    )  # fmt: skip
    items = _items_of(signature)
    # Compiled here: were the first call another's, it would take other arrays than the rest.
    device, count = signature.device_kind.value, len(signature.parameters)
    _set()(function, program.host.entry, device, count, len(items), items)
    return function


def _kind_of(parameter: Argument | Group) -> int:
    if isinstance(parameter, Group):
        return _GROUP
    if parameter.is_number or parameter.is_pointer:
        return _POINTER if parameter.is_pointer else _NUMBER
    return _OPTIONAL if parameter.optional else _OUTPUT if parameter.output else _INPUT


def _items_of(signature: Signature) -> ctypes.Array[_Item]:
    """What a call gives, for the builtin to read."""
    rows = by_level(signature.parameters)
    names: list[str | None] = [one.name for one in signature.parameters]
    for _, one, _ in rows:  # the elements of groups, in the order of these
        if isinstance(one, Group):
            names += one.fields or [None] * len(one.elements)
    items = (_Item * max(len(rows), 1))()
    for i, (name, (_, one, first)) in enumerate(zip(names, rows)):
        size = len(one.elements) if isinstance(one, Group) else 0
        items[i] = _Item(None if name is None else name.encode(), _kind_of(one), first, size, 0, otherwise_of(one))
    return items
