"""Functions of which PyTorch chooses an operator by the device, or has a wrong one: they become what is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule

from .cells import gru_cell, lstm_cell
from .losses import multilabel_margin_loss
from .scaled_dot_product import attended

__all__ = ["replace_functions"]

_aten: Any = torch.ops.aten
_REPLACED: dict[Callable[..., Any], Callable[..., Any]] = {
    torch.nn.functional.scaled_dot_product_attention: attended,
    _aten.scaled_dot_product_attention.default: attended,
    torch.lstm_cell: lstm_cell,
    _aten.lstm_cell.default: lstm_cell,
    torch.gru_cell: gru_cell,
    _aten.gru_cell.default: gru_cell,
    torch.nn.functional.multilabel_margin_loss: multilabel_margin_loss,
}


def replace_functions(module: GraphModule) -> None:
    """Replaces such functions in a graph of TorchDynamo, and in the graphs that it calls, before autograd sees them."""
    for part in module.modules():
        if not isinstance(part, GraphModule):
            continue
        calls = [one for one in part.graph.nodes if one.op == "call_function" and one.target in _REPLACED]
        for node in calls:
            node.target = _REPLACED[node.target]
        if calls:
            part.recompile()
