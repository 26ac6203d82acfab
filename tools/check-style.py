#!/usr/bin/env python3
"""Checks style: `python tools/check-style.py [CHECK ...]`; the exit status is 1 where something is found.

ruff, pyright, clang-format and clang-tidy are those of `pip install '.[lint]'`. The checks, all unless some are named:
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from multiprocessing.pool import ThreadPool
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = 120
SOURCES = ("python", "test", "tools", "bench")
# Pages with longer lines that are still to be wrapped; a page leaves this list and does not come back.
UNWRAPPED = ROOT / "tools" / "unwrapped-docs.txt"
WORDS = 25
NO_PROSE = ("#", "|", "<", "![", ":", "{")


def tracked(*patterns: str) -> list[str]:
    """The files of the repository that match."""
    return subprocess.check_output(["git", "ls-files", "--", *patterns], text=True, cwd=ROOT).splitlines()


def run(*command: str) -> list[str]:
    """What a command found: its lines where it fails, none where it does not."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    except FileNotFoundError:
        return [f"{command[0]} is not installed: pip install '.[lint]'"]
    return (result.stdout + result.stderr).splitlines() if result.returncode else []


def ruff() -> list[str]:
    """Python: ruff's rules and its format."""
    return run("ruff", "check", "--quiet", "--output-format", "concise", *SOURCES) + run(
        "ruff", "format", "--check", "--quiet", *SOURCES
    )


