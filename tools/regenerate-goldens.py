"""Writes the golden stories: a kernel, a file of IR for each stage, each the next one's input; and the page on mmult.

python tools/regenerate-goldens.py

test/golden/mmult.py is a kernel, and test/golden/wgmma.py one for tensor cores, whose files are in test/golden/wgmma.
A kernel's te stage comes from Python; every other file is what `tilewright-opt` makes of
the file before it, so a change in one pass changes one file (and those below it), and the difference can be read.
docs/life-of-a-kernel.md quotes the files: the block after each `<!-- golden FILE [FROM .. TO] -->` is replaced.
"""

from __future__ import annotations

import re
import runpy
import subprocess
from pathlib import Path

import tilewright

ROOT = Path(__file__).resolve().parent.parent
GOLDEN = ROOT / "test" / "golden"
PAGE = ROOT / "docs" / "life-of-a-kernel.md"
ARCH = "sm_90a"
# (file, the file that it is made from, the stages of that edge)
CHAIN = [
    ("2-linalg.mlir", "1-te.mlir", "from=te to=linalg"),
    ("3-loops.mlir", "2-linalg.mlir", "from=linalg to=loops"),
    ("4-gpu.mlir", "3-loops.mlir", "from=loops to=gpu"),
    ("5-nvvm.mlir", "4-gpu.mlir", "from=gpu to=nvvm"),
    ("6-host.mlir", "4-gpu.mlir", "from=gpu to=host"),
]


# Each kernel and the folder of its files.
STORIES = {"mmult.py": GOLDEN, "wgmma.py": GOLDEN / "wgmma"}


def te_stage(kernel: str) -> str:
    """The te stage of a golden kernel, as Python emits it."""
    program = runpy.run_path(str(GOLDEN / kernel))
    module = tilewright.lower(program["schedule"], program["args"], program["name"], stage="te")
    return f"{module}\n"


def next_stage(source: Path, stages: str) -> str:
    """What the pipeline makes of a stage's file."""
    tool = Path(tilewright.__file__).parent / "_lib" / "tilewright-opt"
    command = [str(tool), f"--tilewright-pipeline={stages} arch={ARCH} target=cuda", str(source)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def quote(name: str, first: str | None, last: str | None) -> str:
    """The lines of a golden file from the first that holds `first` to the next that holds `last`, at the margin."""
    lines = (GOLDEN / name).read_text().strip().splitlines()
    if first is not None and last is not None:
        begin = next(number for number, line in enumerate(lines) if first in line)
        end = next(number for number in range(begin, len(lines)) if last in lines[number])
        lines = lines[begin : end + 1]
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[margin:] for line in lines)


def page(text: str) -> str:
    """The page with each quoted block as the golden files have it now."""

    def block(match: re.Match[str]) -> str:
        name, first, last = match["name"], match["first"], match["last"]
        language = {"py": "python", "ptx": "text"}.get(name.rpartition(".")[2], "mlir")
        return f"{match['mark']}\n```{language}\n{quote(name, first, last)}\n```"

    mark = r"(?P<mark><!-- golden (?P<name>\S+)(?: (?P<first>[^\n]+?) \.\. (?P<last>[^\n]+?))? -->)\n```\w*\n.*?```"
    return re.sub(mark, block, text, flags=re.DOTALL)


def main() -> None:
    for kernel, folder in STORIES.items():
        folder.mkdir(exist_ok=True)
        (folder / "1-te.mlir").write_text(te_stage(kernel))
        for name, source, stages in CHAIN:
            (folder / name).write_text(next_stage(folder / source, stages))
    PAGE.write_text(page(PAGE.read_text()))


if __name__ == "__main__":
    main()
