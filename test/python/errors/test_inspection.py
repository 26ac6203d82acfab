"""What is wrong with what a built function is asked for, in full text."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.cache import Cache


@pytest.fixture(scope="module")
def double() -> tw.Function:
    n = te.var("n")
    A = te.placeholder((n, 8), name="A")
    B = te.compute((n, 8), lambda i, j: A[i, j] * 2, name="B")
    return tw.build(te.create_schedule(B.op), [A, B], "cpu", name="double")


TEXT = "double(A: float32[n, 8], B: float32[n, 8])"
CASES: dict[str, tuple[type[Exception], str, Callable]] = {
    "a shape": (
        ValueError,
        f"{TEXT}: B: expected shape (n, 8), got (4, 9)",
        lambda f: f.launch_config(np.ones((4, 8)), np.ones((4, 9))),
    ),
    "a rank": (
        ValueError,
        f"{TEXT}: A: expected shape (n, 8), got (4,)",
        lambda f: f.launch_config(np.ones(4), np.ones((4, 8))),
    ),
    "a timeline": (
        TypeError,
        "expected what Function.timeline returns as timeline, got int",
        lambda f: f.view("page.html", np.ones((4, 8)), np.ones((4, 8)), timeline=3),
    ),
    "a path of a page": (
        TypeError,
        "expected a path, got 3",
        lambda f: f.view(3, np.ones((4, 8)), np.ones((4, 8))),
    ),
    "a folder that is not there": (
        tw.TilewrightError,
        "/nowhere/double.o: No such file or directory",
        lambda f: tw.export_object(f, "/nowhere/double.o"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_asked_of_a_function(double: tw.Function, case: str) -> None:
    kind, message, asked = CASES[case]
    with pytest.raises(kind) as raised:
        asked(double)
    assert str(raised.value) == message


@pytest.mark.sweep
def test_a_library_goes_into_a_folder(double: tw.Function) -> None:
    with pytest.raises(tw.TilewrightError) as raised:
        double.export_library("/nowhere/double.so")
    assert str(raised.value) == "/nowhere/double.so: No such file or directory"


def test_passes_of_ones_own_are_said_by_stage() -> None:
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] * 2, name="B")
    with pytest.raises(TypeError) as raised:
        tw.build(te.create_schedule(B.op), [A, B], "cpu", after=["canonicalize"])  # type: ignore[arg-type]
    assert str(raised.value) == "expected after as a dictionary of passes by stage, got list"


def test_a_warning_of_the_cache_names_the_users_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    kernels = Cache(tmp_path / "file" / "kernels")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kernels.put("0" * 64, {"ptx": b""})
    (warning,) = caught
    assert warning.filename == __file__ and warning.category is RuntimeWarning
    assert str(warning.message) == f"compiled kernels are not kept: [Errno 20] Not a directory: '{kernels.directory}'"
