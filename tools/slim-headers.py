#!/usr/bin/env python3
"""Writes upstream's generated headers of operations again, with the operations that are used and no others.

    slim-headers.py INCLUDE OUT SOURCES...

Such a header declares a class for each operation of a dialect, of which the passes use a few, and each class costs time
in each compilation. OUT stands before INCLUDE in the include path. A class is used when its name stands after its
namespace's in a source, in a header that is not generated or in a class that is used. In a header below a folder of its
dialect, its name is enough. A header is written when its text changes: what includes it is compiled again only then.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

CLASS = re.compile(r"(?=^namespace [\w:]+ \{\n+//===-+===//\n// [\w:]+ declarations\n)", re.MULTILINE)
NAME = re.compile(r"^// [\w:]*?(\w*)::(\w+) declarations$", re.MULTILINE)
END = "#endif // GET_OP_CLASSES"
COMMENT = re.compile(r"//.*")

Name = tuple[str, str]  # the innermost namespace and the class


class Header(NamedTuple):
    """What stands before the classes, the classes, and what stands after them."""

    before: str
    classes: dict[Name, str]
    after: str


def split(text: str) -> Header:
    body, end, after = text.partition(END)
    before, *parts = CLASS.split(body)
    return Header(before, {match.groups(): part for part in parts if (match := NAME.search(part))}, end + after)


def qualified(text: str) -> set[Name]:
    return set(re.findall(r"\b(\w+)\s*::\s*(?=(\w+))", COMMENT.sub("", text)))


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", COMMENT.sub("", text)))


def files(folder: Path, *suffixes: str) -> Iterator[tuple[Path, str]]:
    for path in sorted(folder.rglob("*")):
        if path.name.endswith(suffixes):
            yield path, path.read_text(encoding="utf-8")


def with_named(headers: Iterable[Header], used: set[Name]) -> set[Name]:
    """The classes in `used`, and those that their declarations name."""
    texts = {name: text for header in headers for name, text in header.classes.items()}
    kept: set[Name] = set()
    new = used & texts.keys()
    while new:
        kept |= new
        found = {(namespace, word) for namespace, name in new for word in words(texts[namespace, name])}
        found |= {pair for name in new for pair in qualified(texts[name])}
        new = (found & texts.keys()) - kept
    return kept


def write(path: Path, text: str) -> None:
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def slim(include: Path, out: Path, used: set[Name]) -> None:
    dialects = include / "mlir" / "Dialect"
    headers = {path: header for path, text in files(dialects, ".h.inc") if (header := split(text)).classes}
    by_folder: dict[str, set[str]] = {}  # Dialect/LLVMIR and Target/LLVMIR have one name
    for path, text in files(include / "mlir", ".h"):
        used |= qualified(text)
        for folder in path.relative_to(include).parts:
            by_folder.setdefault(folder, set()).update(words(text))
    for path, header in headers.items():
        own = by_folder.get(path.relative_to(dialects).parts[0], set())
        used |= {name for name in header.classes if name[1] in own}
    kept = with_named(headers.values(), used)
    for path, header in headers.items():
        classes = "".join(text for name, text in header.classes.items() if name in kept)
        write(out / path.relative_to(include), header.before + classes + header.after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("include", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("sources", type=Path, nargs="+")
    args = parser.parse_args()
    used: set[Name] = set()
    for folder in args.sources:
        for _, text in files(folder, ".cpp", ".h", ".td"):
            used |= qualified(text)
    # Upstream is read again when the sources name something else, or upstream is another.
    upstream = [f"{path.name} {path.stat().st_size}" for path in sorted(args.include.rglob("*.h.inc"))]
    made_from = "\n".join([Path(__file__).read_text(encoding="utf-8"), *upstream, *map("::".join, sorted(used))])
    record: Path = args.out / "made-from"
    if not record.exists() or record.read_text(encoding="utf-8") != made_from:
        slim(args.include, args.out, used)
        write(record, made_from)


if __name__ == "__main__":
    main()
