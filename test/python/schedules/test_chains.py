"""Chains of matmuls other than attention, by the same primitives: a gated MLP, and cross entropy over a vocabulary."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from ptx import needs_disassembler
from tilewright import schedules, te, testing
from tilewright.dtypes import as_dtype
from tilewright.instructions import wgmma

CUDA = "cuda -arch=sm_90a"
LOG2_E = 1.4426950408889634
Scheduled = tuple[te.Schedule, list[te.Tensor]]


def product(x: te.Tensor, y: te.Tensor, name: str) -> te.Tensor:
    """X Y^T."""
    d = te.reduce_axis((0, x.shape[1]), name="d")
    return te.compute(
        (x.shape[0], y.shape[0]),
        lambda i, j: te.sum(x[i, d].astype("float32") * y[j, d].astype("float32"), axis=d),
        name=name,
    )


class Rows:
    """A schedule whose blocks have rows of a result, 64 for each consumer warpgroup."""

    def __init__(self, result: te.Tensor, warpgroups: int) -> None:
        self.s = te.create_schedule(result.op)
        self.result = result
        self.block, inner = self.s[result].split(result.op.axis[0], factor=64 * warpgroups)
        self.s[result].bind(self.block, te.thread_axis("blockIdx.x"))
        self.s[result].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
        self.warpgroup, _ = self.s[result].split(inner, factor=64)
        self.s[result].bind(self.warpgroup, te.thread_axis("threadIdx.y"))

    def load(self, tensor: te.Tensor, readers: list[te.Tensor], stage: te.Tensor, loop: te.IterVar) -> None:
        tile = self.s.cache_read(tensor, "shared", readers)
        self.s[tile].compute_at(self.s[stage], loop)
        self.s[tile].copy_by("tma")

    def reduce(self, stage: te.Tensor, columns: int, computed: list[te.Tensor]) -> te.IterVar:
        """A loop over tiles of a reduction's axis, with what is computed for each tile."""
        self.s[stage].set_scope("local")
        self.s[stage].compute_at(self.s[self.result], self.warpgroup)
        tiles, inner = self.s[stage].split(stage.op.reduce_axis[0], factor=columns)
        self.s[stage].reorder(tiles, *stage.op.axis, inner)
        for one in computed:
            self.s[one].set_scope("local")
            self.s[one].compute_at(self.s[stage], tiles)
        return tiles

    def multiply(self, stage: te.Tensor, dtype: str, n: int, k: int, transpose_b: bool = True) -> None:
        self.s[stage].tensorize(stage.op.axis[0], wgmma(dtype, "float32", n=n, k=k, transpose_b=transpose_b))


def gated_mlp(
    rows: int, width: int, hidden: int, wide: int, dtype: str, *, columns: int = 64, warpgroups: int = 1
) -> Scheduled:
    """(silu(X G^T) * (X U^T)) D: three matmuls in one kernel, which never stores what is between them."""
    X, G, U = (
        te.placeholder((extent, width), dtype, name=name)
        for name, extent in (("X", rows), ("G", hidden), ("U", hidden))
    )
    D = te.placeholder((hidden, wide), dtype, name="D")
    gate, up = product(X, G, "gate"), product(X, U, "up")

    def gated(i: te.Var, j: te.Var) -> te.Expr:
        return (gate[i, j] / (1.0 + te.exp(-gate[i, j])) * up[i, j]).astype(dtype)

    P = te.compute((rows, hidden), gated, name="P")
    h = te.reduce_axis((0, hidden), name="h")
    down = te.compute(
        (rows, wide), lambda i, c: te.sum(P[i, h].astype("float32") * D[h, c].astype("float32"), axis=h), name="down"
    )
    O = te.compute(down.shape, lambda i, c: down[i, c].astype(dtype), name="O")  # noqa: E741
    made = Rows(O, warpgroups)
    made.load(X, [gate, up], O, made.block)
    tiles = made.reduce(down, columns, [gate, up, P])
    for tensor, reader in ((G, gate), (U, up), (D, down)):
        made.load(tensor, [reader], down, tiles)
    made.multiply(gate, dtype, columns, width)
    made.multiply(up, dtype, columns, width)
    made.multiply(down, dtype, wide, columns, transpose_b=False)
    made.s[down].software_pipeline(tiles, 2)
    made.s[down].specialize(tiles)
    return made.s, [X, G, U, D, O]


