"""Functions of math on a GPU: programs that use them compile without libdevice."""

from __future__ import annotations

import pytest

import tilewright as tw
from tilewright import te

CUDA = tw.Target("cuda", arch="sm_90a")


def elementwise(function, dtype: str):
    A = te.placeholder((64,), dtype=dtype, name="A")
    B = te.compute((64,), lambda i: function(A[i]), name="B")
    s = te.create_schedule(B.op)
    s[B].bind(B.op.axis[0], te.thread_axis("threadIdx.x"))
    return s, [A, B]


def test_softmax() -> None:
    X = te.placeholder((64, 40), name="X")
    k, r = te.reduce_axis((0, 40), name="k"), te.reduce_axis((0, 40), name="r")
    largest = te.compute((64,), lambda i: te.max(X[i, k], axis=k), name="largest")
    power = te.compute((64, 40), lambda i, j: te.exp(X[i, j] - largest[i]), name="power")
    total = te.compute((64,), lambda i: te.sum(power[i, r], axis=r), name="total")
    Y = te.compute((64, 40), lambda i, j: power[i, j] / total[i], name="Y")
    s = te.create_schedule(Y.op)
    block, thread = s[Y].split(Y.op.axis[0], factor=32)
    s[Y].bind(block, te.thread_axis("blockIdx.x"))
    s[Y].bind(thread, te.thread_axis("threadIdx.x"))
    s[power].compute_at(s[Y], thread)
    s[largest].compute_at(s[Y], thread)
    s[total].compute_at(s[Y], thread)
    assert tw.build(s, [X, Y], target=CUDA).cubin


FUNCTIONS = (
    "exp exp2 erf tanh sigmoid log log2 log10 log1p tan cos cosh sin sinh asin acos atan asinh acosh atanh sqrt rsqrt floor "
    "ceil trunc round nearbyint isnan isfinite isinf abs"
).split()


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name: str) -> None:
    """Every function of every float type, as scalars and as vectors, in one program and one cubin."""
    outputs, inputs = [], []
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        A = te.placeholder((64,), dtype, name=f"A_{dtype}")
        inputs.append(A)
        outputs.append(te.compute((64,), lambda i, A=A: getattr(te, name)(A[i]), name=f"scalar_{dtype}"))
        outputs.append(te.compute((64,), lambda i, A=A: getattr(te, name)(A[i]), name=f"vector_{dtype}"))
    s = te.create_schedule([B.op for B in outputs])
    for B in outputs:
        thread, lane = s[B].split(B.op.axis[0], factor=4 if B.op.name.startswith("vector") else 1)
        s[B].bind(thread, te.thread_axis("threadIdx.x"))
        s[B].vectorize(lane)
    assert tw.build(s, [*inputs, *outputs], target=tw.Target("cuda", arch="sm_75")).cubin


@pytest.mark.parametrize("dtype", ["bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", ["power", "atan2", "fmod"])
def test_function_of_two(name: str, dtype: str) -> None:
    s, args = elementwise(lambda x: getattr(te, name)(x, x), dtype)
    assert tw.build(s, args, target=CUDA).cubin


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint16"])
def test_integer_power(dtype: str) -> None:
    s, args = elementwise(lambda x: te.power(x, x), dtype)
    assert tw.build(s, args, target=CUDA).cubin
