"""ONNX's backend node tests against the scoreboard: a sample, and all of them with -m slow."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sample import selected
from tree import load

pytest.importorskip("onnx")
TOOL = load("score-onnx")
SCORED: dict[str, str] = json.loads(TOOL.DATA.read_text())
RUN = [name for name, result in SCORED.items() if result != "not run"]
SAMPLE = [name for name in RUN if TOOL.rank(name)[0] == 0]


@functools.cache
def _cases() -> dict[str, Any]:
    return {case.name: case for case in TOOL.cases()}


def _result(name: str) -> str:
    case = _cases()[name]
    return TOOL.scope_of(case.model) if SCORED[name].startswith("out of scope") else TOOL.result_of(case)


def _check(name: str) -> None:
    if SCORED[name].startswith("out of scope"):
        assert _result(name), name
    else:
        assert _result(name) == SCORED[name]


@pytest.fixture(scope="module")
def results(request: pytest.FixtureRequest) -> dict[str, str]:
    """Of the cases that this session has selected, from one process: ONNX makes its cases with libraries for pictures."""
    code = (
        "import json, sys; sys.path.insert(0, sys.argv[1]); from models.test_onnx_backend import _result; "
        "print(json.dumps({name: _result(name) or '' for name in sys.argv[2:]}))"
    )
    command = [sys.executable, "-c", code, str(Path(__file__).parents[1]), *selected(request, "test_node", "name")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.sweep
@pytest.mark.parametrize("name", SAMPLE)
def test_node(name: str, results: dict[str, str]) -> None:
    if SCORED[name].startswith("out of scope"):
        assert results[name]
    else:
        assert results[name] == SCORED[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in RUN if name not in SAMPLE])
def test_node_of_the_rest(name: str) -> None:
    _check(name)


def test_the_page_is_what_the_data_says() -> None:
    assert TOOL.PAGE.read_text() == TOOL.page(SCORED), "docs/onnx-coverage.md is stale: run tools/score-onnx.py"


@pytest.mark.slow
def test_every_case_is_scored() -> None:
    assert set(SCORED) == set(_cases())


def test_the_backend_runs_a_node() -> None:
    import onnx

    from tilewright.onnx import backend

    assert backend.supports_device("CPU") and backend.supports_device("CUDA:1") and not backend.supports_device("TPU")
    node = onnx.helper.make_node("Reshape", ["x", "shape"], ["y"])
    x = np.arange(6, dtype=np.float32)
    (y,) = backend.run_node(node, [x, np.array([2, 3])])
    assert np.array_equal(y, x.reshape(2, 3))


def test_shapes_that_inputs_decide_compile_once_a_value() -> None:
    import onnx

    from tilewright.onnx import backend

    helper = onnx.helper
    inputs = [
        helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [6]),
        helper.make_tensor_value_info("s", onnx.TensorProto.INT64, [2]),
    ]
    node = helper.make_node("Reshape", ["x", "s"], ["y"])
    graph = helper.make_graph([node], "g", inputs, [onnx.ValueInfoProto(name="y")])
    prepared = backend.prepare(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)]))
    assert prepared.specialized == ("s",)
    x = np.arange(6, dtype=np.float32)
    for shape in ([2, 3], [3, 2]):
        (y,) = prepared.run([x, np.array(shape)])
        assert y.shape == tuple(shape)
    first = prepared.model_for([x, np.array([2, 3])])
    assert first is prepared.model_for([x, np.array([2, 3])])
    assert first is not prepared.model_for([x, np.array([3, 2])])


@pytest.mark.parametrize("name", ["PReLU_1d_multiparam", "PReLU_2d_multiparam", "SELU", "Softmin", "Softsign"])
def test_models_of_old_versions(name: str) -> None:
    """Models that PyTorch exported, of ONNX's operator set 6."""
    import onnx
    from onnx import numpy_helper
    from onnx.backend.test.loader import load_model_tests

    from tilewright.onnx import backend

    (case,) = (one for one in load_model_tests(kind="pytorch-converted") if one.name == f"test_{name}")
    folder = Path(case.model_dir)
    read = [
        numpy_helper.to_array(onnx.TensorProto.FromString((folder / "test_data_set_0" / f"{kind}_0.pb").read_bytes()))
        for kind in ("input", "output")
    ]
    (got,) = backend.prepare(onnx.load(folder / "model.onnx")).run([read[0]])
    np.testing.assert_allclose(got, read[1], rtol=case.rtol, atol=case.atol)
