"""A schedule's primitives, read back from its IR: what `Schedule.trace` and `Schedule.explain` tell."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mlir import ir

from ...ir.attributes import parameters
from ...ir.diagnostics import describe
from ..program import unique_name

__all__ = ["Loops", "Primitive", "factored_axes", "identifiers", "loops_of_stage", "primitives"]


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
    loops, relations = _loops(of, roots)
    touched, before = {axis}, 0
    while before != len(touched):
        before = len(touched)
        for old, new in relations:
            if touched & {*old, *new}:
                touched |= {*old, *new}
    kept = [root for root in roots if root not in touched]
    return kept + [loop for loop in loops if loop in touched and loop != axis]


_Relation = tuple[Sequence[ir.Value], Sequence[ir.Value]]  # what was taken, what was made of it


def _loops(
    of: ir.Operation, roots: Sequence[ir.Value], stage: ir.Value | None = None
) -> tuple[list[ir.Value], list[_Relation]]:
    """The loops that were made of the axes `roots`, the outermost first, and how; with the singletons of a stage."""
    relations: list[_Relation] = []
    loops = list(roots)
    for primitive in primitives(of):
        taken, made = primitive.operands, primitive.results
        if primitive.name in ("split", "fuse"):
            parts = [(taken, made)]
        elif primitive.name == "tile":
            parts = [(taken[:1], made[0::2]), (taken[1:], made[1::2])]
        else:
            parts = []
        if primitive.name == "singleton" and stage is not None and primitive.operands[0] == stage:
            loops.insert(0, primitive.results[0])
        for old, new in parts:
            if all(one in loops for one in old):
                nest = loops
                place = min(loops.index(one) for one in old)
                loops = [loop for loop in loops if loop not in old]
                loops[place:place] = new
                relations.append((sorted(old, key=nest.index), new))
        order = made if primitive.name == "tile" else taken if primitive.name == "reorder" else ()
        placed = iter([loop for loop in order if loop in loops])
        loops = [next(placed) if loop in order else loop for loop in loops]
    return loops, relations


@dataclass(frozen=True, slots=True)
class Loops:
    """The loops that were made of a stage's axes, the outermost first, and the extents of all that there was."""

    loops: tuple[ir.Value, ...]
    extents: Mapping[ir.Value, Any]
    relations: tuple[_Relation, ...]

    def axes_at(self, values: Mapping[ir.Value, Any]) -> dict[ir.Value, Any]:
        """The values of the axes, and of all between, where the loops have these."""
        known = dict(values)
        for old, new in reversed(self.relations):
            if any(one not in known for one in new):
                continue
            if len(new) == 2:
                known[old[0]] = known[new[0]] * self.extents[new[1]] + known[new[1]]
                continue
            index = known[new[0]]
            for part in reversed(old):  # from the fastest to the slowest
                known[part] = index if part == old[0] else index % self.extents[part]
                index = index // self.extents[part]
        return known

    def loops_at(self, values: Mapping[ir.Value, Any]) -> dict[ir.Value, Any]:
        """The values of the loops, and of all between, where the axes have these."""
        known = {**dict.fromkeys(self.loops, 0), **values}
        for old, new in self.relations:
            if any(one not in known for one in old):
                continue
            if len(new) == 2:
                known[new[0]] = known[old[0]] // self.extents[new[1]]
                known[new[1]] = known[old[0]] % self.extents[new[1]]
                continue
            index = known[old[0]]
            for part in old[1:]:
                index = index * self.extents[part] + known[part]
            known[new[0]] = index
        return known


def loops_of_stage(of: ir.Operation, stage: ir.Value, extents: Mapping[ir.Value, Any]) -> Loops:
    """What became of the axes of a stage, whose extents are given."""
    loops, relations = _loops(of, list(extents), stage)
    known, factors = dict(extents), dict[ir.Value, tuple[int | None, int | None]]()
    for primitive in primitives(of):
        if primitive.name == "singleton" and primitive.operands[0] == stage:
            known[primitive.results[0]] = 1
        elif primitive.name == "split":
            factors[primitive.operands[0]] = primitive.options.get("factor"), primitive.options.get("nparts")
        elif primitive.name == "tile":
            for axis, name in zip(primitive.operands, ("x_factor", "y_factor")):
                factors[axis] = primitive.options[name], None
    for old, new in relations:
        if len(new) == 1:
            product = 1
            for part in old:
                product = known[part] * product
            known[new[0]] = product
            continue
        factor, nparts = factors[old[0]]
        given, whole = factor or nparts or 1, known[old[0]]
        rest = -(-whole // given) if isinstance(whole, int) else (whole + (given - 1)) // given
        known[new[0]], known[new[1]] = (rest, given) if factor else (given, rest)
    return Loops(tuple(loops), known, tuple(relations))


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
    given = parameters(attribute)  # of an enum its case alone
    return next(iter(given.values())) if len(given) == 1 else str(attribute)


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