def cross_entropy(
    rows: int, vocabulary: int, width: int, dtype: str, *, columns: int = 64, warpgroups: int = 1
) -> Scheduled:
    """log sum_j exp(X E^T)_j less the target's logit: no logit is stored."""
    X = te.placeholder((rows, width), dtype, name="X")
    E = te.placeholder((vocabulary, width), dtype, name="E")
    T = te.placeholder((rows,), "int32", name="T")
    of_maximum, of_sum, of_target = (product(X, E, name) for name in ("SM", "SL", "ST"))
    jm, jl, jt = (te.reduce_axis((0, vocabulary), name=name) for name in ("jm", "jl", "jt"))
    M = te.compute((rows,), lambda i: te.max(of_maximum[i, jm], axis=jm), name="M")
    L = te.compute((rows,), lambda i: te.sum(te.exp2(of_sum[i, jl] * LOG2_E - M[i] * LOG2_E), axis=jl), name="L")
    own = te.compute(
        (rows, vocabulary),
        lambda i, j: te.select(T[i] == j, of_target[i, j], te.const(0.0, "float32")),
        name="own",
    )
    C = te.compute((rows,), lambda i: te.sum(own[i, jt], axis=jt), name="C")
    O = te.compute((rows,), lambda i: M[i] + te.log(L[i]) - C[i], name="O")  # noqa: E741
    made = Rows(O, warpgroups)
    made.load(X, [of_maximum, of_sum, of_target], O, made.block)
    for stage, logits, others in ((M, of_maximum, []), (L, of_sum, []), (C, of_target, [own])):
        tiles = made.reduce(stage, columns, [logits, *others])
        made.load(E, [logits], stage, tiles)
        made.multiply(logits, dtype, columns, width)
        made.s[stage].software_pipeline(tiles, 2)
        if stage is M:
            made.s[M].specialize(tiles)
        else:
            made.s[stage].rolling_update(stage.op.reduce_axis[0], of=M)
    return made.s, [X, E, T, O]


def retention(heads: int, rows: int, width: int, wide: int, dtype: str, *, columns: int = 64) -> Scheduled:
    """Linear attention with a state that decays, S_i = decay S_(i - 1) + k_i v_i^T and o_i = S_i^T q_i, as one sum:
    o_i = sum_(j <= i) decay^(i - j) (q_i k_j) v_j."""
    Q, K = (te.placeholder((heads, rows, width), dtype, name=name) for name in "QK")
    V, decay = te.placeholder((heads, rows, wide), dtype, name="V"), te.placeholder((heads,), name="log2_decay")
    d, j = te.reduce_axis((0, width), name="d"), te.reduce_axis((0, rows), name="j")
    S = te.compute(
        (heads, rows, rows),
        lambda h, i, j: te.sum(Q[h, i, d].astype("float32") * K[h, j, d].astype("float32"), axis=d),
        name="S",
    )

    def decayed(h: te.Var, i: te.Var, j: te.Var) -> te.Expr:
        value = S[h, i, j] * te.exp2(decay[h] * (i - j).astype("float32"))
        return te.select(j <= i, value, te.const(0.0, "float32")).astype(dtype)

    P = te.compute(S.shape, decayed, name="P")
    W = te.compute(
        V.shape,
        lambda h, i, c: te.sum(P[h, i, j].astype("float32") * V[h, j, c].astype("float32"), axis=j),
        name="W",
    )
    O = te.compute(V.shape, lambda h, i, c: W[h, i, c].astype(dtype), name="O")  # noqa: E741
    s = te.create_schedule(O.op)
    head, i, _ = O.op.axis
    block, i = s[O].split(i, factor=64)
    s[O].bind(head, te.thread_axis("blockIdx.y"))
    s[O].bind(block, te.thread_axis("blockIdx.x"))
    s[O].env_threads([te.thread_axis((0, 128), "threadIdx.x")])
    warpgroup, _ = s[O].split(i, factor=64)
    s[O].bind(warpgroup, te.thread_axis("threadIdx.y"))
    s[W].set_scope("local")
    s[W].compute_at(s[O], warpgroup)
    tiles, inner = s[W].split(j, factor=columns)
    s[W].reorder(tiles, *W.op.axis, inner)
    for stage in (S, P):
        s[stage].set_scope("local")
        s[stage].compute_at(s[W], tiles)
    for tensor, reader, stage, loop in ((Q, S, O, block), (K, S, W, tiles), (V, W, W, tiles)):
        tile = s.cache_read(tensor, "shared", [reader])
        s[tile].compute_at(s[stage], loop)
        s[tile].copy_by("tma")
    s[S].tensorize(S.op.axis[1], wgmma(dtype, "float32", n=columns, k=width, transpose_b=True))
    s[W].tensorize(W.op.axis[1], wgmma(dtype, "float32", n=wide, k=columns))
    s[W].software_pipeline(tiles, 2)
    s[W].specialize(tiles)
    return s, [Q, K, V, decay, O]


