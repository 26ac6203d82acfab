"""The pages of the tutorial run, in order, each in a namespace of its own; the site is built of them."""

from __future__ import annotations

import importlib.util
import json
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import mlir
import pytest

import tilewright as tw
from test_api_docs import EVERY
from test_commands import run
from tree import ROOT

PAGES = sorted((ROOT / "docs" / "tutorial").glob("[0-9]*.md"))
LONG = {"08-attention", "11-tuning"}


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, id=page.stem, marks=pytest.mark.sweep if page.stem in LONG else ())
        for page in [*PAGES, ROOT / "docs" / "questions.md"]
    ],
)
def test_the_code_of_a_page_runs(
    page: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text()
    names: dict[str, object] = {"__name__": page.stem}
    for match in re.finditer(r"^```python\n(.*?)^```(?:\n```text\n(.*?)^```)?", text, re.MULTILINE | re.DOTALL):
        line = text[: match.start()].count("\n") + 1
        code, expected = match.groups()
        capsys.readouterr()
        exec(compile("\n" * line + code, str(page), "exec"), names)
        if expected is not None:
            assert capsys.readouterr().out == expected, f"{page}:{line}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_cells_of_a_notebook_are_the_python_of_its_page(page: Path) -> None:
    """Commands for a terminal are text, and links lead to what stands in the site."""
    jupytext = pytest.importorskip("jupytext")
    for_notebook = runpy.run_path(str(ROOT / "tools" / "build-site.py"))["for_notebook"]
    notebook = jupytext.reads(for_notebook(page.read_text()), "md")
    cells = [cell.source.strip() for cell in notebook.cells if cell.cell_type == "code"]
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    assert cells == [block.strip() for block in blocks]
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    names = {f"{each.stem}.ipynb" for each in PAGES}
    for link in re.findall(r"\]\(([^)#]*)[^)]*\)", text):
        if link.endswith(".html"):
            assert (ROOT / "docs" / "tutorial" / link).with_suffix(".md").resolve().is_file(), link
        else:
            assert link in names, link


def test_every_page_leads_to_the_next() -> None:
    for page, following in zip(PAGES, PAGES[1:]):
        assert f"]({following.name})" in page.read_text().splitlines()[-1], page.name


def test_the_list_of_pages_has_each_by_its_title() -> None:
    links = re.findall(r"^\| \[(.*)\]\((.*)\) \|", (ROOT / "docs/tutorial/index.md").read_text(), re.MULTILINE)
    assert links == [(page.read_text().splitlines()[0].removeprefix("# "), page.name) for page in PAGES]


@pytest.mark.sweep
def test_the_plugin_of_the_page_is_built_and_loaded(tmp_path: Path) -> None:
    """The C++ and the commands of the page on passes, in a folder of their own."""
    if shutil.which("c++") is None or not (Path(mlir.__path__[0]) / "include" / "mlir" / "IR").is_dir():
        pytest.skip("needs a C++ compiler and MLIR's headers: pip install xtc-mlir-dev xtc-llvm-dev")
    page = (ROOT / "docs" / "tutorial" / "14-passes.md").read_text()
    blocks = {
        kind: re.findall(rf"^```{kind}\n(.*?)^```", page, re.MULTILINE | re.DOTALL) for kind in ("cpp", "bash", "")
    }
    (tmp_path / "double-by-adding.cpp").write_text(blocks["cpp"][0])
    shown = run("".join(blocks["bash"]), tmp_path)
    assert "arith.addf %arg0, %arg0" in shown and "mulf" not in shown
    python = re.search(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    last = re.search(r"^```\n(tw\.load_pass_plugin.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert python is not None and last is not None
    script = python[1] + last[1] + 'print(tw.load_pass_plugin("double-by-adding.so"), func.ir("loops"))'
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("DoubleByAdding ") and "arith.addf" in done.stdout and "mulf" not in done.stdout


def test_what_is_no_plugin_is_refused(tmp_path: Path) -> None:
    with pytest.raises(tw.TilewrightError, match=r"nowhere\.so: expected a pass plug-in, got no such file"):
        tw.load_pass_plugin(tmp_path / "nowhere.so")
    text = tmp_path / "text.so"
    text.write_text("no library")
    with pytest.raises(tw.TilewrightError, match="expected a pass plug-in with the function mlirGetPassPluginInfo: "):
        tw.load_pass_plugin(text)


def test_the_figures_of_the_steps_are_those_measured() -> None:
    page = (ROOT / "docs" / "tutorial" / "06-wgmma.md").read_text()
    runs = json.loads((ROOT / "bench" / "results" / "h200-wgmma-steps.json").read_text())["runs"]
    assert [line for line in page.splitlines() if line.startswith("| ") and "x |" in line] == [
        f"| {name} | {1e3 * run['ms']:.0f} | {run['TFLOPs']:.0f} | {run['of_cublas']:.2f}x |"
        for name, run in runs.items()
    ]
    for name in runs.keys() - {"cuBLAS"}:
        assert f'    "{name}": {{' in page


def test_the_figures_of_attention_are_those_measured() -> None:
    page = (ROOT / "docs" / "tutorial" / "08-attention.md").read_text()
    rows = []
    for name, measured in json.loads((ROOT / "bench" / "results" / "h200-attention.json").read_text()).items():
        if found := re.fullmatch(r"forward d(\d+) \d+x\d+x(\d+) (full|causal)", name):
            width, keys, mask = found.groups()
            ours, cudnn = measured[measured["best"]["choice"]]["TFLOPs"], measured["cudnn"]["TFLOPs"]
            rows.append(
                f"| {width} | {mask} | {keys} | {ours:.0f} | {cudnn:.0f} | {measured['best']['of_cudnn']:.2f}x |"
            )
    assert rows and sorted(line for line in page.splitlines() if line.endswith("x |")) == sorted(rows)


@pytest.mark.slow
def test_the_site_has_no_dead_link(tmp_path: Path) -> None:
    for needed in ("sphinx", "myst_parser", "furo", "jupytext"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"needs {needed}: pip install '.[docs]'")
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build-site.py"), "--out", str(tmp_path / "site")],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "index.html").exists()
    assert len(list((tmp_path / "site" / "notebooks").glob("*.ipynb"))) == len(PAGES)
    pages = {page.stem: page.read_text() for page in (tmp_path / "site" / "api" / "generated").glob("*.html")}
    assert [name for name in map(address_of, EVERY) if f'id="{name}"' not in pages[name.rpartition(".")[0]]] == []


def address_of(name: str) -> str:
    """Where the site has a name of Python: `tw.build` is that of the package itself."""
    return f"tilewright.{name.removeprefix('tw.')}"
