"""Fixtures that several folders use."""

from __future__ import annotations

import gc
import os
import sys
import types
from collections import Counter

import pytest

from sample import mark_sweep
from tilewright.backend import cubin
from tilewright.ir import running
from tilewright.runtime import cuda_driver, host_program, simulator

# What a test sees compiled is compiled by this tree; tests of the cache bring their own. Processes inherit it.
os.environ["TILEWRIGHT_CACHE"] = "off"
simulator.optimizes = host_program.optimizes = False  # most kernels here take longer to compile than to run


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before pytest leaves out what `-m` does not name."""
    mark_sweep(items)
    # With --no-loadscope-reorder, files begin in this order: those that take minutes, then those with the most tests.
    tests = Counter(item.path for item in items)
    long = {item.path for item in items if item.get_closest_marker("minutes")}
    items.sort(key=lambda item: (item.path not in long, -tests[item.path]))


class Failures:
    """Tells at once what fails, and not only at the end, which a run may not reach."""

    def __init__(self, config: pytest.Config) -> None:
        self._terminal = config.pluginmanager.getplugin("terminalreporter")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed and self._terminal is not None:
            self._terminal.write_line(f"\nFAILED {report.nodeid}")


def pytest_sessionstart(session: pytest.Session) -> None:
    if not hasattr(session.config, "workerinput"):
        session.config.pluginmanager.register(Failures(session.config))
    gc.disable()  # while tests are collected, nothing becomes garbage


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is there now stays: tests that collect garbage need not look through frameworks and thousands of tests."""
    gc.collect()
    gc.freeze()
    gc.enable()


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


@pytest.fixture(autouse=True)
def verified(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the sweep, and in random programs, all IR is verified after each pass, as `tilewright-opt` does. In the sweep
    LLVM optimizes simulated kernels, as for a user; target cpu's loops also where they are what is tested."""
    is_sweep = request.node.get_closest_marker("sweep") is not None
    if is_sweep:
        monkeypatch.setattr(simulator, "optimizes", True)
    if is_sweep or {"cpu", "fuzz"} & {*request.path.parts}:
        monkeypatch.setattr(host_program, "optimizes", True)
    if is_sweep or "fuzz" in request.path.parts:
        monkeypatch.setattr(running, "always_verifies_each", True)
