"""What scripts for TVM do with the module that `lower` returns: ``module["main"]``, `astext`, `script` and `show`."""

from __future__ import annotations

from typing import Any

from mlir.ir import Module, OpView, StringAttr

from ..errors import TilewrightAttributeError as AttributeError
from ..errors import TilewrightKeyError as KeyError
from ..messages.printable import printable

__all__ = ["add_methods"]


def _symbols(module: Module) -> dict[str, OpView]:
    symbols: dict[str, OpView] = {}
    for op in module.body.operations:
        if "sym_name" in op.attributes:
            symbols[StringAttr(op.attributes["sym_name"]).value] = op
    return symbols


def _get(module: Module, name: object) -> OpView:
    symbols = _symbols(module)
    if not isinstance(name, str) or name not in symbols:
        raise KeyError(printable(f"expected a function of the module ({', '.join(symbols) or 'none'}), got {name!r}"))
    return symbols[name]


def _text(module: Module) -> str:
    return str(module)


def _missing(module: Module, name: str) -> Any:
    message = f"'Module' object has no attribute {name!r}"
    if not name.startswith("_"):
        # The last function is the program's own: its kernels stand before it.
        function = ([*_symbols(module)] or ["main"])[-1]
        message += (
            f": tvm.lower returns an MLIR module: use module[{function!r}] or module.body.operations for its "
            "functions, and str(module) for its text"
        )
    raise AttributeError(printable(message))


def _has(module: Module, name: object) -> bool:
    return name in _symbols(module)


def _show(module: Module) -> None:
    print(module)


def add_methods() -> None:
    """Gives them to the bindings' class of modules, which cannot be subclassed: its functions make objects of it alone.

    They add names that the class lacks and change none that it has.
    """
    methods: dict[str, Any] = {
        "__getitem__": _get,
        "__contains__": _has,
        "__getattr__": _missing,
        "astext": _text,
        "script": _text,
        "show": _show,
    }
    for name, method in methods.items():
        if not hasattr(Module, name):
            setattr(Module, name, method)
