"""Convolutions and contractions of several axes, which rules schedule as products of matrices."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from rules.test_classes import convolution, integers
from tilewright import te, testing
from tilewright.graph.operators import OPERATORS

SIM = "sim -device=H200"


def decisions(s: Any) -> list[str]:
    assert s.plan is not None
    return [decision.rule for decision in s.plan]


@pytest.mark.parametrize(("dtype", "rule"), [("float32", "tiles of vectors"), ("float16", "tensor cores")])
def test_a_convolution_and_what_follows_are_one_kernel(dtype: str, rule: str) -> None:
    """Its rows and columns are several axes of the image that is stored, padding and bias are computed in it."""
    X, W = te.placeholder((2, 16, 11, 13), dtype, "X"), te.placeholder((20, 16, 3, 3), dtype, "W")
    B = te.placeholder((20,), "float32", "B")
    how: Any = {"strides": (1, 1), "before": (1, 1), "after": (1, 1), "dilations": (1, 1), "groups": 1}
    Y = OPERATORS["conv"](X, W, acc="float32", to="float32", by_threads=True, **how)[0]
    Z = te.compute(Y.shape, lambda n, f, h, w: te.max(Y(n, f, h, w) + B(f), 0.0), name="Z")
    s = tw.auto_schedule(Z, SIM)
    assert decisions(s) == [rule]
    arrays = [integers((2, 16, 11, 13), dtype), integers((20, 16, 3, 3), dtype, 1), integers((20,), "float32", 2)]
    (got,) = testing.run(tw.build(s, [X, W, B, Z], SIM, "conv"), arrays, [((2, 20, 11, 13), "float32")])
    big = np.pad(arrays[0].astype("float64"), [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(big, (3, 3), axis=(2, 3))
    exact = np.einsum("nchwij,fcij->nfhw", windows, arrays[1].astype("float64")) + arrays[2][:, None, None]
    np.testing.assert_array_equal(got, np.maximum(exact, 0))


@pytest.mark.sweep
def test_results_of_rows_of_any_length_are_stored_in_vectors() -> None:
    """Four neighbours may be of two rows of an image of 30: they lie together all the same."""
    case = convolution((4, 16, 32, 32), 64, 3)
    (out,) = case.outputs
    func = tw.build(tw.auto_schedule(out, "cuda -device=H200"), [*case.inputs, out], "cuda -device=H200", "conv")
    assert "st.global.v4.b32" in func.ptx
    assert "store<4, 4>(&Y" in func.source(), "in CUDA C++ they are stores of the tensor as it is"


@pytest.mark.sweep
@pytest.mark.parametrize("target", ["cuda -device=H200", "cuda -device=A100"])
def test_sums_of_float32_are_stored_from_registers_of_their_own(target: str) -> None:
    """They are added to zero, for registers that need not stand side by side while they are summed."""
    k, A, B = (
        te.reduce_axis((0, 512), "k"),
        te.placeholder((1024, 512), name="A"),
        te.placeholder((512, 1024), name="B"),
    )
    C = te.compute((1024, 1024), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    settings = {"C": {"tiles": ((64, 64), 8, 8, 1)}}
    matmul = tw.build(tw.auto_schedule(C, target, settings=settings), [A, B, C], target, "matmul")
    case = convolution((4, 16, 32, 32), 64, 3)
    conv = tw.build(tw.auto_schedule(case.outputs, target), [*case.inputs, *case.outputs], target, "conv")
    for f, results in ((matmul, 64), (conv, 16)):
        assert sum("add" in line and "0f00000000" in line for line in f.ptx.splitlines()) >= results


def test_a_chain() -> None:
    """A convolution reads what another computed, and a row's largest is taken of the second."""
    shapes = ((1, 8, 9, 9), (16, 8, 2, 2), (12, 16, 3, 3))
    X, W, V = (te.placeholder(shape, name=name) for shape, name in zip(shapes, "XWV"))

    def conv(image: Any, filters: Any, name: str) -> Any:
        c, i, j = (te.reduce_axis((0, extent), axis) for axis, extent in zip("cij", filters.shape[1:]))
        shape = (1, filters.shape[0], *(a - b + 1 for a, b in zip(image.shape[2:], filters.shape[2:])))
        return te.compute(
            shape, lambda n, f, h, w: te.sum(image[n, c, h + i, w + j] * filters[f, c, i, j], axis=[c, i, j]), name=name
        )

    first = conv(X, W, "first")
    relu = te.compute(first.shape, lambda *at: te.max(first[at], 0.0), name="relu")
    second = conv(relu, V, "second")
    k = te.reduce_axis((0, 6), "k")
    largest = te.compute((1, 12, 6), lambda n, f, h: te.max(second[n, f, h, k], axis=k), name="largest")
    s = tw.auto_schedule([second, largest], SIM)
    assert decisions(s)[:2] == ["tiles of vectors"] * 2
    assert s.instead[first.op] is not first.op and s[second].op is s.instead[second.op]
    arrays = [integers(shape, seed=seed) for seed, shape in enumerate(shapes)]
    function = tw.build(s, [X, W, V, second, largest], SIM, "chain")
    got = testing.run(function, arrays, [((1, 12, 6, 6), "float32"), ((1, 12, 6), "float32")])
    view = np.lib.stride_tricks.sliding_window_view
    x, w, v = (one.astype("float64") for one in arrays)
    exact = np.maximum(np.einsum("nchwij,fcij->nfhw", view(x, (2, 2), axis=(2, 3)), w), 0)
    exact = np.einsum("nchwij,fcij->nfhw", view(exact, (3, 3), axis=(2, 3)), v)
    np.testing.assert_array_equal(got[0], exact)
    np.testing.assert_array_equal(got[1], exact.max(-1))


