"""ONNX models: the importer and, as `tilewright.onnx.backend`, ONNX's interface of backends.

The package onnx is imported here and nowhere else: `pip install tilewright[onnx]`.
"""

from __future__ import annotations

from ..errors import TilewrightImportError

try:
    import onnx as onnx  # that it is there
except ImportError as _error:
    raise TilewrightImportError(
        "expected the package onnx, which reads ONNX models: pip install 'tilewright[onnx]'"
    ) from _error

from .importer import compile_onnx, import_onnx

__all__ = ["compile_onnx", "import_onnx"]
