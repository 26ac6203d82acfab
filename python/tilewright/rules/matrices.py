"""Convolutions, and contractions in any other layout, as matmuls, which their rules take.

The matrix of windows is never stored: its elements are computed where the matmul stages them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import gcd, prod
from typing import Any

from ..devices import GPU
from ..instructions import MMA_SYNC
from ..te import Expr, Tensor, compute, reduce_axis, sum
from ..te.expr import Call, Cast, IterVar, Read
from ..te.linear import Linear, linear_of
from ..te.program import operations
from ..te.rewrite import rewrite
from ..te.scan_stages import ScanOp
from ..te.tensor import ComputeOp, Operation, PlaceholderOp
from .contraction import Contraction, contraction_of
from .convolutions import InTiles, Tiled, convolution_of, in_tiles, stored_by_tiles
from .facts import Access, Program, StageFacts, extent_of, length_of
from .inlining import rewritten
from .moves import moved_by, through
from .operand_copies import OperandCopies, copied, copies_before
from .staging import slides, takes_copies

__all__ = ["Matrices", "as_matrices", "replaced"]

# Fewer rows, columns or elements along K are not worth tiles of a matmul: of types for tensor cores, and of float32.
_HALVES, _FEW, _FLOATS = 16, 2, (8, 32, 8)
# Elements along K of a step.
_OF_STEP = 8


@dataclass(slots=True)
class Matrices:
    """A program with its convolutions as matmuls."""

    instead: dict[Operation, Operation] = field(default_factory=dict[Operation, Operation])
    """What stands for each operation that changed."""
    matmuls: set[Operation] = field(default_factory=set[Operation])
    views: set[Operation] = field(default_factory=set[Operation])
    """Operands that are the elements of a tensor in their order in memory, with other extents."""
    tiles: dict[Operation, InTiles] = field(default_factory=dict[Operation, InTiles])
    """What stands for convolutions in whole tiles of pixels."""
    stored: dict[Operation, Tensor] = field(default_factory=dict[Operation, Tensor])
    """Of these the results in whole tiles, which TMA stores."""
    together: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """How many elements of an operand's row lie together in memory, of operands that are elements of a tensor."""
    copied: set[Operation] = field(default_factory=set[Operation])
    """What kernels of their own store before a matmul reads it."""
    apart: set[Operation] = field(default_factory=set[Operation])
    """Operands of which each element lies in another place, or may be none."""
    digits: dict[Operation, tuple[int, ...]] = field(default_factory=dict[Operation, tuple[int, ...]])
    """The extents of the axes that an element along K of a matmul is made of."""


def as_matrices(
    program: Program, outputs: Sequence[Operation], gpu: GPU | None, tiles: Mapping[Operation, Tiled] | None = None
) -> Matrices:
    """The program with its convolutions as matmuls, or in such `tiles` of pixels. Nothing changes where scans or
    statements use the results.
    """
    tiles = tiles or {}
    by_root = {one.root: op for op, one in tiles.items() if one.root is not None}
    found = {
        stage.op: contraction
        for stage in program
        if stage.op not in tiles
        and (contraction := contraction_of(stage)) is not None
        and _is_worth_it(contraction, gpu)
    }
    stored = {stage.op for stage in program if gpu is not None and _is_stored(stage)}
    before = dict(_copies(program, gpu))
    made = Matrices()
    if not found and not stored and not tiles and not before:
        return made
    instead, ends = made.instead, set[Operation]()
    for op in operations(outputs):
        if isinstance(op, PlaceholderOp) or not any(tensor.op in instead for tensor in op.input_tensors):
            now = op
        elif isinstance(op, ComputeOp) and not isinstance(op, ScanOp):
            now = reading(op, instead)
        else:
            return Matrices()
        if op in found:
            contraction = found[op] if now is op else _again(now)
            matmul = _Matmul(contraction, ends, gpu)
            made.matmuls.add(matmul.total.op)
            made.views |= matmul.views
            made.together |= matmul.together
            made.copied |= matmul.copied
            made.apart |= matmul.apart
            if matmul.copies:
                made.digits[matmul.total.op] = tuple(length_of(axis) for axis in matmul.axes["k"])
            now = matmul.result.op
        elif op in tiles:
            convolution = convolution_of(_facts_of(now), ends)
            assert convolution is not None
            made.tiles[op] = in_tiles(replace(convolution, held=tiles[op].held), tiles[op].candidate)
            now = made.tiles[op].result.op
        elif op in before:
            now, kernels = copied(_again(now), before[op])
            made.copied |= {*kernels}
        if op in stored:
            now = _added_to_zero(now)
        if op in by_root:
            between = {instead.get(one, one) for one in tiles[by_root[op]].between}
            tiled, result = stored_by_tiles(now, made.tiles[by_root[op]], between)
            made.stored[by_root[op]], now = tiled, result.op
            ends.add(now)
        if now is not op:
            instead[op] = now
    return made


