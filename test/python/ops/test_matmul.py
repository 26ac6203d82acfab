"""tw.ops.matmul: every option against NumPy, refusals, and how a schedule is chosen."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import tilewright as tw
from tilewright import ops, schedules, te, testing
from tilewright.devices import find
from tilewright.runtime.ndarray import as_dtype
from tilewright.schedules.matmuls import selection
from tilewright.schedules.matmuls.candidates import candidates, refinements
from tilewright.schedules.matmuls.cost_model import estimate
from tilewright.schedules.matmuls.problem import Choice, Problem

H200, A100 = find("H200"), find("A100")
SMALL = {"tile": (16, 32), "warps": (1, 2)}


def random(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    if dtype == "int8":
        return rng.integers(-9, 9, shape, dtype=np.int8)
    return rng.standard_normal(shape).astype("float32").astype(as_dtype(dtype))


def expected(a: Any, b: Any, **options: Any) -> Any:
    a, b = a.astype("float64"), b.astype("float64")
    a = a.swapaxes(-1, -2) if options.get("transpose_a") else a
    b = b.swapaxes(-1, -2) if options.get("transpose_b") else b
    value = options.get("scale", 1.0) * (a @ b)
    if options.get("bias") is not None:
        value = value + options["bias"].astype("float64")
    activation = options.get("activation")
    if activation == "relu":
        value = np.maximum(value, 0)
    elif activation == "silu":
        value = value / (1 + np.exp(-value))
    elif activation in ("gelu", "gelu_tanh"):
        value = 0.5 * value * (1 + np.tanh(np.sqrt(2 / np.pi) * (value + 0.044715 * value**3)))
    return value if options.get("residual") is None else value + options["residual"].astype("float64")


@pytest.mark.sample(6)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize(
    ("dtype", "options"),
    [
        ("bfloat16", {}),
        ("float16", {"transpose_a": True, "activation": "relu", "scale": 0.5}),
        ("float16", {"transpose_b": True, "activation": "gelu", "bias": True}),
        ("bfloat16", {"activation": "gelu_tanh", "bias": True, "residual": True, "out_dtype": "float32"}),
        ("float32", {"precision": "tf32", "activation": "silu", "residual": True, "scale": 0.25}),
        ("int8", {"transpose_b": True}),
        ("int8", {"scale": 0.01, "activation": "relu", "out_dtype": "float16"}),
    ],
)
def test_options(target: str, dtype: str, options: dict[str, Any]) -> None:
    M, N, K = 20, 40, 48
    a = random((K, M) if options.get("transpose_a") else (M, K), dtype)
    b = random((N, K) if options.get("transpose_b") else (K, N), dtype, 1)
    arrays = {
        name: random(shape, "bfloat16", 2) for name, shape in (("bias", (N,)), ("residual", (M, N))) if name in options
    }
    given = options | arrays
    got = ops.matmul(a, b, target=target, choice=SMALL if target == "sim" else None, **given)
    assert str(got.dtype) == options.get("out_dtype", "int32" if dtype == "int8" else dtype)
    exact = expected(a, b, **given)
    # Two approximations of gelu differ by less than a thousandth.
    rounding = {"float16": 2**-10, "bfloat16": 2**-7}.get(str(got.dtype), 2**-9 if dtype == "float32" else 1e-5)
    slack = 2e-3 if "gelu" in options.get("activation", "") else 1e-4
    assert np.abs(got.astype("float64") - exact).max() <= slack + rounding * np.abs(exact).max()
    assert dtype != "int8" or options.get("scale") or (got == exact).all()


@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_batches(target: str) -> None:
    a, b = random((3, 20, 24), "float16"), random((3, 40, 24), "float16", 1)
    residual = random((3, 20, 40), "float16", 2)
    got = ops.matmul(
        a, b, residual=residual, transpose_b=True, target=target, choice=SMALL if target == "sim" else None
    )
    exact = expected(a, b, residual=residual, transpose_b=True)
    assert np.abs(got.astype("float64") - exact).max() <= 2**-9 * np.abs(exact).max()


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize(
    ("bias_dtype", "residual_dtype"), [("float32", "float16"), ("float16", None), (None, "float32"), ("int32", "int32")]
)
def test_floats_are_added_to_sums_of_integers(target: str, bias_dtype: str | None, residual_dtype: str | None) -> None:
    """Fractions of a bias and a residual count: nothing is cut to an integer on the way."""
    a, b = random((20, 48), "int8"), random((48, 40), "int8", 1)
    given = {
        "bias": None if bias_dtype is None else (random((40,), "float32", 2) * 3).astype(bias_dtype),
        "residual": None if residual_dtype is None else (random((20, 40), "float32", 3) * 3).astype(residual_dtype),
    }
    options = {name: array for name, array in given.items() if array is not None}
    choice = {} if target == "cpu" else {"choice": SMALL}
    out_dtype = "int32" if bias_dtype == "int32" else "float32"
    got = ops.matmul(a, b, **options, out_dtype=out_dtype, target=tw.Target(target), **choice)
    assert got.dtype == out_dtype
    np.testing.assert_allclose(got, expected(a, b, **options), rtol=1e-6)


def test_rows_of_several_dimensions() -> None:
    a, b, bias = random((2, 3, 5, 24), "float16"), random((40, 24), "float16", 1), random((40,), "float16", 2)
    residual = random((2, 3, 5, 40), "float16", 3)
    exact = expected(a, b, bias=bias, residual=residual, transpose_b=True)
    for got in (
        ops.matmul(a, b, bias, residual, transpose_b=True),
        ops.matmul(a, b, bias, residual=residual, transpose_b=True),
    ):
        assert got.shape == (2, 3, 5, 40)
        assert np.abs(got.astype("float64") - exact).max() <= 2**-9 * np.abs(exact).max()
    with pytest.raises(ValueError) as error:
        ops.matmul(a, b)
    assert str(error.value) == "matmul: expected operands that fit, got shapes (2, 3, 5, 24) and (40, 24)"


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", ["cpu", "sim"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(
    ("shape_a", "shape_b"),
    [
        ((2, 3, 5, 24), (2, 3, 24, 7)),
        ((2, 1, 5, 24), (3, 24, 7)),
        ((5, 24), (3, 24, 7)),
        ((2, 5, 24), (24, 7)),
        ((24,), (24, 7)),
        ((2, 5, 24), (24,)),
        ((24,), (24,)),
        ((24,), (2, 1, 24, 7)),
        ((2, 2, 0, 24), (2, 2, 24, 7)),
        ((2, 1, 3, 0), (4, 0, 7)),
    ],
)
def test_any_rank(shape_a: tuple[int, ...], shape_b: tuple[int, ...], dtype: str, target: str) -> None:
    a, b = random(shape_a, dtype), random(shape_b, dtype, 1)
    exact = np.matmul(a.astype("float64"), b.astype("float64"))
    got = ops.matmul(a, b, target=tw.Target(target))
    assert got.shape == exact.shape and got.dtype == np.dtype(dtype)
    np.testing.assert_allclose(got.astype("float64"), exact, rtol=2e-3 if dtype == "float16" else 1e-5, atol=2e-3)
    if len(shape_b) > 1 and min(len(shape_a), len(shape_b)) > 1:
        turned = np.ascontiguousarray(np.swapaxes(b, -1, -2))
        bias, residual = random(shape_b[-1:], dtype, 2), random(exact.shape, dtype, 3)
        got = ops.matmul(a, turned, bias, residual, transpose_b=True, target=tw.Target(target))
        whole = exact + bias.astype("float64") + residual.astype("float64")
        np.testing.assert_allclose(got.astype("float64"), whole, rtol=2e-3 if dtype == "float16" else 1e-5, atol=4e-3)


def test_float32_is_exact_unless_told() -> None:
    a, b = random((33, 70), "float32"), random((70, 45), "float32", 1)
    for target in ("cpu", "sim"):
        assert np.abs(ops.matmul(a, b, target=target) - a.astype("float64") @ b).max() < 1e-4


def test_a_place_for_the_result() -> None:
    a, b, c = random((4, 8), "float16"), random((8, 8), "float16", 1), np.full((4, 8), np.nan, "float16")
    assert ops.matmul(a, b, out=c) is c
    assert np.abs(c - expected(a, b)).max() < 1e-2


def test_it_is_compiled_once() -> None:
    a, b = te.placeholder((64, 64), "float16", name="a"), te.placeholder((64, 64), "float16", name="b")
    func = ops.matmul.function(a, b, target="cuda -arch=sm_90a")
    assert (
        ops.matmul.function(
            ops.Operand((64, 64), "float16"), np.zeros((64, 64), "float16"), target=tw.Target("cuda", arch="sm_90a")
        )
        is func
    )
    assert ops.matmul.function(a, b, transpose_a=True, target="cuda -arch=sm_90a") is not func


def test_the_schedule_is_one_to_change() -> None:
    a, b = ops.Operand((64, 64), "float16"), ops.Operand((64, 64), "float16")
    s, (A, B, C) = ops.matmul.schedule(a, b, choice={"tile": (64, 64), "warps": (2, 2)})
    assert "# C, blockIdx.y" in str(s)
    s[C].launch_bounds(2)
    assert ".minnctapersm 2" in tw.build(s, [A, B, C], "cuda -arch=sm_90a", name="mine").ptx


def test_a_choice_of_any_schedule() -> None:
    a, b = random((20, 48), "float16"), random((48, 40), "float16", 1)
    got = ops.matmul(a, b, target="sim", choice=Choice("matmul_mma", SMALL | {"split_k": 2, "block_k": 32}))
    assert np.abs(got - expected(a, b)).max() < 0.05


@pytest.mark.sweep
@pytest.mark.parametrize("arch", ["sm_80", "sm_86", "sm_89", "sm_120"])
def test_what_is_chosen_fits(arch: str) -> None:
    for shape in ((4096, 4096, 512), (256, 4096, 1024)):
        a, b = ops.Operand((shape[0], shape[2]), "bfloat16"), ops.Operand((shape[2], shape[1]), "bfloat16")
        launches = ops.matmul.function(a, b, target=f"cuda -arch={arch}").launch_config().launches
        most = 163 * 1024 if arch == "sm_80" else 99 * 1024
        assert all(launch.shared_bytes <= most for launch in launches)


def _elements(choice: Choice) -> int:
    rows, columns = choice.options["tile"]
    return rows * columns


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "int8"])
def test_what_is_tried_by_warpgroups_fits(dtype: str) -> None:
    """Registers and shared memory: what the model may choose is no error."""
    problem = Problem(4096, 4096, 512, dtype, "NT")
    found = [choice for choice in candidates(problem, H200) if choice.schedule == "matmul_wgmma"]
    largest = sorted({choice.options["tile"]: choice for choice in found}.values(), key=lambda one: -_elements(one))
    for choice in largest[:6]:
        s, tensors = schedules.matmul_wgmma(4096, 4096, 512, dtype, transpose_b=True, **choice.options)
        tw.lower(s, tensors, stage="gpu", target="cuda -arch=sm_90a")


def test_few_rows_have_a_tile_for_each_sm() -> None:
    found = [choice.options for choice in candidates(Problem(128, 12288, 4096, "bfloat16", "NT"), H200)]
    assert {"tile": (128, 96), "cluster": (1, 1)} in found and {"tile": (64, 192), "cluster": (1, 1)} in found
    # As many equal parts of each tile's steps as there are SMs for.
    assert {"tile": (128, 256), "cluster": (1, 1), "stream_k": True, "blocks": 96} in found


def test_kernels_that_follow_each_other_may_overlap() -> None:
    choice = Choice("matmul_mma", {"tile": (64, 64), "warps": (2, 2), "stages": 3, "split_k": 2})
    problem = Problem(64, 64, 4096, "bfloat16")
    tried = {device: [one.options for one in refinements(problem, choice, device)] for device in (A100, H200)}
    assert {**choice.options, "dependent": True} in tried[H200]
    assert not any("dependent" in options for options in tried[A100])


@pytest.mark.sweep
def test_refinements_can_be_scheduled() -> None:
    problem = Problem(300, 500, 400, "bfloat16")
    found = list(refinements(problem, Choice("matmul_mma", {"tile": (64, 64), "warps": (2, 2), "stages": 3}), A100))
    assert len(found) == 4
    for choice in found:
        schedules.matmul_mma(300, 500, 400, "bfloat16", **choice.options)
    problem = Problem(2048, 4096, 512, "bfloat16")
    found = list(refinements(problem, Choice("matmul_wgmma", {"tile": (64, 256)})))
    assert [choice.options for choice in found if "consumers" in choice.options] == [
        {"tile": (64, 256), "consumers": 2},
        {"tile": (64, 256), "consumers": 2, "cluster": (1, 1)},
    ]
    for choice in found:
        s, tensors = schedules.matmul_wgmma(2048, 4096, 512, "bfloat16", "bfloat16", **choice.options)
        tw.lower(s, tensors, stage="gpu")


def message(error: type[Exception], *arrays: Any, **options: Any) -> str:
    with pytest.raises(error) as caught:
        ops.matmul.schedule(*arrays, **options)
    return str(caught.value)


def test_refusals() -> None:
    a, b = ops.Operand((4, 8), "float16"), ops.Operand((8, 6), "float16")
    assert message(ValueError, a, a) == "matmul: expected operands that fit, got shapes (4, 8) and (4, 8)"
    assert (
        message(ValueError, a, b, transpose_b=True)
        == "matmul: expected operands that fit, got shapes (4, 8) and (8, 6) transposed"
    )
    assert (
        message(TypeError, a, ops.Operand((8, 6), "int8"))
        == "matmul: expected operands of one type, got float16 and int8"
    )
    assert (
        message(ValueError, a, ops.Operand((8,), "float16"), transpose_b=True)
        == "matmul: expected vectors or matrices, and only of matrices transposed ones, got (4, 8) and (8,) transposed"
    )
    assert (
        message(ValueError, a, b, activation="tanh")
        == "matmul: expected an activation of relu, gelu, gelu_tanh, silu, got 'tanh'"
    )
    assert message(ValueError, a, b, precision="tf32") == (
        "matmul: expected a precision of 'tf32', for operands of float32, or none, got 'tf32' for float16"
    )
    assert message(ValueError, a, b, bias=ops.Operand((4,), "float16")) == (
        "matmul: bias: expected shape (6,), got (4,)"
    )
    assert message(ValueError, a, b, residual=b) == "matmul: residual: expected shape (4, 6), got (8, 6)"
    call = (
        "matmul(a, b, bias=None, residual=None, *, transpose_a=False, transpose_b=False, activation=None, scale=1.0, "
        "out_dtype=None, acc_dtype=None, precision=None, choice=None, target=None)"
    )
    assert message(TypeError, a) == f"matmul: missing a required argument: 'b': expected {call}"
    assert message(TypeError, a, b, None, None, True) == f"matmul: too many positional arguments: expected {call}"
    assert message(TypeError, a, 3) == "matmul: b: expected an array with a shape and a dtype, got int"
    n = te.var("n")
    assert message(TypeError, te.placeholder((n + 1, 8), "float16", name="A"), b) == (
        "matmul: a: expected extents that are numbers or te.var, got n + 1"
    )
    assert message(ValueError, te.placeholder((n, 8), "float16", name="A"), b) == (
        "expected a greatest value of M to choose a schedule for, as te.var(..., max=4096) has, got n"
    )
    with pytest.raises(TypeError, match=r"^softmax: x: expected extents that are numbers, got n$"):
        ops.softmax.schedule(te.placeholder((n, 8), name="x"))


@pytest.mark.sample(1)
@pytest.mark.parametrize("target", ["cpu", "sim"])
def test_one_function_for_any_number_of_rows(target: str) -> None:
    """And of columns of both factors, by either schedule: the options of a call stay what they are."""
    rows, columns, depth = te.var("rows", max=300), te.var("columns", max=96, divisible_by=8), te.var("depth", max=96)
    b, bias = (te.placeholder(shape, "float16") for shape in ((columns, depth), (columns,)))
    a, residual = (te.placeholder((rows, size), "float16") for size in (depth, columns))
    for choice in ({"tile": (64, 64)}, None):
        given = Choice("matmul_wgmma", choice) if choice else None
        f = ops.matmul.function(
            a, b, bias, residual, transpose_b=True, activation="relu", scale=0.5, choice=given, target=target
        )
        for M, N, K in ((1, 8, 8), (65, 72, 33), (300, 96, 96)):
            x, w = random((M, K), "float16"), random((N, K), "float16", 1)
            added = {"bias": random((N,), "float16", 2), "residual": random((M, N), "float16", 3)}
            exact = expected(x, w, transpose_b=True, activation="relu", scale=0.5, **added)
            (got,) = testing.run(f, [x, w, *added.values()], [((M, N), "float16")])
            assert np.abs(got.astype("float64") - exact).max() <= 1e-4 + 2**-10 * np.abs(exact).max()


def test_a_model_of_time_orders_choices() -> None:
    """Few rows take tiles of few rows; few tiles are split along k; large products take large tiles."""
    few = selection.choose(Problem(16, 8192, 8192, "bfloat16"), A100).options
    assert few["tile"][0] == 16
    deep = selection.choose(Problem(128, 128, 65536, "bfloat16"), A100).options
    assert deep.get("split_k", 1) > 1
    large = selection.choose(Problem(8192, 8192, 8192, "bfloat16"), A100).options
    assert large["tile"][0] * large["tile"][1] >= 128 * 128 and "split_k" not in large
    assert estimate(Problem(64, 64, 64, "bfloat16"), Choice("sgemm")) == float("inf")


def test_what_was_measured_is_chosen() -> None:
    """By its layout, too: products of the same extents stand in the table with each."""
    table = dict(selection.table(H200))
    assert len(table) > 40
    for problem, choice in table.items():
        assert selection.choose(problem, H200) == choice, problem


def test_a_near_product_has_other_tiles() -> None:
    """More than four times as many as there are SMs: some are narrower, or, where TMA cannot store
    such rows, blocks share the steps of the last."""
    measured = dict(selection.table(H200))[Problem(4096, 4096, 4096, "bfloat16", "NT")].options
    assert measured["narrower"] == 16
    near = selection.choose(Problem(4160, 4160, 4160, "bfloat16", "NT"), H200)
    assert near.options == {**measured, "narrower": 32}
    others = {name: value for name, value in measured.items() if name not in ("narrower", "serpentine_k")}
    near = selection.choose(Problem(4160, 4164, 4160, "bfloat16", "NT"), H200)
    assert near.options == {**others, "stream_k": True}


@pytest.mark.sample(2)
@pytest.mark.parametrize("layout", ["NN", "NT", "TN", "TT"])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (16, 8192, 8192), (4095, 4097, 4093), (4096, 4096, 512), (100, 50257, 768)]
)
def test_candidates_can_be_scheduled(shape: tuple[int, int, int], layout: str) -> None:
    found = list(candidates(Problem(*shape, "bfloat16", layout), H200))
    assert {choice.schedule for choice in found} == {"matmul_mma", "matmul_wgmma"}
    for choice in found[:: max(1, len(found) // 60)]:
        getattr(schedules, choice.schedule)(
            *shape, "bfloat16", transpose_a=layout[0] == "T", transpose_b=layout[1] == "T", **choice.options
        )


def test_warpgroups_multiply_where_there_are_any() -> None:
    for dtype in ("bfloat16", "float16"):
        for layout in ("NN", "NT", "TN", "TT"):
            chosen = selection.choose(Problem(4096, 4096, 4096, dtype, layout), H200)
            assert chosen.schedule == "matmul_wgmma"
            # Rows of the instruction are rows of C, or its columns.
            swaps = chosen.options.get("swap_ab", False)
            assert chosen.options["tile"] == ((256, 128) if swaps else (128, 256))
            assert selection.choose(Problem(4096, 4096, 4096, dtype, layout), A100).schedule == "matmul_mma"
    assert selection.choose(Problem(8192, 8192, 8192, "float8_e4m3fn", "NT"), H200).schedule == "matmul_wgmma"
    for dtype in ("float8_e4m3fn", "int8", "tf32"):  # transposed first, where k is not along their rows
        for layout in ("NN", "NT", "TN", "TT"):
            assert selection.choose(Problem(8192, 8192, 8192, dtype, layout), H200).schedule == "matmul_wgmma"


def test_what_a_run_found_is_taken_for_what_is_near(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"tile": [64, 64], "warps": [2, 2], "stages": 4}
    problem = {"M": 1000, "N": 4096, "K": 4096, "dtype": "bfloat16", "layout": "NT", "batch": 1}
    file = tmp_path / "matmul.json"
    file.write_text(
        json.dumps(
            {
                "runs": {
                    "NVIDIA H200": {
                        "arch": "sm_90a",
                        "entries": [{"problem": problem, "schedule": "matmul_mma", "options": options}],
                    }
                }
            }
        )
    )
    monkeypatch.setattr(selection, "TABLE", file)
    selection.table.cache_clear()
    try:
        found = Choice("matmul_mma", {"tile": (64, 64), "warps": (2, 2), "stages": 4})
        assert selection.choose(Problem(1024, 4096, 4096, "bfloat16", "NT"), H200) == found
        for other in (
            (Problem(4096, 4096, 4096, "bfloat16", "NT"), H200),
            (Problem(1000, 4096, 4096, "bfloat16", "NN"), H200),
            (Problem(1000, 4096, 4095, "bfloat16", "NT"), H200),
            (Problem(1024, 4096, 4096, "bfloat16", "NT"), A100),
            (Problem(1024, 4096, 4096, "bfloat16", "NT"), find("H100")),
        ):
            assert selection.choose(*other) != found
    finally:
        selection.table.cache_clear()


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float64", "bool"]
)
def test_types_of_sums_and_results(dtype: str) -> None:
    """Integers wrap around in their type, those of 8 bits in int32; float64 stays float64."""
    rng = np.random.default_rng(7)
    if dtype == "float64":
        a, b = rng.random((5, 70)), rng.random((70, 6))
    elif dtype == "bool":
        a, b = rng.random((5, 70)) < 0.5, rng.random((70, 6)) < 0.5
    else:
        info = np.iinfo(dtype)
        a, b = (rng.integers(info.min, info.max, shape, dtype, endpoint=True) for shape in ((5, 70), (70, 6)))
    expected = {"int8": "int32", "uint8": "int32", "bool": "float32"}.get(dtype, dtype)
    exact = a.astype(expected) @ b.astype(expected)
    got = ops.matmul(a, b, target="cpu")
    assert got.dtype == expected
    np.testing.assert_allclose(got, exact, rtol=1e-15 if dtype == "float64" else 0)
    np.testing.assert_allclose(ops.matmul(a[0], b, target="cpu"), exact[0], rtol=1e-15 if dtype == "float64" else 0)
    if dtype == "float64":
        bias = rng.random(6)
        for residual in (None, rng.random((5, 6))):
            got = ops.matmul(a, b, bias, residual, scale=0.1, target="cpu")
            np.testing.assert_allclose(got, 0.1 * exact + bias + (0 if residual is None else residual), rtol=1e-14)
