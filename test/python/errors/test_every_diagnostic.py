"""Each text of a diagnostic in dialects/ and passes/ stands in a test that provokes it.

A text is what stands in quotes in a statement that emits an error; of one that is put together, each part that is long
enough to tell it by. Tests are all files of test/, with strings that Python puts together taken together.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SOURCES = sorted(file for folder in ("dialects", "passes") for file in (ROOT / folder).rglob("*.cpp"))
# `op.emitOpError() << ...;`, and names that functions have for such a thing of their own.
STATEMENT = re.compile(
    r"\b(?:emit(?:Op)?(?:Error|Warning|Remark)\b|(?:\w+Error|error)\(|(?:refuse|fail)\(\)|diag(?:nostic)?\b)[^;]*;"
)
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
SHORTEST = 9


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"""\\(["'])""", r"\1", text).replace("\\n", " "))


def texts_of(source: str) -> list[str]:
    """The parts of the texts that `source` emits.

    >>> texts_of('return op.emitOpError("expected two ") << n << " axes in a row, "\\n  "got one";')
    ['expected two', 'axes in a row, got one']
    """
    found = []
    for statement in STATEMENT.findall(re.sub(r"(?m)^\s*//.*$", "", source)):
        parts: list[str] = []
        end = None
        for string in STRING.finditer(statement):
            if parts and end is not None and not statement[end : string.start()].strip():
                parts[-1] += string[1]
            else:
                parts.append(string[1])
            end = string.end()
        found += [part for part in (plain(one).strip() for one in parts) if len(part) >= SHORTEST]
    return found


@functools.cache
def provoked() -> str:
    files = (file for kind in ("*.mlir", "*.py") for file in (ROOT / "test").rglob(kind))
    # What stands behind a marker in lit stands on one line; in Python a text goes on in the next line's string.
    return plain(re.sub(r"""["']\s*\n\s*f?["']""", "", "\n".join(file.read_text() for file in sorted(files))))


@pytest.mark.parametrize("source", [file for file in SOURCES if texts_of(file.read_text())], ids=lambda file: file.name)
def test_each_text_is_provoked_by_a_test(source: Path) -> None:
    missing = [text for text in dict.fromkeys(texts_of(source.read_text())) if text not in provoked()]
    assert not missing, f"no test has the text of these diagnostics of {source.relative_to(ROOT)}"


def test_texts_are_found() -> None:
    assert sum(len(texts_of(file.read_text())) for file in SOURCES) > 200
    assert texts_of('return op.emitOpError("expected two ") << n << " axes in a row, "\n  "got one";') == [
        "expected two",
        "axes in a row, got one",
    ]
