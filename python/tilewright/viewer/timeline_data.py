"""The timeline of a simulated call, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..runtime.timeline import Event, Timeline

__all__ = ["timeline_data"]

_MOST_WAITS = 12


def timeline_data(timeline: Timeline, program: dict[str, Any]) -> dict[str, Any]:
    """Events as rows of numbers; a text is an index into ``"texts"``.

    For texts that are lines of the user, ``"source"`` has their numbers in the source pane of `program`.
    """
    texts: dict[str, int] = {}

    def place(text: str) -> int:
        return texts.setdefault(text, len(texts))

    rows = [_row(event, place) for event in timeline.events]
    lines = program["source_lines"]
    return {
        "kernels": list(timeline.kernels),
        "dropped": timeline.dropped,
        "columns": ["launch", "cluster", "block", "warp", "kind", "begin", "end", "name", "line", "barrier", "phase"],
        "events": rows,
        "texts": list(texts),
        "source": {str(number): lines[text] for text, number in texts.items() if text in lines},
        "rings": {
            str(place(event.barrier)): [event.ring, event.slot, event.side]
            for event in timeline.events
            if event.ring is not None
        },
        "waited": [[what, steps] for what, steps in list(timeline.waited().items())[:_MOST_WAITS]],
    }


def _row(event: Event, place: Any) -> list[Any]:
    where = [event.launch, event.cluster, event.block, event.warp]
    phase = -1 if event.phase is None else event.phase
    return [
        *where,
        event.kind,
        event.begin,
        event.end,
        place(event.name),
        place(event.line),
        place(event.barrier),
        phase,
    ]
