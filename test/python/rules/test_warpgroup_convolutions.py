"""Convolutions of images with channels last by the rule for warpgroups: results, what it is for, and what it chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import te, testing
from tilewright.backend.cubin import link
from tilewright.runtime.ndarray import as_dtype

SIM, H200 = "sim -arch=sm_90a", "cuda -arch=sm_90a -device=H200"
RULE = "convolutions by warpgroups"
Pair = tuple[int, int]


@dataclass
class Case:
    """A convolution of n images of `size`, with `ends`: what is computed of its elements."""

    n: int
    size: Pair
    channels: int
    filters: int
    kernel: Pair
    stride: Pair = (1, 1)
    padding: Pair = (0, 0)
    dilation: Pair = (1, 1)
    dtype: str = "bfloat16"
    layout: str = "frsc"  # of the filters
    residual: bool = False
    inlined: bool = False  # the padding
    bare: bool = False  # nothing follows
    first: bool = False  # are the channels of images, and not last

    @property
    def out(self) -> Pair:
        first, second = (
            (extent + 2 * margin - dilation * (taps - 1) - 1) // stride + 1
            for extent, margin, dilation, taps, stride in zip(
                self.size, self.padding, self.dilation, self.kernel, self.stride
            )
        )
        return first, second

    def program(self) -> tuple[list[te.Tensor], te.Tensor]:
        sums, (py, px), (height, width) = "int32" if self.dtype == "int8" else "float32", self.padding, self.size
        extents = {"f": self.filters, "r": self.kernel[0], "s": self.kernel[1], "c": self.channels}
        shape = (self.n, self.channels, *self.size) if self.first else (self.n, *self.size, self.channels)
        X = te.placeholder(shape, self.dtype, name="X")
        W = te.placeholder([extents[name] for name in self.layout], self.dtype, name="W")
        r, s, c = (te.reduce_axis((0, extents[name]), name) for name in "rsc")

        def pixel(n: Any, y: Any, x: Any, c: Any) -> te.Expr:
            inside = ([y >= py, y < height + py] if py else []) + ([x >= px, px + width > x] if px else [])
            y, x = y - py if py else y, x - px if px else x
            value = X[n, c, y, x] if self.first else X[n, y, x, c]
            return te.if_then_else(te.all(*inside), value, te.const(0, self.dtype)) if inside else value

        if (py or px) and not self.inlined:
            P = te.compute((self.n, height + 2 * py, width + 2 * px, self.channels), pixel, name="P")
            read = lambda *at: P[at]  # noqa: E731
        else:
            read = pixel

        def product(n: Any, y: Any, x: Any, f: Any) -> te.Expr:
            at = {"f": f, "r": r, "s": s, "c": c}
            (sy, sx), (dy, dx) = self.stride, self.dilation
            element = read(n, y * sy + r * dy, x * sx + s * dx, c).astype(sums)
            return te.sum(element * W(*(at[name] for name in self.layout)).astype(sums), axis=[r, s, c])

        shape = (self.n, *self.out, self.filters)
        Y = te.compute(shape, product, name="Y")
        if self.bare:
            return [X, W], Y
        B = te.placeholder((self.filters,), "float32", name="B")
        R = te.placeholder(shape, self.dtype, name="R")

        def end(n: Any, y: Any, x: Any, f: Any) -> te.Expr:
            value = te.max(Y[n, y, x, f].astype("float32") + B[f], -3.0)
            value = value + R[n, y, x, f].astype("float32") if self.residual else value
            return value if self.dtype == "int8" else value.astype(self.dtype)

        return [X, W, B, *([R] if self.residual else [])], te.compute(shape, end, name="Z")

    def exact(self, x: np.ndarray, w: np.ndarray, *more: np.ndarray) -> np.ndarray:
        w = w.astype("float64").transpose([self.layout.index(name) for name in "frsc"])
        x = x.transpose(0, 2, 3, 1) if self.first else x
        x = np.pad(x.astype("float64"), ((0, 0), *((one, one) for one in self.padding), (0, 0)))
        across = [dilation * (taps - 1) + 1 for dilation, taps in zip(self.dilation, self.kernel)]
        windows = np.lib.stride_tricks.sliding_window_view(x, across, axis=(1, 2))
        (sy, sx), (dy, dx) = self.stride, self.dilation
        y = np.einsum("nyxcij,fijc->nyxf", windows[:, ::sy, ::sx, :, ::dy, ::dx], w)
        if more:
            y = np.maximum(y + more[0], -3.0)
        return y + more[1].astype("float64") if len(more) > 1 else y


def check(case: Case, settings: dict[str, Any] | None = None) -> te.Schedule:
    """Runs a case by the rule, with numbers whose sums are exact."""
    inputs, output = case.program()
    s = tw.auto_schedule(output, SIM, settings={output.op.name: {"rule": RULE, **(settings or {})}})
    assert s.plan is not None and s.plan.of(output.op.name).rule == RULE
    func = tw.build(s, [*inputs, output], SIM, name="convolution")
    random = np.random.default_rng(case.channels + case.filters)
    arrays = [random.integers(-3, 4, [*map(int, one.shape)]).astype(as_dtype(one.dtype)) for one in inputs]  # type: ignore[arg-type]
    exact = case.exact(*arrays)
    (made,) = testing.run(func, arrays, [(exact.shape, output.dtype)])
    np.testing.assert_array_equal(made, exact.astype(as_dtype(output.dtype)))
    return s


CASES = [
    Case(1, (9, 9), 64, 64, (3, 3), padding=(1, 1)),
    Case(2, (9, 11), 64, 72, (3, 3), padding=(1, 1), layout="rscf", residual=True),
    Case(2, (9, 11), 64, 72, (3, 3), padding=(1, 1), residual=True, inlined=True),
    Case(2, (12, 11), 32, 64, (1, 1), stride=(2, 2)),
    Case(2, (12, 11), 48, 64, (3, 2), stride=(2, 1), padding=(1, 0), layout="rscf", residual=True),
    Case(1, (16, 17), 72, 64, (3, 3), padding=(2, 1), dilation=(2, 1), layout="rscf"),
    Case(1, (16, 17), 64, 128, (5, 5), stride=(3, 2), padding=(1, 2), layout="rscf", residual=True),
    Case(2, (9, 9), 64, 64, (3, 3), padding=(1, 1), dtype="int8"),
    Case(2, (9, 9), 32, 40, (3, 3), dtype="float16", layout="rsfc", residual=True),
    Case(1, (9, 9), 64, 64, (3, 3), dtype="float8_e4m3fn", padding=(1, 1), bare=True),
    Case(1, (9, 9), 64, 20, (3, 3), padding=(1, 1), residual=True),
    Case(2, (8, 8), 64, 64, (2, 2), stride=(2, 2), layout="srfc", bare=True),
    # Filters in an order that the instruction does not take, and images of few channels, are copied first.
    Case(2, (9, 9), 64, 64, (3, 3), padding=(1, 1), layout="fcrs"),
    Case(2, (9, 9), 64, 64, (3, 3), padding=(1, 1), layout="rscf", dtype="int8"),
    Case(2, (21, 21), 3, 64, (7, 7), stride=(2, 2), padding=(3, 3), layout="fcrs", residual=True, first=True),
    Case(2, (21, 19), 3, 64, (7, 5), stride=(2, 2), padding=(3, 2)),
    Case(3, (16, 16), 3, 40, (4, 4), stride=(4, 4), layout="fcrs", first=True, inlined=True),
    Case(3, (40, 40), 3, 32, (10, 10), stride=(10, 10), layout="fcrs", residual=True),
    Case(2, (41, 40), 2, 32, (9, 11), stride=(10, 9), padding=(1, 2), layout="fcrs"),
    Case(1, (16, 17), 1, 32, (3, 3), padding=(0, 1), bare=True),
    # So are filters, and images, that TMA does not step over: of no multiple of 16 bytes, or with channels first.
    Case(2, (9, 9), 60, 64, (3, 3), padding=(1, 1)),
    Case(1, (9, 11), 64, 60, (3, 3), layout="rscf", residual=True),
    Case(2, (9, 9), 64, 64, (3, 3), padding=(1, 1), first=True),
    Case(1, (13, 13), 3, 64, (3, 3), dilation=(2, 2), inlined=True),
    Case(1, (9, 9), 20, 64, (3, 3), padding=(1, 1), dtype="int8", bare=True),
]


@pytest.mark.sample(3)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_results(case: Case) -> None:
    check(case)


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(24))
def test_random_shapes(seed: int) -> None:
    random = np.random.default_rng(seed)

    def one_of(*values: Any) -> Any:
        return values[random.integers(len(values))]

    dtype = one_of("float16", "bfloat16", "bfloat16", "int8")
    kernel, stride, dilation = (
        (one_of(*some), one_of(*some)) for some in ((1, 2, 3, 3, 5, 7), (1, 1, 2, 3), (1, 1, 2))
    )
    padding = tuple(int(random.integers(0, taps)) for taps in kernel)
    size = tuple(
        int(random.integers(max(3, far * (taps - 1) + 1), 20)) for far, taps in zip(dilation, kernel, strict=True)
    )
    layout = one_of("frsc", "rsfc", "frsc" if dtype == "int8" else "rscf", "frsc" if dtype == "int8" else "srcf")
    channels = one_of(1, 3, 16, 48, 64, 80, 128) if dtype != "int8" and dilation == (1, 1) else one_of(16, 48, 128)
    filters = one_of(16, 32, 64, 72, 128) if layout[-1] == "f" else one_of(9, 64)
    ends = one_of({}, {"residual": True}, {"bare": True})
    case = Case(
        one_of(1, 2, 3), size, channels, filters, kernel, stride, padding, dilation, dtype, layout,
        inlined=one_of(True, False), **ends,
    )  # fmt: skip
    if case.n * case.out[0] * case.out[1] < 16 or kernel == (1, 1) and stride == (1, 1):
        case.size, case.kernel = (19, 19), (3, 3)
    check(case)


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(6))
def test_every_tile(seed: int) -> None:
    """A tile of the choice, of one image or of several."""
    case = Case(3, (10, 17), 64, 96, (3, 3), padding=(1, 1), layout="rscf", residual=True)
    plan = tw.auto_schedule(case.program()[1], H200, settings={"Z": {"rule": RULE}}).plan
    assert plan is not None
    (choice,) = plan.of("Z").choices
    some = np.random.default_rng(seed).permutation(len(choice.alternatives))[:3]
    for number in some:
        s = check(case, {"configuration": choice.alternatives[number]})
        assert s.plan is not None and s.plan.of("Z")["configuration"] == choice.alternatives[number]


def rule_of(output: te.Tensor, target: str = H200) -> str:
    plan = tw.auto_schedule(output, target).plan
    assert plan is not None
    return plan.decisions[-1].rule


def test_the_faster_rule_by_the_models() -> None:
    large = Case(64, (56, 56), 64, 64, (3, 3), padding=(1, 1), layout="rscf", residual=True)
    assert rule_of(large.program()[1]) == RULE
    assert rule_of(large.program()[1], "cuda -arch=sm_80 -device=A100") == "tensor cores"
    s = tw.auto_schedule(large.program()[1], H200, settings={"Z": {"rule": "tensor cores"}})
    assert s.plan is not None and [one.rule for one in s.plan] == ["tensor cores"]


@pytest.mark.parametrize("batch", [1, 32])
@pytest.mark.parametrize(("size", "channels", "filters"), [(56, 96, 192), (28, 192, 384), (14, 384, 768)])
def test_patches_whose_filters_are_copied(batch: int, size: int, channels: int, filters: int) -> None:
    """Those of ConvNeXt-T: the copy takes less than loading pixels one by one, and ends while blocks come up."""
    case = Case(batch, (size, size), channels, filters, (2, 2), stride=(2, 2), layout="fcrs")
    s = tw.auto_schedule(case.program()[1], H200)
    assert s.plan is not None and [one.rule for one in s.plan] == ["elementwise", RULE]
    assert str(s).startswith("# launched dependent\n")


@pytest.mark.parametrize("pixels", [(4, 4, 4), (16, 2, 2), (16, 1, 4)])
def test_tiles_of_several_small_images(pixels: tuple[int, int, int]) -> None:
    """Images of 14 x 14 fill some of these, and none of 8 x 8."""
    case = Case(18, (4, 6), 64, 32, (2, 2), layout="rscf", residual=True)
    check(case, {"configuration": (("share_rows", False), ("tile", (*pixels, 32)))})


@pytest.mark.parametrize(("filters", "width"), [(80, 80), (320, 160), (320, 112), (96, 96), (240, 240)])
def test_filters_in_equal_parts(filters: int, width: int) -> None:
    """Tiles of 128 filters would be a half empty."""
    case = Case(1, (9, 10), 64, filters, (3, 3), padding=(1, 1), layout="rscf")
    check(case, {"configuration": (("share_rows", False), ("tile", (1, 8, 8, width)))})


@pytest.mark.parametrize("channels", [48, 64])
def test_copies_whose_pixels_begin_at_sectors(channels: int) -> None:
    """Of pixels of 80 bytes."""
    case = Case(2, (12, 11), 40, 56, (3, 3), padding=(1, 1), residual=True)
    s = check(case, {"configuration": (("channels", channels), ("share_rows", True), ("tile", (1, 8, 8, 64)))})
    assert s.plan is not None and [one.rule for one in s.plan] == ["elementwise", "elementwise", RULE]


def test_rows_that_begin_within_a_sector_are_few() -> None:
    """TMA takes longer for them: tiles of more pixels and filters have fewer for as many multiplications."""

    def tile(channels: int, filters: int) -> tuple[int, int, int, int]:
        case = Case(2, (116, 116), channels, filters, (3, 3), padding=(1, 1))
        plan = tw.auto_schedule(case.program()[1], H200, settings={"Z": {"rule": RULE}}).plan
        assert plan is not None
        return dict(plan.of("Z")["configuration"])["tile"]

    assert tile(288, 256) == (1, 32, 8, 64)
    assert tile(280, 256) == (1, 32, 8, 96)
    assert tile(320, 320)[3] == 80


@pytest.mark.parametrize(
    "case",
    [
        Case(32, (204, 204), 72, 16, (3, 3), stride=(2, 2)),  # TMA takes longer for its rows than the matmul
        Case(8, (56, 56), 64, 64, (1, 1)),  # a matmul
        Case(8, (90, 90), 64, 64, (3, 3), stride=(9, 9)),
    ],
    ids=str,
)
def test_other_rules_take_the_rest(case: Case) -> None:
    assert rule_of(case.program()[1]) != RULE


@pytest.mark.parametrize(("n", "size"), [(1, 28), (16, 7), (64, 14)])
def test_pixels_that_fill_no_whole_tiles(n: int, size: int) -> None:
    """Of one tap, whose place in the kernel is no part of a pixel's."""
    inputs, output = Case(n, (size, size), 128, 512, (1, 1), layout="rscf").program()
    s = tw.auto_schedule(output, H200)
    assert "wgmma" in tw.build(s, [*inputs, output], H200, name="convolution").ptx


