"""`s.trace()`: Python that rebuilds a schedule, and JSON that keeps it."""

import functools
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest

from tilewright import ScheduleError, TilewrightError, te
from tilewright.ir import schedule as dialect
from tilewright.te.schedule import handles
from tilewright.te.schedule.steps import Reader
from tilewright.te.schedule.trace import Trace


def program():
    A, B = te.placeholder((64, 64), name="A"), te.placeholder((64, 64), name="B")
    k = te.reduce_axis((0, 64), name="k")
    T = te.compute((64, 64), lambda i, j: A[i, j] * 2.0, name="T")
    U = te.compute((64, 64), lambda i, j: B[i, j] + 1.0, name="U")
    C = te.compute((64, 64), lambda i, j: te.sum(T[i, k] * U[k, j], axis=k), name="C")
    return {"A": A, "B": B, "T": T, "U": U, "C": C}


def scheduled():
    """Nearly every primitive once."""
    p = program()
    A, T, U, C = p["A"], p["T"], p["U"], p["C"]
    s = te.create_schedule(C.op)
    CL = s.cache_write(C, "local")
    AS = s.cache_read(A, "shared", [T])
    io, jo, ii, ji = s[C].tile(*C.op.axis, 16, 8)
    s[C].bind(io, te.thread_axis("blockIdx.y"))
    s[C].bind(jo, te.thread_axis("blockIdx.x"))
    s[C].bind(ii, te.thread_axis((0, 16), "threadIdx.y"))
    s[C].bind(ji, te.thread_axis("threadIdx.x"))
    s[CL].compute_at(s[C], ji)
    ko, ki = s[CL].split(s[CL].op.reduce_axis[0], nparts=4)
    s[CL].reorder(ko, ki, *s[CL].op.axis)
    s[CL].unroll(ki)
    s[T].set_scope("shared")
    s[T].compute_at(s[CL], ko)
    s[AS].compute_at(s[CL], ko)
    outer, inner = s[AS].split(s[AS].fuse(*s[AS].op.axis), factor=4)
    s[AS].vectorize(inner)
    s[AS].storage_align(s[AS].op.axis[0], 32, 1)
    s[C].launch_bounds(2)
    s[U].compute_inline()
    s[T].compute_root()
    return p, s


PYTHON = """\
s = te.create_schedule(C.op)
C_local = s.cache_write(C, "local")
A_shared = s.cache_read(A, "shared", [T])
i, j = s[C].op.axis
i_outer, j_outer, i_inner, j_inner = s[C].tile(i, j, 16, 8)
s[C].bind(i_outer, te.thread_axis("blockIdx.y"))
s[C].bind(j_outer, te.thread_axis("blockIdx.x"))
s[C].bind(i_inner, te.thread_axis((0, 16), "threadIdx.y"))
s[C].bind(j_inner, te.thread_axis("threadIdx.x"))
s[C_local].compute_at(s[C], j_inner)
i_1, j_1 = s[C_local].op.axis
(k,) = s[C_local].op.reduce_axis
k_outer, k_inner = s[C_local].split(k, nparts=4)
s[C_local].reorder(k_outer, k_inner, i_1, j_1)
s[C_local].unroll(k_inner)
s[T].set_scope("shared")
s[T].compute_at(s[C_local], k_outer)
s[A_shared].compute_at(s[C_local], k_outer)
ax0, ax1 = s[A_shared].op.axis
ax0_ax1_fused = s[A_shared].fuse(ax0, ax1)
ax0_ax1_fused_outer, ax0_ax1_fused_inner = s[A_shared].split(ax0_ax1_fused, factor=4)
s[A_shared].vectorize(ax0_ax1_fused_inner)
s[A_shared].storage_align(ax0, 32, 1)
s[C].launch_bounds(2)
s[U].compute_inline()
s[T].compute_root()"""


