"""Whatever stands in the names of tensors, axes and symbols, text that is made of them stays what it was meant to be."""

from __future__ import annotations

import ast
import inspect
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from source.nvrtc import compile_cuda, include_folders
from source.on_cpu import compile_on_cpu, run_printed
from tilewright import te, tir
from tilewright.messages.location import Source
from tilewright.messages.printable import in_c_comment, printable

# What ends a line, a string or a comment, and what a terminal would obey.
HOSTILE = 'A"b\\\n*/ int injected; /* // %s {} \x1b[31m\t\u202e\x7f'
SHOWN = 'A"b\\\\n*/ int injected; /* // %s {} \\x1b[31m\\t\\u202e\\x7f'
AT_END = "backslash\\"


def program(name: str) -> tuple[Any, list[Any]]:
    n = te.var(name + "n")
    A = te.placeholder((n, 8), name=name)
    k = te.reduce_axis((0, 8), name + "k")
    B = te.compute((n,), lambda *i: te.sum(A[(*i, k)], axis=k), name=name + "B", varargs_names=[name + "i"])
    s = te.create_schedule(B.op)
    outer, inner = s[B].split(B.op.axis[0], factor=32)
    s[B].bind(outer, te.thread_axis("blockIdx.x", name=name + "b"))
    s[B].bind(inner, te.thread_axis("threadIdx.x"))
    s[s.cache_read(A, "shared", [B])].compute_at(s[B], outer)
    return s, [A, B]


def test_what_is_printed() -> None:
    assert printable(HOSTILE) == SHOWN
    assert printable("plain, é, 矩阵") == "plain, é, 矩阵"
    assert printable("\ud800") == "\\ud800"
    assert "*/" not in in_c_comment(HOSTILE) and "/*" not in in_c_comment(HOSTILE)


def double(ins: list[Any], outs: list[Any]) -> Any:
    ib = tir.ir_builder.create()
    buffer = ib.allocate("float32", (4,), name=HOSTILE)
    assert str(buffer.buffer.name) == SHOWN
    with ib.for_range(0, 4, name=HOSTILE) as i:
        assert i.name == SHOWN
        assert ib.let(HOSTILE, i + 1).name == SHOWN
        ib.buffer_ptr(outs[0])[i] = ins[0][i] + ins[0][i]
    return ib.get()


A4 = te.placeholder((4,), name="A4")
MADE = {
    "placeholder": lambda name: te.placeholder((4,), name=name).name,
    "compute": lambda name: te.compute((4,), lambda i: A4[i], name=name).name,
    "varargs_names": lambda name: te.compute((4,), lambda *i: A4[i], varargs_names=[name]).op.axis[0].name,
    "var": lambda name: te.var(name).name,
    "size_var": lambda name: te.size_var(name).name,
    "number": lambda name: te.var(name, "float32").name,
    "reduce_axis": lambda name: te.reduce_axis((0, 4), name).name,
    "thread_axis": lambda name: te.thread_axis("threadIdx.x", name=name).name,
    "shape": lambda name: te.shape(name, (te.var("n"),)).name,
    "extern": lambda name: te.extern((4,), [A4], double, name=name).name,
    "decl_buffer": lambda name: tir.decl_buffer((4,), name=name).name,
    "decl_tensor_intrin": lambda name: (
        te.decl_tensor_intrin(
            te.compute((4,), lambda i: A4[i] * 2, name="B").op,
            lambda ins, outs: double(ins, outs),
            name=name,
        ).name
    ),
}


@pytest.mark.parametrize("what", MADE)
def test_names_are_printable(what: str) -> None:
    assert MADE[what](HOSTILE) == SHOWN


def test_every_function_with_a_name_is_here() -> None:
    for name in te.__all__:
        function = getattr(te, name)
        parameters = inspect.signature(function).parameters if inspect.isfunction(function) else {}
        known = name in MADE or name in ("scan", "comm_reducer")
        assert known or not {"name", "names"} & set(parameters), name


@pytest.mark.parametrize("what", [what for what in MADE if what not in ("varargs_names", "size_var", "number")])
def test_a_name_that_is_no_string(what: str) -> None:
    called = {"thread_axis": "te.thread_axis threadIdx.x", "reduce_axis": "reduce_axis", "decl_buffer": "decl_buffer"}
    called["decl_tensor_intrin"] = "decl_tensor_intrin"
    expected = f"{called.get(what, 'te.' + what)}: expected a string as name, got 5"
    with pytest.raises(TypeError, match=rf"test_hostile_names\.py:\d+: {re.escape(expected)}$"):
        MADE[what](5)


