"""Values of the loops stage as expressions in Python's notation, over the names that loops and buffers have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from mlir import ir

from ..program import unique_name
from ..walks import Steps, run
from .notation import (
    ADD,
    ATOM,
    CALLS,
    CASTS,
    CHOICE,
    COMPARE,
    FLOAT_ORDER,
    INFIX,
    INTEGER_ORDER,
    LOGIC,
    MULTIPLY,
    OR,
    SIGN,
    Text,
    dtype_name,
    infix,
)

__all__ = ["Expressions"]

# An index that is written out more than once gets a name if it is at least so long, or if that saves so much.
_LONG, _SAVES = 16, 40


def _atom(text: str) -> Text:
    return Text(text, ATOM, text)


class Expressions:
    """The values of one function. Loops and buffers are named as they are met, from the outside in."""

    def __init__(self, function: ir.Operation) -> None:
        self._names: dict[ir.Value, str] = {}
        self._symbols: dict[ir.Value, list[str]] = {}
        self._abbreviations = _Abbreviations()
        attributes: Any = ir.ArrayAttr(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else []
        for argument, given in zip(function.regions[0].blocks[0].arguments, attributes):
            known = ir.DictAttr(given)
            if "te.name" in known:
                self._names[argument] = ir.StringAttr(known["te.name"]).value
            if "te.symbols" in known:
                self._symbols[argument] = [ir.StringAttr(symbol).value for symbol in ir.ArrayAttr(known["te.symbols"])]

    def name(self, value: ir.Value, wanted: str) -> str:
        """Gives a loop's index or a buffer a name of its own, as near to the one wanted as can be."""
        self._names[value] = unique_name(wanted, self._names.values())
        return self._names[value]

    def _tuple_of(self, values: Sequence[ir.Value]) -> str:
        """Several values that are there at the same time."""
        texts = [self.of(value).text for value in values]
        made = [None if isinstance(value.owner, ir.Block) else value.owner.operation for value in values]
        choices = [op for op in made if op is not None and op.name == "arith.select"]
        if len(choices) == len(values) and all(op.operands[0] == choices[0].operands[0] for op in choices):
            yes, no = (", ".join(self.of(op.operands[side]).text for op in choices) for side in (1, 2))
            return f"({yes}) if {self.of(choices[0].operands[0]).within(OR)} else ({no})"
        return ", ".join(texts)

    def forget(self, value: ir.Value) -> None:
        """The name is free again: its loop has ended."""
        del self._names[value]

    def is_taken(self, name: str) -> bool:
        return name in self._names.values()

    def abbreviated(self, render: Callable[[], list[str]]) -> list[str]:
        """The lines that `render` makes, before them the indices that they would write out more than once."""
        self._abbreviations.count(render)
        lines = render()
        return self._abbreviations.end() + lines

    def element(self, buffer: ir.Value, indices: Sequence[ir.Value]) -> str:
        """One element of a buffer."""
        return self._element(buffer, [self.of(index) for index in indices])

    def _element(self, buffer: ir.Value, indices: Sequence[Text]) -> str:
        name = self._names.get(buffer, "buffer")
        return f"{name}[{', '.join(index.text for index in indices)}]" if indices else name

    def assignments(self, targets: Sequence[str], values: Sequence[ir.Value]) -> str:
        """The assignment of each value to its target, all at once; of one in short form where it adds something."""
        if len(targets) > 1:
            return f"{', '.join(targets)} = {self._tuple_of(values)}"
        (target,), (value,) = targets, values
        if not isinstance(value.owner, ir.Block):
            made = value.owner.operation
            if made.name in ("arith.addf", "arith.addi") and self.of(made.operands[0]).text == target:
                return f"{target} += {self.of(made.operands[1]).text}"
        return f"{target} = {self.of(value).text}"

    def of(self, value: ir.Value) -> Text:
        """The expression of a value."""
        return run(self._of(value))

    def _all_of(self, values: Sequence[ir.Value]) -> Steps[list[Text]]:
        texts: list[Text] = []
        for value in values:
            texts.append((yield self._of(value)))
        return texts

    def _of(self, value: ir.Value) -> Steps[Text]:
        known = self._names.get(value)
        if known is not None:
            return _atom(known)
        if isinstance(value.owner, ir.Block):
            return _atom("?")
        op = value.owner.operation
        name = op.name
        if name == "arith.constant":
            return self._constant(op.attributes["value"])
        if name == "affine.apply":
            index_map = ir.AffineMapAttr(op.attributes["map"]).value
            operands = yield self._all_of(op.operands)
            dims, symbols = operands[: index_map.n_dims], operands[index_map.n_dims :]
            return (yield self._affine(index_map.results[0], dims, symbols))
        if name == "memref.load":
            indices = yield self._all_of(list(op.operands)[1:])
            return _atom(self._element(op.operands[0], indices))
        if name == "memref.dim":
            return self._extent(op)
        if name in ("arith.index_cast", "arith.index_castui"):
            return (yield self._of(op.operands[0]))
        if name == "arith.select":
            return (yield self._choice(*op.operands))
        if name == "scf.if":
            position = next(i for i, result in enumerate(op.results) if result == value)
            yields = [list(region.blocks[0].operations)[-1].operation for region in op.regions]
            return (yield self._choice(op.operands[0], *(one.operands[position] for one in yields)))
        return self._arithmetic(op, str(value.type), (yield self._all_of(op.operands)))

    @staticmethod
    def _arithmetic(op: ir.Operation, kind: str, operands: Sequence[Text]) -> Text:
        name = op.name
        if name in ("arith.cmpi", "arith.cmpf"):
            order = INTEGER_ORDER if name == "arith.cmpi" else FLOAT_ORDER
            return infix(order.get(ir.IntegerAttr(op.attributes["predicate"]).value, "?"), COMPARE, operands)
        if name in LOGIC:
            return infix(*LOGIC[name][0 if kind == "i1" else 1], operands)
        if name in INFIX:
            return infix(*INFIX[name], operands)
        if name == "arith.negf":
            return Text(f"-{operands[0].within(SIGN)}", SIGN, f"-{operands[0].key}")
        called = CALLS.get(name) or (dtype_name(kind) if name.startswith(CASTS) else name.split(".")[-1])
        return _atom(f"{called}({', '.join(operand.text for operand in operands)})")

    def _choice(self, condition: ir.Value, yes: ir.Value, no: ir.Value) -> Steps[Text]:
        first, when, other = yield self._all_of((yes, condition, no))
        text = f"{first.within(OR)} if {when.within(OR)} else {other.within(CHOICE)}"
        return Text(text, CHOICE, text)

    @staticmethod
    def _constant(value: ir.Attribute) -> Text:
        if isinstance(value, ir.BoolAttr):
            return _atom(str(value.value))
        if isinstance(value, ir.IntegerAttr):
            number: float = value.value
        else:  # the shortest that is this number in its type
            short = {"f64": np.float64, "f16": np.float16}.get(str(value.type), np.float32)
            number = float(str(short(ir.FloatAttr(value).value)))
        return Text(repr(number), SIGN if repr(number).startswith("-") else ATOM, repr(number))

    def _extent(self, op: ir.Operation) -> Text:
        buffer, dimension = op.operands[0], self.of(op.operands[1]).text
        symbols = self._symbols.get(buffer)
        if symbols is not None and dimension.isdigit() and symbols[int(dimension)].isidentifier():
            return _atom(symbols[int(dimension)])
        return _atom(f"{self.element(buffer, [])}.shape[{dimension}]")

    def _affine(self, expr: ir.AffineExpr, dims: Sequence[Text], symbols: Sequence[Text]) -> Steps[Text]:
        if isinstance(expr, ir.AffineConstantExpr):
            return Text(str(expr.value), SIGN if expr.value < 0 else ATOM, str(expr.value))
        if isinstance(expr, ir.AffineDimExpr):
            return dims[expr.position]
        if isinstance(expr, ir.AffineSymbolExpr):
            return symbols[expr.position]
        pair: Any = expr
        left = yield self._affine(pair.lhs, dims, symbols)
        right = yield self._affine(pair.rhs, dims, symbols)
        return self._abbreviations.shorten(self._binary(expr, left, right), (left, right))

    @staticmethod
    def _binary(expr: ir.AffineExpr, left: Text, right: Text) -> Text:
        if isinstance(expr, ir.AffineAddExpr):
            if right.text.startswith("-") and right.binds >= MULTIPLY:  # MLIR has no difference
                return infix("-", ADD, (left, Text(right.text[1:], right.binds, right.key)))
            return infix("+", ADD, (left, right))
        if isinstance(expr, ir.AffineMulExpr):
            if right.text == "-1":
                return Text(f"-{left.within(SIGN)}", SIGN, f"-{left.key}")
            return infix("*", MULTIPLY, (left, right), "")
        if isinstance(expr, ir.AffineModExpr):
            return infix("%", MULTIPLY, (left, right), "")
        if isinstance(expr, ir.AffineFloorDivExpr):
            return infix("//", MULTIPLY, (left, right), "")
        return _atom(f"ceildiv({left.text}, {right.text})")