def test_python_rebuilds_the_schedule():
    p, s = scheduled()
    assert str(s.trace()) == PYTHON
    names = {"te": te, **p}
    exec(PYTHON, names)
    assert names["s"].ir() == s.ir()
    assert str(names["s"].trace()) == PYTHON


def test_every_primitive_that_python_has_has_its_call():
    ops = {
        op.OPERATION_NAME.removeprefix("schedule.") for op in vars(dialect).values() if hasattr(op, "OPERATION_NAME")
    }
    built = {name for name in ops if hasattr(handles, name)}
    assert {name for name in built - {"stage"} if not callable(getattr(Reader, f"_{name}", None))} == set()
    said = {line.split("schedule.")[1].split()[0] for line in scheduled()[1].ir().splitlines() if "schedule." in line}
    assert said - {"of"} == built - {
        "auto_unroll", "decompose_reduction", "double_buffer", "parallel", "reverse_compute_at", "reverse_compute_inline",
        "rolling_update",
        "loop_partition", "singleton",
        "rfactor", "set_store_predicate", "software_pipeline", "tensorize", "transform_layout", "swizzle", "rolling_buffer",
        "prefetch", "env_threads", "pad_einsum", "copy_by", "specialize", "cluster", "persistent",
    }  # fmt: skip


def test_json_rebuilds_the_schedule_of_the_same_program(tmp_path):
    _, s = scheduled()
    s.trace().save(tmp_path / "schedule.json")
    trace = Trace.load(tmp_path / "schedule.json")
    assert trace == s.trace()
    again = te.create_schedule(program()["C"].op)
    trace.apply(again)
    assert again.ir() == s.ir()
    assert str(again.trace()) == PYTHON


def test_a_stage_of_several_tensors():
    A = te.placeholder((8, 8), name="A")
    B = te.compute((8, 8), lambda i, j: (A[i, j] + 1.0, A[i, j] + 2.0), name="B")
    C = te.compute((8, 8), lambda x, y: B[0][x, y] * B[1][x, y], name="C")
    s = te.create_schedule(C.op)
    local = s.cache_write(list(B), "local")
    s[local[0]].compute_at(s[B[0]], B[0].op.axis[0])
    s[B[0]].compute_at(s[C], C.op.axis[0])
    text = str(s.trace())
    assert text.splitlines()[:4] == [
        "s = te.create_schedule(C.op)",
        'B_local = s.cache_write(B, "local")',
        "i, j = s[B[0]].op.axis",
        "s[B_local[0]].compute_at(s[B[0]], i)",
    ]
    names = {"te": te, "A": A, "B": B, "C": C}
    exec(text, names)
    assert names["s"].ir() == s.ir()
    again = te.create_schedule(C.op)
    Trace.from_json(s.trace().to_json()).apply(again)
    assert again.ir() == s.ir()


def test_several_outputs_and_names_that_python_has():
    A = te.placeholder((8,), name="in")
    B = te.compute((8,), lambda s: A[s] + 1.0, name="B.x")
    C = te.compute((8,), lambda s: A[s] + 2.0, name="B.x")
    s = te.create_schedule([B.op, C.op])
    s[C].split(C.op.axis[0], factor=4)
    assert str(s.trace()) == (
        "s = te.create_schedule([B_x.op, B_x_1.op])\n(s_1,) = s[B_x_1].op.axis\ns_outer, s_inner = s[B_x_1].split(s_1, factor=4)"
    )
    again = te.create_schedule([B.op, C.op])
    s.trace().apply(again)
    assert again.ir() == s.ir()


