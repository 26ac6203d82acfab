"""Layers whose rows have any number of dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright import errors, ops


@pytest.mark.parametrize("shape", [(2, 3, 4), (1, 2, 1, 4), (2, 0, 4), (4,), (5, 4)])
def test_rows_of_any_dimensions(shape: tuple[int, ...]) -> None:
    x, w, bias = (np.random.default_rng(0).integers(-9, 9, one).astype("float32") for one in (shape, (5, 4), (5,)))
    result = ops.linear(x, w, bias, activation="relu")
    assert result.shape == (*shape[:-1], 5) and (result == np.maximum(x @ w.T + bias, 0)).all()


def test_all_rows_are_those_of_one_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """77 rows of each of three are 231 of one matmul, whose tiles have rows of two of them."""
    compiled: list[Any] = []
    find = type(ops.linear)._find
    monkeypatch.setattr(
        type(ops.linear),
        "_find",
        lambda self, given, *rest: compiled.append(given["x"].shape) or find(self, given, *rest),
    )
    assert ops.linear(np.ones((3, 77, 4), "float32"), np.ones((5, 4), "float32")).shape == (3, 77, 5)
    assert compiled == [(231, 4)]


def test_an_error_names_the_shapes_that_were_given() -> None:
    with pytest.raises(errors.TilewrightValueError) as raised:
        ops.linear(np.ones((2, 3, 4), "float32"), np.ones((5, 6), "float32"))
    assert str(raised.value) == "linear: expected rows that fit, got shapes (2, 3, 4) and (5, 6)"
