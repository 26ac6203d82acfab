"""The examples in the docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

from tilewright import runtime

MODULES = [
    "tilewright.runtime.host_program",
    "tilewright.nd",
    *(f"tilewright.runtime.{m.name}" for m in pkgutil.iter_modules(runtime.__path__)),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    failures, _ = doctest.testmod(importlib.import_module(name))
    assert failures == 0
