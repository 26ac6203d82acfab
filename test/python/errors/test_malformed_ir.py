"""Malformed IR given to `tilewright-opt`, `tilewright compile` and `tw.build`: an error that names the place, no crash."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tilewright as tw
from tilewright import schedules
from tilewright.cli import main
from tilewright.ir.reading import check_readable

ROOT = Path(__file__).parent.parent.parent.parent
STAGES = {"te": "1-te", "linalg": "2-linalg", "loops": "3-loops", "gpu": "4-gpu", "nvvm": "5-nvvm"}


def golden(stage: str) -> str:
    return (ROOT / "test" / "golden" / f"{STAGES[stage]}.mlir").read_text()


# What is wrong, and what each tool says: IN is the file's name.
FILES = {
    "truncated": (
        "".join(golden("te").partition("sum (")[:2]).encode(),
        "IN:3:45: error: expected SSA operand",
        "IN:3: error: expected SSA operand",
    ),
    "unknown-op": (
        b"func.func @f(%a: tensor<4xf32>) {\n  te.nothing %a\n  return\n}\n",
        "IN:2:3: error: custom op 'te.nothing' is unknown",
        "IN:2: error: custom op 'te.nothing' is unknown",
    ),
    "unknown-dialect": (
        b'func.func @f() {\n  "nobody.knows"() : () -> ()\n  return\n}\n',
        "IN:2:17: error: operation being parsed with an unregistered dialect. If this is intended, please use "
        "-allow-unregistered-dialect with the MLIR tool used",
        "IN:2: error: operation being parsed with an unregistered dialect. If this is intended, please use "
        "-allow-unregistered-dialect with the MLIR tool used",
    ),
    "invalid-op": (
        b'func.func @f() { return }\nschedule.of @f {\n  %C = schedule.stage ""\n}\n',
        "IN:3:8: error: 'schedule.stage' op expected the name of a stage, got none",
        "IN:3: error: stage: expected the name of a stage, got none",
    ),
    "binary": (
        bytes(range(128, 256)) * 20,
        "IN:1:1: error: unexpected character",
        "IN:1: error: unexpected character",
    ),
    "broken-bytecode": (
        b"ML\xefR\x0d\x01\x02",
        "IN:0:0: error: malformed null-terminated string, no null character found",
        "IN: error: malformed null-terminated string, no null character found",
    ),
    "empty": (b"", None, "IN: expected one public function in the module, got none"),
    "only-a-comment": (b"// nothing\n", None, "IN: expected one public function in the module, got none"),
    "two-functions": (
        b"func.func @f() { return }\nfunc.func @g() { return }\n",
        None,
        "IN: expected one public function in the module, got f, g",
    ),
    "nothing-computed": (
        b"func.func @f() { return }\n",
        None,
        "IN: error: expected one gpu.module at the nvvm stage, got 0: nothing in the IR became a kernel, so is it at "
        "the stage that was said?\n(emitting PTX)",
    ),
}


@pytest.fixture(params=FILES)
def malformed(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, str | None, str]:
    content, of_opt, of_compile = FILES[request.param]
    file = tmp_path / f"{request.param}.mlir"
    file.write_bytes(content)
    return file, of_opt, of_compile


def opt(file: Path) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from tilewright.cli.opt import main; main()"]  # what the script tilewright-opt is
    return subprocess.run(
        [*command, "--tilewright-pipeline=to=nvvm arch=sm_90a", str(file)],
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.sample(3)
def test_opt(malformed: tuple[Path, str | None, str]) -> None:
    file, expected, _ = malformed
    result = opt(file)
    said = result.stderr.decode(errors="replace").replace(str(file), "IN").splitlines()
    if expected is None:  # to the opt tool an empty module is a module
        assert (result.returncode, said) == (0, [])
    else:
        assert (result.returncode, said[0]) == (1, expected)


def test_compile(malformed: tuple[Path, str | None, str], capsys: pytest.CaptureFixture[str]) -> None:
    file, _, expected = malformed
    assert main(["compile", str(file), "--emit=ptx"]) == 1
    said = capsys.readouterr()
    assert said.err.replace(str(file), "IN") == f"tilewright compile: {expected}\n"
    assert said.out == ""


@pytest.mark.sweep
def test_not_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, missing, text = tmp_path / "folder.mlir", tmp_path / "missing.mlir", tmp_path / "x.txt"
    folder.mkdir()
    text.write_text("module {}")
    for file, of_opt, of_compile in (
        (folder, "cannot open input file 'IN': Is a directory", "IN: expected a file, got a folder"),
        (missing, "cannot open input file 'IN': No such file or directory", "IN: no such file"),
        (text, None, "IN: expected a .py or an .mlir file"),
    ):
        assert main(["compile", str(file), "--emit=ptx"]) == 1
        assert capsys.readouterr().err.replace(str(file), "IN") == f"tilewright compile: {of_compile}\n"
        if of_opt is not None:
            result = opt(file)
            assert (result.returncode, result.stderr.decode().replace(str(file), "IN").splitlines()[0]) == (1, of_opt)


@pytest.mark.parametrize(
    ("stage", "taken_for", "expected"),
    [
        ("te", "linalg", "IN:3: error: expected te.extern, or linalg.generic with 'te.stage' and 'te.axes', the names of its axes, got te.compute\n"
         "(lowering mmult from linalg to loops)"),
        ("te", "loops", "IN:3: error: stage loops: expected no tensor expressions, got 'te.compute': run convert-te-to-linalg before\n"
         "(lowering mmult from loops to gpu)"),
        ("gpu", "loops", "IN: expected IR of stage loops, got IR of a later stage: it has a gpu.module"),
        ("gpu", "nvvm", "IN:4: error: expected a gpu.module with one #nvvm.target\n(emitting PTX)"),
    ],
)  # fmt: skip
def test_of_another_stage(
    stage: str, taken_for: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mmult.mlir"
    file.write_text(golden(stage))
    launch = next((n for n, line in enumerate(golden(stage).splitlines(), 1) if "gpu.launch_func" in line), 0)
    assert main(["compile", str(file), f"--from={taken_for}", "--emit=ptx"]) == 1
    said = capsys.readouterr().err.replace(str(file), "IN")
    assert said == f"tilewright compile: {expected.replace('LAUNCH', str(launch))}\n"


def test_error_inside_a_nested_module() -> None:
    """MLIR verifies functions and modules of kernels in threads of its own, where the bindings cannot take an error."""
    text = golden("nvvm")
    (line,) = (line for line in text.splitlines() if "llvm.mlir.global" in line)
    with pytest.raises(tw.CompileError, match=r"error: redefinition of symbol named 'shared_memory'"):
        tw.build(text.replace(line, f"{line}\n{line}"), start="nvvm", target="cuda -arch=sm_90a")


def test_buffers_without_elements() -> None:
    """Upstream's conversion asserts on them."""
    text = re.sub(r"memref<64x64xf32>", "memref<64x0xf32>", golden("loops"))
    with pytest.raises(
        tw.CompileError, match=r"error: expected buffers with at least one element, got 'memref<64x0xf32>'"
    ):
        tw.build(text, start="loops", target="cuda -arch=sm_90a")


