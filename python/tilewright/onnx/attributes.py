"""The attributes of nodes as values of Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx

from ..guards import is_listed

__all__ = ["attributes_of"]


def attributes_of(node: Any, outer: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes of a node; in a function's body one may be that of the call, which `outer` has.

    Texts are str, tensors and graphs stay as they are.
    """
    found: dict[str, Any] = {}
    for attribute in node.attribute:
        if attribute.ref_attr_name:
            if attribute.ref_attr_name not in outer:
                continue
            value = outer[attribute.ref_attr_name]
        else:
            value = attribute
        got = onnx.helper.get_attribute_value(value)
        if isinstance(got, bytes):
            got = got.decode(errors="replace")
        elif is_listed(got) or type(got).__name__.startswith("Repeated"):
            got: Any = [one.decode(errors="replace") if isinstance(one, bytes) else one for one in got]
        found[attribute.name] = got
    return found
