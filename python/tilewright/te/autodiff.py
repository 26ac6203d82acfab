"""Reverse mode over tensor expressions: the computes that give the gradients of a tensor."""

from __future__ import annotations

import builtins
from collections.abc import Sequence

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import Source, user_source
from .conditions import all, if_then_else
from .definitions import compute
from .derivative import derivative, same
from .expr import Cast, Const, Expr, IterVar, Read, ReduceItem, Select
from .extern_op import ExternOp
from .linear import Linear, linear_of
from .program import operations
from .reduction import Reduction, reduce_axis, sum
from .reduction import max as largest
from .reduction import min as least
from .rewrite import rewrite
from .scan_stages import ScanOp
from .tensor import ComputeOp, Tensor

__all__ = ["gradient"]


def gradient(output: Tensor, inputs: Tensor | Sequence[Tensor], head: Tensor | None = None) -> list[Tensor]:
    """The gradients of `output` by each of `inputs`, as tensors to put into a schedule or a program.

    Parameters
    ----------
    output
        A tensor of floats.
    inputs
        What to differentiate by: inputs of the program, or tensors in between.
    head
        The gradient of a result by `output`: of its shape, with any extents before it. Without it the gradients are
        Jacobians, whose shapes are the output's followed by the input's.

    Returns
    -------
    A list of tensors, each with the extents of `head` before the output's, then those of the input.

    Elementwise expressions, broadcasts, sums and sums of products can be differentiated, such as matmuls and
    convolutions of any stride. So can reductions by `te.max` and `te.min`; every element that is the result gets the
    gradient. Where their elements are computed, these are a tensor of the program. Reads at indices that are sums of
    axes become gathers. Reads at other indices become sums over all elements that may match.

    Raises
    ------
    ValueError
        Where `head` has another shape than the output.
    TypeError
        Something has no derivative here: a scan, `te.prod`, or your own reducer.

    >>> from tilewright import te
    >>> A, B = te.placeholder((8, 4), name="A"), te.placeholder((4, 6), name="B")
    >>> k = te.reduce_axis((0, 4), name="k")
    >>> C = te.compute((8, 6), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    >>> head = te.placeholder(C.shape, name="head")
    >>> dA, dB = te.gradient(C, [A, B], head)
    >>> dA.shape, dB.shape
    ((8, 4), (4, 6))
    """
    source = user_source()
    try:
        wanted = [inputs] if isinstance(inputs, Tensor) else list(inputs)
    except builtins.TypeError:
        raise TypeError(f"{source}: te.gradient: expected tensors as inputs, got {inputs!r}") from None
    for what, one in (("output", output), *(("input", one) for one in wanted)):
        if not isinstance(one, Tensor):
            raise TypeError(f"{source}: te.gradient: expected a tensor as {what}, got {one!r}")
        if not one.op.element_types[one.value_index].is_float:
            raise TypeError(f"{source}: te.gradient: expected an {what} of floats, got {one.name} of {one.dtype}")
    if head is None:
        head = _identity(output)
    elif not isinstance(head, Tensor):
        raise TypeError(f"{source}: te.gradient: expected a tensor as head, got {head!r}")
    prefix = len(head.shape) - output.ndim
    if prefix < 0 or not _equal(head.shape[prefix:], output.shape) or head.dtype != output.dtype:
        raise ValueError(
            f"{source}: te.gradient: expected a head of {output.dtype} whose last extents are {output.shape}, got "
            f"{head.name} of {head.dtype} and {head.shape}"
        )
    return _Reverse(output, wanted, head, source).run()


def _equal(one: Sequence[object], other: Sequence[object]) -> bool:
    return len(one) == len(other) and _every(
        a is b or (isinstance(a, int) and isinstance(b, int) and a == b) or str(a) == str(b) for a, b in zip(one, other)
    )


def _every(conditions: object) -> bool:
    return builtins.all(conditions)  # type: ignore[call-overload]


def _identity(output: Tensor) -> Tensor:
    """The gradient of a tensor by itself."""
    rank = output.ndim
    one, zero = (Const(value, output.op.element_types[output.value_index], output.op.source) for value in (1.0, 0.0))

    def element(*axes: IterVar) -> Expr:
        if not rank:
            return one
        return if_then_else(all(*(axes[d] == axes[rank + d] for d in range(rank))), one, zero)

    return compute(output.shape + output.shape, element, name=f"{output.op.name}_identity")


