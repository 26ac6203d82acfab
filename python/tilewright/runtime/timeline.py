"""What the warps of a simulated call did, and whom they waited for."""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass

__all__ = ["KINDS", "Event", "Timeline", "read_events"]

KINDS = ("waits", "arrives", "loads", "stores", "multiplies", "runs")
"""What an event can be: a wait at a barrier, an arrival, a TMA load or store, a matmul of a warpgroup, and one from a
warp's first step to its last."""

_BARRIER = re.compile(r"the barrier '(full|empty)' of slot (\d+) of '(.*)'", re.DOTALL)


class RawEvent(ctypes.Structure):
    """TilewrightSimEvent of runtime/sim/Simulator.h."""

    _fields_ = (
        *((name, ctypes.c_int32) for name in ("launch", "cluster", "block", "warp", "kind", "reserved")),
        *((name, ctypes.c_int64) for name in ("begin", "end", "offset", "phase")),
        *((name, ctypes.c_char_p) for name in ("name", "line", "what")),
    )


@dataclass(frozen=True, slots=True)
class Event:
    """Something that a warp did, from step `begin` to step `end`.

    `launch` counts the call's launches, `cluster` those of the launch, `block` the blocks of the cluster, `warp` the
    warps of the block. `name` is what the op is, `line` the user's line that it came from ("mmult.py:14"). Of an event
    at a barrier of a ring `ring`, `slot` and `side` ("full", "empty") say at which, and `phase` which of its phases.
    """

    launch: int
    cluster: int
    block: int
    warp: int
    kind: str
    begin: int
    end: int
    name: str
    line: str
    barrier: str = ""
    phase: int | None = None
    ring: str | None = None
    slot: int | None = None
    side: str | None = None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The events of one call on the simulator, as `Function.timeline` gives them.

    The simulator has no clock. A step is a memory access, a copy, a matmul instruction or an arrival. A waiting thread
    continues no earlier than the last step that it waits for. So the steps show what depends on what, and not how long
    it takes. `kernels` are the launches' kernels in order; `dropped` events had no room.
    """

    kernels: tuple[str, ...]
    events: tuple[Event, ...]
    dropped: int = 0

    @property
    def steps(self) -> int:
        """The step that the last warp ends at."""
        return max((event.end for event in self.events), default=0)

    def waited(self) -> dict[str, int]:
        """The steps that all warps together waited, by the user's line and what they waited for, the most first."""
        found: dict[str, int] = {}
        for event in self.events:
            if event.kind == "waits":
                what = f"{event.line}: {event.barrier or event.name}"
                found[what] = found.get(what, 0) + event.end - event.begin
        return dict(sorted(found.items(), key=lambda item: -item[1]))


def read_events(raw: ctypes.Array[RawEvent], kernels: tuple[str, ...], dropped: int) -> Timeline:
    """The events that the simulator has kept."""
    return Timeline(kernels, tuple(map(_event, raw)), dropped)


def _event(raw: RawEvent) -> Event:
    barrier = (raw.what or b"").decode(errors="replace")
    found = _BARRIER.fullmatch(barrier)
    return Event(
        raw.launch,
        raw.cluster,
        raw.block,
        raw.warp,
        KINDS[raw.kind],  # pyright: ignore[reportUnknownArgumentType]
        raw.begin,
        raw.end,
        (raw.name or b"").decode(errors="replace"),
        (raw.line or b"").decode(errors="replace"),
        barrier,
        raw.phase if barrier else None,
        found[3] if found else None,
        int(found[2]) if found else None,
        found[1] if found else None,
    )
