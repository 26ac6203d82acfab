"""What the cost model of matmuls counts, the candidates that it orders, and the fit of its numbers."""

from __future__ import annotations

import importlib
import json
import re
from math import isfinite
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import ops, schedules, te
from tilewright.devices import find
from tilewright.schedules.matmuls import cost_model, selection
from tilewright.schedules.matmuls.candidates import candidates
from tilewright.schedules.matmuls.problem import Choice, Problem
from tree import ROOT

H100 = find("H100")


def counted(problem: Problem, **options: Any) -> dict[str, float]:
    return cost_model.counted(problem, Choice("matmul_wgmma", options), H100)


def test_clusters_are_whole() -> None:
    """Three rows of tiles in clusters of two are four, which take as long."""
    problem = Problem(352, 14272, 13248, "float8_e4m3fn", "NT")
    alone, pairs = (counted(problem, tile=(128, 192), cluster=cluster) for cluster in ((1, 1), (2, 1)))
    assert (alone["tiles"], alone["waves"], pairs["tiles"], pairs["waves"]) == (225, 2, 300, 3)


def test_what_tma_asks_for() -> None:
    """Rows that begin within lines touch more of them, those within sectors more sectors; narrow panels are more rows;
    blocks of a cluster share; nothing is asked for beyond the matrix."""
    tile = (128, 256)
    whole = counted(Problem(4096, 4096, 4096, "bfloat16", "NT"), tile=tile)
    assert (whole["rows"], whole["lines"], whole["sectors"], whole["bytes"]) == (384, 384, 0, 384 * 128)
    lines = counted(Problem(4096, 4096, 4096 + 16, "bfloat16", "NT"), tile=tile)
    assert (lines["rows"], lines["lines"], lines["sectors"]) == (384, 384 * 1.75, 0)
    sectors = counted(Problem(4096, 4096, 4096 + 8, "bfloat16", "NT"), tile=tile)
    assert (sectors["rows"], sectors["lines"], sectors["sectors"]) == (384, 384 * 1.875, 192)
    shared = counted(Problem(4096, 4096, 4096, "bfloat16", "NT"), tile=tile, cluster=(4, 1))
    assert shared["rows"] == 128 + 256 / 4
    panels = counted(Problem(4096, 4080, 4096, "bfloat16", "NN"), tile=(128, 240))
    assert panels["rows"] == 128 + 64 * 240 * 2 / 32
    few = counted(Problem(8, 4096, 4096, "bfloat16", "NT"), tile=(64, 256))
    assert few["rows"] == 8 + 256


def test_all_choices_have_an_estimate() -> None:
    for problem in (
        Problem(1, 1, 1, "float16"),
        Problem(97, 6895, 15373, "bfloat16"),
        Problem(999, 512, 77, "tf32", "TT"),
    ):
        found = list(candidates(problem, H100))
        times = cost_model.estimates(problem, [*found, Choice("sgemm")], H100)
        assert all(isfinite(time) and time > 0 for time in times[:-1]) and times[-1] == float("inf")
        assert times[:3] == [cost_model.estimate(problem, choice, H100) for choice in found[:3]]
        assert selection.choose(problem, H100) == found[int(np.argmin(times[:-1]))]


def test_clusters_of_four() -> None:
    """Of blocks that a GPU has room for beside each other, and of tiles of which each block copies whole groups of rows."""
    problem = Problem(7057, 2640, 2824, "bfloat16", "NN")
    found = [choice.options for choice in candidates(problem, H100) if max(choice.options.get("cluster", (1,))) == 4]
    assert {"tile": (128, 256), "cluster": (4, 1), "blocks": 120} in found
    s, tensors = schedules.matmul_wgmma(1024, 512, 128, "bfloat16", **found[0])
    func = tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul")
    assert "multicast::cluster" in func.ptx


@pytest.mark.sample(2)
@pytest.mark.parametrize("cluster", [(2, 2), (4, 2), (2, 4)])
@pytest.mark.parametrize("layout", ["TN", "NT"])
def test_clusters_of_rows_and_columns(cluster: tuple[int, int], layout: str) -> None:
    """Blocks share both operands, also in a cluster that C ends within. With rows that begin within sectors of the
    cache, such a cluster is chosen."""
    ways = {"transpose_a": layout[0] == "T", "transpose_b": layout[1] == "T"}
    options: dict[str, Any] = {**ways, "tile": (64, 64), "cluster": cluster, "blocks": 16}
    s, tensors = schedules.matmul_wgmma(200, 328, 160, "float16", **options)
    a, b = (np.random.default_rng(seed).integers(-3, 4, shape) for seed, shape in enumerate(((200, 160), (160, 328))))
    given = [np.ascontiguousarray(one.T if turned else one, "float16") for one, turned in zip((a, b), ways.values())]
    c = np.zeros((200, 328), "float32")
    tw.build(s, tensors, target="sim", name="matmul")(*given, c)
    assert (c == a @ b).all()
    s, tensors = schedules.matmul_wgmma(200, 328, 160, "float16", **options)
    func = tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul")
    assert f".reqnctapercluster {cluster[1]}, {cluster[0]}, 1" in func.ptx
    assert len(re.findall("multicast::cluster", func.ptx)) >= 2
    chosen = selection.choose(Problem(264, 6200, 1816, "bfloat16", "TN"), H100).options["cluster"]
    assert min(chosen) > 1


