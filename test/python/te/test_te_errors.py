"""Every error of an expression, in full, with the user's file and line."""

import math

import numpy as np
import pytest

from tilewright import CompileError, TilewrightError, te
from tilewright.te.emit import emit_module


def fails(error, expected, function):
    """`function`, a lambda of one line, raises `error` with this text, where HERE is its line."""
    with pytest.raises(error) as caught:
        function()
    assert str(caught.value).replace(f"{__file__}:{function.__code__.co_firstlineno}", "HERE") == expected


A = te.placeholder((8, 8), name="A")
ALPHA = te.var("alpha", "float32")
H = te.placeholder((8,), "float16", "H")
N = te.placeholder((8,), "int32", "N")
U = te.placeholder((8,), "uint8", "U")
Q = te.placeholder((8,), "float8_e4m3fn", "Q")
Z = te.placeholder((8,), "bool", "Z")
k = te.reduce_axis((0, 8), "k")
B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name="B")
i = B.op.axis[0]


@pytest.mark.parametrize(
    "error, expected, function",
    [
        # dtypes
        (TypeError, "HERE: '+': expected operands of one dtype, got float32 and float16: convert one with .astype", lambda: A[0, 0] + H[0]),
        (TypeError, "HERE: '<': expected operands of one dtype, got int32 and uint8: convert one with .astype", lambda: N[0] < U[0]),
        (TypeError, "HERE: '*': expected operands of one dtype, got int32 and uint8: convert one with .astype", lambda: i * U[0]),
        (TypeError, "HERE: '*': expected operands of one dtype, got float32 and int32: convert one with .astype", lambda: A[0, 0] * i),
        (TypeError, "HERE: expected operands of one dtype, got int32 and the float 0.5", lambda: N[0] * 0.5),
        (TypeError, "HERE: expected operands of one dtype, got bool and the int 1", lambda: Z[0] == 1),
        (ValueError, "HERE: expected a value of uint8, got 256, which it does not have", lambda: U[0] + 256),
        (ValueError, "HERE: expected a value of uint8, got -1, which it does not have", lambda: U[0] + -1),
        (TypeError, "HERE: '+': expected a dtype with arithmetic, got float8_e4m3fn, which only stores: convert it with .astype", lambda: Q[0] + Q[0]),
        (TypeError, "HERE: 'te.exp': expected a dtype with arithmetic, got float8_e4m3fn, which only stores: convert it with .astype", lambda: te.exp(Q[0])),
        (TypeError, "HERE: '+': expected a number, got bool: convert it with .astype", lambda: Z[0] + Z[0]),
        (TypeError, "HERE: '/': expected floats, got int32: integers are divided by //, te.floordiv or te.truncdiv", lambda: N[0] / 2),
        (TypeError, "HERE: '&': expected integers or bools, got float32", lambda: A[0, 0] & A[0, 0]),
        (ValueError, "HERE: '//': expected a divisor other than 0, got 0", lambda: N[0] // 0),
        (TypeError, "HERE: te.exp: expected a float, got int32: convert it with .astype", lambda: te.exp(N[0])),
        (TypeError, "HERE: te.popcount: expected an integer, got float32", lambda: te.popcount(A[0, 0])),
        (TypeError, "HERE: te.select: expected a bool as condition, got int32", lambda: te.select(N[0], 1, 2)),
        (TypeError, "HERE: 'if_then_else': expected operands of one dtype, got float32 and float16: convert one with .astype", lambda: te.if_then_else(Z[0], A[0, 0], H[0])),
        (TypeError, "HERE: te.all: expected conditions of bool, got int32", lambda: te.all(Z[0], N[0])),
        (ValueError, "HERE: te.any: expected at least one condition, got none", lambda: te.any()),
        (TypeError, "HERE: expected a dtype (float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64), got 'floats'", lambda: N[0].astype("floats")),
        (TypeError, "HERE: expected an expression or a number, got 'x'", lambda: A[0, 0] + "x"),
        (TypeError, "HERE: expected an expression or a number, got None", lambda: te.bitwise_not(None)),
        (
            TypeError,
            "HERE: expected an expression or a number, got an array of shape (3,): an array is a te.placeholder, and "
            "an argument of the call",
            lambda: A[0, 0] * np.ones(3),
        ),
        (
            TypeError,
            "HERE: placeholder A: dimension 0: expected an integer or te.var, got 2.5",
            lambda: te.placeholder(np.array([2.5, 2]), name="A"),
        ),
        (TypeError, "HERE: expected a scalar, got the tensor A: read one element of it, A[...] with 2 indices", lambda: te.exp(A)),
        (TypeError, "HERE: expected a scalar, got the tensor A: read one element of it, A[...] with 2 indices", lambda: A[0] + 1.0),
        (TypeError, "HERE: expected te.all, te.any, te.if_then_else or te.select on an expression, got Python's own 'and', 'or', 'not' or 'if', which need its value now", lambda: 1 if i < 2 else 0),
        (TypeError, "HERE: te.const: expected a number, got i", lambda: te.const(i, "int32")),
        (TypeError, "HERE: expected a value of int8, got 0.5", lambda: te.const(0.5, "int8")),
        (TypeError, "HERE: te.var n: expected a dtype with arithmetic, got float8_e5m2", lambda: te.var("n", "float8_e5m2")),
        (TypeError, "HERE: te.var n: expected divisible_by, min and max of int32 or int64, got them of float32", lambda: te.var("n", "float32", min=2)),
        # reads
        (ValueError, "HERE: tensor A: expected 2 indices, got 3", lambda: A[0, 0, 0]),
        (ValueError, "HERE: tensor A: expected 2 indices, got 1", lambda: A(0)),
        (TypeError, "HERE: index 1 of A: expected one element, got a slice", lambda: A[0, :] + 1),
        (TypeError, "HERE: index 0 of A: expected one element, got a slice", lambda: te.compute((8,), lambda i: A[:, i], name="C")),
        (TypeError, "HERE: index 0 of A: expected an integer, got float32", lambda: A[0.5, 0]),
        (TypeError, "HERE: expected a sequence, got the tensor A", lambda: list(A)),
        (TypeError, "HERE: expected a sequence, got the tensor A: its extents are .shape", lambda: len(A)),
        (TypeError, "HERE: expected a sequence, got the expression A[0, 0]", lambda: list(A[0, 0])),
        (TypeError, "HERE: expected a sequence, got the expression (A[0, 0] + 1.0) * 2.0 - 3.0", lambda: list((A[0, 0] + 1) * 2 - 3)),
        (TypeError, "HERE: expected a sequence, got the expression i - (i - 1) < k * (i + 1)", lambda: list(i - (i - 1) < k * (i + 1))),
        # shapes and axes
        (ValueError, "HERE: placeholder P: dimension 1: expected at least 0, got -1", lambda: te.placeholder((2, -1), name="P")),
        (TypeError, "HERE: placeholder P: dimension 0: expected an integer or te.var, got 2.5", lambda: te.placeholder((2.5,), name="P")),
        (TypeError, "HERE: placeholder P: dimension 0: expected an extent, got N[0]", lambda: te.placeholder((N[0],), name="P")),
        (TypeError, "HERE: placeholder P: expected a shape, got None", lambda: te.placeholder(None, name="P")),
        (ValueError, "HERE: compute C: expected a function of 2 axes, one a dimension, got 1 parameters", lambda: te.compute((2, 2), lambda i: 0.0, name="C")),
        (ValueError, "HERE: compute C: expected a function of at most 1 axes, got 2 parameters", lambda: te.compute((2,), lambda i, j, *more: 0.0, name="C")),
        (ValueError, "HERE: compute C: expected 2 varargs_names, got 1", lambda: te.compute((2, 2), lambda *i: 0.0, name="C", varargs_names=["x"])),
        (TypeError, "HERE: compute C: expected a function of the axes, got 3", lambda: te.compute((2,), 3, name="C")),
        (TypeError, "HERE: compute C: expected the function to return an expression, got None", lambda: te.compute((2,), lambda i: None, name="C")),
        (ValueError, "HERE: compute C: expected at least one value, got an empty tuple", lambda: te.compute((2,), lambda i: (), name="C")),
        (TypeError, "HERE: reduce_axis k: expected the pair (first, end), got 4", lambda: te.reduce_axis(4, "k")),
        (ValueError, "HERE: reduce_axis k: expected an end of at least 4, got 3", lambda: te.reduce_axis((4, 3), "k")),
        (TypeError, "HERE: reduce_axis k: expected an integer as its first value, got 0.5", lambda: te.reduce_axis((0.5, 4), "k")),
        (TypeError, "HERE: reduce_axis k: expected an integer or te.var as its end, got 4.0", lambda: te.reduce_axis((0, 4.0), "k")),
        (ValueError, "HERE: te.thread_axis: expected one of blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, vthread, vthread.x, vthread.y, vthread.z, got 'threadIdx.w'", lambda: te.thread_axis("threadIdx.w")),
        (ValueError, "HERE: te.thread_axis: expected one of blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, vthread, vthread.x, vthread.y, vthread.z, got 32 alone", lambda: te.thread_axis(32)),
        (ValueError, "HERE: te.thread_axis: expected one of blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x, threadIdx.y, threadIdx.z, vthread, vthread.x, vthread.y, vthread.z, got ''", lambda: te.thread_axis()),
        (ValueError, "HERE: te.thread_axis threadIdx.x: expected an extent of at least 1, got 0", lambda: te.thread_axis((0, 0), "threadIdx.x")),
        (ValueError, "HERE: te.thread_axis threadIdx.x: expected the pair (0, extent), got (1, 4)", lambda: te.thread_axis((1, 4), "threadIdx.x")),
        (TypeError, "HERE: te.thread_axis threadIdx.x: expected an integer extent, got 2.5", lambda: te.thread_axis("threadIdx.x", 2.5)),
        # reductions
        (TypeError, "HERE: te.sum: expected axes of te.reduce_axis, got i", lambda: te.sum(A[i, k], axis=[k, i])),
        (TypeError, "HERE: te.sum: expected axes of te.reduce_axis, got 1", lambda: te.sum(A[i, k], axis=1)),
        (TypeError, "HERE: te.prod: expected axes of te.reduce_axis, got -1", lambda: te.prod(A[i, k], axis=-1)),
        (TypeError, "HERE: te.max: expected axes of te.reduce_axis, got k", lambda: te.max(A[i, k], axis="k")),
        (ValueError, "HERE: te.sum: expected at least one axis, got none", lambda: te.sum(A[i, k], axis=[])),
        (ValueError, "HERE: te.sum: expected different axes, got k, k", lambda: te.sum(A[i, k], axis=[k, k])),
        (TypeError, "HERE: te.sum: expected a bool as 'where', got int32", lambda: te.sum(A[i, k], axis=k, where=N[k])),
        (TypeError, "HERE: te.sum: expected an init of float32, got int32", lambda: te.sum(A[i, k], axis=k, init=te.const(1, "int32"))),
        (ValueError, "HERE: te.sum: expected an element, got a reduction: give it a compute of its own", lambda: te.sum(te.max(A[i, k], axis=k), axis=k)),
        (ValueError, "HERE: compute C: expected a reduction as the whole value of a compute, got one inside an expression: give it a compute of its own", lambda: te.compute((8,), lambda i: te.sum(A[i, k], axis=k) + 1.0, name="C")),
        (ValueError, "HERE: compute C: expected the results of one reduction in their order, got sum(A[i, k], axis=[k]), sum(A[i, k], axis=[k])", lambda: te.compute((8,), lambda i: (te.sum(A[i, k], axis=k), te.sum(A[i, k], axis=k)), name="C")),
        (ValueError, "HERE: compute C: expected its own axes (x), got 'k': name it in the reduction's axis=", lambda: te.compute((8,), lambda x: A[x, k], name="C")),
        (ValueError, "HERE: compute C: expected its own axes (x), got 'i': it belongs to another compute", lambda: te.compute((8,), lambda x: A[x, i], name="C")),
        (ValueError, "HERE: te.reduce: expected 2 combined values, got 1", lambda: te.comm_reducer(lambda x, y: x[0], lambda a, b: (0, 0))((N[k], N[k]), axis=k)),
        (ValueError, "HERE: te.reduce: expected 2 identities, got 1", lambda: te.comm_reducer(lambda x, y: x, lambda a, b: 0)((N[k], N[k]), axis=k)),
        (TypeError, "HERE: te.reduce: expected a combined value of int32, got float32", lambda: te.comm_reducer(lambda x, y: A[0, 0], lambda a: 0)(N[k], axis=k)),
        (ValueError, "HERE: te.clip: expected a combiner of its elements alone, got te.var alpha", lambda: te.comm_reducer(lambda x, y: te.min(x + y, ALPHA), lambda a: 0.0, name="clip")(A[0, k], axis=k)),
        (TypeError, "HERE: te.reduce: expected a constant of int32 as identity, got N[0]", lambda: te.comm_reducer(lambda x, y: x + y, lambda a: N[0])(N[k], axis=k)),
    ],
)  # fmt: skip
def test_expression(error, expected, function):
    fails(error, expected, function)


@pytest.mark.parametrize(
    "error, expected, function",
    [
        (ValueError, "HERE: expected the input A among the arguments, got B", lambda: emit_module(B, [B])),
        (ValueError, "HERE: expected the output B among the arguments, got A", lambda: emit_module(B, [A])),
        (ValueError, "HERE: argument 2: expected each tensor once, got A twice", lambda: emit_module(B, [A, B, A])),
        (TypeError, "HERE: argument 1: expected a tensor or a te.var, got 3", lambda: emit_module(B, [A, 3])),
        (ValueError, "HERE: argument 2: expected each te.var once, got alpha twice", lambda: emit_module(B, [A, ALPHA, ALPHA, B])),
        (TypeError, "HERE: expected a list of tensors as arguments, got Tensor(name=A, shape=(8, 8), dtype=float32)", lambda: emit_module(B, A)),
        (ValueError, "HERE: argument 2: expected an input or a compute of the program, got C", lambda: emit_module(B, [A, B, te.compute((2,), lambda i: 0.0, name="C")])),
    ],
)  # fmt: skip
def test_arguments(error, expected, function):
    fails(error, expected, function)


def test_symbol_without_an_argument():
    n = te.var("n")
    P = te.placeholder((n * 2,), name="P")
    C = te.compute((n * 2,), lambda i: P[i] + 1, name="C")
    line = n.source.line
    with pytest.raises(ValueError) as caught:
        emit_module(C, [P, C])
    assert str(caught.value) == (
        f"{__file__}:{line + 5}: te.var n: expected an argument that has it as an extent, or itself as an argument, got it "
        f"in none alone ({__file__}:{line})"
    )


def test_number_that_is_no_argument():
    C = te.compute((8, 8), lambda i, j: A[i, j] * ALPHA, name="C")
    with pytest.raises(ValueError) as caught:
        emit_module(C, [A, C])
    here = caught.value.__traceback__.tb_lineno
    assert str(caught.value) == (
        f"{__file__}:{here}: te.var alpha: expected it among the arguments, got none of it ({ALPHA.source})"
    )


def test_another_tensor_of_the_same_name():
    other = te.placeholder((8, 8), name="A")
    with pytest.raises(ValueError) as caught:
        emit_module(B, [other, B])
    here = caught.value.__traceback__.tb_lineno
    assert str(caught.value) == (
        f"{__file__}:{here}: expected the input A among the arguments, got A, B, where A is another tensor of that name "
        f"({A.op.source})"
    )


def test_index_that_leaves_its_tensor():
    C = te.compute((8, 8), lambda i, j: A[i, j + 1], name="C")
    with pytest.raises(CompileError) as caught:
        emit_module(C, [A, C])
    line = C.op.source.line
    assert (
        str(caught.value) == f"{__file__}:{line}: error: read: index 1 leaves the tensor: expected 0 to 7, got 1 to 8"
    )
    assert caught.value.stage == "te"


def test_line_inside_a_long_lambda():
    with pytest.raises(TypeError) as caught:
        te.compute(
            (8,),
            lambda i: (
                A[i, 0]
                + H[i]
            ),
        )  # fmt: skip
    assert str(caught.value).startswith(f"{__file__}:{test_line_inside_a_long_lambda.__code__.co_firstlineno + 5}: '+'")


@pytest.mark.parametrize(
    "text, function",
    [
        ("expected te.exp of an expression, got np.exp, which takes arrays", lambda: np.exp(H[i])),
        ("expected te.nearbyint or te.round of an expression, got Python's round", lambda: round(H[i])),
        (
            "expected a function of te or .astype on an expression, got float() or a function of math, which need its value "
            "now",
            lambda: math.exp(H[i]),
        ),
        ("expected .astype on an expression, got int(), which needs its value now", lambda: int(H[i])),
        ("expected te.sum of an expression, got np.sum, which takes arrays", lambda: np.sum(H[i])),
        ("expected te.atan2 of an expression, got np.arctan2, which takes arrays", lambda: np.arctan2(H[i], H[i])),
        ("expected te.max of an expression, got np.maximum, which takes arrays", lambda: np.maximum(H[i], 0)),
        ("expected a function of te on an expression, got np.cbrt, which takes arrays", lambda: np.cbrt(H[i])),
        (
            "expected te.nearbyint or te.round of an expression, got np.round, which takes arrays",
            lambda: np.round(H[i]),
        ),
        (
            "expected te.select or te.if_then_else of an expression, got np.where, which takes arrays",
            lambda: np.where(H[i] > 0, H[i], 0.0),
        ),
        ("expected te.min and te.max of an expression, got np.clip, which takes arrays", lambda: np.clip(H[i], 0, 1)),
        ("expected te.max of an expression, got np.max, which takes arrays", lambda: np.max(H[i])),
        ("expected the operator * of an expression, got np.square, which takes arrays", lambda: np.square(H[i])),
        ("expected a function of te on an expression, got np.argmax, which takes arrays", lambda: np.argmax(H[i])),
        (
            "expected a function of te on an expression, got np.linalg.norm, which takes arrays",
            lambda: np.linalg.norm(H[i]),
        ),
        ("np.multiply: expected an expression and a number, got an array", lambda: np.arange(3) * H[i]),
        ("np.add: expected an expression and a number, got an array", lambda: np.add.reduce(H[i])),
        ("expected te.sqrt on one element, A[...] with 2 indices, got np.sqrt of the tensor A", lambda: np.sqrt(A)),
        ("expected te.exp on one element, A[...] with 2 indices, got np.exp of the tensor A", lambda: np.exp(A[i])),
        (
            "expected te.sum on one element, A[...] with 2 indices, got np.matmul of the tensor A",
            lambda: np.matmul(A, A),
        ),
        ("expected te.sum on one element, A[...] with 2 indices, got np.dot of the tensor A", lambda: np.dot(A, A)),
        (
            "expected a scalar, got the tensor A: read one element of it, A[...] with 2 indices",
            lambda: np.float32(2) * A,
        ),
    ],
)
def test_functions_of_numpy(text, function):
    fails(TilewrightError, f"HERE: {text}", function)


def test_scalars_of_numpy_are_numbers():
    assert str(np.float32(2) * A[i, i] - np.array(1, "float32") / A[i, i]) == "2.0 * A[i, i] - 1.0 / A[i, i]"
    assert str(np.float32(3) > A[i, i]) in ("3.0 > A[i, i]", "A[i, i] < 3.0")


def test_extents_may_be_an_array_of_numpy():
    assert te.placeholder(np.array([2, 3])).shape == (2, 3)
    assert te.compute(np.array([4]), lambda i: A[i, i], name="C").shape == (4,)
