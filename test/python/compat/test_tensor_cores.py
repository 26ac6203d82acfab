"""Fragments of matrices, by the intrinsics that v0.19's tutorial on tensor cores declares."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from compat.tensor_cores import convolution, intrin_wmma_gemm, intrin_wmma_load_matrix, matmul
from tilewright import te, testing, tir
from tilewright.contrib import nvcc

RNG = np.random.default_rng(7)
TARGETS = ["sim", "cpu", pytest.param("cuda", marks=pytest.mark.gpu)]


def small(*shape, dtype="float16"):
    """Small integers, of which sums are exact in any order."""
    return RNG.integers(-2, 3, shape).astype(dtype)


def run(s, args, target, inputs, dtype="float32"):
    if target == "cuda" and not tw.cuda(0).exist:
        pytest.skip("no GPU here")
    shape = tuple(int(extent) for extent in args[-1].shape)
    (out,) = testing.run(tw.build(s, args, target), inputs, [(shape, dtype)])
    return out


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("sizes", [(128, 2, 3, 32, 128), (128, 1, 1, 64, 256)])
def test_the_tutorial_s_convolution(target, sizes) -> None:
    s, args = convolution(*sizes)
    a, w = (small(*(int(extent) for extent in one.shape)) for one in args[:2])
    padded = np.pad(a.astype("float32"), ((0, 0), (1, 1), (1, 1), (0, 0), (0, 0), (0, 0)))
    want = sum(
        np.einsum("nhwixy,ioyz->nhwoxz", padded[:, i : i + sizes[1], j : j + sizes[2]], w[i, j].astype("float32"))
        for i in range(3)
        for j in range(3)
    )
    np.testing.assert_array_equal(run(s, args, target, [a, w]), want)


def test_the_tutorial_s_convolution_uses_tensor_cores() -> None:
    """Of the tutorial's own sizes. Each warp has 2 by 4 tiles of 16 x 16, two instructions each."""
    assert nvcc.have_tensorcore(nvcc.get_target_compute_version(tw.Target("cuda", arch="sm_80")))
    kernel = tw.build(*convolution(), "cuda -arch=sm_80")
    assert kernel.ptx.count("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") % 16 == 0
    assert "mma.sync.aligned.m16n8k16" in kernel.ptx
    assert "ldmatrix.sync.aligned.m8n8.x4.shared" in kernel.ptx and "ldmatrix.sync.aligned.m8n8.x4.trans" in kernel.ptx


@pytest.mark.sample(7)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize(
    ("tile", "dtype", "acc_dtype"),
    [
        ((16, 16, 16), "float16", "float32"),
        ((32, 8, 16), "float16", "float32"),
        ((8, 32, 16), "float16", "float32"),
        ((16, 16, 16), "float16", "float16"),
        ((16, 16, 16), "bfloat16", "float32"),
        ((16, 16, 8), "float32", "float32"),
    ],
)
def test_a_product_by_fragments(target, tile, dtype, acc_dtype, transpose_b) -> None:
    M, N, K = 64, 96, 48
    s, args = matmul(M, N, K, tile, dtype, acc_dtype, transpose_b)
    a, b = small(M, K, dtype=dtype), small(*((N, K) if transpose_b else (K, N)), dtype=dtype)
    want = a.astype("float32") @ (b.T if transpose_b else b).astype("float32")
    np.testing.assert_array_equal(run(s, args, target, [a, b], acc_dtype), want.astype(acc_dtype))
    kernel = tw.build(s, args, "cuda -arch=sm_90a")
    assert "mma.sync.aligned.m16n8k" in kernel.ptx


def test_the_scopes_of_fragments_stay_in_traces() -> None:
    s, (_, _, C) = matmul(16, 16, 16)
    text = str(s.trace())
    for scope in ("wmma.matrix_a", "wmma.matrix_b", "wmma.accumulator"):
        assert f'"{scope}"' in text
    again = te.create_schedule(C.op)
    s.trace().apply(again)
    assert again.ir() == s.ir() and str(again) == str(s)


