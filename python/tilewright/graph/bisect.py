"""Which pass on the graph, and which group, makes a model's result wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..bisection.comparison import differs, unit_roundoff
from ..guards import is_tuple
from ..messages.progress import progress
from ..target import Target
from .builder import Graph
from .checks import GroupCheck
from .compile import PASSES, compile_graph, passes_for

__all__ = ["ModelBisection", "bisect_model"]


@dataclass(frozen=True, slots=True)
class ModelBisection:
    """The result of `bisect_model`. It is true if a result is wrong.

    `difference` says where the model differs from its reference. `without` says, for each pass, what differs when that
    pass is left out. `all_off` says the same with all passes left out. `group` is the first group that differs from
    float64.
    """

    name: str
    difference: str
    without: tuple[tuple[str, str], ...] = ()
    all_off: str = ""
    group: GroupCheck | None = None

    @property
    def passes(self) -> tuple[str, ...]:
        """The passes without which the result is right."""
        return tuple(name for name, difference in self.without if not difference)

    def __bool__(self) -> bool:
        return bool(self.difference) or self.group is not None

    def __str__(self) -> str:
        if not self:
            return f"{self.name}: right"
        lines = [f"{self.name}: {self.difference or 'its outputs are right, a group is not'}"]
        lines += [f"  without {name:<17} {difference or 'right'}" for name, difference in self.without]
        if self.without:
            lines.append(f"  without any pass{' ' * 9} {self.all_off or 'right'}")
        if self.group is not None:
            lines.append(f"  group {self.group}")
        elif self.all_off:
            lines.append(
                "  each group computes what its operators say: the importer, or an operator, says another thing"
            )
        return "\n".join(lines)


@progress("bisecting the model")
def bisect_model(
    make: Callable[[], Graph], inputs: Sequence[Any], expected: Sequence[np.ndarray],
    target: Target | str | None = None, rtol: float | None = None,
) -> ModelBisection:  # fmt: skip
    """Compares a model with its reference, with all passes; if it differs, without each of them, and group by group.

    Parameters
    ----------
    make
        Makes the graph.
    inputs, expected
        What the model is called with, and what its outputs should be.
    target
        As of `tw.build`.
    rtol
        How far floats may differ, relative to the largest of an output; 4096 times the unit roundoff of its type where
        it is left out.

    >>> from tilewright.graph import GraphBuilder, TensorType
    >>> def make():
    ...     with GraphBuilder("twice", [("x", TensorType((2,), "float32"))]) as b:
    ...         return b.finish([("y", b.op("add", b.inputs["x"], b.inputs["x"]))])
    >>> x = np.array([1, 2], "float32")
    >>> print(bisect_model(make, [x], [x * 2], "cpu"))
    twice: right
    >>> print(bisect_model(make, [x], [x * 3], "cpu"))
    twice: y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without canonicalize      y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without cse               y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without raise-attention   y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without merge-matmuls     y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without fuse-quantization y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without channels-last     y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without sink-reshapes     y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without order-results     y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without fold-weights      y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without fuse-operators    y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without fold-groups       y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without view-reshapes     y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without order-groups      y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without plan-memory       y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      without any pass          y[0]: expected 3.0, got 2.0; 2 of 2 elements differ
      each group computes what its operators say: the importer, or an operator, says another thing
    """

    def difference(without: Sequence[str]) -> str:
        model = compile_graph(make(), target, without)
        got = model(*inputs)
        names = [name for name, _ in model.outputs]
        return _difference(names, got if is_tuple(got) else (got,), expected, rtol)

    model = compile_graph(make(), target)
    got = model(*inputs)
    names = [name for name, _ in model.outputs]
    found = _difference(names, got if is_tuple(got) else (got,), expected, rtol)
    group = model.verify(*inputs).wrong
    if not found:
        return ModelBisection(model.name, "", group=group)
    passes = [name for name in passes_for(model.target) if name != "form-cuda-graph" or model.cuda_graph]
    without = tuple((name, difference([name])) for name in passes)
    return ModelBisection(model.name, found, without, difference(PASSES), group)


def _difference(names: Sequence[str], got: Sequence[Any], expected: Sequence[np.ndarray], rtol: float | None) -> str:
    for name, mine, theirs in zip(names, got, expected):
        theirs = np.asarray(theirs)
        if mine.shape != theirs.shape:
            return f"{name}: expected shape {theirs.shape}, got {mine.shape}"
        limit = 4096 * unit_roundoff(mine.dtype) if rtol is None and "float" in mine.dtype.name else rtol
        apart = differs(mine, theirs, limit)
        if apart.any():
            place = tuple(int(at) for at in np.argwhere(apart)[0])
            count = f"{int(apart.sum())} of {apart.size} elements differ"
            return f"{name}{list(place)}: expected {theirs[place]}, got {mine[place]}; {count}"
    return ""
