"""Attention of any number of sequences, and of any length, in one kernel."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from attention_reference import exact
from tilewright import te
from tilewright.graph.operators.attention import attention

# Which of batch, queries and keys are symbolic; queries and keys that have one symbol are equal.
SYMBOLIC = ["b", "n", "bn", "bnm"]


def program(symbolic: str, mask: bool, least: int = 1, **options: Any) -> tuple[list[te.Tensor], te.Tensor]:
    batch: Any = te.var("b", min=1, max=64) if "b" in symbolic else 2
    queries: Any = te.var("n", min=1, max=4096) if "n" in symbolic else 150
    keys: Any = te.var("m", min=least, max=4096) if "m" in symbolic else queries
    tensors = [
        te.placeholder((batch, 3, extent, 64), "float16", name=name)
        for extent, name in ((queries, "Q"), (keys, "K"), (keys, "V"))
    ]
    if mask:
        tensors.append(te.placeholder((batch, 1, queries, keys), "bool", name="mask"))
    given = {"scale": None, "before": None, "behind": None, "offset": 0, "softcap": None}
    return tensors, attention(*tensors, **(given | options))


def laid_otherwise(symbolic: str, inputs: bool, result: bool) -> tuple[list[te.Tensor], te.Tensor]:
    """Batch x rows x heads x columns, as a linear layer leaves them: of the inputs, of the result, or of both."""
    batch: Any = te.var("b", min=1, max=64) if "b" in symbolic else 2
    extent: Any = te.var("n", min=1, max=4096) if "n" in symbolic else 150
    given, read = list[te.Tensor](), list[te.Tensor]()
    for name in "QKV":
        shape = (batch, extent, 3, 64) if inputs else (batch, 3, extent, 64)
        one = te.placeholder(shape, "float16", name=name)
        given.append(one)
        turned = te.compute((batch, 3, extent, 64), lambda b, h, i, c, one=one: one(b, i, h, c), name=f"{name}.heads")
        read.append(turned if inputs else one)
    made = attention(*read, scale=None, before=None, behind=None, offset=0, softcap=None)
    if result:
        made = te.compute((batch, extent, 3, 64), lambda b, i, h, c: made(b, h, i, c), name="R")
    return given, made


@pytest.mark.sample(3)
@pytest.mark.parametrize("device", ["H200", "A100"])
@pytest.mark.parametrize(("inputs", "result"), [(True, False), (False, True), (True, True)])
@pytest.mark.parametrize("symbolic", ["b", "n", "bn"])
def test_layouts(symbolic: str, inputs: bool, result: bool, device: str) -> None:
    target = f"sim -device={device}"
    tensors, made = laid_otherwise(symbolic, inputs, result)
    s = tw.auto_schedule(made, target)
    assert "attention: " in s.explain()
    func = tw.build(s, [*tensors, made], target=target, name="attention")
    batch, extent = (3 if "b" in symbolic else 2), (77 if "n" in symbolic else 150)
    q, k, v = np.random.default_rng(0).standard_normal((3, batch, 3, extent, 64)).astype("float16")

    def turned(x: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(x.swapaxes(1, 2))

    out = np.full((batch, extent, 3, 64) if result else q.shape, np.nan, "float16")
    func(*(turned(one) if inputs else one for one in (q, k, v)), out)
    wanted = exact(q, k, v, np.ones((extent, extent), bool))
    assert np.abs((turned(out) if result else out) - wanted).max() < 4e-3


@pytest.mark.sample(5)
@pytest.mark.parametrize("device", ["H200", "A100"])
@pytest.mark.parametrize("kind", ["full", "causal", "mask"])
@pytest.mark.parametrize("symbolic", SYMBOLIC)
def test_results(symbolic: str, kind: str, device: str) -> None:
    target = f"sim -device={device}"
    options = {"behind": 0} if kind == "causal" else {}
    tensors, result = program(symbolic, kind == "mask", **options)
    s = tw.auto_schedule(result, target)
    assert s.explain().count("attention: O") == (2 if symbolic == "b" else 1)  # in two classes
    func = tw.build(s, [*tensors, result], target=target, name="attention")
    rng = np.random.default_rng(0)
    for batch, queries, keys in ((2, 150, 150), (1, 33, 300), (3, 257, 64)):
        b = batch if "b" in symbolic else 2
        n = queries if "n" in symbolic else 150
        m = keys if "m" in symbolic else n
        q = rng.standard_normal((b, 3, n, 64)).astype("float16")
        k, v = rng.standard_normal((2, b, 3, m, 64)).astype("float16")
        seen = np.ones((b, 1, n, m), bool)
        if kind == "causal":
            seen &= np.tri(n, m, dtype=bool)
        elif kind == "mask":
            seen = rng.integers(0, 3, seen.shape) > 0
        out = np.full_like(q, np.nan)
        func(q, k, v, *([seen] if kind == "mask" else []), out)
        assert np.abs(out - exact(q, k, v, seen)).max() < 4e-3


def test_the_grid_takes_any_number_of_sequences() -> None:
    """Along its second and third axis there are 65535 blocks at most."""
    tensors, result = program("b", mask=False)
    s = tw.auto_schedule(result, "cuda -device=H200")
    func = tw.build(s, [*tensors, result], target="cuda -device=H200", name="attention")
    assert re.search(r"blocks in \(%\w+, %c1, %c1\)", func.ir("gpu"))


@pytest.mark.parametrize("device", ["H200", "A100"])
@pytest.mark.parametrize("kind", ["full", "causal", "mask"])
def test_keys_that_may_be_none(kind: str, device: str) -> None:
    """PyTorch says of no extent that it is at least 1. A row that sees no key is 0, and nothing of a mask is read."""
    target = f"sim -device={device}"
    options = {"behind": 0} if kind == "causal" else {}
    tensors, result = program("bnm", mask=kind == "mask", least=0, **options)
    s = tw.auto_schedule(result, target)
    assert "attention: O" in s.explain()
    func = tw.build(s, [*tensors, result], target=target, name="attention")
    rng = np.random.default_rng(0)
    for keys in (0, 130):
        q, k, v = (rng.standard_normal((2, 3, count, 64)).astype("float16") for count in (70, keys, keys))
        seen = np.tri(70, keys, dtype=bool) if kind == "causal" else np.ones((2, 1, 70, keys), bool)
        if kind == "mask":
            seen = rng.integers(0, 3, seen.shape) > 0
        out = np.full_like(q, np.nan)
        func(q, k, v, *([seen] if kind == "mask" else []), out)
        assert np.abs(out - exact(q, k, v, seen)).max() < 4e-3
