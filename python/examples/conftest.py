"""Each example runs on every target there is: the simulator and the processor, and a GPU where one is present."""

from __future__ import annotations

from pathlib import Path

import pytest
from tilewright import nd
from tilewright.errors import CompileError

HERE = Path(__file__).parent
# What does not work yet, by file. Strict: an example that starts to work fails here until it is taken off the list.
# Target cpu computes the stages as they are, so it has no part in this.
NOT_YET = {
    "04_conv2d.py": "rewrite-scheduled-dataflow inlines in the order written: a cache_read after compute_inline finds no stage",
    "06_softmax.py": "rewrite-scheduled-dataflow leaves the handle of an inlined stage, which apply-schedule refuses",
}


@pytest.fixture(params=["sim", "cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def target(request: pytest.FixtureRequest) -> str:
    if request.param == "cuda" and not nd.cuda(0).exist:
        pytest.skip("no NVIDIA GPU here")
    return request.param


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        target = getattr(item, "callspec", None) and item.callspec.params.get("target")
        if item.path.parent == HERE and item.path.name in NOT_YET and target in ("sim", "cuda"):
            item.add_marker(pytest.mark.xfail(reason=NOT_YET[item.path.name], raises=CompileError, strict=True))
