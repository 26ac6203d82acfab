"""Long calls of native code that Ctrl-C ends: they run on a thread of their own, which the main thread waits for."""

from __future__ import annotations

import _thread
import ctypes
import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from .library import library
from .signals import in_main_interpreter

__all__ = ["Work", "gets_signals", "interruptibly", "side_by_side"]

T = TypeVar("T")

# LLVM recurses deeply; as much as a main thread has by default may be little where its limit was raised.
_STACK_BYTES = 64 << 20
# Passes and the like end soon once they are told to. What has not ended then goes on alone.
_GRACE_SECONDS = 0.03
# How often who waits looks for a signal. One that comes just before the waiting begins, or that the system hands to
# another thread, does not end the waiting by itself.
_LOOK_SECONDS = 0.1


def gets_signals() -> bool:
    """Whether this thread is the one whose waiting signals end."""
    return threading.get_ident() == threading.main_thread().ident and in_main_interpreter()


class Work(Generic[T]):
    """A call on a thread of its own."""

    def __init__(self, call: Callable[[], T]) -> None:
        self._call = call
        self._is_running = _thread.allocate_lock()
        self._is_running.acquire()
        self._mutex = _thread.allocate_lock()
        self._is_done = self._is_over = self._is_abandoned = False
        self._result: T | None = None
        self._error: BaseException | None = None
        self.kept: object = None  # what the call uses

    def run(self, then: Callable[[], object]) -> None:
        """Makes the call, and calls `then` before anybody is told of its end."""
        try:
            self._result = self._call()
        except BaseException as error:
            self._error = error
        with self._mutex:
            self._is_done = True
            if self._is_abandoned:
                library().tilewrightCountAbandoned(-1)
                _count_reference(self, -1)
        then()
        self._is_over = True
        self._is_running.release()

    def wait(self, seconds: float = -1) -> bool:
        """Whether the call has ended, within `seconds`. A signal whose handler raises ends the waiting."""
        # The handler may raise once the lock is acquired and before it is released. It then stays acquired, and
        # `_is_over` tells the next who waits.
        while not self._is_over:
            if self._is_running.acquire(timeout=_LOOK_SECONDS if seconds < 0 else seconds):
                self._is_running.release()
                break
            if seconds >= 0:
                return False
        return True

    def abandon(self) -> None:
        """Nobody waits any more: what the call uses lives until it has ended, if it is after the process's end."""
        with self._mutex:
            if not self._is_done:
                self._is_abandoned = True
                _count_reference(self, 1)
                library().tilewrightCountAbandoned(1)

    def result(self) -> T:
        """What the call returned; what it raised is raised."""
        if self._error is not None:
            raise self._error
        return self._result  # type: ignore[return-value] - there is one where nothing was raised


class _Thread:
    """A thread that makes one call after the other, and never ends.

    When a thread ends, the destructors of its thread-local objects run, such as MLIR's caches of a context. Python
    cannot wait for these destructors, and the context may be destroyed at the same time.
    """

    idle: ClassVar[list[_Thread]] = []

    def __init__(self) -> None:
        self._is_waiting = _thread.allocate_lock()
        self._is_waiting.acquire()
        self._work: Work[Any] | None = None
        before = _thread.stack_size(_STACK_BYTES)
        try:
            _thread.start_new_thread(self._loop, ())
        finally:
            _thread.stack_size(before)

    def _loop(self) -> None:
        while True:
            self._is_waiting.acquire()
            work, self._work = self._work, None
            if work is not None:
                work.run(lambda: _Thread.idle.append(self))
            del work

    @staticmethod
    def start(work: Work[Any]) -> None:
        """Has the work done by a thread that has none."""
        try:
            thread = _Thread.idle.pop()
        except IndexError:
            thread = _Thread()
        thread._work = work
        thread._is_waiting.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Thread.idle.clear)  # a child has none of its parent's threads


