"""The arguments of a built function: what each must be, and what a call needs of it.

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
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, NoReturn, SupportsIndex

import numpy as np

from ..ir import library
from . import dlpack
from .device import Device, DeviceKind, cpu, cuda
from .ffi import TYPE_DLTENSOR, Any_
from .ndarray import NDArray, as_dtype, empty, is_row_major
from .numbers import NotANumber, address_of, any_of
from .parameters import LEFT_OUT, Group, flattened, leaves_outputs, parameters_of, places_of
from .stream import Event, Stream, as_stream, stream_of_arrays

if TYPE_CHECKING:
    from mlir import ir

__all__ = ["Argument", "Bound", "Signature", "Symbol"]

ALIGNMENT = 16
_NO_MAXIMUM = (1 << 63) - 1  # of an extent that may be as large as any
_NO_MINIMUM = -1 << 63
_LEFT_OUT = -1  # the type of what a call leaves out
_BITS = {"bool": 8, "bfloat16": 16}


def _itemsize(dtype: str) -> int:
    if dtype.startswith("float8"):
        return 1
    return _BITS.get(dtype, int("".join(filter(str.isdigit, dtype)) or 8)) // 8


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbolic extent or stride: arguments that share the name share the number."""

    name: str
    divisible_by: int = 1
    minimum: int | None = 0
    maximum: int | None = None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Argument:
    """What one argument must be; `output` marks what the function writes.

    An argument with `is_number` is a number; its one extent, where it has one, is the symbol that it stands for, whose
    least value may be None, and `default` what it is in calls that leave it out, None where none may. In the place of
    an `optional` one a call may give None. One with `is_pointer` is given by its address. A tensor that is not
    row-major has `strides`, in elements.

    >>> str(Argument("A", "float32", (Symbol("n"), 4)))
    'A: float32[n, 4]'
    >>> str(Argument("alpha", "float32", is_number=True, default=1.0))
    'alpha: float32 = 1.0'
    >>> str(Argument("A", "float32", (Symbol("n"), 4), strides=(Symbol("ld"), 1)))
    'A: float32[n, 4] strides (ld, 1)'
    """

    name: str
    dtype: str
    shape: tuple[int | Symbol, ...] = ()
    output: bool = False
    alignment: int = ALIGNMENT
    is_number: bool = False
    optional: bool = False
    default: int | float | bool | None = None
    is_pointer: bool = False
    strides: tuple[int | Symbol, ...] | None = None

    @property
    def is_allocated(self) -> bool:
        """Whether a call may leave it out to have it allocated, where it is in no group."""
        return self.output and not self.is_pointer

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return _itemsize(self.dtype)

    @property
    def extent_count(self) -> int:
        """How many of the program's extents it takes: its dimensions, with their strides where it has its own, or one
        for a number."""
        return 1 if self.is_number else len(self.shape) + len(self.strides or ())

    def __str__(self) -> str:
        if self.is_number:
            return f"{self.name}: {self.dtype}{'' if self.default is None else f' = {self.default!r}'}"
        extents, kind = ", ".join(map(str, self.shape)), "pointer to " if self.is_pointer else ""
        strides = ""
        if self.strides is not None:
            strides = f" strides ({', '.join(map(str, self.strides))}{',' * (len(self.strides) == 1)})"
        return f"{self.name}: {kind}{self.dtype}[{extents}]{strides}{' or None' if self.optional else ''}"


@dataclass(slots=True)
class Bound:
    """Checked arguments: `data` and `shape` are the host program's, `keep` must live until the launches are made."""

    data: list[int]
    shape: list[int]
    device: Device
    stream: Stream | None
    keep: list[object] = field(default_factory=list)
    arrays: list[NDArray] = field(default_factory=list)