@pytest.mark.parametrize("target", ["cuda -arch=sm_90a", "sim"])
def test_threads_bound_twice(target: str) -> None:
    """The rows of a tile and its columns on one index: threads would compute the diagonal alone."""
    text = golden("loops").replace(
        '<"i.inner" of "C">, schedule.bind = #schedule.thread<threadIdx.y>',
        '<"i.inner" of "C">, schedule.bind = #schedule.thread<threadIdx.x>',
    )
    text = text.replace(
        "#schedule.thread<threadIdx.x>, #schedule.thread<threadIdx.y>]", "#schedule.thread<threadIdx.x>]"
    )
    expected = (
        "error: expected one loop on threadIdx.x, or an inner one that does the same in each iteration of the outer, "
        "got axis 'C.j.inner' inside of axis 'C.i.inner'"
    )
    with pytest.raises(tw.CompileError, match=re.escape(expected)):
        tw.build(text, start="loops", target=target)


# Run in a process of its own: what is looked for is a crash. Any error is fine as long as it is one of ours.
CUTS = """
import sys
import tilewright as tw
from tilewright import schedules
stage, path, first, step = sys.argv[1:]
lines = open(path).read().splitlines()
for cut in range(int(first), len(lines), int(step)):
    for text in (lines[:cut], lines[:cut] + lines[cut + 1:], lines[:cut + 1] + lines[cut:]):
        try:
            tw.lower("\\n".join(text), start=stage, stage="nvvm", target="cuda -arch=sm_90a")
        except (tw.TilewrightError, ValueError):
            pass
print("done")
"""


@pytest.mark.sweep
@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("stage", ["te", "loops", "gpu"])
def test_every_line_cut_left_out_or_doubled(stage: str, first: int) -> None:
    """Each fourth line in one process."""
    file = ROOT / "test" / "golden" / f"{STAGES[stage]}.mlir"
    command = [sys.executable, "-c", CUTS, stage, str(file), str(first), "4"]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "done\n"), result.stderr[-2000:]


def test_a_copy_of_the_copy_engine_has_a_swizzle() -> None:
    scheduled = schedules.matmul_wgmma(128, 64, 64, tile=(64, 64), cluster=(1, 1), blocks=1)
    text = str(tw.lower(*scheduled, stage="loops"))
    without = re.sub(r", swizzle = \d+", "", text)
    assert without != text
    with pytest.raises(tw.CompileError, match="struct is missing required parameter: swizzle"):
        tw.lower(without, start="loops", stage="gpu")


# MLIR's reader ends the process on it: the end of the tensor is beyond 63 bits.
BEYOND = f"""func.func @f(%a: memref<4x{2**63 - 1}xf32>) {{
  %x = memref.subview %a[0, 0] [2, 2] [1, 1] : memref<4x{2**63 - 1}xf32> to memref<2x2xf32, strided<[{2**63 - 1}, 1]>>
  return
}}
"""
GIVES_UP = "error: expected IR that MLIR can read, got what its reader gives up on"