class _Abbreviations:
    """Names for indices that stand more than once in a few lines: these are rendered twice, once to count."""

    def __init__(self) -> None:
        self._counting = False
        self._counts: Counter[str] = Counter()
        self._lengths: dict[str, int] = {}
        self._around: dict[str, set[str]] = {}  # what each expression is a part of
        self._defined: dict[str, tuple[str, str]] = {}

    def count(self, render: Callable[[], object]) -> None:
        """Renders the lines to see what they are made of."""
        self._counts, self._around, self._counting = Counter(), {}, True
        render()
        self._counting = False

    def shorten(self, made: Text, parts: Sequence[Text]) -> Text:
        """The expression itself, or the name that stands for it."""
        if self._counting:
            self._counts[made.key] += 1
            self._lengths[made.key] = len(made.text)
            for part in parts:
                self._around.setdefault(part.key, set()).add(made.key)
        elif self._is_repeated(made.key):
            name, _ = self._defined.setdefault(made.key, (f"t{len(self._defined)}", made.text))
            return Text(name, ATOM, made.key)
        return made

    def end(self) -> list[str]:
        """The definitions. Nothing is abbreviated from here on."""
        lines = [f"{name} = {text}" for name, text in self._defined.values()]
        self._counts, self._defined = Counter(), {}
        return lines

    def _is_repeated(self, key: str) -> bool:
        count, around = self._counts[key], self._around.get(key, set())
        length = self._lengths.get(key, 0)
        if length < _LONG and (count - 1) * length < _SAVES:
            return False
        return count > 1 and not (len(around) == 1 and self._counts[next(iter(around))] == count)
