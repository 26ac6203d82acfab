"""What the front end uses of the op classes that are generated for the dialect `te`."""

from collections.abc import Sequence
from typing import Any

from mlir import ir

class ComputeOp(ir.OpView):
    def __init__(
        self,
        results_: Sequence[ir.Type],
        name: ir.StringAttr,
        axes: ir.ArrayAttr,
        reduce_axes: ir.ArrayAttr,
        static_extents: ir.DenseI64ArrayAttr,
        extents: Sequence[ir.Value],
        *,
        reducer: Any = None,
        identity: ir.ArrayAttr | None = None,
        is_unsigned: Any = None,
        scan: bool | None = None,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...

class ExternOp(ir.OpView):
    def __init__(
        self,
        results_: Sequence[ir.Type],
        name: ir.StringAttr,
        inputs: Sequence[ir.Value],
        outs: Sequence[ir.Value],
        *,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...

def previous(element: ir.Type, of: int, lag: int, *, loc: ir.Location | None = None) -> ir.Value: ...
def read(
    element: ir.Type,
    tensor: ir.Value,
    indices: Sequence[ir.Value],
    map: ir.AffineMapAttr,
    *,
    loc: ir.Location | None = None,
) -> ir.Value: ...
def state(
    state: ir.Type, name: Any, of: Any, sizes: Sequence[ir.Value], *, loc: ir.Location | None = None
) -> ir.Value: ...
def yield_(values: Sequence[ir.Value], *, loc: ir.Location | None = None) -> ir.Operation: ...
def __getattr__(name: str) -> Any: ...  # pyright: ignore[reportIncompleteStub]
