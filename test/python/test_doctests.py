"""The examples of the front end's docstrings."""

import doctest
import importlib

import pytest

MODULES = (
    "errors source schedule.schedule target te te.autodiff te.dtypes te.functions te.program te.reduction te.tag te.tensor tir transform"
).split()


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    assert doctest.testmod(importlib.import_module(f"tilewright.{name}")).failed == 0
