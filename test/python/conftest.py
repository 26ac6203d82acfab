"""Fixtures that several folders use."""

from __future__ import annotations

import os
import sys
import types

import pytest

from tilewright.runtime import driver

# What a test sees compiled is compiled by this tree; tests of the cache bring their own. Processes inherit it.
os.environ["TILEWRIGHT_CACHE"] = "off"


@pytest.fixture
def bindings(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """cuda.bindings.driver as one that the test fills in, and no driver loaded."""
    package, made = types.ModuleType("cuda.bindings"), types.ModuleType("cuda.bindings.driver")
    package.driver = made
    monkeypatch.setitem(sys.modules, "cuda.bindings", package)
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", made)
    monkeypatch.setattr(driver, "_module", None)
    return made
