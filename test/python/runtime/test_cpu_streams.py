"""Streams where calls are done when they return: scripts that use them run on the simulator as they stand."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import te


@pytest.fixture(scope="module", params=["sim", "cpu"])
def double(request: pytest.FixtureRequest) -> tw.Function:
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] * 2.0, name="B")
    s = te.create_schedule(B.op)
    if request.param == "sim":
        s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    return tw.build(s, [A, B], request.param, "double")


def test_a_call_on_a_stream(double: tw.Function) -> None:
    a, b = np.ones(64, np.float32), np.zeros(64, np.float32)
    stream = tw.Stream(tw.cpu())
    start = stream.record()
    double(a, b, stream=stream)
    end = stream.record()
    stream.synchronize()
    np.testing.assert_array_equal(b, 2 * a)
    assert end.done and end.seconds_since(start) > 0


def test_streams_wait_for_each_other(double: tw.Function) -> None:
    a, b, c = np.ones(64, np.float32), np.zeros(64, np.float32), np.zeros(64, np.float32)
    first, second = tw.Stream(tw.cpu()), tw.Stream(tw.cpu())
    double(a, b, stream=first)
    second.wait(first)
    second.wait(first.record())
    double(b, c, stream=second)
    tw.synchronize(tw.cpu())
    np.testing.assert_array_equal(c, 4 * a)


def test_the_current_stream() -> None:
    stream = tw.Stream(tw.cpu())
    with stream:
        assert tw.current_stream(tw.cpu()) is stream
    assert tw.current_stream(tw.cpu()).device == tw.cpu()


def test_a_handle_is_a_gpus(double: tw.Function) -> None:
    a = np.ones(64, np.float32)
    with pytest.raises(TypeError, match=r"expected no stream for arrays on the cpu, got one$"):
        double(a, a.copy(), stream=7)
