"""Objects that call without a lookup: what Python may do with any callable works with them."""

from __future__ import annotations

import gc
import inspect
import sys
import threading

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.native.callable import CallableBase, set_target, shorten_calls


@shorten_calls
class Called(CallableBase):
    __slots__ = ("__weakref__", "name")


def made(target) -> Called:
    called = Called()
    set_target(called, target)
    return called


def test_calls_go_to_the_target() -> None:
    called = made(lambda *args, **named: (args, named))
    assert callable(called) and called() == ((), {})
    assert called(1, *range(3), a=2, **{"b": 3}) == ((1, 0, 1, 2), {"a": 2, "b": 3})
    assert list(map(called, [4])) == [((4,), {})] and called.__call__(5) == ((5,), {})
    with pytest.raises(ZeroDivisionError):
        made(lambda: 1 // 0)()
    with pytest.raises(TypeError, match=r"takes 0 positional arguments but 1 was given"):
        made(lambda: None)(1)


def test_calls_take_the_short_way() -> None:
    have_vectorcall = 1 << 11
    assert Called.__flags__ & have_vectorcall and tw.Function.__flags__ & have_vectorcall


def test_a_class_that_overrides_the_call() -> None:
    class Other(Called):
        __slots__ = ()

        def __call__(self) -> str:
            return "other"

    called = Other()
    set_target(called, lambda: "target")
    assert called() == "other" and CallableBase.__call__(called) == "target"


def test_without_a_target() -> None:
    with pytest.raises(TypeError, match="does not support vectorcall"):
        Called()()


def test_a_target_may_replace_itself() -> None:
    called = made(None.__class__)
    set_target(called, lambda: [set_target(called, lambda: "then"), "first"][1])
    assert [called(), called(), called()] == ["first", "then", "then"]


def test_targets_are_kept_and_let_go() -> None:
    class Target:
        def __call__(self) -> None: ...

    targets = [Target() for _ in range(3)]
    counts = [sys.getrefcount(targets[i]) for i in range(3)]
    called = made(targets[0])
    for i in (1, 2):
        set_target(called, targets[i])
    # The one before is kept for calls that are about to be made.
    assert [sys.getrefcount(targets[i]) - counts[i] for i in range(3)] == [0, 1, 1]
    kind, before = Called, sys.getrefcount(Called)
    del called
    gc.collect()
    assert [sys.getrefcount(targets[i]) for i in range(3)] == counts
    assert sys.getrefcount(kind) <= before


def test_the_first_calls_of_many_threads() -> None:
    n = te.var("n")
    a = te.placeholder((n,), name="A")
    b = te.compute((n,), lambda i: a[i] + 1, name="B")
    function = tw.build(te.create_schedule(b.op), [a, b], "cpu")
    failures: list[object] = []
    start = threading.Barrier(8)

    def work(seed: int) -> None:
        x, y = np.arange(seed, seed + 64, dtype="float32"), np.zeros(64, "float32")
        start.wait()
        for _ in range(20):
            function(x, y)
        if not (y == x + 1).all():
            failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_function_says_how_it_is_called() -> None:
    assert "allocates the outputs" in (inspect.getdoc(tw.Function) or "")
