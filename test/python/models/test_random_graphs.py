"""Random ONNX graphs against ONNX's reference in float64: with all passes, and without each; and `tilewright bisect`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te
from tilewright.cli import main
from tilewright.graph import PASSES, GraphBuilder, TensorType, bisect_model, compile_graph

onnx = pytest.importorskip("onnx")

from tilewright.onnx import import_onnx  # noqa: E402

from .random_graphs import RandomGraph  # noqa: E402


def _check(seed: int, target: str, passes: Sequence[str] = PASSES) -> None:
    made = RandomGraph(seed)
    for without in [(), *[(name,) for name in passes]]:
        got = compile_graph(import_onnx(made.model()), target, without)(*made.arguments())
        made.check(got if isinstance(got, tuple) else (got,))


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(6))
def test_a_random_graph(seed: int) -> None:
    _check(seed, "cpu", [])


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(6))
def test_a_random_graph_without_each_pass(seed: int) -> None:
    _check(seed, "cpu")


@pytest.mark.slow
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("seed", range(6, 206))
def test_more_random_graphs(seed: int, target: str) -> None:
    _check(seed, target)


def _saved(path: Path) -> Path:
    onnx.save(RandomGraph(3).model(), path)
    return path


def test_bisecting_a_model_that_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bisect", str(_saved(tmp_path / "m.onnx")), "--target", "cpu"]) == 0
    assert capsys.readouterr().out == "random: right\n"


@pytest.mark.sweep
def test_bisecting_names_the_group_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled program that is off by one element, in a group that fusion makes."""
    import tilewright.graph.model as owner

    compiled = owner.compile_groups

    def broken(groups: Any, target: Any, tell: Any) -> None:
        compiled(groups, target, tell)
        for group in groups:
            if group.operators == ("add", "relu"):
                x = group.arguments[0]
                y = te.compute(x.shape, lambda i, x=x: x[i] + x[i] + te.if_then_else(i == 0, 1.0, 0.0))
                wrong = tw.build(te.create_schedule(y.op), [x, y], target, group.function.entry_name)
                group.functions[group.key] = wrong

    def make() -> Any:
        with GraphBuilder("sum", [("x", TensorType((3,), "float32"))]) as b:
            return b.finish([("y", b.op("relu", b.op("add", b.inputs["x"], b.inputs["x"])))])

    monkeypatch.setattr(owner, "compile_groups", broken)
    x = np.ones(3, "float32")
    found = bisect_model(make, [x], [x * 2], "cpu")
    line = f"{__file__}:{make.__code__.co_firstlineno + 2}"
    assert found.passes == ("fuse-operators",)
    assert str(found).splitlines() == [
        "sum: y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without canonicalize      y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without cse               y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without raise-attention   y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without merge-matmuls     y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without fuse-quantization y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without channels-last     y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without sink-reshapes     y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without order-results     y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without fold-weights      y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without fuse-operators    right",
        "  without fold-groups       y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without view-reshapes     y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without order-groups      y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without plan-memory       y[0]: expected 2.0, got 3.0; 1 of 3 elements differ",
        "  without any pass          right",
        f"  group add_relu: WRONG, off by 0.5 ({line} (graph.add), {line} (graph.relu))",
    ]


def test_bisecting_takes_no_program_with_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = _saved(tmp_path / "m.onnx")
    assert main(["bisect", str(path), "--program", "f"]) != 0
    assert f"{path}: expected no --program and no --name with a model" in capsys.readouterr().err


def test_a_model_that_onnx_does_not_run(tmp_path: Path) -> None:
    from tilewright.onnx.bisect import bisect_onnx

    info = onnx.helper.make_tensor_value_info
    x, y = (info(name, onnx.TensorProto.FLOAT, (4,)) for name in ("x", "y"))
    node = onnx.helper.make_node("Reshape", ["x", "s"], ["y"])
    shape = onnx.numpy_helper.from_array(np.array([3], np.int64), "s")
    onnx.save(onnx.helper.make_model(onnx.helper.make_graph([node], "g", [x], [y], [shape])), tmp_path / "m.onnx")
    with pytest.raises(tw.CompileError, match="onnx.reference does not run it: "):
        bisect_onnx(str(tmp_path / "m.onnx"))
