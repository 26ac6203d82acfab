"""The kind of an error, however it was called: tvm-ffi raises Python's classes, Tilewright its own, which are theirs."""

from __future__ import annotations


def kind_of(error: BaseException) -> type[BaseException]:
    """The class of Python's that an error of Tilewright's for wrong arguments is; of other errors their own class."""
    return next((kind for kind in (TypeError, ValueError, MemoryError) if isinstance(error, kind)), type(error))