def test_what_the_reader_gives_up_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "beyond.mlir"
    file.write_text(BEYOND)
    result = opt(file)
    assert (result.returncode, result.stderr.decode().splitlines()[-1]) == (1, f"{file}: {GIVES_UP}")
    assert main(["compile", str(file), "--emit=ptx"]) == 1
    assert capsys.readouterr().err == f"tilewright compile: {file}: {GIVES_UP}\n"
    for _ in range(2):  # the process goes on
        with pytest.raises(tw.CompileError, match=f"^f: {GIVES_UP}$"):
            tw.lower(BEYOND, name="f", target="cpu", stage="linalg", start="linalg")
    assert "func.func @f" in str(tw.lower("func.func @f() { return }", target="cpu", stage="linalg", start="linalg"))


@pytest.mark.sweep
@pytest.mark.parametrize("count", [-1, -3, 2**32 - 1])
@pytest.mark.parametrize("is_launch", [False, True], ids=["func", "launch"])
def test_attributions_that_are_no_count(count: int, is_launch: bool, tmp_path: Path) -> None:
    """MLIR's verifier reads beyond the arguments there, which may be seen or not."""
    region = f"""({{
    ^bb0({", ".join(f"%a{i}: index" for i in range(12 if is_launch else 1))}):
      "gpu.{"terminator" if is_launch else "return"}"() : () -> ()
    }})"""
    if is_launch:
        text = f"""func.func @f(%n: index) {{
    "gpu.launch"(%n, %n, %n, %n, %n, %n) <{{operandSegmentSizes = array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0>}}> {region}
      {{workgroup_attributions = {count} : i64}} : (index, index, index, index, index, index) -> ()
    return
    }}"""
    else:
        text = f"""gpu.module @m {{
    "gpu.func"() <{{function_type = (index) -> ()}}> {region}
      {{sym_name = "k", gpu.kernel, workgroup_attributions = {count} : i64}} : () -> ()
    }}"""
    said = f"{GIVES_UP}: a number of workgroup attributions outside of 0 to 2^31 - 1"
    with pytest.raises(tw.CompileError, match=f"^f: {re.escape(said)}$"):
        tw.lower(text, name="f", target="sim", stage="gpu", start="gpu")
    file = tmp_path / "counted.mlir"
    file.write_text(text)
    result = opt(file)
    assert (result.returncode, result.stderr.decode().splitlines()[-1]) == (1, f"{file}: {said}")
    # Any other count is the verifier's, with its line.
    with pytest.raises(tw.CompileError, match=r"^<IR text>:2: error: 'gpu\.(func|launch)' op "):
        tw.lower(text.replace(f"= {count} :", "= 5 :"), name="f", target="sim", stage="gpu", start="gpu")


DEEP = {
    "regions": lambda n: "module {" * n + "}" * n,
    "choices": lambda n: "func.func @f(%c: i1) {" + "scf.if %c {" * n + "}" * n + "return }",
    "attributes": lambda n: "module attributes {a = " + "[" * n + "]" * n + "} {}",
    "parentheses": lambda n: f"module attributes {{a = affine_map<(d0) -> ({'(' * n}d0{')' * n})>}} {{}}",
    "signs": lambda n: f"module attributes {{a = affine_map<(d0) -> ({'- ' * n}d0)>}} {{}}",
    "types": lambda n: "func.func private @f() -> " + "tuple<" * n + "i1" + ">" * n,
    "locations": lambda n: "module {} loc(" + 'callsite("a" at ' * n + '"b"' + ")" * n + ")",
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("kind", DEEP)
@pytest.mark.parametrize("count", [1001, 100_000])
def test_what_is_nested_too_deep(kind: str, count: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """MLIR's reader calls itself for each level, and the process ends where the stack does."""
    text = DEEP[kind](count)
    said = f"{GIVES_UP}: brackets or signs nested deeper than 1000"
    with pytest.raises(tw.CompileError, match=f"^f: {said}$"):
        tw.lower(text, name="f", target="cpu", stage="linalg", start="linalg")
    file = tmp_path / "deep.mlir"
    file.write_text(text)
    result = opt(file)
    assert (result.returncode, result.stderr.decode()) == (1, f"{file}: {said}\n")
    assert main(["compile", str(file), "--emit=ptx"]) == 1
    assert capsys.readouterr().err == f"tilewright compile: {file}: {said}\n"


@pytest.mark.parametrize("kind", DEEP)
def test_what_is_nested_as_deep_as_it_may_be(kind: str) -> None:
    check_readable(DEEP[kind](900), "deep.mlir")


def test_brackets_in_strings_comments_and_arrows_are_none() -> None:
    arrows = "".join(f"func.func private @f{i}(i1) -> i1\n" for i in range(1100))
    strings = f'a = "{"(" * 1100}", b = "\\"{"<" * 1100}"'
    check_readable(f"// {'{' * 1100}\nmodule attributes {{{strings}}} {{\n{arrows}}}", "flat.mlir")
