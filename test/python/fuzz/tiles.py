"""Intrinsics for tiles of stages: each describes what the stage computes, and does it in loops of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from fuzz.choices import Choices
from tilewright import te, tir
from tilewright.te import ComputeOp, IterVar, Tensor
from tilewright.te.expr import Const, Expr, Previous, Read, Var
from tilewright.te.intrinsic import TensorIntrin
from tilewright.te.linear import Linear, linear_of
from tilewright.te.rewrite import rewrite

_REDUCE: dict[str, Callable[..., Expr]] = {"sum": te.sum, "prod": te.prod, "max": te.max, "min": te.min}
_COMBINE: dict[str, Callable[[Any, Any], Expr]] = {
    "sum": lambda x, y: x + y, "prod": lambda x, y: x * y, "max": te.max, "min": te.min,
}  # fmt: skip
_IDENTITY: dict[str, Callable[[str], Const]] = {
    "sum": lambda dtype: te.const(0, dtype), "prod": lambda dtype: te.const(1, dtype),
    "max": te.min_value, "min": te.max_value,
}  # fmt: skip


@dataclass(frozen=True)
class Element:
    """What a stage computes: expressions over its axes, combined along the reduction axes where there are some."""

    axes: tuple[IterVar, ...]
    reduce_axes: tuple[IterVar, ...]
    exprs: tuple[Expr, ...]
    reduction: str = ""


def element_of(op: ComputeOp) -> Element | None:
    """Of an op, unless its combiner is one of its own, or it says where an element is."""
    if op.reduction is None:
        made = Element(op.axis, (), op.body)
    elif op.reduction.name in _REDUCE:
        made = Element(op.axis, op.reduce_axis, op.reduction.exprs, op.reduction.name)
    else:
        return None
    todo = list(made.exprs)
    while todo:
        expr = todo.pop()
        if isinstance(expr, Read):
            if any(linear_of(index) is None for index in expr.indices):
                return None
        elif isinstance(expr, (IterVar, Previous, Var)):
            return None
        else:
            todo += expr.operands()
    return made


def copy_of(tensors: Sequence[Tensor], axes: Sequence[IterVar]) -> Element:
    return Element(tuple(axes), (), tuple(tensor[tuple(axes)] for tensor in tensors))


@dataclass
class _Input:
    """Reads of a tensor that are one input of the intrinsic."""

    tensor: Tensor
    places: dict[int, list[Linear]] = field(default_factory=dict)  # by read: of each of the input's dimensions
    shape: tuple[int, ...] = ()


class Tile:
    """A tile of a stage: `factors` are its extents, those of the reduction axes last."""

    def __init__(self, choices: Choices, element: Element, factors: Sequence[int]) -> None:
        self.choices, self.element = choices, element
        self.factors = dict(zip(map(id, (*element.axes, *element.reduce_axes)), factors))
        self.drops = choices.chance(40)  # what is of one element
        self.axes, self.reduce_axes = self._kept(element.axes), self._kept(element.reduce_axes)
        self.inputs = self._inputs()

    def _kept(self, axes: Sequence[IterVar]) -> list[IterVar]:
        return [axis for axis in axes if not self.drops or self.factors[id(axis)] > 1] or list(axes[:1])

    def _local(self, index: Expr) -> tuple[Linear, tuple[Any, ...]]:
        """What an index adds within a tile, and a key of what is outside."""
        place = linear_of(index)
        assert place is not None
        own = {id(axis) for axis in (*self.axes, *self.reduce_axes)}
        inside = Linear({key: term for key, term in place.terms.items() if key in own}, place.constant)
        outside = sorted((axis.name, count) for key, (axis, count) in place.terms.items() if key not in own)
        return inside, (*outside, *sorted((axis.name, count) for axis, count in inside.terms.values()))

    def _inputs(self) -> list[_Input]:
        """Each read is an input of its own, or all windows of a tensor are one."""
        windows = self.choices.chance(50)
        groups: dict[Any, list[Read]] = {}
        todo = list(reversed(self.element.exprs))
        while todo:
            expr = todo.pop()
            if isinstance(expr, Read):
                keys = tuple(self._local(index)[1] for index in expr.indices)
                groups.setdefault((expr.tensor.name, keys if windows else str(expr)), []).append(expr)
            else:
                todo += reversed(expr.operands())
        return [self._input(reads) for reads in groups.values()]

    def _input(self, reads: list[Read]) -> _Input:
        made = _Input(reads[0].tensor)
        places = [[self._local(index)[0] for index in read.indices] for read in reads]
        shape = []
        for d in range(len(places[0])):
            first = [
                place[d].constant + sum(min(0, n * (self.factors[id(a)] - 1)) for a, n in place[d].terms.values())
                for place in places
            ]
            last = [
                place[d].constant + sum(max(0, n * (self.factors[id(a)] - 1)) for a, n in place[d].terms.values())
                for place in places
            ]
            for place in places:
                place[d] = place[d] - Linear.number(min(first))
            shape.append(max(last) - min(first) + 1)
        kept = [d for d, extent in enumerate(shape) if not self.drops or extent > 1]
        kept = kept or list(range(len(shape)))[:1]  # a scalar has none
        made.shape = tuple(shape[d] for d in kept)
        made.places = {id(read): [place[d] for d in kept] for read, place in zip(reads, places)}
        return made

    def _values(self, at: Mapping[int, Expr], tensors: Sequence[Any]) -> list[Expr]:
        """The elements, read from `tensors` in place of the stage's."""

        def index(place: Linear) -> Any:
            terms = [at[key] * count if count != 1 else at[key] for key, (_, count) in place.terms.items()]
            if not terms:
                return place.constant
            total = terms[0]
            for term in terms[1:]:
                total = total + term
            return total + place.constant if place.constant else total

        def replace(expr: Expr) -> Expr | None:
            for one, tensor in zip(self.inputs, tensors):
                if id(expr) in one.places:
                    return tensor[tuple(map(index, one.places[id(expr)]))]
            return None

        return [rewrite(expr, replace) for expr in self.element.exprs]

    def intrinsic(self, name: str) -> TensorIntrin:
        given = [te.placeholder(one.shape, one.tensor.dtype, name=f"x{n}") for n, one in enumerate(self.inputs)]
        inner = [te.reduce_axis((0, self.factors[id(axis)]), f"k{n}") for n, axis in enumerate(self.reduce_axes)]

        def described(*axes: IterVar) -> Any:
            at = dict(zip(map(id, (*self.axes, *self.reduce_axes)), (*axes, *inner)))
            values = self._values(at, given)
            if self.element.reduction:
                return _REDUCE[self.element.reduction](values[0], axis=inner)
            return tuple(values) if len(values) > 1 else values[0]

        made = te.compute([self.factors[id(axis)] for axis in self.axes], described, name="y")
        op = (made[0] if isinstance(made, tuple) else made).op
        c = self.choices
        parts = c.pick([(True, True, True), (False, True, True), (True, False, True)])
        own, kind, order = c.chance(30), c.pick(["serial", "unroll"]), c.shuffled(self.axes)

        def statements(ins: list[Any], outs: list[Any]) -> Any:
            buffers = dict(zip((tensor.name for tensor in op.input_tensors), ins))
            tensors = [buffers[tensor.name] for tensor in given]
            if not self.element.reduction:
                return self._elements(tensors, outs, order, kind)
            body = self._combined(tensors, outs[0], order, kind, own=own) if parts[0] else None
            reset = self._combined(tensors, outs[0], order, kind, adds=False) if parts[1] else None
            return body, reset, self._combined(tensors, outs[0], order, kind, clears=False)

        return te.decl_tensor_intrin(op, statements, name=name)

    def _elements(self, ins: list[Any], outs: list[Any], order: Sequence[IterVar], kind: str) -> Any:
        ib = tir.ir_builder.create()
        results = [ib.buffer_ptr(out) for out in outs]
        with ExitStack() as loops:
            at = self._loops(ib, order, kind, loops)
            for result, value in zip(results, self._values(at, ins)):
                result[tuple(at[id(axis)] for axis in self.axes)] = value
        return ib.get()

    def _combined(
        self, ins: list[Any], out: Any, order: Sequence[IterVar], kind: str,
        *, clears: bool = True, adds: bool = True, own: bool = False,
    ) -> Any:  # fmt: skip
        ib, name = tir.ir_builder.create(), self.element.reduction
        result = ib.buffer_ptr(out)
        with ExitStack() as outer:
            at = self._loops(ib, order, "serial", outer)
            place = tuple(at[id(axis)] for axis in self.axes)
            total = ib.allocate(out.dtype, (1,), name="own") if own else result
            there = (0,) if own else place
            if clears:
                total[there] = _IDENTITY[name](out.dtype)
            if adds:
                with ExitStack() as loops:
                    at |= self._loops(ib, self.reduce_axes, kind, loops)
                    total[there] = _COMBINE[name](total[there], self._values(at, ins)[0])
            if own:
                result[place] = total[there]
        return ib.get()

    def _loops(self, ib: Any, axes: Sequence[IterVar], kind: str, stack: ExitStack) -> dict[int, Expr]:
        made = {}
        for n, axis in enumerate(axes):
            loop = ib.for_range(0, self.factors[id(axis)], name=f"t{n}", kind=kind if n == len(axes) - 1 else "serial")
            made[id(axis)] = stack.enter_context(loop)
        return made
