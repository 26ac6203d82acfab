"""A group's call of a library by itself, outside of a call of the model."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..dtypes import DLPACK_CODES
from ..errors import LaunchError
from ..native.library import library as native_library
from ..runtime.device import Device
from ..runtime.dlpack import CUDA, DLTensor
from ..runtime.ffi import TYPE_DLTENSOR, Any_
from ..runtime.ndarray import NDArray, empty
from ..runtime.stream import current_stream
from .library_calls import LibraryCall

if TYPE_CHECKING:
    from .groups import Group

__all__ = ["LibraryRun", "launched"]

_NEEDS_WORKSPACE = 1


def launched(group: Group, arguments: Sequence[Any]) -> Callable[[], object]:
    """Runs a group with these arguments, as a call of the model does: by a library where that computes it. Returns what
    runs it again."""
    if group.library is not None and isinstance(arguments[0], NDArray) and arguments[0].device.is_cuda:
        run = LibraryRun(group.library, arguments[: len(group.inputs) + 1], arguments[0].device)
        try:
            run()
            return run
        except LaunchError:
            pass  # its own kernel runs in the model, too
    group.function(*arguments)
    return partial(group.function, *arguments)


class LibraryRun:
    """A call of a library on a group's inputs and its result, which lie on a GPU, in the current stream.

    Raises LaunchError where the library cannot do it.
    """

    def __init__(self, call: LibraryCall, arrays: Sequence[NDArray], device: Device) -> None:
        self._device, self._row = device, call.row(0, len(arrays) - 1)
        self._arguments, self._tensors = (Any_ * len(arrays))(), (DLTensor * len(arrays))()
        self._shapes = [(ctypes.c_int64 * len(array.shape))(*array.shape) for array in arrays]
        begin = ctypes.addressof(self._tensors)
        for i, (array, shape) in enumerate(zip(arrays, self._shapes)):
            code, bits = DLPACK_CODES[array.dtype.name]
            self._tensors[i] = (array.address, CUDA, device.index, len(array.shape), code, bits, 1, shape, None, 0)
            self._arguments[i] = (TYPE_DLTENSOR, 0, begin + i * ctypes.sizeof(DLTensor))
        self._arrays = tuple(arrays)
        self._state = ctypes.c_void_p()
        self._workspace: NDArray | None = None
        self._run = native_library().tilewrightHostRunLibraryCall
        weakref.finalize(self, _close, self._state)

    def __call__(self) -> None:
        while (code := self._launch()) == _NEEDS_WORKSPACE:
            self._workspace = empty((self._needed,), "uint8", self._device)
        if code:
            raise LaunchError(self._problem)

    def _launch(self) -> int:
        held = self._workspace
        size, problem = ctypes.c_int64(0 if held is None else held.nbytes), ctypes.c_char_p()
        code = self._run(
            ctypes.byref(self._state), ctypes.byref(self._row), self._arguments, self._device.index,
            ctypes.c_void_p(current_stream(self._device).handle),
            ctypes.c_void_p(None if held is None else held.address), ctypes.byref(size), ctypes.byref(problem),
        )  # fmt: skip
        self._needed, self._problem = size.value, (problem.value or b"").decode()
        return code


def _close(state: ctypes.c_void_p) -> None:
    native_library().tilewrightHostCloseLibraryCall(state)
