"""The command line, as the README shows it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text()


def run(*arguments: str) -> str:
    result = subprocess.run([sys.executable, "-m", "tilewright.cli", *arguments], capture_output=True, text=True)
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


def test_doctor() -> None:
    assert re.search(r"^ok +libtilewright", run("doctor"), re.MULTILINE)


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


def test_first_example_of_the_readme(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert found
    file = tmp_path / "first.py"
    file.write_text(f"{found[1]}\nnp.testing.assert_allclose(c, a @ b, rtol=1e-5)\n")
    result = subprocess.run([sys.executable, str(file)], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "grid.x = 4  (j.outer of stage C, first.py:" in result.stdout
