"""What a page shows, as data: the same as JSON for other tools."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightTypeError, TilewrightValueError
from ..guards import is_listed
from ..messages.progress import Progress
from ..report.formulas import formulas
from ..target import Target
from .device import add_device_code
from .measures import kernel_data, shared_buffers, work_data
from .panes import Origin, Pane
from .sources import add_cpp, add_nest, source_pane, to_source_lines
from .stages import Numbered, number_stages

if TYPE_CHECKING:
    from ..compiler import Function
    from ..report import Report

__all__ = ["FORMAT", "function_data"]

FORMAT = 1
# Left to right as the program goes down, then the texts beside that way.
_ORDER = ("source", "nest", "te", "linalg", "loops", "gpu", "nvvm", "ptx", "sass", "cuda", "host-cpp", "host")


def function_data(function: Function, *arrays: object) -> dict[str, Any]:
    """One function: its panes with the origin of each line, and for a GPU its launches and what they take.

    Of arrays only the shapes count; without them a program of symbolic extents has formulas, and no numbers.
    """
    given = function
    line = Progress(f"viewing {function.name}")
    try:
        return _data(given, function, arrays, line)
    finally:
        line.end()


def _data(given: Function, function: Function, arrays: tuple[object, ...], line: Progress) -> dict[str, Any]:
    if function.target.kind == "sim":
        function = _for_gpu(function)
    with tempfile.TemporaryDirectory(prefix="tilewright-view-") as folder:
        line.show(0, 4, "parts", "stages")
        numbered = number_stages(function.lowering, Path(folder))
        add_nest(numbered)
        add_cpp(numbered)
        line.show(1, 4, "parts", "PTX and SASS")
        live = add_device_code(numbered) if "nvvm" in numbered.panes else {}
        made, place = _with_panes(numbered)
        made["shared_memory"] = shared_buffers(numbered)
        texts = formulas(numbered.lowering.modules.get("gpu"))
    made |= {"name": function.name, "target": str(given.target), "arch": function.target.arch}
    line.show(3, 4, "parts", "report")
    report = _report(function, arrays)
    made["live_registers"] = live
    made["launches"] = _launches(function, report, texts)
    made["source_lines"] = {
        f"{name}:{line}": number for (path, line), number in place.items() for name in (path, os.path.basename(path))
    }
    _with_source_lines(made["launches"], made["source_lines"])
    made["work"] = work_data(report, function.target.device)
    made["report"] = str(report) if report is not None else None
    return made


def _for_gpu(function: Function) -> Function:
    """The program as a GPU runs it."""
    from ..compiler.function import Function as Made
    from ..compiler.pipeline import Lowering

    above = function.lowering
    lowering = Lowering(above.name, Target("cuda", arch=above.target.arch), above.start, above.hooks)
    lowering.modules[above.start] = above.copy_of(above.start)
    return Made(lowering)


def _with_panes(numbered: Numbered) -> tuple[dict[str, Any], Mapping[tuple[str, int], int]]:
    """The panes, and the table of origins that their lines point into: entry 0 is for lines from nowhere. And where the
    lines of files are in the source pane."""
    source, place = source_pane(origin for pane in numbered.panes.values() for origin in pane.origins)
    panes = {"source": source, **numbered.panes}
    table: dict[Origin, int] = {frozenset(): 0}
    shown = [_pane(panes[name], place, table) for name in _ORDER if name in panes]
    return {"panes": shown, "origins": [_origin(origin) for origin in table]}, place


def _pane(pane: Pane, place: Mapping[tuple[str, int], int], table: dict[Origin, int]) -> dict[str, Any]:
    origins = [to_source_lines(origin, place) for origin in pane.origins]
    return {
        "name": pane.name,
        "title": pane.title,
        "language": pane.language,
        "above": pane.above,
        "lines": list(pane.lines),
        "origins": [table.setdefault(origin, len(table)) for origin in origins],
    }


def _origin(origin: Origin) -> dict[str, list[Any]]:
    """By pane the lines, and under "pass" the passes' names."""
    made: dict[str, list[Any]] = {}
    for name, value in sorted(origin, key=str):
        made.setdefault(name, []).append(value)
    return {name: sorted(values) for name, values in made.items()}


def _report(function: Function, arrays: tuple[object, ...]) -> Report | None:
    if function.target.kind != "cuda":
        return None
    try:
        return function.report(*arrays)
    except (TilewrightTypeError, TilewrightValueError):
        if arrays:
            raise
        return None  # of symbolic extents


def _launches(function: Function, report: Report | None, texts: dict[str, dict[str, str]]) -> list[dict[str, Any]]:
    if function.target.kind != "cuda":
        return []
    if report is None:
        return [{"name": name, "numbers": _without_values(numbers)} for name, numbers in texts.items()]
    return [kernel_data(kernel.launch, kernel, texts.get(kernel.launch.kernel, {})) for kernel in report.kernels]


def _with_source_lines(launches: list[dict[str, Any]], lines: Mapping[str, int]) -> None:
    """Gives each number of a launch the line of the source pane that its origin names."""
    for number in (number for launch in launches for number in launch["numbers"]):
        number["line"] = lines.get((number["origin"] or "").rpartition(", ")[2])


def _without_values(numbers: dict[str, str]) -> list[dict[str, Any]]:
    return [{"name": name, "value": None, "formula": text, "origin": None} for name, text in numbers.items()]


def checked_functions(functions: object) -> list[Function]:
    """One function or a sequence of them."""
    from ..compiler import Function

    given: list[Any] = list(functions) if is_listed(functions) else [functions]
    for each in given:
        if not isinstance(each, Function):
            raise TilewrightTypeError(f"expected a function of tw.build or a list of these, got {type(each).__name__}")
    if not given:
        raise TilewrightValueError("expected at least one function to view")
    return given
