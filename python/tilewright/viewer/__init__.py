"""`tw.view`, `Function.view`: a compiled program as one page, every stage beside the others, and as data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightError, TilewrightTypeError
from ..storage.private_files import checked_path

if TYPE_CHECKING:
    from ..compiler import Function
    from ..runtime.timeline import Timeline

__all__ = ["view", "view_data"]


def view_data(
    functions: Function | Sequence[Function], *arrays: object, timeline: Timeline | None = None
) -> dict[str, Any]:
    """What `view` shows, as data that `json.dumps` takes.

    Parameters
    ----------
    functions
        A function of `tw.build`, or a sequence of them.
    arrays
        Arrays of a call, where extents are symbolic. Only their shapes count.
    timeline
        What `Function.timeline` kept of a simulated call of the first function.

    Returns
    -------
    dict
        ``"format"`` is the number of this layout. ``"programs"`` has one entry a function: its ``"panes"``, each with
        ``"lines"`` and for each line a place in ``"origins"``, which says by pane what lines it came from (counted from
        1) and under ``"pass"`` which pass made it; and ``"launches"``, ``"work"``, ``"shared_memory"``,
        ``"live_registers"`` (a number for each line of the SASS).
        ``"timeline"`` is there where one was given. ``"comparisons"`` has for each program and the next one how their
        panes differ.

    Raises
    ------
    CompileError, ScheduleError
        As the build of a function does.
    TypeError, ValueError
        Where something else than functions is given, or arrays that do not fit.

    >>> data = tw.view_data(mmult)                                   # doctest: +SKIP
    >>> [pane["name"] for pane in data["programs"][0]["panes"]]      # doctest: +SKIP
    ['source', 'nest', 'te', 'linalg', 'loops', 'gpu', 'nvvm', 'ptx', 'sass', 'cuda', 'host-cpp', 'host']
    """
    from ..runtime.timeline import Timeline
    from .compare import comparison
    from .data import FORMAT, checked_functions, function_data
    from .timeline_data import timeline_data

    programs = [function_data(function, *arrays) for function in checked_functions(functions)]
    if timeline is not None and not isinstance(timeline, Timeline):
        raise TilewrightTypeError(f"expected what Function.timeline returns as timeline, got {type(timeline).__name__}")
    if timeline is not None:
        programs[0]["timeline"] = timeline_data(timeline, programs[0])
    names = [program["name"] for program in programs]
    for number, program in enumerate(programs, 1):
        program["label"] = program["name"] if names.count(program["name"]) == 1 else f"{program['name']} ({number})"
    pairs = [comparison(number, number + 1, programs) for number in range(len(programs) - 1)]
    return {"format": FORMAT, "programs": programs, "comparisons": pairs}


def view(
    functions: Function | Sequence[Function],
    path: str | os.PathLike[str],
    *arrays: object,
    timeline: Timeline | None = None,
) -> None:
    """Writes a page that shows a program at every stage, side by side; of several programs also how they differ.

    A click on a line lights up where it came from and what became of it, from the user's line to the machine code. The
    page is one file, `path`, which needs no network. The parameters `functions`, `arrays` and `timeline` are those of
    `view_data`. Raises what `view_data` raises, and TilewrightError where the file cannot be written.

    >>> tw.view([first, second], "both.html")      # doctest: +SKIP
    """
    write_page(view_data(functions, *arrays, timeline=timeline), path)


def write_page(data: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Writes the page that shows `data`."""
    from .page import page_of

    text = page_of(data)
    try:
        checked_path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise TilewrightError(f"{os.fspath(path)}: {error.strerror}") from None
