"""Objects of no use as arguments: each gives an error of ours with its full text, not what Python says inside."""

from __future__ import annotations

import inspect
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
