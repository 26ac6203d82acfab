"""Whether an intrinsic computes what it describes, told by its IR alone: each element by the same operations.

Both are run with the elements of the inputs as unknowns. Terms that are made alike have one number, and the parts of
sums, products, maxima and minima may come in any order. Where all elements have the same numbers, both compute the same
of any inputs, up to how sums in another order round. Not all that is equal is proven so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlir import ir

from ..ir.attributes import parameters

__all__ = ["choices_in", "is_proven"]

_MAX_STEPS = 60_000
"""So many operations are run: of an intrinsic that has more nothing is proven."""
_ANY_ORDER = {
    *("arith.addi", "arith.addf", "arith.muli", "arith.mulf", "arith.maximumf", "arith.minimumf"),
    *("arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"),
}
_LEFT_OUT = {"arith.addi": 0, "arith.addf": 0.0, "arith.muli": 1, "arith.mulf": 1.0}
"""The constant that such an operation does without."""
_OPERATIONS = {
    "sum": ("addi", "addf"),
    "prod": ("muli", "mulf"),
    "min": ("mini", "minimumf"),
    "max": ("maxi", "maximumf"),
}
_OF_INDICES: dict[str, Callable[[int, int], int]] = {
    "arith.addi": lambda a, b: a + b,
    "arith.subi": lambda a, b: a - b,
    "arith.muli": lambda a, b: a * b,
}
_KINDS = {
    "a choice": ("scf.if", "scf.while", "arith.select", "arith.cmpf", "arith.cmpi"),
    "an extreme": (
        *("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf"),
        *("arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"),
    ),
    "bits": ("arith.andi", "arith.ori", "arith.xori", "arith.shli", "arith.shrsi", "arith.shrui", "arith.bitcast"),
    "a quotient": (
        *("arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.remf"),
        *("arith.floordivsi", "arith.ceildivsi"),
    ),
}
_CHOICES = {name: kind for kind, names in _KINDS.items() for name in names}


class _Unproven(Exception):
    """Something that is not looked into."""


def choices_in(ops: Sequence[Any]) -> dict[str, str]:
    """The operations on data of which random numbers may not meet each case, each with its kind."""
    found = {op.name: _CHOICES[op.name] for op in ops if op.name in _CHOICES and not _is_of_indices(op)}
    for op in ops:
        if op.name == "te.compute" and "reducer" in op.attributes:
            if parameters(op.attributes["reducer"])["reducer"] in ("min", "max"):
                found["te.compute"] = "an extreme"
    return found


def _is_of_indices(op: Any) -> bool:
    return len(op.operands) > 0 and isinstance(op.operands[0].type, ir.IndexType)


class _Terms:
    """Each term by a number."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.parts: dict[int, tuple[Any, tuple[int, ...]]] = {}
        self.constants: dict[int, int | float] = {}

    def number(self, key: Any) -> int:
        return self.numbers.setdefault(key, len(self.numbers))

    def constant(self, value: int | float, kind: str) -> int:
        made = self.number(("constant", repr(value), kind))
        self.constants[made] = value
        return made

    def made(self, name: str, details: Any, operands: Sequence[int]) -> int:
        if name not in _ANY_ORDER:
            return self.number((name, details, tuple(operands)))
        parts: list[int] = []
        for operand in operands:
            kind, inner = self.parts.get(operand, (None, ()))
            parts += inner if kind == (name, details) else [operand]
        kept = tuple(sorted(part for part in parts if self.constants.get(part) != _LEFT_OUT.get(name, ())))
        if len(kept) < 2:
            return kept[0] if kept else parts[0]
        made = self.number((name, details, kept))
        self.parts[made] = ((name, details), kept)
        return made


