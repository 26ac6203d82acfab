"""The passes of a pipeline, one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mlir import ir

__all__ = ["REQUIRED", "Step", "pass_texts"]

# Without these a module is not of the next stage: they run behind each pass that is looked at.
REQUIRED = frozenset(
    """convert-te-to-linalg apply-schedule store-bools-as-bytes raise-to-tile-ops narrow-tiles raster-tiles
    share-iterations persist-tiles assign-tile-roles split-accumulations defer-stores place-tile-barriers
    launch-tile-kernels distribute-private-buffers inject-virtual-threads map-loops-to-gpu distribute-fragments
    outline-kernels elect-writer-threads plan-shared-memory plan-tile-memory insert-barriers plan-workspace""".split()
)


@dataclass(frozen=True, slots=True)
class Step:
    label: str
    run: Callable[[ir.Module], ir.Module]
    required: bool


def pass_texts(pipeline: str, module: ir.Module) -> list[str]:
    """Each pass of a pipeline as a pipeline of its own."""
    from mlir.passmanager import PassManager

    with module.context:
        text = str(PassManager.parse(pipeline))
    return [f"builtin.module({one})" for one in _flat(text.removeprefix("builtin.module(")[:-1])]


def _flat(text: str) -> list[str]:
    """The passes in a list, those nested in an op's name taken apart.

    >>> _flat("cse,func.func(a,b{x=1,2}),canonicalize{ y=(3) }")
    ['cse', 'func.func(a)', 'func.func(b{x=1,2})', 'canonicalize{ y=(3) }']
    """
    parts, depth, start = list[str](), 0, 0
    for at, char in enumerate(text + ","):
        depth += (char in "({") - (char in ")}")
        if char == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    made: list[str] = []
    for part in parts:
        name, bracket, rest = part.partition("(")
        if bracket and "{" not in name:
            made += [f"{name}({inner})" for inner in _flat(rest[:-1])]
        else:
            made.append(part)
    return made
