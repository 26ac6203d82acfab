"""mma_sync: schedules that cannot work are refused with the reason, and what can be composed with it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import tilewright as tw
from tilewright import schedules, te, testing
from tilewright.instructions import MMA_SYNC, mma_sync

Scheduled = tuple[te.Schedule, list[te.Tensor]]


def product(
    M: int = 32,
    N: int = 32,
    K: int = 32,
    *,
    local: bool = True,
    lanes: int | None = 32,
    use: Callable[[te.Tensor, int, int], te.Tensor] | None = None,
    split: int | None = None,
) -> Scheduled:
    """C = A B^T, or what `use` makes of it, a warp to all of it."""
    A, B = te.placeholder((M, K), "float16", name="A"), te.placeholder((N, K), "float16", name="B")
    k = te.reduce_axis((0, K), "k")
    C = te.compute((M, N), lambda i, j: te.sum(A[i, k].astype("float32") * B[j, k].astype("float32"), axis=k), name="C")
    last = use(C, M, N) if use else C
    s = te.create_schedule(last.op)
    Cl = C if use or not local else s.cache_write(C, "local")
    if use:
        s[C].set_scope("local")
    block, i = s[last].split(last.op.axis[0], factor=M)
    s[last].bind(block, te.thread_axis("blockIdx.x"))
    if split is not None:
        s[last].split(last.op.axis[1], factor=split)
    if lanes is not None:
        s[last].env_threads([te.thread_axis((0, lanes), "threadIdx.x")])
    if local or use:
        s[Cl].compute_at(s[last], block)
    m, n = s[Cl].op.axis if local or use else (i, last.op.axis[1])
    mo, mi = s[Cl].split(m, factor=16)
    no, ni = s[Cl].split(n, factor=8)
    ko, ki = s[Cl].split(s[Cl].op.reduce_axis[0], factor=16)
    s[Cl].reorder(ko, mo, no, mi, ni, ki)
    s[Cl].tensorize(mi, mma_sync(transpose_b=True))
    return s, [A, B, last]


def message(scheduled: Scheduled, target: str = "sim") -> str:
    with pytest.raises(tw.CompileError) as error:
        tw.build(*scheduled, target=target, name="mm")
    return str(error.value)


def test_a_warp_alone() -> None:
    """Factors straight from global memory: each lane loads what is its own."""
    func = tw.build(*product(), target="sim", name="mm")
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((32, 32)).astype(np.float16) for _ in range(2))
    (c,) = testing.run(func, [a, b], [((32, 32), "float32")])
    exact = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.abs(c - exact).max() < 1e-5


def test_an_epilogue_on_the_fragments() -> None:
    s, tensors = product(
        use=lambda C, M, N: te.compute((M, N), lambda i, j: (C[i, j] * 2.0 + 1.0).astype("float16"), name="D")
    )
    func = tw.build(s, tensors, target="sim", name="mm")
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((32, 32)).astype(np.float16) for _ in range(2))
    (d,) = testing.run(func, [a, b], [((32, 32), "float16")])
    exact = 2 * (a.astype(np.float64) @ b.astype(np.float64).T) + 1
    assert (np.abs(d.astype(np.float64) - exact) <= np.abs(exact) * 2**-11 + 1e-4).all()


def test_a_batch() -> None:
    A, B = te.placeholder((3, 16, 32), "float16", name="A"), te.placeholder((3, 32, 8), "float16", name="B")
    k = te.reduce_axis((0, 32), "k")
    C = te.compute(
        (3, 16, 8),
        lambda b, i, j: te.sum(A[b, i, k].astype("float32") * B[b, k, j].astype("float32"), axis=k),
        name="C",
    )
    s = te.create_schedule(C.op)
    Cl = s.cache_write(C, "local")
    s[C].bind(C.op.axis[0], te.thread_axis("blockIdx.x"))
    s[C].env_threads([te.thread_axis((0, 32), "threadIdx.x")])
    s[Cl].compute_at(s[C], C.op.axis[0])
    _, i, j = s[Cl].op.axis
    ko, ki = s[Cl].split(s[Cl].op.reduce_axis[0], factor=16)
    s[Cl].reorder(ko, i, j, ki)
    s[Cl].tensorize(i, mma_sync())
    func = tw.build(s, [A, B, C], target="sim", name="mm")
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal((3, 16, 32)).astype(np.float16), rng.standard_normal((3, 32, 8)).astype(np.float16)
    (c,) = testing.run(func, [a, b], [((3, 16, 8), "float32")])
    assert np.abs(c - a.astype(np.float64) @ b.astype(np.float64)).max() < 1e-5


def test_unknown_types() -> None:
    with pytest.raises(ValueError) as error:
        mma_sync("float32", "float32")
    assert str(error.value).endswith(
        "mma_sync: expected types of float16 to float32, float16 to float16, bfloat16 to float32, tf32 to float32, "
        "int8 to int32, float8_e4m3fn to float32, float8_e5m2 to float32, got float32 to float32"
    )
    assert all(k % 8 == 0 for k in MMA_SYNC.values())


@pytest.mark.parametrize(("lanes", "got"), [(None, "none"), (16, "16")])
def test_no_warp(lanes: int | None, got: str) -> None:
    assert (
        f"mma_sync of stage 'C.local': expected the 32 lanes of a warp along threadIdx.x, got {got}: bind a loop of 32 "
        "iterations of what fills shared memory to it, or use env_threads"
    ) in message(product(lanes=lanes))


def test_old_target() -> None:
    assert "mma_sync of stage 'C.local': expected a target of sm_80 or later, got sm_75" in message(
        product(), "cuda -arch=sm_75"
    )


def test_old_target_of_8_bit_floats() -> None:
    scheduled = schedules.matmul_mma(64, 64, 64, "float8_e4m3fn", tile=(32, 32), warps=(1, 2))
    assert "mma_sync of stage 'P': expected types that mma.sync multiplies, got 'f8E4M3FN' to 'f32'" in message(
        scheduled, "cuda -arch=sm_80"
    )


def test_sums_elsewhere() -> None:
    assert (
        "mma_sync of stage 'C': expected an accumulator in registers, got 'C' in other memory: cache_write it in scope local and "
        "tensorize that"
    ) in message(product(local=False))


def test_too_many_registers() -> None:
    text = message(product(128, 128, 16))
    assert (
        "mma_sync of stage 'C.local': expected tiles that fit 232 registers of each of the block's 32 threads, got 518: 4 of "
        "'A', 2 of 'B', 512 of 'C.local': give a warp a smaller tile, or a block fewer warps"
    ) in text


def test_loops_that_lanes_cannot_share() -> None:
    assert (
        "mma_sync of stage 'C.local': expected a loop over multiples of 8 along the columns of 'C.local', which the lanes of "
        "a warp share out, got none around this access: leave its loops whole"
    ) in message(product(split=4))


def test_sums_of_rows() -> None:
    def use(C: te.Tensor, M: int, N: int) -> te.Tensor:
        n = te.reduce_axis((0, N), "n")
        return te.compute((M,), lambda i: te.sum(C[i, n], axis=n), name="D")

    assert (
        "which the lanes of a warp share out, that compute one element from one element, got a store to 'D' that is for several"
        in message(product(use=use))
    )


def test_transposed_epilogue_of_two() -> None:
    """One loop cannot go along the rows of the sums and along their columns."""
    assert (
        "mma_sync of stage 'C': expected axis 'D.i.inner' to go along the same side of all tiles, got 'C' and 'C', whose "
        "lanes differ"
    ) in message(product(use=lambda C, M, N: te.compute((M, N), lambda i, j: C[i, j] + C[j, i], name="D")))


def test_the_same_tiles_in_two_places() -> None:
    """A A^T: what is the first factor in one register layout is the second in another."""
    A = te.placeholder((32, 32), "float16", name="A")
    k = te.reduce_axis((0, 32), "k")
    C = te.compute(
        (32, 32), lambda i, j: te.sum(A[i, k].astype("float32") * A[j, k].astype("float32"), axis=k), name="C"
    )
    s = te.create_schedule(C.op)
    Cl = s.cache_write(C, "local")
    Al = s.cache_read(A, "local", [Cl])
    block, _ = s[C].split(C.op.axis[0], factor=32)
    s[C].bind(block, te.thread_axis("blockIdx.x"))
    s[C].env_threads([te.thread_axis((0, 32), "threadIdx.x")])
    s[Cl].compute_at(s[C], block)
    s[Al].compute_at(s[C], block)
    mo, mi = s[Cl].split(s[Cl].op.axis[0], factor=16)
    no, ni = s[Cl].split(s[Cl].op.axis[1], factor=8)
    ko, ki = s[Cl].split(s[Cl].op.reduce_axis[0], factor=16)
    s[Cl].reorder(ko, mo, no, mi, ni, ki)
    s[Cl].tensorize(mi, mma_sync(transpose_b=True))
    assert (
        "mma_sync of stage 'C.local': expected 'A.local' to be operand B wherever an instruction takes it, got one "
        "that takes it in another place"
    ) in message((s, [A, C]))


def test_a_tile_of_one_lane() -> None:
    A, B = te.placeholder((512, 16), "float16", name="A"), te.placeholder((8, 16), "float16", name="B")
    k = te.reduce_axis((0, 16), "k")
    C = te.compute(
        (512, 8), lambda i, j: te.sum(A[i, k].astype("float32") * B[j, k].astype("float32"), axis=k), name="C"
    )
    s = te.create_schedule(C.op)
    Cl = s.cache_write(C, "local")
    lane, _ = s[C].split(C.op.axis[0], factor=16)
    s[C].bind(lane, te.thread_axis("threadIdx.x"))
    s[Cl].compute_at(s[C], lane)
    s[Cl].tensorize(s[Cl].op.axis[0], mma_sync(transpose_b=True))
    assert (
        "mma_sync of stage 'C.local': expected a tile that the lanes of a warp compute together, got one that depends on "
        "threadIdx.x: bind no loop around it to that"
    ) in message((s, [A, B, C]))
