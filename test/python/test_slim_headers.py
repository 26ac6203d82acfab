"""tools/slim-headers.py: upstream's headers of operations with the classes that are used."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "slim-headers.py"
RULE = "//===" + "-" * 70 + "===//"
pytestmark = pytest.mark.skipif(not TOOL.exists(), reason="needs the sources")


def declared(name: str, body: str = "") -> str:
    return (
        f"namespace mlir::toy {{\n\n\n{RULE}\n// ::mlir::toy::{name} declarations\n{RULE}\n\n"
        f"class {name} {{ {body} }};\n\n}} // namespace mlir::toy\n"
        f"MLIR_DECLARE_EXPLICIT_TYPE_ID(::mlir::toy::{name})\n\n"
    )


CLASSES = {
    "AddOp": "using Parent = LoopOp;",
    "LoopOp": "",
    "MulOp": "",
    "DivOp": "// ::mlir::toy::MulOp",
    "NegOp": "",
    "SubOp": "",
}
BEFORE = "".join(f"class {name};\n" for name in CLASSES) + "#ifdef GET_OP_CLASSES\n#undef GET_OP_CLASSES\n\n"
AFTER = "#endif // GET_OP_CLASSES\n"


def header(*names: str) -> str:
    return BEFORE + "".join(declared(name, CLASSES[name]) for name in names) + AFTER


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    texts = {
        "include/mlir/Dialect/Toy/IR/ToyOps.h.inc": header(*CLASSES),
        "include/mlir/Dialect/Toy/IR/Toy.h": "void rewrite(SubOp op);\n// MulOp\n",
        "include/mlir/Target/ToyToText.h": "void print(toy::DivOp op);\n",
        "source/Pass.cpp": "auto sum = toy::AddOp::create(b);\n",
        "source/Other.cpp": "struct NegOp;\n",
    }
    for name, text in texts.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def slim(tree: Path) -> Path:
    subprocess.run(
        [sys.executable, str(TOOL), *(str(tree / each) for each in ("include", "out", "source"))], check=True
    )
    return tree / "out/mlir/Dialect/Toy/IR/ToyOps.h.inc"


def test_classes_that_are_used(tree: Path) -> None:
    """By a source, by a class that is used, by a header, by a header of the dialect without its namespace."""
    assert slim(tree).read_text() == header("AddOp", "LoopOp", "DivOp", "SubOp")


def test_a_header_is_written_when_its_text_changes(tree: Path) -> None:
    written = slim(tree)
    os.utime(written, ns=(1, 1))
    (tree / "source/Pass.cpp").write_text("auto sum = toy::AddOp::create(b, other::Name());\n")
    slim(tree)
    assert written.stat().st_mtime_ns == 1
    (tree / "source/Pass.cpp").write_text("toy::MulOp::create(b);\n")
    assert slim(tree).read_text() == header("MulOp", "DivOp", "SubOp")


def test_upstream_is_read_again_when_it_changes(tree: Path) -> None:
    slim(tree)
    (tree / "include/mlir/Dialect/Toy/IR/ToyOps.h.inc").write_text(header("SubOp"))
    assert slim(tree).read_text() == header("SubOp")
