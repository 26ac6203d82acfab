"""Recursion by steps."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

from tilewright.te.walks import Steps, run


def test_an_interrupt_between_steps_ends_them_from_the_innermost_on() -> None:
    ended: list[int] = []

    @contextmanager
    def around(depth: int) -> Iterator[None]:
        try:
            yield
        finally:
            ended.append(depth)

    def step(depth: int) -> Steps[int]:
        with around(depth):
            if depth == 3:
                sys.settrace(None)
                caller = sys._getframe(1)
                caller.f_trace = interrupt
                sys.settrace(interrupt)
            return (yield step(depth + 1))

    def interrupt(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code is run.__code__ and event == "line":
            sys.settrace(None)
            raise KeyboardInterrupt
        return interrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            run(step(0))
    finally:
        sys.settrace(None)
    assert ended == [3, 2, 1, 0]
