"""The texts that are no stage: the user's own program, the loop nest, and the program in C++."""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterable, Mapping
from typing import cast

from mlir import ir

from ..backend.cpp_source import KERNEL_PASSES
from ..errors import CompileError
from ..ir.passes import run_passes
from ..te.schedule.nest import nest_lines
from .panes import Origin, Pane, merged
from .stages import Numbered

__all__ = ["add_cpp", "add_nest", "source_pane", "to_source_lines"]

# Of a long file, so many lines around each that something came from.
_WHOLE_FILE, _AROUND = 400, 12


def add_nest(numbered: Numbered) -> None:
    """Adds the loop nest, as ``print(schedule)`` shows it."""
    module = numbered.lowering.modules.get("loops")
    if module is None:
        return
    texts: list[str] = []
    origins: dict[int, Origin] = {}
    for text, ops in nest_lines(module, {}):
        texts.append(text)
        origins[len(texts)] = merged([numbered.read(op.location) for op in ops])
    numbered.panes["nest"] = Pane.of("nest", "loop nest", "nest", "loops", "\n".join(texts), origins)


# The pane's name and title, the pass, and the attribute that the pass leaves its text in.
_CPP = (
    (
        "cuda",
        "CUDA C++",
        f"{KERNEL_PASSES},emit-cuda-source{{lines=true}}",
        "tilewright.cuda",
    ),
    ("host-cpp", "host C++", "emit-host-source{lines=true}", "tilewright.cpp"),
)


def add_cpp(numbered: Numbered) -> None:
    """Adds the kernels in CUDA C++ and the host program in C++; where C++ has no words, the reason."""
    if "gpu" not in numbered.lowering.modules:
        return
    for name, title, passes, attribute in _CPP:
        module = numbered.lowering.copy_of("gpu")
        try:
            run_passes(module, f"builtin.module({passes})", f"writing {title}", "source")
        except CompileError as error:
            text = "\n".join(f"// {line}" for line in str(error).splitlines())
            numbered.panes[name] = Pane.of(name, title, "cpp", "gpu", text, {})
            continue
        texts: list[str] = []
        origins: dict[int, Origin] = {}
        for op in module.body:
            if attribute not in op.operation.attributes:
                continue
            begin = len(texts)
            texts += ir.StringAttr(op.operation.attributes[attribute]).value.rstrip("\n").split("\n")
            for number, location in enumerate(ir.ArrayAttr(op.operation.attributes[f"{attribute}_lines"]), 1):
                origins[begin + number] = numbered.read(ir.Location.from_attr(location, module.context))
        numbered.panes[name] = Pane.of(name, title, "cpp", "gpu", "\n".join(texts), origins)


def source_pane(origins: Iterable[Origin]) -> tuple[Pane, Mapping[tuple[str, int], int]]:
    """The user's files as one pane, and the numbers that their lines have in it."""
    wanted: dict[str, set[int]] = {}
    for origin in origins:
        for kind, value in origin:
            if kind == "file":
                path, line = cast("tuple[str, int]", value)
                wanted.setdefault(path, set()).add(line)
    texts: list[str] = []
    place: dict[tuple[str, int], int] = {}
    for path in sorted(wanted, key=lambda each: (-len(wanted[each]), each)):
        known = [text.rstrip("\n") for text in linecache.getlines(path)]
        shown = _shown(len(known), wanted[path])
        if len(wanted) > 1 or not known:
            texts.append(f"# {os.path.basename(path)}" + ("" if known else ", which cannot be read"))
        before = 0
        for line in shown:
            if line != before + 1:
                texts.append(f"# … {os.path.basename(path)}, from line {line} on")
            before = line
            texts.append(known[line - 1] if line <= len(known) else f"# line {line}")
            place[path, line] = len(texts)
    language = "mlir" if all(path.endswith(".mlir") for path in wanted) else "python"
    return Pane.of("source", "your source", language, None, "\n".join(texts), {}), place


def _shown(count: int, wanted: set[int]) -> list[int]:
    """The lines of a file that are shown, in order."""
    lines = {line for line in wanted if line > 0}
    if count <= _WHOLE_FILE:
        return sorted(lines | set(range(1, count + 1)))
    near = {line for each in lines for line in range(each - _AROUND, each + _AROUND + 1) if 0 < line <= count}
    return sorted(near | lines)


def to_source_lines(origin: Origin, place: Mapping[tuple[str, int], int]) -> Origin:
    """An origin whose lines of files are those of the source pane."""
    return frozenset(
        ("source", place[value]) if kind == "file" and value in place else (kind, value)  # type: ignore[index]
        for kind, value in origin
        if kind != "file" or value in place
    )