def test_a_margin_of_other_values_is_no_margin() -> None:
    """What is beside the images is 1, and then what reads the places outside of a triangle is 0."""

    def made(condition: Any, value: float) -> te.Tensor:
        X, W = (te.placeholder(shape, "float16") for shape in ((8, 32, 32, 64), (64, 3, 3, 64)))

        def element(n: Any, y: Any, x: Any, c: Any) -> te.Expr:
            return te.if_then_else(condition(y, x), X[n, y - 1, x - 1, c], te.const(value, "float16"))

        P = te.compute((8, 34, 34, 64), element, name="P")
        r, s, c = (te.reduce_axis((0, extent), name) for extent, name in ((3, "r"), (3, "s"), (64, "c")))
        return te.compute(
            (8, 32, 32, 64),
            lambda n, y, x, f: te.sum(
                P[n, y + r, x + s, c].astype("float32") * W[f, r, s, c].astype("float32"), axis=[r, s, c]
            ),
            name="Y",
        )

    def inside(y: Any, x: Any) -> te.Expr:
        return te.all(y >= 1, y < 33, x >= 1, x < 33)

    assert rule_of(made(inside, 0.0)) == RULE
    assert rule_of(made(inside, 1.0)) != RULE
    assert rule_of(made(lambda y, x: te.all(inside(y, x), y >= x), 0.0)) != RULE


