"""Every error of a schedule, in full, with the user's file and line; the schedule stays usable after each."""

import pytest

from tilewright import CompileError, ScheduleError, TilewrightError, te


class Program:
    """D = (A x B) + E, in two stages and an elementwise one between, and a stage of another program."""

    def __init__(self):
        self.A = te.placeholder((64, 64), name="A")
        self.B = te.placeholder((64, 64), name="B")
        self.k = te.reduce_axis((0, 64), "k")
        self.T = te.compute((64, 64), lambda i, j: self.A[i, j] * 2, name="T")
        self.C = te.compute((64, 64), lambda i, j: te.sum(self.T[i, self.k] * self.B[self.k, j], axis=self.k), name="C")
        self.D = te.compute((64, 64), lambda x, y: self.C[x, y] + 1, name="D")
        self.F = te.compute((64, 64), lambda u, v: self.A[u, v], name="F")
        self.s = te.create_schedule([self.D, self.F])
        self.other = te.compute((4,), lambda i: i, name="other")
        self.x, self.y = self.D.op.axis
        self.i, self.j = self.C.op.axis
        self.tx = te.thread_axis("threadIdx.x")
        self.DS, self.CS, self.TS = self.s[self.D], self.s[self.C], self.s[self.T]


def setup(p):
    """What stands before the wrong primitive, each on the line that a note names."""
    p.xo, p.xi = p.DS.split(p.x, 8)  # SPLIT
    p.DS.bind(p.xo, p.tx)  # BIND
    p.f = p.CS.fuse(p.i, p.j)  # FUSE
    p.DS.vectorize(p.y)  # VECTORIZE


def primitives(schedule):
    """The primitives of a schedule by name, without the handles that are made on the way."""
    names = [line.split("schedule.", 1)[1].split()[0] for line in schedule.ir().splitlines() if "schedule." in line]
    return [name for name in names if name not in ("of", "stage", "axes", "reduce_axes")]


def places(function):
    """The names of the lines in the expected texts."""
    lines = open(__file__).read().splitlines()
    found = {
        word: f"{__file__}:{n}"
        for n, line in enumerate(lines, 1)
        for word in [line.split("  # ")[-1]]
        if word.isupper()
    }
    return found | {"HERE": f"{__file__}:{function.__code__.co_firstlineno}"}


