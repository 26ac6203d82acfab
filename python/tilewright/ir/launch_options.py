"""How the kernels of a schedule are launched, as an attribute of an op."""

from __future__ import annotations

from typing import Any

from mlir import ir

__all__ = ["LAUNCH", "launch_options"]

LAUNCH = "tilewright.launch"


def launch_options(of: ir.Operation) -> dict[str, Any]:
    """What `Schedule.launch` was called with, empty where it was not."""
    if LAUNCH not in of.attributes:
        return {}
    entries = ir.DictAttr(of.attributes[LAUNCH])
    options: dict[str, Any] = {key: True for key in ("dependent", "cooperative") if key in entries}
    if "cluster" in entries:
        options["cluster"] = tuple(ir.DenseI32ArrayAttr(entries["cluster"]))
    return options
