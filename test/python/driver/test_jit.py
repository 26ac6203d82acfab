"""Modules of LLVM's dialect as machine code in this process."""

from __future__ import annotations

import ctypes

import pytest
from mlir import ir

from tilewright.errors import CompileError, LaunchError
from tilewright.ir import context
from tilewright.native.jit import Engine, lookup

TEXT = """
llvm.func @given(f32) -> f32
llvm.func @expf(f32) -> f32
llvm.mlir.global external constant @number(7 : i32) : i32
llvm.func @f(%x: f32) -> f32 {
  %y = llvm.call @given(%x) : (f32) -> f32
  %z = llvm.call @expf(%y) : (f32) -> f32
  llvm.return %z : f32
}
"""
_Function = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)
negated = _Function(lambda x: -x)
SYMBOLS = {"given": ctypes.cast(negated, ctypes.c_void_p).value or 0}


@pytest.mark.parametrize(("level", "is_quick"), [(0, True), (0, False), (1, False), (2, False), (3, False)])
def test_functions_and_globals(level: int, is_quick: bool) -> None:
    """They call what they are given, and what the process has."""
    with context():
        engine = Engine(ir.Module.parse(TEXT), level, SYMBOLS, is_quick=is_quick)
    assert ctypes.c_int32.from_address(lookup(engine, "number")).value == 7
    assert _Function(lookup(engine, "f"))(2.0) == pytest.approx(0.1353353, rel=1e-5)


def test_nothing_but_the_module_is_compiled() -> None:
    """The bindings' engine has a wrapper of each function."""
    with context():
        engine = Engine(ir.Module.parse(TEXT), 3, SYMBOLS)
    for name in ("g", "_mlir_f"):
        with pytest.raises(LaunchError, match=f"^the compiled program has no symbol {name}$"):
            lookup(engine, name)


def test_a_symbol_that_nobody_has(capfd: pytest.CaptureFixture[str]) -> None:
    with context():
        engine = Engine(ir.Module.parse(TEXT.replace("@given", "@missing")), 1)
    with pytest.raises(LaunchError, match=r"^the compiled program has no symbol f$"):
        lookup(engine, "f")
    assert "Symbols not found: [ missing ]" in capfd.readouterr().err


def test_engines_with_functions_of_one_name() -> None:
    made = []
    for number in (1, 2):
        with context():
            text = f"llvm.func @f() -> i32 {{ %0 = llvm.mlir.constant({number} : i32) : i32\nllvm.return %0 : i32 }}"
            made.append(Engine(ir.Module.parse(text), 0))
    assert [ctypes.CFUNCTYPE(ctypes.c_int32)(lookup(engine, "f"))() for engine in made] == [1, 2]


def test_a_module_that_is_not_of_the_dialect(capfd: pytest.CaptureFixture[str]) -> None:
    with context():
        module = ir.Module.parse("func.func @f() {\n  return\n}")
        with pytest.raises(CompileError) as caught:
            Engine(module, 0)
    assert str(caught.value) == "no machine code of this module: it does not translate to LLVM IR"
    assert caught.value.stage == "host"
    assert "missing `LLVMTranslationDialectInterface`" in capfd.readouterr().err
