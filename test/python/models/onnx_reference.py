"""Models compared with ONNX's reference implementation."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx.reference

import tilewright as tw


def check(proto: Any, *calls: dict[str, Any]) -> None:
    """Compiles a model once, for target cpu, and calls it with the inputs of each call."""
    model = tw.compile(proto, target="cpu")
    for given in calls:
        made = model(**given)
        made = made if isinstance(made, tuple) else (made,)
        for ours, theirs in zip(made, onnx.reference.ReferenceEvaluator(proto).run(None, given), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
            assert ours.shape == theirs.shape
            assert ours.dtype == theirs.dtype
