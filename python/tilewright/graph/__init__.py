"""Whole models: the graph dialect's front end, its passes, and what comes out of them."""

from __future__ import annotations

from .bisect import ModelBisection, bisect_model
from .builder import Graph, GraphBuilder, Value
from .compile import PASSES, STAGES, compile_graph, ir_of_graph
from .groups import Group
from .library_calls import LibraryCall
from .library_times import LibraryTime, LibraryTimes
from .model import Model
from .plan import Plan, PlannedBuffer
from .quantization import quantize_graph, quantize_weights
from .types import TensorType

__all__ = [
    "PASSES", "STAGES", "Graph", "GraphBuilder", "Group", "LibraryCall", "LibraryTime", "LibraryTimes", "Model",
    "ModelBisection", "Plan", "PlannedBuffer", "TensorType", "Value", "bisect_model", "compile_graph", "ir_of_graph",
    "quantize_graph", "quantize_weights",
]  # fmt: skip
