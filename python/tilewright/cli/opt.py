"""`tilewright-opt`: MLIR's opt driver with Tilewright's dialects, passes and pipelines, as the package ships it."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Becomes the opt tool of the installed package, with the same arguments."""
    tool = Path(__file__).parent.parent / "_lib" / "tilewright-opt"
    try:
        os.execv(tool, [str(tool), *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"tilewright-opt: the package has no tool at {tool}: {error.strerror}")