def test_what_cannot_be_applied():
    p, s = scheduled()
    trace = s.trace()
    with pytest.raises(ValueError) as caught:
        trace.apply(s)
    assert str(caught.value) == "expected a schedule without primitives, got one that has some"
    other = te.compute((4,), lambda i: p["A"][i, i], name="other")
    with pytest.raises(ValueError) as caught:
        trace.apply(te.create_schedule(other.op))
    assert str(caught.value) == "expected a program with the tensors T, U, C, got A, other"

    flat = te.compute((64,), lambda i: p["A"][i, i], name="C")
    two = te.create_schedule(te.compute((64, 64), lambda i, j: p["A"][i, j], name="C").op)
    two[two.outputs[0]].split(two.outputs[0].axis[1], factor=4)
    with pytest.raises(ValueError) as caught:
        two.trace().apply(te.create_schedule(flat.op))
    assert str(caught.value) == "expected 2 results of 'i, j = s[C].op.axis', got 1"

    content = json.loads(two.trace().to_json())
    content["steps"][1]["options"]["factor"] = 0
    with pytest.raises(ScheduleError, match="split: expected a factor of at least 1, got 0"):
        Trace.from_json(json.dumps(content)).apply(te.create_schedule(two.outputs[0]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the JSON of a schedule's trace, got something else: JSONDecodeError("),
        ("[]", "expected the JSON of a schedule's trace, got something else: TypeError("),
        ("[" * 100_000, "expected the JSON of a schedule's trace, got something else: RecursionError("),
        ("1" * 5000, "expected the JSON of a schedule's trace, got something else: ValueError("),
        ('{"version": 1}', "expected the JSON of a schedule's trace, got something else: KeyError("),
        ('{"version": 2}', "expected a trace of version 1, got version 2"),
        ('{"version": 1, "steps": [3]}', "expected the JSON of a schedule's trace, got something else: TypeError("),
    ],
)
def test_malformed_json(text, message):
    with pytest.raises(ValueError) as caught:
        Trace.from_json(text)
    assert str(caught.value).startswith(message)


def test_a_call_that_no_schedule_has():
    """A file is data: what it may call are the primitives, nothing else."""
    _, s = scheduled()
    for call, stage in (("emit", None), ("__init__", "C"), ("forget_unused_axes", "C"), ("split", None)):
        content = json.loads(s.trace().to_json())
        content["steps"] = [{"call": call, "stage": stage, "args": [], "options": {}, "makes": []}]
        with pytest.raises(ValueError) as caught:
            Trace.from_json(json.dumps(content))
        receiver = "a schedule" if stage is None else "a stage"
        assert str(caught.value) == f"expected a primitive of {receiver}, got '{call}'"


SPLIT = "Step(call='split', stage='B', args="


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"args": [{"axis": "nope"}]}, SPLIT + "({'axis': 'nope'},), options={'factor': 4}, makes=('o', 'r')): KeyError: 'nope'"),
        ({"args": [{}]}, SPLIT + "({},), options={'factor': 4}, makes=('o', 'r')): KeyError: 'tensor'"),
        ({"args": []}, SPLIT + "(), options={'factor': 4}, makes=('o', 'r')): TypeError: LoopPrimitives.split() missing 1 "
         "required positional argument: 'parent'"),
        ({"options": {"self": 1}}, SPLIT + "({'axis': 'i'},), options={'self': 1}, makes=('o', 'r')): TypeError: "
         "LoopPrimitives.split() got multiple values for argument 'self'"),
        ({"stage": "Q"}, "Step(call='split', stage='Q', args=({'axis': 'i'},), options={'factor': 4}, makes=('o', 'r')): "
         "KeyError: 'Q'"),
        ({"stage": ["B"]}, "Step(call='split', stage=['B'], args=({'axis': 'i'},), options={'factor': 4}, "
         "makes=('o', 'r')): TypeError: unhashable type: 'list'"),
    ],
)  # fmt: skip
def test_a_step_that_says_what_there_is_not(change: dict[str, object], expected: str) -> None:
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    steps = [
        {"call": "axis", "stage": "B", "args": [], "options": {}, "makes": ["i"]},
        {
            "call": "split",
            "stage": "B",
            "args": [{"axis": "i"}],
            "options": {"factor": 4},
            "makes": ["o", "r"],
            **change,
        },
    ]
    text = json.dumps({"version": 1, "tensors": {"B": "B"}, "several": [], "outputs": ["B"], "steps": steps})
    with pytest.raises(ValueError) as caught:
        Trace.from_json(text).apply(s)
    assert str(caught.value) == f"expected a step of this schedule's, got {expected}"


