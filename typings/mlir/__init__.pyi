"""What Tilewright uses of MLIR's Python bindings. Those of the extension modules come with the bindings."""