def numbers(dtype: str, *shape: int, spread: float = 1.0) -> Any:
    rng = np.random.default_rng(sum(shape))
    return (spread * rng.standard_normal(shape)).astype(as_dtype(dtype))


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    ("rows", "width", "hidden", "wide", "dtype", "options"),
    [(64, 64, 192, 64, "float16", {}), (128, 128, 256, 192, "bfloat16", {"warpgroups": 2})],
)
def test_gated_mlp(rows: int, width: int, hidden: int, wide: int, dtype: str, options: dict[str, int]) -> None:
    x = numbers(dtype, rows, width)
    g, u = (numbers(dtype, hidden, width, spread=width**-0.5 * factor) for factor in (1.0, 2.0))
    d = numbers(dtype, hidden, wide, spread=hidden**-0.5)
    s, args = gated_mlp(rows, width, hidden, wide, dtype, **options)
    (made,) = testing.run(tw.build(s, args, target="sim", name="mlp"), [x, g, u, d], [((rows, wide), dtype)])
    x, g, u, d = (one.astype("float64") for one in (x, g, u, d))
    gate, up = x @ g.T, x @ u.T
    between = gate / (1 + np.exp(-gate)) * up
    # What is between and the result are rounded once each.
    unit = 2.0**-8 if dtype == "bfloat16" else 2.0**-11
    bound = unit * (np.abs(between) @ np.abs(d) + np.abs(between @ d)) + 1e-5
    assert (np.abs(made.astype("float64") - between @ d) <= bound).all()


@pytest.mark.parametrize(
    ("rows", "vocabulary", "width", "dtype", "options"),
    [(64, 320, 64, "float16", {}), (256, 512, 128, "bfloat16", {"warpgroups": 2, "columns": 128})],
)
def test_cross_entropy(rows: int, vocabulary: int, width: int, dtype: str, options: dict[str, int]) -> None:
    x, e = numbers(dtype, rows, width), numbers(dtype, vocabulary, width)
    targets = np.random.default_rng(0).integers(0, vocabulary, rows).astype("int32")
    s, args = cross_entropy(rows, vocabulary, width, dtype, **options)
    (made,) = testing.run(tw.build(s, args, target="sim", name="loss"), [x, e, targets], [((rows,), "float32")])
    logits = x.astype("float64") @ e.astype("float64").T
    largest = logits.max(1)
    exact = largest + np.log(np.exp(logits - largest[:, None]).sum(1)) - logits[np.arange(rows), targets]
    np.testing.assert_allclose(made, exact, rtol=1e-6, atol=4e-6 * np.abs(logits).max())