def declare(make, *, of="shared", scope="wmma.matrix_a", describe=lambda A: lambda i, j: A[i, j]):
    shape = (16, 16)
    A = te.placeholder(shape, "float16", name="A")
    C = te.compute(shape, describe(A), name="C")
    BA = tir.decl_buffer(shape, "float16", name="BA", scope=of)
    BC = tir.decl_buffer(shape, "float16", name="BC", scope=scope)

    def statements(ins, outs):
        ib = tir.ir_builder.create()
        for one in make(ins[0], outs[0]):
            ib.emit(one)
        return ib.get()

    return te.decl_tensor_intrin(C.op, statements, "mine", binds={A: BA, C: BC})


def load(C, A, m=16, n=16, k=16, layout="row_major"):
    return tir.tvm_load_matrix_sync(C.data, m, n, k, C.elem_offset // 256, A.access_ptr("r"), 16, layout)


@pytest.mark.parametrize(
    ("text", "make", "options"),
    [
        (
            "tvm_load_matrix_sync: expected m, n and k of 16 x 16 x k, 32 x 8 x k or 8 x 32 x k, got 8, 8 and 16",
            lambda A, C: [load(C, A, 8, 8)],
            {},
        ),
        (
            "tvm_load_matrix_sync: expected 512 elements in a matrix_a of 32 x 8 x 16, got BC of [16, 16]",
            lambda A, C: [load(C, A, 32, 8)],
            {},
        ),
        (
            "tvm_load_matrix_sync: expected a buffer of scope wmma.matrix_a, wmma.matrix_b, wmma.accumulator as "
            "fragment, got BC of scope 'shared'",
            lambda A, C: [load(C, A)],
            {"scope": "shared"},
        ),
        (
            "tvm_load_matrix_sync: expected the data of a buffer of this intrinsic as fragment, got 1",
            lambda A, C: [tir.tvm_load_matrix_sync(1, 16, 16, 16, 0, A.access_ptr("r"), 16, "row_major")],
            {},
        ),
        (
            "tvm_load_matrix_sync: expected the access_ptr of the other buffer of this intrinsic as buffer_ptr, got 1",
            lambda A, C: [tir.tvm_load_matrix_sync(C.data, 16, 16, 16, 0, 1, 16, "row_major")],
            {},
        ),
        (
            "tvm_load_matrix_sync: expected row_major or col_major as layout, got 'rows'",
            lambda A, C: [load(C, A, layout="rows")],
            {},
        ),
        (
            "tvm_load_matrix_sync: expected an intrinsic that describes a copy, as lambda i, j: A[i, j], got A[i, j] * 2.0",
            lambda A, C: [load(C, A)],
            {"describe": lambda A: lambda i, j: A[i, j] * 2},
        ),
        (
            "expected one intrinsic on fragments, or tvm_fill_fragment and tvm_mma_sync, as the body, got "
            "tvm_load_matrix_sync, tvm_load_matrix_sync",
            lambda A, C: [load(C, A), load(C, A)],
            {},
        ),
        (
            "expected one intrinsic on fragments, or tvm_fill_fragment and tvm_mma_sync, as the body, got "
            "tvm_load_matrix_sync, Store",
            lambda A, C: [load(C, A), C.vstore((0, 0), A[0, 0])],
            {},
        ),
        (
            "tvm_fill_fragment: expected 0, where sums begin, as value, got 1.0",
            lambda A, C: [tir.tvm_fill_fragment(C.data, 16, 16, 16, 0, 1.0)],
            {},
        ),
        (
            "tvm_fill_fragment: expected the result BC as fragment, got BA",
            lambda A, C: [tir.tvm_fill_fragment(A.data, 16, 16, 16, 0, 0.0)],
            {"of": "wmma.matrix_a"},
        ),
        (
            "tvm_mma_sync: expected the result BC as fragment_d and fragment_c, got BA, BC",
            lambda A, C: [tir.tvm_mma_sync(A.data, 0, C.data, 0, C.data, 0, C.data, 0)],
            {"of": "wmma.matrix_a"},
        ),
        (
            "tvm_mma_sync: expected an intrinsic that describes a matmul, as lambda i, j: te.sum(A[i, k] * "
            "B[k, j], axis=k), got A[i, j] along i, j",
            lambda A, C: [tir.tvm_mma_sync(C.data, 0, C.data, 0, C.data, 0, C.data, 0)],
            {},
        ),
    ],
)
def test_a_call_on_fragments_that_does_not_fit_is_refused(text, make, options) -> None:
    with pytest.raises(ValueError) as caught:
        declare(make, **options)
    assert f": decl_tensor_intrin mine: {text}" in str(caught.value)


def test_products_that_no_instruction_computes_are_refused() -> None:
    with pytest.raises(ValueError) as caught:
        intrin_wmma_gemm((16, 16, 32))
    assert str(caught.value).endswith(
        "decl_tensor_intrin tensor_intrin: tvm_mma_sync: expected tiles of 16 x 16, 32 x 8 or 8 x 32 along 16 elements of "
        "float16 or bfloat16, or 8 of float32, got 16 x 16 along 32 of float16"
    )


def test_calls_of_intrinsics_by_name() -> None:
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: tir.call_intrin("float32", "tir.exp", A[i]), name="B")
    assert str(B.op.body[0]) == "exp(A[i])"
    with pytest.raises(TypeError, match="call_intrin exp: expected float32, which it has, as dtype, got 'float16'"):
        tir.call_intrin("float16", "tir.exp", A[0])
    with pytest.raises(ValueError) as caught:
        tir.call_intrin("float32", "tir.ptx_mma", A[0])
    assert str(caught.value).endswith(
        "call_intrin: expected one of tir.tvm_fill_fragment, tir.tvm_load_matrix_sync, tir.tvm_mma_sync, "
        "tir.tvm_store_matrix_sync, or a function of te as in 'tir.exp', got 'tir.ptx_mma'"
    )
    with pytest.raises(TypeError, match="tvm_fill_fragment: expected fragment, m, n, k, index, value, got 2 arguments"):
        tir.tvm_fill_fragment(1, 2)


