"""The arguments of a built function: what each must be, and which of them a call gives together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ..dtypes import itemsize, name_of_mlir
from ..guards import is_sequence, is_tuple

if TYPE_CHECKING:
    from mlir import ir

Parameter: TypeAlias = "Argument | Group"

__all__ = ["Argument", "Group", "OtherFields", "Symbol", "arguments_of", "by_level", "places_of"]

ALIGNMENT = 16
_NO_MAXIMUM = (1 << 63) - 1  # of an extent that may be as large as any


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

    An argument with `is_number` is a number. Its one extent, if it has one, is the symbol that it stands for; the least
    value may be None. `default` is its value in calls that leave it out, or None if it is required. A call may pass
    None for an `optional` argument. One with `is_pointer` is passed by its address. A tensor that is not row-major has
    `strides`, in elements.

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
        return itemsize(self.dtype)

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


@dataclass(frozen=True, slots=True)
class Group:
    """Arguments that a call passes as one: a tuple, a list, or an object with the `fields`. A shape is a group of
    integers.

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
        names = getattr(value, "_fields", None) if is_tuple(value) else None
        if self.fields and type(value) not in (tuple, list):
            if all(hasattr(value, name) for name in self.fields):
                return [getattr(value, name) for name in self.fields]
            if names is None and is_dataclass(value):
                names = tuple(each.name for each in fields(value))
            if names is not None:
                raise OtherFields(f"expected the fields {', '.join(self.fields)}, got {', '.join(names) or 'none'}")
        if is_dataclass(value) and not isinstance(value, type):
            return [getattr(value, each.name) for each in fields(value)]
        if isinstance(value, (str, bytes, bytearray, memoryview)) or not is_sequence(value):
            return None
        return list(value)


class OtherFields(Exception):
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


def by_level(parameters: Sequence[Parameter]) -> list[tuple[str, Parameter, int]]:
    """A call's arguments, and behind them the elements of groups, each group's together.

    Each comes with its place, and a group also with the number of its first element.
    """
    names = {id(one): place for place, one in places_of(parameters)}
    found: list[Parameter] = list(parameters)
    rows: list[Any] = []
    for one in found:  # which grows
        rows.append((names[id(one)], one, len(found)))
        if isinstance(one, Group):
            found.extend(one.elements)
    return rows


# ---------------------------------------------------------------------- what the IR says


def arguments_of(function: ir.Operation) -> tuple[str, tuple[Argument, ...], tuple[Parameter, ...]]:
    """The name of a program, its arguments, and what a call gives: nothing where those are the arguments."""
    from mlir import ir

    name = ir.StringAttr(function.attributes["sym_name"]).value
    if "tilewright.arguments" in function.attributes:
        entries = [ir.DictAttr(entry) for entry in ir.ArrayAttr(function.attributes["tilewright.arguments"])]
        types = [ir.TypeAttr(entry["type"]).value for entry in entries]
    else:
        types: list[ir.Type] = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).inputs  # pyright: ignore[reportUnknownVariableType]
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
    return name, arguments, _parameters_of(arguments, entries)


def _parameters_of(arguments: Sequence[Argument], entries: Sequence[ir.DictAttr]) -> tuple[Parameter, ...]:
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
    given = ir.TypeAttr(entry["te.dtype"]).value if "te.dtype" in entry else element
    dtype = name_of_mlir(str(given).replace("index", "i64"))
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
