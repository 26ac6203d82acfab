"""The examples of the package's docstrings; test/python/runtime/test_docs.py has those that need a device."""

import doctest
import importlib
from pathlib import Path

import pytest

import tilewright

ROOT = Path(tilewright.__file__).parent
MODULES = sorted(
    ".".join(file.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    for file in ROOT.rglob("*.py")
    if "runtime" not in file.parts and ">>> " in file.read_text()
)


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    if "torch" in name:
        pytest.importorskip("torch")
    assert doctest.testmod(importlib.import_module(name)).failed == 0
