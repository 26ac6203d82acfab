"""`tilewright cache`: what the cache of compiled kernels holds, and how to empty it."""

from __future__ import annotations

import argparse
import os

from ..errors import TilewrightError

__all__ = ["add"]

DESCRIPTION = """\
Shows the cache of compiled kernels: its folder, what it holds, and how builds have fared with it. With --clear it is
emptied first.

TILEWRIGHT_CACHE=off turns the cache off, and TILEWRIGHT_CACHE_DIR says where it is. TILEWRIGHT_CACHE_SIZE, 512M for
instance, says how much it may hold; by default that is 1 GiB. TILEWRIGHT_CACHE_SHARED=on says that other users write
the folder on purpose.
"""


def _run(options: argparse.Namespace) -> int:
    from ..cache import Cache, default

    if options.shared and options.dir is None:
        raise TilewrightError("--shared: expected --dir with the folder that other users write")
    if options.dir is not None and os.path.exists(options.dir) and not os.path.isdir(options.dir):
        raise TilewrightError(f"--dir: expected a folder, got the file {options.dir}")
    try:
        kernels = default() if options.dir is None else Cache(options.dir, shared=options.shared)
    except ValueError as error:
        raise TilewrightError(str(error)) from None
    if kernels is None:
        print("off (TILEWRIGHT_CACHE=off)")
        return 0
    try:
        if options.clear:
            kernels.clear()
        print(kernels.stats())
    except PermissionError as error:
        raise TilewrightError(str(error)) from None
    return 0


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the command to the command line."""
    parser = commands.add_parser(
        "cache",
        help="show or clear the cache of compiled kernels",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--clear", action="store_true", help="remove all entries and reset the counts")
    parser.add_argument("--dir", metavar="DIR", help="the folder of another cache, instead of the default")
    parser.add_argument("--shared", action="store_true", help="with --dir: other users write that folder on purpose")
    parser.set_defaults(run=_run)
