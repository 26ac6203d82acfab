"""What `mlir.ir` has: the classes of its extension module, which has types, and what is written in Python."""

from mlir._mlir_libs._mlir.ir import *

class MLIRError(Exception):
    message: str
    error_diagnostics: list[DiagnosticInfo]
