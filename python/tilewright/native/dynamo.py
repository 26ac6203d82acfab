"""Calls of ours in code that torch.compile traces."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

__all__ = ["leave_calls_to_python"]

_RULES = "torch._dynamo.trace_rules"
_PACKAGE = __name__.partition(".")[0]
_TRACED = f"{_PACKAGE}.torch"
"""What is made of PyTorch's operators, and may be traced."""


def leave_calls_to_python() -> None:
    """Makes TorchDynamo call this package's functions as they are, rather than trace into them.

    Its list of such packages is a module that is imported when it first traces. PyTorch is not imported for that: where
    the module is not there yet, it is told when it comes.
    """
    rules = sys.modules.get(_RULES)
    if rules is not None:
        _tell(rules)
    elif not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _tell(rules: Any) -> None:
    package = sys.modules[_PACKAGE]
    for each in pkgutil.iter_modules(package.__path__, f"{_PACKAGE}."):
        if each.name != _TRACED:
            rules.add(each.name)


class _Finder:
    """Finds the module as the others do, and has it told of this package once it is loaded."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        if name != _RULES:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def execute_and_tell(module: ModuleType) -> None:
                execute(module)
                _tell(module)

            spec.loader.exec_module = execute_and_tell  # type: ignore[method-assign]
        return spec
