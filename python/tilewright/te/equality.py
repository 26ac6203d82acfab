"""Whether Python's truth of ``a == b`` may be identity, as dictionaries and `in` need it, or values are meant."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Generator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .expr import Expr

__all__ = ["asks_for_values", "computing"]


class _Calls(threading.local):
    depth = 0


_calls = _Calls()


@contextlib.contextmanager
def computing() -> Generator[None]:
    """In the `with` block, the function of a `te.compute` is called: axes are compared for their values there."""
    _calls.depth += 1
    try:
        yield
    finally:
        _calls.depth -= 1


def asks_for_values(a: Expr, b: Expr) -> bool:
    """Whether identity is no answer to ``a == b``, of which the kernel decides.

    An axis is compared with another axis to find it, outside of the function of a compute. What else depends on axes or
    on elements is compared for its value. Symbols alone are not: ``n == 1`` says that `n` is not the number 1.
    """
    from .expr import IterVar

    if a is b:
        return False
    if isinstance(a, IterVar) and isinstance(b, IterVar):
        return _calls.depth > 0
    return _depends_on_elements(a) or _depends_on_elements(b)


def _depends_on_elements(expr: Expr) -> bool:
    from .expr import IterVar

    waiting = [expr]
    while waiting:
        one = waiting.pop()
        if one.is_element or isinstance(one, IterVar):
            return True
        waiting += one.operands()
    return False
