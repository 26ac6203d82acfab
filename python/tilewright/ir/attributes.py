"""The parameters of the attributes of the dialects schedule and te, for which the stock bindings have no classes."""

from __future__ import annotations

import ctypes
from typing import Any

from mlir import ir

from ..native.capsule import capsule_like, capsule_pointer
from ..native.library import library

__all__ = ["axis", "parameters"]


class _Attribute(ctypes.Structure):
    """MLIR's ``MlirAttribute``."""

    _fields_ = [("ptr", ctypes.c_void_p)]


def parameters(attribute: ir.Attribute) -> dict[str, Any]:
    """The parameters by name of an attribute of the dialect schedule, or of a reducer of te; none of another attribute.

    >>> from mlir import ir
    >>> from tilewright.ir import context
    >>> from tilewright.ir.attributes import parameters
    >>> with context():
    ...     parameters(ir.Attribute.parse("#schedule.pipeline<stages = 3>"))
    {'async': False, 'stages': 3}
    """
    function = library().tilewrightAttributeParameters
    function.restype, function.argtypes = _Attribute, [_Attribute]
    capsule = attribute._CAPIPtr
    found = function(_Attribute(capsule_pointer(capsule))).ptr
    if not found:
        return {}
    made = ir.Attribute._CAPICreate(capsule_like(capsule, found))
    return {entry.name: _value(entry.attr) for entry in ir.DictAttr(made)}


def _value(attribute: ir.Attribute) -> Any:
    if isinstance(attribute, (ir.StringAttr, ir.BoolAttr, ir.IntegerAttr)):
        return attribute.value
    return tuple(ir.DenseI64ArrayAttr(attribute))


def axis(name: str, stage: str = "") -> ir.Attribute:
    """What says of a loop that it comes from an axis.

    >>> from tilewright.ir import context
    >>> from tilewright.ir.attributes import axis
    >>> with context():
    ...     print(axis("i.outer", "C"))
    #schedule.axis<"i.outer" of "C">
    """
    of = f" of {ir.StringAttr.get(stage)}" if stage else ""
    return ir.Attribute.parse(f"#schedule.axis<{ir.StringAttr.get(name)}{of}>")
