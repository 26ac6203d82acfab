"""What a type checker makes of programs: tools/check-style.py has pyright read this, nothing runs it."""

import numpy as np
from numpy.typing import NDArray
from typing_extensions import assert_type

from tilewright import ops, te
from tilewright.te import Schedule, Tensor

A = te.placeholder((4, 8), name="A")
k = te.reduce_axis((0, 8), name="k")
B = te.compute((4,), lambda i: te.sum(A[i, k], axis=k), name="B")
C = te.compute((4, 8), lambda i, j: te.exp(A[i, j]) * 2, name="C")
assert_type(B, Tensor)
assert_type(C, Tensor)
assert_type(te.compute((4, 8), lambda i, j: (A[i, j], i), name="D"), tuple[Tensor, ...])

argmax = te.comm_reducer(lambda x, y: x, lambda t0, t1: (te.const(-1, t0), te.min_value(t1)), name="argmax")
assert_type(te.compute((4,), lambda i: argmax((k, A[i, k]), axis=k)), tuple[Tensor, ...])
assert_type(te.compute((4,), lambda i: argmax(A[i, k], axis=k)), Tensor)

s = te.create_schedule(C.op)
assert_type(s.cache_write(C, "local"), Tensor)
assert_type(s.cache_write([C], "local"), list[Tensor])
assert_type(s.rfactor(B, k), Tensor)
A + 1  # pyright: ignore[reportOperatorIssue, reportUnusedExpression]  # a tensor is no scalar

a: NDArray[np.float32] = np.ones((2, 2), "float32")
assert_type(ops.matmul(a, a), NDArray[np.float32])
assert_type(ops.relu(a), NDArray[np.float32])
assert_type(ops.matmul.schedule(a, a), tuple[Schedule, list[Tensor]])
