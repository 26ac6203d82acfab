"""What a kernel of its own stores before a contraction of float32 reads it, and tiles that divide rows and steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from rules.test_classes import integers
from tilewright import te, testing
from tilewright.graph.operators import OPERATORS
from tilewright.rules import staging
from tilewright.rules.facts import extent_of
from tilewright.te import Tensor

SIM, GPU = "sim -device=H200", "cuda -device=H200"
TILES = "tiles of vectors"


def convolved(
    what: str, images: Sequence[int], filters: Sequence[int], *, stride: int = 1, margin: int = 0, groups: int = 1
) -> tuple[list[Tensor], Tensor]:
    X, W = te.placeholder(tuple(images), name="X"), te.placeholder(tuple(filters), name="W")
    rank = len(images) - 2
    (Y,) = OPERATORS[what](
        X, W, strides=(stride,) * rank, before=(margin,) * rank, after=(margin,) * rank, dilations=(1,) * rank,
        groups=groups, acc="float32", to="float32", by_threads=True,
    )  # fmt: skip
    return [X, W], Y


def shape_of(Y: Tensor) -> tuple[int, ...]:
    return tuple(map(extent_of, Y.shape))


def rules_of(Y: Tensor, target: str = GPU) -> list[str]:
    plan = tw.auto_schedule(Y, target).plan
    assert plan is not None
    return [decision.rule for decision in plan]


def tiles_of(Y: Tensor) -> Any:
    plan = tw.auto_schedule(Y, GPU).plan
    assert plan is not None
    return next(decision["tiles"] for decision in plan if decision.rule == TILES)


@pytest.mark.parametrize(
    ("what", "images", "filters", "options", "copies", "tile", "step"),
    [
        ("conv", (64, 3, 224, 224), (96, 3, 11, 11), {"stride": 4, "margin": 2}, 2, (96, 128), 11),
        ("conv_transpose", (8, 32, 16, 32, 32), (32, 24, 3, 3, 3), {}, 2, (24, 128), 8),
        ("conv_transpose", (16, 32, 128, 128), (32, 64, 3, 7), {}, 2, (64, 128), 8),
        ("conv", (16, 3, 64, 64, 64), (64, 3, 3, 3, 3), {}, 1, (64, 128), 9),
        ("conv", (1, 16, 12, 12), (32, 16, 3, 3), {"margin": 1}, 0, None, 8),
    ],
)
def test_long_convolutions_read_copies(
    what: str, images: Sequence[int], filters: Sequence[int], options: dict[str, int], copies: int,
    tile: tuple[int, int] | None, step: int,
) -> None:  # fmt: skip
    """Images are padded once, and filters lie as they are read; a step is of whole axes then, rows of whole tiles."""
    _, Y = convolved(what, images, filters, **options)
    assert rules_of(Y) == ["elementwise"] * copies + [TILES]
    found = tiles_of(Y)
    assert tile is None or found[0] == tile
    assert found[2] % step == 0


@pytest.mark.parametrize(
    ("what", "images", "filters", "options"),
    [
        ("conv", (1, 3, 43, 31), (48, 3, 11, 11), {"stride": 4, "margin": 2}),
        ("conv", (2, 8, 9, 11), (24, 8, 3, 3), {"margin": 1}),
        ("conv", (2, 16, 17, 9), (40, 16, 3, 3), {"stride": 2}),
        ("conv_transpose", (1, 8, 3, 5, 6), (8, 24, 3, 3, 3), {}),
        ("conv_transpose", (2, 16, 4, 7), (16, 16, 3, 3), {"stride": 2, "margin": 1, "groups": 2}),
    ],
)
def test_results_are_those_without_copies(
    monkeypatch: pytest.MonkeyPatch, what: str, images: Sequence[int], filters: Sequence[int], options: dict[str, int]
) -> None:
    monkeypatch.setattr(staging, "_OF_CONTRACTION", 1e9)
    inputs, Y = convolved(what, images, filters, **options)
    assert rules_of(Y, SIM).count("elementwise") >= 1
    arrays = [integers(tuple(shape), "float32", seed) for seed, shape in enumerate((images, filters))]
    (got,) = testing.run(
        tw.build(tw.auto_schedule(Y, SIM), [*inputs, Y], SIM, "conv"), arrays, [(shape_of(Y), "float32")]
    )
    functional: Any = pytest.importorskip("torch.nn.functional")
    x, w = (functional.torch.from_numpy(array.astype("float64")) for array in arrays)
    how = {"stride": options.get("stride", 1), "padding": options.get("margin", 0), "groups": options.get("groups", 1)}
    np.testing.assert_array_equal(got, getattr(functional, f"{what}{len(images) - 2}d")(x, w, **how).numpy())


def test_a_grouped_transposed_convolution_with_a_stride_is_a_product_of_matrices() -> None:
    """Rows are the phases of a group's filters."""
    _, Y = convolved("conv_transpose", (8, 32, 16, 32, 32), (32, 32, 3, 3, 3), stride=2, margin=1, groups=2)
    plan = tw.auto_schedule(Y, GPU).plan
    assert plan is not None
    (why,) = (decision.why for decision in plan if decision.rule == TILES)
    assert why.startswith("256 rows") and why.endswith("K 128, in float32, 16 of them")


