"""Fixtures that several folders use."""

from __future__ import annotations

import os
import sys
import types

import pytest

from sample import mark_sweep
from tilewright.backend import cubin
from tilewright.runtime import cuda_driver

# What a test sees compiled is compiled by this tree; tests of the cache bring their own. Processes inherit it.
os.environ["TILEWRIGHT_CACHE"] = "off"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before pytest leaves out what `-m` does not name."""
    mark_sweep(items)


@pytest.fixture
def bindings(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """cuda.bindings.driver as one that the test fills in, and no driver loaded."""
    package, made = types.ModuleType("cuda.bindings"), types.ModuleType("cuda.bindings.driver")
    package.driver = made
    monkeypatch.setitem(sys.modules, "cuda.bindings", package)
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", made)
    monkeypatch.setattr(cuda_driver, "_module", None)
    return made


@pytest.fixture(autouse=True)
def no_spills(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that spills, or that the assembler compiled otherwise than it was told (C75xx), fails the test; those
    marked `spills` are about such kernels."""
    if request.node.get_closest_marker("spills"):
        return

    class Checked(cubin.Cubin):
        def __post_init__(self) -> None:
            spilling = {name: found for name, found in self.resources.items() if found.spill_store_bytes}
            assert not spilling and not self.notes, f"{spilling} {self.notes}"

    monkeypatch.setattr(cubin, "Cubin", Checked)