def test_results_that_are_read_twice_are_an_epilogue_of_their_own() -> None:
    """Two stages of the program are outputs: the second one is another kernel."""
    case = Case(2, (9, 9), 64, 64, (3, 3), padding=(1, 1), bare=True)
    (X, W), Y = case.program()
    Z = te.compute(Y.shape, lambda *at: te.max(Y[at], 0.0).astype("bfloat16"), name="Z")
    s = tw.auto_schedule([Y, Z], SIM, settings={"Y": {"rule": RULE}})
    func = tw.build(s, [X, W, Y, Z], SIM)
    random = np.random.default_rng(0)
    arrays = [random.integers(-3, 4, [*map(int, one.shape)]).astype(as_dtype("bfloat16")) for one in (X, W)]  # type: ignore[arg-type]
    exact = case.exact(*arrays)
    made = testing.run(func, arrays, [(exact.shape, "float32"), (exact.shape, "bfloat16")])
    np.testing.assert_array_equal(made[0], exact.astype("float32"))
    np.testing.assert_array_equal(made[1], np.maximum(exact, 0).astype(as_dtype("bfloat16")))


def test_two_convolutions_one_behind_the_other() -> None:
    first = Case(1, (9, 9), 64, 64, (3, 3), padding=(1, 1))
    (X, W, B), Y = first.program()
    V = te.placeholder((3, 3, 64, 64), "bfloat16", name="V")
    r, s, c = (te.reduce_axis((0, extent), name) for extent, name in ((3, "r"), (3, "s"), (64, "c")))
    Z = te.compute(
        (1, 7, 7, 64),
        lambda n, y, x, f: te.sum(
            Y[n, y + r, x + s, c].astype("float32") * V[r, s, c, f].astype("float32"), axis=[r, s, c]
        ),
        name="second",
    )
    made = tw.auto_schedule(Z, SIM, settings={"Z": {"rule": RULE}, "second": {"rule": RULE}})
    assert made.plan is not None and [one.rule for one in made.plan] == [RULE, RULE]
    func = tw.build(made, [X, W, B, V, Z], SIM)
    random = np.random.default_rng(0)
    arrays = [random.integers(-1, 2, [*map(int, one.shape)]).astype(as_dtype(one.dtype)) for one in (X, W, B, V)]  # type: ignore[arg-type]
    between = first.exact(*arrays[:3]).astype(as_dtype("bfloat16"))
    exact = Case(1, (9, 9), 64, 64, (3, 3), layout="rscf").exact(between, arrays[3])
    (got,) = testing.run(func, arrays, [(exact.shape, "float32")])
    np.testing.assert_allclose(got, exact, rtol=1e-6)


def test_kernels_load_by_tma_and_keep_sums_in_registers() -> None:
    case = Case(64, (56, 56), 64, 64, (3, 3), padding=(1, 1), layout="rscf", residual=True)
    inputs, output = case.program()
    func = tw.build(tw.auto_schedule(output, H200), [*inputs, output], H200, name="convolution")
    assert "wgmma.mma_async" in func.ptx and "cp.async.bulk.tensor.4d.shared::cluster" in func.ptx
    linked = link(func.ptx, "sm_90a")
    assert not linked.notes
    assert {(kernel.spill_store_bytes, kernel.stack_bytes) for kernel in linked.resources.values()} == {(0, 0)}
