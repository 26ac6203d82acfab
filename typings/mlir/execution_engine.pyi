"""What `mlir.execution_engine` has: the class of its extension module, and what is written in Python."""

from typing import Any

from mlir._mlir_libs._mlirExecutionEngine import ExecutionEngine as _ExecutionEngine

class ExecutionEngine(_ExecutionEngine):
    def lookup(self, name: str) -> Any: ...
    def invoke(self, name: str, *ctypes_args: Any) -> None: ...
