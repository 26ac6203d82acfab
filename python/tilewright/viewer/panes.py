"""The texts of a page, and where each of their lines came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

__all__ = ["Atom", "Origin", "Pane", "merged", "name_in", "origin_reader"]

Atom = tuple[str, object]
"""One line that something came from: (a pane's name, the number of a line), ("file", (path, line)) for a line of the
user's, or ("pass", its flag) for what a pass made from nothing."""

Origin = frozenset[Atom]
NOTHING: Origin = frozenset()
_MADE_BY = "pass "
_TEXT = "-"  # what MLIR calls a text that it parsed


@dataclass(frozen=True, slots=True)
class Pane:
    """One text. `origins` has as many entries as `lines`; `above` is the pane that it was made from."""

    name: str
    title: str
    language: str
    above: str | None
    lines: tuple[str, ...]
    origins: tuple[Origin, ...]

    @staticmethod
    def of(name: str, title: str, language: str, above: str | None, text: str, origins: Mapping[int, Origin]) -> Pane:
        """The pane of a text; `origins` are those of lines by their numbers, from 1 on."""
        lines = tuple(text.rstrip("\n").split("\n"))
        known = tuple(origins.get(number, NOTHING) for number in range(1, len(lines) + 1))
        return Pane(name, title, language, above, lines, known)


def origin_reader(files: Mapping[str, str]) -> Callable[[ir.Location], Origin]:
    """A function that takes a location apart. `files` are the panes by the file that a location calls them."""
    known: dict[ir.Location, Origin] = {}

    def read(location: ir.Location) -> Origin:
        found = known.get(location)
        if found is None:
            found = known[location] = frozenset(atoms(location))
        return found

    def atoms(location: ir.Location) -> Iterable[Atom]:
        if location.is_a_fused():
            for part in location.locations:
                yield from read(part)
        elif location.is_a_name():
            if location.name_str.startswith(_MADE_BY):
                yield "pass", location.name_str.removeprefix(_MADE_BY)
            yield from read(location.child_loc)
        elif location.is_a_callsite():
            yield from read(location.callee)
            yield from read(location.caller)
        elif location.is_a_file():
            pane = files.get(location.filename)
            if pane:
                yield pane, location.start_line
            elif location.filename != _TEXT:
                yield "file", (location.filename, location.start_line)

    return read


def merged(origins: Sequence[Origin]) -> Origin:
    """All lines that several things came from."""
    return frozenset[Atom]().union(*origins)


def name_in(location: ir.Location) -> str | None:
    """The name of the tensor or axis that a location begins with."""
    if location.is_a_fused():
        return next((name for name in map(name_in, location.locations) if name), None)
    if location.is_a_name() and not location.name_str.startswith(_MADE_BY):
        return location.name_str
    return None
