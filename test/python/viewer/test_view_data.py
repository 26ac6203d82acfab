"""What `view_data` says: the panes, where each line came from, and that the shown code is what users run."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import tilewright as tw
from tilewright import schedules, te
from tilewright.backend.sass import disassemble, find_disassembler
from tilewright.viewer.device import plain_ptx

EXAMPLES = Path(__file__).parent.parent.parent.parent / "python" / "examples"
SM90 = "cuda -arch=sm_90a"
INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]+\*/\s*(.*)")
NOP = re.compile(r"NOP\b")
needs_nvdisasm = pytest.mark.skipif(
    getattr(find_disassembler(), "name", "") != "nvdisasm", reason="nvdisasm is not installed"
)


def example(file: str, call: str) -> tuple[Any, Any]:
    return eval(call, runpy.run_path(str(EXAMPLES / file), run_name="example"))


PROGRAMS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "01_vector_add": lambda: example("01_vector_add.py", "vector_add(1000)"),
    "02_tiled_gemm": lambda: example("02_tiled_gemm.py", "mmult(64, 64, 64)"),
    "03_register_tiled_gemm": lambda: example("03_register_tiled_gemm.py", "sgemm(256, 256, 256)"),
    "06_softmax": lambda: example("06_softmax.py", "softmax(64, 1000)"),
    "wgmma": lambda: schedules.matmul_wgmma(4096, 4096, 4096),
}
# Of these too, instructions know their lines.
MORE: dict[str, Callable[[], tuple[Any, Any]]] = {
    "elementwise": lambda: schedules.gelu(1024, 1024),
    "row_sum": lambda: schedules.row_sum(512, 1000),
    "column_sum": lambda: schedules.column_sum(512, 1000),
    "layer_norm": lambda: schedules.layer_norm(512, 1024),
    "rms_norm": lambda: schedules.rms_norm(512, 1024),
    "transpose": lambda: schedules.transpose(512, 1024),
    "mma": lambda: schedules.matmul_mma(512, 512, 512),
    "attention": lambda: schedules.attention_wgmma(8, 1024, 1024, 64, causal=True),
    "convolution": lambda: schedules.conv2d(1, 64, 56, 64, 3),
    "convolution_wgmma": lambda: schedules.conv2d_wgmma(8, 64, 56, 64, 3),
}


@cache
def viewed(name: str) -> tuple[tw.Function, dict[str, Any]]:
    """A function, and what its page shows."""
    function = tw.build(*{**PROGRAMS, **MORE}[name](), SM90, "f")
    (program,) = function.view_data()["programs"]
    return function, program


def pane(program: dict[str, Any], name: str) -> dict[str, Any]:
    return next(each for each in program["panes"] if each["name"] == name)


def origin(program: dict[str, Any], name: str, line: int) -> dict[str, list[Any]]:
    return program["origins"][pane(program, name)["origins"][line - 1]]


def line_of(program: dict[str, Any], name: str, text: str) -> int:
    found = [number for number, line in enumerate(pane(program, name)["lines"], 1) if text in line]
    assert len(found) == 1, (name, text, found)
    return found[0]


@pytest.fixture(scope="module")
def tiled() -> dict[str, Any]:
    schedule, args = example("02_tiled_gemm.py", "mmult(64, 64, 64)")
    data = tw.build(schedule, args, SM90, "mmult").view_data()
    assert json.loads(json.dumps(data)) == data
    (program,) = data["programs"]
    return program


@pytest.mark.sweep
def test_panes_go_down_side_by_side(tiled: dict[str, Any]) -> None:
    names = [each["name"] for each in tiled["panes"] if each["name"] != "sass"]
    stages = ["te", "linalg", "loops", "gpu", "nvvm", "ptx"]
    assert names == ["source", "nest", *stages, "cuda", "host-cpp", "host"]
    above = {each["name"]: each["above"] for each in tiled["panes"]}
    assert [above[name] for name in stages] == ["source", *stages[:-1]]
    assert (above["nest"], above["cuda"], above["host-cpp"], above["host"]) == ("loops", "gpu", "gpu", "gpu")
    assert all(len(each["lines"]) == len(each["origins"]) for each in tiled["panes"])
    assert tiled["origins"][0] == {}


@pytest.mark.sweep
def test_each_origin_is_a_line_that_there_is(tiled: dict[str, Any]) -> None:
    counts = {each["name"]: len(each["lines"]) for each in tiled["panes"]}
    for entry in tiled["origins"]:
        for name, lines in entry.items():
            assert name == "pass" or all(1 <= line <= counts[name] for line in lines), entry


@pytest.mark.parametrize(
    ("pane_name", "text", "source"),
    [
        ("te", "te.compute", "C = te.compute("),
        ("gpu", "arith.mulf", "C = te.compute("),
        ("gpu", "gpu.block_id  x", 's[C].bind(xo, te.thread_axis("blockIdx.x"))'),
        ("nest", "for y.outer in", 's[C].bind(yo, te.thread_axis("blockIdx.y"))'),
        ("ptx", "%ctaid.x;", 's[C].bind(xo, te.thread_axis("blockIdx.x"))'),
        ("cuda", "float (&A_shared)", 'AS = s.cache_read(A, "shared", [C])'),
        ("cuda", "C_local = C_local + A_shared", "C = te.compute("),
        ("host", "tilewright.launch_origin", 's[C].bind(xo, te.thread_axis("blockIdx.x"))'),
    ],
)
def test_a_line_came_from_the_users(tiled: dict[str, Any], pane_name: str, text: str, source: str) -> None:
    found = origin(tiled, pane_name, line_of(tiled, pane_name, text))["source"]
    lines = pane(tiled, "source")["lines"]
    assert any(source in lines[number - 1] for number in found), [lines[number - 1] for number in found]


def test_a_line_knows_each_stage_above_it(tiled: dict[str, Any]) -> None:
    line = line_of(tiled, "nvvm", "llvm.fmul")
    found = origin(tiled, "nvvm", line)
    (at,) = found["gpu"]
    assert "arith.mulf" in pane(tiled, "gpu")["lines"][at - 1]
    (at,) = found["linalg"]
    assert "arith.mulf" in pane(tiled, "linalg")["lines"][at - 1]


@pytest.mark.sweep
@pytest.mark.parametrize("name", PROGRAMS)
def test_code_is_that_of_the_build(name: str) -> None:
    function, program = viewed(name)
    assert plain_ptx(function.ptx) == function.ptx
    assert "\n".join(pane(program, "ptx")["lines"]).rstrip() == function.ptx.rstrip()
    for stage in ("te", "linalg", "loops", "gpu", "nvvm", "host"):
        assert "\n".join(pane(program, stage)["lines"]).rstrip() == function.ir(stage).rstrip(), stage


@pytest.mark.sample(1)
@needs_nvdisasm
@pytest.mark.parametrize("name", PROGRAMS)
def test_machine_code_is_that_of_the_build(name: str) -> None:
    function, program = viewed(name)

    def instructions(lines: list[str]) -> list[str]:
        return [" ".join(found[1].split()) for found in map(INSTRUCTION.match, lines) if found]

    assert instructions(pane(program, "sass")["lines"]) == instructions(disassemble(function.cubin).splitlines())


@pytest.mark.sweep
@needs_nvdisasm
@pytest.mark.parametrize("name", [*PROGRAMS, *MORE])
def test_instructions_know_their_lines(name: str) -> None:
    """Of the instructions alone, without the NOPs behind the last one: 95 % find a line of the user's or say which
    pass made them, and of those that are no functions of ptxas's own (division, square root) 85 % find a line."""
    _, program = viewed(name)
    sass = pane(program, "sass")["lines"]
    texts = {number: found[1] for number, line in enumerate(sass, 1) if (found := INSTRUCTION.match(line))}
    origins = [origin(program, "sass", number) for number, text in texts.items() if not NOP.match(text)]
    assert len(origins) > 20
    of_source = sum("source" in each for each in origins)
    of_passes = [tuple(each["pass"]) for each in origins if "source" not in each and "pass" in each]
    assert of_source + len(of_passes) >= 0.95 * len(origins), f"{of_source} and {len(of_passes)} of {len(origins)}"
    own = len(origins) - of_passes.count(("ptxas",))
    least = 0.6 if name == "01_vector_add" else 0.85  # it has 21 instructions, 7 of them LLVM's addresses
    assert of_source >= least * own, f"{of_source} of {own}"


