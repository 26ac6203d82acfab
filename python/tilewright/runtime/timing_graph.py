"""How long each of some calls takes on a GPU when they come one after the other, as in a graph of all of them."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import DriverError
from . import cuda_driver
from .device import Device
from .stream import Event, Stream
from .timing import Timing

__all__ = ["time_alternatives", "time_in_turn"]

_THREAD_LOCAL = 1  # CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
_EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL: the event is recorded when the graph runs
_EMPTY = 8
"""So many events follow each other with nothing between, which says what one takes."""
_LEAST = 1e-9

Calls = Sequence[Callable[[], object]]


def time_in_turn(calls: Calls, device: Device, stream: Stream, repeat: int) -> list[Timing]:
    """The time of each call, `repeat` times: all calls run in their order, and then again.

    The launches are captured once from `stream`, with an event between any two calls, and run as one CUDA graph. So
    the host's time does not count, and caches are as the calls before leave them. What an event by itself takes is
    subtracted. Each call must have run once before, for a kernel is not loaded in a capture.

    >>> one, two = time_in_turn([first, second], tw.cuda(0), stream, 10)   # doctest: +SKIP
    """
    return time_alternatives([calls], device, stream, repeat)[0]


def time_alternatives(
    alternatives: Sequence[Calls], device: Device, stream: Stream, repeat: int, seed: int = 0
) -> list[list[Timing]]:
    """The same of several sequences of as many calls each. In each of `repeat` rounds all sequences run, in a random
    order, of the generator's `seed`.

    >>> (ours,), (theirs,) = time_alternatives([[first], [second]], tw.cuda(0), stream, 10)   # doctest: +SKIP
    """
    count = len(alternatives[0])
    events = [Event(device) for _ in range(count + _EMPTY + 1)]
    results: list[list[list[float]]] = [[[] for _ in calls] for calls in alternatives]
    order, generator = list(range(len(alternatives))), random.Random(seed)
    instances: list[Any] = []
    with device.active(), stream:
        try:
            for calls in alternatives:
                instances.append(_captured(calls, events, stream))
            for number in range(repeat + 1):
                generator.shuffle(order)
                for which in order:
                    cuda_driver.call("cuGraphLaunch", instances[which], stream.handle)
                    stream.synchronize()
                    spans = [after.seconds_since(before) for before, after in zip(events, events[1:])]
                    alone = statistics.median(spans[count:])
                    for times, span in zip(results[which], spans):
                        if number:  # the first is to warm up
                            times.append(max(span - alone, _LEAST))
        finally:
            for instance in instances:
                cuda_driver.call("cuGraphExecDestroy", instance)
    return [[Timing(tuple(times)) for times in each] for each in results]


def _captured(calls: Calls, events: Sequence[Event], stream: Stream) -> Any:
    """The instance of a graph that runs the calls with an event before each, and more events behind."""
    mode = cuda_driver.module().CUstreamCaptureMode(_THREAD_LOCAL)
    stream.synchronize()
    cuda_driver.call("cuStreamBeginCapture", stream.handle, mode)
    done = False
    try:
        for event, call in zip(events, [*calls, *[_nothing] * _EMPTY, _nothing]):
            cuda_driver.call("cuEventRecordWithFlags", event.handle, stream.handle, _EXTERNAL)
            call()
        done = True
    finally:
        # A capture that failed is ended, too: the stream would refuse all other work.
        code, graph = cuda_driver.module().cuStreamEndCapture(stream.handle)
        if not done and not int(code):
            cuda_driver.call("cuGraphDestroy", graph)
    if int(code):
        raise DriverError("cuStreamEndCapture", int(code), code.name)
    try:
        return cuda_driver.call("cuGraphInstantiate", graph, 0)
    finally:
        cuda_driver.call("cuGraphDestroy", graph)


def _nothing() -> None:
    pass