@dataclass(slots=True)
class _Array:
    """What is known of an array that was given, as DLPack puts it: strides are in elements, None are row-major; the
    dtype is code, bits and lanes; the device is kind and index."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    dtype: tuple[int, int, int]
    device: tuple[int, int]
    read_only: bool


class _Refused(Exception):
    """An object that no array can be read from, with the reason. `layout`: it is the array's layout."""

    def __init__(self, message: str, layout: bool = False) -> None:
        super().__init__(message)
        self.layout = layout


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of a function, in order, and the kind of device that their memory must be on.

    `parameters` are what a call gives: the arguments, where it gives them one by one, or else those and groups of them.

    >>> add = Signature("add", (Argument("A", "float32", (4,)), Argument("B", "float32", (4,), output=True)))
    >>> print(add)
    add(A: float32[4], B: float32[4])
    >>> add.bind((np.zeros(4, "float32"), np.zeros(5, "float32")))
    Traceback (most recent call last):
        ...
    ValueError: add(A: float32[4], B: float32[4]): argument 1 (B): expected extent 4 in dimension 0, got shape (5,)
    """

    name: str
    arguments: tuple[Argument, ...]
    device_kind: DeviceKind = DeviceKind.CPU
    parameters: tuple[Argument | Group, ...] = ()
    _made: list[_SignatureStruct] = field(default_factory=list, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.parameters:
            object.__setattr__(self, "parameters", self.arguments)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parameters))})"

    @property
    def address(self) -> int:
        """Of the signature as the run time has it."""
        return ctypes.addressof(_as_struct(self))

    @classmethod
    def from_function(cls, function: ir.Operation, device_kind: DeviceKind) -> Signature:
        """The signature of a program: a `func.func` of any stage or the host stage's `llvm.func`."""
        from mlir import ir

        name = ir.StringAttr(function.attributes["sym_name"]).value
        if "tilewright.arguments" in function.attributes:
            entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(function.attributes["tilewright.arguments"])]
            types = [ir.TypeAttr(entry["type"]).value for entry in entries]
        else:
            types = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs
            entries = [ir.DictAttr.get({}, context=function.context) for _ in types]
            if "arg_attrs" in function.attributes:
                entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(function.attributes["arg_attrs"])]
            # The workspace is the gpu stage's own.
            named = ["te.name" in entry for entry in entries]
            if len(named) > 1 and any(named) and not named[-1]:
                entries, types = entries[:-1], types[:-1]
        arguments = tuple(
            _argument_of(i, entry, kind)
            for i, (entry, kind) in enumerate(zip(entries, types))
            if "te.given" not in entry  # says of another one whether it is there
        )
        return cls(name, arguments, device_kind, parameters_of(arguments, entries))

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
            device = self._device_of(arrays)
            if stream is None:
                launch_stream = stream_of_arrays(tuple(arrays), device)
            else:
                launch_stream = self.stream(stream, device)
        elif stream is not None:
            raise TypeError(f"{self}: expected no stream for arrays on the {self.device_kind}, got one")

        bound = Bound([], [], device, launch_stream)
        found: list[_Array | Any_] = []
        for position, array in enumerate(arrays):
            try:
                if expected[position].is_number:
                    found.append(any_of(array))
                elif expected[position].is_pointer:
                    found.append(address_of(array))
                elif expected[position].optional and array is None:
                    found.append(Any_())
                else:
                    found.append(self._read(array, bound))
            except _Refused as error:
                _check(self, found, len(found), partial=True)  # what is wrong before it is told before it
                kind = ValueError if error.layout else TypeError
                text = str(error).replace("%dtype", expected[position].dtype)
                self._fail(kind, position, text)
            except NotANumber as error:
                _check(self, found, len(found), partial=True)
                wanted = "an address" if expected[position].is_pointer else expected[position].dtype
                self._fail(TypeError, position, f"expected {wanted}, got {error}")
        bound.data, bound.shape = _check(self, found, len(found))
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
                raise TypeError(f"{self}: expected no argument called {name!r}")
            if name in found:
                raise TypeError(f"{self}: expected argument {name} once, got it twice")
            found[name] = value
        outputs = []
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
            raise TypeError(
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
        """What a call gives that was given its inputs alone, and of that the outputs: new arrays of the library that
        the first input is of.

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
                self._fail(TypeError, position, f"expected an array, for no input says what its extent {unknown[0]} is")
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
        raise TypeError(
            f"{self}: expected {len(self.parameters)} arguments, got {count}: outputs are allocated beside arrays "
            f"of NumPy, torch, CuPy and tw.nd, got {type(first).__name__} first"
        )

    def stream(self, stream: object, device: Device) -> Stream:
        """The stream that a caller gave."""
        try:
            return as_stream(stream, device)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{self}: {error}") from None

    def _device_of(self, arrays: Sequence[object]) -> Device:
        """The GPU that the call runs on: that of the first array on one. If it is wrong, an array's check says so."""
        for array in arrays:
            if isinstance(array, NDArray):
                if array.device.is_cuda:
                    return array.device
            elif not isinstance(array, np.ndarray):
                where = getattr(array, "__dlpack_device__", None)
                if where is not None:
                    try:
                        kind, index = where()
                    except Exception:  # noqa: BLE001 - the producer's own; reading the array will say it again
                        continue
                    if kind in (dlpack.CUDA, dlpack.CUDA_MANAGED):
                        return cuda(int(index))
        return cuda(0)

    def _read(self, array: Any, bound: Bound) -> _Array:
        bound.keep.append(array)
        if isinstance(array, NDArray):
            bound.arrays.append(array)
            device = (array.device.device_type, array.device.index)
            return _Array(array.address, array.shape, None, _code_of(array.dtype), device, array.read_only)
        if isinstance(array, np.ndarray):
            if not array.dtype.isnative:
                raise _Refused(f"expected the machine's own byte order, got dtype {array.dtype.str}")
            if array.dtype.hasobject or array.dtype.names is not None:
                raise _Refused(f"expected an array of numbers, got dtype {array.dtype}")
            address = array.__array_interface__["data"][0]
            strides = _in_elements(array.strides, array.shape, array.itemsize)
            return _Array(
                address, array.shape, strides, _code_of(array.dtype), (dlpack.CPU, 0), not array.flags.writeable
            )
        if hasattr(array, "__dlpack__") and hasattr(array, "__dlpack_device__"):
            return self._read_dlpack(array, bound)
        interface = getattr(array, "__cuda_array_interface__", None)
        if interface is not None:
            return self._read_cuda_interface(interface, bound)
        raise _Refused(f"expected an array (NumPy, DLPack or __cuda_array_interface__), got {type(array).__name__}")

    def _read_dlpack(self, array: Any, bound: Bound) -> _Array:
        try:
            kind, _ = array.__dlpack_device__()
            on_gpu = kind in (dlpack.CUDA, dlpack.CUDA_MANAGED)
            # The producer makes the launch's stream wait for whatever it still has to do for the array.
            handle = (bound.stream.handle or 1) if on_gpu and bound.stream is not None else None
            found = dlpack.read_capsule(array, handle)
        except Exception as error:  # noqa: BLE001 - whatever another library raises is a reason for the user to read
            raise _Refused(
                f"expected an array that DLPack can hand over, got {type(array).__name__}: {error}"
            ) from error
        bound.keep.append(found.keep)
        device = (found.device_type, found.device_index)
        return _Array(found.address, found.shape, found.strides, found.code, device, found.read_only)

    def _read_cuda_interface(self, interface: dict[str, Any], bound: Bound) -> _Array:
        try:
            dtype = np.dtype(interface["typestr"])
            (address, read_only), shape = interface["data"], tuple(interface["shape"])
        except (KeyError, TypeError, ValueError) as error:
            raise _Refused(f"expected a __cuda_array_interface__ of version 2 or 3, got one without {error}") from None
        if interface.get("mask") is not None:
            raise _Refused("expected an array without mask, got a masked one")
        producer = interface.get("stream")
        if producer is not None and bound.stream is not None:
            # 1 is the default stream, in this protocol as in DLPack.
            source = Stream.from_handle(0 if producer == 1 else producer, bound.device)
            if source != bound.stream:
                bound.stream.wait(source.record(Event(bound.device, timing=False)))
        strides = interface.get("strides")
        return _Array(
            address or 0, shape, None if strides is None else _in_elements(tuple(strides), shape, dtype.itemsize),
            _code_of(dtype), (dlpack.CUDA, bound.device.index), bool(read_only),
        )  # fmt: skip


# ---------------------------------------------------------------------- checks


@lru_cache(maxsize=256)
def _code_of(dtype: np.dtype[Any]) -> tuple[int, int, int]:
    """DLPack's code, bits and lanes of a type of NumPy's."""
    try:
        return (*dlpack.dtype_code(dtype.name), 1)
    except BufferError:
        raise _Refused(f"expected dtype %dtype, got {dtype.name}") from None


def _in_elements(strides: tuple[int, ...], shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Strides in elements, as DLPack has them. What is no whole number of elements is no row-major array."""
    if all(stride % itemsize == 0 for stride in strides):
        return tuple(stride // itemsize for stride in strides)
    if is_row_major(shape, strides, itemsize):  # a dimension of one element may have any stride
        return tuple(-(-stride // itemsize) for stride in strides)
    elements = tuple(stride // itemsize if stride % itemsize == 0 else stride / itemsize for stride in strides)
    raise _Refused(f"expected a row-major array, got strides {elements} for shape {shape}", layout=True)


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
        return Any_(_LEFT_OUT, 0, None)
    if parameter.default is not None:
        return any_of(parameter.default)
    return Any_() if parameter.optional else Any_(_LEFT_OUT, 0, None)


def by_level(parameters: Sequence[Argument | Group]) -> list[tuple[str, Argument | Group, int]]:
    """What a call gives and, behind that, the elements of groups, those of each together: with which one it is, and of
    groups the number of the first element."""
    names = {id(one): place for place, one in places_of(parameters)}
    found: list[Argument | Group] = list(parameters)
    rows = []
    for one in found:  # which grows
        rows.append((names[id(one)], one, len(found)))
        if isinstance(one, Group):
            found.extend(one.elements)
    return rows


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


def _as_struct(signature: Signature) -> _SignatureStruct:
    """The signature as the run time has it, made once."""
    if signature._made:
        return signature._made[0]
    arguments = []
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
    signature._made.append(struct)
    return struct


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


def _check(
    signature: Signature, found: list[_Array | Any_], count: int, partial: bool = False
) -> tuple[list[int], list[int]]:
    """The addresses and extents of a call. Raises what is wrong with it: the rules and their texts are
    runtime/host/Check.cpp's, the same as for calls that come from elsewhere."""
    tensors, values = [], []
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
    read_only = bytes(isinstance(one, _Array) and one.read_only for one in found)
    struct, check = ctypes.addressof(_as_struct(signature)), _host_check()
    if check(struct, args, count, read_only, partial, None, 0):
        message = ctypes.create_string_buffer(4096)
        code = check(struct, args, count, read_only, partial, message, len(message))
        raise (TypeError if code == 1 else ValueError)(message.value.decode())
    if partial or count != len(values):
        return [], []
    flags = sum(argument.optional for argument in signature.arguments)
    data = (ctypes.c_int64 * (count + flags))()
    extents = (ctypes.c_int64 * (sum(argument.extent_count for argument in signature.arguments) + flags))()
    _host_unpack()(struct, args, data, extents)
    return list(data), list(extents)


def _argument_of(position: int, entry: ir.DictAttr, kind: ir.Type) -> Argument:
    """An argument from its attributes of the te stage and its tensor or memref type."""
    from mlir import ir

    shaped = ir.ShapedType(kind) if isinstance(kind, ir.ShapedType) else None
    rank = 1 if shaped is None else shaped.rank
    names = [ir.StringAttr(name).value for name in ir.ArrayAttr(entry["te.symbols"])] if "te.symbols" in entry else []
    units, minima, maxima = (
        list(ir.DenseI64ArrayAttr(entry[key])) if key in entry else [default] * rank
        for key, default in (("te.divisible_by", 1), ("te.minimum", 0), ("te.maximum", _NO_MAXIMUM))
    )

    def symbol(dim: int) -> Symbol:
        return Symbol(
            names[dim] if dim < len(names) and names[dim] else f"arg{position}_{dim}",
            units[dim],
            None if shaped is None and "te.minimum" not in entry else minima[dim],
            None if maxima[dim] == _NO_MAXIMUM else maxima[dim],
        )

    name = ir.StringAttr(entry["te.name"]).value if "te.name" in entry else f"arg{position}"
    element = kind if shaped is None else shaped.element_type
    dtype = ir.StringAttr(entry["te.dtype"]).value if "te.dtype" in entry else _dtype_name(element)
    if shaped is None:
        default = _default_of(entry, dtype) if "te.default" in entry else None
        return Argument(name, dtype, (symbol(0),) if names else (), is_number=True, default=default)
    shape = tuple(symbol(dim) if shaped.is_dynamic_dim(dim) else shaped.get_dim_size(dim) for dim in range(rank))
    return Argument(
        name,
        dtype,
        shape,
        output="te.output" in entry,
        alignment=ir.IntegerAttr(entry["te.align"]).value if "te.align" in entry else ALIGNMENT,
        optional="te.optional" in entry,
        is_pointer="te.pointer" in entry,
        strides=_strides_of(position, entry) if "te.strides" in entry else None,
    )


def _default_of(entry: ir.DictAttr, dtype: str) -> int | float | bool:
    from mlir import ir

    if "float" in dtype:
        return ir.FloatAttr(entry["te.default"]).value
    bits = ir.IntegerAttr(entry["te.default"]).value
    if dtype == "bool":
        return bool(bits)
    return bits % (1 << 64) if dtype == "uint64" else bits


def _strides_of(position: int, entry: ir.DictAttr) -> tuple[int | Symbol, ...]:
    """The strides of an argument that is not row-major."""
    from mlir import ir

    numbers = list(ir.DenseI64ArrayAttr(entry["te.strides"]))
    units, minima, maxima = (
        list(ir.DenseI64ArrayAttr(entry[key])) if key in entry else [default] * len(numbers)
        for key, default in (
            ("te.stride_divisible_by", 1), ("te.stride_minimum", 0), ("te.stride_maximum", _NO_MAXIMUM),
        )
    )  # fmt: skip
    names = [""] * len(numbers)
    if "te.stride_symbols" in entry:
        names = [ir.StringAttr(name).value for name in ir.ArrayAttr(entry["te.stride_symbols"])]
    return tuple(
        number
        if number >= 0
        else Symbol(
            names[dim] or f"arg{position}_stride{dim}",
            units[dim],
            minima[dim],
            None if maxima[dim] == _NO_MAXIMUM else maxima[dim],
        )
        for dim, number in enumerate(numbers)
    )


def _dtype_name(element: ir.Type) -> str:
    """NumPy's name for an element type that came without one."""
    text = str(element)
    known = {"i1": "bool", "bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "index": "int64"}
    return known.get(text) or text.replace("f", "float", 1).replace("i", "int", 1)
