"""Ctrl-C within a call: native work that is held until the call has ended, and how much a call computes after it."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Held", "interrupt", "processor_seconds_after_ctrl_c"]


class Held:
    """Ctrl-C comes within the piece of work of this number, and that piece does not end before `release`.

    A call that waits for the piece would never end.
    """

    def __init__(self, number: int) -> None:
        self.number, self.begun = number, 0
        self._over, self._ended = threading.Event(), threading.Event()

    def within(self, work: Callable[[], Any]) -> Callable[[], Any]:
        """A piece of work as it is done."""
        self.begun += 1
        if self.begun != self.number:
            return work

        def held() -> Any:
            signal.raise_signal(signal.SIGINT)  # to this thread: nothing wakes the one that waits
            self._over.wait()
            try:
                return work()
            finally:
                self._ended.set()

        return held

    @property
    def is_released(self) -> bool:
        return self._over.is_set()

    def release(self) -> None:
        self._over.set()
        if self.begun >= self.number:
            self._ended.wait()


def interrupt(call: Callable[[], object], held: Held) -> None:
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        assert held.begun == held.number, "the call goes on"
    finally:
        held.release()


def processor_seconds_after_ctrl_c(call: Callable[[], object], after: float = 0.1) -> float:
    """The seconds of a processor that this thread takes from Ctrl-C to the end of the call, which raises
    KeyboardInterrupt. The signal comes once the call has taken `after` seconds of a processor.

    What else the machine does is no matter. To be called in the main thread, which gets the signals.
    """
    main, at_signal = os.getpid(), list[float]()

    def taken() -> float:
        return int(Path(f"/proc/self/task/{main}/schedstat").read_text().split()[0]) * 1e-9

    begin = taken()

    def send() -> None:
        while taken() < begin + after:
            time.sleep(0.001)
        at_signal.append(taken())
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sender = threading.Thread(target=send, daemon=True)
    sender.start()
    try:
        call()
    except KeyboardInterrupt:
        end = taken()
    else:
        raise AssertionError("the call ended before Ctrl-C")
    finally:
        signal.signal(signal.SIGINT, before)
    sender.join()
    return end - at_signal[0]
