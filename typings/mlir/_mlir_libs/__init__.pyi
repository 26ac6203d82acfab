"""What Tilewright uses of the package around MLIR's extension modules."""

from mlir.ir import DialectRegistry

__file__: str

def get_dialect_registry() -> DialectRegistry: ...
