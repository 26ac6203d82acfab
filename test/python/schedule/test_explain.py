"""`s.explain(axis)`: where an axis went."""

import pytest

from tilewright import te

FILE = __file__.rsplit("/", 1)[-1]


def outline(s, axis):
    """The explanation, with each line of this file as the name that stands on it."""
    lines = open(__file__).read().splitlines()
    marks = {f"{FILE}:{n}": line.split("  # ")[-1] for n, line in enumerate(lines, 1) if "  # " in line}
    text = s.explain(axis)
    for place in sorted(marks, key=len, reverse=True):
        text = text.replace(place, marks[place])
    return text.splitlines()


class Program:
    def __init__(self):
        self.A, self.B = te.placeholder((60, 64), name="A"), te.placeholder((64, 60), name="B")
        self.k = te.reduce_axis((0, 64), name="k")  # K
        self.T = te.compute((60, 64), lambda i, k: self.A[i, k] * 2.0, name="T")  # T
        self.C = te.compute((60, 60), self.element, name="C")  # C
        self.s = te.create_schedule(self.C.op)
        self.i, self.j = self.C.op.axis

    def element(self, i, j):
        return te.sum(self.T[i, self.k] * self.B[self.k, j], axis=self.k)


def test_split_tile_reorder_bind_and_attached_stages():
    p = Program()
    s, C = p.s, p.s[p.C]
    io, jo, ii, ji = C.tile(p.i, p.j, 16, 8)  # TILE
    jt, jv = C.split(ji, nparts=8)  # SPLIT
    C.reorder(jo, io)  # REORDER
    C.bind(io, te.thread_axis("blockIdx.y"))  # BIND
    C.unroll(ii)  # UNROLL
    s[p.T].set_scope("local")
    s[p.T].compute_at(C, jt)  # AT
    assert outline(s, p.i) == [
        "axis i of stage C, C",
        "  tile into i.outer and i.inner by factor=16, TILE",
        "  i.outer: a loop of 4",
        "    reordered, REORDER",
        "    bound to blockIdx.y, BIND",
        "  i.inner: a loop of 16",
        "    unrolled, UNROLL",
    ]
    assert outline(s, p.j) == [
        "axis j of stage C, C",
        "  tile into j.outer and j.inner by factor=8, TILE",
        "  j.outer: a loop of 8",
        "    reordered, REORDER",
        "  j.inner: split into j.inner.outer and j.inner.inner by nparts=8, SPLIT",
        "    j.inner.outer: a loop of 8",
        "      stage T is computed in it, AT",
        "    j.inner.inner: no loop: one iteration is all that is needed",
    ]
    assert outline(s, jt) == [
        "axis j.inner.outer of stage C, SPLIT",
        "  a loop of 8",
        "  stage T is computed in it, AT",
    ]
    assert outline(s, p.k) == ["axis k of stage C, K", "  a loop of 64"]
    assert outline(s, p.T.op.axis[0]) == ["axis i of stage T, T", "  no loop: one iteration is all that is needed"]


def test_fuse_and_vectorize():
    p = Program()
    fused = p.s[p.C].fuse(p.i, p.j)  # FUSE
    outer, inner = p.s[p.C].split(fused, factor=4)  # SPLIT4
    p.s[p.C].vectorize(inner)  # VECTORIZE
    assert outline(p.s, p.j) == [
        "axis j of stage C, C",
        "  fused with i into i.j.fused, FUSE",
        "  i.j.fused: split into i.j.fused.outer and i.j.fused.inner by factor=4, SPLIT4",
        "    i.j.fused.outer: a loop of 900",
        "    i.j.fused.inner: a loop of 4",
        "      vectorized, VECTORIZE",
    ]


def test_inlined_stages_have_no_loops():
    p = Program()
    p.s[p.T].compute_inline()  # INLINE
    expected = ["axis i of stage T, T", "  no loop: stage T is computed where it is read, INLINE"]
    assert outline(p.s, p.T.op.axis[0]) == expected


def test_a_schedule_that_cannot_be_applied():
    p = Program()
    p.s[p.C].bind(p.i, te.thread_axis((0, 7), "threadIdx.x"))  # SEVEN
    assert outline(p.s, p.i) == [
        "axis i of stage C, C",
        "  a loop, of a schedule that cannot be applied as it is",
        "  bound to threadIdx.x, SEVEN",
    ]


def test_wrong_arguments():
    p = Program()
    line = test_wrong_arguments.__code__.co_firstlineno
    with pytest.raises(TypeError) as caught:
        p.s.explain("i")
    assert str(caught.value) == f"{__file__}:{line + 4}: explain: expected an axis, got 'i'"
    with pytest.raises(ValueError) as caught:
        p.s.explain(te.thread_axis("threadIdx.x"))
    assert str(caught.value) == (
        f"{__file__}:{line + 7}: explain: expected an axis of this schedule's stages ('T', 'C'), got 'threadIdx.x'"
    )
