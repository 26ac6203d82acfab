"""Compiled kernels, kept across processes: a folder of files, one a program.

Entries are found by a hash of all that decides what a program compiles to (driver/known.py), written to a temporary
file that is then renamed, and checked against their own hash when they are read: whoever reads takes no lock, and an
entry that is torn or changed is made again. Nothing in one is executed to read it.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

__all__ = ["Cache", "CacheStats", "default"]

DEFAULT_BYTES = 1 << 30
_MAGIC = b"tilewright kernels 1\n"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_COUNTS = ("hits", "misses", "rebuilt")
_ABANDONED_SECONDS = 3600.0

# Bytes written by this process since it last looked for what must go, by folder; and the folders warned of.
_written: dict[Path, int] = {}
_warned: set[Path] = set()


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

    def __init__(self, directory: str | os.PathLike[str], max_bytes: int = DEFAULT_BYTES) -> None:
        if isinstance(max_bytes, bool) or not isinstance(max_bytes, int):
            raise TypeError(f"expected max_bytes as an int, got {type(max_bytes).__name__}")
        if max_bytes < 0:
            raise ValueError(f"expected max_bytes of at least 0, got {max_bytes}")
        object.__setattr__(self, "directory", Path(os.path.abspath(os.path.expanduser(os.fspath(directory)))))
        object.__setattr__(self, "max_bytes", max_bytes)

    @staticmethod
    def of(option: Cache | str | os.PathLike[str] | bool | None) -> Cache | None:
        """The cache that a build's `cache` option means: a cache or its folder, False for none, None for the default
        one unless the environment turns it off, and True for that one even so."""
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

    def _path(self, key: str) -> Path:
        return self.directory / key[:2] / f"{key}.kernels"

    def get(self, key: str) -> dict[str, bytes] | None:
        """The parts of an entry, or None where there is none that is whole. Counts a hit, a miss or a rebuild."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            self._count("misses")
            return None
        parts = _unpack(key, data)
        if parts is None:
            self._count("rebuilt")
            return None
        with contextlib.suppress(OSError):  # of a folder that others fill: it may be read, not marked
            os.utime(path)
        self._count("hits")
        return parts

    def put(self, key: str, parts: Mapping[str, bytes]) -> None:
        """Stores an entry, in place of one with that key, and lets go what was not used for longest if there is too
        much. A cache that cannot be written is warned of once and does without."""
        data = _pack(key, parts)
        if len(data) > self.max_bytes:
            return
        path = self._path(key)
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=key[:8], suffix=".tmp")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(data)
                os.replace(temporary, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.unlink(temporary)
                raise
        except OSError as error:
            if self.directory not in _warned:
                _warned.add(self.directory)
                warnings.warn(f"compiled kernels are not kept: {error}", RuntimeWarning, stacklevel=2)
            return
        self._make_room(len(data))

    def _make_room(self, written: int) -> None:
        """Looks at all entries only now and then: at this process's first, and after each 32nd part of the bound."""
        before = _written.get(self.directory)
        if before is not None and before + written <= self.max_bytes // 32:
            _written[self.directory] = before + written
            return
        _written[self.directory] = 0
        entries = sorted((found.st_mtime, found.st_size, path) for path, found in self._entries())
        total = sum(size for _, size, _ in entries)
        # What is written until the next look must fit, too.
        for _, size, path in entries:
            if total <= self.max_bytes - self.max_bytes // 32:
                break
            with contextlib.suppress(OSError):  # another process may have been faster
                path.unlink()
            total -= size

    def _entries(self, suffix: str = ".kernels") -> Iterator[tuple[Path, os.stat_result]]:
        """All entries; on the way the temporary files of processes that were killed go."""
        try:
            folders = [folder for folder in os.scandir(self.directory) if folder.is_dir()]
        except OSError:
            return
        for folder in folders:
            with contextlib.suppress(OSError):
                for file in list(os.scandir(folder)):
                    with contextlib.suppress(FileNotFoundError):
                        found = file.stat()
                        if file.name.endswith(suffix):
                            yield Path(file.path), found
                        elif file.name.endswith(".tmp") and found.st_mtime < time.time() - _ABANDONED_SECONDS:
                            os.unlink(file.path)

    def clear(self) -> None:
        """Removes all entries, and starts the counts from nothing."""
        for path, _ in self._entries():
            path.unlink(missing_ok=True)
        for name in _COUNTS:
            (self.directory / name).unlink(missing_ok=True)
        _written.pop(self.directory, None)

    # ------------------------------------------------------------------ counts

    def _count(self, name: str) -> None:
        """A count is a file's length: to append a byte is atomic without a lock, from however many processes."""
        try:
            handle = os.open(self.directory / name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        except FileNotFoundError:
            if name == "hits":
                return
            with contextlib.suppress(OSError):
                self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
                (self.directory / name).touch(mode=0o600)
                self._count(name)
            return
        except OSError:
            return
        with contextlib.suppress(OSError):
            os.write(handle, b".")
        os.close(handle)

    def stats(self) -> CacheStats:
        """What the cache holds, and its counts over all processes."""
        sizes = [found.st_size for _, found in self._entries()]
        counts: dict[str, int] = {}
        for name in _COUNTS:
            try:
                counts[name] = (self.directory / name).stat().st_size
            except OSError:
                counts[name] = 0
        return CacheStats(self.directory, len(sizes), sum(sizes), self.max_bytes, **counts)


def default(*, even_if_off: bool = False) -> Cache | None:
    """The cache that builds use where they are given none, or None where the environment turns it off.

    The environment is read at each call: TILEWRIGHT_CACHE is "on" or "off", TILEWRIGHT_CACHE_DIR the folder (else
    ~/.cache/tilewright, or where XDG_CACHE_HOME says), TILEWRIGHT_CACHE_SIZE the bound, like "512M" (else 1G).
    """
    switch = os.environ.get("TILEWRIGHT_CACHE", "on")
    if switch not in ("on", "off"):
        raise ValueError(f"expected TILEWRIGHT_CACHE to be on or off, got {switch!r}")
    if switch == "off" and not even_if_off:
        return None
    place = os.environ.get("TILEWRIGHT_CACHE_DIR")
    if not place:
        base = os.environ.get("XDG_CACHE_HOME", "")
        # The XDG specification: what is not absolute counts as not set.
        place = os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "tilewright")
    size = os.environ.get("TILEWRIGHT_CACHE_SIZE")
    return Cache(place, DEFAULT_BYTES if not size else _parse_size(size))


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


def _pack(key: str, parts: Mapping[str, bytes]) -> bytes:
    payload = b"".join(parts.values())
    head = json.dumps({"key": key, "parts": {name: len(part) for name, part in parts.items()}}).encode()
    return b"".join((_MAGIC, sha256(head + payload).hexdigest().encode(), b"\n", head, b"\n", payload))


def _unpack(key: str, data: bytes) -> dict[str, bytes] | None:
    """The parts, or None where the data is not what `_pack` made for that key."""
    if not data.startswith(_MAGIC):
        return None
    digest, _, rest = data[len(_MAGIC) :].partition(b"\n")
    head, _, payload = rest.partition(b"\n")
    if sha256(head + payload).hexdigest().encode() != digest:
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
