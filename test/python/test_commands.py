"""The shell commands of the README and of the tutorial's pages, as written, in an empty folder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tree import ROOT

SCRIPTS = Path(sys.executable).parent
FIRST, STAGES = ROOT / "docs/tutorial/01-first-kernel.md", ROOT / "docs/tutorial/10-stages.md"


def commands_of(page: Path, *numbers: int) -> str:
    """What .ci/run takes from a page, too."""
    command = [sys.executable, str(ROOT / "tools" / "commands-of.py"), str(page), *map(str, numbers)]
    return subprocess.check_output(command, text=True)


def code_of(page: Path) -> str:
    return "".join(re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL))


def run(commands: str, folder: Path) -> str:
    if not (SCRIPTS / "tilewright").exists():
        pytest.skip("needs the commands of an installed package")
    environment = {**os.environ, "PATH": f"{SCRIPTS}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_first_kernel_is_run_and_viewed(tmp_path: Path) -> None:
    readme = ROOT / "README.md"
    (tmp_path / "first.py").write_text(code_of(readme))
    assert "block.x = 16" in run(commands_of(readme, 3), tmp_path)
    page = (tmp_path / "mmult.html").read_text()
    assert "ld.global" in page and "blockIdx.y" in page


def test_the_pipeline_is_stopped_and_resumed(tmp_path: Path) -> None:
    (tmp_path / "python").symlink_to(ROOT / "python")
    shown = run(commands_of(ROOT / "README.md", 4), tmp_path)
    for each in ("gpu.launch_func", ".visible .entry main_kernel0", "main: each stage computes the same"):
        assert each in shown


@pytest.mark.sweep
def test_the_first_page_views_changes_and_times(tmp_path: Path) -> None:
    (tmp_path / "vector_add.py").write_text(code_of(FIRST))
    shown = run(commands_of(FIRST), tmp_path)
    assert re.search(r"^1 median .*\n4 median .*10 repeats$", shown, re.MULTILINE)
    assert "ld.global.v4" not in (tmp_path / "vector_add.html").read_text()
    assert "v4" in (tmp_path / "compared.html").read_text()


def test_the_page_on_stages(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(code_of(STAGES))
    shown = run(commands_of(STAGES), tmp_path)
    # What the file prints itself comes first.
    of_commands = shown[shown.index("---- host") :]
    assert of_commands.count("gpu.launch_func") == 1 and of_commands.count("gpu.launch blocks") == 1


def test_ci_installs_and_tests_by_the_commands_of_the_readme() -> None:
    readme = ROOT / "README.md"
    assert commands_of(readme, 1) == "pip install -v . && tilewright demo\n"
    assert commands_of(readme, 2) == "pip install '.[test]' && python -m pytest\n"
    script = (ROOT / ".ci" / "run").read_text()
    assert 'tools/commands-of.py README.md "$1"' in script
    assert "\nreadme 1\ntests readme 2\n" in script