@pytest.mark.sweep
def test_rows_of_32_bits_across_k_have_room_for_their_banks() -> None:
    """Sixteen of them take the room of forty: five steps of 128 rows fit, where six would without it."""
    found = [
        choice.options for choice in candidates(Problem(24, 384, 328, "tf32", "TN"), H100) if "warps" in choice.options
    ]
    assert found and not any(options["tile"] == (16, 16) and options["stages"] == 6 for options in found)
    for options in found:
        s, tensors = schedules.matmul_mma(24, 384, 328, "tf32", transpose_a=True, **options)
        tw.lower(s, tensors, stage="gpu", target="cuda -device=H100")


@pytest.mark.parametrize("swap", [False, True])
def test_blocks_of_a_cluster_copy_whole_groups_of_what_there_is(swap: bool) -> None:
    """Of 104 columns of the instruction a tile has 104, of which two blocks would copy 52 each. All are stored by TMA,
    those of large tiles at once."""
    M, N = (104, 776) if swap else (776, 104)
    problem = Problem(M, N, 6008, "bfloat16", "NT")
    found = [
        choice.options
        for choice in candidates(problem, H100)
        if choice.options["tile"][not swap] == 112 and choice.options.get("swap_ab", False) == swap
    ]
    assert len(found) > 8 and all(options["cluster"][swap] == 1 for options in found)
    for options in found[:: 1 + len(found) // 12]:
        s, tensors = schedules.matmul_wgmma(M, N, 6008, "bfloat16", transpose_b=True, **options)
        assert "tma_store" in str(tw.lower(s, tensors, stage="gpu", target="cuda -arch=sm_90a"))


def test_some_rows_are_parts_of_few() -> None:
    """261 rows are three tiles of 96 columns of the instruction, not five of 64 rows; two blocks share what they read."""
    found = [choice.options for choice in candidates(Problem(261, 2560, 4912, "bfloat16"), H100)]
    wanted: dict[str, Any] = {"tile": (96, 128), "cluster": (1, 2), "swap_ab": True, "split_k": 2, "dependent": True}
    assert wanted in found
    s, tensors = schedules.matmul_wgmma(184, 512, 256, "float16", **wanted)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype("float16") for shape in ((184, 256), (256, 512)))
    c = np.zeros((184, 512), "float32")
    tw.build(s, tensors, target="sim", name="matmul")(a, b, c)
    assert np.abs(c - a.astype("float64") @ b.astype("float64")).max() < 1e-4


@pytest.mark.sample(1)
@pytest.mark.parametrize("layout", ["NN", "NT"])
def test_tiles_of_all_rows(layout: str) -> None:
    """Few rows that are no power of two are one tile, for which the smaller operand is copied."""
    M, N, K = 97, 131, 141
    found = [choice.options for choice in candidates(Problem(M, 8191, 15373, "float16", layout), H100)]
    wanted: dict[str, Any] = {
        "tile": (112, 128),
        "warps": (1, 4),
        "stages": 6,
        "block_k": 32,
        "split_k": 2,
        "dependent": True,
        "pad": (True, False),
    }
    assert wanted in found
    s, tensors = schedules.matmul_mma(M, N, K, "float16", transpose_b=layout[1] == "T", **wanted)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype("float16") for shape in ((M, K), (N, K) if layout[1] == "T" else (K, N)))
    c = np.zeros((M, N), "float32")
    tw.build(s, tensors, target="sim", name="matmul")(a, b, c)
    exact = a.astype("float64") @ (b.T if layout[1] == "T" else b).astype("float64")
    assert np.abs(c - exact).max() <= 1e-5 * np.abs(exact).max()


