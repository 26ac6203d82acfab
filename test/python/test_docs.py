"""The committed pages are those that the sources give."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

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


def test_the_page_of_the_lowering_lists_the_passes_of_the_pipelines() -> None:
    """Each edge's passes in order, one line each; and every pass of the project is on an edge or among the others."""
    committed = (ROOT / "docs" / "lowering.md").read_text()
    assert committed == TOOL.pass_tables(), "docs/lowering.md is stale: run tools/regenerate-docs.py"
    tables = {
        edge: re.findall(r"^\| `([\w-]+)` \| \S", table, re.MULTILINE)
        for edge, table in re.findall(r"<!-- passes ([\w-]+) -->(.*?)<!-- end of passes -->", committed, re.DOTALL)
    }
    assert set(tables) == {"graph", *TOOL.EDGES, "others"}
    first, *_, last = tables["loops-to-tile"]
    assert (first, last) == ("raise-to-tile-ops", "launch-tile-kernels")
    assert "loops-to-tile" in tables["loops-to-gpu"] and "launch-tile-kernels" not in tables["loops-to-gpu"]
    files = (ROOT / "passes").glob("*/Passes.td")
    ours = {
        name for file in files for name in re.findall(r'^def \w+ : Pass<"([\w-]+)"', file.read_text(), re.MULTILINE)
    }
    assert ours and ours <= {name for table in tables.values() for name in table}


def test_a_pass_that_is_not_listed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = {**TOOL.EDGES, "gpu-to-sim": "gpu-to-sim{checks=false gpu-indices=true}"}
    monkeypatch.setattr(TOOL, "EDGES", passes)
    assert "insert-sim-checks" in TOOL.passes_of("others")
    assert (ROOT / "docs" / "lowering.md").read_text() != TOOL.pass_tables()


def test_the_diffs_of_the_how_to_apply_and_change_five_files(tmp_path: Path) -> None:
    """docs/how-to/add-a-tile-op.md adds an op in five files and tests, by diffs that `git apply` takes as they are."""
    page = (ROOT / "docs" / "how-to" / "add-a-tile-op.md").read_text()
    diffs = re.findall(r"^```diff\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    patch = tmp_path / "op.diff"
    patch.write_text("".join(diffs))
    names = re.findall(r"^\+\+\+ b/(\S+)$", patch.read_text(), re.MULTILINE)
    assert len(names) == len(diffs) and len([name for name in names if not name.startswith("test/")]) == 5
    for name in names:
        if (ROOT / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    applied = subprocess.run(["git", "apply", patch.name], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert applied.returncode == 0, f"mend docs/how-to/add-a-tile-op.md: {applied.stderr}"
    assert "tile::RowMaxOp::create" in (tmp_path / "passes/loops-to-tile/RaiseReductions.cpp").read_text()
