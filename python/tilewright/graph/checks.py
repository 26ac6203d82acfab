"""What a call of a model does, group by group: whether each is right, and how long it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bisection.comparison import differs
from ..errors import TilewrightError
from ..te.double import in_double
from ..te.interpret import interpret

if TYPE_CHECKING:
    from .groups import Group

__all__ = ["GroupCheck", "GroupTime", "Profile", "Verification", "checked", "work_of_group"]


@dataclass(frozen=True, slots=True)
class GroupCheck:
    """A group in a call: whether its results are those of float64, as far as their types go, and how far they are off.

    `error` is the largest difference, relative to the largest element; `told` says why a group is not checked.
    """

    group: Group
    right: bool
    error: float
    told: str = ""

    def __str__(self) -> str:
        state = f"not checked: {self.told}" if self.told else "right" if self.right else "WRONG"
        return f"{self.group.name}: {state}, off by {self.error:.2g} ({', '.join(self.group.nodes)})"


@dataclass(frozen=True, slots=True)
class Verification:
    """The groups of a call, in their order. It is true where none is wrong."""

    checks: tuple[GroupCheck, ...]

    @property
    def wrong(self) -> GroupCheck | None:
        """The first group whose results are not right."""
        return next((one for one in self.checks if not one.right), None)

    def __bool__(self) -> bool:
        return self.wrong is None

    def __str__(self) -> str:
        return "\n".join(map(str, self.checks))


def checked(
    group: Group, inputs: Sequence[np.ndarray], results: Sequence[np.ndarray], extents: Mapping[str, int]
) -> GroupCheck:
    """Compares a group's results with its tensor expressions in float64, computed by NumPy from the same inputs."""
    tensors = group.tensors
    outputs = tensors[len(inputs) : len(inputs) + len(results)]
    numbers = {symbol: extents[symbol.name] for symbol in group.all_symbols if symbol.name in extents}

    def computed(rounded: int) -> list[np.ndarray]:
        wide, places = in_double(outputs, rounded=rounded)
        given = {
            places.get(tensor, tensor): array.astype(np.float64) if "float" in array.dtype.name else array
            for tensor, array in zip(tensors, inputs)
        }
        return list(interpret(wide, given, numbers))

    try:
        expected = computed(0)
        right = _agree(results, expected, [0.0] * len(results))
        if not right:
            # What the program's own roundings to 16 bits change: float32 has them at other places than float64. Before
            # it is quantised, what is halfway in float64 need not be so in float32.
            is_quantised = "quantize" in group.operators
            changes = [_change(a, b, is_quantised) for a, b in zip(computed(32 if is_quantised else 16), expected)]
            right = any(changes) and _agree(results, expected, changes)
    except TilewrightError as error:
        return GroupCheck(group, True, 0.0, str(error))
    worst = 0.0
    for got, wanted in zip(results, expected):
        mine, theirs = got.astype(np.float64), wanted.astype(np.float64)
        finite = np.isfinite(mine) & np.isfinite(theirs)
        largest = float(np.abs(theirs[finite]).max(initial=0.0))
        if largest:
            worst = max(worst, float(np.abs(mine[finite] - theirs[finite]).max()) / largest)
    return GroupCheck(group, right, worst)


def _agree(results: Sequence[np.ndarray], expected: Sequence[np.ndarray], changes: Sequence[float]) -> bool:
    """Whether results are those expected, but for rounding and for what other roundings change."""
    for got, wanted, change in zip(results, expected, changes):
        apart = differs(got, wanted)
        if change and apart.any():
            apart &= ~(np.abs(got.astype(np.float64) - wanted.astype(np.float64)) <= change)
        if apart.any():
            return False
    return True


def _change(rounded: np.ndarray, exact: np.ndarray, is_quantised: bool) -> float:
    """How far other roundings may change results: four times the largest change that some have made of floats. Floats
    that are quantised afterwards are as many steps away as some have come to be."""
    if "float" not in exact.dtype.name:
        return float(np.abs(rounded.astype(np.int64) - exact).max(initial=0)) if is_quantised else 0.0
    values = rounded - exact
    return 4 * float(np.abs(values[np.isfinite(values)]).max(initial=0.0))


@dataclass(frozen=True, slots=True)
class GroupTime:
    """A group in a call: its time in seconds, the bytes of its inputs and results, and its operations on elements.

    `least` is the time that the target's GPU needs for the bytes at its memory's full bandwidth; 0 for a processor.
    """

    group: Group
    seconds: float
    bytes: int
    operations: int
    least: float

    def __str__(self) -> str:
        roof = f", {self.least / self.seconds:.0%} of the memory's roof" if self.least and self.seconds else ""
        rates = f"{self.bytes / self.seconds / 1e9:.1f} GB/s, {self.operations / self.seconds / 1e9:.1f} Gop/s"
        return f"{self.seconds * 1e6:10.1f} us  {rates}{roof}  {self.group.name}"


@dataclass(frozen=True, slots=True)
class Profile:
    """The groups of a call, in their order."""

    groups: tuple[GroupTime, ...]

    @property
    def seconds(self) -> float:
        """All groups together."""
        return sum(one.seconds for one in self.groups)

    def __str__(self) -> str:
        return "\n".join([f"{self.seconds * 1e6:10.1f} us in {len(self.groups)} groups", *map(str, self.groups)])


def work_of_group(group: Group, arguments: Sequence[Any]) -> int:
    """The operations of a group on elements, where it has these arguments; 0 where they cannot be told."""
    from mlir import ir

    from ..ir import context
    from ..report.work import work_of

    text = group.function.ir("linalg")
    with context():
        module = ir.Module.parse(text)
        name = ir.StringAttr(module.body.operations[0].operation.attributes["sym_name"]).value
        shapes = [(one,) if isinstance(one, int) else tuple(one.shape) for one in arguments]
        sizes = [0 if isinstance(one, int) else one.dtype.itemsize for one in arguments]
        found = work_of(module, name, shapes, sizes)
    return found.operations if found is not None else 0