def _is_worth_it(found: Contraction, gpu: GPU | None) -> bool:
    """Whether it is no matmul as it stands, and one that tiles of the rules are for."""
    stage = found.stage
    if not stage.is_static or not found.is_product or stage.op.num_outputs > 1:
        return False
    if found.is_of_matrices or gpu is None and _slides(found):
        return False
    rows, columns, _ = _axes_of(found)
    (a, b), to = found.operand_dtypes, stage.op.dtype
    extents = [prod(length_of(axis) for axis in some) for some in (rows, columns, found.k)]
    if a == b == to == "float32":
        return min(extents[:2]) >= _FLOATS[0] and max(extents[:2]) >= _FLOATS[1] and extents[2] >= _FLOATS[2]
    if gpu is None or a != b or (a, to) not in MMA_SYNC or a.startswith("float8") or "mma.sync" not in gpu.features:
        return False
    # Of few filters of all channels, the tensor cores' tiles are not full; they read images once all the same.
    few = _HALVES if found.batch else _FEW
    return min(extents[:2]) >= few and max(extents[:2]) >= _HALVES and extents[2] >= _HALVES


def _copies(program: Program, gpu: GPU | None) -> Iterator[tuple[Operation, OperandCopies]]:
    """Matmuls of which operands are copied first, with which."""
    for stage in program if gpu is not None else ():
        found = contraction_of(stage)
        copies = None if found is None else copies_before(found, gpu)
        if copies is not None:
            yield stage.op, copies


def _is_stored(stage: StageFacts) -> bool:
    """Whether a matmul of float32 is stored as it is, or under a condition."""
    is_last = stage.is_output and not stage.readers
    if not stage.is_output and len(stage.readers) == 1 and stage.readers[0].is_output:
        op = stage.readers[0].op
        read = moved_by(op.body[0]) if isinstance(op, ComputeOp) and op.reduction is None else None
        is_last = read is not None and read.tensor.op is stage.op
    found = contraction_of(stage) if is_last else None
    return found is not None and stage.is_static and found.is_of_matrices and stage.op.dtype == "float32"


def _added_to_zero(op: Operation) -> Operation:
    """The same results, stored from registers of their own. What is stored in vectors has to stand in registers side by
    side; if sums need not, the assembler puts them where a multiplication reads other banks."""
    assert isinstance(op, ComputeOp)
    total = ComputeOp(f"{op.name}_product", tuple(op.axis), tuple(op.shape), op.body, op.source).output(0)
    total.op.attrs = op.attrs
    result = compute(op.shape, lambda *at: total(*at) + 0.0, name=op.name)
    result.op.source = op.source
    return result.op


def _slides(found: Contraction) -> bool:
    """Whether windows move by one element along rows in memory, of which the loops of target cpu read vectors."""
    column = found.stage.spatial[-1]
    for access in (found.a, found.b):
        index = access.indices[-1] if access.indices else None
        if index is not None and index.of(column) == 1:
            return len([axis for axis, _ in index.terms.values() if length_of(axis) > 1]) > 1
    return False


def _axes_of(found: Contraction) -> tuple[list[IterVar], list[IterVar], list[IterVar]]:
    """Rows, columns and the rest, each in the result's order: both are axes side by side, the columns the last."""
    kinds = {id(axis): kind for kind, some in (("m", found.m), ("n", found.n)) for axis in some}
    left = list(found.stage.spatial)
    taken: dict[str, list[IterVar]] = {}
    for kind in ("n", "m"):
        some = taken[kind] = []
        while left and kinds.get(id(left[-1])) == kind:
            some.insert(0, left.pop())
    return taken["m"], taken["n"], left


def reading(op: ComputeOp, instead: Mapping[Operation, Operation], transposed: Collection[Operation] = ()) -> ComputeOp:
    """The operation `op` with other tensors in place of those that it reads. What stands for those in `transposed` has
    its last two axes in each other's place."""

    def replace(expr: Expr) -> Expr | None:
        if not isinstance(expr, Read) or expr.tensor.op not in instead:
            return None
        indices = [rewrite(index, replace) for index in expr.indices]
        if expr.tensor.op in transposed:
            indices[-2:] = indices[:-3:-1]
        return Read(instead[expr.tensor.op].output(expr.tensor.value_index), tuple(indices), expr.source)

    return rewritten(op, replace)


