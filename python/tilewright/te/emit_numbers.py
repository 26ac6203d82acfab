"""What is known of extents and strides, as attributes of arguments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mlir import ir

from .expr import Expr, Var
from .program import unique_name
from .strides import Strides

__all__ = ["known_attrs", "stride_attrs", "stride_names"]

_NO_MAXIMUM = (1 << 63) - 1  # in te.maximum, of an extent that has none


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
