"""The example of a library (python/examples/kernel_library) by all its users, here and on a GPU.

    python bench/libraries.py [--json FILE]

Builds the library for each target that this machine runs (cpu; with a GPU, cuda and managed) and uses it from NumPy,
torch, JAX, CuPy and C++, each in a process that has nothing of this project. What is not installed is said.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import tilewright as tw
from tilewright.runtime.ffi import libtvm_ffi_path

EXAMPLES = Path(__file__).parents[1] / "python" / "examples" / "kernel_library"
# Who uses a library of which target: arrays of this machine's are NumPy's and C++'s, on a GPU they are the others'.
USERS = {
    "cpu": ("numpy", "torch", "jax", "cpp"),
    "cuda": ("torch", "jax", "cupy"),
    "managed": ("numpy", "cpp"),
}
WITHOUT = "assert not [each for each in sys.modules if each.split('.')[0] in ('tilewright', 'mlir')]"
RUN = f"import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__'); {WITHOUT}"


def build(target: str, folder: Path) -> Path:
    """The library, with its header beside it."""
    path = folder / "kernels.so"
    runpy.run_path(str(EXAMPLES / "build.py"))["library"](
        str(path), target, [] if target == "cpu" else ["sm_80", "sm_90a"]
    )
    return path


def missing(user: str) -> str | None:
    """What a user needs that is not here."""
    if user == "cpp":
        return None if shutil.which("g++") else "g++"
    needed = {"jax": ("jax", "jax_tvm_ffi")}.get(user, (user,))
    return next((module for module in needed if importlib.util.find_spec(module) is None), None)


def use(user: str, library: Path) -> subprocess.CompletedProcess[str]:
    """Runs a user's example, which prints "right" last."""
    if user == "cpp":
        return _use_from_cpp(library)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    hidden = "import sys; sys.modules['torch'] = None; " if user == "numpy" else ""  # which tvm_ffi would import
    command = [sys.executable, "-c", hidden + RUN, str(EXAMPLES / f"with_{user}.py"), str(library)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def _use_from_cpp(library: Path) -> subprocess.CompletedProcess[str]:
    ffi = libtvm_ffi_path().parent
    program = library.parent / "with_cpp"
    built = subprocess.run(
        ["g++", "-std=c++17", "-Wall", "-Wextra", "-Werror", str(EXAMPLES / "with_cpp.cpp"), str(library), "-o",
         str(program), f"-I{library.parent}", f"-I{ffi.parent / 'include'}",
         *(f"-I{path}" for path in ffi.parent.rglob("dlpack/include")), f"-L{ffi}", "-ltvm_ffi",
         f"-Wl,-rpath,{ffi}:{library.parent}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return built if built.returncode else subprocess.run([program], capture_output=True, text=True, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, help="where the results go")
    options = parser.parse_args()
    found: dict[str, dict[str, str]] = {}
    for target, users in USERS.items():
        if target != "cpu" and not tw.cuda(0).exist:
            found[target] = {"skipped": "no GPU here"}
            continue
        with tempfile.TemporaryDirectory() as folder:
            library = build(target, Path(folder))
            found[target] = {}
            for user in users:
                lacking = missing(user)
                if lacking is not None:
                    found[target][user] = f"skipped: no {lacking} here"
                    continue
                done = use(user, library)
                is_right = done.returncode == 0 and done.stdout.splitlines()[-1:] == ["right"]
                found[target][user] = "right" if is_right else f"exit {done.returncode}: {done.stdout}{done.stderr}"
    for target, results in found.items():
        for user, result in results.items():
            print(f"{target:8} {user:8} {result}")
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))
    return any(result.startswith("exit ") for results in found.values() for result in results.values())


if __name__ == "__main__":
    sys.exit(main())
