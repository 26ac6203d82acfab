"""Scans: recurrences along the first axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import Source, user_source
from .arithmetic import binary, literal
from .expr import Expr, IterVar, Previous, Read, Select
from .names import checked_name
from .rewrite import rewrite
from .scan_stages import ScanOp, offset, scan_of_stages
from .tag import notes
from .tensor import ComputeOp, Operation, PlaceholderOp, Tensor

__all__ = ["ScanOp", "scan"]


class _NeedsStages(Exception):
    """An update that reads the step before at other places than its own, or reduces over it."""


@overload
def scan(
    init: Tensor,
    update: Tensor,
    state_placeholder: Tensor,
    inputs: Sequence[Tensor] | None = ...,
    name: str = ...,
    tag: str = ...,
    attrs: Mapping[str, Any] | None = ...,
) -> Tensor: ...
@overload
def scan(
    init: Sequence[Tensor],
    update: Sequence[Tensor],
    state_placeholder: Sequence[Tensor],
    inputs: Sequence[Tensor] | None = ...,
    name: str = ...,
    tag: str = ...,
    attrs: Mapping[str, Any] | None = ...,
) -> list[Tensor]: ...
def scan(
    init: Tensor | Sequence[Tensor],
    update: Tensor | Sequence[Tensor],
    state_placeholder: Tensor | Sequence[Tensor],
    inputs: Sequence[Tensor] | None = None,
    name: str = "scan",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Tensor | list[Tensor]:
    """A recurrence along the first axis: the first elements from `init`, each later one from those before it.

    Parameters
    ----------
    init
        The first elements: a tensor whose first extent is their number, and whose others are the state's.
    update
        A compute of the state's shape, with the value of each element. In it ``state[t - 1, ...]`` is an element one
        step earlier; further back as far as `init` reaches. Other computes may stand between, with the axis of the
        steps as their first, which they read each other at.
    state_placeholder
        A placeholder of the result's shape, which stands for it in `update`.
    inputs
        What `update` reads beside the state, as TVM wants to be told; found by itself.
    name, tag, attrs
        As of `te.compute`.

    Notes
    -----
    Several states are scanned together where lists of them are given; each update may read all of them.

    If all updates are elementwise, each at its own place of the other axes, the scan and its updates are one stage of a
    schedule. The stage has the axes of the (first) update. Computes between are computed where they are read.

    Otherwise each update is a scan of its own, with its axes, and computes between are stages. A reduction is a stage
    too, even as an update. These stages are computed once a step, at the first axis of the first scan. `compute_at` can
    move them into other loops of the scan.

    The first axis of a scan stays a serial loop. The other axes can be split, bound and so on. Block indices enclose
    the steps: each block goes through all steps by itself, so no block may read what another one computed. `init` is a
    stage of its own.

    Returns
    -------
    Tensor, or a list of them where lists were given

    Raises
    ------
    TypeError
        Where an argument is no tensor of its kind, or the dtypes differ.
    ValueError
        Where the shapes do not fit, or an update reads a later step or one before `init`.

    >>> from tilewright import te
    >>> X = te.placeholder((128, 64), name="X")
    >>> state = te.placeholder((128, 64), name="state")
    >>> init = te.compute((1, 64), lambda _, i: X[0, i], name="init")
    >>> update = te.compute((128, 64), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    >>> te.scan(init, update, state, inputs=[X], name="cumsum")
    Tensor(name=cumsum, shape=(128, 64), dtype=float32)

    A recurrent layer, whose steps multiply the state by a matrix:

    >>> W, h = te.placeholder((64, 64), name="W"), te.placeholder((128, 64), name="h")
    >>> k = te.reduce_axis((0, 64), name="k")
    >>> Wh = te.compute((128, 64), lambda t, i: te.sum(W[i, k] * h[t - 1, k], axis=k), name="Wh")
    >>> update = te.compute((128, 64), lambda t, i: te.tanh(Wh[t, i] + X[t, i]), name="update")
    >>> rnn = te.scan(init, update, h, name="rnn")
    >>> s = te.create_schedule(rnn.op)
    >>> s[Wh].bind(Wh.op.axis[1], te.thread_axis("threadIdx.x"))
    >>> s[rnn].bind(update.op.axis[1], te.thread_axis("threadIdx.x"))
    """
    source = user_source()
    name = checked_name(name, "te.scan", source)
    what = f"scan {name}"
    several = isinstance(init, (list, tuple))
    inits, updates, states = (_tensors(each) for each in (init, update, state_placeholder))
    _check_states(inits, updates, states, what, source)
    axis = updates[0].op.axis
    try:
        body = tuple(
            _element(first, one, state, axis, states, what, source) for first, one, state in zip(inits, updates, states)
        )
    except _NeedsStages:
        names = [f"{name}.v{i}" for i in range(len(states))] if len(states) > 1 else [name]
        made = scan_of_stages(inits, updates, states, names, what, source)
        for one in made:
            one.op.tag, one.op.attrs = tag, notes(attrs, what, source)
        return made if several else made[0]
    op = ScanOp(name, axis, states[0].shape, body, source)
    op.updates = tuple(dict.fromkeys(one.op for one in updates))
    op.written = tuple(one for one in _between(updates, states) if one not in op.updates)
    op.tag, op.attrs = tag, notes(attrs, what, source)
    return list(op.results) if several else op.output(0)


def _tensors(given: Tensor | Sequence[Tensor]) -> tuple[Tensor, ...]:
    return (given,) if isinstance(given, Tensor) or not isinstance(given, Sequence) else tuple(given)


def _check_states(
    inits: Sequence[Tensor], updates: Sequence[Tensor], states: Sequence[Tensor], what: str, source: Source
) -> None:
    if not len(inits) == len(updates) == len(states) or not states:
        raise ValueError(
            f"{source}: {what}: expected an init and an update for each state, got {len(inits)}, {len(updates)} and "
            f"{len(states)} states"
        )
    for role, tensors in (("init", inits), ("update", updates), ("state", states)):
        for one in tensors:
            if not isinstance(one, Tensor):
                raise TypeError(f"{source}: {what}: expected a tensor as {role}, got {one!r}")
    for first, one, state in zip(inits, updates, states):
        if not isinstance(state.op, PlaceholderOp):
            raise TypeError(f"{source}: {what}: expected a placeholder as state, got {state}")
        if not isinstance(one.op, ComputeOp) or isinstance(one.op, ScanOp):
            raise TypeError(f"{source}: {what}: expected a compute as update, got {one}")
        if not one.shape or not _same(one.shape, state.shape):
            raise ValueError(
                f"{source}: {what}: expected an update of its state's shape, the steps first, got {state.name} of "
                f"{state.shape} and {one.name} of {one.shape}"
            )
        if not isinstance(first.shape[0], int) or not _same(first.shape[1:], state.shape[1:]):
            raise ValueError(
                f"{source}: {what}: expected an init of a number of elements and the state's other extents, got "
                f"{first.name} of {first.shape} for {state.shape}"
            )
        dtypes = {first.dtype, one.dtype, state.dtype}
        if len(dtypes) != 1:
            raise TypeError(
                f"{source}: {what}: expected init, update and state of one dtype, got {first.dtype}, {one.dtype} and "
                f"{state.dtype}"
            )


def _same(one: Sequence[object], other: Sequence[object]) -> bool:
    """Extents are equal as numbers, or as the same symbols."""
    return len(one) == len(other) and all(
        a == b if isinstance(a, int) and isinstance(b, int) else a is b or str(a) == str(b) and type(a) is type(b)
        for a, b in zip(one, other)
    )


def _element(
    first: Tensor, update: Tensor, state: Tensor, axis: Sequence[IterVar], states: Sequence[Tensor], what: str,
    source: Source,
) -> Expr:  # fmt: skip
    """The element at the axes: of `first` in the beginning, later by `update`."""
    assert isinstance(update.op, ComputeOp)
    if update.op.reduction is not None or not _same(state.shape, states[0].shape):
        raise _NeedsStages
    count = first.shape[0]
    assert isinstance(count, int)
    own = dict(zip(map(id, update.op.axis), axis))
    numbers = {id(one): number for number, one in enumerate(states)}

    def replace(expr: Expr) -> Expr | None:
        if isinstance(expr, IterVar):
            return own.get(id(expr))
        if not isinstance(expr, Read) or id(expr.tensor) not in numbers:
            return None
        lag = _lag(expr, update.op.axis)
        if lag is None:
            raise _NeedsStages
        if lag > count:
            raise ValueError(
                f"{expr.source}: {what}: expected the state at most {count} back, as many as {first.name} has, "
                f"got {expr}"
            )
        return Previous(numbers[id(expr.tensor)], lag, expr.element_type, expr.source)

    value = rewrite(_written_out(update.op.body[update.value_index], states), replace)
    begins = binary("lt", axis[0], count)
    begins.source = source
    at = (literal(0, axis[0], source) if count == 1 else axis[0], *axis[1:])
    return Select(begins, Read(first, at, source), value, True, source)


def _lag(read: Read, axis: Sequence[IterVar]) -> int | None:
    """How many steps back a read of the state is, or None where it is none at the own place of the other axes."""
    if any(index is not own for index, own in zip(read.indices[1:], axis[1:])):
        return None
    step = offset(read.indices[0], axis[0])
    return -step if step is not None and step < 0 else None


def _reads(op: Operation, states: Sequence[Tensor]) -> bool:
    """Whether a compute needs a state, also by way of others."""
    from .program import operations

    return any(one is state for each in operations([op]) for one in each.input_tensors for state in states)


def _between(updates: Sequence[Tensor], states: Sequence[Tensor]) -> list[Operation]:
    """The computes that the updates read and that need a state."""
    from .program import operations

    found = operations([one.op for one in updates])
    return [op for op in found if isinstance(op, ComputeOp) and _reads(op, states)]


def _written_out(value: Expr, states: Sequence[Tensor]) -> Expr:
    """What an update computes, with the elements that it reads of computes between the state and it in their place."""

    def replace(expr: Expr) -> Expr | None:
        if (
            not isinstance(expr, Read)
            or not isinstance(expr.tensor.op, ComputeOp)
            or not _reads(expr.tensor.op, states)
        ):
            return None
        op = expr.tensor.op
        if op.reduction is not None or isinstance(op, ScanOp):
            raise _NeedsStages
        places = dict(zip(map(id, op.axis), (_written_out(index, states) for index in expr.indices)))
        return rewrite(_written_out(op.body[expr.tensor.value_index], states), lambda part: places.get(id(part)))

    return rewrite(value, replace)