def pyright() -> list[str]:
    """Python: types, as [tool.pyright] says, and that every public symbol has one; with torch and onnx installed."""
    # The package as it is installed, with the generated op classes: in the tree, or a copy of it.
    spec = importlib.util.find_spec("tilewright")
    if spec is None or spec.origin is None:
        return ["tilewright is not installed: pip install '.[lint]'"]
    package = Path(spec.origin).parent
    python = ("--pythonpath", sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        # A copy, for the patterns of `exclude` hold within the folder of the project alone.
        root = Path(folder)
        shutil.copytree(package, root / "tilewright", ignore=shutil.ignore_patterns("_lib", "_mlir_libs", "*.so"))
        options = (ROOT / "pyproject.toml").read_text()
        (root / "pyproject.toml").write_text(options.replace('"python/tilewright"', '"tilewright"'))
        shutil.copytree(ROOT / "typings", root / "typings")
        (root / "test" / "python").mkdir(parents=True)
        shutil.copy(ROOT / "test/python/type_examples.py", root / "test" / "python")
        found = [line.replace(f"{folder}/", "") for line in run("pyright", *python, "--project", folder)]
    return found + [
        line
        for line in run("pyright", *python, "--verifytypes", "tilewright", "--ignoreexternal")
        if "error" in line or line.startswith("Type completeness score")
    ]


def clang_format() -> list[str]:
    """C++: the format of .clang-format."""
    files = [file for file in tracked("*.cpp", "*.h") if not file.startswith("test/")]
    return run("clang-format", "--dry-run", "--Werror", *files)


def units() -> Iterator[tuple[str, ...]]:
    """The files of the compiler as a build in build/ compiles them, several as one, each with its options for clang."""
    builds = sorted(ROOT.glob("build/*/compile_commands.json"), key=lambda path: path.stat().st_mtime)
    for entry in json.loads(builds[-1].read_text()) if builds else ():
        name = os.path.relpath(entry["file"], ROOT).replace(f"{builds[-1].parent.relative_to(ROOT)}/", "")
        if name.startswith(("dialects/", "passes/", "tools/")) and "cmake_pch" not in name:
            options = re.findall(r"-I\S+|-isystem \S+|-D\S+|-std=\S+|-fno-(?:rtti|exceptions)", entry["command"])
            yield entry["file"], "--", *" ".join(options).split()


def clang_tidy() -> list[str]:
    """C++: the checks of .clang-tidy, which find mistakes. The compiler's sources need a build in build/."""
    count, runtime = os.cpu_count() or 1, tracked("runtime/*.cpp")
    jobs = [*units(), *((*runtime[start::count], "--", "-std=gnu++17", "-I.") for start in range(count))]
    if len(jobs) == count:
        return ["there is no build in build/: pip install ."]
    with ThreadPool(count) as pool:
        found = pool.map(lambda job: run("clang-tidy", "--quiet", "--warnings-as-errors=*", *job), jobs, chunksize=1)
    return [line for lines in found for line in lines]


def long_lines(name: str, text: str) -> Iterator[str]:
    """Lines of a page beyond 120 columns. Rows of tables, code, and lines that are one link cannot be wrapped."""
    in_code = False
    for number, line in enumerate(text.splitlines(), 1):
        in_code ^= line.lstrip().startswith("```")
        can_wrap = not in_code and not line.lstrip().startswith(("|", "```")) and " " in line.strip()[:COLUMNS]
        if can_wrap and len(line) > COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, at most {COLUMNS} are allowed"


def prose(text: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a page or docstring, each with its first line's number. Code, tables and headings are none."""
    in_code = False
    number, parts = 0, list[str]()
    for index, line in enumerate([*text.splitlines(), ""], 1):
        stripped = line.strip()
        is_fence = stripped.startswith("```")
        is_prose = bool(stripped) and not in_code and not is_fence and not stripped.startswith(NO_PROSE)
        item = re.match(r"([-*]|\d+\.)\s+", stripped)
        if parts and (not is_prose or item):
            yield number, " ".join(parts)
            parts = []
        if is_prose:
            number = number if parts else index
            parts.append(stripped[item.end() :] if item else stripped)
        in_code ^= is_fence


def long_sentences(text: str) -> Iterator[tuple[int, str]]:
    """Sentences of more than 25 words, each with the line that its paragraph begins on. Inline code is one word."""
    for number, paragraph in prose(text):
        plain = re.sub(r"`+[^`]*`+", "code", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", paragraph))
        for sentence in re.split(r"(?<=[.!?])[)\"*]*\s+|:\s+$", plain):
            if sum(bool(re.search(r"\w", word)) for word in sentence.split()) > WORDS:
                yield number, sentence


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """What the public classes and functions of a Python file say, without their examples and tables."""
    parents: list[ast.AST] = [ast.parse(path.read_text())]
    while parents:
        node = parents.pop()
        children = [each for each in ast.iter_child_nodes(node) if isinstance(each, ast.ClassDef | ast.FunctionDef)]
        parents.extend(each for each in children if not each.name.startswith("_"))
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
            text = re.sub(r"::\n\n( .*\n)+", "\n\n", text + "\n")  # a literal block
            yield node.body[0].lineno, re.sub(r"^\s*(>>>|===|---).*?(\n\s*\n|\Z)", "\n", text, flags=re.M | re.S)


def sentences() -> list[str]:
    """Pages, the generated ones of dialects and passes too, and public docstrings: sentences of at most 25 words."""
    told: list[str] = []
    for page in tracked("*.md"):
        told += [f"{page}:{line}: {each}" for line, each in long_sentences((ROOT / page).read_text())]
    for file in tracked("python/tilewright/*.py"):
        for line, text in docstrings(ROOT / file):
            told += [f"{file}:{line}: {each}" for _, each in long_sentences(text)]
    return told


def docs() -> list[str]:
    """Pages: lines of at most 120 columns."""
    waived = set(UNWRAPPED.read_text().split())
    pages = [page for page in tracked("*.md") if not page.startswith("docs/generated/")]
    found = {page: list(long_lines(page, (ROOT / page).read_text())) for page in pages}
    stale = [
        f"{page} has no long lines any more: take it out of {UNWRAPPED.name}" for page in waived if not found[page]
    ]
    return [line for page in pages if page not in waived for line in found[page]] + stale


def generated() -> list[str]:
    """Generated pages and golden files are what their sources give."""
    return run(sys.executable, "-m", "pytest", "-q", "test/python/test_docs.py", "test/python/test_golden.py")


CHECKS: dict[str, Callable[[], list[str]]] = {
    "ruff": ruff,
    "docs": docs,
    "sentences": sentences,
    "clang-format": clang_format,
    "clang-tidy": clang_tidy,
    "generated": generated,
    "pyright": pyright,
}
__doc__ += "".join(f"\n{name}: {check.__doc__}" for name, check in CHECKS.items())


def main(names: list[str]) -> int:
    if not set(names) <= CHECKS.keys():
        print(__doc__)
        return 2
    failed = False
    for name in names or CHECKS:
        found = CHECKS[name]()
        failed |= bool(found)
        print(f"{name}: {'ok' if not found else 'failed'}", *found, sep="\n  ")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
