"""What torch.compile traces for a GPU, which need not exist."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from functorch.compile import make_boxed_func
from torch._subclasses import FakeTensorMode

import tilewright.torch.backend as backend
from tilewright.graph import Model, compile_graph


def compiled_models(monkeypatch: pytest.MonkeyPatch, target: str | None = None) -> list[Model]:
    """The models that torch.compile makes from now on, for a target or for where the tensors are."""
    models: list[Model] = []

    def compiled(graph: Any, where: str) -> Model:
        models.append(compile_graph(graph, target or where))
        return models[-1]

    monkeypatch.setattr(backend, "compile_graph", compiled)
    return models


def operators_for(
    monkeypatch: pytest.MonkeyPatch, function: Callable[..., Any], *shapes: tuple[int, ...],
    dtype: torch.dtype = torch.float32,
) -> list[str]:  # fmt: skip
    """The operators of the graph that is imported for tensors of a GPU."""
    names: list[str] = []

    def compile_graph(module: Any, graph: Any, device: Any, *_: Any) -> Any:
        assert device.type == "cuda"
        names.extend(str(node.target) for node in module.graph.nodes if node.op == "call_function")
        (last,) = (node for node in module.graph.nodes if node.op == "output")
        return make_boxed_func(lambda *_: [node.meta["val"] for node in last.args[0]])

    monkeypatch.setattr(backend, "_compile_graph", compile_graph)
    torch._dynamo.reset()
    with FakeTensorMode():
        given = [torch.empty(shape, device="cuda", dtype=dtype) for shape in shapes]
        torch.compile(function, backend=backend.compile_fx, fullgraph=True)(*given)
    return names
