"""The C++ library: dialects, passes and the support of the run time."""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

from ..errors import TilewrightImportError as ImportError

__all__ = ["compiler_identity", "library"]


@cache
def library() -> ctypes.CDLL:
    """The C++ library: dialects, passes and the run-time support, loaded once and registered with MLIR.

    Raises ImportError where it is not there, as in an archive.
    """
    path = Path(__file__).parent.parent / "_lib" / "libtilewright.so"
    # Not RTLD_GLOBAL: that would put libLLVM's symbols before those of every library loaded later. The LLVM inside of
    # Triton or torch would register its options with ours, which aborts the process.
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        hint = "" if Path(__file__).exists() else ": the package has to be in a folder, not in an archive"
        raise ImportError(f"tilewright's compiled library cannot be loaded: {error}{hint}") from None
    loaded.tilewrightRegisterDialects.argtypes = [ctypes.c_void_p]
    loaded.tilewrightRegisterPasses()
    return loaded


@cache
def compiler_identity() -> str:
    """A line for each library that has part in what a program compiles to, with a hash of its contents."""
    identity = library().tilewrightCompilerIdentity
    identity.restype = ctypes.c_char_p
    return identity().decode()