def test_linear_attention_with_a_decaying_state() -> None:
    q, k = (numbers("float16", 2, 192, 64, spread=0.3) for _ in range(2))
    v, decay = numbers("float16", 2, 192, 64), np.array([0.9, 0.99])
    s, args = retention(2, 192, 64, 64, "float16")
    function = tw.build(s, args, target="sim", name="retention")
    given = [q, k, v, np.log2(decay).astype("float32")]
    (made,) = testing.run(function, given, [((2, 192, 64), "float16")])
    state, exact = np.zeros((2, 64, 64)), np.empty((2, 192, 64))
    for i in range(192):
        state = decay[:, None, None] * state + k[:, i, :, None].astype("float64") * v[:, i, None]
        exact[:, i] = np.einsum("hd,hdc->hc", q[:, i].astype("float64"), state)
    assert np.abs(made - exact).max() <= 4 * 2.0**-11 * np.abs(exact).max()


CHAINS = {
    "retention": lambda: retention(16, 4096, 128, 128, "bfloat16"),
    "gated_mlp": lambda: gated_mlp(4096, 128, 4096, 128, "bfloat16", warpgroups=2),
    "cross_entropy": lambda: cross_entropy(4096, 32768, 128, "bfloat16", columns=128, warpgroups=2),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", CHAINS)
def test_one_loop_goes_over_the_tiles(name: str) -> None:
    s, args = CHAINS[name]()
    text = tw.build(s, args, target=CUDA, name=name).ir("gpu")
    consumer = text[text.index('tile.role "consumer"') :]
    assert text.count("gpu.func") == 1
    assert consumer.count("scf.for") == 1


@pytest.mark.sweep
@needs_disassembler
@pytest.mark.parametrize("name", CHAINS)
def test_the_assembler_has_nothing_to_say(name: str) -> None:
    s, args = CHAINS[name]()
    for kernel in tw.build(s, args, target=CUDA, name=name).report().kernels:
        assert not kernel.notes and not kernel.spills and not kernel.mismatches, str(kernel)


def test_gated_matmul_of_several_blocks() -> None:
    x, g, u = (numbers("float16", rows, 192, spread=0.3) for rows in (128, 192, 192))
    s, args = schedules.gated_matmul_wgmma(128, 192, 192, "float16", tile=(128, 64), stages=3)
    (made,) = testing.run(tw.build(s, args, target="sim", name="layer"), [x, g, u], [((128, 192), "float16")])
    gate, up = (x.astype("float64") @ one.T.astype("float64") for one in (g, u))
    exact = gate / (1 + np.exp(-gate)) * up
    np.testing.assert_allclose(made, exact, rtol=2.0**-10, atol=1e-4)


def test_cross_entropy_of_several_steps() -> None:
    x, e = numbers("float16", 128, 128), numbers("float16", 256, 128)
    targets = np.random.default_rng(0).integers(0, 256, 128).astype("int32")
    s, args = schedules.cross_entropy_wgmma(128, 256, 128, "float16", tile=(64, 128), stages=2)
    (made,) = testing.run(tw.build(s, args, target="sim", name="loss"), [x, e, targets], [((128,), "float32")])
    logits = x.astype("float64") @ e.T.astype("float64")
    largest = logits.max(1)
    exact = largest + np.log(np.exp(logits - largest[:, None]).sum(1)) - logits[np.arange(128), targets]
    np.testing.assert_allclose(made, exact, rtol=1e-6, atol=4e-6 * np.abs(logits).max())


def test_one_loop_has_both_products() -> None:
    s, args = schedules.gated_matmul_wgmma(1024, 1024, 512)
    text = tw.build(s, args, target=CUDA, name="layer").ir("gpu")
    consumer = text[text.index('tile.role "consumer"') :]
    assert consumer.count("scf.for") == 1
    assert text.count("tile.tma_load") == 3  # of X once


@pytest.mark.parametrize(
    ("schedule", "extents"),
    [(schedules.gated_matmul_wgmma, (128, 100, 64)), (schedules.cross_entropy_wgmma, (128, 256, 100))],
)
def test_extents_that_no_tile_divides(schedule: Any, extents: tuple[int, int, int]) -> None:
    tile = (128, 256) if schedule is schedules.cross_entropy_wgmma else (128, 128)
    with pytest.raises(
        ValueError, match=re.escape(f"expected extents that tiles of {(*tile, 64)} divide, got {extents}")
    ):
        schedule(*extents)