@needs_nvdisasm
def test_registers_live_along_the_instructions(tiled: dict[str, Any]) -> None:
    sass = pane(tiled, "sass")["lines"]
    live = tiled["live_registers"]["GPR"]
    assert len(live) == len(sass)
    assert all(count == 0 for count, line in zip(live, sass) if not INSTRUCTION.match(line))
    assert 4 < max(live) <= tiled["launches"][0]["registers"]


def test_launch_has_formulas_origins_and_the_users_line(tiled: dict[str, Any]) -> None:
    (launch,) = tiled["launches"]
    numbers = {number["name"]: number for number in launch["numbers"]}
    assert [numbers[name]["value"] for name in ("grid.x", "grid.y", "block.x", "shared")] == [16, 16, 4, 2048]
    grid = numbers["grid.x"]
    assert grid["origin"].startswith("x.outer of stage C, 02_tiled_gemm.py:")
    assert "bind(xo" in pane(tiled, "source")["lines"][grid["line"] - 1]


@pytest.mark.sweep
def test_formulas_of_symbolic_extents() -> None:
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1.0, name="B")
    s = te.create_schedule(B.op)
    block, thread = s[B].split(B.op.axis[0], factor=128)
    s[B].bind(block, te.thread_axis("blockIdx.x"))
    s[B].bind(thread, te.thread_axis("threadIdx.x"))
    function = tw.build(s, [A, B], SM90, "f")
    (program,) = function.view_data()["programs"]
    (launch,) = program["launches"]
    assert launch["numbers"][0] == {
        "name": "grid.x",
        "value": None,
        "formula": "ceildiv(n, 128)",
        "origin": None,
        "line": None,
    }

    class Array:
        shape = (1000,)

    (program,) = function.view_data(Array, Array)["programs"]
    assert program["launches"][0]["numbers"][0]["value"] == 8


