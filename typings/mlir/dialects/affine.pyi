"""What the front end uses of MLIR's builders of the dialect `affine`, which have no types of their own."""

from collections.abc import Sequence

from mlir import ir

class AffineApplyOp(ir.OpView):
    def __init__(
        self,
        map: ir.AffineMap | ir.AffineMapAttr,
        mapOperands: Sequence[ir.Value],
        *,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...
    @property
    def result(self) -> ir.OpResult: ...