def test_names_of_a_trace_are_text() -> None:
    for tensors, outputs, makes in (({"B": 5}, [], []), ({}, [5], []), ({}, [], [["a"]])):
        steps = [{"call": "axis", "stage": "B", "args": [], "options": {}, "makes": makes}]
        text = json.dumps({"version": 1, "tensors": tensors, "several": [], "outputs": outputs, "steps": steps})
        with pytest.raises(ValueError, match=r"^expected names in the JSON of a schedule's trace, got (5|\['a'\])$"):
            Trace.from_json(text)


def test_a_reader_with_several_tensors_reads_a_copy() -> None:
    A = te.placeholder((8,), name="A")
    first, second = te.compute((8,), lambda i: (A[i] + 1, A[i] * 2), name="T")
    s = te.create_schedule(first.op)
    s.cache_read(A, "shared", [first])
    trace = s.trace()
    assert str(trace) == 's = te.create_schedule(T[0].op)\nA_shared = s.cache_read(A, "shared", [T[0]])'
    rebuilt = te.create_schedule(first.op)
    Trace.from_json(trace.to_json()).apply(rebuilt)
    assert rebuilt.ir() == s.ir()


def test_results_that_a_step_does_not_have() -> None:
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    for makes, told in ((["x"], "expected 1 results of 'x = s[B].unroll(i)', got 0"), ([], "")):
        steps = [
            {"call": "axis", "stage": "B", "args": [], "options": {}, "makes": ["i"]},
            {"call": "unroll", "stage": "B", "args": [{"axis": "i"}], "options": {}, "makes": makes},
        ]
        text = json.dumps({"version": 1, "tensors": {"B": "B"}, "several": [], "outputs": ["B"], "steps": steps})
        trace, s = Trace.from_json(text), te.create_schedule(B.op)
        if told:
            with pytest.raises(ValueError) as caught:
                trace.apply(s)
            assert str(caught.value) == told
        else:
            trace.apply(s)
    text = '{"version": 1, "steps": [{"call": "axis", "stage": "B", "args": [], "options": [1], "makes": []}]}'
    with pytest.raises(ValueError, match="^expected the JSON of a schedule's trace, got something else: "):
        Trace.from_json(text)


def test_names_of_a_trace_are_printable() -> None:
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] + 1, name="B")
    text = json.dumps(
        {"version": 1, "tensors": {"B": "\n\x1b[31m\u202eB"}, "several": [], "outputs": ["B"], "steps": []}
    )
    with pytest.raises(ValueError) as caught:
        Trace.from_json(text).apply(te.create_schedule(B.op))
    assert str(caught.value) == r"expected a program with the tensors \n\x1b[31m\u202eB, got A, B"


def places(node: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all that stands in JSON."""
    if way:
        yield way
    for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
        yield from places(node[key], (*way, key))


@pytest.mark.sweep
def test_mutated_traces() -> None:
    """A trace or an error of ours, whatever stands where."""
    odd = [None, 0, -1, 2**70, 1.5, "", "\n\"'\u202e*/", "A", [], {}, True, [[[]]], "__class__", "split", {"step": 1}]
    choose = random.Random(18)
    for _ in range(120):
        _, s = scheduled()
        content = json.loads(s.trace().to_json())
        for _ in range(choose.choice((1, 1, 2))):
            *way, last = choose.choice(list(places(content)))
            node = functools.reduce(lambda of, key: of[key], way, content)
            if choose.random() < 0.3:
                del node[last]
            else:
                node[last] = choose.choice(odd)
        try:
            Trace.from_json(json.dumps(content)).apply(te.create_schedule(program()["C"].op))
        except TilewrightError as error:
            assert "\u202e" not in str(error)
