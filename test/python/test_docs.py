"""The committed pages are those that the sources give."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
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


@pytest.mark.sweep
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


@pytest.mark.sweep
def test_a_pass_that_is_not_listed_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    passes = {**TOOL.EDGES, "gpu-to-sim": "gpu-to-sim{checks=false gpu-indices=true}"}
    monkeypatch.setattr(TOOL, "EDGES", passes)
    assert "insert-sim-checks" in TOOL.passes_of("others")
    assert (ROOT / "docs" / "lowering.md").read_text() != TOOL.pass_tables()


def diffs_of_the_how_to() -> list[str]:
    page = (ROOT / "docs" / "how-to" / "add-a-tile-op.md").read_text()
    return re.findall(r"^```diff\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def apply_the_how_to(tree: Path) -> list[str]:
    """Applies the diffs of docs/how-to/add-a-tile-op.md to a tree. The files that they change or add."""
    patch = tree / "op.diff"
    patch.write_text("".join(diffs_of_the_how_to()))
    applied = subprocess.run(["git", "apply", patch.name], cwd=tree, capture_output=True, text=True, check=False)
    assert applied.returncode == 0, f"mend docs/how-to/add-a-tile-op.md: {applied.stderr}"
    return names_of(patch.read_text())


def names_of(diffs: str) -> list[str]:
    return re.findall(r"^\+\+\+ b/(\S+)$", diffs, re.MULTILINE)


def test_the_diffs_of_the_how_to_apply_and_change_five_files(tmp_path: Path) -> None:
    """docs/how-to/add-a-tile-op.md adds an op in five files and tests, by diffs that `git apply` takes as they are."""
    for name in names_of("".join(diffs_of_the_how_to())):
        if (ROOT / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    names = apply_the_how_to(tmp_path)
    assert len(names) == len(diffs_of_the_how_to()) and sum(not name.startswith("test/") for name in names) == 5
    assert "tile::RowMaxOp::create" in (tmp_path / "passes/loops-to-tile/RaiseReductions.cpp").read_text()


@pytest.mark.sweep
@pytest.mark.minutes
def test_the_op_of_the_how_to_compiles_and_its_tests_pass(tmp_path: Path) -> None:
    """A package is built of the tree with the op in it: some minutes on several cores."""
    tree, site = tmp_path / "tree", tmp_path / "site"
    ignored = shutil.ignore_patterns(
        ".git", "build", "dist", "Output", "results", "figures", "__pycache__", "_lib", "*_gen.py"
    )
    shutil.copytree(ROOT, tree, ignore=ignored)
    names = apply_the_how_to(tree)
    has_tools = TOOL.mlir_root() is not None and importlib.util.find_spec("scikit_build_core") is not None
    options = ["--no-build-isolation"] if has_tools else []
    install = ["-m", "pip", "install", "--quiet", "--no-deps", *options, f"--target={site}", str(tree)]
    # The tool finds MLIR's libraries beside the package that it is installed with, which are not in this folder.
    packages = Path(sysconfig.get_paths()["purelib"])
    libraries = [packages / "mlir" / "_mlir_libs", packages / "llvm" / "lib"]
    environment = {
        **os.environ,
        "PYTHONPATH": f"{site}{os.pathsep}{tree / 'test' / 'python'}",
        "LD_LIBRARY_PATH": os.pathsep.join(map(str, libraries)),
    }

    def run(*command: str) -> str:
        done = subprocess.run(
            [sys.executable, *command], cwd=tree, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
        return done.stdout

    run(*install)
    added = [name for name in names if name.endswith(".mlir")]
    assert "Passed: 3" in run("-c", "from lit.main import main; main()", "-v", *added)
    of_rows = next(name for name in names if name.endswith(".py"))
    assert " passed" in run("-m", "pytest", "-q", "-p", "no:cacheprovider", of_rows, "-k", "row_maximum_is_one_op")
