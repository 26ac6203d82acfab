"""CUDA C++ to PTX or a cubin by NVRTC, which needs neither a GPU nor a compiler of the host's."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

LIBRARY = "libnvrtc.so.13"


def include_folders() -> list[Path]:
    """Where the wheels nvidia-cuda-runtime and nvidia-cuda-cccl put CUDA's headers."""
    spec = find_spec("nvidia")
    places = [] if spec is None else list(spec.submodule_search_locations or ())
    folders = [Path(place) / "cu13" / "include" for place in places]
    return [found for folder in folders for found in (folder, folder / "cccl") if found.is_dir()]


def compile_cuda(source: str, arch: str = "sm_90a", *options: str) -> bytes:
    """The cubin of `source`; a test is skipped where there is no NVRTC or the headers that it asks for are not there."""
    return compile_to_ptx(source, arch, *options)[0]


def compile_to_ptx(source: str, arch: str = "sm_90a", *options: str) -> tuple[bytes, str, str]:
    """The cubin of `source`, its PTX, and what NVRTC and ptxas say of it; skipped as `compile_cuda` is."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc")
    try:
        result, program = nvrtc.nvrtcCreateProgram(source.encode(), b"kernels.cu", 0, [], [])
    except RuntimeError as error:
        pytest.skip(f"no NVRTC here: {error}")
    assert int(result) == 0
    if "#include <cuda_" in source and not any((folder / "cuda_fp16.h").exists() for folder in include_folders()):
        pytest.skip("no headers of CUDA here (nvidia-cuda-runtime)")
    flags = [f"--gpu-architecture={arch}", "--std=c++17", *options, *(f"-I{folder}" for folder in include_folders())]
    (result,) = nvrtc.nvrtcCompileProgram(program, len(flags), [flag.encode() for flag in flags])

    def text(of: str) -> bytearray:
        _, size = getattr(nvrtc, f"nvrtcGet{of}Size")(program)
        made = bytearray(size)
        getattr(nvrtc, f"nvrtcGet{of}")(program, made)
        return made

    log = text("ProgramLog").decode().strip("\0")
    assert int(result) == 0, log + source
    image, ptx = text("CUBIN"), text("PTX").decode().strip("\0")
    nvrtc.nvrtcDestroyProgram(program)
    return bytes(image), ptx, log
