"""ONNX's interface of backends: `tilewright.onnx.backend` runs models as any other backend of ONNX's does.

>>> from tilewright.onnx import backend
>>> import numpy as np, onnx
>>> node = onnx.helper.make_node("Relu", ["x"], ["y"])
>>> backend.run_node(node, [np.array([-1.0, 2.0], np.float32)])
[array([0., 2.], dtype=float32)]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
from onnx.backend.base import Backend, BackendRep

from ..graph import Model, compile_graph
from ..guards import is_mapping, is_tuple
from ..runtime.ndarray import NDArray
from .failures import NeedsInput
from .importer import import_onnx

__all__ = ["TilewrightBackend", "TilewrightRep", "prepare", "run_model", "run_node", "supports_device"]

_TARGETS = {"CPU": "cpu", "CUDA": "cuda", "SIM": "sim"}


class TilewrightRep(BackendRep):
    """A model that can be run.

    Shapes may depend on the values of inputs, such as Reshape's second input. The model is then compiled for these
    values when it is run, once for each value. `specialized` names these inputs.
    """

    def __init__(self, model: onnx.ModelProto, target: str) -> None:
        self._model, self._target = model, target
        self.specialized: tuple[str, ...] = ()
        self._compiled: dict[tuple[Any, ...], Model] = {}
        known = {one.name for one in model.graph.initializer}
        self._inputs = [one.name for one in model.graph.input if one.name not in known]
        try:
            self._compiled[()] = compile_graph(import_onnx(model), target)
        except NeedsInput as error:
            self.specialized = error.names

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """The outputs on these inputs, in their order or by name."""
        del kwargs
        arrays: list[Any] = [inputs[name] for name in self._inputs] if is_mapping(inputs) else list(inputs)
        result = self.model_for(arrays)(*arrays)
        # A model without inputs has its outputs on its own device.
        return tuple(
            one.numpy() if isinstance(one, NDArray) else one for one in (result if is_tuple(result) else (result,))
        )

    def model_for(self, arrays: Sequence[Any]) -> Model:
        """The compiled model for these inputs."""
        named = dict(zip(self._inputs, arrays))
        while True:
            constants = {name: np.asarray(named[name]) for name in self.specialized}
            key = tuple((name, value.shape, value.tobytes()) for name, value in constants.items())
            if key in self._compiled:
                return self._compiled[key]
            try:
                self._compiled[key] = compile_graph(import_onnx(self._model, constants), self._target)
            except NeedsInput as error:
                self.specialized = (*self.specialized, *error.names)


class TilewrightBackend(Backend):
    """Tilewright as a backend of ONNX's."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> TilewrightRep:
        """Compiles a model for a device: "CPU", "CUDA", or "SIM" for the simulator."""
        del kwargs
        return TilewrightRep(model, _TARGETS[device.split(":")[0]])

    @classmethod
    def run_node(
        cls, node: Any, inputs: Any, device: str = "CPU", outputs_info: Any = None, **kwargs: Any
    ) -> tuple[Any, ...] | None:
        """The outputs of one node."""
        del outputs_info
        version = kwargs.get("opset_version") or onnx.defs.onnx_opset_version()
        types = [
            onnx.helper.make_tensor_value_info(
                name, onnx.helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype), np.asarray(array).shape
            )
            for name, array in zip(node.input, inputs)
        ]
        outputs = [onnx.ValueInfoProto(name=name) for name in node.output if name]
        graph = onnx.helper.make_graph([node], "node", types, outputs)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", version)])
        return list(cls.prepare(model, device).run(list(inputs)))  # type: ignore[return-value]

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether models can be compiled for a device."""
        return device.split(":")[0] in _TARGETS


prepare: Callable[..., TilewrightRep] = TilewrightBackend.prepare
run_node: Callable[..., Any] = TilewrightBackend.run_node
run_model: Callable[..., Any] = TilewrightBackend.run_model
supports_device: Callable[..., bool] = TilewrightBackend.supports_device
