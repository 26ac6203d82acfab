"""How long each of some calls takes on a GPU when they come one after the other, as in a graph of all of them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence

from ..errors import DriverError
from . import cuda_driver
from .device import Device
from .stream import Event, Stream
from .timing import Timing

__all__ = ["time_in_turn"]

_THREAD_LOCAL = 1  # CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
_EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL: the event is recorded when the graph runs
_EMPTY = 8
"""So many events follow each other with nothing between, which says what one takes."""
_LEAST = 1e-9


def time_in_turn(calls: Sequence[Callable[[], object]], device: Device, stream: Stream, repeat: int) -> list[Timing]:
    """The time of each call, `repeat` times: all calls run in their order, and then again.

    The launches are captured once from `stream`, with an event between any two calls, and run as one CUDA graph. So
    the host's time does not count, and caches are as the calls before leave them. What an event by itself takes is
    subtracted. Each call must have run once before, for a kernel is not loaded in a capture.

    >>> one, two = time_in_turn([first, second], tw.cuda(0), stream, 10)   # doctest: +SKIP
    """
    events = [Event(device) for _ in range(len(calls) + _EMPTY + 1)]
    results: list[list[float]] = [[] for _ in calls]
    mode = cuda_driver.module().CUstreamCaptureMode(_THREAD_LOCAL)
    with device.active(), stream:
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
            instance = cuda_driver.call("cuGraphInstantiate", graph, 0)
        finally:
            cuda_driver.call("cuGraphDestroy", graph)
        try:
            for number in range(repeat + 1):
                cuda_driver.call("cuGraphLaunch", instance, stream.handle)
                stream.synchronize()
                spans = [after.seconds_since(before) for before, after in zip(events, events[1:])]
                alone = statistics.median(spans[len(calls) :])
                for times, span in zip(results, spans):
                    if number:  # the first is to warm up
                        times.append(max(span - alone, _LEAST))
        finally:
            cuda_driver.call("cuGraphExecDestroy", instance)
    return [Timing(tuple(times)) for times in results]


def _nothing() -> None:
    pass
