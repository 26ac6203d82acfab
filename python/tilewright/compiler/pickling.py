"""Functions through pickle and copy: as the IR that they were built from, which is compiled again where they arrive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..errors import TilewrightTypeError as TypeError
from ..target import Target

if TYPE_CHECKING:
    from .function import Function
    from .pipeline import Lowering


def parts_of(lowering: Lowering) -> tuple[Callable[..., Function], tuple[Any, ...]]:
    """What `__reduce__` returns of a function. Kernels for a GPU come from the cache of the process that loads it.

    Raises TypeError where passes of the user's in Python had a part in the function.
    """
    later = {stage: hooks for stage, hooks in lowering.hooks.items() if stage != lowering.start}
    own = [hook for hooks in later.values() for hook in hooks if not isinstance(hook, str)]
    if own:
        name = getattr(own[0], "__name__", repr(own[0]))
        raise TypeError(
            f"expected a function without passes in Python to pickle, got {lowering.name}, which {name} had a part in: "
            "build it where it is needed, or use export_library"
        )
    text = lowering.ir(lowering.start, locations=True)
    return restored, (text, lowering.start, lowering.target, lowering.name, later, lowering.managed)


def restored(
    text: str, start: str, target: Target, name: str, after: Mapping[str, tuple[str, ...]], managed: bool
) -> Function:
    """The function of which `parts_of` gave these."""
    from .entry_points import build

    return build(text, None, target, name, after=dict(after), start=start, host="managed" if managed else None)
