"""Sums of products of two tensors: what of a contraction is rows, columns, batch and K."""

from __future__ import annotations

from dataclasses import dataclass

from ..te.expr import Call, Cast, Expr, IterVar, Read
from ..te.tag import allows_tf32
from ..te.tensor import ComputeOp, Tensor
from .facts import Access, Kind, StageFacts, is_static, size_of

__all__ = ["Contraction", "contraction_of"]

# Results that are fewer are not worth tiles.
_FEW = 64


@dataclass(frozen=True, slots=True)
class Contraction:
    """A reduction whose elements are of two tensors: the results' axes that only the first depends on, only the second,
    and both."""

    stage: StageFacts
    a: Access
    b: Access
    m: tuple[IterVar, ...]
    n: tuple[IterVar, ...]
    batch: tuple[IterVar, ...]

    @property
    def k(self) -> tuple[IterVar, ...]:
        return self.stage.reduced

    @property
    def M(self) -> int:
        return size_of(self.m)

    @property
    def N(self) -> int:
        return size_of(self.n)

    @property
    def K(self) -> int:
        return size_of(self.k)

    @property
    def B(self) -> int:
        return size_of(self.batch)

    @property
    def operand_dtypes(self) -> tuple[str, str]:
        return self.a.tensor.dtype, self.b.tensor.dtype

    @property
    def factor_dtypes(self) -> tuple[str, str]:
        """The types that tensor cores may multiply: ``"tf32"`` for float32 where the stage's `attrs` allow it."""
        is_tf32 = {*self.operand_dtypes, self.stage.op.dtype} == {"float32"} and allows_tf32(self.stage.op.attrs)
        return ("tf32", "tf32") if is_tf32 else self.operand_dtypes

    @property
    def is_plain(self) -> bool:
        """Whether each index is an axis alone, no axis twice in a read: a matmul, batched or not."""
        return all(
            None not in access.axes and len({id(axis) for axis in access.axes}) == len(access.axes)
            for access in (self.a, self.b)
        )

    @property
    def is_product(self) -> bool:
        """Whether it adds up products of the two, each cast to the type of the sums at most."""
        op = self.stage.op
        assert isinstance(op, ComputeOp) and op.reduction is not None
        body = op.reduction.exprs[0]
        if op.reduction.name != "sum" or not isinstance(body, Call) or body.op != "mul":
            return False
        return all(_is_read(arg) for arg in body.args)

    @property
    def is_of_matrices(self) -> bool:
        """Whether it is a matmul like that of `matmul_mma`.

        The last two axes of the result are then a row axis of operand A and a column axis of B. The
        last two axes of each operand are one of these and the only reduction axis.
        """
        spatial, op = self.stage.spatial, self.stage.op
        if not self.is_plain or not self.is_product or len(self.k) != 1 or len(spatial) < 2:
            return False
        row, column = spatial[-2:]
        if not any(axis is row for axis in self.m) or not any(axis is column for axis in self.n):
            return False
        for access, own in ((self.a, row), (self.b, column)):
            if {id(axis) for axis in access.axes[-2:]} != {id(own), id(self.k[0])}:
                return False
        assert isinstance(op, ComputeOp) and op.reduction is not None
        return _first_read(op.reduction.exprs[0].operands()[0]) is self.a.tensor

    def swapped(self) -> Contraction:
        """The same with the second tensor as the first."""
        return Contraction(self.stage, self.b, self.a, self.n, self.m, self.batch)


def _is_read(expr: Expr) -> bool:
    return isinstance(expr, Read) or isinstance(expr, Cast) and isinstance(expr.value, Read)


def _first_read(expr: Expr) -> Tensor | None:
    """The tensor of a read that may be cast."""
    value = expr.value if isinstance(expr, Cast) else expr
    return value.tensor if isinstance(value, Read) else None


def contraction_of(stage: StageFacts) -> Contraction | None:
    """None of a stage that is none, or is too small for tiles, or of which an inner extent is symbolic."""
    op = stage.op
    if stage.kind != Kind.REDUCTION or not isinstance(op, ComputeOp) or op.num_outputs > 1 or stage.is_empty:
        return None
    if not _has_static_tiles(stage) or any(axis.dom is None or axis.dom.min for axis in stage.reduced):
        return None
    if op.reduction is None or op.reduction.name == "reduce" or len(stage.accesses) != 2:
        return None
    a, b = stage.accesses
    if a.tensor.op is b.tensor.op or any(None in access.indices for access in (a, b)):
        return None
    if a.tensor.op.num_outputs > 1 or b.tensor.op.num_outputs > 1:  # no primitive copies a part of them
        return None
    m, n, batch = list[IterVar](), list[IterVar](), list[IterVar]()
    for axis in stage.spatial:
        of_a, of_b = a.depends_on(axis), b.depends_on(axis)
        (batch if of_a == of_b else m if of_a else n).append(axis)
    found = Contraction(stage, a, b, tuple(m), tuple(n), tuple(batch))
    if found.M < 4 or found.N < 4 or found.M * found.N < _FEW or found.K < 2:
        return None
    # Rows are what the result's last axis is not of: its columns lie together.
    last = stage.spatial[-1]
    return found.swapped() if any(axis is last for axis in m) else found


def _has_static_tiles(stage: StageFacts) -> bool:
    """Whether all but the outermost of the results' axes are numbers, where axes of one element do not count; or all of
    them, where a symbol counts what is summed over."""
    longer = [axis for axis in stage.spatial if not is_static([axis]) or size_of([axis]) > 1]
    return is_static(longer[1:]) if is_static(stage.reduced) else len(stage.reduced) == 1 and is_static(longer)
