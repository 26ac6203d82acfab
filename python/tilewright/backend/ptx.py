"""PTX of a module at the nvvm stage, by LLVM in process."""

from __future__ import annotations

from mlir import ir

from ..errors import CompileError, Diagnostic
from ..ir.diagnostics import MLIRError, describe, diagnostics_of
from ..ir.running import run_manager

__all__ = ["emit_ptx"]


def emit_ptx(module: ir.Module) -> str:
    """The PTX of all kernels of `module`, which is at the nvvm stage; it is left as it is.

    Raises CompileError (stage "ptx") where LLVM has no code for an op, or where `module` does not hold exactly one
    `gpu.module`.

    >>> print(emit_ptx(tw.lower(s, [A, B, C], stage="nvvm")))      # doctest: +SKIP
    """
    from mlir.passmanager import PassManager

    kernels = [operation for operation in module.body if operation.operation.name == "gpu.module"]
    if len(kernels) != 1:
        where = describe(module.operation.location)
        hint = "" if kernels else ": nothing in the IR became a kernel, so is it at the stage that was said?"
        text = f"expected one gpu.module at the nvvm stage, got {len(kernels)}{hint}"
        found = (Diagnostic("error", text, where),)
        raise CompileError(f"{found[0]}\n(emitting PTX)", stage="ptx", diagnostics=found)
    with module.context, ir.Location.unknown():
        alone = ir.Module.create()
        copy = kernels[0].operation.clone()
        alone.body.append(copy)
        try:
            run_manager(PassManager.parse("builtin.module(gpu.module(emit-ptx))"), alone.operation)
        except MLIRError as error:
            found = diagnostics_of(error.error_diagnostics)
            text = "\n".join(map(str, found)) or str(error)
            raise CompileError(f"{text}\n(emitting PTX)", stage="ptx", diagnostics=found) from None
        return ir.StringAttr(copy.attributes["tilewright.ptx"]).value
