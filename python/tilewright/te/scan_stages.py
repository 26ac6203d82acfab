"""Scans of several stages: reductions over the step before, updates of different shapes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from ..errors import TilewrightTypeError as TypeError
from ..errors import TilewrightValueError as ValueError
from ..messages.location import Source
from .arithmetic import binary, literal
from .derivative import same
from .expr import Call, Const, Expr, IterVar, Read, Select
from .program import is_state, operations
from .tensor import ComputeOp, Extent, Operation, PlaceholderOp, Tensor
from .walks import parts

__all__ = ["ScanOp", "check_scans", "offset", "rows_for_steps", "rows_from", "rows_in_steps", "scan_of_stages"]


class ScanOp(ComputeOp):
    """A compute whose elements come in the order of its first axis, each from those before it.

    >>> from tilewright import te
    >>> X = te.placeholder((4, 8), name="X")
    >>> state = te.placeholder((4, 8), name="state")
    >>> first = te.compute((1, 8), lambda t, i: X[0, i])
    >>> next = te.compute((4, 8), lambda t, i: state[t - 1, i] + X[t, i])
    >>> sums = te.scan(first, next, state, inputs=[X])
    >>> sums.op.scan_axis.dom.extent
    4
    """

    __slots__ = ("scans", "begin", "inner", "state", "updates", "written")

    updates: tuple[Operation, ...]
    """The computes that the user gave as its updates: for a schedule they are the scan."""

    written: tuple[Operation, ...]
    """The computes between its state and its updates: they are written into these."""

    inner: tuple[ComputeOp, ...]
    """The stages in its steps, each after those that it reads. They are computed from step `begin` on."""

    state: Tensor | None
    """What stands for its result in the stages of its steps; None where there are no such stages."""

    begin: int

    def __init__(
        self, name: str, axis: tuple[IterVar, ...], shape: tuple[Extent, ...], body: tuple[Expr, ...], source: Source
    ) -> None:
        super().__init__(name, axis, shape, body, source)
        self.updates = self.written = self.inner = ()
        self.state, self.begin = None, 0
        self.scans: tuple[Operation, ...] = (self,)

    @property
    def together(self) -> tuple[Operation, ...]:
        return self.scans

    @property
    def scan_axis(self) -> IterVar:
        """The axis that gives the order."""
        return self.axis[0]

    @property
    def spatial_axis(self) -> tuple[IterVar, ...]:
        """The axes whose iterations are independent."""
        return self.axis[1:]


def scan_of_stages(
    inits: Sequence[Tensor],
    updates: Sequence[Tensor],
    states: Sequence[Tensor],
    names: Sequence[str],
    what: str,
    source: Source,
) -> list[Tensor]:
    """The results of a scan in whose steps there are stages, one operation each."""
    inner = [op for op in operations([one.op for one in updates]) if _needs(op, states)]
    begin = _check_extents(inits, states, what, source)
    for op in inner:
        _check_stage(op, inner, states, begin, what)
    ops: list[ScanOp] = []
    for first, update, state, name in zip(inits, updates, states, names):
        taken = _is_the_scan(update, updates, inner)
        axis = update.op.axis if taken else tuple(_like(one, source) for one in update.op.axis)
        value = update.op.body[0] if taken and isinstance(update.op, ComputeOp) else Read(update, tuple(axis), source)
        begins = binary("lt", axis[0], begin)
        begins.source = source
        at = (literal(0, axis[0], source) if begin == 1 else axis[0], *axis[1:])
        op = ScanOp(name, axis, state.shape, (Select(begins, Read(first, at, source), value, True, source),), source)
        op.updates = (update.op,) if taken else ()
        op.state, op.begin = state, begin
        ops.append(op)
    rest = tuple(op for op in inner if isinstance(op, ComputeOp) and not any(op in one.updates for one in ops))
    for op, state in zip(ops, states):
        op.inner, op.scans = rest, tuple(ops)
        assert isinstance(state.op, PlaceholderOp)
        state.op.scan = op
    return [op.output(0) for op in ops]


def _needs(op: Operation, states: Sequence[Tensor]) -> bool:
    """Whether a compute needs a state, also by way of others."""
    return any(one is state for each in operations([op]) for one in each.input_tensors for state in states)


def _like(axis: IterVar, source: Source) -> IterVar:
    return IterVar(axis.name, axis.dom, "spatial", source)


def _is_the_scan(update: Tensor, updates: Sequence[Tensor], inner: Sequence[Operation]) -> bool:
    """Whether an update is computed as the scan itself: elementwise, and read by no other stage of the step."""
    op = update.op
    return (
        isinstance(op, ComputeOp)
        and op.reduction is None
        and op.num_outputs == 1
        and sum(one.op is op for one in updates) == 1
        and not any(read.op is op for other in inner for read in other.input_tensors)
    )


def _check_extents(inits: Sequence[Tensor], states: Sequence[Tensor], what: str, source: Source) -> int:
    """All states go the same steps. Returns how many of these the inits give."""
    for first, state in zip(inits, states):
        if isinstance(state.op, PlaceholderOp) and state.op.scan is not None:
            raise ValueError(
                f"{source}: {what}: expected a state of no other scan, got {state.name}, that of {state.op.scan.name} "
                f"({state.op.scan.source})"
            )
        if not is_same_extent(state.shape[0], states[0].shape[0]):
            raise ValueError(
                f"{source}: {what}: expected states of as many steps, got {states[0].name} of {states[0].shape[0]} and "
                f"{state.name} of {state.shape[0]}"
            )
        if first.shape[0] != inits[0].shape[0]:
            raise ValueError(
                f"{source}: {what}: expected inits of as many elements, got {inits[0].name} of {inits[0].shape[0]} and "
                f"{first.name} of {first.shape[0]}"
            )
    count = inits[0].shape[0]
    assert isinstance(count, int)
    return count


def _check_stage(op: Operation, inner: Sequence[Operation], states: Sequence[Tensor], begin: int, what: str) -> None:
    """A stage of the steps has the scan's axis first, reads stages of its own step and states of earlier ones."""
    if not isinstance(op, ComputeOp) or isinstance(op, ScanOp):
        kind = "the scan" if isinstance(op, ScanOp) else "the statements"
        raise TypeError(
            f"{op.source}: {what}: expected computes between the state and the update, got {kind} {op.name}"
        )
    steps = states[0].shape[0]
    if not op.axis or not is_same_extent(op.shape[0], steps):
        raise ValueError(
            f"{op.source}: {what}: expected computes between the state and the update whose first axis is that of the "
            f"{steps} steps, got {op.name} of {op.shape}"
        )
    first = op.axis[0]
    for read in _reads(op):
        is_of_state = any(read.tensor is state for state in states)
        if not is_of_state and read.tensor.op not in inner:
            continue
        step = offset(read.indices[0], first)
        if is_of_state and (step is None or not -begin <= step < 0):
            back = "1" if begin == 1 else f"1 to {begin}"
            raise ValueError(
                f"{read.source}: {what}: expected the state {back} back from {first.name}, as far as the inits reach, "
                f"got {read}"
            )
        if not is_of_state and step != 0:
            raise ValueError(
                f"{read.source}: {what}: expected what a step computes to be read at {first.name} itself, got {read}: "
                "hand it on as a state"
            )


