"""Functions of math on a GPU: programs that use them compile without libdevice."""

from __future__ import annotations

import pytest

import tilewright as tw
from tilewright import te
from tilewright.errors import CompileError

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


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", ["exp", "log", "log2", "log10", "tanh", "rsqrt", "sigmoid"])
def test_function(name: str, dtype: str) -> None:
    s, args = elementwise(getattr(te, name), dtype)
    assert tw.build(s, args, target=CUDA).cubin


def test_exponential_of_f64_is_refused() -> None:
    s, args = elementwise(te.exp, "float64")
    with pytest.raises(CompileError, match="math.exp on 'f64' has no lowering for target cuda"):
        tw.build(s, args, target=CUDA)
