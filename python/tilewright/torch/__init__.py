"""Models of PyTorch: modules and exported programs, and the backend of torch.compile."""

from __future__ import annotations

from .attention import attention
from .backend import compile_fx
from .exported import compile_torch, import_torch
from .importer import import_fx
from .precision import tf32_of

__all__ = ["attention", "compile_fx", "compile_torch", "import_fx", "import_torch", "tf32_of"]
