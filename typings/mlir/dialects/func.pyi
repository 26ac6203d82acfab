"""What the front end uses of MLIR's builders of the dialect `func`, which have no types of their own."""

from collections.abc import Sequence

from mlir import ir

class FuncOp(ir.OpView):
    arg_attrs: ir.ArrayAttr | list[ir.DictAttr]

    def __init__(
        self,
        name: str,
        type: ir.FunctionType | tuple[Sequence[ir.Type], Sequence[ir.Type]],
        *,
        visibility: str | None = None,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...
    @property
    def body(self) -> ir.Region: ...

class ReturnOp(ir.OpView):
    def __init__(
        self, operands_: Sequence[ir.Value], *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
    ) -> None: ...
