"""LLVM's passes that take long for large kernels, and give them too many registers, can leave them as they are."""

from __future__ import annotations

import pytest

import tilewright as tw
from tilewright import ops
from tilewright.backend import ptx


def test_strength_reduction_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    x, w = ops.Operand((4, 80, 3000), "float16"), ops.Operand((384, 80, 3), "float16")
    s, tensors = ops.conv.schedule(x, w, padding=1, target="cuda -device=H200")
    text: dict[int | None, str] = {}
    for limit in (None, 4294967295, 0):
        options = "" if limit is None else f"{{strength-reduction-limit={limit}}}"
        monkeypatch.setattr(ptx, "PIPELINE", f"builtin.module(gpu.module(emit-ptx{options}))")
        text[limit] = tw.build(s, tensors, "cuda -device=H200", cache=False).ptx
    assert text[None] == text[4294967295] != text[0]
