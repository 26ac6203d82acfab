"""What the front end uses of MLIR's builders of the dialect `tensor`, which have no types of their own."""

from collections.abc import Sequence

from mlir import ir

class CastOp(ir.OpView):
    def __init__(
        self, dest: ir.Type, source: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
    ) -> None: ...
    @property
    def result(self) -> ir.OpResult: ...

def dim(
    source: ir.Value, index: ir.Value, *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> ir.Value: ...
def empty(
    sizes: Sequence[int | ir.Value],
    element_type: ir.Type,
    *,
    encoding: ir.Attribute | None = None,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
