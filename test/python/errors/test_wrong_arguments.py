"""Objects of no use as arguments: each gives an error of ours with its full text, not what Python says inside."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import tilewright as tw
from tilewright import nd, schedules, te
from tilewright.errors import TilewrightError

SIZES = {
    "batch": 2, "channels": 64, "columns": 64, "filters": 64, "hidden": 128, "keys": 64, "kernel": 3, "queries": 64,
    "rows": 128, "size": 8, "vocabulary": 256, "width": 64, "K": 64, "M": 64, "N": 64,
}  # fmt: skip
SCHEDULES = {
    name: [
        key for key, one in inspect.signature(function).parameters.items() if key in SIZES and one.default is one.empty
    ]
    for name, function in vars(schedules).items()
    if name in schedules.__all__
}
SYMBOLIC = {"matmul": ("M", "N", "K"), "matmul_mma": ("M", "N", "K"), "matmul_wgmma": ("M", "N", "K")}


@pytest.mark.parametrize("name, parameter", [(name, one) for name, found in SCHEDULES.items() for one in found])
def test_extents_of_schedules(name: str, parameter: str) -> None:
    schedule = getattr(schedules, name)
    sizes = {key: SIZES[key] for key in SCHEDULES[name]}
    wanted = "an integer or te.var" if parameter in SYMBOLIC.get(name, ()) else "an integer"
    for given, kind, text in (
        (-3, ValueError, "at least [01], got -3"),
        (None, TypeError, rf"{wanted}, got None"),
        (2.5, TypeError, rf"{wanted}, got 2\.5"),
        ("8", TypeError, rf"{wanted}, got '8'"),
        (True, TypeError, rf"{wanted}, got True"),
    ):
        with pytest.raises(kind) as raised:
            schedule(**{**sizes, parameter: given})
        assert isinstance(raised.value, TilewrightError)
        raised.match(rf"^{__file__}:\d+: {name}: {parameter}: expected {text}$")


def function() -> tw.Function:
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1, name="B")
    return tw.build(te.create_schedule(B.op), [A, B], target="cpu")


def total() -> tuple[te.Tensor, te.Tensor]:
    A = te.placeholder((4,), name="A")
    return A, te.compute((4,), lambda i: A[i] * A[i], name="B")


DEVICE = "expected a device, such as tw.cpu() or tw.cuda(0), got {}"


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: tw.dispatch(None, "f"), "f: expected a list of functions that tw.build has made, got NoneType"),
        (lambda: tw.dispatch(3, "f"), "f: expected a list of functions that tw.build has made, got int"),
        (lambda: tw.dispatch([3], "f"), "f: expected functions that tw.build has made, got int"),
        (lambda: tw.export_library(None, "f.so"), "expected functions that tw.build has made, got NoneType"),
        (lambda: tw.export_library(3, "f.so"), "expected functions that tw.build has made, got int"),
        (lambda: tw.export_library([None], "f.so"), "expected functions that tw.build has made, got NoneType"),
        (lambda: function().export_library(None), "expected a path, got None"),
        (lambda: function().export_library(3), "expected a path, got 3"),
        (lambda: nd.empty(None), "expected a shape as ints, got None"),
        (lambda: nd.empty(2.5), "expected a shape as ints, got 2.5"),
        (lambda: nd.zeros(None), "expected a shape as ints, got None"),
        (lambda: nd.empty([None]), "expected extents as ints, got None in shape (None,)"),
        (lambda: nd.empty((3,), device=3), DEVICE.format("3")),
        (lambda: nd.empty((3,), device="cuda"), DEVICE.format("'cuda'")),
        (lambda: nd.zeros((3,), device=[1]), DEVICE.format("[1]")),
        (lambda: nd.stats("cpu"), DEVICE.format("'cpu'")),
        (lambda: nd.release(0), DEVICE.format("0")),
        (lambda: tw.current_stream(3), DEVICE.format("3")),
        (lambda: tw.current_stream("cuda"), DEVICE.format("'cuda'")),
        (lambda: tw.synchronize(3), DEVICE.format("3")),
        (lambda: tw.synchronize("cuda"), DEVICE.format("'cuda'")),
        (lambda: tw.Stream("cuda"), DEVICE.format("'cuda'")),
        (lambda: tw.Event(3), DEVICE.format("3")),
    ],
)
def test_no_list_and_no_device(call: Callable[[], object], text: str) -> None:
    with pytest.raises(TypeError) as raised:
        call()
    assert isinstance(raised.value, TilewrightError) and str(raised.value) == text


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda A, B: te.gradient(B, None), "expected tensors as inputs, got None"),
        (lambda A, B: te.gradient(B, 3), "expected tensors as inputs, got 3"),
        (lambda A, B: te.gradient(B, [None]), "expected a tensor as input, got None"),
        (lambda A, B: te.gradient(None, [A]), "expected a tensor as output, got None"),
        (lambda A, B: te.gradient(B, [A], 3), "expected a tensor as head, got 3"),
    ],
)
def test_gradient(call: Callable[[te.Tensor, te.Tensor], object], text: str) -> None:
    with pytest.raises(TypeError) as raised:
        call(*total())
    line = call.__code__.co_firstlineno
    assert (
        isinstance(raised.value, TilewrightError)
        and str(raised.value) == f"{Path(__file__)}:{line}: te.gradient: {text}"
    )


def _combine(x, y):
    return x + y


def _reduced(combine, identity) -> None:
    A, k = te.placeholder((4,), name="A"), te.reduce_axis((0, 4), name="k")
    te.comm_reducer(combine, identity, name="total")(A[k], axis=k)


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: _reduced(lambda x: x, lambda t: te.const(0, t)),
         "te.comm_reducer total: fcombine: expected a function of 2 arguments (lhs, rhs), got one of (x)"),
        (lambda: _reduced(_combine, lambda: 0.0),
         "te.total: fidentity: expected a function of 1 argument (float32), got one of ()"),
        (lambda: te.extern((4,), [te.placeholder((4,))], lambda ins: None),
         "extern extern: fcompute: expected a function of 2 arguments (inputs, results), got one of (ins)"),
        (lambda: te.decl_tensor_intrin(total()[1].op, lambda ins, outs, more: None, "add"),
         "decl_tensor_intrin add: fcompute: expected a function of 2 arguments (inputs, results), "
         "got one of (ins, outs, more)"),
        (lambda: tw.build(te.create_schedule(total()[1].op), total(), "cpu", after={"loops": lambda: None}),
         "after['loops']: expected a function of 1 argument (module), got one of ()"),
        (lambda: tw.tuning.Knobs(lambda tile: (None, ()), tile=(1,), warps=(4, 8)),
         "Knobs: make: expected a function of 2 arguments (tile, warps), got one of (tile)"),
        (lambda: tw.tuning.Knobs(lambda tile: (None, ()), where=lambda: True, tile=(1,)),
         "Knobs: where: expected a function of 1 argument (tile), got one of ()"),
        (lambda: tw.tune(total()[1], "cpu", trials=1, progress=lambda: None),
         "tune: progress: expected a function of 1 argument (text), got one of ()"),
    ],
)  # fmt: skip
def test_functions_of_another_number_of_arguments(call: Callable[[], object], text: str) -> None:
    with pytest.raises(tw.TilewrightError) as raised:
        call()
    assert isinstance(raised.value, TypeError)
    raised.match(rf"^{__file__}:\d+: {re.escape(text)}$")


def test_a_host_in_the_place_of_the_name() -> None:
    """As scripts for TVM may have it."""
    A, B = total()
    with pytest.raises(tw.TilewrightError) as raised:
        tw.build(te.create_schedule(B.op), [A, B], "cpu", "llvm")
    assert str(raised.value) == (
        "expected the function's name as the fourth argument, got a host: write target_host='llvm'"
    )


def test_a_package_in_an_archive(tmp_path: Path) -> None:
    """Its compiled library cannot be loaded from there."""
    package, archive = Path(tw.__file__).parent, tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w") as files:
        for name in ("errors.py", "native/__init__.py", "native/library.py"):
            files.write(package / name, f"tilewright/{name}")
        files.writestr("tilewright/__init__.py", "")
    code = "from tilewright.native.library import library\ntry: library()\nexcept ImportError as error: print(error)"
    ran = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(archive)}, capture_output=True, text=True
    )
    library = archive / "tilewright/_lib/libtilewright.so"
    assert ran.stdout == (
        f"tilewright's compiled library cannot be loaded: {library}: cannot open shared object file: "
        "Not a directory: the package has to be in a folder, not in an archive\n"
    ), ran.stderr