@pytest.mark.sweep
@pytest.mark.parametrize("name", [HOSTILE, AT_END, '"', "*/", "int", "??/"])
def test_printed_kernels(name: str, tmp_path: Path) -> None:
    """The names stand in comments alone, each on its line: the programs compile, and compute the same."""
    function = tw.build(*program(name), "sim", "f")
    source = function.source("cuda")
    plain = tw.build(*program("plain"), "sim", "f").source("cuda")
    assert len(source.splitlines()) == len(plain.splitlines())
    assert not any(line.endswith("\\") for line in source.splitlines())
    assert not re.search(r"^[^/]*injected;", source, re.MULTILINE)
    compile_cuda(source)
    run = compile_on_cpu({"f": function}, tmp_path)["f"]
    a, b = np.arange(40, dtype="float32").reshape(5, 8), np.zeros(5, "float32")
    run_printed(function, run, [a, b])
    np.testing.assert_array_equal(b, a.sum(axis=1))


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", [HOSTILE, AT_END])
def test_printed_host_programs_and_headers(name: str, tmp_path: Path) -> None:
    function = tw.build(*program(name), tw.Target("cuda", arch="sm_80"), "f")
    headers = [place for place in include_folders() if (place / "cuda.h").exists()]
    if not headers:
        pytest.skip("no cuda.h here (nvidia-cuda-runtime)")
    source = function.source("host")
    (tmp_path / "host.cpp").write_text(source)
    assert not re.search(r'^[^"/]*injected;', source, re.MULTILINE)
    command = ["g++", "-std=c++17", "-fsyntax-only", "-Wall", f"-I{headers[0]}", str(tmp_path / "host.cpp")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0 and "comment" not in result.stderr, result.stderr[:3000]
    libinfo = pytest.importorskip("tvm_ffi.libinfo")
    tw.export_header(function, tmp_path / "f.h")
    (tmp_path / "user.c").write_text('#include "f.h"\n')
    folders = [f"-I{place}" for place in (libinfo.find_include_path(), libinfo.find_dlpack_include_path())]
    command = ["cc", "-fsyntax-only", "-Wall", "-Werror", *folders, str(tmp_path / "user.c")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr[:3000]


def test_an_input_without_a_name_is_passed_by_its_place() -> None:
    A = te.placeholder((8,), name="")
    B = te.compute((8,), lambda i: A[i] + 1, name="B")
    a, b = np.arange(8, dtype="float32"), np.zeros(8, "float32")
    tw.build(te.create_schedule(B.op), [A, B], target="cpu")(a, b)
    np.testing.assert_array_equal(b, a + 1)


def test_messages_traces_and_ir() -> None:
    s, args = program(HOSTILE)
    function = tw.build(s, args, "sim", "f")
    with pytest.raises(ValueError) as refused:
        function(np.zeros((3, 7), "float32"), np.zeros(3, "float32"))
    assert str(refused.value).isprintable() and f"({SHOWN})" in str(refused.value)
    assert str(function.signature).isprintable()
    assert all(line.isprintable() for line in str(s).split("\n"))
    launch = function.launch_config(np.zeros((3, 8), "float32"), np.zeros(3, "float32"))
    assert all(line.isprintable() for line in str(launch).split("\n"))
    ast.parse(str(s.trace()))
    again, args = program(HOSTILE)
    fresh = te.create_schedule(args[1].op)
    tw.build(s.trace().apply(fresh) or fresh, args, "sim", "f")
    for stage in ("te", "loops", "gpu"):
        read_again = tw.build(function.ir(stage), target="sim", start=stage)
        assert all(line.isprintable() for line in read_again.ir(stage).replace("\t", "").split("\n"))


def test_what_libraries_tell(tmp_path: Path) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    tw.build(*program(HOSTILE), "cpu", "f").export_library(tmp_path / "f.so")
    library = tvm_ffi.load_module(str(tmp_path / "f.so"))
    told = library.get_function_metadata("f")
    assert [one["name"] for one in told["arguments"]] == [SHOWN, SHOWN + "B"]
    assert json.loads(json.dumps(told)) == told
    assert library.get_function_doc("f").replace("\n", "").isprintable()


def test_places() -> None:
    assert str(Source("a\n\x1b.py", 3)) == "a\\n\\x1b.py:3"


def test_ir_of_others() -> None:
    """Control characters in foreign IR do not come out of its diagnostics."""
    text = (
        'func.func @f(%a: memref<4xf32> {te.name = "A", te.dtype = f32}) {\n'
        '  "no.such\\1B[31mop"() : () -> ()\n  return\n}\n'
    )
    with pytest.raises(tw.CompileError) as refused:
        tw.build(text, target="sim", start="loops")
    assert all(line.isprintable() for line in str(refused.value).split("\n"))
