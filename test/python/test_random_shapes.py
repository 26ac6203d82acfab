"""The benchmark of shapes that are drawn anew: what it draws, its kernels on the simulator, its figures and its file.

What it measures needs a GPU."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import ModuleType

import pytest

from tree import ROOT

torch = pytest.importorskip("torch")
GROUPS = (
    "aligned matmul", "odd matmul", "f8 matmul", "int8 matmul", "tf32 matmul", "f32 matmul", "rows", "convolutions",
)  # fmt: skip


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> dict[str, ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    names = ("random_cases", "random_shapes", "random_peers", "measuring")
    return {name: importlib.import_module(name) for name in names}


def test_groups(bench: dict[str, ModuleType]) -> None:
    cases = bench["random_cases"]
    assert tuple(cases.GROUPS) == GROUPS
    for group in GROUPS:
        first, other = cases.draw(11, group), cases.draw(12, group)
        assert first == cases.draw(11, group) and len(first) == cases.GROUPS[group][0]
        assert len({str(case) for case in (*first, *other)}) > 1.9 * len(first)  # hardly a shape twice
        assert {case.group for case in first} == {group}


@pytest.mark.parametrize(("group", "is_odd"), [("aligned matmul", False), ("odd matmul", True)])
def test_alignment(bench: dict[str, ModuleType], group: str, is_odd: bool) -> None:
    for case in bench["random_cases"].draw(5, group):
        a, b = case.arrays
        options = dict(case.options)
        shapes = [
            a.shape[::-1] if options["transpose_a"] else a.shape,
            b.shape[::-1] if options["transpose_b"] else b.shape,
        ]
        (M, K), (same, N) = shapes
        assert same == K and 1 <= M <= 8192 and max(N, K) <= 16384
        assert any(extent % 8 for extent in (N, K)) == is_odd
        if not is_odd:
            assert not [one for one in (a, b) if one.shape[-1] % 8]


# By the type of the elements: a sum of as few as here is right to a few roundings of the result.
ROUNDING = {torch.float32: 2e-6, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7, torch.int32: 0, torch.int64: 0}


@pytest.mark.sample(8)
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("number", range(2))
def test_on_the_simulator(bench: dict[str, ModuleType], group: str, number: int) -> None:
    case = bench["random_cases"].draw(3, group, 2, largest=64)[number]
    function = bench["random_cases"].function_of(case, "sim -device=H200")
    torch.manual_seed(1)
    tensors = []
    for one in case.arrays:
        dtype = getattr(torch, one.dtype)
        below = (0, one.below) if one.below else (-128, 128) if one.dtype == "int8" else None
        tensors.append(torch.randint(*below, one.shape, dtype=dtype) if below else torch.randn(one.shape).to(dtype))
    wide = [one if one.dtype == torch.int64 else one.double() for one in tensors]
    exact = bench["random_peers"].expression_of(case)(*wide)
    found = function(*tensors)
    assert tuple(found.shape) == tuple(exact.shape)
    rounding = 2.0**-9 if "tf32" in group else ROUNDING[found.dtype]
    largest = max(1.0, exact.double().abs().max().item()) * (8 if "tf32" in group else 1)
    assert (found.double() - exact.double()).abs().max().item() <= rounding * largest, str(case)


def test_summary_leaves_out_one(bench: dict[str, ModuleType]) -> None:
    ratios = [0.5, 0.95, 1.0, 1.05, 2.5]
    found = bench["measuring"].summary(
        [*({"ratio": ratio, "right": True} for ratio in ratios), {"ratio": 9.0, "right": False}, {"failure": "none"}]
    )
    assert (found["measured"], found["failed"], found["wrong"]) == (6, 1, 1)
    assert found["worst"] == 0.5 and found["below_0.9"] == 1
    # 2.5 is farther from the mean than 0.5 is.
    assert found["geomean"] == pytest.approx(1.246875 ** (1 / 5), abs=1e-4)
    assert found["geomean_without_the_outlier"] == pytest.approx(0.49875 ** (1 / 4), abs=1e-4)


def test_summary_beside_torch(bench: dict[str, ModuleType]) -> None:
    peers = {"torch": 2.0, "best of 8 of cuBLASLt": 1.0}
    found = bench["measuring"].summary([{"ratio": 1.0, "right": True, "ms": 1.0, "peers_ms": peers}])
    assert (found["geomean"], found["geomean_beside_torch"], found["worst_beside_torch"]) == (1.0, 2.0, 2.0)


def test_tf32_is_judged_by_its_own_rounding(bench: dict[str, ModuleType]) -> None:
    """torch multiplies one row in float32: a result of operands in tf32 is right beside it, one of bfloat16 is not."""
    cases = bench["random_cases"]
    arrays = cases.Array((1, 3456), "float32"), cases.Array((3456, 64), "float32")
    options = (("transpose_a", False), ("transpose_b", False), ("precision", "tf32"))
    torch.manual_seed(0)
    a, b = (torch.randn(one.shape) for one in arrays)
    short = [(one.view(torch.int32) & ~0x1FFF).view(torch.float32) for one in (a, b)]
    shorter = [one.bfloat16().float() for one in (a, b)]
    for group, right in (("tf32 matmul", [True, True, False]), ("f32 matmul", [True, False, False])):
        case = cases.Case(group, "matmul", arrays, options)
        results = [x @ y for x, y in ((a, b), short, shorter)]
        assert [bench["random_peers"].checked(case, [a, b], one, a @ b)["right"] for one in results] == right


@pytest.mark.sweep
def test_sums_in_float32_are_judged_by_their_rounding(bench: dict[str, ModuleType]) -> None:
    """A sum of one product after the other is right beside a more exact one; one of operands in tf32 is not."""
    cases = bench["random_cases"]
    arrays = cases.Array((1, 2200), "float32"), cases.Array((2200, 20000), "float32")
    case = cases.Case("f32 matmul", "matmul", arrays, (("transpose_a", False), ("transpose_b", False)))
    torch.manual_seed(0)
    a, b = (torch.randn(one.shape) for one in arrays)
    exact = (a.double() @ b.double()).float()
    in_turn = torch.zeros(1, 20000)
    for k in range(2200):
        in_turn += a[:, k] * b[k]
    short = [(one.view(torch.int32) & ~0x1FFF).view(torch.float32) for one in (a, b)]
    checked = bench["random_peers"].checked
    results = [checked(case, [a, b], one, exact) for one in (exact, in_turn, short[0] @ short[1])]
    assert [one["right"] for one in results] == [True, True, False]
    assert results[1]["error"] > 4 * results[1]["torch_error"] + 1e-6 * results[1]["largest"]


def test_file(bench: dict[str, ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "out.json"
    case = bench["random_cases"].draw(1, "rows", 1)[0]
    record = bench["measuring"].Record(path, {"seed": 1, "commit": "abc"}, 2)
    record.add(case, {"ratio": 1.5, "right": True, "ms": 2.0})
    record.add(case, {"failure": "OSError: no"})
    record.write()
    written = json.loads(path.read_text())
    assert written["seed"] == 1 and written["commit"] == "abc"
    assert written["summary"]["rows"]["geomean"] == 1.5 and written["summary"]["rows"]["failed"] == 1
    assert [one["case"] for one in written["cases"]] == [str(case)] * 2
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"[1/2] 1.500 {case} ", f"[2/2] - {case}  OSError: no"]


def test_compiling_in_time(bench: dict[str, ModuleType]) -> None:
    """What was not compiled in time is said so, and no process stays."""
    cases = bench["random_cases"].draw(1, "rows", 1)
    shapes, measuring = bench["random_shapes"], bench["measuring"]
    said = measuring.compile_all(cases, "cuda -device=H200", 1, 0.0, shapes.prepare)
    assert said == [{"failure": "it was not compiled in time"}]
