"""Arguments that a call gives as one: tuples, objects with fields and shapes, on every target, and what is refused."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import tilewright as tw
from kinds import kind_of
from tilewright import te

TEXT = (
    "f(size: shape(n: int32, m: int32), A: float32[n, m], arg2: (B: float32[n, m], beta: float32), "
    "epilogue: (scale: float32[m], inner: (bias: float32[m] or None, shift: int32)), C: float32[n, m])"
)


class Inner(NamedTuple):
    bias: Any
    shift: Any


@dataclass
class Epilogue:
    scale: Any
    inner: Any


@dataclass
class Other:
    factor: Any
    inner: Any


def program(target: str | tw.Target = "cpu", name: str = "f", dtype: str = "float32", **options: Any) -> tw.Function:
    """C = (A + B * beta) * scale + shift + bias"""
    n, m = te.var("n"), te.var("m")
    beta, shift = te.var("beta", dtype), te.var("shift", "int32")
    A, B = (te.placeholder((n, m), dtype, name=each) for each in "AB")
    scale = te.placeholder((m,), dtype, name="scale")
    bias = te.placeholder((m,), dtype, name="bias", optional=True)
    T = te.compute((n, m), lambda i, j: (A[i, j] + B[i, j] * beta) * scale[j] + shift.astype(dtype), name="T")
    C = te.compute((n, m), lambda i, j: te.if_given(bias, T[i, j] + bias[j], T[i, j]), name="C")
    s = te.create_schedule(C.op)
    s[T].compute_inline()
    if target != "cpu":
        s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
        s[C].bind(s[C].split(C.op.axis[1], 4)[1], te.thread_axis("threadIdx.x"))
    args = [te.shape("size", (n, m)), A, (B, beta), Epilogue(scale, Inner(bias, shift)), C]
    return tw.build(s, args, target, name=name, **options)


def inputs(dtype: str = "float32") -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(3)
    return tuple(rng.integers(-8, 8, shape).astype(dtype) for shape in ((3, 4), (3, 4), 4, 4))


def outcome(function: Any, *args: Any, **named: Any) -> tuple[type[Exception], str]:
    with pytest.raises((TypeError, ValueError)) as caught:
        function(*args, **named)
    return kind_of(caught.value), str(caught.value)


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_tuples_and_objects(target: str) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    function = program(target)
    assert str(function.signature) == TEXT
    a, b, scale, bias = inputs()
    with_bias, without = (a + b * 2) * scale + 5 + bias, (a + b * 2) * scale + 5
    sizes = ((3, 4), [3, 4], tvm_ffi.Shape((3, 4)), np.zeros((3, 4)).shape)
    pairs = ((b, 2.0), [b, 2.0], tvm_ffi.Array([tvm_ffi.from_dlpack(b), 2.0]))
    epilogues = (
        (scale, (bias, 5)), [scale, [bias, 5]], Epilogue(scale, Inner(bias, 5)), Epilogue(scale, (bias, 5)),
        (scale, Inner(bias, 5)),
    )  # fmt: skip
    for i in range(max(len(sizes), len(pairs), len(epilogues))):
        size, pair, epilogue = sizes[i % 4], pairs[i % 3], epilogues[i % 5]
        c = np.full_like(a, np.nan)
        function(size, a, pair, epilogue, c)
        np.testing.assert_array_equal(c, with_bias)
        np.testing.assert_array_equal(function(size, a, pair, epilogue), with_bias)
        c = np.full_like(a, np.nan)
        function(C=c, arg2=pair, A=a, epilogue=epilogue, size=size)
        np.testing.assert_array_equal(c, with_bias)
        c = np.full_like(a, np.nan)
        function(size, a, pair, (scale, (None, 5)), c)
        np.testing.assert_array_equal(c, without)
    for size in sizes:
        for pair in pairs:
            c = np.full_like(a, np.nan)
            function.ffi(size, a, pair, [scale, (bias, 5)], c)
            np.testing.assert_array_equal(c, with_bias)


def test_no_frame_of_pythons() -> None:
    function = program()
    a, b, scale, bias = inputs()
    c = np.full_like(a, np.nan)
    function((3, 4), a, (b, 2.0), (scale, (bias, 5)), c)
    epilogue, groups = Epilogue(scale, Inner(bias, 6)), [b, 2.0]
    frames: list[str] = []
    sys.setprofile(lambda frame, event, _: frames.append(frame.f_code.co_name) if event == "call" else None)
    try:
        function((3, 4), a, (b, 2.0), (scale, (bias, 5)), c)
        function([3, 4], a, groups, epilogue, C=c)
    finally:
        sys.setprofile(None)
    assert frames == []
    np.testing.assert_array_equal(c, (a + b * 2) * scale + 6 + bias)


def test_references_are_counted() -> None:
    function = program()
    a, b, scale, bias = inputs()
    c = np.zeros_like(a)
    things = [b, scale, bias, [b, 2.0], Epilogue(scale, Inner(bias, 6))]
    function((3, 4), a, things[3], things[4], c)
    before = [sys.getrefcount(each) for each in things]
    for _ in range(100):
        function((3, 4), a, things[3], things[4], c)
        outcome(function, (3, 4), a, things[3], Epilogue(scale, Inner(bias, "6")), c)
    gc.collect()
    assert [sys.getrefcount(each) for each in things] == before


def refusals() -> list[Any]:
    a, b, scale, bias = inputs()
    good: dict[int, Any] = {0: (3, 4), 1: a, 2: (b, 2.0), 3: (scale, (bias, 5))}
    pair, tail = "argument 2 (arg2): expected a tuple of 2 (B, beta)", "argument 3 (epilogue): expected a tuple of 2"
    size = "argument 0 (size): expected a shape of 2 (n, m)"
    rows: list[tuple[dict[int, Any], type[Exception], str]] = [
        ({2: b}, TypeError, f"{pair}, got a tensor"),
        ({2: 2.0}, TypeError, f"{pair}, got float"),
        ({2: None}, TypeError, f"{pair}, got None"),
        ({2: "bc"}, TypeError, f"{pair}, got str"),
        ({2: {"B": b}}, TypeError, f"{pair}, got dict"),
        ({2: (b,)}, TypeError, f"{pair}, got one of 1"),
        ({2: [b, 2.0, 3]}, TypeError, f"{pair}, got one of 3"),
        ({2: ()}, TypeError, f"{pair}, got one of 0"),
        ({2: (b, True)}, TypeError, "argument 2[1] (beta): expected float32, got bool"),
        ({2: (b.astype("float64"), 2.0)}, TypeError, "argument 2[0] (B): expected dtype float32, got float64"),
        (
            {2: (b[:2], 2.0)}, ValueError,
            "argument 2[0] (B): expected extent n = 3, as argument 0[0] (n) says, in dimension 0, got shape (2, 4)",
        ),
        ({3: scale}, TypeError, f"{tail} (scale, inner), got a tensor"),
        ({3: (scale, bias)}, TypeError, "argument 3.inner (inner): expected a tuple of 2 (bias, shift), got a tensor"),
        ({3: (scale, (bias, 1 << 40))}, ValueError,
         "argument 3.inner.shift (shift): expected int32, -2147483648 to 2147483647, got 1099511627776"),
        ({3: (scale[:3], (bias, 5))}, ValueError,
         "argument 3.scale (scale): expected extent m = 4, as argument 0[1] (m) says, in dimension 0, got shape (3,)"),
        ({0: 3}, TypeError, f"{size}, got int"),
        ({0: (3,)}, TypeError, f"{size}, got one of 1"),
        ({0: (3, 4.0)}, TypeError, "argument 0[1] (m): expected int32, got float"),
        ({0: (3, True)}, TypeError, "argument 0[1] (m): expected int32, got bool"),
        ({0: (-3, 4)}, ValueError, "argument 0[0] (n): expected n to be at least 0, got -3"),
        ({0: (3, 5)}, ValueError,
         "argument 1 (A): expected extent m = 5, as argument 0[1] (m) says, in dimension 1, got shape (3, 4)"),
    ]  # fmt: skip
    return [pytest.param(list((good | change).values()), *rest, id=str(i)) for i, (change, *rest) in enumerate(rows)]


@pytest.mark.parametrize(("args", "kind", "text"), refusals())
def test_what_is_refused(args: list[Any], kind: type[Exception], text: str) -> None:
    """In the same words by both callers."""
    function = program()
    c = np.zeros((3, 4), "float32")
    assert outcome(function, *args, c) == outcome(function.ffi, *args, c) == (kind, f"{TEXT}: {text}")
    assert outcome(function.signature.bind, [*args, c]) == (kind, f"{TEXT}: {text}")


def test_objects_that_are_refused() -> None:
    function = program()
    a, b, scale, bias = inputs()
    said = outcome(function, (3, 4), a, (b, 2.0), Other(scale, (bias, 5)), a.copy())
    assert said == (
        TypeError, f"{TEXT}: argument 3 (epilogue): expected the fields scale, inner, got factor, inner",
    )  # fmt: skip
    said = outcome(function, (3, 4), a, (b, object()), (scale, (bias, 5)), a.copy())
    assert said == (TypeError, f"{TEXT}: argument 2[1] (beta): expected float32, got object")
    said = outcome(function, (3, 4), a, (object(), 1.0), (scale, (bias, 5)), a.copy())
    assert said == (
        TypeError,
        f"{TEXT}: argument 2[0] (B): expected an array (NumPy, DLPack or __cuda_array_interface__), got object",
    )
    said = outcome(function, (3, 4), a, object(), (scale, (bias, 5)), a.copy())
    assert said == (
        TypeError, f"{TEXT}: argument 2 (arg2): expected a tuple of 2 (B, beta), got a Python object that is no tuple",
    )  # fmt: skip
    with pytest.raises(TypeError, match="expected a tensor or None, got int"):
        function.ffi((3, 4), a, (b, 1.0), (scale, (7, 5)), a.copy())


def test_a_list_that_contains_itself() -> None:
    function, c = program(), np.zeros((3, 4), "float32")
    endless: list[Any] = []
    endless.append(endless)
    text = f"{TEXT}: argument 0 (size): expected a shape of 2 (n, m), got one of 1"
    assert outcome(function, endless, c, endless, endless, c) == (TypeError, text)
    text = f"{TEXT}: argument 0[0] (n): expected int32, got list"
    b = np.zeros((3, 4), "float32")
    assert outcome(function, [endless, 4], b, (b, 1.0), (b[0], (None, 1)), c) == (TypeError, text)


def test_an_output_in_a_tuple() -> None:
    """It is given; the inputs alone cannot be."""
    n = te.var("n")
    A = te.placeholder((n,), name="A")
    B = te.compute((n,), lambda i: A[i] + 1.0, name="B")
    C = te.compute((n,), lambda i: A[i] + 2.0, name="C")
    function = tw.build(te.create_schedule([B.op, C.op]), [(A, B), C], "cpu", name="f")
    a, b, c = (np.full(4, k, "float32") for k in range(3))
    function((a, b), c)
    assert (b == 1).all() and (c == 2).all()
    b[:] = np.nan
    assert (function((a, b)) == 2).all() and (b == 1).all()
    text = "f(arg0: (A: float32[n], B: float32[n]), C: float32[n])"
    assert outcome(function, (a, a), c) == (
        ValueError,
        f"{text}: argument 0[1] (B): expected memory of its own beside A, for the function writes B, got 16 bytes shared",
    )
    assert outcome(function) == outcome(function.ffi) == (TypeError, f"{text}: expected 2 arguments, got 0")


def test_programs_that_are_wrong() -> None:
    n, half = te.var("n"), te.var("half", "float32")
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: A[i], name="C")
    s = te.create_schedule(C.op)

    def said(call: Any, *args: Any) -> str:
        kind, text = outcome(call, *args)
        assert text.startswith(f"{__file__}:"), text
        return f"{kind.__name__}: {text.partition(': ')[2]}"

    where = "expected a tensor or a te.var, got"
    assert said(tw.lower, s, [(A, 3), C]) == f"TypeError: argument 0[1]: {where} 3"
    assert said(tw.lower, s, [Inner(A, "x"), C]) == f"TypeError: argument 0.shift: {where} 'x'"
    assert said(tw.lower, s, [A, [C, ()]]) == (
        "ValueError: argument 1[1]: expected a tuple of one argument or more, got an empty one"
    )
    assert said(tw.lower, s, [A, (C, A)]) == "ValueError: argument 1[1]: expected each tensor once, got A twice"
    x = te.var("x", "float32", default=2.0)
    assert said(tw.lower, s, [(A, x), C]) == (
        "ValueError: argument 0[1]: expected a te.var without default, for a call gives a tuple whole, got x with 2.0"
    )
    assert said(te.shape, 3, (n,)) == "TypeError: te.shape: expected a string as name, got 3"
    assert said(te.shape, "size", n) == "TypeError: te.shape size: expected a tuple of te.vars, got n"
    assert said(te.shape, "size", ()) == "ValueError: te.shape size: expected one te.var or more, got none"
    element = "TypeError: te.shape size: element 1: expected a te.var of int32 or int64, got"
    assert said(te.shape, "size", (n, 4)) == f"{element} 4"
    assert said(te.shape, "size", (n, half)) == f"{element} half"


def test_names_do_not_clash() -> None:
    class A(NamedTuple):
        x: Any

    tensor = te.placeholder((4,), name="a")
    C = te.compute((4,), lambda i: tensor[i] + 1.0, name="C")
    x = te.var("x", "float32")
    function = tw.build(te.create_schedule(C.op), [tensor, A(x), C], "cpu", name="f")
    assert str(function.signature) == "f(a: float32[4], a_1: (x: float32), C: float32[4])"
    assert (function(a=np.ones(4, "float32"), a_1=(3.0,)) == 2).all()


@pytest.mark.sweep
def test_libraries(tmp_path: Path) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    single, double = program(name="single"), program(name="wide", dtype="float64")
    either = tw.dispatch([single, double], "either")
    tw.export_library([single, double, either], tmp_path / "groups.so", header=True, mcpu="")
    loaded = tvm_ffi.load_module(str(tmp_path / "groups.so"))
    for dtype, own in (("float32", loaded.single), ("float64", loaded.wide)):
        a, b, scale, bias = inputs(dtype)
        for call in (own, loaded.either, either, either.ffi):
            c = np.full_like(a, np.nan)
            call((3, 4), a, (b, 2.0), (scale, (bias, 5)), c)
            np.testing.assert_array_equal(c, (a + b * 2) * scale + 5 + bias)
        chosen = either.select((3, 4), a, (b, 2.0), (scale, (None, 5)))
        assert chosen is not None and chosen.name == {"float32": "single", "float64": "wide"}[dtype]
    described = loaded.get_function_metadata("single")
    schema = tvm_ffi.core.TypeSchema.from_json_str(described["type_schema"])
    text = "tuple[Tensor, float], tuple[Tensor, tuple[Tensor | None, int]], Tensor], None]"
    assert str(schema) == f"Callable[[ffi.Shape, Tensor, {text}" or "Shape" in str(schema)
    assert described["arguments"][3]["fields"] == ["scale", "inner"]
    assert described["arguments"][0]["kind"] == "shape"

    header = (tmp_path / "groups.h").read_text()
    parameters = (
        "int32_t n, int32_t m, DLTensor *A, DLTensor *B, float beta, DLTensor *scale, DLTensor *bias, int32_t shift"
    )
    assert f"single({parameters}, DLTensor *C) {{" in header
    (tmp_path / "main.c").write_text(
        """#include "groups.h"
