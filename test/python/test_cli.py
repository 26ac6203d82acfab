"""The command line, as the README shows it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import tilewright as tw
from command import tilewright
from tilewright.cli import doctor

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()


def run(*arguments: str) -> str:
    result = tilewright(*arguments)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_demo_shows_every_stage_and_a_right_result() -> None:
    shown = run("demo", "--target", "sim", "--lines", "3")
    titles = re.findall(r"^== (\w+) ==", shown, re.MULTILINE)
    assert titles == [
        "Python",
        "te",
        "schedule",
        "linalg",
        "loops",
        "gpu",
        "host",
        "nvvm",
        "PTX",
        "cubin",
        "launch",
        "result",
    ]
    assert re.search(r"grid\.x = 4  \(j\.outer of stage C, demo\.py:\d+\)", shown)
    assert shown.endswith("  right\n")


def test_resumed_program_keeps_the_users_lines(tmp_path: Path) -> None:
    loops = tmp_path / "mmult.mlir"
    example = str(ROOT / "python" / "examples" / "02_tiled_gemm.py")
    run("compile", example, "--program=mmult(64, 64, 64)", "--emit=loops", "--locations", "-o", str(loops))
    shown = run("compile", str(loops), "--from=loops", "--emit=host-cpp", "--target=cuda -arch=sm_90a")
    lines = Path(example).read_text().splitlines()
    bound = next(number for number, line in enumerate(lines, 1) if "bind(xo" in line)
    assert f"// grid.x: x.outer of stage C, 02_tiled_gemm.py:{bound}\n" in shown


def test_launch_names_the_binds_of_the_kernels_own_stage() -> None:
    import runpy

    example = ROOT / "python" / "examples" / "02_tiled_gemm.py"
    schedule, args = runpy.run_path(str(example), run_name="example")["mmult"](64, 64, 64)
    origin = tw.build(schedule, args, "sim", "mmult").launch_config().origin
    lines = dict(enumerate(example.read_text().splitlines(), 1))
    for number, axis in (("grid.x", "xo"), ("grid.y", "yo"), ("block.x", "xi"), ("block.y", "yi")):
        assert f"s[C].bind({axis}, " in lines[int(origin[number].rpartition(":")[2])], origin


@pytest.mark.sweep
def test_locations_are_of_the_ir_alone() -> None:
    example = str(ROOT / "python" / "examples" / "02_tiled_gemm.py")
    command = [sys.executable, "-m", "tilewright", "compile", example, "--program=mmult(64, 64, 64)"]
    result = subprocess.run([*command, "--emit=ptx", "--locations"], capture_output=True, text=True)
    expected = "--locations is for stages of the IR (te, schedule, linalg, loops, gpu, nvvm, host), got --emit=ptx"
    assert (result.returncode, result.stderr) == (1, f"tilewright compile: {expected}\n")


def test_doctor() -> None:
    assert re.search(r"^ok +libtilewright", run("doctor"), re.MULTILINE)


@pytest.mark.sweep
def test_stop_change_and_resume(tmp_path: Path) -> None:
    loops = tmp_path / "mmult.mlir"
    example = ROOT / "python" / "examples" / "02_tiled_gemm.py"
    run("compile", str(example), "--program", "mmult(64, 64, 64)", "--emit=loops", "-o", str(loops))
    assert "scf.for" in loops.read_text()
    opt = [sys.executable, "-c", "from tilewright.cli.opt import main; main()"]  # what the script tilewright-opt is
    gpu = subprocess.run(
        [*opt, "--tilewright-pipeline=from=loops to=gpu arch=sm_90a", str(loops)], capture_output=True, text=True
    )
    assert "gpu.launch_func" in gpu.stdout, gpu.stderr
    assert ".visible .entry main_kernel0" in run("compile", str(loops), "--from=loops", "--emit=ptx")
    assert 'extern "C" __global__ void' in run("compile", str(loops), "--from=loops", "--emit=cuda")
    assert "void x_main(const Tensor &A" in run("compile", str(loops), "--from=loops", "--emit=host-cpp")


@pytest.mark.sweep
def test_first_example_of_the_readme(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert found
    file = tmp_path / "first.py"
    file.write_text(f"{found[1]}\nnp.testing.assert_allclose(c, a @ b, rtol=1e-5)\n")
    result = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "grid.x = 4  (j.outer of stage C, first.py:" in result.stdout


def refused(*arguments: str) -> str:
    result = tilewright(*arguments)
    assert (result.returncode, result.stdout) == (1, "")
    return result.stderr


def test_version() -> None:
    assert run("--version") == f"tilewright {tw.__version__}\n"


def test_the_version_is_the_same_in_both_places() -> None:
    assert f'\nversion = "{tw.__version__}"\n' in (ROOT / "pyproject.toml").read_text()


def test_a_target_that_there_is_not() -> None:
    text = "tilewright demo: --target: expected a target of kind cuda, cpu or sim, got 'foo'\n"
    assert refused("demo", "--target=foo") == text


@pytest.mark.sweep
def test_a_reader_that_has_seen_enough() -> None:
    tilewright = f"{sys.executable} -m tilewright doctor"
    result = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {tilewright} | (sleep 0; exec true)"], capture_output=True, text=True
    )
    assert result.returncode in (0, 141) and result.stderr == ""


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("mult(64)", "--program: NameError: name 'mult' is not defined"),
        ("mmult(64", "--program: SyntaxError: '(' was never closed"),
        ("mmult(64, 64, 64)[0]", "--program: expected a pair (schedule, args), got Schedule"),
        ("(1, 2)", "--program: expected args as a list, got int"),
        ("(1, [2])", "FILE: expected a schedule, or the tensors to compute, got 1"),
        ("broken()", "FILE:2: ZeroDivisionError: division by zero"),
    ],
)
def test_a_program_that_raises(program: str, text: str, tmp_path: Path) -> None:
    file = tmp_path / "given.py"
    file.write_text(
        "def broken():\n    1 / 0\n\nimport runpy\n"
        f"mmult = runpy.run_path({str(ROOT / 'python' / 'examples' / '02_tiled_gemm.py')!r})['mmult']\n"
    )
    told = refused("compile", str(file), "--program", program, "--emit=te")
    assert told == f"tilewright compile: {text}\n".replace("FILE", str(file))


def test_a_file_that_raises(tmp_path: Path) -> None:
    file = tmp_path / "given.py"
    file.write_text("x = 1\ny = x + undefined\n")
    told = refused("compile", str(file), "--emit=te")
    assert told == f"tilewright compile: {file}:2: NameError: name 'undefined' is not defined\n"
    file.write_text("x = 1\ny = (x\n")
    assert refused("compile", str(file), "--emit=te").startswith(f"tilewright compile: {file}:2: SyntaxError: ")
    file.write_bytes(b"x\0")
    told = refused("compile", str(file), "--emit=te")
    told = told.replace("ValueError", "SyntaxError")  # what Python 3.11.3 and earlier raise
    assert told == f"tilewright compile: {file}: SyntaxError: source code string cannot contain null bytes\n"


def test_a_cache_that_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_text("")
    assert refused("cache", "--dir", str(file)) == f"tilewright cache: --dir: expected a folder, got the file {file}\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["demo", "--lines=-1"], "--lines: expected a whole number of at least 0, got '-1'"),
        (["tune", "a.py", "--seed=-1"], "--seed: expected a whole number of at least 0, got '-1'"),
        (["bisect", "a.py", "--seed=x"], "--seed: expected a whole number of at least 0, got 'x'"),
    ],
)
def test_numbers_of_options(arguments: list[str], text: str) -> None:
    done = tilewright(*arguments)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, f"tilewright {arguments[0]}: error: argument {text}")


def test_a_shared_cache_is_one_that_is_named() -> None:
    told = refused("cache", "--shared")
    assert told == "tilewright cache: --shared: expected --dir with the folder that other users write\n"


def test_a_picture_is_refused_before_the_search(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    file = tmp_path / "given.py"
    file.write_text("raise RuntimeError('not read')\n")
    told = refused("tune", str(file), "--target=cpu", "--plot", str(tmp_path / "search.docx"))
    assert re.fullmatch(r"tilewright tune: expected a picture's file \(.*png.*\), got '.*search.docx'\n", told)


def test_warnings_are_lines_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "given.py").write_text("import warnings\nwarnings.warn('be careful')\n")
    told = refused("compile", str(tmp_path / "given.py"), "--emit=te").splitlines()
    assert told[0] == "tilewright compile: warning: be careful"
    assert len(told) == 2


def test_bisect_of_a_later_stages_ir(tmp_path: Path) -> None:
    example, file = str(ROOT / "python" / "examples" / "02_tiled_gemm.py"), str(tmp_path / "given.mlir")
    run("compile", example, "--program", "mmult(64, 64, 64)", "--emit=gpu", "--target=sim", "-o", file)
    text = "expected IR of stage te, got IR of a later stage: it has a gpu.module"
    assert refused("bisect", file) == f"tilewright bisect: {file}: {text}\n"


def test_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    example, out = str(ROOT / "python" / "examples" / "02_tiled_gemm.py"), tmp_path / "no" / "out"
    told = refused("compile", example, "--program", "mmult(64, 64, 64)", "--emit=te", "-o", str(out))
    assert told == f"tilewright compile: {out}: No such file or directory\n"


def test_doctor_names_versions_outside_of_the_tested_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    versions = {"numpy": "1.2", "nvidia-nvjitlink": "13.0.88"}
    monkeypatch.setattr(
        doctor.importlib.metadata, "requires", lambda _: ["numpy>=1.26", "nvidia-nvjitlink>=13.0.88,<14"]
    )
    monkeypatch.setattr(doctor.importlib.metadata, "version", versions.__getitem__)
    assert [str(each) for each in doctor._ranges()] == [
        "MISSING numpy 1.2                  another version than the tested ones "
        "(tilewright is tested with >=1.26; pip install 'tilewright' again, or see `pip check`)"
    ]


@pytest.mark.sweep
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_output_that_is_full() -> None:
    command = [sys.executable, "-m", "tilewright", "cache"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (
        1,
        "tilewright cache: the output cannot be written: No space left on device\n",
    )


@pytest.mark.sweep
def test_an_output_that_is_closed() -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m tilewright cache >&-"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.sweep
def test_the_help_of_the_cache_says_the_bound() -> None:
    from tilewright.cache import DEFAULT_BYTES

    done = subprocess.run(
        [sys.executable, "-m", "tilewright", "cache", "--help"], stdout=subprocess.PIPE, text=True, check=True
    )
    assert DEFAULT_BYTES == 1 << 30 and "by default that is 1 GiB" in done.stdout
