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


SEARCHES = pytest.param("tilewright.tuning", marks=pytest.mark.sweep)  # takes eight seconds


@pytest.mark.sample(50)
@pytest.mark.parametrize("name", [SEARCHES if name == "tilewright.tuning" else name for name in MODULES])
def test_examples(name):
    if "torch" in name:
        pytest.importorskip("torch")
    assert doctest.testmod(importlib.import_module(name)).failed == 0
