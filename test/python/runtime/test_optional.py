"""Inputs that a call may be without: the program decides at each call, on every target, without being compiled again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te

TEXT = "f(A: float32[n, 8], bias: float32[8] or None, scale: float32[n] or None, C: float32[n, 8])"


def program(target: str | tw.Target, vectorize: bool = False) -> tw.Function:
    n = te.var("n")
    A = te.placeholder((n, 8), name="A")
    bias = te.placeholder((8,), name="bias", optional=True)
    scale = te.placeholder((n,), name="scale", optional=True)
    T = te.compute((n, 8), lambda i, j: te.if_given(bias, A[i, j] + bias[j], A[i, j]), name="T")
    C = te.compute((n, 8), lambda i, j: te.if_given(scale, T[i, j] * scale[i], T[i, j] - 1.0), name="C")
    s = te.create_schedule(C.op)
    s[T].compute_inline()
    if target != "cpu":
        outer, inner = s[C].split(C.op.axis[0], 4)
        s[C].bind(outer, te.thread_axis("blockIdx.x"))
        s[C].bind(inner, te.thread_axis("threadIdx.x"))
        if vectorize:
            s[C].vectorize(s[C].split(C.op.axis[1], 4)[1])
    return tw.build(s, [A, bias, scale, C], target, name="f")


def expected(a: np.ndarray, bias: np.ndarray | None, scale: np.ndarray | None) -> np.ndarray:
    t = a if bias is None else a + bias
    return t - 1 if scale is None else t * scale[:, None]


@pytest.mark.parametrize("vectorize", [False, True])
@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_decided_at_each_call(target: str, vectorize: bool) -> None:
    function = program(target, vectorize)
    a, b, d = (np.arange(k, dtype="float32") for k in (80, 8, 10))
    a = a.reshape(10, 8)
    for call in (function, function.ffi):
        for bias in (None, b):
            for scale in (None, d):
                c = np.zeros((10, 8), "float32")
                call(a, bias, scale, c)
                assert (c == expected(a, bias, scale)).all()
    assert (function(a, None, d) == expected(a, None, d)).all()
    assert (function(A=a, bias=b, C=(c := np.zeros_like(a))) or c == expected(a, b, None)).all()


def test_kernels_for_a_gpu() -> None:
    function = program(tw.Target("cuda", arch="sm_90a"))
    a = np.zeros((10, 8))
    assert function.launch_config(a, None, None, a).grid == (3, 1, 1)
    assert "bias_is_given" in function.source("cuda")
    with pytest.raises(tw.CompileError, match="expected arguments that every call gives, got bias, which is optional"):
        function.source("host")


def test_an_extent_that_a_tensor_has_that_is_not_given() -> None:
    """Programs take an extent from any argument that has it."""
    n = te.var("n")
    first = te.placeholder((n,), name="first", optional=True)
    A = te.placeholder((n,), name="A")
    C = te.compute((n,), lambda i: te.if_given(first, first[i], A[i]), name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], 4)
    s[C].bind(outer, te.thread_axis("blockIdx.x"))
    s[C].bind(inner, te.thread_axis("threadIdx.x"))
    a = np.arange(7, dtype="float32")
    for target in ("sim", "cpu"):
        function = tw.build(s if target == "sim" else te.create_schedule(C.op), [first, A, C], target, name="g")
        assert (function(None, a) == a).all() and (function(a + 1, a) == a + 1).all()
        with pytest.raises(ValueError) as caught:
            function(a[:4].copy(), a, a.copy())
        assert str(caught.value) == (
            "g(first: float32[n] or None, A: float32[n], C: float32[n]): argument 1 (A): expected extent n = 4, as in "
            "dimension 0 of first, in dimension 0, got shape (7,)"
        )


@pytest.mark.parametrize(
    ("bias", "kind", "by_us", "by_ffi"),
    [
        ("no", TypeError, "an array (NumPy, DLPack or __cuda_array_interface__), got str", "a tensor or None, got str"),
        (np.zeros(4, "float32"), ValueError, "extent 8 in dimension 0, got shape (4,)", None),
        (np.zeros(8, "int32"), TypeError, "dtype float32, got int32", None),
    ],
)
def test_what_is_refused(bias: Any, kind: type[Exception], by_us: str, by_ffi: str | None) -> None:
    function, a = program("cpu"), np.zeros((10, 8), "float32")
    for call, text in ((function, by_us), (function.ffi, by_ffi or by_us)):
        with pytest.raises(kind) as caught:
            call(a, bias, None, a.copy())
        assert str(caught.value) == f"{TEXT}: argument 1 (bias): expected {text}"
    with pytest.raises(ValueError, match="expected memory of its own beside bias, for the function writes C"):
        whole = np.zeros((10, 8), "float32")
        function(a, whole[0], None, whole)
    with pytest.raises(TypeError, match=r"argument 0 \(A\): expected an array"):
        function(None, None, None, a)


def test_in_libraries_and_dispatch(tmp_path: Path) -> None:
    tvm_ffi = pytest.importorskip("tvm_ffi")
    function = program("cpu")
    either = tw.dispatch([function], "either")
    tw.export_library([function, either], tmp_path / "optional.so", header=True, mcpu="")
    loaded = tvm_ffi.load_module(str(tmp_path / "optional.so"))
    a, d = np.ones((10, 8), "float32"), np.arange(10, dtype="float32")
    for call in (loaded.f, loaded.either, either):
        c = np.zeros_like(a)
        call(a, None, d, c)
        assert (c == expected(a, None, d)).all()
    described = loaded.get_function_metadata("f")
    schema = json.loads(described["type_schema"])
    assert schema["args"][2] == {"type": "Optional", "args": [{"type": "DLTensor*"}]}
    assert [each.get("optional", False) for each in described["arguments"]] == [False, True, True, False]
    header = (tmp_path / "optional.h").read_text()
    assert "  args[1].type_index = bias ? kTVMFFIDLTensorPtr : kTVMFFINone;" in header


def fails(kind: type[Exception], text: str, make: Any) -> None:
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value).partition(": ")[2] == text


def test_programs_that_read_what_may_not_be_there() -> None:
    A, bias = te.placeholder((8,), name="A"), te.placeholder((8,), name="bias", optional=True)
    anywhere = (
        "compute C: expected bias[i], of an optional tensor, as the first of te.if_given's values, got it where the "
        "tensor may not be there"
    )
    fails(ValueError, anywhere, lambda: te.compute((8,), lambda i: A[i] + bias[i], name="C"))
    fails(ValueError, anywhere, lambda: te.compute((8,), lambda i: te.if_given(bias, A[i], bias[i]), name="C"))
    both = te.compute((8,), lambda i: te.if_then_else(te.all(i < 4, te.is_given(bias)), bias[i], A[i]), name="C")
    assert (tw.build(te.create_schedule(both.op), [A, bias, both], "cpu")(np.ones(8, "float32"), None) == 1).all()
    fails(
        TypeError,
        "te.if_given: expected a te.placeholder with optional=True, got Tensor(name=A, shape=(8,), dtype=float32)",
        lambda: te.if_given(A, 1.0, 0.0),
    )
    C = te.compute((8,), lambda i: te.if_given(bias, bias[i], A[i]), name="C")
    s = te.create_schedule(C.op)
    with pytest.raises(tw.ScheduleError) as caught:
        s.cache_read(bias, "shared", [C])
    assert str(caught.value).endswith(
        "cache_read: expected a tensor that every call gives, got 'bias', which is optional"
    )
    m = te.var("m")
    alone = te.placeholder((m,), name="alone", optional=True)
    D = te.compute((8,), lambda i: te.if_given(alone, m.astype("float32"), A[i]), name="D")
    with pytest.raises(ValueError) as told:
        tw.lower(te.create_schedule(D.op), [A, alone, D])
    assert (
        "te.var m: expected an argument that every call gives to have it as an extent, or itself as an argument, got it "
        "in optional ones alone"
    ) in str(told.value)
    other = te.placeholder((8,), name="other", optional=True)
    E = te.extern((8,), [other], lambda ins, outs: _copied(ins[0], outs[0]), name="E", dtype="float32")
    with pytest.raises(ValueError) as refused:
        tw.lower(te.create_schedule(E.op), [other, E])
    assert str(refused.value).endswith(
        "extern E: expected tensors that every call gives, got other, which is optional: choose by te.if_given in a "
        "te.compute"
    )


def _copied(source: Any, result: Any) -> Any:
    builder = tw.tir.ir_builder.create()
    x, y = builder.buffer_ptr(source), builder.buffer_ptr(result)
    with builder.for_range(0, 8, name="i") as i:
        y[i] = x[i]
    return builder.get()
