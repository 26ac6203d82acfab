"""Whole models: the graph dialect's front end, its passes, and what comes out of them."""

from __future__ import annotations

from .bisect import ModelBisection, bisect_model
from .builder import Graph, GraphBuilder, Value
from .compile import PASSES, STAGES, compile_graph, ir_of_graph
from .groups import Group
from .model import Model
from .plan import Plan, PlannedBuffer
from .quantization import quantize_graph, quantize_weights
from .types import TensorType

__all__ = [
    "PASSES", "STAGES", "Graph", "GraphBuilder", "Group", "Model", "ModelBisection", "Plan", "PlannedBuffer",
    "TensorType", "Value", "bisect_model", "compile_graph", "ir_of_graph", "quantize_graph", "quantize_weights",
]  # fmt: skip
