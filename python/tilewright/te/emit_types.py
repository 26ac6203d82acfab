"""Locations, types and numbers of the front end as those of MLIR."""

from __future__ import annotations

from mlir import ir

from ..dtypes import DType, dtype_of
from ..messages.location import Source

__all__ = ["constant_attr", "dtype_attr", "file_location", "mlir_type", "named_location"]


def file_location(source: Source) -> ir.Location:
    """The user's line."""
    return ir.Location.file(source.file, source.line, 0)


def named_location(name: str, source: Source) -> ir.Location:
    """The user's line, with the name of the tensor or axis that stands there."""
    return ir.Location.name(name, file_location(source))


def mlir_type(dtype: DType) -> ir.Type:
    return ir.Type.parse(dtype.mlir)


def dtype_attr(name: str) -> ir.Attribute:
    """`te.dtype` of an argument: the type with its sign."""
    return ir.TypeAttr.get(ir.Type.parse(dtype_of(name).signed_mlir))


def constant_attr(value: int | float | bool, dtype: DType) -> ir.Attribute:
    """A number as an attribute of its type."""
    kind = mlir_type(dtype)
    if dtype.is_float:
        return ir.FloatAttr.get(kind, float(value))
    number = int(value)
    if dtype.kind == "uint" and number >= 1 << dtype.bits - 1:
        number -= 1 << dtype.bits  # types are signless: the same bits
    return ir.BoolAttr.get(bool(number)) if dtype.kind == "bool" else ir.IntegerAttr.get(kind, number)