def test_any_number_of_rows_has_no_clusters_of_four(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = Choice("matmul_wgmma", {"tile": (128, 256), "cluster": (4, 1), "blocks": 120})
    monkeypatch.setattr(selection, "choose", lambda *_: chosen)
    extents: dict[str, Any] = {"M": 7057, "N": 2640, "K": 2824, "batch": 1}
    assert selection.choose_for_any(extents, "bfloat16", "NN", H100) == chosen
    found = selection.choose_for_any(extents | {"M": te.var("rows", max=7057)}, "bfloat16", "NN", H100)
    assert found == Choice("matmul_wgmma", {"tile": (128, 256), "cluster": (2, 1)})


@pytest.mark.sweep
def test_few_threads_of_eight_lanes() -> None:
    """Those of a tile of 64 x 64 keep all in registers, where its K tile is of 8."""
    s, tensors = schedules.sgemm(391, 2360, 1840, tile=(64, 64), lanes=8, block_k=8, transpose_b=True)
    func = tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul")
    assert not re.search(r"\b(STL|LDL)\b", func.sass())


@pytest.mark.sweep
@pytest.mark.parametrize("tile", [(128, 192), (192, 128)])
def test_sums_of_five_steps_stay_in_registers(tile: tuple[int, int]) -> None:
    s, tensors = schedules.matmul_wgmma(
        4912, 8320, 576, "float8_e4m3fn", "bfloat16", transpose_b=True, tile=tile, cluster=(2, 1)
    )
    func = tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul")
    assert not re.search(r"\b(STL|LDL)\b", func.sass())


def test_a_vector_by_rows_is_a_reduction() -> None:
    """Where 16-byte copies cannot read the rows: with tiles there were sixteen rows for one."""
    for shape, transpose_a in (((1, 411), False), ((411, 1), True)):
        x, w = np.ones(shape, "float16"), np.ones((30, 411), "float16")
        s, _ = ops.matmul.schedule(x, w, transpose_a=transpose_a, transpose_b=True, target="cuda -arch=sm_90a")
        assert [one.rule for one in s.plan or ()] == ["reduction"]
        assert (ops.matmul.function(x, w, transpose_a=transpose_a, transpose_b=True, target="sim")(x, w) == 411).all()
    s, _ = ops.matmul.schedule(np.ones((1, 416), "float16"), np.ones((30, 416), "float16"), transpose_b=True)
    assert s.plan is None


@pytest.fixture
def fit(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    pytest.importorskip("scipy")
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    return importlib.import_module("fit_matmul_model")


@pytest.mark.sweep
def test_a_fit_finds_what_made_the_times(
    fit: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Times that the model made with other numbers: the fit writes numbers that choose better among others of them."""
    made = dict(cost_model.numbers())
    made |= {"line": 8 * made["line"], "storing": 20 * made["storing"], "wg_start": made["wg_start"] / 3}
    rng = np.random.default_rng(0)
    for name in ("some", "others"):
        entries = []
        for _ in range(4):
            M, N, K = (int(16 * 2 ** rng.uniform(2, 8)) for _ in "MNK")
            problem = Problem(M, N, K, "bfloat16", "NT")
            rows = [
                {
                    "schedule": choice.schedule, "options": choice.options, "right": True,
                    "us": 1e6 * float(cost_model.seconds(choice.schedule, cost_model.counted(problem, choice, H100), made)),
                }
                for choice in candidates(problem, H100)
            ]  # fmt: skip
            entries.append({"M": M, "N": N, "K": K, "dtype": "bfloat16", "layout": "NT", "candidates": rows})
        (tmp_path / name).write_text(json.dumps({"device": "NVIDIA H100 80GB HBM3", "problems": entries}))
    monkeypatch.setattr(cost_model, "NUMBERS", tmp_path / "numbers.json")
    arguments = [str(tmp_path / "some"), "--held-out", str(tmp_path / "others"), "--seconds", "1", "--write"]
    monkeypatch.setattr("sys.argv", ["fit_matmul_model.py", *arguments])
    fit.main()
    said = capsys.readouterr().out
    off = [int(one) for one in re.findall(r"held out: .* off by (\d+)%", said)]
    assert len(off) == 2 and off[1] < off[0] / 2
    written = json.loads((tmp_path / "numbers.json").read_text())
    assert written["fitted_to"] == ["some"] and written["numbers"].keys() == made.keys()


@pytest.mark.sweep
@pytest.mark.parametrize("layout", ["NN", "TN", "TT"])
def test_factors_of_32_bits_across_k(layout: str) -> None:
    """Four rows of k begin eight banks apart, at places that need no registers of their own."""
    ways: dict[str, Any] = {"transpose_a": layout[0] == "T", "transpose_b": layout[1] == "T"}
    s, tensors = schedules.matmul_mma(97, 132, 144, "tf32", tile=(112, 128), warps=(1, 4), stages=3, split_k=2, **ways)
    a, b = (np.random.default_rng(seed).integers(-9, 9, shape) for seed, shape in enumerate(((97, 144), (144, 132))))
    given = [np.ascontiguousarray(one.T if turned else one, "float32") for one, turned in zip((a, b), ways.values())]
    c = np.zeros((97, 132), "float32")
    tw.build(s, tensors, target="sim", name="matmul")(*given, c)
    assert (c == a @ b).all()
    s, tensors = schedules.matmul_mma(198, 1024, 512, "tf32", tile=(128, 128), warps=(2, 2), stages=3, **ways)
    assert not re.search(r"\b(STL|LDL)\b", tw.build(s, tensors, target="cuda -arch=sm_90a", name="matmul").sass())