class _Run:
    """Runs functions on unknowns: values of indices are integers, others numbers of terms."""

    def __init__(self, terms: _Terms) -> None:
        self.terms, self.steps = terms, 0
        self.memory: dict[tuple[Any, tuple[int, ...]], int] = {}

    def function(self, function: Any, arguments: Sequence[Any]) -> list[Any]:
        block = function.regions[0].blocks[0]
        return self.block(block, dict(zip(block.arguments, arguments)))

    def block(self, block: Any, env: dict[Any, Any]) -> list[Any]:
        """What its terminator has."""
        for view in block.operations:
            op = view.operation
            self.steps += 1
            # Loops that are run in another way than one iteration after the other.
            if self.steps > _MAX_STEPS or "schedule.bind" in op.attributes or "schedule.vectorize" in op.attributes:
                raise _Unproven
            given = [env[value] for value in op.operands]
            if op.name in ("scf.yield", "te.yield", "func.return"):
                return given
            if op.name == "scf.for":
                self.loop(op, given, env)
            elif op.name == "te.compute":
                self.compute(op, env)
            elif op.name == "memref.alloca":
                env[op.results[0]] = ("scratch", self.steps)
            elif op.name == "te.read":
                place = _applied(op, given[1:])
                env[op.results[0]] = self.load(given[0], place, op.operands[0].type.shape)
            elif op.name == "memref.load":
                env[op.results[0]] = self.load(given[0], given[1:], op.operands[0].type.shape)
            elif op.name == "memref.store":
                if given[1][0] == "input":
                    raise _Unproven
                self.memory[_at(given[1], given[2:], op.operands[1].type.shape)] = given[0]
            else:
                env[op.results[0]] = self.value(op, given)
        return []

    def load(self, buffer: Any, place: Sequence[int], shape: Sequence[int]) -> int:
        at = _at(buffer, place, shape)
        if at not in self.memory:
            if buffer[0] != "input":
                raise _Unproven
            self.memory[at] = self.terms.number(at)
        return self.memory[at]

    def value(self, op: Any, given: list[Any]) -> Any:
        if len(op.results) != 1 or len(op.regions):
            raise _Unproven
        kind = op.results[0].type
        if op.name == "arith.constant":
            value = op.attributes["value"].value
            return value if isinstance(kind, ir.IndexType) else self.terms.constant(value, str(kind))
        if isinstance(kind, ir.IndexType):
            if op.name == "affine.apply":
                return _applied(op, given)[0]
            return _OF_INDICES[op.name](*given)
        if not op.name.startswith(("arith.", "math.")) or any(
            isinstance(one.type, ir.IndexType) for one in op.operands
        ):
            raise _Unproven
        named = [op.attributes[i] for i in range(len(op.attributes))]
        details = (str(kind), str(op.operands[0].type), *(f"{one.name}={one.attr}" for one in named if _counts(one)))
        return self.terms.made(op.name, details, given)

    def loop(self, op: Any, given: list[Any], env: dict[Any, Any]) -> None:
        begin, end, step, *carried = given
        if step < 1:
            raise _Unproven
        block = op.regions[0].blocks[0]
        for index in range(begin, end, step):
            env.update(zip(block.arguments, [index, *carried]))
            carried = self.block(block, env)
        env.update(zip(op.results, carried))

    def compute(self, op: Any, env: dict[Any, Any]) -> None:
        """The elements of a result, as the elements of a buffer of its name."""
        extents = [int(n) for n in ir.DenseI64ArrayAttr(op.attributes["static_extents"])]
        kind = ir.RankedTensorType(op.results[0].type)
        block = op.regions[0].blocks[0]
        if len(op.results) != 1 or (len(op.regions) > 1 and len(op.regions[1].blocks)):
            raise _Unproven
        env[op.results[0]] = ("computed",)
        for place in itertools.product(*map(range, kind.shape)):
            found: list[int] = []
            for rest in itertools.product(*map(range, extents[kind.rank :])):
                env.update(zip(block.arguments, (*place, *rest)))
                found += self.block(block, env)
            if len(found) > 1:
                found = [_reduced(self.terms, op, kind.element_type, found)]
            self.memory[("computed",), place] = found[0]


def _counts(named: Any) -> bool:
    """Whether an attribute says what an operation computes, of any numbers."""
    return named.name != "fastmath" and str(named.attr) != "#arith.overflow<none>"


