"""Tiles whose rows lie in pages, which an index tensor names: loaded by TMA, one box for each page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mlir import ir

import tilewright as tw
from tile_kernels import lines_without_need
from tilewright import te
from tilewright.errors import CompileError, SimulationError
from tilewright.instructions import wgmma
from tilewright.ir import context

PAGES, SEQUENCES, ROWS, WIDTH = 12, 2, 128, 64


def paged(page: int, number: Any = None, row: Any = None) -> tuple[Any, list[te.Tensor]]:
    """A @ B.T, where B's rows are those of pages. `number` and `row` of place j say which page, and which row of it."""
    count = max(1, ROWS // page)
    T = te.placeholder((SEQUENCES, count), "int32", name="T")
    A = te.placeholder((SEQUENCES, 64, WIDTH), "float16", name="A")
    B = te.placeholder((PAGES, page, WIDTH), "float16", name="B")
    number = number or (lambda T, b, j: T(b, te.min(j // page, count - 1)))
    row = row or (lambda j: j % page)
    d = te.reduce_axis((0, WIDTH), name="d")
    tile = te.compute((SEQUENCES, ROWS, WIDTH), lambda b, j, c: B(number(T, b, j), row(j), c), name="B.tile")
    C = te.compute(
        (SEQUENCES, 64, ROWS),
        lambda b, i, j: te.sum(A(b, i, d).astype("float32") * tile(b, j, d).astype("float32"), axis=d),
        name="C",
    )
    s = te.create_schedule(C.op)
    left, sums = s.cache_read(A, "shared", [C]), s.cache_write(C, "local")
    b, i, j = s[C].op.axis
    block, j = s[C].split(j, factor=64)
    warpgroup, i = s[C].split(i, factor=64)
    s[C].reorder(b, block, warpgroup, i, j)
    s[C].bind(b, te.thread_axis("blockIdx.y"))
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].bind(warpgroup, te.thread_axis("threadIdx.y"))
    s[C].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    s[sums].compute_at(s[C], warpgroup)
    (k,) = s[sums].op.reduce_axis
    ko, ki = s[sums].split(k, factor=64)
    s[sums].reorder(ko, *s[sums].op.axis, ki)
    for loaded in (left, tile):
        s[loaded].set_scope("shared")
        s[loaded].compute_at(s[sums], ko)
        s[loaded].copy_by("tma")
    s[sums].tensorize(s[sums].op.axis[-2], wgmma("float16", "float32", n=64, k=64, transpose_b=True))
    s[sums].software_pipeline(ko, 2)
    s[sums].specialize(ko)
    return s, [T, A, B, C]


def arrays(page: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    count = max(1, ROWS // page)
    numbers = rng.permutation(PAGES)[: SEQUENCES * count] if SEQUENCES * count <= PAGES else None
    if numbers is None:
        numbers = rng.integers(0, PAGES, SEQUENCES * count)
    a = rng.standard_normal((SEQUENCES, 64, WIDTH)).astype("float16")
    b = rng.standard_normal((PAGES, page, WIDTH)).astype("float16")
    return [numbers.reshape(SEQUENCES, count).astype("int32"), a, b]


@pytest.mark.sample(2)
@pytest.mark.parametrize("page", [8, 16, 32, 64, 128, 256])
def test_pages_of_any_size(page: int) -> None:
    s, args = paged(page)
    t, a, b = arrays(page)
    c = np.empty((SEQUENCES, 64, ROWS), "float32")
    tw.build(s, args, target=tw.Target("sim", arch="sm_90a", checks=True))(t, a, b, c)
    rows = b[t].reshape(SEQUENCES, -1, WIDTH)[:, :ROWS].astype("float32")
    np.testing.assert_allclose(c, a.astype("float32") @ rows.swapaxes(1, 2), atol=1e-4)


def test_one_load_for_each_page() -> None:
    s, args = paged(16)
    text = str(tw.lower(s, args, stage="gpu", target=tw.Target("cuda", arch="sm_90a")))
    producer = text[text.index('"producer"') : text.index('"consumer"')]
    assert producer.count("gathered 0") == 4
    # The numbers of the pages are read while the slot is waited for.
    assert producer.rindex("memref.load") < producer.index("tile.acquire")


def test_pages_are_compiled_for_a_device() -> None:
    s, args = paged(16)
    function = tw.build(s, args, target=tw.Target("cuda", arch="sm_90a"))
    assert "tile.gathered = 0" in function.ir("nvvm")
    assert function.cubin


BARRIERS = r"tile\.(commit|wgmma_commit|tma_load .* gathered)\b"


def test_each_barrier_and_each_page_is_needed() -> None:
    """Each is deleted alone. The simulator tells, or the result is another one."""
    s, args = paged(32)
    t, a, b = arrays(32)
    text = str(tw.lower(s, args, stage="gpu", target=tw.Target("cuda", arch="sm_90a")))

    def run(text: str) -> np.ndarray:
        c = np.zeros((SEQUENCES, 64, ROWS), "float32")
        with context():
            tw.build(ir.Module.parse(text), target=tw.Target("sim", checks=True), name="main", start="gpu")(t, a, b, c)
        return c

    right = run(text)
    assert lines_without_need(text, BARRIERS, 4, right, run) == []


def test_a_page_that_does_not_exist_is_found() -> None:
    s, args = paged(16)
    t, a, b = arrays(16)
    t[1, 6] = PAGES
    c = np.empty((SEQUENCES, 64, ROWS), "float32")
    function = tw.build(s, args, target=tw.Target("sim", arch="sm_90a", checks=True), name="paged")
    with pytest.raises(SimulationError) as raised:
        function(t, a, b, c)
    assert "expected an index from 0 to 11 in dimension 0 of 'B', got 12 by a TMA copy of thread" in str(raised.value)


@pytest.mark.parametrize(
    ("page", "options", "message"),
    [
        (
            16,
            {"number": lambda T, b, j: T(b, j % 8)},
            "copy_by: stage 'B.tile': expected one index read from memory for each of so many rows that follow one another, "
            "got indices of other elements in dimension 0 of B",
        ),
        (4, {}, "copy_by: stage 'B.tile': expected a multiple of 8 rows for each index read from memory, got 4"),
    ],
)
def test_what_is_no_page(page: int, options: dict[str, Any], message: str) -> None:
    s, args = paged(page, **options)
    with pytest.raises(CompileError) as raised:
        tw.lower(s, args, stage="gpu", target=tw.Target("cuda", arch="sm_90a"))
    assert str(raised.value).splitlines()[0].endswith(message)
