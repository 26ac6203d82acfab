"""The conditions under which a score that a user writes is not minus infinity."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .. import te
from ..te.expr import Call, Cast, Const, Expr, IterVar, Read, ReduceItem, Select
from ..te.intervals import Intervals
from ..te.rewrite import rewrite
from ..te.walks import parts

__all__ = ["ReadMask", "eager", "is_number", "reads_of", "stripped"]

_DIVISIONS = ("floordiv", "floormod", "truncdiv", "truncmod")


@dataclass(frozen=True, slots=True)
class ReadMask:
    """A mask, apart from the score."""

    sees: Expr
    score: Expr  # where the mask holds
    is_lazy: bool  # whether the score is computed there alone

    @classmethod
    def of(cls, score: Expr, raw: Read) -> ReadMask | None:
        """That of the outermost choices of a score, as far as they do not depend on the dot product `raw`."""
        seen, is_lazy = list[Expr](), False
        while isinstance(score, Select):
            holds = is_number(score.false_value, -math.inf)
            is_mask = holds or is_number(score.true_value, -math.inf)
            if not is_mask or any(part is raw for part in parts([score.condition])):
                break
            seen.append(score.condition if holds else ~score.condition)
            is_lazy |= score.lazy
            score = score.true_value if holds else score.false_value
        return cls(te.all(*seen), score, is_lazy) if seen else None

    def depends_on(self, axis: IterVar) -> bool:
        return any(part is axis for part in parts([self.sees]))

    def is_read_at(self, *axes: IterVar) -> bool:
        """Whether it reads memory at one of these axes, so that its place alone does not say what it is."""
        indices = [index for read in reads_of(self.sees) for index in read.indices]
        return any(part is axis for part in parts(indices) for axis in axes)


def eager(expr: Expr) -> Expr:
    """The expression without branches around what can always be computed: reads of elements that tensors have."""

    def replace(part: Expr) -> Expr | None:
        if not isinstance(part, Select) or not part.lazy:
            return None
        condition, yes, no = (rewrite(one, replace) for one in part.operands())
        if not (_is_safe(yes) and _is_safe(no)):
            return Select(condition, yes, no, True, part.source)
        if isinstance(no, Const) and no.value is False:
            return Call("and", (condition, yes), part.element_type, part.source)
        if isinstance(yes, Const) and yes.value is True:
            return Call("or", (condition, no), part.element_type, part.source)
        return Select(condition, yes, no, False, part.source)

    return rewrite(expr, replace)


def _is_safe(expr: Expr) -> bool:
    intervals = Intervals()
    for part in parts([expr]):
        if isinstance(part, ReduceItem):
            return False
        if isinstance(part, Call) and not part.element_type.is_float and part.op in _DIVISIONS:
            low, high = intervals.of(part.b)
            if low <= 0 <= high:
                return False
        if isinstance(part, Read):
            for index, extent in zip(part.indices, part.tensor.shape, strict=True):
                low, high = intervals.of(index)
                if low < 0 or not isinstance(extent, int) or high >= extent:
                    return False
    return True


def stripped(expr: Expr) -> Expr:
    """The expression without the conversions to types of floats around it."""
    while isinstance(expr, Cast) and expr.element_type.is_float:
        expr = expr.value
    return expr


def is_number(expr: Expr, value: float) -> bool:
    """Whether an expression is this number, in any type."""
    expr = stripped(expr)
    return isinstance(expr, Const) and float(expr.value) == value


def reads_of(expr: Expr) -> list[Read]:
    """The reads in an expression, each once."""
    return [part for part in parts([expr]) if isinstance(part, Read)]
