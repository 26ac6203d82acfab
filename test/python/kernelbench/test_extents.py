"""The extents that the benchmark measures: those of the same problems, and torch takes them."""

from __future__ import annotations

import importlib

import pytest

from tree import ROOT

from .level1 import LEVEL1
from .level2 import LEVEL2
from .words import OfTorch

torch = pytest.importorskip("torch")


@pytest.mark.sweep
def test_torch_takes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    shapes_of = importlib.import_module("kernelbench_shapes").shapes_of
    words, outputs = OfTorch(), []
    for level, problems in enumerate((LEVEL1, LEVEL2), 1):
        for place, (name, small, problem) in enumerate(problems):
            shapes = shapes_of(level, place, small)
            assert [len(shape) for shape in shapes] == [len(shape) for shape in small], name
            given = [torch.empty(shape, device="meta") for shape in shapes]
            if name == "CrossEntropyLoss":
                given[1] = given[1].long()
            outputs.append(problem(words, *given).numel())
    assert len(outputs) == 200 and max(outputs) * 4 < 4e9
    with pytest.raises(IndexError, match="level 1 has 100 problems"):
        shapes_of(1, 100, ())
