"""Chains other than attention beside torch.compile's max-autotune: rows of `bench/attention.py`."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from attention_rows import Calls, Medians, figures_of, random

import tilewright as tw
from tilewright import te
from tilewright.schedules import cross_entropy_wgmma, gated_matmul_wgmma, matmul_wgmma

TOKENS, WIDTH, HIDDEN, VOCABULARY = 4096, 4096, 11008, 131072
MODE = "max-autotune-no-cudagraphs"
CHECKED = 256  # rows


def gated_mlp(medians: Medians) -> dict[str, Any]:
    """The feed-forward layer of a model of 7 billion weights: (silu(X G^T) * (X U^T)) D^T."""
    x = random(TOKENS, WIDTH)
    g, u = (random(HIDDEN, WIDTH) * WIDTH**-0.5 for _ in range(2))
    d = random(WIDTH, HIDDEN) * HIDDEN**-0.5
    gated = tw.build(*gated_matmul_wgmma(TOKENS, HIDDEN, WIDTH), target="cuda", name="gated")
    scheduled = matmul_wgmma(TOKENS, WIDTH, HIDDEN, "bfloat16", "bfloat16", transpose_b=True)
    down = tw.build(*scheduled, target="cuda", name="down")
    h, y = torch.full((TOKENS, HIDDEN), float("nan"), device="cuda", dtype=x.dtype), torch.full_like(x, float("nan"))

    def ours() -> None:
        gated(x, g, u, h)
        down(h, d, y)

    def eager() -> torch.Tensor:
        return (F.silu(x @ g.t()) * (x @ u.t())) @ d.t()

    ours()
    one, double = x[:CHECKED].double(), [w.double() for w in (g, u, d)]
    right = (F.silu(one @ double[0].t()) * (one @ double[1].t())) @ double[2].t()
    compiled = torch.compile(eager, mode=MODE)
    calls: Calls = {"{}": ours, "eager": eager, "torch.compile": compiled}
    errors: dict[str, Any] = {"{}": _error(y, right), "eager": _error(eager(), right)}
    errors["torch.compile"] = _error(compiled(), right)
    return figures_of(calls, errors, 6.0 * TOKENS * HIDDEN * WIDTH, medians)


def cross_entropy(medians: Medians) -> dict[str, Any]:
    """The loss of each token over a vocabulary of 128 Ki, with the matmul before it."""
    x, e = random(TOKENS, WIDTH), random(VOCABULARY, WIDTH) * WIDTH**-0.5
    target = torch.randint(0, VOCABULARY, (TOKENS,), device="cuda", dtype=torch.int32)
    wide = target.long()
    out = torch.full((TOKENS,), float("nan"), device="cuda")
    calls: Calls = {}
    errors: dict[str, Any] = {}
    logits = x[:CHECKED].double() @ e.double().t()
    right = F.cross_entropy(logits, wide[:CHECKED], reduction="none")
    del logits
    for tile in ((128, 256), (128, 128)):
        scheduled = cross_entropy_wgmma(TOKENS, VOCABULARY, WIDTH, tile=tile)
        func = tw.build(*scheduled, target="cuda", name="loss")
        func(x, e, target, out)
        name = f"{{tile {tile}}}"
        errors[name] = _error(out, right)
        calls[name] = lambda func=func: func(x, e, target, out)

    def eager() -> torch.Tensor:
        return F.cross_entropy((x @ e.t()).float(), wide, reduction="none")

    compiled = torch.compile(eager, mode=MODE)
    calls |= {"eager": eager, "torch.compile": compiled}
    errors |= {"eager": _error(eager(), right), "torch.compile": _error(compiled(), right)}
    return figures_of(calls, errors, 2.0 * TOKENS * VOCABULARY * WIDTH, medians)


def norm_matmul(medians: Medians) -> dict[str, Any]:
    """RMS norm before a matmul. Its weights are part of the matmul's, and rows are scaled behind the products."""
    x, gain, w = random(TOKENS, WIDTH), random(WIDTH), random(WIDTH, WIDTH) * WIDTH**-0.5
    folded = (w.float() * gain.float()).to(w.dtype)
    X = te.placeholder((TOKENS, WIDTH), "bfloat16", name="X")
    k = te.reduce_axis((0, WIDTH), name="k")
    squares = te.compute(
        (TOKENS,), lambda i: te.sum(X[i, k].astype("float32") * X[i, k].astype("float32"), axis=k), name="squares"
    )
    R = te.compute((TOKENS,), lambda i: 1.0 / te.sqrt(squares[i] * (1.0 / WIDTH) + 1e-5), name="R")
    factors = tw.build(tw.auto_schedule(R, "cuda"), [X, R], target="cuda", name="factors")
    rows = te.placeholder((TOKENS,), name="rows")
    scheduled = matmul_wgmma(
        TOKENS, WIDTH, WIDTH, "bfloat16", "bfloat16", transpose_b=True, operands=[rows],
        epilogue=lambda sums, i, j: sums * rows[i],
    )  # fmt: skip
    product = tw.build(*scheduled, target="cuda", name="product")
    r, y = torch.full((TOKENS,), float("nan"), device="cuda"), torch.full_like(x, float("nan"))

    def ours() -> None:
        factors(x, r)
        product(x, folded, r, y)

    def eager() -> torch.Tensor:
        return F.rms_norm(x, (WIDTH,), gain, 1e-5) @ w.t()

    ours()
    one = x[:CHECKED].double()
    right = one * torch.rsqrt(one.square().mean(-1, keepdim=True) + 1e-5) * gain.double() @ w.double().t()
    compiled = torch.compile(eager, mode=MODE)
    calls: Calls = {"{}": ours, "eager": eager, "torch.compile": compiled}
    errors: dict[str, Any] = {"{}": _error(y, right), "eager": _error(eager(), right)}
    errors["torch.compile"] = _error(compiled(), right)
    return figures_of(calls, errors, 2.0 * TOKENS * WIDTH**2, medians)


def _error(result: torch.Tensor, right: torch.Tensor) -> float:
    return (result[:CHECKED].double() - right).abs().max().item()
