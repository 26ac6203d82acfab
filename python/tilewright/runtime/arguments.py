"""The arguments of a built function: what each must be, and what a call needs of it.

`Signature.bind` takes any arrays (NumPy's, DLPack's, those of `__cuda_array_interface__`, ours), checks them and gives
the addresses and extents for the host program. Every message names the function's signature, the argument, what was
expected and what was given.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from . import dlpack
from .device import Device, DeviceKind, cpu, cuda
from .ndarray import NDArray, is_row_major
from .stream import Event, Stream, as_stream, stream_of_arrays

if TYPE_CHECKING:
    from mlir import ir

__all__ = ["Argument", "Bound", "Signature", "Symbol"]

ALIGNMENT = 16
_BITS = {"bool": 8, "bfloat16": 16}


def _itemsize(dtype: str) -> int:
    if dtype.startswith("float8"):
        return 1
    return _BITS.get(dtype, int("".join(filter(str.isdigit, dtype)) or 8)) // 8


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbolic extent: arguments that share the name share the extent."""

    name: str
    divisible_by: int = 1
    minimum: int = 0

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Argument:
    """What one argument must be; `output` marks what the function writes.

    >>> str(Argument("A", "float32", (Symbol("n"), 4)))
    'A: float32[n, 4]'
    """

    name: str
    dtype: str
    shape: tuple[int | Symbol, ...]
    output: bool = False
    alignment: int = ALIGNMENT

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return _itemsize(self.dtype)

    def __str__(self) -> str:
        return f"{self.name}: {self.dtype}[{', '.join(map(str, self.shape))}]"


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
    """What is known of an array that was given: strides have the unit `unit`, None are row-major."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None
    unit: int
    dtype: str
    device: str
    index: int
    read_only: bool


class _Refused(Exception):
    """An object that no array can be read from, with the reason."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The arguments of a function, in order, and the kind of device that their memory must be on.

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

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})"

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
        return cls(
            name,
            tuple(_argument_of(i, entry, kind) for i, (entry, kind) in enumerate(zip(entries, types))),
            device_kind,
        )

    # ------------------------------------------------------------------ messages

    def _fail(self, kind: type[Exception], position: int, message: str) -> NoReturn:
        raise kind(f"{self}: argument {position} ({self.arguments[position].name}): {message}") from None

    # ------------------------------------------------------------------ binding

    def bind(self, arrays: Sequence[object], stream: object = None) -> Bound:
        """Checks the arrays of a call.

        Raises
        ------
        TypeError
            For a wrong number of arguments, something that is no array, a wrong dtype.
        ValueError
            For a wrong rank, shape, device, memory layout or alignment, a read-only output, an output that shares
            memory with another argument.
        """
        expected = self.arguments
        if len(arrays) != len(expected):
            raise TypeError(f"{self}: expected {len(expected)} arguments, got {len(arrays)}")
        device, launch_stream = cpu(), None
        if self.device_kind is DeviceKind.CUDA:
            device = self._device_of(arrays)
            if stream is None:
                launch_stream = stream_of_arrays(tuple(arrays), device)
            else:
                try:
                    launch_stream = as_stream(stream, device)
                except (TypeError, ValueError) as error:
                    raise type(error)(f"{self}: {error}") from None
        elif stream is not None:
            raise TypeError(f"{self}: expected no stream for arrays on the {self.device_kind}, got one")

        bound = Bound([], [], device, launch_stream)
        symbols: dict[str, tuple[int, str, int]] = {}
        for position, (array, argument) in enumerate(zip(arrays, expected)):
            try:
                found = self._read(array, bound)
            except _Refused as error:
                self._fail(TypeError, position, str(error))
            self._check(position, argument, found, bound, symbols)
            bound.data.append(found.address)
            bound.shape.extend(found.shape)
        self._check_overlap(bound)
        return bound

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
            device = array.device
            return _Array(
                array.address, array.shape, None, 1, array.dtype.name, str(device.kind), device.index, array.read_only
            )
        if isinstance(array, np.ndarray):
            name = array.dtype.name
            if not array.dtype.isnative:
                raise _Refused(f"expected the machine's own byte order, got dtype {array.dtype.str}")
            if array.dtype.hasobject or array.dtype.names is not None:
                raise _Refused(f"expected an array of numbers, got dtype {array.dtype}")
            address = array.__array_interface__["data"][0]
            return _Array(
                address, array.shape, array.strides, array.itemsize, name, "cpu", 0, not array.flags.writeable
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
        names = {dlpack.CPU: "cpu", dlpack.CUDA_HOST: "cpu", dlpack.CUDA: "cuda", dlpack.CUDA_MANAGED: "cuda"}
        device = names.get(found.device_type) or dlpack.DEVICE_NAMES.get(
            found.device_type, f"device {found.device_type}"
        )
        index = 0 if device == "cpu" else found.device_index
        return _Array(found.address, found.shape, found.strides, 1, found.dtype, device, index, found.read_only)

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
            address or 0, shape, None if strides is None else tuple(strides), dtype.itemsize, dtype.name, "cuda",
            bound.device.index, bool(read_only),
        )  # fmt: skip

    # ------------------------------------------------------------------ checks

    def _check(
        self, position: int, argument: Argument, found: _Array, bound: Bound, symbols: dict[str, tuple[int, str, int]]
    ) -> None:
        def fail(kind: type[Exception], message: str) -> NoReturn:
            self._fail(kind, position, message)

        if found.dtype != argument.dtype:
            fail(TypeError, f"expected dtype {argument.dtype}, got {found.dtype}")
        if len(found.shape) != len(argument.shape):
            fail(ValueError, f"expected {_count(len(argument.shape), 'dimension')}, got shape {found.shape}")
        self._check_extents(argument, found, symbols, fail)
        if found.device != str(self.device_kind):
            fail(ValueError, f"expected an array on {self.device_kind}, got one on {found.device}")
        if found.index != bound.device.index:
            fail(ValueError, f"expected an array on {bound.device}, got one on {found.device}:{found.index}")
        if found.strides is not None and not is_row_major(found.shape, found.strides, found.unit):
            elements = tuple(stride / found.unit for stride in found.strides)
            strides = tuple(int(stride) if stride.is_integer() else stride for stride in elements)
            fail(ValueError, f"expected a row-major array, got strides {strides} for shape {found.shape}")
        if found.address % argument.alignment and math.prod(found.shape):
            fail(
                ValueError,
                f"expected memory aligned to {argument.alignment} bytes, "
                f"got an address {found.address % argument.alignment} bytes past that",
            )
        if argument.output and found.read_only:
            fail(ValueError, "expected a writable array, for the function writes it, got a read-only one")

    def _check_extents(
        self, argument: Argument, found: _Array, symbols: dict[str, tuple[int, str, int]],
        fail: Callable[[type[Exception], str], NoReturn],
    ) -> None:  # fmt: skip
        for dim, (wanted, extent) in enumerate(zip(argument.shape, found.shape)):
            if isinstance(wanted, int):
                if extent != wanted:
                    fail(ValueError, f"expected extent {wanted} in dimension {dim}, got shape {found.shape}")
                continue
            known = symbols.setdefault(wanted.name, (extent, argument.name, dim))
            if known[0] != extent:
                first = f"{wanted} = {known[0]}, as in dimension {known[2]} of {known[1]}"
                fail(ValueError, f"expected extent {first}, in dimension {dim}, got shape {found.shape}")
            if extent % wanted.divisible_by:
                fail(
                    ValueError,
                    f"expected extent {wanted} in dimension {dim} to be divisible by {wanted.divisible_by}, "
                    f"got shape {found.shape}",
                )
            if extent < wanted.minimum:
                fail(
                    ValueError,
                    f"expected extent {wanted} in dimension {dim} to be at least {wanted.minimum}, "
                    f"got shape {found.shape}",
                )

    def _check_overlap(self, bound: Bound) -> None:
        """No output shares memory with another argument: kernels read and write in no order that would be right."""
        ranges, extents = [], iter(bound.shape)
        for argument, address in zip(self.arguments, bound.data):
            size = math.prod(next(extents) for _ in argument.shape) * _itemsize(argument.dtype)
            ranges.append((address, address + size))
        for position, argument in enumerate(self.arguments):
            if not argument.output:
                continue
            low, high = ranges[position]
            for other, (first, last) in enumerate(ranges):
                if other != position and max(low, first) < min(high, last):
                    shared = min(high, last) - max(low, first)
                    self._fail(
                        ValueError,
                        max(position, other),
                        f"expected memory of its own beside {self.arguments[min(position, other)].name}, "
                        f"for the function writes {argument.name}, got {_count(shared, 'byte')} shared",
                    )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _argument_of(position: int, entry: ir.DictAttr, kind: ir.Type) -> Argument:
    """An argument from its attributes of the te stage and its tensor or memref type."""
    from mlir import ir

    shaped = ir.ShapedType(kind)
    names = [ir.StringAttr(name).value for name in ir.ArrayAttr(entry["te.symbols"])] if "te.symbols" in entry else []
    units, minima = (
        list(ir.DenseI64ArrayAttr(entry[key])) if key in entry else [default] * shaped.rank
        for key, default in (("te.divisible_by", 1), ("te.minimum", 0))
    )
    shape = tuple(
        Symbol(names[dim] if dim < len(names) and names[dim] else f"arg{position}_{dim}", units[dim], minima[dim])
        if shaped.is_dynamic_dim(dim)
        else shaped.get_dim_size(dim)
        for dim in range(shaped.rank)
    )
    name = ir.StringAttr(entry["te.name"]).value if "te.name" in entry else f"arg{position}"
    dtype = ir.StringAttr(entry["te.dtype"]).value if "te.dtype" in entry else _dtype_name(shaped.element_type)
    return Argument(name, dtype, shape, output="te.output" in entry)


def _dtype_name(element: ir.Type) -> str:
    """NumPy's name for an element type that came without one."""
    text = str(element)
    known = {"i1": "bool", "bf16": "bfloat16", "f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "index": "int64"}
    return known.get(text) or text.replace("f", "float", 1).replace("i", "int", 1)
