"""Scripts for TVM's te, written as its tutorials are, with one import changed."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["llvm", "sim", pytest.param("cuda", marks=pytest.mark.gpu)])
def target(request: pytest.FixtureRequest) -> str:
    """What a script is run for; for "cuda" without a GPU it is compiled by `test_scripts_compile_for_cuda` alone."""
    import tilewright as tvm

    if request.param == "cuda" and not tvm.cuda(0).exist:
        pytest.skip("no NVIDIA GPU here")
    return request.param
