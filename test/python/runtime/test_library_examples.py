"""The example of a library, and its users: each in a process of its own that has nothing of this project."""

from __future__ import annotations

import importlib.util
import shutil
from pathlib import Path

import pytest

import tilewright as tw

pytestmark = [
    pytest.mark.skipif(shutil.which("cc") is None, reason="no compiler to link with"),
    pytest.mark.skipif(importlib.util.find_spec("tvm_ffi") is None, reason="no tvm-ffi here"),
]
SCRIPT = Path(__file__).parents[3] / "bench" / "libraries.py"
specification = importlib.util.spec_from_file_location("libraries", SCRIPT)
assert specification is not None and specification.loader is not None
scripted = importlib.util.module_from_spec(specification)
specification.loader.exec_module(scripted)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    targets = ("cpu", "cuda", "managed") if tw.cuda(0).exist else ("cpu",)
    return {target: scripted.build(target, tmp_path_factory.mktemp(target)) for target in targets}


@pytest.mark.parametrize(
    ("user", "target"),
    [
        pytest.param(
            user,
            target,
            marks=pytest.mark.gpu if target != "cpu" else pytest.mark.sweep if user in ("torch", "jax") else (),
        )
        for target, users in scripted.USERS.items()
        for user in users
    ],
)
def test_users(user: str, target: str, libraries: dict[str, Path]) -> None:
    lacking = scripted.missing(user)
    if lacking is not None:
        pytest.skip(f"no {lacking} here")
    if target not in libraries:
        pytest.skip("no NVIDIA GPU here")
    result = scripted.use(user, libraries[target])
    assert result.returncode == 0, result.stdout + result.stderr
    *told, last = result.stdout.splitlines()
    assert last == "right"
    # Only the example in C++ shows what an error says.
    dtypes = {
        "float32x4": "float32",
        "float32": "float32",
        "float16x8": "float16",
        "float16": "float16",
        "int32": "int32",
    }
    assert told == (user == "cpp") * [
        "TypeError: add: expected a call that one of these takes",
        *(
            f"  add_{name}(A: {dtype}[n], B: {dtype}[n], C: {dtype}[n]): argument 0 (A): expected dtype {dtype}, got float64"
            for name, dtype in dtypes.items()
        ),
    ]
