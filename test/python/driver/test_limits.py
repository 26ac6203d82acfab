"""What a schedule may not ask of a GPU: each error in full, with the user's lines."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import tilewright as tw
from tilewright import te
from tilewright.te import Schedule, Tensor, Var

Program = tuple[Schedule, list[Tensor]]


def copy(extents: tuple[int | Var, ...], *threads: str) -> Program:
    """C = A, each axis bound to an index, or to none."""
    A = te.placeholder(extents, name="A")
    C = te.compute(extents, lambda *at: A[at] + 1, name="C")  # COMPUTE
    s = te.create_schedule(C.op)
    for axis, thread in zip(C.op.axis, threads):
        s[C].bind(axis, te.thread_axis(thread))  # BIND
    return s, [A, C]


def shared(elements: int, threads: int = 32, other: int = 32) -> Program:
    """C = A by way of shared memory, whose loop has a number of threads of its own."""
    A = te.placeholder((elements * 2,), name="A")
    B = te.compute((elements * 2,), lambda i: A[i] + 1, name="B")  # STAGE
    C = te.compute((elements * 2,), lambda i: B[i] + 1, name="C")
    s = te.create_schedule(C.op)
    o, i = s[C].split(C.op.axis[0], elements)
    i, t = s[C].split(i, threads)
    s[C].bind(o, te.thread_axis("blockIdx.x"))  # AT
    s[C].bind(t, te.thread_axis("threadIdx.x"))  # THREADS
    s[B].compute_at(s[C], o)
    s[B].set_scope("shared")
    _, t = s[B].split(B.op.axis[0], other)
    s[B].bind(t, te.thread_axis("threadIdx.x"))  # OTHER
    return s, [A, C]


def local(elements: int) -> Program:
    """C = A by way of a row of each thread, read from its end."""
    A = te.placeholder((8, elements), name="A")
    B = te.compute((8, elements), lambda i, j: A[i, j] + 1, name="B")
    C = te.compute((8, elements), lambda i, j: B[i, elements - 1 - j], name="C")
    s = te.create_schedule(C.op)
    s[C].bind(C.op.axis[0], te.thread_axis("threadIdx.x"))  # ROWS
    s[B].set_scope("local")
    s[B].compute_at(s[C], C.op.axis[0])
    return s, [A, C]


def lines() -> dict[str, str]:
    found = {}
    for number, line in enumerate(open(__file__).read().splitlines(), 1):
        word = line.split("  # ")[-1]
        if word.isupper():
            found[word] = f"{__file__}:{number}"
    return found


@pytest.mark.parametrize(
    ("program", "arch", "expected"),
    [
        (lambda: copy((2048,), "threadIdx.x"), "sm_90a",
         "BIND: error: expected at most 1024 threads a block, got 2048 along threadIdx.x of axis 'C.i0'"),
        (lambda: copy((32, 33), "threadIdx.y", "threadIdx.x"), "sm_90a",
         "BIND: error: expected at most 1024 threads a block, got 33 along threadIdx.x of axis 'C.i1' and 32 along "
         "threadIdx.y of axis 'C.i0'"),
        (lambda: copy((65,), "threadIdx.z"), "sm_90a",
         "BIND: error: expected at most 64 threads along threadIdx.z, got 65 of axis 'C.i0'"),
        (lambda: copy((65536,), "blockIdx.z"), "sm_90a",
         "BIND: error: expected at most 65535 blocks along blockIdx.z, got 65536 of axis 'C.i0'"),
        (lambda: copy((4,)), "sm_90a",
         "COMPUTE: error: stage 'C' is not bound to any block or thread: bind an axis, such as "
         's[C].bind(i0, te.thread_axis("blockIdx.x"))'),
        (lambda: copy((1,)), "sm_90a",
         "COMPUTE: error: stage 'C' is not bound to any block or thread: bind an axis of it, for which extent 1 is enough "
         "and which fuse() without axes makes, or compute it at a bound axis of its consumer"),
        (lambda: shared(64, 32, 16), "sm_90a",
         "THREADS: error: expected extent 16 of threadIdx.x, as for axis 'B.i.inner', got 32 of axis 'C.i.inner.inner'\n"
         "OTHER: note: axis 'B.i.inner' is bound here"),
        (lambda: shared(16416), "sm_75",
         "AT: error: expected at most 65536 bytes of shared memory a block, got 65664: B (65664 bytes)\n"
         "STAGE: note: 'B' is allocated here"),
        (lambda: shared(65536), "sm_90a",
         "AT: error: expected at most 232448 bytes of shared memory a block, got 262144: B (262144 bytes)\n"
         "STAGE: note: 'B' is allocated here"),
        (lambda: local(131073), "sm_90a",
         "ROWS: error: expected at most 524288 bytes of local memory a thread, got 524292: B (524292 bytes)"),
    ],
)  # fmt: skip
def test_over_the_limits(program: Callable[[], Program], arch: str, expected: str) -> None:
    s, args = program()
    with pytest.raises(tw.ScheduleError) as raised:
        tw.lower(s, args, "program", target=tw.Target("cuda", arch=arch), stage="gpu")
    for word, place in lines().items():
        expected = expected.replace(f"{word}:", f"{place}:")
    assert str(raised.value) == f"{expected}\n(lowering program from loops to gpu)"


def test_as_much_as_there_is() -> None:
    for s, args in (copy((32, 32), "threadIdx.y", "threadIdx.x"), shared(16384), local(131072)):
        assert "gpu.launch_func" in str(
            tw.lower(s, args, "program", target=tw.Target("cuda", arch="sm_75"), stage="gpu")
        )
