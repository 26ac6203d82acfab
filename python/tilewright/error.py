"""TVM's module of errors, of which scripts catch one: `TVMError`.

>>> import tilewright as tvm
>>> tvm.error.TVMError is tvm.TilewrightError
True
"""

from __future__ import annotations

from collections.abc import Callable as _Callable

from .errors import TilewrightError as TVMError
from .tvm_compat.missing_names import attribute_of

__all__ = ["TVMError"]

__getattr__: _Callable[[str], object] = attribute_of("error", "module 'tilewright.error'")
