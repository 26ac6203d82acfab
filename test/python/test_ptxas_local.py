"""What ptxas makes of the order of loads and stores in kernels with local memory: see docs/rationale/indices.md."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tilewright as tw
from ptx import needs_disassembler, sass_of
from tilewright import te, testing
from tilewright.runtime import cuda


def product(target: tw.Target | str) -> tw.Function:
    """A matrix product whose sums are in local memory, at places that differ between threads, with 360 loads a turn."""
    A = te.placeholder((6, 9), name="A", dtype="float16")
    B = te.placeholder((9, 13), name="B", dtype="float16")
    k = te.reduce_axis((0, 9), name="k")
    wide = lambda i, j: A[i, k].astype("float32") * B[k, j].astype("float32")  # noqa: E731
    C = te.compute((6, 13), lambda i, j: te.sum(wide(i, j), axis=k), name="C")
    n = te.var("n")  # of any size, so indices of all kernels are of 64 bits
    X = te.placeholder((n,), name="X")
    Y = te.compute((n,), lambda i: X[i] + 1, name="Y")
    s = te.create_schedule([C.op, Y.op])
    s[Y].bind(Y.op.axis[0], te.thread_axis("blockIdx.x"))
    local = s.cache_write(C, "local")
    _, inner = s[local].split(s[local].op.reduce_axis[0], factor=1)
    parts = s.rfactor(local, inner, factor_axis=2)
    shared = s.cache_read(local, "shared", [C])
    element = s.cache_read(shared, "local", [C])
    parts_shared = s.cache_read(parts, "shared", [local])
    i, j, i_inner, j_inner = s[C].tile(*C.op.axis, 4, 5)
    j_inner, last = s[C].split(j_inner, nparts=5)
    s[C].bind(i, te.thread_axis("blockIdx.x"))
    s[C].bind(j, te.thread_axis("blockIdx.y"))
    s[C].bind(s[C].fuse(i_inner, j_inner), te.thread_axis("threadIdx.x"))
    s[C].launch_bounds(1)
    s[element].compute_at(s[C], last)
    s[shared].compute_at(s[C], i)
    row, column, row_inner, column_inner = s[shared].tile(*s[shared].op.axis, 3, 4)
    turn, rest = s[shared].split(row_inner, nparts=4)
    s[shared].reorder(column_inner, row, column, turn, rest)
    s[shared].unroll(turn)
    s[shared].unroll(rest)
    s[local].compute_at(s[C], i)
    rows, columns = s[local].op.axis
    chunk, columns = s[local].split(columns, nparts=3)
    s[local].reorder(chunk, *s[local].op.reduce_axis, rows, columns)
    s[parts_shared].compute_at(s[local], chunk)
    row, column, _ = s[parts_shared].op.axis
    row, *_ = s[parts_shared].tile(row, column, 4, 1)
    _, turn = s[parts_shared].split(row, nparts=4)
    s[parts].compute_at(s[parts_shared], turn)
    _, column, part = s[parts].op.axis
    _, column = s[parts].split(column, factor=9)
    s[parts].fuse(column, part)
    return tw.build(s, [A, B, X, C, Y], target=target, name="product")


@pytest.fixture(scope="module")
def kernel() -> tw.Function:
    return product(tw.Target("cuda", arch="sm_90a"))


def disordered(sass: str) -> list[str]:
    """Where in local memory the zero before a sum is stored after it."""
    stored: set[str] = set()
    late: list[str] = []
    for address, value in re.findall(r"\bSTL \[(\S+)\], (\w+)", sass):
        if value != "RZ":
            stored.add(address)
        elif address in stored:
            late.append(address)
    return late


@pytest.mark.sweep
@needs_disassembler
def test_loads_beside_local_memory_keep_their_order(kernel: tw.Function) -> None:
    sums, other = kernel.ptx.split(".globl")[1:]
    assert ".local" in sums and "ld.global.b16" in sums and "ld.global.nc" not in sums
    assert ".local" not in other and "ld.global.nc" in other
    assert disordered(sass_of(kernel.ptx)) == []


@needs_disassembler
def test_ptxas_is_as_we_know_it(kernel: tw.Function) -> None:
    ptx = kernel.ptx.replace("ld.global.b16", "ld.global.nc.b16")
    assert disordered(sass_of(ptx)), "ptxas is mended, or does it otherwise"


@pytest.mark.parametrize("target", ["sim", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_sums_in_local_memory(target: str) -> None:
    if target == "cuda" and not cuda(0).exist:
        pytest.skip("no GPU here")
    random = np.random.default_rng(7)
    a, b = (random.integers(-4, 5, shape).astype("float16") for shape in ((6, 9), (9, 13)))
    x = np.arange(4, dtype="float32")
    c, y = testing.run(product(target), [a, b, x], [((6, 13), "float32"), ((4,), "float32")])
    np.testing.assert_array_equal(c, a.astype("float32") @ b.astype("float32"))
    np.testing.assert_array_equal(y, x + 1)


def gathered(target: tw.Target | str) -> tw.Function:
    """Reads of an array in local memory at places of data, behind 199 stores to the array in one block."""
    A = te.placeholder((199,), name="A", dtype="uint32")
    small = te.compute((199,), lambda i: te.min(A[i], te.const(16, "uint32")).astype("float8_e4m3fn"), name="small")
    B = te.compute((199,), lambda i: small[i].astype("bfloat16") * 3 + 1, name="B")
    C = te.compute((199,), lambda i: B[((2 - i * 2) // 5) % 199], name="C")
    s = te.create_schedule(C.op)
    sums = s.cache_write(B, "local")
    shared = s.cache_read(small, "shared", [sums])
    element = s.cache_read(shared, "local", [sums])
    copy = s.cache_read(B, "local", [C])
    outer, inner = s[C].split(C.op.axis[0], nparts=3)
    thread, inner = s[C].split(inner, factor=3)
    turn, y = s[C].split(inner, factor=2)
    s[C].reorder(thread, y, turn, outer)
    s[C].bind(thread, te.thread_axis((0, 23), "threadIdx.x"))
    s[C].bind(y, te.thread_axis("threadIdx.y"))
    s[C].unroll(turn)
    s[copy].compute_at(s[C], y)
    far, near = s[copy].split(s[copy].op.axis[0], factor=2)
    s[copy].reorder(near, far)
    s[copy].unroll(near)
    s[B].compute_at(s[copy], far)
    for stage in (sums, element, shared):
        s[stage].compute_at(s[C], y)
    s[small].compute_at(s[C], thread)
    return tw.build(s, [A, C], target=target, name="gathered")


def early_loads(sass: str) -> int:
    """Loads at places of data before the last store to the array, which lies at the begin of the stack."""
    lines = sass.splitlines()
    last = max(n for n, line in enumerate(lines) if re.search(r"\bSTL\.U16 \[R1[]+]", line))
    return sum(bool(re.search(r"\bLDL\.U16 R\d+, \[R(?!1[]+])", line)) for line in lines[:last])


@pytest.mark.sweep
@needs_disassembler
def test_many_stores_keep_their_order() -> None:
    ptx = gathered(tw.Target("cuda", arch="sm_90a")).ptx
    split = r"\tsetp\.eq\.b32 \t(%p\d+), %r\d+, -\d;\n\t@\1 bra .*\n"
    assert len(re.findall(split, ptx)) == 3
    first = early_loads(sass_of(ptx))  # of another array
    assert early_loads(sass_of(re.sub(split, "", ptx))) == first + 3, "ptxas is mended, or does it otherwise"


@pytest.mark.parametrize("target", ["sim", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_what_is_read_behind_many_stores(target: str) -> None:
    if target == "cuda" and not cuda(0).exist:
        pytest.skip("no GPU here")
    a = np.random.default_rng(7).integers(0, 20, 199).astype("uint32")
    (c,) = testing.run(gathered(target), [a], [((199,), "bfloat16")])
    wanted = np.minimum(a, 16).astype("float32") * 3 + 1  # exact in both types
    np.testing.assert_array_equal(c.astype("float32"), wanted[(2 - np.arange(199) * 2) // 5 % 199])
