"""The compiler that links exported libraries."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from ..errors import TilewrightError
from ..native.tools import run_tool
from ..storage.private_files import write_result

__all__ = ["find_compiler", "find_linker", "link_library"]

_INSTEAD = "export_object writes the object file that a linker elsewhere takes"
_VERSIONS = "{{ global: {}; local: *; }};\n"


def find_compiler() -> str | None:
    """The path of the C compiler that links where none is named: the first of cc, gcc and clang that is there."""
    return next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name)) is not None), None)


def find_linker(given: str | None) -> list[str]:
    """The command that links: the one given, or that of the environment's `CC`, or the compiler that is there."""
    wanted = given or os.environ.get("CC")
    if wanted:
        command = shlex.split(wanted)
        if not command or shutil.which(command[0]) is None:
            raise TilewrightError(f"expected a compiler to link with, got {wanted!r}, which is not there; {_INSTEAD}")
        return command
    if (found := find_compiler()) is not None:
        return [found]
    raise TilewrightError(
        f"no compiler to link with: expected cc, gcc or clang on the PATH, or linker=, or CC to name one; {_INSTEAD}"
    )


def link_library(
    command: Sequence[str], objects: Sequence[Path], path: Path, folder: Path, shown: Sequence[str] = ()
) -> None:  # fmt: skip
    """Links object files and the run time to a library at `path`. `folder` is for files on the way. Where `shown` is
    not empty, these symbols alone can be seen from outside."""
    from ..runtime.ffi import libtvm_ffi_path

    archive = Path(__file__).parent.parent / "_lib" / "libtilewright_host.a"
    made = folder / path.name
    arguments = [
        *command, "-shared", "-o", str(made), *map(str, objects), str(archive),
        f"-L{libtvm_ffi_path().parent}", "-ltvm_ffi", "-lm", "-ldl", "-lpthread",
        "-Wl,--no-undefined", "-Wl,--gc-sections", "-Wl,--exclude-libs,ALL",
    ]  # fmt: skip
    if shown:
        versions = folder / "shown.map"
        versions.write_text(_VERSIONS.format("; ".join(shown)))
        arguments.append(f"-Wl,--version-script={versions}")
    result = run_tool(arguments)
    if result.returncode:
        raise TilewrightError(
            f"linking {path.name} failed: {shlex.join(command)} returned {result.returncode}\n"
            f"{result.stderr.strip()}\n({shlex.join(arguments)})"
        )
    # Whoever has the old library loaded keeps it: it is replaced, not written over.
    write_result(path, made.read_bytes(), 0o777)
