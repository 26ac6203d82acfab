"""Printed host programs as libraries of this machine, by g++, with a driver that is this machine's memory."""

from __future__ import annotations

import ctypes
import functools
import subprocess
import tempfile
from pathlib import Path

import pytest

from source.nvrtc import include_folders
from source.on_cpu import compile_kernels

__all__ = ["compile_host"]

HERE = Path(__file__).parent
FLAGS = ["-std=c++17", "-O1", "-fPIC", "-Wall", "-Wextra", "-Wno-unused-function", "-Wno-unused-variable"]


def _compile(*arguments: str) -> str:
    """What g++ warns of."""
    result = subprocess.run(["g++", *FLAGS, *arguments], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:3000]
    return result.stderr


@functools.cache
def _headers() -> Path | None:
    return next((place for place in include_folders() if (place / "cuda.h").exists()), None)


@functools.cache
def _fake_driver() -> tuple[tempfile.TemporaryDirectory[str], str]:
    """The object file of the driver, which is the same for all programs, and the folder that holds it."""
    folder = tempfile.TemporaryDirectory()
    made = str(Path(folder.name) / "fake_cuda.o")
    _compile(f"-I{_headers()}", "-c", str(HERE / "fake_cuda.cpp"), "-o", made)
    return folder, made


def compile_host(folder: Path, host: str, kernels: str) -> ctypes.CDLL:
    """A host program with `run_kernel` of `kernels`. The program is without warnings."""
    if _headers() is None:
        pytest.skip("no cuda.h here (nvidia-cuda-runtime)")
    (folder / "host.cpp").write_text(host)
    library, program = folder / "program.so", str(folder / "host.o")
    said = _compile(f"-I{_headers()}", "-c", "-pthread", "-o", program, str(folder / "host.cpp"))
    compile_kernels(folder / "kernels.cpp", kernels, library, program, _fake_driver()[1])
    assert "host.cpp" not in said, said[:3000]
    loaded = ctypes.CDLL(str(library))
    loaded.fake_log.restype = ctypes.c_char_p
    return loaded