int use(DLTensor *A, DLTensor *B, DLTensor *scale, DLTensor *C) {
  return single(3, 4, A, B, 2.0f, scale, NULL, 5, C);
}
"""
    )
    include = Path(tvm_ffi.__file__).parent / "include"
    for compiler, language in (("cc", "c"), ("c++", "c++")):
        made = tmp_path / f"main_{language}.so"
        command = [compiler, "-x", language, "-shared", "-fPIC", "-Wall", "-Werror", f"-I{include}"]
        subprocess.run(
            [*command, str(tmp_path / "main.c"), "-x", "none", "-o", str(made), str(tmp_path / "groups.so")], check=True
        )
    ctypes.CDLL(str(tmp_path / "groups.so"), ctypes.RTLD_GLOBAL)
    a, b, scale, _ = inputs()
    c = np.full_like(a, np.nan)
    arrays = [tvm_ffi.from_dlpack(each) for each in (a, b, scale, c)]
    addresses = [ctypes.c_void_p(each.__chandle__() + 24) for each in arrays]
    assert ctypes.CDLL(str(tmp_path / "main_c.so")).use(*addresses) == 0
    np.testing.assert_array_equal(c, (a + b * 2) * scale + 5)


def test_functions_for_a_gpu() -> None:
    function = program(tw.Target("cuda", arch="sm_90a"))
    a, b, scale, bias = inputs()
    config = function.launch_config((3, 4), a, (b, 2.0), Epilogue(scale, (bias, 5)), a)
    assert config.grid == (3, 1, 1) and config.block == (4, 1, 1)
    with pytest.raises(TypeError, match="expected a tuple of 2"):
        function.launch_config((3, 4), a, b, Epilogue(scale, (bias, 5)), a)
    managed = program(tw.Target("cuda", arch="sm_90a"), host="managed")
    assert str(managed.signature) == TEXT


def test_dispatch_asks_for_the_same_groups() -> None:
    n = te.var("n")
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    C = te.compute((n,), lambda i: A[i] + B[i], name="C")
    flat = tw.build(te.create_schedule(C.op), [A, B, C], "cpu", name="flat")
    grouped = tw.build(te.create_schedule(C.op), [(A, B), C], "cpu", name="grouped")
    with pytest.raises(ValueError, match="expected functions whose arguments have the same names"):
        tw.dispatch([flat, grouped], "either")
