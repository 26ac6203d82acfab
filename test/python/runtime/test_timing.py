"""What a time evaluator measures; no test here waits on a clock."""

from __future__ import annotations

import time

import pytest

from tilewright.runtime import Stream, Timing, cpu, cuda, time_evaluator


@pytest.mark.sweep
def test_cpu_times_each_call(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter(range(1000))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(clock)))
    calls = []
    evaluate = time_evaluator(lambda *args: calls.append(args), cpu(), number=3, repeat=2, warmup=2)
    assert evaluate(1, 2).results == (1.0, 1.0)
    assert calls == [(1, 2)] * (2 + 3 * 2)
    assert time_evaluator(lambda: None, cpu(), number=4, repeat=1, flush_l2=False)().results == (0.25,)


def test_cuda_flushes_before_each_call_and_outside_of_the_time(fake) -> None:
    def call() -> None:
        fake.calls.append(("call",))
        fake.clock += 2.0

    def flushed(*_args: object) -> None:
        fake.clock += 100.0

    fake.cuLaunchKernel = flushed
    timing = time_evaluator(call, cuda(0), number=2, repeat=3)()
    assert timing.results == (2.0, 2.0, 2.0)
    order = [
        name for name in fake.names() if name in ("call", "cuLaunchKernel", "cuEventRecord", "cuStreamSynchronize")
    ]
    assert order == ["call", *["cuLaunchKernel", "cuEventRecord", "call", "cuEventRecord"] * 6, "cuStreamSynchronize"]
    # It reads: what is written would go back to memory while the next kernel runs.
    (cleared,) = [call for call in fake.calls if call[0] == "cuMemsetD8Async"]
    assert cleared[3] == 8 * fake.attributes["L2_CACHE_SIZE"]
    launched = [call for call in fake.calls if call[0] == "cuLaunchKernel"]
    assert {call[2:8] for call in launched} == {(8 * fake.attributes["MULTIPROCESSOR_COUNT"], 1, 1, 256, 1, 1)}
    assert {call[10][0] for call in launched} == {(cleared[1], cleared[3] // 16)}
    assert fake.names().count("cuModuleLoadData") == 1


def test_cuda_without_flush_times_the_calls_together(fake) -> None:
    def call() -> None:
        fake.clock += 2.0

    timing = time_evaluator(call, cuda(0), number=5, repeat=2, warmup=0, flush_l2=False)()
    assert timing.results == (2.0, 2.0)
    assert fake.names().count("cuEventRecord") == 4
    assert "cuLaunchKernel" not in fake.names()


@pytest.mark.parametrize("arch", ["sm_75", "sm_90a", "sm_120"])
def test_what_reads_assembles(arch: str) -> None:
    """Four words at once are read, and the store keeps them alive."""
    from tilewright.backend.cubin import link
    from tilewright.runtime.flush import _PTX

    cubin = link(_PTX.rstrip(b"\0").decode(), arch)
    assert cubin.notes == () and list(cubin.resources) == ["read0"]


def test_calls_go_to_the_stream_of_the_events(fake) -> None:
    from tilewright.runtime import current_stream

    seen = []
    with Stream(cuda(0)) as stream:
        time_evaluator(lambda: seen.append(current_stream(cuda(0))), cuda(0), repeat=1)()
    assert seen == [stream, stream]
    assert {call[2] for call in fake.calls if call[0] == "cuEventRecord"} == {stream.handle}


def test_statistics() -> None:
    timing = Timing((4e-6, 1e-6, 3e-6, 2e-6, 10e-6))
    assert (timing.median, timing.min, timing.max) == (3e-6, 1e-6, 10e-6)
    assert timing.mean == pytest.approx(4e-6)
    assert timing.quartiles == pytest.approx((2e-6, 4e-6))
    assert timing.iqr == pytest.approx(2e-6)
    assert timing.std == pytest.approx(3.5355339e-6)
    assert str(timing) == "median 3 us, half of them within 2 to 4 us, all within 1 to 10 us, 5 repeats"
    once = Timing((0.5,))
    assert (once.std, once.iqr) == (0.0, 0.0)
    assert str(once) == "median 500 ms, half of them within 500 to 500 ms, all within 500 to 500 ms, 1 repeat"


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"number": 0}, ValueError, "expected number to be 1 or more, got 0"),
        ({"repeat": 0}, ValueError, "expected repeat to be 1 or more, got 0"),
        ({"warmup": -1}, ValueError, "expected warmup to be 0 or more, got -1"),
        ({"number": 1.5}, TypeError, "expected number as an int, got float"),
    ],
)
def test_wrong_options(options, kind, message) -> None:
    with pytest.raises(kind) as caught:
        time_evaluator(lambda: None, cpu(), **options)
    assert str(caught.value) == message
