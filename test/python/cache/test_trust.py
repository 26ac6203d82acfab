"""What is in the cache is run, so nothing is taken from there that somebody else can have written."""

from __future__ import annotations

import os
import re
import socket
import stat
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from tilewright import cache as cache_module
from tilewright.cache import Cache
from tilewright.cli import main
from tilewright.storage.private_files import UntrustedError, replace_file, user_key

KEY = "ab" * 32
PARTS = {"cubin": b"\x7fELF", "host": b"module {}"}
SHARE = "; a folder that is shared on purpose takes tw.Cache(..., shared=True) or TILEWRIGHT_CACHE_SHARED=on"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing was warned of, and this user's key is one of the test's."""
    monkeypatch.setattr(cache_module, "_warned", set())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def kernels(tmp_path: Path) -> Cache:
    made = Cache(tmp_path / "kernels")
    made.put(KEY, PARTS)
    assert made.get(KEY) == PARTS
    return made


@pytest.fixture
def shared(tmp_path: Path) -> Cache:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(0o1777)
    return Cache(folder, shared=True)


@pytest.fixture
def foreign(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], str]:
    """Makes a file one of another user's. Says how errors tell it."""

    def change(path: Path) -> str:
        if os.geteuid() == 0:
            os.chown(path, 12345, -1)
            return "(uid 0) or root, got one of uid 12345"
        mine = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: mine + 1)
        return f"(uid {mine + 1}) or root, got one of uid {mine}"

    return change


def refused(kernels: Cache, text: str) -> None:
    """It is not used, and says so once."""
    with pytest.warns(RuntimeWarning, match=f"^{re.escape(text)}$"):
        assert kernels.get(KEY) is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernels.get(KEY) is None


NOT_USED, NO_ENTRY = (
    "the cache of compiled kernels is not used: ",
    "an entry of the cache of compiled kernels is not used: ",
)


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o770, 0o702], ids=oct)
def test_a_folder_that_others_can_write(kernels: Cache, mode: int, capsys: pytest.CaptureFixture[str]) -> None:
    kernels.directory.chmod(mode)
    text = f"expected a folder that nobody else can write, got mode {mode:04o}: {kernels.directory}"
    refused(kernels, NOT_USED + text + SHARE)
    before = sorted(kernels.directory.rglob("*"))
    kernels.put("cd" * 32, PARTS)
    assert sorted(kernels.directory.rglob("*")) == before
    for use in (kernels.stats, kernels.clear):
        with pytest.raises(UntrustedError, match=f"^{re.escape(text)}$"):
            use()
    command = ["cache", "--dir", str(kernels.directory)]
    assert (main(command), capsys.readouterr().err) == (1, f"tilewright cache: {text}\n")
    assert main([*command, "--shared"]) == 0
    assert "entries    1\n" in capsys.readouterr().out


def test_a_folder_of_another_user(kernels: Cache, foreign: Callable[[Path], str]) -> None:
    told = foreign(kernels.directory)
    refused(kernels, f"{NOT_USED}expected a folder of this user {told}: {kernels.directory}{SHARE}")


def test_a_folder_that_is_a_link(kernels: Cache, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(kernels.directory)
    linked = Cache(tmp_path / "link")
    refused(linked, f"{NOT_USED}expected a folder, got a symbolic link: {linked.directory}{SHARE}")


def test_an_inner_folder_that_others_can_write(kernels: Cache) -> None:
    folder = kernels._path(KEY).parent
    folder.chmod(0o777)
    refused(kernels, f"{NO_ENTRY}expected a folder that nobody else can write, got mode 0777: {folder}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernels.put(KEY, PARTS)
    assert kernels.stats().entries == 0


def test_an_entry_that_others_can_write(kernels: Cache) -> None:
    kernels._path(KEY).chmod(0o666)
    refused(kernels, f"{NO_ENTRY}expected a file that nobody else can write, got mode 0666: {kernels._path(KEY)}")
    kernels.put(KEY, PARTS)
    assert stat.S_IMODE(kernels._path(KEY).stat().st_mode) == 0o600
    assert kernels.get(KEY) == PARTS
    assert kernels.stats().rebuilt == 2


def test_an_entry_of_another_user(kernels: Cache, foreign: Callable[[Path], str], monkeypatch) -> None:
    if os.geteuid():
        pytest.skip("only root makes a file of another user's in a folder of its own")
    told = foreign(kernels._path(KEY))
    refused(kernels, f"{NO_ENTRY}expected a file of this user {told}: {kernels._path(KEY)}")


def _fifo(path: Path) -> None:
    os.mkfifo(path, 0o600)


def _socket(path: Path) -> None:
    here = os.getcwd()
    os.chdir(path.parent)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)
    os.chdir(here)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (_fifo, "a regular file, got something else"),
        (_socket, "a regular file, got something else"),
        (Path.mkdir, "a regular file, got something else"),
        (lambda path: path.symlink_to("/dev/zero"), "a regular file, got a symbolic link"),
    ],
    ids=["fifo", "socket", "folder", "link"],
)
def test_something_else_in_the_place_of_an_entry(kernels: Cache, make: Callable[[Path], object], what: str) -> None:
    path = kernels._path(KEY)
    path.unlink()
    make(path)
    refused(kernels, f"{NO_ENTRY}expected {what}: {path}")
    if not path.is_dir():
        kernels.put(KEY, PARTS)
        assert kernels.get(KEY) == PARTS


