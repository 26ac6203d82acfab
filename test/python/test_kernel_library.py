"""The commands of the library of kernels, as its files show them, in the folder that they are shown for."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent.parent / "python" / "examples" / "kernel_library"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the folder in which the library was built for cpu."""
    made = tmp_path_factory.mktemp("library") / "kernel_library"
    shutil.copytree(FOLDER, made, ignore=shutil.ignore_patterns("__pycache__", "kernels.*"))
    ran = subprocess.run([sys.executable, "build.py", "cpu", "kernels.so"], cwd=made, capture_output=True, text=True)
    assert ran.stdout == "kernels.so: add, softmax for cpu\n", ran.stderr
    return made


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["with_numpy", "with_torch", "with_jax"])
def test_python(folder: Path, name: str) -> None:
    for needed in {"with_torch": ("torch",), "with_jax": ("jax", "jax_tvm_ffi")}.get(name, ()):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"needs {needed}")
    script = folder / f"{name}.py"
    assert f"python {name}.py kernels.so" in script.read_text()
    ran = subprocess.run([sys.executable, script.name, "kernels.so"], cwd=folder, capture_output=True, text=True)
    assert ran.stdout == "right\n", ran.stderr


@pytest.mark.skipif(shutil.which("g++") is None, reason="there is no g++")
@pytest.mark.skipif(shutil.which("tvm-ffi-config") is None, reason="tvm-ffi's command is not on the path")
def test_cpp(folder: Path) -> None:
    commands = re.findall(r"^//   (.*)$", (folder / "with_cpp.cpp").read_text(), re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["g++", "LD_LIBRARY_PATH=$(tvm-ffi-config"]
    command = " && ".join(commands)
    ran = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.skipif(shutil.which("rustc") is None, reason="there is no rustc")
@pytest.mark.skipif(shutil.which("tvm-ffi-config") is None, reason="tvm-ffi's command is not on the path")
def test_rust(folder: Path) -> None:
    commands = re.findall(r"^//!   (.*)$", (folder / "with_rust.rs").read_text(), re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["rustc", "LD_LIBRARY_PATH=.:$(tvm-ffi-config"]
    ran = subprocess.run(["bash", "-c", " && ".join(commands)], cwd=folder, capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "right\n"), ran.stderr


def test_the_tutorial_has_these_commands() -> None:
    page = (FOLDER.parents[2] / "docs" / "tutorial" / "12-frameworks.md").read_text()
    for file, mark in (("with_cpp.cpp", "//"), ("with_rust.rs", "//!")):
        for command in re.findall(rf"^{mark}   (.*)$", (FOLDER / file).read_text(), re.MULTILINE):
            assert f"\n{command}\n" in page
    assert "\npython build.py cpu kernels.so\n" in page and "\npython with_jax.py kernels.so\n" in page
