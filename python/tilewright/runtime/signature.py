"""The signature of a built function: what its arguments must be, and what a call needs of them.

`Signature.bind` takes any arrays (NumPy's, DLPack's, those of `__cuda_array_interface__`, ours) and numbers, checks
them and gives the addresses and extents for the host program. Every message names the function's signature, the
argument, what was expected and what was given.
"""

from __future__ import annotations

import ctypes
import operator
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

import numpy as np

from ..dtypes import as_dtype
from ..errors import TilewrightTypeError, TilewrightValueError
from .arguments import Argument, Group, Symbol, arguments_of, places_of
from .arrays import Array, Bound, Refused, device_of, read_array
from .calls import LEFT_OUT, check, flattened, leaves_outputs
from .device import Device, DeviceKind, cpu, current_gpu
from .ffi import Any_
from .ndarray import NDArray, empty
from .numbers import NotANumber, address_of, any_of
from .stream import Stream, as_stream, stream_of_arrays
from .structs import as_struct

if TYPE_CHECKING:
    from mlir import ir

__all__ = ["Signature"]


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of a function, in order, and the kind of device that their memory must be on.

    `parameters` are what a call gives: the arguments, where it gives them one by one, or else those and groups of them.

    >>> add = Signature("add", (Argument("A", "float32", (4,)), Argument("B", "float32", (4,), output=True)))
    >>> print(add)
    add(A: float32[4], B: float32[4])
    >>> add.bind((np.zeros(4, "float32"), np.zeros(5, "float32")))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    tilewright.errors.TilewrightValueError: add(...): argument 1 (B): expected extent 4 in dimension 0, got shape (5,)
    """

    name: str
    arguments: tuple[Argument, ...]
    device_kind: DeviceKind = DeviceKind.CPU
    parameters: tuple[Argument | Group, ...] = ()
    made_structs: list[Any] = field(default_factory=list[Any], init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.parameters:
            object.__setattr__(self, "parameters", self.arguments)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    @property
    def address(self) -> int:
        """Of the signature as the run time has it."""
        return ctypes.addressof(as_struct(self))

    @classmethod
    def from_function(cls, function: ir.Operation, device_kind: DeviceKind) -> Signature:
        """The signature of a program: a `func.func` of any stage or the host stage's `llvm.func`."""
        name, arguments, parameters = arguments_of(function)
        return cls(name, arguments, device_kind, parameters)

    # ------------------------------------------------------------------ messages

    def _fail(self, kind: type[Exception], position: int, message: str) -> NoReturn:
        places = [place for place, one in places_of(self.parameters) if not isinstance(one, Group)]
        raise kind(f"{self}: argument {places[position]} ({self.arguments[position].name}): {message}") from None

    # ------------------------------------------------------------------ binding

    def bind(self, arrays: Sequence[object], stream: object = None) -> Bound:
        """Checks what a call gives.

        Raises
        ------
        TypeError
            For a wrong number of arguments, something that is no array, a wrong dtype.
        ValueError
            For a wrong rank, shape, device, memory layout or alignment, a read-only output, an output that shares
            memory with another argument.
        """
        expected = self.arguments
        arrays = flattened(self, arrays)
        device, launch_stream = cpu(), None
        if self.device_kind is DeviceKind.CUDA:
            has_arrays = any(not (argument.is_number or argument.is_pointer) for argument in expected)
            device = device_of(arrays) if has_arrays else current_gpu()
            if stream is None:
                launch_stream = stream_of_arrays(tuple(arrays), device)
            else:
                launch_stream = self.stream(stream, device)
        elif stream is not None and not (isinstance(stream, Stream) and not stream.device.is_cuda):
            raise TilewrightTypeError(f"{self}: expected no stream for arrays on the {self.device_kind}, got one")

        bound = Bound([], [], device, launch_stream)
        found: list[Array | Any_] = []
        for position, array in enumerate(arrays):
            try:
                if expected[position].is_number:
                    found.append(any_of(array))
                elif expected[position].is_pointer:
                    found.append(address_of(array))
                elif expected[position].optional and array is None:
                    found.append(Any_())
                else:
                    found.append(read_array(array, bound))
            except Refused as error:
                check(self, found, len(found), partial=True)  # what is wrong before it is told before it
                kind = TilewrightValueError if error.layout else TilewrightTypeError
                text = str(error).replace("%dtype", expected[position].dtype)
                self._fail(kind, position, text)
            except NotANumber as error:
                check(self, found, len(found), partial=True)
                wanted = "an address" if expected[position].is_pointer else expected[position].dtype
                self._fail(TilewrightTypeError, position, f"expected {wanted}, got {error}")
        bound.data, bound.shape = check(self, found, len(found))
        return bound

    def arranged(self, arrays: Sequence[object], named: Mapping[str, object]) -> tuple[tuple[object, ...], bool]:
        """What a call gives in order, of which some came by their names, and whether it leaves its outputs out.

        >>> add = Signature("add", (Argument("A", "float32", (4,)), Argument("B", "float32", (4,), output=True)))
        >>> add.arranged((1,), {"B": 2}), add.arranged((), {"A": 1})
        (((1, 2), False), ((1,), True))
        """
        if not named:
            return tuple(arrays), leaves_outputs(self, len(arrays))
        names = [parameter.name for parameter in self.parameters]
        found = dict(zip(names, arrays))
        for name, value in named.items():
            if name not in names:
                raise TilewrightTypeError(f"{self}: expected no argument called {name!r}")
            if name in found:
                raise TilewrightTypeError(f"{self}: expected argument {name} once, got it twice")
            found[name] = value
        outputs: list[str] = []
        for parameter in self.parameters:
            if isinstance(parameter, Argument) and parameter.name not in found:
                if parameter.is_allocated:
                    outputs.append(parameter.name)
                elif parameter.optional or parameter.default is not None:
                    found[parameter.name] = parameter.default
        missing = [name for name in names if name not in found]
        allocated = sum(isinstance(each, Argument) and each.is_allocated for each in self.parameters)
        if missing and (missing != outputs or len(missing) != allocated):
            least, most = self.count_required, len(names)
            count = f"{least} to {most}" if least < most else f"{most}"
            raise TilewrightTypeError(
                f"{self}: expected {count} argument{'' if most == 1 else 's'}, got none for {', '.join(missing)}"
            )
        given = tuple(found[name] for name in names if name in found)
        return given + tuple(arrays[len(names) :]), bool(missing)

    @property
    def count_required(self) -> int:
        """How many of the parameters a call gives at the least: those that follow may be left out.

        >>> Signature("f", (Argument("A", "int8"), Argument("k", "int8", is_number=True, default=1))).count_required
        1
        """
        required = len(self.parameters)
        while required:
            last = self.parameters[required - 1]
            if isinstance(last, Group) or not (last.optional or last.default is not None):
                break
            required -= 1
        return required

    def with_outputs(self, inputs: Sequence[Any]) -> tuple[tuple[object, ...], tuple[object, ...]]:
        """The arguments of a call that passes only the inputs, with new outputs, and these outputs.

        The outputs are arrays of the library that the first input belongs to.

        >>> add = Signature("add", (Argument("A", "float32", (4,)), Argument("B", "float32", (4,), output=True)))
        >>> arguments, outputs = add.with_outputs([np.zeros(4, "float32")])
        >>> outputs[0] is arguments[1], outputs[0].shape
        (True, (4,))
        """
        arrays = flattened(self, inputs, inputs=True)
        extents: dict[str, int] = {}
        for argument, array in zip(self.arguments, arrays):
            given_extents = (array,) if argument.is_number else getattr(array, "shape", ())
            for wanted, extent in zip(argument.shape, given_extents):
                if isinstance(wanted, Symbol) and isinstance(extent, SupportsIndex):
                    extents.setdefault(wanted.name, operator.index(extent))
        tensors = [
            array
            for argument, array in zip(self.arguments, arrays)
            if not (argument.is_number or argument.is_pointer or array is LEFT_OUT)
            and not (argument.optional and array is None)
        ]
        made: list[object] = []
        for position, argument in enumerate(self.arguments):
            if arrays[position] is not LEFT_OUT:
                continue
            unknown = [str(each) for each in argument.shape if isinstance(each, Symbol) and each.name not in extents]
            if unknown:
                self._fail(
                    TilewrightTypeError,
                    position,
                    f"expected an array, for no input says what its extent {unknown[0]} is",
                )
            shape = tuple(each if isinstance(each, int) else extents[each.name] for each in argument.shape)
            made.append(self._allocate(tensors, len(inputs), shape, argument.dtype))
        outputs, given = iter(made), iter(inputs)
        whole: list[object] = []
        for parameter in self.parameters:
            if isinstance(parameter, Argument) and parameter.is_allocated:
                whole.append(next(outputs))
            else:
                whole.append(next(given, parameter.default if isinstance(parameter, Argument) else None))
        return tuple(whole), tuple(made)

    def _allocate(self, tensors: Sequence[Any], count: int, shape: tuple[int, ...], dtype: str) -> object:
        """A new array of the library that the first input is of."""
        first: Any = next(iter(tensors), None)
        if isinstance(first, np.ndarray):
            return np.empty(shape, as_dtype(dtype))
        if isinstance(first, NDArray):
            return empty(shape, dtype, first.device)
        library_name = type(first).__module__.partition(".")[0]
        theirs = sys.modules.get(library_name)
        if library_name == "torch" and theirs is not None:
            return theirs.empty(shape, dtype=getattr(theirs, dtype), device=first.device)
        if library_name == "cupy" and theirs is not None:
            with first.device:
                return theirs.empty(shape, dtype)
        raise TilewrightTypeError(
            f"{self}: expected {len(self.parameters)} arguments, got {count}: outputs are allocated beside arrays "
            f"of NumPy, torch, CuPy and tw.nd, got {type(first).__name__} first"
        )

    def stream(self, stream: object, device: Device) -> Stream:
        """The stream that a caller gave."""
        try:
            return as_stream(stream, device)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{self}: {error}") from None
