"""Ctrl-C while the main thread waits for native work."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Any

import pytest

from ctrl_c import Held
from tilewright.native import interruptible


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Held:
    """Of the work that the main thread waits for: passes, code for a processor, cubins and tools."""
    held, start = Held(request.param), interruptible._Thread.start

    def starting(work: interruptible.Work[Any]) -> None:
        work._call = held.within(work._call)
        start(work)

    monkeypatch.setattr(interruptible._Thread, "start", staticmethod(starting))
    return held


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises KeyboardInterrupt; a process of pytest-xdist does not listen to it."""
    assert interruptible.gets_signals()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