EINSUMS = [
    ("ijk,jkl->il", "float32", "tiles of vectors"),
    ("bihd,bjhd->bhij", "float16", "tensor cores"),
    ("abk,kcd->abcd", "float32", "tiles of vectors"),
    ("kab,kcd->abcd", "float16", "tensor cores"),
]


@pytest.mark.parametrize(("equation", "dtype", "rule"), EINSUMS)
def test_contractions_of_several_axes(equation: str, dtype: str, rule: str) -> None:
    extents = dict(zip("abcdhijkl", (5, 7, 6, 16, 3, 20, 18, 17, 40)))
    left, right = equation.split("->")
    shapes = [tuple(extents[letter] for letter in term) for term in left.split(",")]
    inputs = [te.placeholder(shape, dtype, f"x{place}") for place, shape in enumerate(shapes)]
    reduced = {c: te.reduce_axis((0, extents[c]), f"r{c}") for c in extents if c in left and c not in right}

    def element(*at: Any) -> Any:
        places = dict(zip(right, at)) | reduced
        x, y = (
            tensor(*[places[letter] for letter in term]).astype("float32")
            for term, tensor in zip(left.split(","), inputs)
        )
        return te.sum(x * y, axis=list(reduced.values()))

    shape = tuple(extents[c] for c in right)
    out = te.compute(shape, element, name="out")
    s = tw.auto_schedule(out, SIM)
    assert decisions(s) == [rule]
    arrays = [integers(shape, dtype, place) for place, shape in enumerate(shapes)]
    (got,) = testing.run(tw.build(s, [*inputs, out], SIM, "einsum"), arrays, [(shape, "float32")])
    np.testing.assert_array_equal(got, np.einsum(equation, *(one.astype("float64") for one in arrays)))


