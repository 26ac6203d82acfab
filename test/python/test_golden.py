"""The golden stories: each stage's file is what the pipeline makes of the file before it, so a break shows at one stage."""

from __future__ import annotations

import pytest

from tree import load

TOOL = load("regenerate-goldens")


@pytest.mark.parametrize("kernel", TOOL.STORIES)
def test_python_emits_the_first_stage(kernel: str) -> None:
    assert TOOL.te_stage(kernel) == (TOOL.STORIES[kernel] / "1-te.mlir").read_text()


@pytest.mark.parametrize("kernel", TOOL.STORIES)
@pytest.mark.parametrize(("name", "source", "stages"), TOOL.CHAIN, ids=[name for name, _, _ in TOOL.CHAIN])
def test_stage(kernel: str, name: str, source: str, stages: str) -> None:
    folder = TOOL.STORIES[kernel]
    assert TOOL.next_stage(folder / source, stages) == (folder / name).read_text(), (
        f"if this is meant, run tools/regenerate-goldens.py and read what changes in {name}"
    )


def test_page_quotes_the_files() -> None:
    text = TOOL.PAGE.read_text()
    assert text.count("<!-- golden ") >= len(TOOL.CHAIN)
    assert TOOL.page(text) == text, "run tools/regenerate-goldens.py"
