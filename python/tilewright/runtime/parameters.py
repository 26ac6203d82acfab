"""What a call gives: arguments, and groups of them that it gives as one tuple, shape or object."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ..ir import library
from .ffi import TYPE_DLTENSOR, Any_

if TYPE_CHECKING:
    from mlir import ir

    from .arguments import Argument, Signature

    Parameter = Argument | "Group"

__all__ = ["LEFT_OUT", "Group", "flattened", "leaves_outputs", "parameters_of", "places_of"]


class LeftOut:
    """What stands in a call for an output that is still to be allocated."""

    def __repr__(self) -> str:
        return "what is left out"


LEFT_OUT = LeftOut()


@dataclass(frozen=True, slots=True)
class Group:
    """Arguments that a call gives as one: a tuple or a list or, where the elements have names, an object that has them
    as its `fields`; a shape is one of integers.

    >>> from tilewright.runtime import Argument
    >>> str(Group("pair", (Argument("scale", "float32", (4,)), Argument("bias", "float32", (4,)))))
    'pair: (scale: float32[4], bias: float32[4])'
    """

    name: str
    elements: tuple[Parameter, ...]
    fields: tuple[str, ...] = ()
    is_shape: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {'shape' if self.is_shape else ''}({', '.join(map(str, self.elements))})"

    def elements_of(self, value: Any) -> list[Any] | None:
        """The elements that a value gives, or None where it is no group."""
        names = getattr(value, "_fields", None) if isinstance(value, tuple) else None
        if self.fields and type(value) not in (tuple, list):
            if all(hasattr(value, name) for name in self.fields):
                return [getattr(value, name) for name in self.fields]
            if names is None and is_dataclass(value):
                names = tuple(each.name for each in fields(value))
            if names is not None:
                raise _OtherFields(f"expected the fields {', '.join(self.fields)}, got {', '.join(names) or 'none'}")
        if is_dataclass(value) and not isinstance(value, type):
            return [getattr(value, each.name) for each in fields(value)]
        is_sequence = isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray, memoryview))
        return list(value) if is_sequence else None


class _OtherFields(Exception):
    """A group of other elements than those that are expected."""


def places_of(parameters: Sequence[Parameter]) -> Iterator[tuple[str, Parameter]]:
    """Each argument and group, with which one it is: "1", "1[0]", "1.scale"; a group comes before its elements."""

    def visit(place: str, parameter: Parameter) -> Iterator[tuple[str, Parameter]]:
        yield place, parameter
        if isinstance(parameter, Group):
            for i, element in enumerate(parameter.elements):
                at = f".{parameter.fields[i]}" if parameter.fields else f"[{i}]"
                yield from visit(place + at, element)

    for i, parameter in enumerate(parameters):
        yield from visit(str(i), parameter)


def parameters_of(arguments: Sequence[Argument], entries: Sequence[Mapping[str, Any]]) -> tuple[Parameter, ...]:
    """The arguments, put together as `te.groups` of their entries in the IR say."""
    from mlir import ir

    waiting = iter(range(len(arguments)))

    def opened(position: int) -> list[ir.DictAttr]:
        entry = entries[position]
        return [ir.DictAttr(each) for each in ir.ArrayAttr(entry["te.groups"])] if "te.groups" in entry else []

    def read(position: int, groups: list[ir.DictAttr]) -> Parameter:
        if not groups:
            return arguments[position]
        group, *inner = groups
        elements = [read(position, inner)]
        for _ in range(ir.IntegerAttr(group["count"]).value - 1):
            following = next(waiting)
            elements.append(read(following, opened(following)))
        names = ir.ArrayAttr(group["fields"]) if "fields" in group else ()
        return Group(
            ir.StringAttr(group["name"]).value,
            tuple(elements),
            tuple(ir.StringAttr(name).value for name in names),
            "shape" in group,
        )

    if not any("te.groups" in entry for entry in entries):
        return ()  # the arguments themselves
    return tuple(read(position, opened(position)) for position in waiting)


# ---------------------------------------------------------------------- a call's values


class _Array(ctypes.Structure):
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
_LEFT_OUT = -1
_ARRAY, _DICT, _OBJECT = 71, 72, 74
_KINDS: dict[type, int] = {type(None): 0, int: 1, bool: 2, float: 3, str: 8, bytes: 9, dict: _DICT}


def _kind_of(value: Any) -> Any_:
    """A value of the kind that something is, for a message to name."""
    is_array = hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__")
    return Any_(TYPE_DLTENSOR if is_array else _KINDS.get(type(value), _OBJECT), 0, 1)


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

    def value_of(place: str, parameter: Parameter, value: Any) -> Any_:
        if not isinstance(parameter, Group):
            objects.append(value)
            return Any_(_GIVEN, 0, len(objects) - 1)
        try:
            elements = parameter.elements_of(value)
        except _OtherFields as error:
            raise TypeError(f"{signature}: argument {place} ({parameter.name}): {error}") from None
        if elements is None:
            return _kind_of(value)
        values = (Any_ * max(len(elements), 1))()
        for i, (element, one) in enumerate(zip(parameter.elements, elements)):
            at = f".{parameter.fields[i]}" if parameter.fields else f"[{i}]"
            values[i] = value_of(place + at, element, one)
        keep.append(_Array(1, _ARRAY, 0, None, values, len(elements), len(elements), None))
        keep.append(values)
        return Any_(_ARRAY, 0, ctypes.addressof(keep[-2]))

    parameters: list[Parameter] = list(signature.parameters)
    if inputs:
        parameters = [each for each in parameters if isinstance(each, Group) or not each.is_allocated]
    values = (Any_ * max(len(given), 1))()
    for i, (parameter, one) in enumerate(zip(parameters, given)):
        values[i] = value_of(str(i), parameter, one)
    count = len(signature.arguments)
    found = (Any_ * max(count, 1))()
    message = ctypes.create_string_buffer(4096)
    if _arrange()(signature.address, values, len(given), 2 if inputs else 0, found, message, len(message)):
        raise TypeError(message.value.decode())
    result = []
    for argument, value in zip(signature.arguments, found):
        if value.type == _GIVEN:
            result.append(objects[value.pointer or 0])
        else:
            result.append(LEFT_OUT if value.type == _LEFT_OUT else argument.default)
    return result
