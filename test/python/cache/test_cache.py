"""The cache of compiled kernels, as a store: what is put in comes out, whole or not at all, and no more than fits."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pytest

import tilewright as tw
from tilewright.cache import Cache

KEYS = [f"{index:02x}" * 32 for index in range(40)]
PARTS = {"cubin": b"\x7fELF" + bytes(range(256)), "ptx": b".version 8.3\n", "empty": b""}


@pytest.fixture
def kernels(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "kernels")


def only_file(kernels: Cache) -> Path:
    (file,) = kernels.directory.glob("*/*")
    return file


def test_what_is_put_comes_out(kernels: Cache) -> None:
    assert kernels.get(KEYS[0]) is None
    kernels.put(KEYS[0], PARTS)
    assert kernels.get(KEYS[0]) == PARTS
    assert kernels.get(KEYS[1]) is None
    found = kernels.stats()
    assert (found.entries, found.hits, found.misses, found.rebuilt) == (1, 1, 2, 0)
    assert found.bytes == only_file(kernels).stat().st_size


def test_a_damaged_entry_is_never_taken(kernels: Cache) -> None:
    kernels.put(KEYS[0], PARTS)
    file = only_file(kernels)
    whole = file.read_bytes()
    for at in range(len(whole)):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert kernels.get(KEYS[0]) is None, at
    for length in range(len(whole)):
        file.write_bytes(whole[:length])
        assert kernels.get(KEYS[0]) is None, length
    file.write_bytes(whole + b"x")
    assert kernels.get(KEYS[0]) is None
    assert kernels.stats().rebuilt == 2 * len(whole) + 1
    kernels.put(KEYS[0], PARTS)
    assert kernels.get(KEYS[0]) == PARTS


def test_an_entry_under_another_key_is_not_taken(kernels: Cache) -> None:
    kernels.put(KEYS[0], PARTS)
    kernels.put(KEYS[1], PARTS)
    os.replace(kernels._path(KEYS[0]), kernels._path(KEYS[1]))
    assert kernels.get(KEYS[1]) is None
    assert kernels.stats().rebuilt == 1


def test_the_least_recently_used_go(tmp_path: Path) -> None:
    kernels = Cache(tmp_path, max_bytes=10_000)
    for number, key in enumerate(KEYS):
        kernels.put(key, {"cubin": bytes(900)})
        os.utime(kernels._path(key), (number, number))
        assert kernels.get(KEYS[0]), "used all the time, so it stays"
    found = kernels.stats()
    assert found.bytes <= 10_000
    assert found.entries == 8
    kept = [key for key in KEYS if kernels._path(key).exists()]
    assert kept == [KEYS[0], *KEYS[-7:]]


def test_what_does_not_fit_is_not_stored(tmp_path: Path) -> None:
    kernels = Cache(tmp_path, max_bytes=100)
    kernels.put(KEYS[0], {"cubin": bytes(1000)})
    assert kernels.stats().entries == 0


def test_temporary_files_of_killed_processes_go(kernels: Cache) -> None:
    kernels.put(KEYS[0], PARTS)
    folder = kernels._path(KEYS[0]).parent
    (old, new) = (folder / "a.tmp", folder / "b.tmp")
    old.touch()
    new.touch()
    os.utime(old, (0, time.time() - 7200))
    kernels.stats()
    assert (old.exists(), new.exists()) == (False, True)


def test_clear(kernels: Cache) -> None:
    kernels.put(KEYS[0], PARTS)
    kernels.get(KEYS[0])
    kernels.clear()
    found = kernels.stats()
    assert (found.entries, found.bytes, found.hits, found.misses) == (0, 0, 0, 0)
    kernels.put(KEYS[0], PARTS)
    assert kernels.get(KEYS[0]) == PARTS


@pytest.mark.sweep
def test_many_processes_at_once(kernels: Cache) -> None:
    """Four processes write and read the same few entries; whatever one reads is whole."""
    code = f"""
