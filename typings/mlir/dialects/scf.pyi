"""What the front end uses of MLIR's builders of the dialect `scf`, which have no types of their own."""

from collections.abc import Sequence

from mlir import ir

class ForOp(ir.OpView):
    def __init__(
        self,
        lower_bound: ir.Value,
        upper_bound: ir.Value,
        step: ir.Value,
        iter_args: Sequence[ir.Value] | None = None,
        *,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...
    @property
    def body(self) -> ir.Block: ...
    @property
    def induction_variable(self) -> ir.Value: ...

class IfOp(ir.OpView):
    def __init__(
        self,
        cond: ir.Value,
        results_: Sequence[ir.Type] = (),
        *,
        has_else: bool = False,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...
    @property
    def then_block(self) -> ir.Block: ...
    @property
    def else_block(self) -> ir.Block: ...

class WhileOp(ir.OpView):
    def __init__(
        self,
        results_: Sequence[ir.Type],
        inits: Sequence[ir.Value],
        *,
        loc: ir.Location | None = None,
        ip: ir.InsertionPoint | None = None,
    ) -> None: ...
    @property
    def before(self) -> ir.Region: ...
    @property
    def after(self) -> ir.Region: ...

class YieldOp(ir.OpView):
    def __init__(
        self, results_: Sequence[ir.Value] = (), *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
    ) -> None: ...

def condition(
    condition: ir.Value,
    args: Sequence[ir.Value],
    *,
    loc: ir.Location | None = None,
    ip: ir.InsertionPoint | None = None,
) -> ir.Operation: ...
def yield_(
    results_: Sequence[ir.Value], *, loc: ir.Location | None = None, ip: ir.InsertionPoint | None = None
) -> YieldOp: ...
