"""What is known of numbers, extents, strides and groups, as attributes of arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mlir import ir

from .arguments import Arg, Group
from .emit_types import dtype_attr
from .expr import Expr, Var
from .program import symbols_in, unique_name
from .strides import Strides
from .tensor import Tensor, is_optional

__all__ = ["dimension_of", "groups_attr", "known_attrs", "number_attrs", "stride_attrs", "stride_names"]

_NO_MAXIMUM = (1 << 63) - 1  # in te.maximum, of an extent that has none


def dimension_of(extent: Expr, args: Sequence[Arg]) -> tuple[int, int] | None:
    """The argument, and its dimension, whose extent is the same expression of symbols: one symbol for the passes."""
    symbols = symbols_in([extent])
    if len({var.name for var in symbols}) < len(symbols):
        return None  # the text says too little
    known = {id(var) for var in symbols}
    for i, arg in enumerate(args):
        if isinstance(arg, Tensor) and not is_optional(arg):
            for d, other in enumerate(arg.shape):
                if isinstance(other, Expr) and str(other) == str(extent):
                    if {id(var) for var in symbols_in([other])} == known:
                        return i, d
    return None


def known_attrs(prefix: str, numbers: Sequence[int | Expr | None]) -> dict[str, ir.Attribute]:
    """What is known of those of some extents or strides that are symbols."""
    attrs: dict[str, ir.Attribute] = {}
    units = [number.divisible_by if isinstance(number, Var) else 1 for number in numbers]
    minima = [number.minimum if isinstance(number, Var) else 0 for number in numbers]
    maxima = [number.maximum if isinstance(number, Var) else None for number in numbers]
    if max(units) > 1:
        attrs[f"{prefix}divisible_by"] = ir.DenseI64ArrayAttr.get(units)
    if max(minima) > 0:
        attrs[f"{prefix}minimum"] = ir.DenseI64ArrayAttr.get(minima)
    if any(most is not None for most in maxima):
        attrs[f"{prefix}maximum"] = ir.DenseI64ArrayAttr.get([_NO_MAXIMUM if m is None else m for m in maxima])
    return attrs


def stride_names(strides: Iterable[Strides], known: Mapping[Var, str]) -> dict[Var, str]:
    """The names of symbols that are strides: those that they have elsewhere, or of their own."""
    names: dict[Var, str] = {}
    for var in (stride for each in strides for stride in each if isinstance(stride, Var)):
        if var not in names:
            names[var] = known.get(var) or unique_name(var.name, [*known.values(), *names.values()])
    return names


def stride_attrs(tensor: str, strides: Strides, names: Mapping[Var, str]) -> dict[str, ir.Attribute]:
    """The strides of a tensor of that name. Those that are each call's own get names, too."""
    numbers = [stride if isinstance(stride, int) else -1 for stride in strides]
    attrs: dict[str, ir.Attribute] = {"te.strides": ir.DenseI64ArrayAttr.get(numbers)}
    if min(numbers) < 0:
        symbols = [
            names[stride] if isinstance(stride, Var) else f"{tensor}.stride{dim}" if stride is None else ""
            for dim, stride in enumerate(strides)
        ]
        attrs["te.stride_symbols"] = ir.ArrayAttr.get([ir.StringAttr.get(symbol) for symbol in symbols])
        attrs.update(known_attrs("te.stride_", strides))
    return attrs


def groups_attr(groups: Iterable[Group]) -> ir.Attribute:
    """What a call gives as one, the outermost group first."""
    entries: list[ir.Attribute] = []
    for group in groups:
        entry: dict[str, ir.Attribute] = {
            "name": ir.StringAttr.get(group.name),
            "count": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), group.count),
        }
        if group.fields:
            entry["fields"] = ir.ArrayAttr.get([ir.StringAttr.get(each) for each in group.fields])
        if group.is_shape:
            entry["shape"] = ir.UnitAttr.get()
        entries.append(ir.DictAttr.get(entry))
    return ir.ArrayAttr.get(entries)


def number_attrs(var: Var, name: str, *, given: int | None, is_size: bool) -> dict[str, ir.Attribute]:
    """Those of a number that each call gives; `given` is the position of the tensor whose presence it says."""
    named = ir.StringAttr.get(name)
    i64 = ir.IntegerType.get_signless(64)
    attrs: dict[str, ir.Attribute] = {"te.name": named, "te.dtype": dtype_attr(var.dtype)}
    if given is not None:
        attrs["te.given"] = ir.IntegerAttr.get(i64, given)
    if var.is_index:
        attrs["te.symbols"] = ir.ArrayAttr.get([named])
        if var.divisible_by > 1:
            attrs["te.divisible_by"] = ir.DenseI64ArrayAttr.get([var.divisible_by])
        if var.minimum > 0 or var.is_size or is_size:
            attrs["te.minimum"] = ir.DenseI64ArrayAttr.get([var.minimum])
        if var.maximum is not None:
            attrs["te.maximum"] = ir.DenseI64ArrayAttr.get([var.maximum])
    if var.default is not None:
        is_float = isinstance(var.default, float)
        # An integer's 64 bits: those of a large one of uint64 are a negative number's.
        signed = 0 if is_float else (int(var.default) + (1 << 63)) % (1 << 64) - (1 << 63)
        attrs["te.default"] = (
            ir.FloatAttr.get(ir.F64Type.get(), var.default) if is_float else ir.IntegerAttr.get(i64, signed)
        )
    return attrs
