"""What a record is of: a program with the sizes of its symbolic extents, and a device."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import TilewrightValueError as ValueError
from ..target import Target
from ..te.emit import emit_module
from ..te.expr import Var
from ..te.program import operations
from ..te.tag import allows_tf32
from ..te.tensor import PlaceholderOp, Tensor

__all__ = ["NAME", "device_name", "identify", "in_order", "settings_of"]

NAME = "tuned"
"""The name of the function that a record's IR has."""


def in_order(outputs: Sequence[Tensor]) -> list[Tensor]:
    """The arguments of a program to which nobody gave an order: the inputs, then the outputs."""
    inputs = (op.output(0) for op in operations([one.op for one in outputs]) if isinstance(op, PlaceholderOp))
    return [*inputs, *outputs]


def identify(
    outputs: Sequence[Tensor], args: Sequence[Tensor | Var], sizes: Mapping[str, int]
) -> tuple[str, dict[str, int], str]:
    """A program's IR, the values of its symbolic extents, and the key of both in a database.

    Raises
    ------
    ValueError
        Where a symbolic extent has no value, or a value is of none.
    """
    text, known = str(emit_module(outputs, args, NAME)), _all_sizes(args, dict(sizes))
    sized = f"{text}\n{sorted(known.items())}"
    # Rules may take other instructions for what may be rounded, of which the IR says nothing.
    rounded = [op.name for op in operations([tensor.op for tensor in outputs]) if allows_tf32(op.attrs)]
    sized += f"\nin tf32: {rounded}" if rounded else ""
    return text, known, hashlib.sha256(sized.encode()).hexdigest()


def _all_sizes(args: Sequence[Tensor | Var], given: dict[str, int]) -> dict[str, int]:
    names: dict[str, Var] = {}
    for one in args:
        for extent in [one] if isinstance(one, Var) else one.shape:
            if isinstance(extent, Var):
                names.setdefault(extent.name, extent)
    sizes: dict[str, int] = {}
    for name, var in names.items():
        value = given.pop(name, var.maximum if var.maximum is not None else var.default)
        if value is None:
            raise ValueError(f"expected a value of {name} in sizes, at which the program is measured")
        sizes[name] = value  # type: ignore[assignment]
    if given:
        known = ", ".join(names) or "none"
        raise ValueError(f"sizes: expected symbols of the program ({known}), got {', '.join(given)}")
    return sizes


def device_name(target: Target) -> str:
    """What the records of a database say of the device that they were measured on."""
    if target.device is not None:
        return f"{target.device.name} {target.arch}"
    return f"{_processor()}, {_threads()} threads"


def _processor() -> str:
    from pathlib import Path

    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "processor")


def _threads() -> int:
    from ..runtime.cpu_program import num_threads

    return num_threads()


def settings_of(choices: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The choices of a record, ``{"C.threads": 128}``, as `settings` of `tw.auto_schedule`."""
    settings: dict[str, dict[str, Any]] = {}
    for name, value in choices.items():
        stage, _, setting = name.rpartition(".")
        settings.setdefault(stage, {})[setting] = value
    return settings