import random, sys
from tilewright.cache import Cache
kernels, whole = Cache({str(kernels.directory)!r}, max_bytes=200_000), 0
random.seed(sys.argv[1])
for _ in range(150):
    key = f"{{random.randrange(6):02x}}" * 32
    parts = kernels.get(key)
    if parts is not None:
        assert parts == {{"cubin": key.encode() * (len(parts["cubin"]) // 64)}}
        whole += 1
    kernels.put(key, {{"cubin": key.encode() * random.randrange(1, 1000)}})
print(whole)
"""
    processes = [
        subprocess.Popen([sys.executable, "-c", code, str(seed)], stdout=subprocess.PIPE, text=True)
        for seed in range(4)
    ]
    whole = [int(process.communicate()[0]) for process in processes]
    assert all(process.returncode == 0 for process in processes)
    found = kernels.stats()
    assert found.rebuilt == 0
    assert found.hits == sum(whole) > 0
    assert found.hits + found.misses == 4 * 150
    assert not list(kernels.directory.glob("*/*.tmp"))


def test_a_folder_that_cannot_be_written_is_warned_of_once(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kernels = Cache(tmp_path / "file" / "kernels")
    with pytest.warns(RuntimeWarning, match="compiled kernels are not kept: .*Not a directory"):
        kernels.put(KEYS[0], PARTS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernels.put(KEYS[0], PARTS)
    assert kernels.get(KEYS[0]) is None


# ------------------------------------------------------------------ which cache


def test_the_environment_is_read_at_each_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TILEWRIGHT_CACHE")
    monkeypatch.setenv("TILEWRIGHT_CACHE_DIR", str(tmp_path / "here"))
    assert tw.cache.default() == Cache(tmp_path / "here")
    monkeypatch.setenv("TILEWRIGHT_CACHE_SIZE", "3M")
    assert tw.cache.default() == Cache(tmp_path / "here", 3 << 20)
    monkeypatch.setenv("TILEWRIGHT_CACHE_SIZE", "1000")
    assert tw.cache.default() == Cache(tmp_path / "here", 1000)
    monkeypatch.delenv("TILEWRIGHT_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert tw.cache.default() == Cache(tmp_path / "xdg" / "tilewright", 1000)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tw.cache.default() == Cache(tmp_path / ".cache" / "tilewright", 1000)
    monkeypatch.setenv("TILEWRIGHT_CACHE", "off")
    assert tw.cache.default() is None
    assert Cache.of(None) is None
    assert Cache.of(True) == Cache(tmp_path / ".cache" / "tilewright", 1000)


def test_the_option(tmp_path: Path) -> None:
    assert Cache.of(False) is None
    assert Cache.of(str(tmp_path)) == Cache.of(tmp_path) == Cache(tmp_path)
    assert Cache.of(Cache(tmp_path, 7)).max_bytes == 7  # type: ignore[union-attr]


def test_wrong_options(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TypeError, match="^expected cache as a tw.Cache, a folder or a bool, got int$"):
        Cache.of(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="^expected max_bytes of at least 0, got -1$"):
        Cache("x", -1)
    with pytest.raises(TypeError, match="^expected max_bytes as an int, got str$"):
        Cache("x", "1G")  # type: ignore[arg-type]
    monkeypatch.setenv("TILEWRIGHT_CACHE", "maybe")
    with pytest.raises(ValueError, match="^expected TILEWRIGHT_CACHE to be on or off, got 'maybe'$"):
        tw.cache.default()
    monkeypatch.setenv("TILEWRIGHT_CACHE", "")  # as if it were not set
    assert tw.cache.default() is not None
    monkeypatch.setenv("TILEWRIGHT_CACHE", "on")
    for size in ("much", "1.5G", "-1", "K", "1KB"):
        monkeypatch.setenv("TILEWRIGHT_CACHE_SIZE", size)
        with pytest.raises(
            ValueError,
            match=f"^expected TILEWRIGHT_CACHE_SIZE as a number of bytes, K, M, G or T, got '{size}'$",
        ):
            tw.cache.default()


# ------------------------------------------------------------------ the command


@pytest.mark.sweep
def test_the_command(kernels: Cache) -> None:
    def run(*arguments: str, **environment: str) -> str:
        command = [sys.executable, "-m", "tilewright", "cache", *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, env={**os.environ, **environment}, check=True
        ).stdout

    kernels.put(KEYS[0], PARTS)
    kernels.get(KEYS[0])
    size = only_file(kernels).stat().st_size
    here = {"TILEWRIGHT_CACHE": "on", "TILEWRIGHT_CACHE_DIR": str(kernels.directory), "TILEWRIGHT_CACHE_SIZE": "2K"}
    shown = f"directory  {kernels.directory}\nentries    {{}}\nsize       {{}} bytes of at most {{}}\nhits       {{}}\nmisses     0\nrebuilt    0\n"
    assert run(**here) == shown.format(1, size, "2.0 KiB", "1 (100%)")
    assert run("--dir", str(kernels.directory), "--clear") == shown.format(0, 0, "1.0 GiB", 0)
    assert run() == "off (TILEWRIGHT_CACHE=off)\n"