def _count_reference(held: object, change: int) -> None:
    """Keeps an object beyond all names of it, and lets it go."""
    (ctypes.pythonapi.Py_IncRef if change > 0 else ctypes.pythonapi.Py_DecRef)(ctypes.py_object(held))


def interruptibly(
    call: Callable[[], T],
    stop: Callable[[], object] = lambda: None,
    left: Callable[[Work[T]], object] = lambda _: None,
) -> T:
    """What `call` returns; a signal whose handler raises, as Ctrl-C does, ends the waiting for it at once.

    `call` has to release the interpreter's lock while it takes long, as functions of `ctypes` do. Once the waiting has
    ended, `stop` is called, which may make `call` end early. If `call` has not ended soon after, it goes on alone, and
    `left` is called.
    Signals are the main thread's. From a thread of `side_by_side` the call is made as it is, and `stop` is called once
    that is interrupted. The thread then raises KeyboardInterrupt. From any other thread the call is made as it is.

    >>> interruptibly(lambda: 1 + 1)
    2
    """
    if not gets_signals():
        return call() if _own.together is None else _own.together.run(call, stop)
    work = Work(call)
    try:
        _Thread.start(work)
        work.wait()
    except BaseException:
        stop()
        if not work.wait(_GRACE_SECONDS):
            work.abandon()
            left(work)
        raise
    return work.result()


class _Together:
    """The calls of `interruptibly` that run in the threads of one `side_by_side`."""

    def __init__(self) -> None:
        self._mutex = _thread.allocate_lock()
        self._stops: dict[object, Callable[[], object]] = {}
        self._is_over = False

    def run(self, call: Callable[[], T], stop: Callable[[], object]) -> T:
        """What `call` returns. Raises KeyboardInterrupt once all calls are told to end."""
        key = object()
        with self._mutex:
            is_over = self._is_over
            if not is_over:
                self._stops[key] = stop
        if is_over:
            stop()
            raise KeyboardInterrupt
        try:
            return call()
        finally:
            with self._mutex:
                del self._stops[key]
            if self._is_over:
                raise KeyboardInterrupt

    def end(self) -> None:
        """Tells all calls to end, and those that begin later."""
        with self._mutex:
            self._is_over = True
            for stop in self._stops.values():
                stop()


class _Own(threading.local):
    """What each thread has for itself."""

    together: _Together | None = None


_own = _Own()


def side_by_side(
    calls: Sequence[Callable[[], T]], most: int, tell: Callable[[int], object] = lambda _: None
) -> list[T]:
    """What each of the calls returns; up to `most` of them run at a time, and begin in their order.

    `tell` is called with the number of a call, in its thread, before the call begins. Where calls raise, no other one
    begins, and what the first of them raised is raised. A signal whose handler raises ends the waiting. What the calls
    do `interruptibly` is stopped then, and a call that has not ended soon after goes on alone.

    >>> side_by_side([lambda: 1, lambda: 2, lambda: 3], 2)
    [1, 2, 3]
    """
    results: dict[int, T] = {}
    errors: dict[int, BaseException] = {}
    numbers = iter(range(len(calls)))
    is_over = threading.Event()
    together = _Together()

    def run() -> None:
        _own.together = together
        while not is_over.is_set():
            number = next(numbers, None)  # the interpreter's lock makes this one step
            if number is None:
                break
            try:
                tell(number)
                results[number] = calls[number]()
            except BaseException as error:
                errors[number] = error
                is_over.set()
        _own.together = None

    works = [Work(run) for _ in range(min(most, len(calls)))]
    try:
        for work in works:
            _Thread.start(work)
        for work in works:
            work.wait()
    except BaseException:
        is_over.set()
        together.end()
        last = time.monotonic() + _GRACE_SECONDS
        for work in works:
            if not work.wait(max(0.0, last - time.monotonic())):
                work.abandon()
        raise
    if errors:
        raise errors[min(errors)]
    return [results[number] for number in range(len(calls))]
