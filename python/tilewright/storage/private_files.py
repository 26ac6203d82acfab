"""Folders and files that nobody but this user can have written, and fresh files that follow no link.

What is checked is what was opened (`fstat` of the descriptor), never a name, which may be another file a moment later.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path
from typing import IO

from ..errors import TilewrightError, TilewrightTypeError

__all__ = [
    "UntrustedError",
    "checked_path",
    "fresh_file",
    "open_folder",
    "read_file",
    "replace_file",
    "state_folder",
    "user_key",
    "write_result",
]

_KEY_BYTES = 32


class UntrustedError(TilewrightError, PermissionError):
    """A folder or file that somebody else may have put there, or changed."""

    def __init__(self, text: str, place: str) -> None:
        super().__init__(f"{text}: {place}")
        self.place = place


def checked_path(path: object) -> Path:
    """The user's path. Raises TypeError for another object."""
    if not isinstance(path, (str, os.PathLike)):
        raise TilewrightTypeError(f"expected a path, got {path!r}")
    return Path(path)  # pyright: ignore[reportUnknownArgumentType]


def _check(found: os.stat_result, what: str, path: str) -> None:
    user = os.geteuid()
    if found.st_uid not in (user, 0):
        raise UntrustedError(f"expected {what} of this user (uid {user}) or root, got one of uid {found.st_uid}", path)
    if found.st_mode & 0o022:
        mode = stat.S_IMODE(found.st_mode)
        raise UntrustedError(f"expected {what} that nobody else can write, got mode {mode:04o}", path)


def _is_link(path: str, dir_fd: int | None) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISLNK(os.stat(path, dir_fd=dir_fd, follow_symlinks=False).st_mode)
    return False


def open_folder(path: str, *, dir_fd: int | None = None, shown: str | None = None, trust: bool = False) -> int:
    """The descriptor of a folder, which is no link. Unless `trust` says that others may write it on purpose,
    UntrustedError is raised where they can. `shown` is the path in errors."""
    shown = shown or path
    try:
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(path, dir_fd):
            raise UntrustedError("expected a folder, got a symbolic link", shown) from None
        raise
    try:
        if not trust:
            _check(os.fstat(handle), "a folder", shown)
    except BaseException:
        os.close(handle)
        raise
    return handle


def read_file(
    path: str, limit: int, *, dir_fd: int | None = None, shown: str | None = None, trust: bool = False
) -> bytes:
    """The first `limit` bytes of a regular file, which is no link; `trust` and `shown` as `open_folder` has them."""
    shown = shown or path
    # A FIFO that nobody writes would be waited for.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    try:
        handle = os.open(path, flags, dir_fd=dir_fd)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UntrustedError("expected a regular file, got a symbolic link", shown) from None
        if error.errno == errno.ENXIO:  # a socket
            raise UntrustedError("expected a regular file, got something else", shown) from None
        raise
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise UntrustedError("expected a regular file, got something else", shown)
        if not trust:
            _check(found, "a file", shown)
    except BaseException:
        os.close(handle)
        raise
    with os.fdopen(handle, "rb") as file:
        return file.read(min(limit, found.st_size + 1))


def fresh_file(prefix: str, suffix: str = "", *, mode: int = 0o600, dir_fd: int | None = None) -> tuple[IO[bytes], str]:
    """A new file that nobody could foresee, open for writing, and its name: `prefix`, a random part and `suffix`."""
    while True:
        name = f"{prefix}{secrets.token_hex(8)}{suffix}"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with contextlib.suppress(FileExistsError):
            return os.fdopen(os.open(name, flags, mode, dir_fd=dir_fd), "wb"), name


def replace_file(name: str, data: bytes, *, mode: int = 0o600, dir_fd: int | None = None) -> None:
    """Writes a file whole or not at all: a fresh one beside it, which takes its name. A link of that name is replaced,
    not followed; whoever has the old file open keeps it."""
    folder, base = os.path.split(name)
    file, temporary = fresh_file(os.path.join(folder, base[:32] + "."), ".tmp", mode=mode, dir_fd=dir_fd)
    try:
        with file:
            file.write(data)
        os.replace(temporary, name, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=dir_fd)
        raise


def write_result(path: Path, data: bytes, mode: int) -> None:
    """Writes a file that the user asked for, as `replace_file` does. Raises TilewrightError with the reason."""
    try:
        replace_file(str(path), data, mode=mode)
    except OSError as error:
        raise TilewrightError(f"{path}: {error.strerror}") from None


def _state_path() -> Path:
    """Where this user's state is: the XDG specification's folder for it."""
    base = os.environ.get("XDG_STATE_HOME", "")
    place = Path(base) if os.path.isabs(base) else Path(os.path.expanduser("~/.local/state"))
    return place / "tilewright"


def state_folder() -> Path:
    """The folder of this user's state, made where there is none. Raises UntrustedError where others can write it."""
    path = _state_path()
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(open_folder(str(path)))
    return path


def _key_path() -> Path:
    """Where this user's key is."""
    return _state_path() / "cache-key"


def user_key() -> bytes:
    """A secret of this user's, made where there is none. Raises OSError where there can be none."""
    path = _key_path()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder = open_folder(str(path.parent))
    try:
        if not os.path.lexists(path):
            file, temporary = fresh_file(path.name + ".", ".tmp", dir_fd=folder)
            with file:
                file.write(secrets.token_bytes(_KEY_BYTES))
            try:
                with contextlib.suppress(FileExistsError):  # another process was faster: its key counts
                    os.link(temporary, path.name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            finally:
                os.unlink(temporary, dir_fd=folder)
        key = read_file(path.name, _KEY_BYTES + 1, dir_fd=folder, shown=str(path))
        mode = stat.S_IMODE(os.stat(path.name, dir_fd=folder, follow_symlinks=False).st_mode)
    finally:
        os.close(folder)
    if mode & 0o077:
        raise UntrustedError(f"expected a key that nobody else can read, got mode {mode:04o}", str(path))
    if len(key) != _KEY_BYTES:
        raise UntrustedError(f"expected a key of {_KEY_BYTES} bytes, got another file", str(path))
    return key
