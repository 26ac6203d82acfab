"""The scoreboard of transformers' and timm's models: its page, and models of it again where the packages are there."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tree import load

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")
TOOL = load("score-models")
DATA: dict[str, Any] = json.loads(TOOL.DATA.read_text())
PASSING = [name for name, result in DATA["results"].items() if result == "passes"]
QUICK = [f"transformers {name}" for name in ("GPT-2", "BERT", "Mixtral", "Swin")]


def test_the_page_is_what_the_data_says() -> None:
    assert TOOL.PAGE.read_text() == TOOL.page(DATA), "docs/model-coverage.md is stale: run tools/score-models.py"


def test_the_data_has_every_model() -> None:
    assert sorted(DATA["results"]) == sorted(TOOL.MODELS)


@pytest.mark.sweep
@pytest.mark.parametrize("name", [*QUICK, *(pytest.param(one, marks=pytest.mark.slow) for one in PASSING)])
def test_a_model_that_passed_passes(name: str) -> None:
    pytest.importorskip(name.split()[0])
    assert TOOL.result_of(name) == "passes"


def test_a_difference_is_a_part_of_the_largest_element() -> None:
    assert TOOL.differs(torch.tensor([1.0, 4.5]), torch.tensor([1.0, 4.0])) == pytest.approx(0.125)
    with pytest.raises(AssertionError, match="tells something"):
        TOOL.differs(torch.zeros(3), torch.zeros(3))