def test_something_else_in_the_place_of_a_count(kernels: Cache, tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    (kernels.directory / "hits").unlink()
    (kernels.directory / "hits").symlink_to(tmp_path / "mine")
    os.mkfifo(kernels.directory / "rebuilt")
    assert kernels.get(KEY) == PARTS
    kernels._path(KEY).write_bytes(b"damaged")
    assert kernels.get(KEY) is None
    assert (tmp_path / "mine").read_bytes() == b"mine"


# ------------------------------------------------------------------ shared on purpose


def test_a_shared_folder_holds_entries_of_this_user(shared: Cache) -> None:
    shared.put(KEY, PARTS)
    assert shared.get(KEY) == PARTS
    path = shared._path(KEY)
    assert path.parent.parent == shared.directory and KEY not in str(path)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o1777, "for others' entries, too"
    assert Cache(shared.directory, shared=True).get(KEY) == PARTS
    assert shared.stats().entries == 1
    shared.clear()
    assert shared.stats().entries == 0


def test_an_entry_that_somebody_else_made_is_not_taken(
    shared: Cache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shared.put(KEY, PARTS)
    mine = shared._path(KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "others"))
    assert shared.get(KEY) is None, "it has another name"
    shared.put(KEY, {"cubin": b"evil"})
    theirs = shared._path(KEY)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert shared.get(KEY) == PARTS
    os.replace(theirs, mine)
    assert shared.get(KEY) is None, "it has another hash"
    assert shared.stats().rebuilt == 1
    # One that is bound to nobody is none either.
    open_to_all = Cache(tmp_path / "kernels")
    open_to_all.put(KEY, PARTS)
    os.replace(open_to_all._path(KEY), mine)
    assert shared.get(KEY) is None


def test_an_entry_of_a_shared_folder_under_another_key_is_not_taken(shared: Cache) -> None:
    shared.put(KEY, PARTS)
    shared.put("cd" * 32, PARTS)
    os.replace(shared._path(KEY), shared._path("cd" * 32))
    assert shared.get("cd" * 32) is None


def test_the_key_is_this_users_alone(shared: Cache, tmp_path: Path) -> None:
    first = user_key()
    path = tmp_path / "state" / "tilewright" / "cache-key"
    assert user_key() == first == path.read_bytes() and len(first) == 32
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["cache-key"]
    path.chmod(0o644)
    refused(shared, f"{NOT_USED}expected a key that nobody else can read, got mode 0644: {path}")
    path.chmod(0o600)
    path.write_bytes(b"short")
    with pytest.raises(UntrustedError, match=f"^expected a key of 32 bytes, got another file: {path}$"):
        user_key()
    path.unlink()
    path.symlink_to("/dev/zero")
    with pytest.raises(UntrustedError, match=f"^expected a regular file, got a symbolic link: {path}$"):
        user_key()


def test_without_a_key_there_is_no_shared_cache(shared: Cache, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert shared.get(KEY) is None
    with pytest.warns(RuntimeWarning, match="^compiled kernels are not kept: .*Not a directory"):
        shared.put(KEY, PARTS)


def test_the_option_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not Cache("x").shared
    with pytest.raises(TypeError, match="^expected shared as a bool, got int$"):
        Cache("x", shared=1)  # type: ignore[arg-type]
    monkeypatch.setenv("TILEWRIGHT_CACHE", "on")
    for switch in ("on", "off"):
        monkeypatch.setenv("TILEWRIGHT_CACHE_SHARED", switch)
        found = cache_module.default()
        assert found is not None and found.shared == (switch == "on")
    monkeypatch.setenv("TILEWRIGHT_CACHE_SHARED", "yes")
    with pytest.raises(ValueError, match="^expected TILEWRIGHT_CACHE_SHARED to be on or off, got 'yes'$"):
        cache_module.default()


# ------------------------------------------------------------------ files that are replaced


def test_replacing_a_file_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "target").symlink_to(tmp_path / "mine")
    replace_file(str(tmp_path / "target"), b"new", mode=0o666)
    assert (tmp_path / "mine").read_bytes() == b"mine"
    assert not (tmp_path / "target").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == 0o666 & ~umask
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        replace_file(str(tmp_path / "folder"), b"new")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["folder", "mine", "target"]
