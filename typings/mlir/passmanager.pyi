"""What `mlir.passmanager` has: the classes of its extension module, which has types."""

from mlir._mlir_libs._mlir.passmanager import *