class _Reverse:
    """One differentiation: the gradients of all tensors between the inputs and the output, the last ones first."""

    def __init__(self, output: Tensor, inputs: Sequence[Tensor], head: Tensor, source: Source) -> None:
        self._output, self._inputs, self._source = output, inputs, source
        self._prefix = head.shape[: len(head.shape) - output.ndim]
        self._parts: dict[Tensor, list[Tensor]] = {output: [head]}
        self._kept: dict[Tensor, tuple[Tensor, Tensor]] = {}

    def run(self) -> list[Tensor]:
        ops = operations([self._output.op])
        leads = set(self._inputs)  # the tensors through which an input is reached
        for op in ops:
            if _every(one not in leads for one in op.input_tensors):
                continue
            leads.update(op.results)
        for op in reversed(ops):
            through = [one for one in op.input_tensors if one in leads]
            if isinstance(op, ExternOp) and through and not set(op.results).isdisjoint(self._parts):
                raise TypeError(
                    f"{self._source}: te.gradient of {op.name}: expected expressions, got an extern ({op.source})"
                )
            if not isinstance(op, ComputeOp):
                continue
            for made in op.results:
                if made in self._parts and through:
                    adjoint = self._total(made)
                    for one in through:
                        self._differentiate(op, made, one, adjoint)
        return [self._total(one) for one in self._inputs]

    def _total(self, tensor: Tensor) -> Tensor:
        """The gradient by a tensor: what all that read it say of it."""
        parts = self._parts.get(tensor, [])
        if len(parts) == 1:
            return parts[0]
        zero = Const(0.0, tensor.op.element_types[tensor.value_index], self._source)

        def element(*axes: IterVar) -> Expr:
            result: Expr = zero
            for number, part in enumerate(parts):
                result = part(*axes) if number == 0 else result + part(*axes)
            return result

        made = compute(self._prefix + tensor.shape, element, name=f"grad_{tensor.op.name}")
        self._parts[tensor] = [made]
        return made

    def _differentiate(self, op: ComputeOp, made: Tensor, tensor: Tensor, adjoint: Tensor) -> None:
        """Adds what `op` says of the gradient by `tensor`, a part for each place at which it reads it."""
        what = f"te.gradient of {op.name}"
        if isinstance(op, ScanOp):
            raise TypeError(f"{self._source}: {what}: expected no scan, got one ({op.source})")
        value, reduction = op.body[made.value_index], op.reduction
        if reduction is not None:
            if reduction.name not in ("sum", "max", "min"):
                raise TypeError(
                    f"{self._source}: {what}: expected a reduction by te.sum, te.max or te.min, got "
                    f"te.{reduction.name} ({reduction.source})"
                )
            assert isinstance(value, ReduceItem)
            value = reduction.exprs[value.index]
        for read in _reads(value, tensor):
            factor = derivative(value, read, what, self._source)
            if factor is None:
                continue
            if reduction is not None and reduction.name != "sum":
                taken = self._taken(op, reduction, value, made)
                factor = Select(taken, factor, Const(0.0, factor.element_type, self._source), False, self._source)
            self._parts.setdefault(tensor, []).append(self._part(op, read, factor, adjoint))

    def _taken(self, op: ComputeOp, reduction: Reduction, value: Expr, made: Tensor) -> Expr:
        """Whether an element is the result of a reduction by te.max or te.min.

        A multiplication and an addition may be one operation (FMA) in one loop and two in another. So elements that
        are computed are kept, and the result is looked for among them.
        """
        if _is_read(value):
            return value == Read(made, tuple(op.axis), self._source)
        axes = (*op.axis, *op.reduce_axis)
        doms = [axis.dom for axis in axes if axis.dom is not None]  # all have one
        if made not in self._kept:

            def element(*at: IterVar) -> Expr:
                place = {id(axis): one + dom[0] if dom[0] else one for axis, one, dom in zip(axes, at, doms)}
                return rewrite(value, lambda part: place.get(id(part)) if isinstance(part, IterVar) else None)

            kept = compute([dom.extent for dom in doms], element, f"{op.name}_values")

            def result(*at: IterVar) -> Expr:
                over = [reduce_axis((0, dom.extent), axis.name) for axis, dom in list(zip(axes, doms))[len(at) :]]
                return (largest if reduction.name == "max" else least)(kept(*at, *over), axis=over)

            self._kept[made] = kept, compute(made.shape, result, f"{op.name}_{reduction.name}")
        kept, found = self._kept[made]
        places = [axis - dom[0] if dom[0] else axis for axis, dom in zip(axes, doms)]
        return kept(*places) == found(*op.axis)

    def _part(self, op: ComputeOp, read: Read, factor: Expr, adjoint: Tensor) -> Tensor:
        """The sum over all points of `op` at which `read` meets an element, of the adjoint there times `factor`."""
        tensor, rank = read.tensor, len(self._prefix)

        def element(*axes: IterVar) -> Expr:
            solution = _Solution(op, read, axes[rank:])
            free = {
                id(axis): reduce_axis((axis.dom[0], _end(axis.dom)), name=axis.name)
                for axis in op.axis + op.reduce_axis
                if id(axis) not in solution.solved and axis.dom is not None
            }

            def place(expr: Expr) -> Expr | None:
                if not isinstance(expr, IterVar):
                    return None
                solved = solution.solved.get(id(expr))
                return free.get(id(expr)) if solved is None else rewrite(solved.expr(), free_only)

            def free_only(expr: Expr) -> Expr | None:
                return free.get(id(expr)) if isinstance(expr, IterVar) else None

            at = tuple(rewrite(axis, place) for axis in op.axis)
            weight = adjoint(*axes[:rank], *at)
            slope = rewrite(factor, place)
            value = weight if isinstance(slope, Const) and slope.value == 1 else weight * slope
            value = value.astype(tensor.dtype)
            conditions = [rewrite(condition, place) for condition in solution.conditions]
            where = all(*conditions) if conditions else None
            if free:
                return sum(value, axis=list(free.values()), where=where)
            return value if where is None else if_then_else(where, value, Const(0.0, value.element_type, self._source))

        return compute(self._prefix + tensor.shape, element, name=f"grad_{tensor.op.name}")


