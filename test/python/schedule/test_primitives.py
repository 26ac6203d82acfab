"""The primitives of TVM v0.19's stages that are hints, checks or shorthands, and those that are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tilewright as tw
from tilewright import CompileError, ScheduleError, te, testing
from tilewright.schedule.refused import REFUSED


def doubled(shape=(64,)):
    A = te.placeholder(shape, name="A")
    B = te.compute(shape, lambda *axes: A(*axes) * 2.0, name="B")
    return te.create_schedule(B.op), A, B


def replayed(s, B):
    again = te.create_schedule(B.op)
    s.trace().apply(again)
    assert again.ir() == s.ir()
    return str(s.trace()).splitlines()[-1]


def refused(call) -> str:
    with pytest.raises((CompileError, ScheduleError)) as caught:
        call()
    return str(caught.value).split("error: ", 1)[1].split("\n")[0]


def chain():
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] * 2.0, name="B")
    C = te.compute((64,), lambda i: B[i] + 1.0, name="C")
    D = te.compute((64,), lambda i: C[i] * B[i], name="D")
    return te.create_schedule(D.op), A, B, C, D


@pytest.mark.parametrize("target", ["sim", "cpu"])
def test_a_group_is_computed_at_a_loop_together(target: str) -> None:
    s, A, B, C, D = chain()
    group = s.create_group(outputs=C, inputs=A)
    assert repr(group) == "group(B, C)"
    outer, inner = s[D].split(D.op.axis[0], factor=16)
    s[D].bind(outer, te.thread_axis("blockIdx.x"))
    group.compute_at(s[D], outer)
    assert [line.split("# ")[-1] for line in str(s).splitlines() if "for" in line][1:3] == ["B", "C"]
    replayed(s, D)
    a = np.arange(64, dtype=np.float32)
    (d,) = testing.run(tw.build(s, [A, D], target=target, name="group"), [a], [((64,), "float32")])
    np.testing.assert_array_equal(d, (2 * a + 1) * 2 * a)


def test_what_is_in_a_group() -> None:
    s, A, B, C, D = chain()
    assert repr(s.create_group(outputs=D, inputs=B)) == "group(C, D)"
    assert repr(s.create_group(outputs=[D], inputs=[B], include_inputs=True)) == "group(B, C, D)"
    copy = s.cache_read(B, "shared", [C, D])
    assert repr(s.create_group(outputs=C, inputs=A)) == "group(B, B.shared, C)"
    # What is computed in another of the group stays there.
    group = s.create_group(outputs=C, inputs=B)
    assert repr(group) == "group(B.shared, C)"
    s[copy].compute_at(s[C], C.op.axis[0])
    group.compute_at(s[D], D.op.axis[0])
    assert s.ir().count("schedule.compute_at %B_shared") == 1
    group.compute_root()
    assert s.ir().count("schedule.compute_root") == 1
    assert refused(lambda: s.create_group(outputs=B, inputs=C)) == (
        "create_group: expected inputs that the outputs need, got 'C'"
    )
    with pytest.raises(TypeError) as caught:
        s.create_group(outputs="C", inputs=A)
    assert str(caught.value).endswith("create_group: expected a tensor, got 'C'")


def test_normalize_is_the_schedule() -> None:
    s, _, _ = doubled()
    assert s.normalize() is s


CALLS = {
    "env_threads": lambda s, A, B: s[B].env_threads([te.thread_axis("threadIdx.x")]),
    "prefetch": lambda s, A, B: s[B].prefetch(A, B.op.axis[0], 1),
    "rolling_buffer": lambda s, A, B: s[B].rolling_buffer(),
    "transform_layout": lambda s, A, B: s[B].transform_layout(lambda i: [i // 4, i % 4]),
    "tensorize": lambda s, A, B: s[B].tensorize(B.op.axis[0], None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_what_to_use(name: str) -> None:
    s, A, B = doubled()
    with pytest.raises(ScheduleError) as caught:
        CALLS[name](s, A, B)
    reason, instead = REFUSED[name]
    assert str(caught.value) == f"{CALLS[name].__code__.co_filename}:{CALLS[name].__code__.co_firstlineno}: " + (
        f"error: {name}: {reason}: use {instead}"
    )


def test_the_docs_list_what_is_refused() -> None:
    page = (Path(__file__).parents[3] / "docs" / "schedule-primitives.md").read_text()
    for name, (reason, instead) in REFUSED.items():
        assert f"| `{name}` | {reason} | {instead} |" in page
