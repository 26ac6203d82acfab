"""The errors for names of TVM that are not here, which say what takes their place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from ..errors import TilewrightAttributeError as AttributeError
from ..errors import TilewrightImportError as ImportError
from .replacements import REPLACEMENTS

__all__ = ["attribute_of", "attributes_of", "provide", "refusal"]

_PACKAGE = __name__.partition(".")[0]


def refusal(name: str, what: str) -> str | None:
    """The text of the error for `name`, as `REPLACEMENTS` has it; None of what it does not have."""
    if name not in REPLACEMENTS:
        return None
    return f"{what}: of TVM's te it is not carried over (docs/tvm-compatibility.md): use {REPLACEMENTS[name]}"


_provided: dict[tuple[str, str], object] = {}


def provide(owner: str, name: str, value: object) -> None:
    """Makes `name` an attribute of the module called `owner` in TVM, which lies below what has the value."""
    _provided[owner, name] = value


def attribute_of(owner: str, what: str) -> Callable[[str], object]:
    """The `__getattr__` of a module called `owner` in TVM ("" for tvm itself), for names that it lacks."""
    if (module := sys.modules.get(f"{_PACKAGE}.{owner}")) is not None:
        # Python asks `_Finder` for names that are imported from packages alone.
        vars(module).setdefault("__path__", [])

    def missing(name: str) -> object:
        if (owner, name) in _provided:
            return _provided[owner, name]
        message = f"{what} has no attribute {name!r}"
        raise AttributeError(refusal(f"{owner}.{name}" if owner else name, message) or message)

    return missing


def attributes_of(owner: str, what: str) -> Callable[[object, str], object]:
    """The same for the `__getattr__` of a class."""
    missing = attribute_of(owner, what)
    return lambda _, name: missing(name)


class _Finder:
    """Asked last for modules: ``import tilewright.topi`` and ``from tilewright import topi`` say what to use."""

    @staticmethod
    def find_spec(fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> None:
        package, _, name = fullname.partition(".")
        if package == _PACKAGE and (message := refusal(name, f"no module named {fullname!r}")) is not None:
            raise ImportError(message)


if not any(type(finder).__name__ == "_Finder" and type(finder).__module__ == __name__ for finder in sys.meta_path):
    sys.meta_path.append(_Finder())