def _is_read(value: Expr) -> bool:
    """Whether an expression is the same number wherever it is computed."""
    if isinstance(value, Cast):
        return _is_read(value.operands()[0])
    if isinstance(value, Select):
        return _every(map(_is_read, value.operands()[1:]))
    return isinstance(value, (Read, Const))


def _reads(expr: Expr, tensor: Tensor) -> list[Read]:
    """The places at which an expression reads a tensor, each once."""
    found: list[Read] = []
    todo, seen = [expr], set[int]()
    while todo:
        part = todo.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Read) and part.tensor is tensor and not _any_same(part, found):
            found.append(part)
        todo.extend(reversed(part.operands()))
    return found


def _any_same(read: Read, found: Sequence[Read]) -> bool:
    return not _every(not same(read, one) for one in found)


class _Solution:
    """For the element of a tensor at `at`: the points of a compute at which `read` meets it.

    `solved` has the axes that follow from the others and from `at`; the other ones are free. `conditions` are over the
    compute's axes and those of `at`.
    """

    def __init__(self, op: ComputeOp, read: Read, at: Sequence[IterVar]) -> None:
        self.solved: dict[int, Linear] = {}
        self.conditions: list[Expr] = []
        own = {id(axis): axis for axis in op.axis + op.reduce_axis}
        for dimension, (index, position) in enumerate(zip(read.indices, at)):
            linear = linear_of(index)
            axis = None
            if linear is not None:
                for solved, value in self.solved.items():
                    linear = linear.replace(own[solved], value)
                units = [one for one in own.values() if abs(linear.of(one)) == 1 and id(one) not in self.solved]
                axis = max(units, key=_extent, default=None)
            if linear is None or axis is None:
                self.conditions.append(index == position)
                continue
            sign = linear.of(axis)
            # position = sign * axis + rest
            value = (Linear.variable(position) - linear.replace(axis, Linear.number(0))) * sign
            self.solved = {key: known.replace(axis, value) for key, known in self.solved.items()}
            self.solved[id(axis)] = value
            self._check_range(axis, value, read.tensor.shape[dimension], position)

    def _check_range(self, axis: IterVar, value: Linear, extent: int | Expr, position: IterVar) -> None:
        """The axis has only the values that it has."""
        assert axis.dom is not None
        low, length = axis.dom
        if low == 0 and value.is_just(position) and _equal((extent,), (length,)):
            return
        self.conditions += [axis >= low, axis < low + length]


def _end(dom: tuple[int, int | Expr]) -> int | Expr:
    low, extent = dom
    return extent if low == 0 else extent + low


def _extent(axis: IterVar) -> float:
    assert axis.dom is not None
    return axis.dom.extent if isinstance(axis.dom.extent, int) else float("inf")
