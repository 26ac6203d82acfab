"""Streams, events, and which stream a call goes to."""

from __future__ import annotations

import gc
import sys
import types
from contextlib import nullcontext

import pytest

from tilewright.runtime import cuda, current_stream
from tilewright.runtime.stream import Event, Stream, as_stream, stream_of_arrays


def test_with_makes_a_stream_current_on_its_device(fake) -> None:
    assert current_stream(cuda(0)).handle == 0
    outer, inner = Stream(cuda(0)), Stream(cuda(1))
    with outer, inner:
        assert current_stream(cuda(0)) == outer
        assert current_stream(cuda(1)) == inner
    assert current_stream(cuda(0)).handle == 0


def test_only_own_streams_are_destroyed(fake) -> None:
    handle = Stream(cuda(0)).handle
    Stream.from_handle(0x77, cuda(0))
    gc.collect()
    assert [call for call in fake.calls if call[0] == "cuStreamDestroy"] == [("cuStreamDestroy", handle)]


def test_wait_for_another_stream(fake) -> None:
    first, second = Stream(cuda(0)), Stream(cuda(0))
    second.wait(first)
    record, wait = (call for call in fake.calls if call[0] in ("cuEventRecord", "cuStreamWaitEvent"))
    assert record[2] == first.handle
    assert wait[1:3] == (second.handle, record[1])


def test_event_times(fake) -> None:
    start = current_stream(cuda(0)).record()
    fake.clock = 0.25
    stop = Event(cuda(0))
    stop.record()
    assert stop.done
    assert stop.seconds_since(start) == 0.25
    fake.events_done = False
    assert not stop.done


class Protocol:
    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, 0x11


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (Protocol(), 0x11),
        (types.SimpleNamespace(__cuda_stream__=(0, 0x12)), 0x12),
        (types.SimpleNamespace(cuda_stream=0x13), 0x13),
        (types.SimpleNamespace(ptr=0x14), 0x14),
        (0x15, 0x15),
        (0, 0),
    ],
)
def test_streams_of_others(fake, stream: object, handle: int) -> None:
    assert as_stream(stream, cuda(0)).handle == handle


@pytest.mark.parametrize("stream", ["0", 1.5, True, object()])
def test_no_stream(fake, stream: object) -> None:
    with pytest.raises(TypeError) as caught:
        as_stream(stream, cuda(0))
    assert str(caught.value) == f"expected a stream (Stream, __cuda_stream__ or a handle), got {type(stream).__name__}"


def test_stream_of_another_gpu(fake) -> None:
    with pytest.raises(ValueError, match=r"^expected a stream of cuda:0, got one of cuda:1$"):
        as_stream(Stream(cuda(1)), cuda(0))


def test_torch_and_cupy_are_asked_for_their_current_stream(fake, monkeypatch: pytest.MonkeyPatch) -> None:
    class Tensor:
        pass

    class NDArray:
        pass

    torch = types.SimpleNamespace(
        Tensor=Tensor, cuda=types.SimpleNamespace(current_stream=lambda i: types.SimpleNamespace(cuda_stream=0x70 + i))
    )
    cupy = types.SimpleNamespace(
        ndarray=NDArray,
        cuda=types.SimpleNamespace(Device=nullcontext, get_current_stream=lambda: types.SimpleNamespace(ptr=0x90)),
    )
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    assert stream_of_arrays((object(), Tensor()), cuda(1)).handle == 0x71
    assert stream_of_arrays((NDArray(),), cuda(0)).handle == 0x90
    assert stream_of_arrays((object(),), cuda(0)).handle == 0
    with Stream(cuda(1)) as own:
        assert stream_of_arrays((Tensor(),), cuda(1)) == own
