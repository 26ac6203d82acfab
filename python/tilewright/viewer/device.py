"""PTX and SASS with the lines that they came from, and the registers that live at each instruction.

The kernels' line table names lines of the nvvm stage's text, one for each op. LLVM writes it into PTX (`.loc`), and the
assembler keeps it for each instruction (`-lineinfo`). The code itself is the same that users run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..backend.cubin import LinkOptions, link_cubin
from ..backend.ptx import emit_ptx
from ..backend.sass import find_disassembler
from ..errors import TilewrightError
from ..ir.passes import run_passes
from ..native.tools import run_tool
from .panes import Origin, Pane
from .stages import Numbered

__all__ = ["add_device_code", "plain_ptx"]

# What only debug information adds to PTX: its directives, and labels that nothing else names.
_DEBUG = re.compile(r"\s*\.(?:loc|file)\s|\s*\.section\s+\.debug|\$L__(?:tmp|func_begin|func_end)\d*:")
_LOC = re.compile(r"\s*\.loc\s+\d+\s+(\d+)\s")
_LINE = re.compile(r'\s*//## File "(.*)", line (\d+)')
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]+)\*/")
# What LLVM and the assembler make of their own accord.
_LLVM: Origin = frozenset({("pass", "LLVM's NVPTX back end")})
_ASSEMBLER: Origin = frozenset({("pass", "ptxas")})


def plain_ptx(ptx: str) -> str:
    """PTX without its line table: the text of a build without one."""
    return "".join(line for line in ptx.splitlines(keepends=True) if not _DEBUG.match(line)).rstrip() + "\n"


def add_device_code(numbered: Numbered) -> dict[str, list[int]]:
    """Adds the panes of PTX and, where a disassembler is installed, of SASS. Returns the live registers of a thread by
    their kind ("GPR", "UGPR", …), a number for each line of the SASS."""
    lowering = numbered.lowering
    module = lowering.copy_of("nvvm")
    table = (
        f"builtin.module(snapshot-op-locations{{filename={numbered.folder / 'debug.mlir'}}},"
        "ensure-debug-info-scope-on-llvm-func{emission-kind=DebugDirectivesOnly})"
    )
    run_passes(module, table, f"making the line table of {lowering.name}", "ptx")
    ptx = emit_ptx(module)
    text, number_of, origins = _lines_of_ptx(ptx)
    numbered.panes["ptx"] = Pane.of("ptx", "PTX", "ptx", "nvvm", text, _down(numbered, origins, "nvvm", _LLVM))
    arch = lowering.target.arch or ""
    cubin = link_cubin(ptx, arch, LinkOptions(line_info=True))
    return _add_sass(numbered, cubin, number_of)


def _down(numbered: Numbered, lines: dict[int, int], above: str, otherwise: Origin) -> dict[int, Origin]:
    """The origins of lines that came from one line each of the pane `above`; 0 is none."""
    known = numbered.panes[above].origins
    return {
        number: known[line - 1] | {(above, line)} if 0 < line <= len(known) else otherwise
        for number, line in lines.items()
    }


def _lines_of_ptx(ptx: str) -> tuple[str, dict[int, int], dict[int, int]]:
    """PTX without its line table; of each line of it with one its number there, and of those the line of nvvm."""
    kept: list[str] = []
    number_of: dict[int, int] = {}
    origins: dict[int, int] = {}
    line: int | None = None
    head: list[int] = []  # of a kernel, the lines up to where its table begins: they are the function's own
    for number, text in enumerate(ptx.splitlines(), 1):
        if found := _LOC.match(text):
            line = int(found[1])
            origins.update(dict.fromkeys(head, line))
            head = []
        if _DEBUG.match(text):
            continue
        kept.append(text)
        number_of[number] = len(kept)
        if ".entry" in text:
            line = None
        if line is None and (head or ".entry" in text):
            head.append(len(kept))
        if line is not None and text.strip() and not text.startswith("$L__"):
            origins[len(kept)] = line
    return "\n".join(kept), number_of, origins


def _add_sass(numbered: Numbered, cubin: bytes, number_of: dict[int, int]) -> dict[str, list[int]]:
    tool = find_disassembler()
    if tool is None or tool.name != "nvdisasm":
        return {}
    file = numbered.folder / "kernels.cubin"
    file.write_bytes(cubin)
    lines: list[str] = []
    origins: dict[int, int] = {}
    line: int | None = None
    for text in _disassemble(tool, file, "-c", "-gp"):
        if found := _LINE.match(text):
            line = int(found[2])
            continue
        if text.startswith(".text."):
            line = None
        lines.append(_closer(text))
        if _INSTRUCTION.match(text):
            origins[len(lines)] = number_of.get(line or 0, 0)
    found = _down(numbered, origins, "ptx", _ASSEMBLER)
    numbered.panes["sass"] = Pane.of("sass", "SASS", "sass", "ptx", "\n".join(lines), found)
    return _live_registers(tool, file, lines)


def _closer(text: str) -> str:
    """A line of SASS without the room that nvdisasm leaves.

    >>> _closer("        /*0060*/              @!P0 BRA `(.L_x_1) ;")
    '/*0060*/  @!P0 BRA `(.L_x_1) ;'
    >>> _closer("        /*0070*/                   EXIT ;")
    '/*0070*/       EXIT ;'
    """
    found = _INSTRUCTION.match(text)
    if found is None:
        return text.removeprefix("        ")
    instruction = text[found.end() :].strip()
    guard, _, rest = instruction.partition(" ") if instruction.startswith("@") else ("", "", instruction)
    return f"{found[0].strip()} {guard:>5} {rest.strip()}"


def _disassemble(tool: Path, file: Path, *options: str) -> Iterator[str]:
    run = run_tool([str(tool), *options, str(file)])
    if run.returncode != 0:
        raise TilewrightError(f"{tool.name} failed with code {run.returncode}: {run.stderr.strip()}")
    return iter(run.stdout.expandtabs().splitlines())


def _live_registers(tool: Path, file: Path, lines: list[str]) -> dict[str, list[int]]:
    """How many registers of each kind live at each line: columns behind each instruction."""
    instructions = [number for number, text in enumerate(lines) if _INSTRUCTION.match(text)]
    place = iter(instructions)
    kinds: list[str] = []
    counts: dict[str, list[int]] = {}
    for text in _disassemble(tool, file, "-c", "-lrm", "count"):
        code, _, table = text.partition(" // |")
        cells = [cell.strip() for cell in table.split("|")[:-1]]
        if cells and not kinds and cells[0].isalpha():
            kinds = cells
            counts = {kind: [0] * len(lines) for kind in kinds}
        if not _INSTRUCTION.match(code):
            continue
        number = next(place, None)
        for kind, cell in zip(kinds, cells):
            if number is not None and cell.isdigit():
                counts[kind][number] = int(cell)
    return {kind: each for kind, each in counts.items() if any(each)}
