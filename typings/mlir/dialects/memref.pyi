"""What the front end uses of MLIR's builders of the dialect `memref`, which have no types of their own."""

from collections.abc import Sequence

from mlir import ir

class AllocOp(ir.OpView):
    def __init__(
        self,
        memref: ir.Type,
        dynamicSizes: Sequence[ir.Value],
        symbolOperands: Sequence[ir.Value],
        *,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...
    @property
    def result(self) -> ir.OpResult: ...

class AllocaOp(ir.OpView):
    def __init__(
        self,
        memref: ir.Type,
        dynamicSizes: Sequence[ir.Value],
        symbolOperands: Sequence[ir.Value],
        *,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...
    @property
    def result(self) -> ir.OpResult: ...

def load(
    memref: ir.Value,
    indices: Sequence[ir.Value],
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Value: ...
def store(
    value: ir.Value,
    memref: ir.Value,
    indices: Sequence[ir.Value],
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Operation: ...
