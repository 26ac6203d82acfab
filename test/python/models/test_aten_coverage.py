"""The scoreboard of core ATen: its page, and a sample of its cases again."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest

from tree import load

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")
TOOL = load("score-aten")
DATA: dict[str, Any] = json.loads(TOOL.DATA.read_text())
RESULTS: dict[str, str] = DATA["results"]


def _by_hand() -> list[str]:
    """Cases whose call stands in tools/aten_samples.py: they need no samples of PyTorch's own tests."""
    from aten_samples import calls_of

    return [
        case
        for case, result in RESULTS.items()
        if result == "passes" and zlib.crc32(case.encode()) % 9 == 0 and calls_of(*case.split())
    ]


@pytest.mark.sample(4)
@pytest.mark.parametrize("case", _by_hand())
def test_a_case_that_passed_passes(case: str) -> None:
    assert TOOL.result_of(case) == "passes"


def test_the_page_is_what_the_data_says() -> None:
    assert TOOL.PAGE.read_text() == TOOL.page(DATA), "docs/aten-coverage.md is stale: run tools/score-aten.py"
