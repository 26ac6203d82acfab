"""Calls from Python that cost little beside the launch: built functions as builtins of the interpreter.

The builtin (runtime/PythonCall.cpp) takes torch's tensors by DLPack's exchange API, NumPy's arrays by the buffer
protocol and Python's own numbers. It hands everything else to the program's own `__call__`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from ..driver.callable import interpreter
from ..ir import library
from .device import DeviceKind, cuda
from .ffi import raise_error

if TYPE_CHECKING:
    from .arguments import Signature

__all__ = ["make_caller"]


_NUMBER, _OPTIONAL = 2, 3  # TilewrightCallerNumber and TilewrightCallerOptional of runtime/PythonCall.h


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
        None, ctypes.py_object, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_char_p, ctypes.c_char_p
    )
    return prototype(ctypes.cast(library().tilewrightCallerSet, ctypes.c_void_p).value or 0)


class _Slow:
    """The call of what the builtin cannot read itself."""

    __slots__ = ("_program",)

    def __init__(self, program: Called) -> None:
        self._program = program

    def __call__(self, *arrays: object, stream: object = None, **named: object) -> object:
        signature, result = self._program.signature, None
        if named:
            arrays = signature.arranged(arrays, named)
        outputs = sum(argument.output for argument in signature.arguments)
        if outputs and len(arrays) == len(signature.arguments) - outputs:
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
    kinds = bytes(
        _NUMBER if argument.is_number else _OPTIONAL if argument.optional else argument.output
        for argument in signature.arguments
    )
    names = b"".join(argument.name.encode() + b"\0" for argument in signature.arguments)
    # Compiled here: were the first call another's, it would take other arrays than the rest.
    _set()(function, program.host.entry, len(kinds), signature.device_kind.value, kinds, names)
    return function
