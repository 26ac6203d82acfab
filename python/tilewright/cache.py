"""Compiled kernels, kept across processes: a folder of files, one a program.

The key of an entry is a hash of everything that decides what a program compiles to (compiler/known.py). An entry is
written to a temporary file, which is then renamed. A reader checks the entry's own hash, so it takes no lock. An entry
that is torn or changed is made again. Reading an entry executes nothing in it.

The code in an entry is run later, so it must be this user's own. A folder or file is used if it belongs to this user or
to root, and if nobody else can write it. In a folder that is shared on purpose, an entry's name and hash are made with
a key that only this user has.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import os
import stat
import sys
import time
import warnings
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from .errors import TilewrightTypeError as TypeError
from .errors import TilewrightValueError as ValueError
from .messages.location import user_source
from .storage.private_files import UntrustedError, open_folder, read_file, replace_file, user_key

__all__ = ["Cache", "CacheStats", "default"]

DEFAULT_BYTES = 1 << 30
_MAGIC = b"tilewright kernels 1\n"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_COUNTS = ("hits", "misses", "rebuilt")
_ABANDONED_SECONDS = 3600.0

# Bytes written by this process since it last looked for what must go, by folder; and the paths warned of.
_written: dict[Path, int] = {}
_warned: set[Path] = set()


def _warn(path: Path, text: str) -> None:
    """Warns once of a path."""
    if path not in _warned:
        _warned.add(path)
        source = user_source()
        warnings.warn_explicit(text, RuntimeWarning, source.file, source.line)


_HOW_TO_SHARE = "a folder that is shared on purpose takes tw.Cache(..., shared=True) or TILEWRIGHT_CACHE_SHARED=on"


@dataclass(frozen=True, slots=True)
class CacheStats:
    """What a cache holds, and how builds have fared with it since it was last cleared.

    `hits` were taken from it, `misses` compiled and stored, `rebuilt` compiled because an entry was damaged.
    """

    directory: Path
    entries: int
    bytes: int
    max_bytes: int
    hits: int
    misses: int
    rebuilt: int

    def __str__(self) -> str:
        asked = self.hits + self.misses + self.rebuilt
        share = f" ({100 * self.hits / asked:.0f}%)" if asked else ""
        return "\n".join(
            (
                f"directory  {self.directory}",
                f"entries    {self.entries}",
                f"size       {_size_text(self.bytes)} of at most {_size_text(self.max_bytes)}",
                f"hits       {self.hits}{share}",
                f"misses     {self.misses}",
                f"rebuilt    {self.rebuilt}" + (" (entries that were damaged)" if self.rebuilt else ""),
            )
        )


@dataclass(frozen=True, slots=True)
class Cache:
    """A folder of compiled kernels, which holds about `max_bytes` at most: those that were used last.

    Any number of processes and threads may use it at once. `tw.build(..., cache=tw.Cache("kernels"))` uses one of your
    own; `tw.cache.default()` is the one that builds use without.

    The folder and its files must belong to this user or to root, and nobody else may be able to write them. Any other
    folder is not used, with a warning. `shared=True` says that others write there on purpose. Each user then has their
    own entries, bound to them by a key (`~/.local/state/tilewright/cache-key`). An entry that somebody else has made or
    changed is not used. Users who share a key share entries.

    Raises TypeError or ValueError for a `max_bytes` that is no number of bytes, and TypeError for a `shared` that is no
    bool.

    >>> import tempfile
    >>> kernels = Cache(tempfile.mkdtemp())
    >>> kernels.put("0" * 64, {"cubin": b"code"})
    >>> kernels.get("0" * 64)
    {'cubin': b'code'}
    >>> kernels.stats().entries
    1
    """

    directory: Path
    max_bytes: int = DEFAULT_BYTES
    shared: bool = False

    def __init__(
        self, directory: str | os.PathLike[str], max_bytes: int = DEFAULT_BYTES, *, shared: bool = False
    ) -> None:
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int):
            raise TypeError(f"expected max_bytes as an int, got {type(max_bytes).__name__}")
        if max_bytes < 0:
            raise ValueError(f"expected max_bytes of at least 0, got {max_bytes}")
        if not isinstance(shared, bool):
            raise TypeError(f"expected shared as a bool, got {type(shared).__name__}")
        object.__setattr__(self, "directory", Path(os.path.abspath(os.path.expanduser(os.fspath(directory)))))
        object.__setattr__(self, "max_bytes", max_bytes)
        object.__setattr__(self, "shared", shared)

    @staticmethod
    def of(option: Cache | str | os.PathLike[str] | bool | None) -> Cache | None:
        """The cache for a build's `cache` option: a cache, its folder, or False for none.

        None means the default cache, unless the environment turns it off. True means the default cache in any case.
        Raises TypeError for anything else.
        """
        if option is False:
            return None
        if option is None or option is True:
            return default(even_if_off=option is True)
        if isinstance(option, Cache):
            return option
        if isinstance(option, (str, os.PathLike)):
            return Cache(option)
        raise TypeError(f"expected cache as a tw.Cache, a folder or a bool, got {type(option).__name__}")

    # ------------------------------------------------------------------ entries

    def _secret(self) -> bytes | None:
        """What entries are bound to this user with. In a folder that nobody else can write they are this user's."""
        return user_key() if self.shared else None

    def _path(self, key: str) -> Path:
        secret = self._secret()
        # Others see which entries there are, and must not find theirs in the place of this user's.
        name = key if secret is None else hmac.digest(secret, b"name\0" + key.encode(), "sha256").hex()
        return self.directory / name[:2] / f"{name}.kernels"

    @contextlib.contextmanager
    def _folder(self, name: str | None = None, *, make: bool = False) -> Generator[int]:
        """The descriptor of the cache's folder, or of one in it, checked. Raises OSError."""
        if make:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = open_folder(str(self.directory), trust=self.shared)
        try:
            if name is not None:
                outer, shown = handle, str(self.directory / name)
                if make:
                    with contextlib.suppress(FileExistsError):
                        os.mkdir(name, 0o700, dir_fd=outer)
                handle = open_folder(name, dir_fd=outer, shown=shown, trust=self.shared)
                mode = stat.S_IMODE(os.fstat(outer).st_mode)
                os.close(outer)
                if make and self.shared:
                    with contextlib.suppress(OSError):  # it is another user's, who has done that
                        os.fchmod(handle, mode)
            yield handle
        finally:
            os.close(handle)

    def _warn_of(self, error: UntrustedError) -> None:
        """Says once why a cache does without, or why an entry is made again."""
        path = Path(error.place)
        if self.directory in path.parents:
            _warn(path, f"an entry of the cache of compiled kernels is not used: {error}")
        else:
            hint = f"; {_HOW_TO_SHARE}" if path == self.directory else ""
            _warn(path, f"the cache of compiled kernels is not used: {error}{hint}")

    def get(self, key: str) -> dict[str, bytes] | None:
        """The parts of the entry `key`, or None where there is none that is whole. Counts a hit, a miss or a
        rebuild.
        """
        try:
            path, secret = self._path(key), self._secret()
            with self._folder(path.parent.name) as folder:
                # What others have put there may be of any size.
                limit = self.max_bytes + 1 if self.shared else sys.maxsize
                data = read_file(path.name, limit, dir_fd=folder, shown=str(path), trust=self.shared)
                parts = _unpack(key, data, secret)
                if parts is not None:
                    with contextlib.suppress(OSError):  # of root's, which may be read, not marked
                        os.utime(path.name, dir_fd=folder, follow_symlinks=False)
        except UntrustedError as error:
            self._warn_of(error)
            self._count("rebuilt")
            return None
        except OSError:
            self._count("misses")
            return None
        self._count("rebuilt" if parts is None else "hits")
        return parts

    def put(self, key: str, parts: Mapping[str, bytes]) -> None:
        """Stores `parts`, names and contents, in place of an entry with that key.

        What was not used for longest goes if there is too much. A cache that cannot be written is warned of once and
        does without."""
        try:
            data = _pack(key, parts, self._secret())
            if len(data) > self.max_bytes:
                return
            path = self._path(key)
            with self._folder(path.parent.name, make=True) as folder:
                replace_file(path.name, data, dir_fd=folder)
        except UntrustedError as error:
            self._warn_of(error)
            return
        except OSError as error:
            _warn(self.directory, f"compiled kernels are not kept: {error}")
            return
        self._make_room(len(data))

    def _make_room(self, written: int) -> None:
        """Looks at all entries only now and then: at this process's first, and after each 32nd part of the bound."""
        before = _written.get(self.directory)
        if before is not None and before + written <= self.max_bytes // 32:
            _written[self.directory] = before + written
            return
        _written[self.directory] = 0
        entries = sorted((found.st_mtime, found.st_size, folder, name) for folder, name, found in self._entries())
        total = sum(size for _, size, *_ in entries)
        # What is written until the next look must fit, too.
        for _, size, folder, name in entries:
            if total <= self.max_bytes - self.max_bytes // 32:
                break
            self._remove(folder, name)
            total -= size

    def _remove(self, folder: str, name: str) -> None:
        with contextlib.suppress(OSError), self._folder(folder) as handle:  # another process may have been faster
            os.unlink(name, dir_fd=handle)

    def _entries(self, suffix: str = ".kernels") -> Iterator[tuple[str, str, os.stat_result]]:
        """The folder, name and status of each entry; on the way the temporary files of processes that were killed go.
        Raises UntrustedError where the cache's folder is not this user's."""
        try:
            with self._folder() as handle:
                folders = [each.name for each in os.scandir(handle) if each.is_dir(follow_symlinks=False)]
        except UntrustedError:
            raise
        except OSError:
            return
        for folder in folders:
            with contextlib.suppress(OSError), self._folder(folder) as handle:
                for file in list(os.scandir(handle)):
                    with contextlib.suppress(FileNotFoundError):
                        found = file.stat(follow_symlinks=False)
                        if file.name.endswith(suffix):
                            yield folder, file.name, found
                        elif file.name.endswith(".tmp") and found.st_mtime < time.time() - _ABANDONED_SECONDS:
                            os.unlink(file.name, dir_fd=handle)

    def clear(self) -> None:
        """Removes all entries, and starts the counts from nothing.

        Raises PermissionError where somebody else can write the cache's folder, and it is not shared on purpose.
        """
        for folder, name, _ in self._entries():
            self._remove(folder, name)
        with contextlib.suppress(FileNotFoundError), self._folder() as handle:
            for name in _COUNTS:
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=handle)
        _written.pop(self.directory, None)

    # ------------------------------------------------------------------ counts

    def _count(self, name: str) -> None:
        """A count is a file's length: to append a byte is atomic without a lock, from however many processes."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        # A cache that nobody has put anything in yet has no folder; where it cannot be had there are no counts.
        with contextlib.suppress(OSError), self._folder(make=name != "hits") as folder:
            handle = os.open(name, flags, 0o600, dir_fd=folder)
            with contextlib.suppress(OSError):
                if stat.S_ISREG(os.fstat(handle).st_mode):
                    os.write(handle, b".")
            os.close(handle)

    def stats(self) -> CacheStats:
        """What the cache holds, and its counts over all processes.

        Raises PermissionError where somebody else can write the cache's folder, and it is not shared on purpose.
        """
        sizes = [found.st_size for _, _, found in self._entries()]
        counts = dict.fromkeys(_COUNTS, 0)
        with contextlib.suppress(FileNotFoundError, NotADirectoryError), self._folder() as handle:
            for name in _COUNTS:
                with contextlib.suppress(OSError):
                    counts[name] = os.stat(name, dir_fd=handle, follow_symlinks=False).st_size
        return CacheStats(self.directory, len(sizes), sum(sizes), self.max_bytes, **counts)


def _is_on(name: str, otherwise: str) -> bool:
    switch = os.environ.get(name) or otherwise  # a variable that is set to nothing is not set
    if switch not in ("on", "off"):
        raise ValueError(f"expected {name} to be on or off, got {switch!r}")
    return switch == "on"


def default(*, even_if_off: bool = False) -> Cache | None:
    """The cache that builds use where they are given none, or None where the environment turns it off.

    The environment is read at each call:

    - TILEWRIGHT_CACHE is "on" or "off".
    - TILEWRIGHT_CACHE_DIR is the folder, by default ~/.cache/tilewright, or below XDG_CACHE_HOME.
    - TILEWRIGHT_CACHE_SIZE is the bound, such as "512M", by default 1G.
    - TILEWRIGHT_CACHE_SHARED is "on" where others write the folder on purpose, by default "off".
    """
    if not _is_on("TILEWRIGHT_CACHE", "on") and not even_if_off:
        return None
    place = os.environ.get("TILEWRIGHT_CACHE_DIR")
    if not place:
        base = os.environ.get("XDG_CACHE_HOME", "")
        # The XDG specification: what is not absolute counts as not set.
        place = os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "tilewright")
    size = os.environ.get("TILEWRIGHT_CACHE_SIZE")
    shared = _is_on("TILEWRIGHT_CACHE_SHARED", "off")
    return Cache(place, DEFAULT_BYTES if not size else _parse_size(size), shared=shared)


def _parse_size(text: str) -> int:
    number, unit = text.rstrip("KMGT"), text.lstrip("0123456789")
    if not number.isdecimal() or unit not in _UNITS:
        raise ValueError(f"expected TILEWRIGHT_CACHE_SIZE as a number of bytes, K, M, G or T, got {text!r}")
    return int(number) * _UNITS[unit]


def _size_text(size: int) -> str:
    """A size with a unit.

    >>> _size_text(1536), _size_text(3 << 20)
    ('1.5 KiB', '3.0 MiB')
    """
    scaled, unit = float(size), ""
    for larger in "KMGT":
        if scaled < 1024:
            break
        scaled, unit = scaled / 1024, larger
    return f"{scaled:.1f} {unit}iB" if unit else f"{size} bytes"


def _digest(secret: bytes | None, data: bytes) -> bytes:
    made = sha256(data).hexdigest() if secret is None else hmac.digest(secret, b"entry\0" + data, "sha256").hex()
    return made.encode()


def _pack(key: str, parts: Mapping[str, bytes], secret: bytes | None) -> bytes:
    payload = b"".join(parts.values())
    head = json.dumps({"key": key, "parts": {name: len(part) for name, part in parts.items()}}).encode()
    return b"".join((_MAGIC, _digest(secret, head + payload), b"\n", head, b"\n", payload))


def _unpack(key: str, data: bytes, secret: bytes | None) -> dict[str, bytes] | None:
    """The parts, or None where the data is not what `_pack` made for that key."""
    if not data.startswith(_MAGIC):
        return None
    digest, _, rest = data[len(_MAGIC) :].partition(b"\n")
    head, _, payload = rest.partition(b"\n")
    if not hmac.compare_digest(_digest(secret, head + payload), digest):
        return None
    found = json.loads(head)  # it is what was written: its hash is right
    if found["key"] != key:
        return None
    parts: dict[str, bytes] = {}
    at = 0
    for name, size in found["parts"].items():
        parts[name] = payload[at : at + size]
        at += size
    return parts
