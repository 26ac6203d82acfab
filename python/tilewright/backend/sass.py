"""Machine code as text, by NVIDIA's own tools where they are installed. Nothing else needs them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from pathlib import Path

from ..errors import TilewrightError
from ..native.tools import run_tool

__all__ = ["disassemble", "find_disassembler"]

# What each tool is told to print the code alone.
_OPTIONS = {"nvdisasm": "-c", "cuobjdump": "-sass"}


def find_disassembler() -> Path | None:
    """The tool on the PATH or, where there is none, that of NVIDIA's packages on PyPI, which do not put it there."""
    spec = importlib.util.find_spec("nvidia")
    folders = [] if spec is None else [Path(root) / "cu13" / "bin" for root in spec.submodule_search_locations or ()]
    for path in (None, os.pathsep.join(map(str, folders))):
        for tool in _OPTIONS:
            found = shutil.which(tool, path=path)
            if found is not None:
                return Path(found)
    return None


def disassemble(cubin: bytes) -> str:
    """The text of a cubin's kernels.

    Raises TilewrightError where no tool is installed, or where it refuses the cubin.
    """
    tool = find_disassembler()
    if tool is None:
        raise TilewrightError(
            "expected nvdisasm or cuobjdump to disassemble the cubin, got neither: "
            "the CUDA toolkit has both, pip install nvidia-cuda-nvdisasm brings the first"
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernels.cubin"
        file.write_bytes(cubin)
        command = [str(tool), _OPTIONS[tool.name], str(file)]
        run = run_tool(command)
    if run.returncode != 0:
        said = run.stderr.strip() or run.stdout.strip()
        raise TilewrightError(f"{tool.name} failed with code {run.returncode}: {said}".replace(str(file), "the cubin"))
    return run.stdout