def replaced(
    program: Program, change: Callable[[Operation, Operation], Operation], transposed: Collection[Operation] = ()
) -> dict[Operation, Operation]:
    """What stands for the operations of a program where some change, and so those that read them. `change` is given an
    operation, and it with other tensors in place of what it reads. Nothing where scans or statements read such ones."""
    instead: dict[Operation, Operation] = {}
    for op in (stage.op for stage in program):
        now = op
        if any(tensor.op in instead for tensor in op.input_tensors):
            if not isinstance(op, ComputeOp) or isinstance(op, ScanOp):
                return {}
            now = reading(op, instead, transposed)
        now = change(op, now)
        if now is not op:
            instead[op] = now
    return instead


def _again(op: Operation) -> Contraction:
    """The same contraction of tensors in their place."""
    again = contraction_of(_facts_of(op))
    assert again is not None
    return again


def _facts_of(op: Operation) -> StageFacts:
    (stage,) = (stage for stage in Program([op]) if stage.op is op)
    return stage


class _Matmul:
    """A contraction as a matmul, and its results in their own shape."""

    def __init__(self, found: Contraction, ends: Collection[Operation], gpu: GPU | None) -> None:
        self.found, self.ends = found, ends
        self.views: set[Operation] = set()
        self.copied: set[Operation] = set()
        self.apart: set[Operation] = set()
        self.together: dict[Operation, int] = {}
        self.copies = gpu is not None and takes_copies(found, gpu)
        rows, columns, self.batch = _axes_of(found)
        self.axes = {"m": rows, "n": columns, "k": self._along_k()}
        op = found.stage.op
        assert isinstance(op, ComputeOp) and op.reduction is not None
        body = op.reduction.exprs[0]
        assert isinstance(body, Call)
        # The operand with the rows comes first, as the rules for matmuls have it.
        args = sorted(body.args, key=lambda arg: self._kind(_read_of(arg)))
        first, second = (self._operand(arg) for arg in args)
        extents = {kind: prod(length_of(axis) for axis in some) for kind, some in self.axes.items()}
        k = reduce_axis((0, extents["k"]), "k")

        def value(*at: Any) -> Expr:
            places = {"m": at[-2], "n": at[-1], "k": k}
            by_axis = dict(zip(map(id, self.batch), at))
            left, right = (
                self._cast(arg, tensor(*(by_axis[id(axis)] for axis in own), *(places[kind] for kind in order)))
                for arg, (tensor, own, order) in zip(args, (first, second))
            )
            return sum(left * right, axis=k)

        shape = [*(length_of(axis) for axis in self.batch), extents["m"], extents["n"]]
        self.total = self._from_here(compute(shape, value, name=f"{op.name}_product", attrs=op.attrs))

        def element(*at: Any) -> Expr:
            by_axis = dict(zip(map(id, found.stage.spatial), at))
            flat = (_flat(some, [by_axis[id(axis)] for axis in some]) for some in (rows, columns))
            value = self.total(*(by_axis[id(axis)] for axis in self.batch), *flat)
            return value + 0.0 if gpu is not None and op.dtype == "float32" else value

        self.result = self._from_here(compute(op.shape, element, name=op.name))

    def _along_k(self) -> list[IterVar]:
        """The reduced axes, in the order in which the operand without windows has them. With copies, the channels are
        last: the elements of a step along K are then at one place of the windows, and as far apart as channels are."""
        order: list[IterVar] = []
        for access in sorted((self.found.a, self.found.b), key=lambda one: None in one.axes):
            for axis in access.axes:
                if axis is not None and any(axis is one for one in self.found.k) and axis not in order:
                    order.append(axis)
        order += [axis for axis in self.found.k if not any(axis is one for one in order)]
        if self.copies:
            order.sort(key=lambda axis: _is_along(self.found, axis) and length_of(axis) % _OF_STEP == 0)
        return order

    def _kind(self, read: Read) -> str:
        """Whether rows or columns are of an operand."""
        access = _access_of(read)
        return "m" if any(access.depends_on(axis) for axis in self.axes["m"]) else "n"

    def _cast(self, arg: Expr, value: Expr) -> Expr:
        return value.astype(arg.dtype) if isinstance(arg, Cast) else value

    def _operand(self, arg: Expr) -> tuple[Tensor, list[IterVar], str]:
        """An operand as matrices, the axes that count these, and what rows and columns are of 'm', 'n' and 'k': last is
        what lies together in memory."""
        read = _read_of(arg)
        access, own = _access_of(read), self._kind(read)
        batch = [axis for axis in self.batch if access.depends_on(axis)]
        if len(self.axes[own]) == len(self.axes["k"]) == 1:
            for order in (f"{own}k", f"k{own}"):
                axes = [*batch, *(self.axes[kind][0] for kind in order)]
                if [id(axis) for axis in access.axes] == [id(axis) for axis in axes]:
                    return read.tensor, batch, order  # a matrix as it stands
        value = through(read, self.ends)
        is_filter = self.copies and not slides(self.found, access)
        if self.copies and not is_filter and not isinstance(value, Read):
            self.copied.add(read.tensor.op)
            value = read
        along = self.axes["k"]
        if self.copies:
            # Threads that are neighbours then load what the same place of neighbouring windows has.
            along = [] if is_filter else [axis for axis in along[-1:] if _is_along(self.found, axis)]
        lies_along = _lies_along(value, along)
        order = f"{own}k" if lies_along else f"k{own}"
        shape = [length_of(axis) for axis in batch]
        shape += [prod(length_of(axis) for axis in self.axes[kind]) for kind in order]

        def element(*at: Any) -> Expr:
            places: dict[int, Any] = dict(zip(map(id, batch), at))
            for kind, place in zip(order, at[-2:]):
                places |= _digits(self.axes[kind], place)
            return rewrite(value, lambda expr: places.get(id(expr)))

        name = f"{read.tensor.op.name}_{'windows' if None in access.axes else 'matrix'}"
        made = self._from_here(compute(shape, element, name=name))
        if value is read and _counts(access, [*batch, *(axis for kind in order for axis in self.axes[kind])]):
            self.views.add(made.op)
            self.together[made.op] = shape[-1]
        elif is_filter:
            self.copied.add(made.op)
            self.together[made.op] = shape[-1]
        elif isinstance(value, Read):
            self.together[made.op] = _together(value, self.axes[order[-1]])
        else:
            self.apart.add(made.op)
        return made, batch, order

    def _from_here(self, tensor: Tensor) -> Tensor:
        """Errors and views name the line of the contraction."""
        tensor.op.source = self.found.stage.op.source
        return tensor


