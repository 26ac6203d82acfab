"""The example of a library, and its users: each in a process of its own that has nothing of this project."""

from __future__ import annotations

import importlib.util
import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tilewright as tw
from tilewright.runtime.ffi import libtvm_ffi_path

FOLDER = Path(__file__).parents[3] / "python" / "examples" / "kernel_library"
pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler to link with"),
    pytest.mark.skipif(importlib.util.find_spec("tvm_ffi") is None, reason="no tvm-ffi here"),
]
WITHOUT = "assert not [each for each in sys.modules if each.split('.')[0] in ('tilewright', 'mlir')]"
RUN = f"import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__'); {WITHOUT}"


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    make = runpy.run_path(str(FOLDER / "build.py"))["library"]
    made = {"cpu": tmp_path_factory.mktemp("library") / "kernels.so"}
    make(str(made["cpu"]), "cpu")
    for target in ("cuda", "managed") if tw.cuda(0).exist else ():
        made[target] = tmp_path_factory.mktemp("library") / "kernels.so"
        make(str(made[target]), target, ["sm_80", "sm_90a"])
    return made


@pytest.mark.parametrize(
    ("user", "target"),
    [
        ("numpy", "cpu"),
        ("torch", "cpu"),
        ("jax", "cpu"),
        *(pytest.param(user, "cuda", marks=pytest.mark.gpu) for user in ("torch", "jax", "cupy")),
        pytest.param("numpy", "managed", marks=pytest.mark.gpu),
    ],
)
def test_from_python(user: str, target: str, libraries: dict[str, Path]) -> None:
    for module in (user, "jax_tvm_ffi") if user == "jax" else (user,):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"no {module} here")
    if target not in libraries:
        pytest.skip("no NVIDIA GPU here")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", RUN, str(FOLDER / f"with_{user}.py"), str(libraries[target])]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (result.returncode, result.stdout) == (0, "right\n"), result.stderr


@pytest.mark.parametrize("target", ["cpu", pytest.param("managed", marks=pytest.mark.gpu)])
def test_from_cpp(target: str, libraries: dict[str, Path], tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++ here")
    if target not in libraries:
        pytest.skip("no NVIDIA GPU here")
    ffi, library = libtvm_ffi_path().parent, libraries[target]
    subprocess.run(
        ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", str(FOLDER / "with_cpp.cpp"), str(library), "-o",
         str(tmp_path / "with_cpp"), f"-I{library.parent}", f"-I{ffi.parent / 'include'}",
         *(f"-I{path}" for path in ffi.parent.rglob("dlpack/include")), f"-L{ffi}", "-ltvm_ffi",
         f"-Wl,-rpath,{ffi}:{library.parent}"],
        check=True,
    )  # fmt: skip
    result = subprocess.run([tmp_path / "with_cpp"], capture_output=True, text=True, check=True)
    assert result.stdout.splitlines() == [
        "TypeError: add: expected a call that one of these takes",
        *(
            f"  {name}(A: {dtype}[n], B: {dtype}[n], C: {dtype}[n]): argument 0 (A): expected dtype {dtype}, got float64"
            for name, dtype in (
                ("add_float32x4", "float32"),
                ("add_float32", "float32"),
                ("add_float16x8", "float16"),
                ("add_float16", "float16"),
                ("add_int32", "int32"),
            )
        ),
        "right",
    ]
