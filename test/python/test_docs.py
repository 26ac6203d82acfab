"""The committed pages are those that the sources give."""

from __future__ import annotations

import pytest

from tree import ROOT, load

TOOL = load("regenerate-docs")


@pytest.mark.parametrize("page", TOOL.PAGES)
def test_generated_page_is_current(page: str) -> None:
    committed = (ROOT / "docs" / "generated" / page).read_text()
    source = TOOL.PAGES[page][0]
    assert committed.startswith(TOOL.note(source)), f"{page} is stale: run tools/regenerate-docs.py"


@pytest.mark.skipif(TOOL.mlir_root() is None, reason="needs mlir-tblgen and MLIR's headers")
def test_generated_pages_are_what_the_tool_writes() -> None:
    for page, text in TOOL.pages(TOOL.mlir_root()).items():
        assert (ROOT / "docs" / "generated" / page).read_text() == text, page


def test_the_sources_that_are_shown_are_those_that_are_printed() -> None:
    committed = (ROOT / "docs" / "take-it-away.md").read_text()
    assert committed == TOOL.source_page(), "docs/take-it-away.md is stale: run tools/regenerate-docs.py"
    assert committed.count("```cuda") == 2 and committed.count("```cpp") == 2
