"""Models of operators of ONNX Runtime, which are in the domain com.microsoft."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

import tilewright as tw

H = onnx.helper


def node(operator: str, inputs: str, outputs: str, domain: str = "com.microsoft", **attributes: Any) -> Any:
    """A node; names are parted by blanks, and `-` is one that is left out."""
    given, made = (["" if one == "-" else one for one in names.split()] for names in (inputs, outputs))
    return H.make_node(operator, given, made, domain=domain, **attributes)


def run(
    nodes: list[Any], values: dict[str, Any], constants: tuple[str, ...] = (), opset: int = 21, **options: Any
) -> dict[str, np.ndarray]:  # fmt: skip
    """All results of the nodes by their names, on target cpu. Values are inputs, or constants of the model."""
    arrays = {name: np.asarray(value) for name, value in values.items()}
    kinds = {name: H.np_dtype_to_tensor_dtype(array.dtype) for name, array in arrays.items()}
    inputs = [H.make_tensor_value_info(n, kinds[n], a.shape) for n, a in arrays.items() if n not in constants]
    held = [onnx.numpy_helper.from_array(arrays[name], name) for name in constants]
    names = [name for one in nodes for name in one.output if name]
    graph = H.make_graph(nodes, "contrib", inputs, [onnx.ValueInfoProto(name=name) for name in names], held)
    opsets = [H.make_opsetid("", opset), H.make_opsetid("com.microsoft", 1)]
    model = tw.compile(H.make_model(graph, opset_imports=opsets), target="cpu", **options)
    made = model(**{name: array for name, array in arrays.items() if name not in constants})
    return dict(zip(names, made if isinstance(made, tuple) else (made,), strict=True))