def test_fragments_are_of_intrinsics_alone() -> None:
    A = te.placeholder((16, 16), "float16", name="A")

    def statements(ins, outs):
        ib = tir.ir_builder.create()
        ib.emit(tir.tvm_fill_fragment(outs[0].data, 16, 16, 16, 0, 0.0))
        return ib.get()

    C = te.extern((16, 16), [A], statements, dtype="float16", name="C")
    with pytest.raises(ValueError) as caught:
        tw.lower(te.create_schedule(C.op), [A, C])
    assert str(caught.value).endswith(
        "tvm_fill_fragment: expected it alone in the statements of te.decl_tensor_intrin, got it beside others or in "
        "te.extern"
    )


def test_a_tile_that_is_no_fragment_s_is_refused_at_the_schedule() -> None:
    A = te.placeholder((32, 24), "float16", name="A")
    C = te.compute((32, 24), lambda i, j: A[i, j], name="C")
    s = te.create_schedule(C.op)
    AF = s.cache_read(A, "wmma.matrix_a", [C])
    s[AF].compute_at(s[C], C.op.axis[0])
    s[AF].tensorize(AF.op.axis[0], intrin_wmma_load_matrix("wmma.matrix_a"))
    with pytest.raises(tw.TilewrightError, match="tensorize of stage 'A.wmma.matrix_a' by 'tensor_intrin': expected"):
        tw.build(s, [A, C], "sim")


@pytest.mark.parametrize("scope", ["wmma.matrix_c", "texture"])
def test_a_scope_that_is_none(scope) -> None:
    A = te.placeholder((16,), name="A")
    B = te.compute((16,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    with pytest.raises(ValueError) as caught:
        s.cache_read(A, scope, [B])
    assert str(caught.value).endswith(
        "cache_read: expected one of global, shared, local, warp, wmma.matrix_a, wmma.matrix_b, wmma.accumulator as "
        f"scope, got '{scope}'"
    )


def test_what_a_compute_capability_has() -> None:
    assert nvcc.parse_compute_version("8.6") == (8, 6)
    assert not nvcc.have_bf16("7.5") and nvcc.have_int8("6.1") and nvcc.have_fp16("5.3")
    with pytest.raises(ValueError, match="expected a compute capability such as '9.0', got 'new'"):
        nvcc.parse_compute_version("new")
    with pytest.raises(ValueError, match="expected a target of cuda, got "):
        nvcc.get_target_compute_version(tw.Target("cpu"))
    with pytest.raises(AttributeError) as caught:
        tw.contrib.cublas  # noqa: B018
    assert str(caught.value) == (
        "module 'tilewright.contrib' has no attribute 'cublas': of TVM's te it is not carried over "
        "(docs/tvm-compatibility.md): use a call of the library beside the built function"
    )