def symmetric(size: int) -> tuple[list[Tensor], Tensor]:
    """The product of two matrices, to each of which its transpose is added."""
    inputs = [te.placeholder((size, size), name=name) for name in "AB"]
    k = te.reduce_axis((0, size), "k")

    def whole(A: Tensor) -> Tensor:
        turned = te.compute(A.shape, lambda i, j: A(j, i), name="turned")
        return te.compute(A.shape, lambda i, j: A(i, j) + turned(i, j), name="whole")

    a, b = map(whole, inputs)
    return inputs, te.compute((size, size), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")


def test_operands_of_several_elements_are_stored_where_many_tiles_read_them() -> None:
    turned = "transpose through shared memory"
    assert rules_of(symmetric(4096)[1]) == [turned, turned, TILES]
    assert rules_of(symmetric(256)[1]) == [TILES]


@pytest.mark.parametrize("size", [40, 67])
def test_results_are_those_of_stored_operands(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(staging, "_LAUNCH", -1.0)
    inputs, C = symmetric(size)
    assert rules_of(C, SIM) == ["transpose through shared memory"] * 2 + [TILES]
    arrays = [integers((size, size), "float32", seed) for seed in range(2)]
    (got,) = testing.run(
        tw.build(tw.auto_schedule(C, SIM), [*inputs, C], SIM, "C"), arrays, [((size, size), "float32")]
    )
    a, b = (one.astype("float64") for one in arrays)
    np.testing.assert_array_equal(got, (a + a.T) @ (b + b.T))


def test_a_transpose_that_is_added_goes_through_shared_memory() -> None:
    A, B = te.placeholder((3, 50, 66), name="A"), te.placeholder((3, 66, 50), name="B")
    T = te.compute(A.shape, lambda n, i, j: B(n, j, i), name="T")
    C = te.compute(A.shape, lambda *at: A(*at) + T(*at), name="C")
    assert rules_of(C, SIM) == ["transpose through shared memory"]
    arrays = [integers(shape, "float32", seed) for seed, shape in enumerate(((3, 50, 66), (3, 66, 50)))]
    (got,) = testing.run(tw.build(tw.auto_schedule(C, SIM), [A, B, C], SIM, "C"), arrays, [((3, 50, 66), "float32")])
    np.testing.assert_array_equal(got, arrays[0] + arrays[1].transpose(0, 2, 1))


def test_a_thread_has_sixteen_elements_of_a_column_at_least() -> None:
    """Fewer cost less than what adds up the sums of so many threads."""
    A, k = te.placeholder((16, 256, 256), name="A"), te.reduce_axis((0, 256), "k")
    plan = tw.auto_schedule(te.compute((16, 256), lambda i, j: te.sum(A[i, k, j], axis=k), name="C"), GPU).plan
    assert plan is not None and [decision["threads"] for decision in plan] == [16]


def test_a_product_under_a_condition_is_stored_from_registers_of_its_own() -> None:
    k, A, B = te.reduce_axis((0, 64), "k"), te.placeholder((64, 64), name="A"), te.placeholder((64, 64), name="B")
    C = te.compute((64, 64), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    L = te.compute(C.shape, lambda i, j: te.if_then_else(i >= j, C[i, j], 0.0), name="L")
    plan = tw.auto_schedule(L, GPU).plan
    assert plan is not None and [decision.stages for decision in plan] == [("L", "C_product", "C")]
