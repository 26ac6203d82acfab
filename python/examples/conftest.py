"""Each example runs on every target there is: the simulator and the processor, and a GPU where one is present."""

from __future__ import annotations

import pytest

from tilewright import nd


@pytest.fixture(params=["sim", "cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def target(request: pytest.FixtureRequest) -> str:
    if request.param == "cuda" and not nd.cuda(0).exist:
        pytest.skip("no NVIDIA GPU here")
    return request.param
