"""What te says of a stage: its extents, what it reads at which indices, and what an element of it costs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from ..te.expr import Call, Cast, Const, Expr, IterVar, Read, Select, Var
from ..te.extern_op import ExternOp
from ..te.linear import Linear, linear_of
from ..te.program import operations
from ..te.scan_stages import ScanOp
from ..te.tensor import ComputeOp, Extent, Operation, PlaceholderOp, Tensor

__all__ = ["Access", "Kind", "Program", "StageFacts", "accesses_of", "extent_of", "length_of", "size_of"]

# What a symbolic extent counts as where the program does not say how large it is at most.
_NOMINAL = 512
# What functions cost, in additions.
_EXPENSIVE = 8
_CHEAP_OPS = frozenset(
    ("add", "sub", "mul", "min", "max", "and", "or", "xor", "shl", "shr", "eq", "ne", "lt", "le", "gt", "ge", "abs")
)


def extent_of(extent: Extent | None) -> int:
    """The extent, of a symbol the greatest value that it can have, or a nominal one."""
    if extent is None:
        return _NOMINAL
    if isinstance(extent, int):
        return int(extent)
    if isinstance(extent, Const):
        return int(extent.value)
    if isinstance(extent, Var) and extent.maximum is not None:
        return extent.maximum
    return _NOMINAL


def length_of(axis: IterVar) -> int:
    """The extent of an axis; of one that has none yet 1."""
    return extent_of(axis.dom.extent) if axis.dom else 1


def size_of(axes: Sequence[IterVar]) -> int:
    """How many elements axes count."""
    return prod(extent_of(axis.dom.extent if axis.dom else None) for axis in axes)


def is_static(axes: Sequence[IterVar]) -> bool:
    """Whether all extents are numbers."""
    return all(axis.dom is not None and isinstance(axis.dom.extent, int) for axis in axes)


@dataclass(frozen=True, slots=True)
class Access:
    """A read: the tensor, and each index as a sum of multiples of axes, None of one that is no such sum."""

    tensor: Tensor
    indices: tuple[Linear | None, ...]

    def axis_of(self, dimension: int) -> IterVar | None:
        """The axis that an index is, where it is one alone."""
        index = self.indices[dimension]
        if index is None or len(index.terms) != 1 or index.constant:
            return None
        ((axis, count),) = index.terms.values()
        return axis if count == 1 else None

    @property
    def axes(self) -> tuple[IterVar | None, ...]:
        return tuple(self.axis_of(dimension) for dimension in range(len(self.indices)))

    @property
    def innermost(self) -> IterVar | None:
        """The axis along which neighbours in memory are read: of the last index, with a factor of one."""
        if not self.indices or self.indices[-1] is None:
            return None
        ones = [axis for axis, count in self.indices[-1].terms.values() if count == 1]
        return ones[-1] if ones else None

    def is_along(self, axes: Sequence[IterVar]) -> bool:
        """Whether neighbours in memory are along these axes alone: not where a window moves along another."""
        last = self.indices[-1] if self.indices else None
        if last is None or self.innermost is None:
            return False
        known = {id(axis) for axis in axes}
        return all(key in known for key in last.terms)

    def depends_on(self, axis: IterVar) -> bool:
        """Whether it reads other elements for other values of the axis, as far as can be told."""
        return any(index is None or index.of(axis) for index in self.indices)


class Kind:
    """What a stage is, by its definition."""

    MAP = "map"
    REDUCTION = "reduction"
    SCAN = "scan"
    EXTERN = "extern"


@dataclass(slots=True, eq=False)
class StageFacts:
    """A stage of the program, as te defines it."""

    op: Operation
    kind: str
    is_output: bool
    accesses: tuple[Access, ...]
    cost: int
    """Of an element, or of one iteration of a reduction, in additions."""
    readers: list[StageFacts] = field(default_factory=lambda: list[StageFacts](), repr=False)
    evaluations: int = 0
    is_stored: bool = False
    """Whether it is stored, and not computed where it is read: copies read it from memory."""
    is_in_tiles: bool = False
    """Whether it has more elements than are read, so that tiles of them are whole."""

    @property
    def name(self) -> str:
        return self.op.name

    @property
    def spatial(self) -> tuple[IterVar, ...]:
        return tuple(self.op.axis)

    @property
    def reduced(self) -> tuple[IterVar, ...]:
        return tuple(self.op.reduce_axis)

    @property
    def size(self) -> int:
        return size_of(self.spatial) if self.kind != Kind.EXTERN else prod(map(extent_of, self.op.shape))

    @property
    def work(self) -> int:
        """Iterations."""
        return self.size * (size_of(self.reduced) if self.kind == Kind.REDUCTION else 1)

    @property
    def is_static(self) -> bool:
        return is_static(self.spatial) and is_static(self.reduced)

    @property
    def is_empty(self) -> bool:
        return self.size == 0 or any(extent_of(axis.dom.extent) == 0 for axis in self.reduced if axis.dom)

    def reads_of(self, op: Operation) -> list[Access]:
        return [access for access in self.accesses if access.tensor.op is op]


class Program:
    """The stages of a program in the order of their definition."""

    def __init__(self, outputs: Sequence[Operation]) -> None:
        self.stages: dict[Operation, StageFacts] = {}
        # Stages that are the elements of a tensor in their order in memory.
        self.views: Collection[Operation] = ()
        # How many elements of a row lie together, of stages that are elements of a tensor in any order.
        self.together: Mapping[Operation, int] = {}
        # Operands of which each element lies in another place.
        self.apart: Collection[Operation] = ()
        # The extents of the axes that an element along K of a matmul is made of.
        self.digits: Mapping[Operation, tuple[int, ...]] = {}
        ops = operations(outputs)
        # Stages in the steps of a scan are computed there.
        in_steps = {one for op in ops if isinstance(op, ScanOp) for one in op.inner}
        for op in ops:
            if not isinstance(op, PlaceholderOp) and op not in in_steps:
                self.stages[op] = _facts(op, op in outputs)
        for stage in self.stages.values():
            for op in dict.fromkeys(tensor.op for tensor in stage.op.input_tensors):
                if op in self.stages:
                    self.stages[op].readers.append(stage)

    def __iter__(self) -> Iterator[StageFacts]:
        return iter(self.stages.values())

    def backwards(self) -> list[StageFacts]:
        """Each stage after all that read it."""
        return list(self.stages.values())[::-1]

    def producers(self, stage: StageFacts) -> list[StageFacts]:
        ops = dict.fromkeys(tensor.op for tensor in stage.op.input_tensors)
        return [self.stages[op] for op in ops if op in self.stages]


def _facts(op: Operation, is_output: bool) -> StageFacts:
    if isinstance(op, ScanOp):
        return StageFacts(op, Kind.SCAN, is_output, (), 0)
    if not isinstance(op, ComputeOp):
        assert isinstance(op, ExternOp), op
        return StageFacts(op, Kind.EXTERN, is_output, (), 0)
    reduction = op.reduction
    body = op.body if reduction is None else reduction.exprs
    accesses, cost = _walk(body)
    return StageFacts(op, Kind.MAP if reduction is None else Kind.REDUCTION, is_output, accesses, cost)


def accesses_of(op: Operation) -> tuple[Access, ...]:
    """What the elements of a compute read, of a scan its steps and what they begin with."""
    assert isinstance(op, ComputeOp)
    return _walk(op.body if op.reduction is None else op.reduction.exprs)[0]


def _walk(body: Sequence[Expr]) -> tuple[tuple[Access, ...], int]:
    """What expressions read, each read once, and what they cost."""
    accesses: list[Access] = []
    known: set[tuple[object, ...]] = set()
    cost, seen, todo = 0, set[int](), list(reversed(body))
    while todo:
        expr = todo.pop()
        if id(expr) in seen:
            continue
        seen.add(id(expr))
        if isinstance(expr, Read):
            indices = tuple(linear_of(index) for index in expr.indices)
            key = (expr.tensor.op, *(_key(index) if index else id(expr) for index in indices))
            if key not in known:
                known.add(key)
                accesses.append(Access(expr.tensor, indices))
            cost += 1
        elif not expr.is_index:
            if isinstance(expr, Call):
                cost += 1 if expr.op in _CHEAP_OPS else _EXPENSIVE
            elif isinstance(expr, (Select, Cast)):
                cost += 1
        todo.extend(reversed(expr.operands()))
    return tuple(accesses), cost


def _key(index: Linear) -> tuple[object, ...]:
    return (index.constant, *sorted((key, count) for key, (_, count) in index.terms.items()))