def _is_along(found: Contraction, axis: IterVar) -> bool:
    """Whether a reduced axis is an index by itself wherever it is read."""
    return all(any(one is axis for one in access.axes) for access in (found.a, found.b))


def _read_of(arg: Expr) -> Read:
    read = arg.value if isinstance(arg, Cast) else arg
    assert isinstance(read, Read)
    return read


def _access_of(read: Read) -> Access:
    return Access(read.tensor, tuple(linear_of(index) for index in read.indices))


def _counts(access: Access, axes: Sequence[IterVar]) -> bool:
    """Whether the elements that are read are all of a tensor's, in the order of these axes."""
    wanted = [axis for axis in axes if length_of(axis) > 1]
    for index, extent in zip(access.indices, access.tensor.shape):
        if index is None or index.constant:
            return False
        terms = [(axis, count) for axis, count in index.terms.values() if length_of(axis) > 1]
        if extent == 1 and not terms:
            continue
        if len(terms) != 1 or not wanted or terms[0][0] is not wanted[0] or terms[0][1] != 1:
            return False
        if length_of(wanted.pop(0)) != extent:
            return False
    return not wanted


def _together(read: Read, axes: Sequence[IterVar]) -> int:
    """How many elements along the last of these axes lie together: from each multiple of so many on."""
    access = _access_of(read)
    longer = [place for place, extent in enumerate(access.tensor.shape) if extent != 1]
    own = next((axis for axis in reversed(axes) if length_of(axis) > 1), None)
    index = access.indices[longer[-1]] if longer else None
    if own is None or index is None or index.of(own) != 1:
        return 1
    others = (count for axis, count in index.terms.values() if axis is not own and length_of(axis) > 1)
    return gcd(extent_of(access.tensor.shape[longer[-1]]), length_of(own), index.constant, *others)


def _lies_along(value: Expr, axes: Sequence[IterVar]) -> bool:
    """Whether neighbours in memory are along one of these axes, and along no other."""
    read = moved_by(value)
    longer = [at for at, extent in zip(read.indices, read.tensor.shape) if extent != 1] if read is not None else []
    index = linear_of(longer[-1]) if longer else None
    ones = [axis for axis, count in index.terms.values() if count == 1] if index is not None else []
    return bool(ones) and all(any(axis is one for one in axes) for axis in ones)


def _flat(axes: Sequence[IterVar], at: Sequence[Any]) -> Any:
    """Where an element is in row-major order."""
    place: Any = 0
    for number, (axis, own) in enumerate(zip(axes, at)):
        place = own if number == 0 else place * length_of(axis) + own
    return place


def _digits(axes: Sequence[IterVar], place: Any) -> dict[int, Any]:
    """What each axis is at a place in row-major order."""
    found: dict[int, Any] = {}
    for number in reversed(range(len(axes))):
        extent = length_of(axes[number])
        is_first = all(length_of(axis) == 1 for axis in axes[:number])
        digit = place if is_first else place % extent
        # Copies by TMA are of places that are sums of multiples of loops.
        found[id(axes[number])] = digit if extent > 1 else Linear.number(0).expr()
        place = place // extent if extent > 1 else place
    return found
