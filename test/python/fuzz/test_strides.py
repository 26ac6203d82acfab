"""Random views of one block of memory as arguments with strides: what is taken is right, and what is refused is wrong.

All roads must say the same of a call: compiled checks, tvm-ffi's, and the table that Python asks. What they say is then
held against the sets of bytes that the arrays have, element by element.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest

import tilewright as tw
from kinds import kind_of
from tilewright import te

POISON = -77.0
ELEMENTS = 2048


@dataclass
class View:
    """An array of float32 in the block, by its first element and its steps."""

    start: int
    shape: tuple[int, int]
    strides: tuple[int, int]

    def of(self, block: np.ndarray) -> np.ndarray:
        steps = tuple(4 * stride for stride in self.strides)
        return np.lib.stride_tricks.as_strided(block[self.start :], self.shape, steps)

    def places(self) -> list[int]:
        (n, m), (a, b) = self.shape, self.strides
        return [self.start + i * a + j * b for i in range(n) for j in range(m)]

    def is_nested(self) -> bool:
        """Whether each stride goes beyond what the smaller one reaches."""
        (a, b), (n, m) = self.strides, self.shape
        if n <= 1 or m <= 1:
            return (n <= 1 or a > 0) and (m <= 1 or b > 0)
        small, few, large = (a, n, b) if a < b else (b, m, a)
        return 0 < small < large and large > (few - 1) * small


def random_view(choose: random.Random, shape: tuple[int, int]) -> View:
    n, m = shape
    rows = choose.choice((m, m + 1, m + 2, 8, 12, 16, 0, -8)) or choose.choice((0, 1))
    strides = choose.choice(((rows, 1),) * 6 + ((1, n), (1, 8), (2, 16), (rows, 2), (3, 2), (0, 0)))
    start = 1024 + 4 * choose.randrange(64) + (choose.random() < 0.05)
    return View(start, shape, strides)


def function(target: str) -> tw.Function:
    n, m = te.var("n"), te.var("m")
    ld = te.var("ld", divisible_by=2)
    A = te.placeholder((n, m), strides=(ld, 1), name="A")
    B = te.placeholder((n, m), strides=(None, None), name="B")
    C = te.compute((n, m), lambda i, j: A[i, j] + B[i, j], name="C")
    s = te.create_schedule(C.op)
    if target != "cpu":
        s[C].bind(s[C].fuse(*C.op.axis), te.thread_axis("blockIdx.x"))
    return tw.build(s, [A, B, te.strided(C, (ld, None))], target, name="f")


def refusal(call: object, arrays: list[np.ndarray]) -> tuple[type[Exception], str] | None:
    try:
        call(*arrays)  # type: ignore[operator]
    except (TypeError, ValueError) as error:
        # Of one row NumPy's buffers have other strides than NumPy's arrays.
        return kind_of(error), str(error).partition(", got strides")[0]
    return None


def is_wrong(message: str, views: list[View]) -> bool:
    """Whether what a refusal says of a call is so."""
    names, (a, b, c) = "ABC", views
    what, _, text = message.partition(": argument ")[2].partition(": ")
    at = views[names.index(what[-2])]
    (n, m), (row, column) = at.shape, at.strides
    if text.startswith("expected memory aligned"):
        return at.start % 4 != 0 and n * m != 0
    if text.startswith("expected memory of its own"):
        other = {"A": a, "B": b, "C": c}[text.partition(" beside ")[2][0]]
        low, high = max(min(at.places()), min(other.places())), min(max(at.places()), max(other.places()))
        return low <= high
    if text.startswith("expected strides of at least 0"):
        return (row < 0 and n > 1) or (column < 0 and m > 1)
    if text.startswith("expected strides that keep the elements of an output apart"):
        return not at.is_nested()
    if text.startswith("expected stride 1 in dimension 1"):
        return column != 1 and m > 1
    if text.startswith("expected stride ld in dimension 0 to be divisible by 2"):
        return row % 2 != 0 and n > 1
    assert text.startswith(f"expected stride ld = {a.strides[0]}, as in dimension 0 of A, in dimension 0"), text
    return n > 1 and row != a.strides[0]


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_random_views(target: str) -> None:
    pytest.importorskip("tvm_ffi")
    call = function(target)
    raw = np.zeros(ELEMENTS + 16, "float32")
    block = raw[-raw.ctypes.data // 4 % 4 :][:ELEMENTS]
    taken = refused = 0
    for seed in range(400):
        choose = random.Random(seed)
        shape = (choose.choice((0, 1, 2, 3, 5)), choose.choice((0, 1, 2, 3, 6)))
        views = [random_view(choose, shape) for _ in "ABC"]
        if choose.random() < 0.5:
            views[2].strides = (views[0].strides[0], views[2].strides[1])
        block[:] = POISON
        block[1024:1536] = np.arange(512)
        before = block.copy()
        arrays = [view.of(block) for view in views]
        said = refusal(call, arrays)
        assert said == refusal(call.ffi, arrays) == refusal(lambda *given: call.signature.bind(given), arrays), (
            seed,
            views,
        )
        if said is not None:
            refused += 1
            assert is_wrong(said[1], views), (seed, said[1], views)
            continue
        taken += 1
        a, b, c = (view.places() for view in views)
        assert len(set(c)) == len(c) and not set(c) & {*a, *b}, (seed, views)
        before[c] = before[a] + before[b]
        assert (block == before).all(), (seed, views)
    assert taken > 50 and refused > 50
