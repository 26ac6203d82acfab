"""Which compiled kernels of the cache a program is, and what is taken from there.

An entry holds the PTX, the cubin and the host stage, because these take the time to compile. The stages between are
made from te when someone asks for them. The key leaves out the program's locations, so a program keeps its kernels when
its file moves or grows. The host stage names the user's lines, so it is made again where the lines differ.
"""

from __future__ import annotations

import sys
from functools import cache
from hashlib import sha256
from pathlib import Path

from ..backend.cubin import LinkOptions, find_ptxas
from ..native.library import compiler_identity, library
from .pipeline import PATHS, Lowering, pipeline_text

__all__ = ["compiler_hash", "compiler_versions", "find", "keep"]

FORMAT = "1"
"""Of what an entry holds; another one makes other keys."""


@cache
def _linker_version() -> str:
    """nvJitLink's version. Its package's folder has it; to ask the library itself takes loading 100 MB."""
    for folder in sys.path:
        for found in Path(folder or ".").glob("nvidia_nvjitlink-*.dist-info"):
            return found.name
    try:
        from cuda.bindings import nvjitlink

        return "nvJitLink {}.{}".format(*nvjitlink.version())
    except (ImportError, RuntimeError):
        return "none"


@cache
def compiler_versions() -> str:
    """What decides which code a program becomes: this library, MLIR, LLVM, nvJitLink and ptxas."""
    import ctypes

    version = library().tilewrightVersion
    version.restype = ctypes.c_char_p
    ptxas = find_ptxas()
    assembler = "" if ptxas is None else f"{ptxas} {ptxas.stat().st_mtime_ns}"
    return f"{version().decode()}\n{compiler_identity()}{_linker_version()}{assembler}"


def compiler_hash() -> str:
    """The versions as records have them."""
    return sha256(compiler_versions().encode()).hexdigest()[:16]


def _text(lowering: Lowering, *, locations: bool) -> str:
    return str(lowering.reach(lowering.start).operation.get_asm(enable_debug_info=locations))


def key_of(lowering: Lowering) -> str | None:
    """The key of a program for target cuda, or None where nobody can say what it compiles to."""
    if any(not isinstance(hook, str) for hooks in lowering.hooks.values() for hook in hooks):
        return None
    path = PATHS[lowering.target.kind]
    parts = [
        FORMAT,
        compiler_versions(),
        str(lowering.target),
        lowering.name,
        *(pipeline_text(lowering.start, stop, lowering.target) for stop in (path[-1], "host")),
        *LinkOptions().arguments(lowering.target.arch or ""),
        *(f"{stage}: {hook}" for stage in path for hook in lowering.hooks.get(stage, ())),
        *(f"host: {hook}" for hook in lowering.hooks.get("host", ())),
        _text(lowering, locations=False),
    ]
    return sha256("\0".join(parts).encode()).hexdigest()


def _locations(lowering: Lowering) -> bytes:
    return sha256(_text(lowering, locations=True).encode()).digest()


def find(lowering: Lowering) -> tuple[str, bytes] | None:
    """The PTX and the cubin of a program that was compiled before; its host stage is then made, too."""
    if lowering.cache is None:
        return None
    with lowering.timed("cache"):
        key = key_of(lowering)
        parts = None if key is None else lowering.cache.get(key)
        if parts is None:
            return None
        lowering.cache_hit = True
        if parts["locations"] == _locations(lowering):
            lowering.texts["host"] = parts["host"].decode()
    ptx, cubin = parts["ptx"].decode(), parts["cubin"]
    if "host" not in lowering.texts:
        keep(lowering, ptx, cubin)  # the next build finds its own lines
    return ptx, cubin


def keep(lowering: Lowering, ptx: str, cubin: bytes) -> None:
    """Stores what a program was compiled to."""
    if lowering.cache is None or (key := key_of(lowering)) is None:
        return
    host = str(lowering.reach("host"))
    with lowering.timed("cache"):
        parts = {"locations": _locations(lowering), "host": host.encode(), "ptx": ptx.encode(), "cubin": cubin}
        lowering.cache.put(key, parts)
