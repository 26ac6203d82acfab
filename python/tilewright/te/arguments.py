"""The arguments of a built function: tensors, numbers, and several of them that a call gives as one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from ..dtypes import DType
from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..guards import is_listed, is_tuple
from ..messages.location import Source, user_source
from .alignment import ALIGNMENT, checked_alignment
from .expr import Var
from .names import checked_name
from .strides import Strided, Strides
from .tensor import PlaceholderOp, Tensor

__all__ = ["Aligned", "Arg", "ArgumentList", "Group", "Pointer", "Shape", "aligned", "pointer", "shape"]

Arg = Tensor | Var


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """Extents that a call gives as one argument: see `te.shape`.

    >>> from tilewright import te
    >>> n, m = te.var("n"), te.var("m")
    >>> te.shape("size", (n, m)).extents
    (n, m)
    """

    name: str
    extents: tuple[Var, ...]
    source: Source


@dataclass(frozen=True, slots=True, eq=False)
class Aligned:
    """A tensor of which it is said how far its memory is aligned: see `te.aligned`.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), name="A")
    >>> te.aligned(A, 4).align
    4
    """

    tensor: Tensor | Strided
    align: int


@dataclass(frozen=True, slots=True, eq=False)
class Pointer:
    """A tensor whose address a call gives: see `te.pointer`.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), name="A")
    >>> te.pointer(A).tensor is A
    True
    """

    tensor: Tensor
    align: int
    source: Source


def shape(name: str, extents: Sequence[Var]) -> Shape:
    """Extents or other integers that a call gives together, as a tuple or a list of ints, or as a `tvm_ffi.Shape`.

    It stands among the arguments of `tw.build`, and its `te.var`s wherever the program has use for them.

    Parameters
    ----------
    name
        How the argument is called.
    extents
        `te.var`s of int32 or int64, each once.

    Raises
    ------
    TypeError, ValueError
        For what is no te.var of these types, or none at all.

    >>> from tilewright import te
    >>> n, m = te.var("n"), te.var("m")
    >>> size = shape("size", (n, m))            # tw.build(s, [size, A, C])((64, 32), a, c)
    >>> size.name, len(size.extents)
    ('size', 2)
    """
    source = user_source()
    name = checked_name(name, "te.shape", source)
    if not isinstance(extents, Sequence) or isinstance(extents, str):
        raise TypeError(f"{source}: te.shape {name}: expected a tuple of te.vars, got {extents!r}")
    for position, extent in enumerate(extents):
        if not isinstance(extent, Var) or not extent.is_index:
            raise TypeError(
                f"{source}: te.shape {name}: element {position}: expected a te.var of int32 or int64, got {extent!r}"
            )
    if not extents:
        raise ValueError(f"{source}: te.shape {name}: expected one te.var or more, got none")
    return Shape(name, tuple(extents), source)


def aligned(tensor: Tensor | Strided, align: int) -> Aligned:
    """A tensor among the arguments of `tw.build`, with what divides the address of the memory that calls give for it.

    For results, what `te.placeholder(..., align=...)` is for inputs.

    Parameters
    ----------
    tensor
        An input of the program or one of its results; a `te.strided` of one, too.
    align
        Bytes, a power of two, an element's at the least; 16 where nothing is said.

    Raises
    ------
    TypeError, ValueError
        For what is no tensor, or another alignment.

    >>> from tilewright import te
    >>> A = te.placeholder((8,), name="A", align=4)
    >>> C = te.compute((8,), lambda i: A[i] + 1, name="C")
    >>> aligned(C, 4).align                     # tw.build(s, [A, te.aligned(C, 4)])(a[1:9], c[3:11])
    4
    """
    source = user_source()
    found = tensor.tensor if isinstance(tensor, Strided) else tensor
    if not isinstance(found, Tensor):
        raise TypeError(f"{source}: te.aligned: expected a tensor, got {tensor!r}")
    dtype = found.op.element_types[found.value_index]
    return Aligned(tensor, checked_alignment(align, dtype, f"te.aligned {tensor.name}", source))


def pointer(tensor: Tensor, align: int | None = None) -> Pointer:
    """A tensor whose address a call gives, in place of an array: an int, a `ctypes.c_void_p`, or an object with
    `__tvm_ffi_opaque_ptr__`.

    It stands among the arguments of `tw.build`; the tensor is row-major, and its extents are those of other arguments.
    Of such memory nothing is known but its address: neither its dtype nor its size nor its device can be checked.

    Parameters
    ----------
    tensor
        An input of the program or one of its results.
    align
        Bytes, a power of two, an element's at the least: what divides the address. Where it is left out, it is that of
        the placeholder, or 16.

    Raises
    ------
    TypeError, ValueError
        For what is no tensor, one that a call may be without, or another alignment.

    >>> from tilewright import te
    >>> n = te.var("n")
    >>> A = te.placeholder((n,), name="A")
    >>> pointer(A, align=32).align              # tw.build(s, [n, te.pointer(A), C])(n, a.ctypes.data, c)
    32
    """
    source = user_source()
    if not isinstance(tensor, Tensor):
        raise TypeError(f"{source}: te.pointer: expected a tensor, got {tensor!r}")
    what = f"te.pointer {tensor.name}"
    if isinstance(tensor.op, PlaceholderOp) and tensor.op.given is not None:
        raise ValueError(f"{source}: {what}: expected a tensor that every call gives, got an optional one")
    if isinstance(tensor.op, PlaceholderOp) and tensor.op.strides is not None:
        raise ValueError(f"{source}: {what}: expected a row-major tensor, got one with strides")
    if align is None:
        return Pointer(tensor, alignment_of(tensor), source)
    dtype = tensor.op.element_types[tensor.value_index]
    return Pointer(tensor, checked_alignment(align, dtype, what, source), source)


def alignment_of(tensor: Tensor) -> int:
    """What its definition says of a tensor's memory as an argument."""
    return tensor.op.align if isinstance(tensor.op, PlaceholderOp) else ALIGNMENT


