"""The run time from many threads under the thread sanitizer: races.cpp beside this file."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tree import ROOT

SOURCES = ("host/*.cpp", "ExchangeTypes.cpp", "PythonArguments.cpp", "PythonCall.cpp", "PythonCallable.cpp")


@pytest.mark.sweep
def test_no_races(tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("no g++ here")
    runtime = ROOT / "runtime"
    sources = sorted(path for pattern in SOURCES for path in runtime.glob(pattern))
    unit = tmp_path / "all.cpp"
    unit.write_text("".join(f'#include "{path}"\n' for path in (*sources, Path(__file__).with_name("races.cpp"))))
    command = [
        compiler,
        "-std=c++17",
        "-O1",
        "-g",
        "-fsanitize=thread",
        f"-I{ROOT}",
        str(unit),
        "-o",
        str(tmp_path / "races"),
    ]
    built = subprocess.run([*command, "-ldl", "-lpthread"], capture_output=True, text=True, check=False)
    if "cannot find" in built.stderr and "tsan" in built.stderr:
        pytest.skip("no thread sanitizer here")
    assert built.returncode == 0, built.stderr
    done = subprocess.run([tmp_path / "races"], capture_output=True, text=True, check=False)
    if "unexpected memory mapping" in done.stderr:
        pytest.skip("the thread sanitizer does not run on this kernel")
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
