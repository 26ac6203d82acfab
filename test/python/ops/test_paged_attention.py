"""Attention to keys and values in pages, and to sequences of several lengths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright import TilewrightError, ops, testing
from tilewright.errors import SimulationError
from tilewright.ops.operator import Operand

from .test_attention import expected

TARGETS = ("cpu", "sim -arch=sm_80", "sim -device=H200")


class Cache:
    """Sequences whose keys and values lie in pages of a cache, pages x page x heads x width, in any order."""

    def __init__(self, lengths: list[int], page: int, heads: int, width: int, dtype: str = "float16") -> None:
        rng = np.random.default_rng(0)
        count = -(-max(1, *lengths) // page)
        pages = len(lengths) * count + 3
        self.k, self.v = rng.standard_normal((2, pages, page, heads, width)).astype(dtype).swapaxes(2, 3)
        self.pages = rng.permutation(pages)[: len(lengths) * count].reshape(-1, count).astype("int32")
        self.lengths = np.array(lengths, "int32")

    def sequence(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        """The keys and values of a sequence, heads x keys x width."""
        length = self.lengths[number]
        own = self.pages[number, : -(-length // self.k.shape[2])]
        k, v = (x[own].swapaxes(0, 1) for x in (self.k, self.v))
        return k.reshape(k.shape[0], -1, k.shape[-1])[:, :length], v.reshape(v.shape[0], -1, v.shape[-1])[:, :length]

    def check(self, q: np.ndarray, target: str, **options: Any) -> None:
        got = ops.attention(
            q, self.k, self.v, pages=self.pages, lengths=self.lengths, target=target, **options
        )  # fmt: skip
        for number, length in enumerate(self.lengths):
            own = {**options, "offset": int(length) - q.shape[2] + options.get("offset", 0), "enable_gqa": True}
            exact, magnitude = expected(q[number], *self.sequence(number), **own)
            unit = testing.unit_roundoff(got.dtype)
            testing.assert_within(got[number], exact, unit * (magnitude + np.abs(exact)) + 2.0**-18 * (magnitude + 1))


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("page", [16, 64])
def test_one_query_of_each_sequence(page: int, target: str) -> None:
    cache = Cache([100, 3, 190], page, heads=2, width=64)
    cache.check(np.random.default_rng(1).standard_normal((3, 8, 1, 64)).astype("float16"), target)


@pytest.mark.sweep
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "options",
    [
        {"is_causal": True},
        {"window": (20, 0)},
        {"softcap": 2.0},
        {"is_causal": True, "offset": -70},
        {"window": (9, 70)},
    ],
    ids=["causal", "window", "soft cap", "an offset", "keys behind"],
)
def test_several_queries(options: dict[str, Any], target: str) -> None:
    cache = Cache([80, 150], 16, heads=2, width=64)
    cache.check(np.random.default_rng(1).standard_normal((2, 2, 70, 64)).astype("float16"), target, **options)


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", TARGETS)
def test_sequences_without_keys_and_pages_that_no_tile_fits(target: str) -> None:
    q = np.random.default_rng(1).standard_normal((2, 2, 3, 64))
    Cache([0, 90], 16, heads=2, width=64).check(q.astype("float16"), target)
    Cache([7, 30], 5, heads=1, width=64).check(q.astype("float16"), target, is_causal=True)
    Cache([7, 30], 5, heads=1, width=64, dtype="float32").check(q.astype("float32"), target)


@pytest.mark.sweep
def test_lengths_of_sequences_that_lie_together() -> None:
    rng = np.random.default_rng(0)
    q, k, v = rng.standard_normal((3, 2, 2, 70, 64)).astype("float16")
    lengths = np.array([70, 9], "int32")
    for target in TARGETS:
        got = ops.attention(q, k, v, lengths=lengths, target=target)
        for number, length in enumerate(lengths):
            exact, _ = expected(q[number], k[number, :, :length], v[number, :, :length])
            np.testing.assert_allclose(got[number], exact, atol=2.0**-9)


def test_tiles_behind_the_last_key_are_not_visited() -> None:
    cache = Cache([30, 400], 16, heads=1, width=64)
    cache.pages[0, 8:] = 10**6  # the first tile of the first sequence has at most 128 keys
    q = np.random.default_rng(1).standard_normal((2, 4, 1, 64)).astype("float16")
    cache.check(q, "sim -device=H200")
    cache.pages[0, 0] = -1
    with pytest.raises(SimulationError) as raised:
        ops.attention(q, cache.k, cache.v, pages=cache.pages, lengths=cache.lengths, target="sim -device=H200")
    assert f"expected an index from 0 to {len(cache.k) - 1} in dimension 0 of 'K', got -1 by a TMA copy" in str(
        raised.value
    )


def test_one_kernel_reads_the_pages_by_tma() -> None:
    q, k = Operand((16, 64, 1, 128), "float16"), Operand((9000, 8, 16, 128), "float16")
    s, _ = ops.attention.schedule(
        q, k, k, pages=Operand((16, 512), "int32"), lengths=Operand((16,), "int32"), target="sim -device=H200"
    )
    assert "by tma" in str(s)
    assert "O.parts" in str(s)  # of packed heads


ARRAYS: dict[str, tuple[tuple[int, ...], str]] = {
    "q": ((2, 4, 3, 8), "float32"),
    "k": ((5, 2, 16, 8), "float32"),
    "v": ((5, 2, 16, 8), "float32"),
    "pages": ((2, 2), "int32"),
    "lengths": ((2,), "int32"),
}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {"pages": ((2, 2), "int64")},
            "attention: expected pages of int32, got int64",
        ),
        (
            {"lengths": ((3,), "int32")},
            "attention: expected q of 4 dimensions and a length for each of its sequences, got shapes (2, 4, 3, 8) and (3,)",
        ),
        (
            {"pages": ((3, 2), "int32")},
            "attention: expected q of sequences x heads x queries x width and pages of sequences x pages, at least one "
            "each, got shapes (2, 4, 3, 8), (5, 2, 16, 8), (5, 2, 16, 8) and pages (3, 2)",
        ),
        (
            {"k": ((5, 3, 16, 8), "float32"), "v": ((5, 3, 16, 8), "float32")},
            "attention: expected k and v of as many pages, heads that divide those of q, and keys of a page, got shapes "
            "(2, 4, 3, 8), (5, 3, 16, 8), (5, 3, 16, 8) and pages (2, 2)",
        ),
        (
            {"mask": ((3, 31), "bool")},
            "attention: expected a mask that is broadcast to (2, 4, 3, 32), got shape (3, 31)",
        ),
    ],
)
def test_what_does_not_fit(given: dict[str, tuple[tuple[int, ...], str]], message: str) -> None:
    arrays = {name: np.zeros(shape, dtype) for name, (shape, dtype) in (ARRAYS | given).items()}
    with pytest.raises(TilewrightError) as raised:
        ops.attention(**arrays)
    assert str(raised.value) == message
