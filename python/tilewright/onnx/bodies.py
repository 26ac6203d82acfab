"""The bodies of operators that ONNX itself defines by others, and of a model's own functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import onnx
from onnx import defs

from .dtypes import onnx_type

if TYPE_CHECKING:
    from .node import Node

__all__ = ["body_of", "defaults_of"]


def body_of(node: Node, functions: Mapping[tuple[str, str], Any]) -> Any:
    """The function of a node, None where there is none."""
    found = functions.get((node.proto.domain, node.op))
    if found is not None:
        return found
    domain = "" if node.proto.domain == "ai.onnx" else node.proto.domain
    try:
        schema: Any = defs.get_schema(node.op, node.version, domain)  # the stubs do not know of bodies
    except defs.SchemaError:
        return None
    version = node.version
    if schema.has_function:
        versions = [each for each in schema.function_opset_versions if each <= version]
        if versions:
            text = schema.get_function_with_opset_version(max(versions))
            return onnx.FunctionProto.FromString(text)
    if schema.has_context_dependent_function:
        versions = [each for each in schema.context_dependent_function_opset_versions if each <= version]
        types = [_type_bytes(node, position) for position in range(node.input_count)]
        for each in sorted(versions, reverse=True):
            text = schema.get_context_dependent_function_with_opset_version(each, _closed(node), types)
            if text:
                return onnx.FunctionProto.FromString(text)
    return None


def defaults_of(node: Node) -> dict[str, Any]:
    """The attributes that an operator has where a node leaves them out."""
    domain = "" if node.proto.domain == "ai.onnx" else node.proto.domain
    try:
        schema = defs.get_schema(node.op, node.version, domain)
    except defs.SchemaError:
        return {}
    return {name: one.default_value for name, one in schema.attributes.items() if one.default_value.type}


def _closed(node: Node) -> bytes:
    """The node with the values of its attributes: in a function's body they are the call's."""
    if not any(attribute.ref_attr_name for attribute in node.proto.attribute):
        return node.proto.SerializeToString()
    copy = onnx.NodeProto()
    copy.CopyFrom(node.proto)
    del copy.attribute[:]
    copy.attribute.extend(onnx.helper.make_attribute(name, value) for name, value in node.attributes.items())
    return copy.SerializeToString()


def _type_bytes(node: Node, position: int) -> bytes:
    if not node.has(position):
        return onnx.TypeProto().SerializeToString()
    kind = node.type(position)
    shape = [extent if isinstance(extent, int) else str(extent) for extent in kind.shape]
    return onnx.helper.make_tensor_type_proto(onnx_type(kind.dtype), shape).SerializeToString()
