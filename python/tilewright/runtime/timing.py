"""Timing: how long a call takes on its device, again and again, with the caches cold."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from .device import Device
from .flush import Flush
from .memory import pool_of
from .stream import Event, Stream, stream_of_arrays

__all__ = ["Timing", "time_evaluator"]


@dataclass(frozen=True, slots=True)
class Timing:
    """The seconds that one call took, once a repeat.

    >>> timing = Timing((1e-3, 3e-3, 2e-3, 9e-3))
    >>> timing.median, timing.min, timing.max
    (0.0025, 0.001, 0.009)
    >>> print(timing)
    median 2.5 ms, half of them within 1.75 to 4.5 ms, all within 1 to 9 ms, 4 repeats
    """

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        return statistics.fmean(self.results)

    @property
    def median(self) -> float:
        return statistics.median(self.results)

    @property
    def min(self) -> float:
        return min(self.results)

    @property
    def max(self) -> float:
        return max(self.results)

    @property
    def std(self) -> float:
        """The standard deviation; 0 for a single repeat."""
        return statistics.stdev(self.results) if len(self.results) > 1 else 0.0

    @property
    def quartiles(self) -> tuple[float, float]:
        """Half of the repeats took a time between these two."""
        if len(self.results) == 1:
            return self.results[0], self.results[0]
        low, _, high = statistics.quantiles(self.results, n=4, method="inclusive")
        return low, high

    @property
    def iqr(self) -> float:
        """The distance between the quartiles."""
        low, high = self.quartiles
        return high - low

    def __str__(self) -> str:
        unit, scale = next(
            ((unit, scale) for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)) if self.median * scale >= 1),
            ("ns", 1e9),
        )
        low, high = self.quartiles
        count = len(self.results)
        return (
            f"median {self.median * scale:.4g} {unit}, "
            f"half of them within {low * scale:.4g} to {high * scale:.4g} {unit}, "
            f"all within {self.min * scale:.4g} to {self.max * scale:.4g} {unit}, {count} repeat{'s' * (count != 1)}"
        )


def time_evaluator(
    function: Callable[..., object],
    device: Device,
    *,
    number: int = 1,
    repeat: int = 10,
    warmup: int = 1,
    flush_l2: bool = True,
) -> Callable[..., Timing]:
    """A function that takes `function`'s arguments, calls it on `device`, and returns how long a call takes.

    Each of `repeat` results is the mean over `number` calls, after `warmup` calls that do not count. With `flush_l2`
    the caches are emptied before each call, outside of the measured time. A GPU reads a buffer of eight times the L2's
    size for that, and the cpu writes a buffer of twice the last cache's size. On a GPU the time is between two events
    around the call in the current stream. All calls are queued without waiting. So the host's own time shows only if it
    is longer than the flush and the kernel together. On the cpu the time is that of `time.perf_counter`.

    Raises TypeError where `number`, `repeat` or `warmup` is no int, ValueError where it is too small.

    >>> timing = time_evaluator(mmult, tw.cuda(0), repeat=100)(a, b, c)   # doctest: +SKIP
    >>> timing.median, timing.iqr                                        # doctest: +SKIP
    """
    for name, count, least in (("number", number, 1), ("repeat", repeat, 1), ("warmup", warmup, 0)):
        if isinstance(count, bool) or not isinstance(count, int):
            raise TypeError(f"expected {name} as an int, got {type(count).__name__}")
        if count < least:
            raise ValueError(f"expected {name} to be {least} or more, got {count}")

    flushes: dict[int, Flush] = {}

    def evaluate(*args: object) -> Timing:
        def call() -> None:
            function(*args)

        if device.is_cuda:
            stream = stream_of_arrays(args, device)
            return _measure_cuda(call, stream, number, repeat, warmup, flushes if flush_l2 else None)
        return _measure_cpu(call, device, number, repeat, warmup, flush_l2)

    return evaluate


def _measure_cpu(
    call: Callable[[], object], device: Device, number: int, repeat: int, warmup: int, flush_l2: bool
) -> Timing:
    buffer = pool_of(device).allocate(2 * device.l2_bytes, None) if flush_l2 else None

    def flush(value: int) -> None:
        if buffer is not None:
            ctypes.memset(buffer.address, value & 0xFF, buffer.size)

    for _ in range(warmup):
        call()
    results: list[float] = []
    for i in range(repeat):
        elapsed = 0.0
        # With cold caches each call is timed by itself; otherwise all at once, for the clock's own sake.
        for _ in range(number if flush_l2 else 1):
            flush(i)
            start = time.perf_counter()
            for _ in range(1 if flush_l2 else number):
                call()
            elapsed += time.perf_counter() - start
        results.append(elapsed / number)
    return Timing(tuple(results))


def _measure_cuda(
    call: Callable[[], object], stream: Stream, number: int, repeat: int, warmup: int, flushes: dict[int, Flush] | None
) -> Timing:
    spans: list[list[tuple[Event, Event]]] = []
    # The calls go where the events go.
    with stream.device.active(), stream:
        flush = None
        if flushes is not None:  # the buffer of a stream is made once, and kept until another one is used
            if stream.handle not in flushes:
                flushes.clear()
                flushes[stream.handle] = Flush(stream)
            flush = flushes[stream.handle]
        for _ in range(warmup):
            call()
        for _ in range(repeat):
            spans.append(list(_spans(call, stream, number, flush)))
        stream.synchronize()
    return Timing(tuple(sum(stop.seconds_since(start) for start, stop in span) / number for span in spans))


def _spans(
    call: Callable[[], object], stream: Stream, number: int, flush: Flush | None
) -> Iterator[tuple[Event, Event]]:
    """The events around the calls of one repeat."""
    for _ in range(number if flush is not None else 1):
        if flush is not None:
            flush()
        start = stream.record()
        for _ in range(1 if flush is not None else number):
            call()
        yield start, stream.record()