def test_nothing_changes_under_a_scan() -> None:
    """A scan's steps name the tensors that they read: these stay as the program has them."""
    case = convolution((1, 8, 10, 10), 16, 3)
    (conv,) = case.outputs
    X = te.compute((8, 64), lambda t, i: conv[0, i % 16, t, i // 16], name="X")
    state = te.placeholder((8, 64), name="state")
    first = te.compute((1, 64), lambda _, i: X[0, i], name="init")
    update = te.compute((8, 64), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    out = te.scan(first, update, state, inputs=[X], name="scan")
    s = tw.auto_schedule(out, SIM)
    assert not s.instead
    (got,) = testing.run(tw.build(s, [*case.inputs, out], SIM, "scan"), case.arrays, [((8, 64), "float32")])
    image = case.exact[0][0]
    exact = np.cumsum([[image[i % 16, t, i // 16] for i in range(64)] for t in range(8)], axis=0)
    np.testing.assert_array_equal(got, exact)


def test_the_plan_names_the_stages() -> None:
    s = tw.auto_schedule(convolution((1, 16, 12, 12), 32, 3).outputs, SIM)
    assert s.plan is not None
    (decision,) = s.plan
    assert decision.stages == ("Y", "Y_product", "W_matrix", "X_windows")
    assert decision.why == "32 rows, 100 columns, K 144, in float32"


def global_memory(op: tw.ops.Operator, *shapes: tuple[int, ...], **options: Any) -> Counter[str]:
    """The instructions that move elements between memory and the chip."""
    operands = [tw.ops.Operand(shape, "float16") for shape in shapes]
    s, tensors = op.schedule(*operands, target=tw.Target.of("cuda -device=A100"), **options)
    ptx = tw.build(s, tensors, target="cuda -device=A100").ptx
    return Counter(re.findall(r"ld\.global[\w.]*|cp\.async[\w.]*|st\.global[\w.]*", ptx))


@pytest.mark.sample(1)
@pytest.mark.parametrize("size", [8, 14])
def test_a_convolution_of_one_tap_moves_what_its_matmul_moves(size: int) -> None:
    moved = global_memory(tw.ops.conv, (8, 512, size, size), (1024, 512, 1, 1))
    assert moved == global_memory(tw.ops.matmul, (1024, 512), (8, 512, size * size))
    assert moved["cp.async.cg.shared.global"] > 0


@pytest.mark.parametrize(
    ("images", "options"),
    [((2, 64, 9, 9), {"stride": 2}), ((2, 64, 5, 5), {}), ((2, 64, 6, 6), {"padding": 1})],
    ids=["a stride", "rows that are not aligned", "a margin"],
)
def test_what_cp_async_cannot_copy(images: tuple[int, ...], options: dict[str, int]) -> None:
    assert not global_memory(tw.ops.conv, images, (64, 64, 1, 1), **options)["cp.async.cg.shared.global"]


@pytest.mark.parametrize("layout", ["first", "last"])
@pytest.mark.parametrize("size", [(6, 8), (14, 6)])
def test_convolutions_of_one_tap(size: tuple[int, int], layout: str) -> None:
    x, w = integers((2, 40, *size), "float16"), integers((24, 40, 1, 1), "float16", 1)
    given = x if layout == "first" else np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    y = np.asarray(tw.ops.conv.function(given, w, target=SIM, layout=layout)(given, w))
    exact = np.einsum("nchw,fcij->nfhw", x.astype("float64"), w.astype("float64"))
    np.testing.assert_array_equal(y if layout == "first" else y.transpose(0, 3, 1, 2), exact.astype("float16"))


@pytest.mark.parametrize("target", ["sim", "cpu"])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_rows_at_multiples_of_one(dtype: str, target: str) -> None:
    """A stride that happens to be 1 and an offset that happens to be 0 leave a matmul."""
    stride, begin, c = 1, 0, te.reduce_axis((0, 64), "c")
    X, W = te.placeholder((3, 20, 64), dtype, "X"), te.placeholder((72, 64), dtype, "W")

    def element(n: Any, y: Any, f: Any) -> Any:
        return te.sum(X[n, y * stride + begin, c].astype("float32") * W[f, c].astype("float32"), axis=c)

    Y = te.compute((3, 20, 72), element, name="Y")
    arrays = [integers((3, 20, 64), dtype), integers((72, 64), dtype, 1)]
    function = tw.build(tw.auto_schedule(Y, target), [X, W, Y], target, "layer")
    (got,) = testing.run(function, arrays, [((3, 20, 72), "float32")])
    np.testing.assert_array_equal(got, arrays[0].astype("float64") @ arrays[1].astype("float64").T)