@pytest.mark.parametrize(
    "error, expected, function",
    [
        # C++ verifiers
        (ScheduleError, "HERE: error: split: axis 'x' of stage 'D': expected a loop, got an axis that was already split\nSPLIT: note: split here", lambda p: p.DS.split(p.x, 4)),
        (ScheduleError, "HERE: error: split: axis 'i' of stage 'C': expected a loop, got an axis that was already fused\nFUSE: note: fused here", lambda p: p.CS.split(p.i, 4)),
        (ScheduleError, "HERE: error: split: axis 'x.outer' of stage 'D': expected a plain loop, got one that is bound to threadIdx.x\nBIND: note: bound here", lambda p: p.DS.split(p.xo, 4)),
        (ScheduleError, "HERE: error: split: axis 'y' of stage 'D': expected a plain loop, got one that is vectorized\nVECTORIZE: note: vectorized here", lambda p: p.DS.split(p.y, 4)),
        (ScheduleError, "HERE: error: split: expected a factor of at least 1, got 0", lambda p: p.DS.split(p.xi, 0)),
        (ScheduleError, "HERE: error: split: expected a factor of at least 1, got -4", lambda p: p.DS.split(p.xi, factor=-4)),
        (ScheduleError, "HERE: error: split: expected a number of parts of at least 1, got 0", lambda p: p.DS.split(p.xi, nparts=0)),
        (ScheduleError, "HERE: error: split: expected either a factor or a number of parts", lambda p: p.DS.split(p.xi)),
        (ScheduleError, "HERE: error: split: expected either a factor or a number of parts", lambda p: p.DS.split(p.xi, 4, 4)),
        (ScheduleError, "HERE: error: tile: expected an x factor of at least 1, got 0", lambda p: p.TS.tile(*p.T.op.axis, 0, 4)),
        (ScheduleError, "HERE: error: tile: expected two axes, got 'i' twice", lambda p: p.TS.tile(p.T.op.axis[0], p.T.op.axis[0], 4, 4)),
        (ScheduleError, "HERE: error: fuse: expected spatial axes or reduction axes, got 'i.j.fused' and 'k'", lambda p: p.CS.fuse(p.f, p.k)),
        (ScheduleError, "HERE: error: reorder: expected different axes, got 'k' twice", lambda p: p.CS.reorder(p.k, p.f, p.k)),
        (ScheduleError, "HERE: error: bind: axis 'x.outer' of stage 'D': expected a plain loop, got one that is bound to threadIdx.x\nBIND: note: bound here", lambda p: p.DS.bind(p.xo, te.thread_axis("threadIdx.y"))),
        (ScheduleError, "HERE: error: bind: stage 'D': expected one axis on threadIdx.x, got 'x.inner' beside 'x.outer'\nBIND: note: bound here", lambda p: p.DS.bind(p.xi, p.tx)),
        (ScheduleError, "HERE: error: vectorize: expected a spatial axis, got the reduction axis 'k': its iterations depend on each other", lambda p: p.CS.vectorize(p.k)),
        (ScheduleError, "HERE: error: bind: axis 'y' of stage 'D': expected a plain loop, got one that is vectorized\nVECTORIZE: note: vectorized here", lambda p: p.DS.bind(p.y, te.thread_axis("threadIdx.y"))),
        (ScheduleError, "HERE: error: cache_write: expected to stand before the loops of stage 'D' are used for more than to split, fuse and reorder its spatial axes\nBIND: note: used here", lambda p: p.s.cache_write(p.D, "local")),
        (ScheduleError, "HERE: error: cache_read: expected at least one reader", lambda p: p.s.cache_read(p.A, "shared", [])),
        (ScheduleError, "HERE: error: compute_at: expected a consumer of stage 'D', got the stage itself", lambda p: p.DS.compute_at(p.DS, p.xo)),
        (ScheduleError, "HERE: error: compute_at: axis 'x' of stage 'D': expected a loop, got an axis that was already split\nSPLIT: note: split here", lambda p: p.CS.compute_at(p.DS, p.x)),
        # what needs the dataflow
        (ScheduleError, "HERE: error: split: expected an axis of stage 'D' (x, y), got 'k' of stage 'C'", lambda p: p.DS.split(p.k, 4)),
        (ScheduleError, "HERE: error: split: expected an axis of stage 'D' (x, y), got 'i' of no stage of this schedule", lambda p: p.DS.split(p.other.op.axis[0], 4)),
        (ScheduleError, "HERE: error: split: expected an axis of stage 'D' (x, y), got 'threadIdx.x' of no stage of this schedule", lambda p: p.DS.split(p.tx, 4)),
        (ScheduleError, "HERE: error: reorder: expected an axis of stage 'D' (x, y), got 'k' of stage 'C'", lambda p: p.DS.reorder(p.xi, p.k)),
        (ScheduleError, "HERE: error: compute_at: expected an axis of stage 'D' (x, y), got 'k' of stage 'C'", lambda p: p.CS.compute_at(p.DS, p.k)),
        (ScheduleError, "HERE: error: compute_at: expected a consumer of stage 'C' ('D'), got stage 'F'", lambda p: p.CS.compute_at(p.s[p.F], p.F.op.axis[0])),
        (ScheduleError, "HERE: error: compute_at: expected a consumer of stage 'D' (none: it is an output), got stage 'C'", lambda p: p.DS.compute_at(p.CS, p.k)),
        (ScheduleError, "HERE: error: compute_inline: expected a stage that is read, got the output 'D'", lambda p: p.DS.compute_inline()),
        (ScheduleError, "HERE: error: compute_inline: expected an elementwise stage, got 'C', which reduces over k", lambda p: p.CS.compute_inline()),
        (ScheduleError, "HERE: error: set_scope: expected global for the output 'D', got shared", lambda p: p.DS.set_scope("shared")),
        (ScheduleError, "HERE: error: cache_read: expected a reader of 'A', got stage 'C', which reads 'T', 'B'", lambda p: p.s.cache_read(p.A, "shared", [p.C])),
        (ScheduleError, "HERE: error: cache_read: expected a tensor of this schedule, got 'Z'", lambda p: p.s.cache_read(te.placeholder((2,), name="Z"), "shared", [p.C])),
        (ScheduleError, "HERE: error: cache_read: expected a tensor of this schedule ('T', 'C', 'D', 'F'), got 'other'", lambda p: p.s.cache_read(p.other, "shared", [p.C])),
        (ScheduleError, "HERE: error: cache_write: expected tensors of one stage, got 2 stages", lambda p: p.s.cache_write([p.C, p.T], "local")),
        (ScheduleError, "HERE: error: schedule: expected a tensor of this schedule ('T', 'C', 'D', 'F'), got 'other'", lambda p: p.s[p.other]),
        (ScheduleError, "HERE: error: cache_write: expected a stage, got the input 'A', which is not computed", lambda p: p.s.cache_write(p.A, "local")),
        # arguments of the wrong type or value
        (TypeError, "HERE: split: expected an integer as factor, got 2.5", lambda p: p.DS.split(p.xi, 2.5)),
        (TypeError, "HERE: tile: expected an integer as y_factor, got None", lambda p: p.TS.tile(*p.T.op.axis, 4, None)),
        (TypeError, "HERE: split: expected an axis of stage 'D', got 0", lambda p: p.DS.split(0, 4)),
        (TypeError, "HERE: bind: expected te.thread_axis(...), got 'threadIdx.x'", lambda p: p.DS.bind(p.xi, "threadIdx.x")),
        (TypeError, "HERE: compute_at: expected a stage of this schedule, got Tensor(name=D, shape=(64, 64), dtype=float32)", lambda p: p.CS.compute_at(p.D, p.x)),
        (TypeError, "HERE: cache_read: expected a tensor, got 'A'", lambda p: p.s.cache_read("A", "shared", [p.C])),
        (TypeError, "HERE: schedule: expected a tensor or its .op, got 'C'", lambda p: p.s["C"]),
        (TypeError, "HERE: create_schedule: expected what te.compute makes, or its .op, got Tensor(name=A, shape=(64, 64), dtype=float32)", lambda p: te.create_schedule(p.A)),
        (ValueError, "HERE: create_schedule: expected at least one output, got none", lambda p: te.create_schedule([])),
        (ValueError, "HERE: cache_read: expected one of global, shared, local, warp, wmma.matrix_a, wmma.matrix_b, wmma.accumulator as scope, got 'texture'", lambda p: p.s.cache_read(p.B, "texture", [p.C])),
        (ValueError, "HERE: set_scope: expected one of global, shared, local, warp, wmma.matrix_a, wmma.matrix_b, wmma.accumulator as scope, got 'L2'", lambda p: p.CS.set_scope("L2")),
    ],
)  # fmt: skip
def test_error(error, expected, function):
    p = Program()
    setup(p)
    before = primitives(p.s)
    with pytest.raises(error) as caught:
        function(p)
    for word, place in places(function).items():
        expected = expected.replace(f"{word}:", f"{place}:")
    assert str(caught.value) == expected
    assert primitives(p.s) == before
    p.DS.unroll(p.xi)
    assert primitives(p.s) == [*before, "unroll"]


def test_class_and_diagnostics():
    p = Program()
    setup(p)
    with pytest.raises(ScheduleError) as caught:
        p.DS.split(p.x, 4)
    assert isinstance(caught.value, CompileError) and isinstance(caught.value, TilewrightError)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.severity == "error"
    assert [note.message for note in diagnostic.notes] == ["split here"]


def test_several_outputs():
    A = te.placeholder((8,), name="A")
    B, C = te.compute((8,), lambda i: (A[i] + 1, A[i] + 2), name="B")
    D = te.compute((8,), lambda i: B[i] + C[i], name="D")
    s = te.create_schedule(D)
    with pytest.raises(ScheduleError, match="cache_write: expected all 2 tensors of stage 'B', got 1$"):
        s.cache_write(B, "local")
    with pytest.raises(ScheduleError, match="cache_read: expected a stage with one tensor, got 'B' with 2$"):
        s.cache_read(B, "shared", [D])
