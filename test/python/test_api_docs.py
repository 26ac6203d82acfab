"""Each name of the site's Python pages is described, with an example or with the name of what makes one."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tilewright import ops, te
from tilewright.ops import Operator
from tree import ROOT

PAGES = re.findall(r"^   (tilewright[\w.]*)$", (ROOT / "docs" / "api" / "index.md").read_text(), re.MULTILINE)


# What these pages are of is imported with a framework, which need not be installed.
OF_FRAMEWORKS = ("tilewright.torch", "tilewright.onnx")


def public(page: str) -> Iterator[tuple[str, Any]]:
    """The classes and functions of a page that are the package's own, with the names that users write."""
    try:
        module = importlib.import_module(page)
    except ImportError:
        if page not in OF_FRAMEWORKS:
            raise
        return
    for name in module.__all__:
        found = getattr(module, name)
        if isinstance(found, Operator):  # whose function is documented
            found = found.__wrapped__
        if (inspect.isclass(found) or inspect.isfunction(found)) and found.__module__.startswith("tilewright"):
            yield f"{page.removeprefix('tilewright.').replace('tilewright', 'tw')}.{name}", found


EVERY = dict(entry for page in PAGES for entry in public(page))
WITH_EXAMPLE = {name.rsplit(".", 1)[1] for name, found in EVERY.items() if ">>> " in (found.__doc__ or "")}
WITH_EXAMPLE |= {"script"} if ">>> " in (te.hybrid.script.__doc__ or "") else set()


def is_own_text(found: Any) -> bool:
    """Whether somebody wrote it: a dataclass and a protocol have a docstring by themselves."""
    text = found.__doc__ or ""
    return bool(text.strip()) and not re.match(rf"{re.escape(found.__name__)}\(", text)


@pytest.mark.parametrize("name", EVERY)
def test_it_has_an_example_or_names_what_has_one(name: str) -> None:
    found = EVERY[name]
    assert is_own_text(found)
    if inspect.isclass(found) and issubclass(found, BaseException):
        return
    text = found.__doc__ or ""
    named = {each.rsplit(".", 1)[-1] for each in re.findall(r"`([\w.]+)`", text)}
    methods = {each for each, method in vars(found).items() if ">>> " in (getattr(method, "__doc__", None) or "")}
    assert ">>> " in text or named & WITH_EXAMPLE or methods & named, text


@pytest.mark.parametrize("name", [name for name, found in EVERY.items() if inspect.isclass(found)])
def test_what_it_has_is_described(name: str) -> None:
    members = {
        each: member
        for each, member in vars(EVERY[name]).items()
        if not each.startswith("_")
        and (isinstance(member, (property, classmethod, staticmethod)) or inspect.isfunction(member))
    }
    assert [each for each in members if not inspect.getdoc(getattr(EVERY[name], each))] == []


def is_operation(function: Any) -> bool:
    return isinstance(getattr(ops, function.__name__, None), Operator) and function.__module__.startswith(ops.__name__)


def undocumented(found: Any) -> dict[str, list[str]]:
    """The parameters of a function, or of a class's methods, that the docstring does not name."""
    called = {"": found} if inspect.isfunction(found) else {}
    if inspect.isclass(found):
        called = {name: getattr(found, name) for name in vars(found) if not name.startswith("_")}
    missing = {}
    for name, function in called.items():
        if inspect.isfunction(function) or inspect.ismethod(function):
            text = inspect.getdoc(function) or ""
            skipped = {"self", "target"} if is_operation(function) else {"self"}  # `ops.Operator` tells of targets
            parameters = [each for each in inspect.signature(function).parameters if each not in skipped]
            missing[name] = [each for each in parameters if not re.search(rf"(?<!\w){each}(?!\w)", text)]
    return {name: parameters for name, parameters in missing.items() if parameters}


@pytest.mark.parametrize("name", EVERY)
def test_its_parameters_are_named(name: str) -> None:
    assert undocumented(EVERY[name]) == {}


def test_a_parameter_that_is_not_named_is_found() -> None:
    def scale(x: float, factor: float) -> float:
        """The number `x`, scaled."""
        return x * factor

    assert undocumented(scale) == {"": ["factor"]}