def _reads(op: ComputeOp) -> Iterator[Read]:
    exprs = op.reduction.exprs if op.reduction is not None else op.body
    return (expr for expr in parts(exprs) if isinstance(expr, Read))


def offset(index: Expr, axis: IterVar) -> int | None:
    """`n` where the index is the axis plus n."""
    total = 0
    while index is not axis:
        if not isinstance(index, Call) or index.op not in ("add", "sub"):
            return None
        lhs, rhs = index.args
        if index.op == "add" and isinstance(lhs, Const):
            lhs, rhs = rhs, lhs
        if not isinstance(rhs, Const):
            return None
        total += int(rhs.value) * (1 if index.op == "add" else -1)
        index = lhs
    return total


def is_same_extent(one: Extent, other: Extent) -> bool:
    """Whether two extents are one number, or are written the same of the same symbols."""
    if isinstance(one, Expr) and isinstance(other, Expr):
        return same(one, other)
    return isinstance(one, int) and isinstance(other, int) and one == other


def rows_from(ops: Sequence[Operation], outputs: Collection[Operation]) -> dict[Operation, int]:
    """The first row that is computed of each stage in the steps of a scan, and of what is computed for these alone."""
    rows = rows_in_steps(ops)
    return rows | rows_for_steps(ops, outputs, rows)


