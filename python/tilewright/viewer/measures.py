"""What a program takes: its launches with the formula of each number, work, occupancy, instructions, shared memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mlir import ir

from ..report.formulas import NUMBERS, ops_of
from .panes import name_in
from .stages import Numbered

if TYPE_CHECKING:
    from ..devices import GPU
    from ..report import KernelReport, Report
    from ..runtime.host_program import KernelLaunch

__all__ = ["kernel_data", "shared_buffers", "work_data"]


def kernel_data(launch: KernelLaunch, report: KernelReport | None, texts: dict[str, str]) -> dict[str, Any]:
    """One launch as data; `texts` are the formulas of its numbers."""
    numbers: dict[str, int] = dict(zip(NUMBERS, (*launch.grid, *launch.block)))
    numbers["shared"] = launch.shared_bytes
    made: dict[str, Any] = {
        "name": launch.kernel,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "cluster": list(launch.cluster),
        "shared_bytes": launch.shared_bytes,
        "dependent": launch.dependent,
        "cooperative": launch.cooperative,
        "numbers": [
            {"name": name, "value": value, "formula": texts.get(name), "origin": launch.origin.get(name)}
            for name, value in numbers.items()
        ],
    }
    if report is not None:
        occupancy = report.occupancy
        made["registers"], made["spilled_bytes"] = report.registers, report.spills
        made["stages"], made["tensor_type"] = report.stages, report.tensor_type
        made["occupancy"] = occupancy and {
            "blocks": occupancy.blocks,
            "warps": occupancy.warps,
            "most_warps": occupancy.most,
            "limit": occupancy.limit,
        }
        made["instructions"] = [
            {"kind": kind, "ops": report.meant.get(kind), "ptx": ptx, "sass": sass}
            for kind, (ptx, sass) in report.instructions.items()
        ]
        made["notes"] = [*report.mismatches, *report.notes]
    return made


# By PTX's names of types what the description of a GPU calls them.
_DTYPES = {
    "f16": "float16",
    "bf16": "bfloat16",
    "tf32": "tf32",
    "s8": "int8",
    "u8": "int8",
    "e4m3": "float8_e4m3fn",
    "e5m2": "float8_e5m2",
}


def work_data(report: Report | None, device: GPU | None) -> dict[str, Any] | None:
    """The program's work, and the rates of the GPU that it is for, with the units that the kernels use."""
    if report is None or report.work is None:
        return None
    work = report.work
    made: dict[str, Any] = {"operations": work.operations, "bytes": work.bytes, "intensity": work.intensity}
    unit, dtype = _unit(report)
    rate = device.peak(unit, dtype) if device is not None else 0
    if device is None or not rate:
        return made | {"machine": None}
    seconds = max(work.operations / rate, work.bytes / device.bandwidth)
    machine = {
        "name": device.name,
        "unit": f"{unit} on {dtype}",
        "bytes_per_second": device.bandwidth,
        "operations_per_second": rate,
        "floor_seconds": seconds,
        "bound": "memory" if work.operations / rate < work.bytes / device.bandwidth else "arithmetic",
    }
    return made | {"machine": machine}


def _unit(report: Report) -> tuple[str, str]:
    """The instruction that does the arithmetic, and its type."""
    dtype = _DTYPES.get(report.tensor_type or "")
    kinds = {kind for kernel in report.kernels for kind in kernel.instructions}
    if dtype is None:
        return "fma", "float32"
    return ("wgmma" if "wgmma" in kinds else "mma"), dtype


def shared_buffers(numbered: Numbered) -> dict[str, list[dict[str, Any]]]:
    """For each kernel, its buffers in shared memory.

    A buffer has a name, an offset, bytes and the slots of a ring. It also has the first and the last line of the gpu
    stage that uses it.
    """
    module = numbered.lowering.modules.get("gpu")
    found: dict[str, list[dict[str, Any]]] = {}
    for op in ops_of(module.operation) if module else ():
        if op.name != "gpu.func":
            continue
        kernel = ir.StringAttr(op.attributes["sym_name"]).value
        found[kernel] = sorted(_buffers(numbered, op), key=lambda buffer: buffer["offset"])
    return found


def _buffers(numbered: Numbered, kernel: ir.Operation) -> Iterator[dict[str, Any]]:
    for op in ops_of(kernel):
        if op.name == "memref.view" and "workgroup" in str(op.results[0].type):
            kind = ir.MemRefType(op.results[0].type)
            offset = op.operands[1].owner
            if not kind.has_static_shape or not isinstance(offset, ir.Operation | ir.OpView):
                continue
            value = offset.attributes["value"] if "value" in offset.attributes else None
            size = _elements(kind.shape) * _bits(str(kind.element_type)) // 8
            yield _buffer(numbered, op, ir.IntegerAttr(value).value if value is not None else 0, size, 1)
        elif op.name in ("tile.ring", "tile.alloc") and "offset" in op.attributes:
            text = str(op.results[0].type)
            tiles = [
                _elements([int(extent) for extent in found[1].split("x")[:-1]]) * _bits(found[1].split("x")[-1]) // 8
                for found in re.finditer(r"<((?:\d+x)+\w+)", text)
            ]
            ring = re.match(r"!tile\.ring<(\d+),", text)
            places = int(ring[1]) if ring else 1
            yield _buffer(numbered, op, ir.IntegerAttr(op.attributes["offset"]).value, places * sum(tiles), places)


def _buffer(numbered: Numbered, op: ir.Operation, offset: int, size: int, places: int) -> dict[str, Any]:
    lines = sorted(_lines(numbered, op, set()))
    known = ir.StringAttr(op.attributes["te.stage"]).value if "te.stage" in op.attributes else name_in(op.location)
    name = ("ring of " if op.name == "tile.ring" else "") + (known or op.name.partition(".")[2])
    return {
        "name": name,
        "offset": offset,
        "bytes": size,
        "places": places,
        "first_line": lines[0] if lines else None,
        "last_line": lines[-1] if lines else None,
    }


def _lines(numbered: Numbered, op: ir.Operation, seen: set[ir.Value]) -> Iterator[int]:
    """The lines of the gpu stage that use what `op` makes, through what only names a part of it."""
    for result in op.results:
        if result in seen:
            continue
        seen.add(result)
        for use in result.uses:
            user = use.owner.operation
            yield from (int(str(line)) for pane, line in numbered.read(user.location) if pane == "gpu")
            if user.name in ("memref.subview", "memref.cast", "tile.part", "tile.acquire", "tile.wait"):
                yield from _lines(numbered, user, seen)


def _elements(shape: Sequence[int]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def _bits(dtype: str) -> int:
    """The bits of an element in memory by its type's name."""
    found = re.search(r"\d+", dtype.replace("tf32", "f32"))
    return max(int(found[0]) if found else 8, 8)
