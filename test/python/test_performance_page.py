"""The tables of random shapes in docs/performance.md: their figures are those of the files that they link to."""

from __future__ import annotations

import json
import re
from typing import Any

from tilewright.schedules.matmuls import cost_model
from tree import ROOT

GROUPS = {
    "16-bit matmuls with aligned rows": "aligned matmul",
    "16-bit matmuls with odd extents": "odd matmul",
    "float8 matmuls": "f8 matmul",
    "int8 matmuls": "int8 matmul",
    "tf32 matmuls": "tf32 matmul",
    "float32 matmuls": "f32 matmul",
    "row operations (softmax, norms, sums)": "rows",
    "convolutions": "convolutions",
}


def _tables() -> list[tuple[list[str], dict[str, list[str]]]]:
    """Of each table the files, and the cells of each row."""
    found: list[tuple[list[str], dict[str, list[str]]]] = []
    for block in (ROOT / "docs/performance.md").read_text().split("\n\n"):
        lines = block.strip().splitlines()
        if lines and lines[0].startswith("| | [seed "):
            files = re.findall(r"\]\((\.\./bench/results/[^)]*)\)", lines[0])
            cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
            found.append((files, {row[0]: row[1:] for row in cells}))
    return found


def _summary(file: str) -> dict[str, Any]:
    return json.loads((ROOT / "docs" / file).read_text())["summary"]


def test_figures_are_those_of_the_files() -> None:
    tables = _tables()
    assert len(tables) >= 2
    for files, rows in tables:
        summaries = [_summary(file) for file in files]
        for name, cells in rows.items():
            measured = [summary[GROUPS[name]] for summary in summaries]
            assert cells == [f"{one['geomean']:.2f}x, {one['worst']:.2f}x" for one in measured], name


def test_the_model_says_what_it_was_fitted_to() -> None:
    fitted = json.loads(cost_model.NUMBERS.read_text())["fitted_to"]
    assert fitted and all((ROOT / "bench/results" / name).exists() for name in fitted)