def checked_default(name: str, dtype: DType, value: Any, source: Source) -> int | float | bool:
    """The number that a te.var is where a call gives none, checked as one that a call gives is."""
    from ..runtime.numbers import bits_of

    bits_of(value, dtype.name, f"{source}: te.var {name}: default")
    if dtype.name == "bool":
        return bool(value)
    return float(value) if "float" in dtype.name else int(value)


# ---------------------------------------------------------------------- the list of arguments


@dataclass(frozen=True, slots=True)
class Group:
    """Arguments that a call passes as one: the name, the number of elements, and their attribute names if they have
    names.
    """

    name: str
    count: int
    fields: tuple[str, ...] = ()
    is_shape: bool = False


@dataclass(slots=True)
class ArgumentList:
    """What `tw.build` is given as arguments, one by one.

    - `places` is the place of each argument in a call ("1", "1[0]", "1.scale").
    - `groups` maps an argument's number to the groups that begin with it, the outermost first.
    - `alignments` maps a tensor's number to the divisor of its memory's address, where that is not 16.
    - `pointers` are the numbers of arguments that are passed by address.
    - `strides` maps the number of a tensor that is not row-major to its strides.
    """

    args: list[Any] = field(default_factory=list[Any])
    places: list[str] = field(default_factory=list[str])
    groups: dict[int, list[Group]] = field(default_factory=dict[int, list[Group]])
    alignments: dict[int, int] = field(default_factory=dict[int, int])
    pointers: set[int] = field(default_factory=set[int])
    strides: dict[int, Strides] = field(default_factory=dict[int, Strides])

    @classmethod
    def of(cls, given: Sequence[Any], source: Source) -> ArgumentList:
        """The list. Whether what is in it are arguments is for others to say."""
        if isinstance(given, (Tensor, str)) or not isinstance(given, Sequence):
            raise TypeError(f"{source}: expected a list of tensors as arguments, got {given!r}")
        made = cls()
        for position, one in enumerate(given):
            made._add(one, str(position), f"arg{position}", source)
        return made

    def _add(self, one: Any, place: str, name: str, source: Source) -> None:
        found = _as_group(one)
        if found is None:
            self._add_one(one)
            self.places.append(place)
            return
        own, elements, names = found
        if not elements:
            raise ValueError(f"{source}: argument {place}: expected a tuple of one argument or more, got an empty one")
        # One in another is called as its field is there.
        called = own if own is not None and "." not in place else name
        start = len(self.args)
        self.groups.setdefault(start, []).append(Group(called, len(elements), names, isinstance(one, Shape)))
        for i, element in enumerate(elements):
            at = f"{place}.{names[i]}" if names else f"{place}[{i}]"
            self._add(element, at, names[i] if names else f"{called}_{i}", source)

    def _add_one(self, one: Any) -> None:
        """An argument, with what is said of its memory."""
        position, align, strides = len(self.args), None, None
        while isinstance(one, (Aligned, Pointer, Strided)):
            if isinstance(one, Strided):
                strides = one.strides
            else:
                align = one.align
            if isinstance(one, Pointer):
                self.pointers.add(position)
            one = one.tensor
        if isinstance(one, Tensor):
            align = alignment_of(one) if align is None else align
            if isinstance(one.op, PlaceholderOp) and strides is None:
                strides = one.op.strides
        if align is not None and align != ALIGNMENT:
            self.alignments[position] = align
        if strides is not None:
            self.strides[position] = strides
        self.args.append(one)

    def top_level(self) -> Iterator[int]:
        """The numbers of the arguments that are in no group."""
        return (i for i, place in enumerate(self.places) if place.isdigit())


def _as_group(one: Any) -> tuple[str | None, tuple[Any, ...], tuple[str, ...]] | None:
    """What a group is called, its elements and their names, as far as they have some; None of an argument."""
    if isinstance(one, Shape):
        return one.name, one.extents, ()
    if is_dataclass(one) and not isinstance(one, (type, Aligned, Pointer, Strided)):
        names = tuple(each.name for each in fields(one))
        return _snake_case(type(one).__name__), tuple(getattr(one, each) for each in names), names
    if is_tuple(one) and (names := getattr(one, "_fields", None)) is not None:
        return _snake_case(type(one).__name__), tuple(one), tuple(names)
    return (None, tuple(one), ()) if is_listed(one) else None


def _snake_case(name: str) -> str:
    """The name of a class as that of an argument.

    >>> _snake_case("ScaleAndBias")
    'scale_and_bias'
    """
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
