"""The docstring of a public function names the errors that it raises: those of its own `raise` statements, and those of
the package's functions that it calls, as far as these are not public themselves."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from test_api_docs import EVERY, is_operation
from tilewright import errors
from tilewright.errors import TilewrightTypeError as TypeError
from tilewright.ops import Operator
from tilewright.tuning import JournalError

PUBLIC = [found for found in EVERY.values() if inspect.isfunction(found)]
NAMED = {*errors.__all__, JournalError.__name__, "AssertionError"}

# What is not told of a name, with the reason.
NOT_TOLD = {
    ("te.ComputeOp.__init__", "ValueError"): "te.compute makes it",
    ("te.IterVar.__init__", "TypeError"): "te.reduce_axis and te.thread_axis make it",
    ("te.PlaceholderOp.__init__", "TypeError"): "te.placeholder makes it",
    ("te.TensorComputeOp.__init__", "ValueError"): "te.compute makes it",
    ("te.exp10", "ValueError"): "its own constant fits each type",
    ("te.logaddexp", "ValueError"): "it computes with operands of one type",
    ("rules.Decision.neighbours", "ValueError"): "its values are those of the decision",
}


def is_ours(function: Any) -> bool:
    return function.__module__.startswith("tilewright") or function.__module__ == __name__


def tree_of(function: Any) -> ast.AST | None:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    except (OSError, SyntaxError):  # of a dataclass, and of what a decorator made
        return None


def names_of(function: Any, tree: ast.AST) -> dict[str, Any]:
    """What a function's names stand for: those of its module, and those that it imports itself."""
    module = sys.modules[inspect.unwrap(function).__module__]
    names = dict(vars(module))
    package = module.__spec__.parent if module.__spec__ is not None else ""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            found = importlib.import_module("." * node.level + (node.module or ""), package)
            names |= {one.asname or one.name: getattr(found, one.name, None) for one in node.names}
    return names


def called(node: ast.expr, names: dict[str, Any], owner: type | None) -> Any:
    """What an expression names: `f`, `module.f`, `self.f`."""
    if isinstance(node, ast.Name):
        return names.get(node.id, getattr(errors, node.id, None))
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id in ("self", "cls") and owner is not None:
            found = inspect.getattr_static(owner, node.attr, None)
            return getattr(found, "__func__", found)
        module = names.get(node.value.id)
        return getattr(module, node.attr, None) if isinstance(module, ModuleType) else None
    return None


def raises(function: Any, owner: type | None, *, deep: bool = True) -> set[str]:
    """The public errors that a function raises, by Python's names of them where it has one."""
    tree = tree_of(function)
    if tree is None:
        return set()
    names, found = names_of(function, tree), set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            error = called(node.exc.func, names, owner)
            name = error.__name__ if inspect.isclass(error) else getattr(error, "__annotations__", {}).get("return")
            if name in NAMED:
                found.add(name.removeprefix("Tilewright") if name != "TilewrightError" else name)
        if isinstance(node, ast.Call) and deep:
            other = called(node.func, names, owner)
            if inspect.isfunction(other) and is_ours(other) and other not in PUBLIC:
                found |= raises(other, owner, deep=False)
    return found


def told(function: Any, owner: type | None) -> str:
    """The docstring, that of the class, and those of the functions to which they send the reader."""
    texts = [inspect.getdoc(function) or "", *([inspect.getdoc(owner) or ""] if owner is not None else [])]
    for name in re.findall(
        r"(?:[Rr]aises|what) (?:what )?`([\w.]+)` (?:raises|does)", " ".join(" ".join(texts).split())
    ):
        last = name.rpartition(".")[2]
        others = [getattr(owner, last, None), *(found for key, found in EVERY.items() if key.endswith(f".{last}"))]
        texts += [inspect.getdoc(other) or "" for other in others if other is not None]
    return " ".join(texts)


def missing(name: str, function: Any, owner: type | None = None) -> list[str]:
    """The errors that are not told, each after the name of the function."""
    text = told(function, owner)
    return [
        f"{name}: {error}" for error in sorted(raises(function, owner))
        if not re.search(rf"(?<!\w)(?:Tilewright)?{error}(?!\w)", text) and (name, error) not in NOT_TOLD
    ]  # fmt: skip


def functions(name: str, found: Any) -> Iterator[tuple[str, Any, type | None]]:
    if inspect.isfunction(found):
        yield name, found, Operator if is_operation(found) else None
        return
    for each in dir(found):
        member = inspect.getattr_static(found, each)
        member = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        is_named = not each.startswith("_") or each in ("__init__", "__call__", "__getitem__")
        if is_named and inspect.isfunction(member) and is_ours(member):
            yield f"{name}.{each}", member, found


def test_what_is_not_told_is_still_raised() -> None:
    each = {one: rest for name, found in EVERY.items() for one, *rest in functions(name, found)}
    assert [(name, error) for name, error in NOT_TOLD if error not in raises(*each[name])] == []


@pytest.mark.sweep
@pytest.mark.parametrize("page", sorted({name.partition(".")[0] for name in EVERY}))
def test_it_names_the_errors_that_it_raises(page: str) -> None:
    each = [one for name, found in EVERY.items() if name.startswith(f"{page}.") for one in functions(name, found)]
    assert [text for name, function, owner in each for text in missing(name, function, owner)] == []


def _checked(x: object) -> None:
    if not isinstance(x, int):
        raise TypeError("expected a number")


def test_an_error_that_is_not_named_is_found() -> None:
    def halved(x: int) -> int:
        """Half of `x`."""
        _checked(x)
        if x % 2:
            raise errors.TilewrightValueError("expected an even number")
        return x // 2

    assert missing("halved", halved) == ["halved: TypeError", "halved: ValueError"]
    halved.__doc__ = "Half of `x`. Raises TypeError for what is no number, ValueError for an odd one."
    assert missing("halved", halved) == []