def rows_in_steps(ops: Sequence[Operation]) -> dict[Operation, int]:
    """The first row that is computed of each stage in the steps of a scan."""
    return {one: op.begin for op in ops if isinstance(op, ScanOp) for one in op.inner}


def rows_for_steps(
    ops: Sequence[Operation], outputs: Collection[Operation], in_steps: Mapping[Operation, int]
) -> dict[Operation, int]:
    """The first row that is computed of each stage that needs no state, of which steps read the row of their own.

    Those alone that read rows behind their own, such as ``X[t - 1]``: there may be none for the steps that inits give.
    """
    readers: dict[Operation, list[Operation]] = {}
    for op in ops:
        for one in dict.fromkeys(tensor.op for tensor in op.input_tensors):
            readers.setdefault(one, []).append(op)
    rows: dict[Operation, int] = {}
    for op in reversed(ops):
        if not isinstance(op, ComputeOp) or isinstance(op, ScanOp) or op in in_steps or op in outputs or not op.axis:
            continue
        begins = {_row_read_first(one, op, {**in_steps, **rows}) for one in readers.get(op, ())}
        is_behind = any((offset(index, op.axis[0]) or 0) < 0 for read in _reads(op) for index in read.indices)
        if is_behind and len(begins) == 1 and (begin := begins.pop()):
            rows[op] = begin
    return rows


def _row_read_first(reader: Operation, op: ComputeOp, rows: Mapping[Operation, int]) -> int:
    """The first row of `op` that a step reads, if each reads its own row alone; otherwise 0."""
    if not isinstance(reader, ComputeOp) or not reader.axis or not is_same_extent(op.shape[0], reader.shape[0]):
        return 0
    reads = [read for read in _reads(reader) if read.tensor.op is op]
    if not reads or any(offset(read.indices[0], reader.axis[0]) != 0 for read in reads):
        return 0
    return reader.begin if isinstance(reader, ScanOp) else rows.get(reader, 0)


def check_scans(ops: Sequence[Operation], outputs: Sequence[Tensor], source: Source) -> None:
    """What belongs to the steps of a scan is read in these alone."""
    inner: dict[Operation, ScanOp] = {one: op for op in ops if isinstance(op, ScanOp) for one in op.inner}
    for op in ops:
        for tensor in op.input_tensors:
            scan = tensor.op.scan if isinstance(tensor.op, PlaceholderOp) and is_state(tensor.op) else None
            if scan is not None and op not in inner and scan not in op.together:
                reads = [one for one in scan.together if one in ops]
                got = f"{op.name}, which no step of it needs" if reads else f"{op.name} without the scan"
                raise ValueError(
                    f"{op.source}: expected {tensor.name}, the state of scan {scan.name}, to be read in its steps "
                    f"alone, got it read by {got}"
                )
            if tensor.op in inner and op not in inner and inner[tensor.op] not in op.together:
                raise ValueError(
                    f"{op.source}: expected {tensor.name}, a stage in the steps of scan {inner[tensor.op].name}, to be "
                    f"read in these alone, got it read by {op.name}: hand it on as a state"
                )
    for tensor in outputs:
        if tensor.op in inner:
            raise ValueError(
                f"{source}: expected no output that is a stage in the steps of a scan, got {tensor.name} of scan "
                f"{inner[tensor.op].name}: hand it on as a state"
            )