def _at(buffer: Any, place: Sequence[int], shape: Sequence[int]) -> tuple[Any, tuple[int, ...]]:
    if not all(0 <= index < extent for index, extent in zip(place, shape)):
        raise _Unproven
    return buffer, tuple(place)


def _reduced(terms: _Terms, compute: Any, kind: Any, values: Sequence[int]) -> int:
    of_integers, of_floats = _OPERATIONS[parameters(compute.attributes["reducer"])["reducer"]]
    name = of_floats if isinstance(kind, ir.FloatType) else of_integers
    if name in ("mini", "maxi"):
        is_unsigned = "is_unsigned" in compute.attributes and ir.BoolAttr(compute.attributes["is_unsigned"]).value
        name = f"{name[:3]}{'ui' if is_unsigned else 'si'}"
    return terms.made(f"arith.{name}", (str(kind), str(kind)), values)


def _applied(op: Any, operands: Sequence[int]) -> list[int]:
    """The results of the op's map."""
    if "map" not in op.attributes:
        return list(operands)
    applied = ir.AffineMapAttr(op.attributes["map"]).value
    return [_evaluated(one, operands, applied.n_dims) for one in applied.results]


def _evaluated(expr: Any, operands: Sequence[int], dims: int) -> int:
    if isinstance(expr, ir.AffineConstantExpr):
        return expr.value
    if isinstance(expr, ir.AffineDimExpr):
        return operands[expr.position]
    if isinstance(expr, ir.AffineSymbolExpr):
        return operands[dims + expr.position]
    a, b = (_evaluated(one, operands, dims) for one in (expr.lhs, expr.rhs))
    if isinstance(expr, ir.AffineAddExpr):
        return a + b
    if isinstance(expr, ir.AffineMulExpr):
        return a * b
    if b <= 0:
        raise _Unproven
    if isinstance(expr, ir.AffineModExpr):
        return a % b
    return a // b if isinstance(expr, ir.AffineFloorDivExpr) else -(-a // b)


def is_proven(functions: Mapping[str, Any], outputs: int) -> bool:
    """Whether the functions beside ``@describe`` compute what it says, and ``@update`` adds it to what is there.

    The last `outputs` arguments of each are the outputs.
    """
    try:
        return _is_proven(functions, outputs)
    except (_Unproven, KeyError, TypeError, ValueError, IndexError, AttributeError):
        return False


def _is_proven(functions: Mapping[str, Any], outputs: int) -> bool:
    describe = functions["describe"]
    count = len(describe.regions[0].blocks[0].arguments) - outputs
    if outputs != 1:
        return False
    terms = _Terms()

    def described(given: int) -> dict[tuple[int, ...], int]:
        run = _Run(terms)
        (buffer,) = run.function(describe, [*(("input", given, i) for i in range(count)), ("output",)])
        return {place: value for (where, place), value in run.memory.items() if where == buffer}

    def found(run: _Run) -> dict[tuple[int, ...], int]:
        return {place: value for (where, place), value in run.memory.items() if where == ("output",)}

    def do(run: _Run, role: str, given: int) -> None:
        run.function(functions[role], [*(("input", given, i) for i in range(count)), ("output",)])

    first = described(0)
    if "body" in functions:
        run = _Run(terms)
        do(run, "body", 0)
        if found(run) != first:
            return False
    if "update" in functions:
        run = _Run(terms)
        if "reset" in functions:
            do(run, "reset", 0)
            do(run, "update", 0)
            if found(run) != first:
                return False
        else:
            run.memory.update({(("output",), place): value for place, value in first.items()})
        do(run, "update", 1)
        (compute,) = [
            op.operation for op in describe.regions[0].blocks[0].operations if op.operation.name == "te.compute"
        ]
        kind = ir.RankedTensorType(compute.results[0].type).element_type
        second = described(1)
        if found(run) != {place: _reduced(terms, compute, kind, [first[place], second[place]]) for place in first}:
            return False
    return True
