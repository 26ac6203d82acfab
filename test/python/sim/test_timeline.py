"""What the simulator keeps of a call: what each warp did, and whom it waited for."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import schedules, te
from tilewright.dtypes import as_dtype
from tilewright.runtime.timeline import Timeline


def wgmma() -> tuple[tw.Function, list[np.ndarray]]:
    schedule, args = schedules.matmul_wgmma(128, 256, 512)
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(as_dtype("bfloat16")) for shape in ((128, 512), (512, 256)))
    return tw.build(schedule, args, "sim", "mm"), [a, b, np.zeros((128, 256), np.float32)]


@pytest.fixture(scope="module")
def kept() -> tuple[Timeline, np.ndarray, np.ndarray]:
    function, arrays = wgmma()
    timeline = function.timeline(*arrays)
    a, b, c = arrays
    return timeline, c, a.astype(np.float32) @ b.astype(np.float32)


def test_call_is_made(kept: tuple[Timeline, np.ndarray, np.ndarray]) -> None:
    timeline, c, exact = kept
    np.testing.assert_array_equal(c, exact)
    assert timeline.kernels == ("mm_kernel0",) and timeline.dropped == 0


def test_each_warp_runs_from_its_first_step_to_its_last(kept: tuple[Timeline, np.ndarray, np.ndarray]) -> None:
    events = kept[0].events
    runs = {event.warp: event for event in events if event.kind == "runs"}
    assert sorted(runs) == list(range(12))
    assert all(run.begin == 0 for run in runs.values())
    assert max(run.end for run in runs.values()) == kept[0].steps
    assert all(event.begin <= event.end <= runs[event.warp].end for event in events)


def test_a_consumer_waits_for_the_load_of_its_slot(kept: tuple[Timeline, np.ndarray, np.ndarray]) -> None:
    events = kept[0].events
    loads = [event for event in events if event.kind == "loads"]
    assert {event.warp for event in loads} == {0}
    assert {event.slot for event in loads} == {0, 1, 2, 3} and {event.side for event in loads} == {"full"}
    waits = [event for event in events if event.kind == "waits" and event.side == "full"]
    assert {event.warp for event in waits} == set(range(4, 12))
    for wait in waits:
        own = [load.end for load in loads if (load.slot, load.phase) == (wait.slot, wait.phase)]
        assert own and wait.end > max(own)


def test_a_producer_waits_for_the_release_of_its_slot(kept: tuple[Timeline, np.ndarray, np.ndarray]) -> None:
    events = kept[0].events
    releases = [event for event in events if event.kind == "arrives" and event.side == "empty"]
    waits = [event for event in events if event.kind == "waits" and event.side == "empty" and event.warp == 0]
    # The first pass over the four slots waits for nobody; of the second each waits for both warpgroups.
    later = [wait for wait in waits if any((r.slot, r.phase) == (wait.slot, wait.phase) for r in releases)]
    assert len(later) == 4
    for wait in later:
        own = [release for release in releases if (release.slot, release.phase) == (wait.slot, wait.phase)]
        assert {release.warp for release in own} == {4, 8}
        assert wait.end > max(release.end for release in own)


def test_warps_of_a_warpgroup_multiply_together(kept: tuple[Timeline, np.ndarray, np.ndarray]) -> None:
    products = [event for event in kept[0].events if event.kind == "multiplies"]
    for first in (4, 8):
        ends = [[event.end for event in products if event.warp == warp] for warp in range(first, first + 4)]
        assert ends[0] and ends.count(ends[0]) == 4


def test_events_name_the_users_line(kept: tuple[Timeline, np.ndarray, np.ndarray]) -> None:
    assert all("test_timeline.py:" in event.line for event in kept[0].events if event.kind == "loads")
    assert next(iter(kept[0].waited().values())) > 0


def test_what_has_no_room_is_counted() -> None:
    function, arrays = wgmma()
    whole = function.timeline(*arrays)
    part = function.timeline(*arrays, most=100)
    assert len(part.events) == 100 and part.dropped == len(whole.events) - 100
    assert part.events == whole.events[:100]


def test_block_barriers_of_ordinary_kernels() -> None:
    A = te.placeholder((64,), name="A")
    k = te.reduce_axis((0, 64), name="k")
    B = te.compute((4,), lambda i: te.sum(A[k] * 2.0, axis=k), name="B")
    s = te.create_schedule(B.op)
    shared = s.cache_read(A, "shared", [B])
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    s[shared].compute_at(s[B], B.op.axis[0])
    timeline = tw.build(s, [A, B], "sim", "f").timeline(np.ones(64, np.float32), np.zeros(4, np.float32))
    kinds = {event.kind for event in timeline.events}
    assert kinds <= {"waits", "runs"} and "runs" in kinds


def test_other_targets_have_none() -> None:
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] * 2.0, name="B")
    function = tw.build(te.create_schedule(B.op), [A, B], "cpu", "f")
    with pytest.raises(tw.TilewrightError, match=r"^f is compiled for cpu, and only target sim has a timeline$"):
        function.timeline(np.ones(64, np.float32), np.zeros(64, np.float32))


def test_most_is_a_number_of_events() -> None:
    function, arrays = wgmma()
    with pytest.raises(ValueError, match=r"^expected most to be a number of events of at least 1, got 0$"):
        function.timeline(*arrays, most=0)


@pytest.mark.sweep
def test_page_shows_it(kept: tuple[Timeline, np.ndarray, np.ndarray]) -> None:
    function, _ = wgmma()
    (program,) = function.view_data(timeline=kept[0])["programs"]
    data = program["timeline"]
    assert len(data["events"]) == len(kept[0].events)
    row = dict(zip(data["columns"], next(row for row in data["events"] if row[4] == "loads")))
    ring, slot, side = data["rings"][str(row["barrier"])]
    assert (slot, side) == (0, "full") and isinstance(ring, str)
    source = next(pane for pane in program["panes"] if pane["name"] == "source")
    assert "matmul_wgmma" in source["lines"][data["source"][str(row["line"])] - 1]
