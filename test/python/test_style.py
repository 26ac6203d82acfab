"""The checks of tools/check-style.py that take a moment; .ci/run has them all."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tree import load

TOOL = load("check-style")


def test_pages_have_lines_of_120_columns() -> None:
    assert TOOL.docs() == []


@pytest.mark.skipif(shutil.which("ruff") is None, reason="needs ruff")
def test_python_is_formatted() -> None:
    assert TOOL.ruff() == []


def test_a_long_line_is_found() -> None:
    """Tables, code and what has no space cannot be wrapped."""
    long = "word " * 30
    text = f"{long}\n| {long} |\n```\n{long}\n```\n{'x' * 130}\n"
    assert list(TOOL.long_lines("page.md", text)) == ["page.md:1: 150 columns, at most 120 are allowed"]


def test_sentences_have_25_words() -> None:
    assert TOOL.sentences() == []


def test_a_long_sentence_is_found(tmp_path: Path) -> None:
    """Code is one word, wherever its paragraph is wrapped; tables, code blocks and headings are no sentences."""
    long, short = " ".join(["word"] * 26), " ".join(["word"] * 25)
    text = f"# {long}\n{short}. {short}\n`{long}` {short[5:]}.\n\n| {long} |\n```\n{long}\n```\n- {short}\nword.\n"
    assert [number for number, _ in TOOL.long_sentences(text)] == [2, 9]
    code = tmp_path / "code.py"
    code.write_text(
        f'def f():\n    """Short.\n\n    {long}.\n\n    >>> f({long})\n    """\n\n\ndef _g():\n    """{long}."""\n'
    )
    assert [line for line, text in TOOL.docstrings(code) for _ in TOOL.long_sentences(text)] == [2]


def test_a_tool_that_is_missing_is_no_success() -> None:
    (line,) = TOOL.run("no-such-tool")
    assert line == "no-such-tool is not installed: pip install '.[lint]'"
