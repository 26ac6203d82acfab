"""`TilewrightError` catches every refusal, and Python's own classes go on catching theirs."""

from __future__ import annotations

import ast
import builtins
import pathlib

import numpy as np
import pytest

import tilewright as tvm
from tilewright import errors, nd, te

PACKAGE = pathlib.Path(tvm.__file__).parent
OWN = {name.removeprefix("Tilewright") for name in errors.__all__} & {
    "AttributeError", "BufferError", "ImportError", "KeyError", "MemoryError", "TypeError", "ValueError",
}  # fmt: skip


def scheduled():
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] * 2, name="B")
    return te.create_schedule(B.op), [A, B]


def built():
    return tvm.build(*scheduled(), "llvm", name="doubled")


@pytest.mark.parametrize(
    ("kind", "refused"),
    [
        (ValueError, lambda: te.placeholder((-1,), name="A")),
        (TypeError, lambda: te.placeholder("A", name="A")),
        (TypeError, lambda: te.const(1) + te.const(1.0)),
        (ValueError, lambda: tvm.target.Target("rocm")),
        (tvm.ScheduleError, lambda: scheduled()[0][te.placeholder((8,))]),
        (tvm.CompileError, lambda: tvm.build(*scheduled(), "cuda")),
        (ValueError, lambda: built()(np.zeros(8, "float32"), np.zeros(9, "float32"))),
        (TypeError, lambda: built()(np.zeros(8, "float32"), np.zeros(8, "float64"))),
        (KeyError, lambda: built()["other"]),
        (AttributeError, lambda: tvm.relay),
        (AttributeError, lambda: te.nonsense),
        (BufferError, lambda: nd.empty((4,)).__dlpack__(dl_device=(2, 0))),
    ],
)
def test_both_names_catch_it(kind: type[Exception], refused) -> None:
    with pytest.raises(kind):
        refused()
    with pytest.raises(tvm.TVMError) as caught:
        refused()
    assert isinstance(caught.value, RuntimeError) and isinstance(caught.value, kind)


@pytest.mark.parametrize("name", sorted(OWN))
def test_own_classes_are_also_pythons(name: str) -> None:
    own = getattr(errors, f"Tilewright{name}")
    assert issubclass(own, tvm.TilewrightError) and issubclass(own, RuntimeError)
    assert issubclass(own, getattr(builtins, name))
    assert str(own("what")) in ("what", "'what'")


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(PACKAGE.rglob("*.py")) if not path.name.endswith("_gen.py")],
    ids=lambda path: str(path.relative_to(PACKAGE)),
)
def test_modules_raise_their_own_classes(path: pathlib.Path) -> None:
    """A module that raises `ValueError` has it from `errors`: it catches no `ValueError` of Python's by that name."""
    tree = ast.parse(path.read_text())
    taken = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "errors"
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            name = node.exc.func.id
            assert name not in OWN - taken, (
                f"{path.name}:{node.lineno}: expected 'from .errors import Tilewright{name} as {name}'"
            )
