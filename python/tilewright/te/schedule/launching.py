"""How the kernels of a schedule are launched: an attribute of the schedule as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir import ir

from ...errors import TilewrightTypeError as TypeError
from ...errors import TilewrightValueError as ValueError
from ...ir.launch_options import LAUNCH
from ...messages.location import Source
from .checks import boolean

__all__ = ["launch_text", "set_launch"]

_MOST_BLOCKS = 8  # of a cluster, on every GPU that has them


def set_launch(
    of: ir.Operation, dependent: object, cooperative: object, cluster: Sequence[int] | None, source: Source
) -> None:
    """Notes how the kernels are launched, in place of what was noted before."""
    for name, value in (("dependent", dependent), ("cooperative", cooperative)):
        boolean(value, "launch", name, source)
    sizes: list[int] = []
    if cluster is not None:
        if not isinstance(cluster, Sequence) or not all(type(size) is int for size in cluster) or len(cluster) != 3:
            raise TypeError(f"{source}: launch: expected cluster to be three integers, got {cluster!r}")
        sizes = list(cluster)
        if min(sizes) < 1:
            raise ValueError(f"{source}: launch: expected 1 block or more along each axis, got {cluster!r}")
        blocks = sizes[0] * sizes[1] * sizes[2]
        if blocks > _MOST_BLOCKS:
            raise ValueError(f"{source}: launch: expected at most {_MOST_BLOCKS} blocks in a cluster, got {blocks}")
    with of.context:
        entries: dict[str, ir.Attribute] = {}
        if dependent:
            entries["dependent"] = ir.UnitAttr.get()
        if cooperative:
            entries["cooperative"] = ir.UnitAttr.get()
        if any(size > 1 for size in sizes):
            entries["cluster"] = ir.DenseI32ArrayAttr.get(sizes)
        if entries:
            of.attributes[LAUNCH] = ir.DictAttr.get(entries)
        elif LAUNCH in of.attributes:
            del of.attributes[LAUNCH]


def launch_text(options: dict[str, Any]) -> str:
    """The same in words: "dependent, in clusters of (2, 1, 1)"."""
    words = [key for key in ("dependent", "cooperative") if key in options]
    if "cluster" in options:
        words.append(f"in clusters of {options['cluster']}")
    return ", ".join(words)
