"""A schedule's primitives, read back from its IR: what `Schedule.trace` and `Schedule.explain` tell."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir import ir

from ..ir.diagnostics import describe
from ..te.program import unique_name

__all__ = ["Primitive", "factored_axes", "identifiers", "primitives"]


@dataclass(frozen=True, slots=True)
class Primitive:
    """One op of a schedule: the handles that it takes and makes, and its attributes as Python's values.

    `name` is the op's without its dialect; `location` is the user's `file:line` that said it.
    """

    name: str
    operands: tuple[ir.Value, ...]
    results: tuple[ir.Value, ...]
    options: Mapping[str, Any]
    location: str


def primitives(of: ir.Operation) -> Iterator[Primitive]:
    """The ops of a `schedule.of`, in order."""
    for view in of.regions[0].blocks[0].operations:
        op = view.operation
        named = [op.attributes[position] for position in range(len(op.attributes))]
        options = {one.name: _value(one.attr) for one in named}
        name = op.name.removeprefix("schedule.")
        if name == "tensorize":  # its intrinsic, as a module
            options["functions"] = "\n".join(str(one) for one in op.regions[0].blocks[0].operations)
        yield Primitive(name, tuple(op.operands), tuple(op.results), options, describe(op.location))


def factored_axes(of: ir.Operation, axis: ir.Value, roots: Sequence[ir.Value]) -> list[ir.Value]:
    """The axes that a reduction over `roots` keeps when `axis` is factored out of it.

    First those that nothing made into `axis`, whole; then, in their order, the other loops of what `axis` is of.
    """
    relations: list[tuple[Sequence[ir.Value], Sequence[ir.Value]]] = []  # what was taken, what was made of it
    loops = list(roots)
    for primitive in primitives(of):
        taken, made = primitive.operands, primitive.results
        if primitive.name in ("split", "fuse"):
            parts = [(taken, made)]
        elif primitive.name == "tile":
            parts = [(taken[:1], made[0::2]), (taken[1:], made[1::2])]
        else:
            parts = []
        for old, new in parts:
            if old[0] in loops:
                place = loops.index(old[0])
                loops = [loop for loop in loops if loop not in old]
                loops[place:place] = new
                relations.append((old, new))
        order = made if primitive.name == "tile" else taken if primitive.name == "reorder" else ()
        placed = iter([loop for loop in order if loop in loops])
        loops = [next(placed) if loop in order else loop for loop in loops]
    touched, before = {axis}, 0
    while before != len(touched):
        before = len(touched)
        for old, new in relations:
            if touched & {*old, *new}:
                touched |= {*old, *new}
    kept = [root for root in roots if root not in touched]
    return kept + [loop for loop in loops if loop in touched and loop != axis]


def _value(attribute: ir.Attribute) -> Any:
    if isinstance(attribute, ir.IntegerAttr):
        return attribute.value
    if isinstance(attribute, ir.StringAttr):
        return attribute.value
    if isinstance(attribute, ir.ArrayAttr):
        return [_value(one) for one in attribute]
    if isinstance(attribute, ir.UnitAttr):
        return True
    if isinstance(attribute, ir.DenseI64ArrayAttr):
        return list(attribute)
    found = re.fullmatch(r"#schedule\.\w+<([\w.]+)>", str(attribute))  # the dialect's enums
    return found[1] if found else str(attribute)


def identifiers(names: Iterable[str], taken: Sequence[str] = ("s", "te")) -> dict[str, str]:
    """A Python identifier of its own for each name.

    >>> identifiers(["A", "A.shared", "lambda", "A_shared"])
    {'A': 'A', 'A.shared': 'A_shared', 'lambda': 'lambda_', 'A_shared': 'A_shared_1'}
    """
    made: dict[str, str] = {}
    for name in names:
        word = re.sub(r"\W", "_", name)
        word = f"_{word}" if not word or word[0].isdigit() else f"{word}_" if keyword.iskeyword(word) else word
        made[name] = unique_name(word, (*taken, *made.values()))
    return made