def test_shared_memory_has_offsets_and_lives(tiled: dict[str, Any]) -> None:
    a, b = tiled["shared_memory"]["mmult_kernel0"]
    assert (a["name"], a["offset"], a["bytes"]) == ("A.shared", 0, 1024)
    assert (b["name"], b["offset"], b["bytes"]) == ("B.shared", 1024, 1024)
    gpu = pane(tiled, "gpu")["lines"]
    assert "memref.store" in gpu[a["first_line"] - 1]
    assert "memref.load" in gpu[a["last_line"] - 1]


@pytest.mark.sweep
def test_ring_has_its_slots() -> None:
    schedule, args = schedules.matmul_wgmma(4096, 4096, 4096)
    (program,) = tw.build(schedule, args, SM90, "mm").view_data()["programs"]
    ring = program["shared_memory"]["mm_kernel0"][0]
    assert (ring["places"], ring["offset"]) == (4, 0)
    assert ring["bytes"] == 4 * 2 * (128 * 64 + 64 * 256)
    assert program["work"]["machine"]["unit"] == "wgmma on bfloat16"
    assert program["work"]["machine"]["bound"] == "arithmetic"


@pytest.mark.sweep
def test_sim_is_shown_as_a_gpu_runs_it() -> None:
    schedule, args = example("02_tiled_gemm.py", "mmult(64, 64, 64)")
    (program,) = tw.build(schedule, args, "sim", "mmult").view_data()["programs"]
    assert program["target"] == "sim -arch=sm_90a"
    assert ".visible .entry mmult_kernel0(" in pane(program, "ptx")["lines"]


def test_cpu_has_its_own_stages() -> None:
    A = te.placeholder((16,), name="A")
    B = te.compute((16,), lambda i: A[i] + 1.0, name="B")
    (program,) = tw.build(te.create_schedule(B.op), [A, B], "cpu", "f").view_data()["programs"]
    assert [each["name"] for each in program["panes"]] == ["source", "te", "linalg", "host"]
    assert program["launches"] == []


@pytest.mark.sweep
def test_resumed_ir_begins_where_it_was_taken_up() -> None:
    schedule, args = example("02_tiled_gemm.py", "mmult(64, 64, 64)")
    loops = tw.build(schedule, args, SM90, "mmult").ir("loops")
    (program,) = tw.build(loops, target=SM90, start="loops").view_data()["programs"]
    assert [each["name"] for each in program["panes"]][:4] == ["source", "nest", "loops", "gpu"]
    line = line_of(program, "gpu", "arith.mulf")
    assert origin(program, "gpu", line)["loops"]


def test_passes_name_what_they_make_from_nothing(tiled: dict[str, Any]) -> None:
    named = {name for entry in tiled["origins"] for name in entry.get("pass", ())}
    assert "canonicalize" in named
    constant = line_of(tiled, "gpu", "%cst = arith.constant 0.000000e+00")
    assert origin(tiled, "gpu", constant) == {"pass": ["canonicalize"]}


@pytest.mark.sweep
def test_programs_are_compared() -> None:
    functions = [tw.build(*example("02_tiled_gemm.py", f"mmult(64, 64, 64, {tile})"), SM90, "mmult") for tile in (4, 8)]
    from tilewright.viewer import view_data

    data = view_data(functions)
    assert [program["label"] for program in data["programs"]] == ["mmult (1)", "mmult (2)"]
    (comparison,) = data["comparisons"]
    assert comparison["programs"] == [0, 1]
    assert [tag for tag, *_ in comparison["panes"]["nest"]].count("replace") == 2
    for name, changes in comparison["panes"].items():
        left, right = (pane(program, name)["lines"] for program in data["programs"])
        for tag, i1, i2, j1, j2 in changes:
            assert tag != "equal" or name == "sass" or left[i1:i2] == right[j1:j2]
        assert changes[-1][2] == len(left) and changes[-1][4] == len(right)


def test_wrong_arguments() -> None:
    from tilewright.viewer import view_data

    with pytest.raises(TypeError, match=r"^expected a function of tw\.build or a list of these, got int$"):
        view_data([3])  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"^expected at least one function to view$"):
        view_data([])
