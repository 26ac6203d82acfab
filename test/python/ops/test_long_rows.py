"""Rows that are too long for registers, odd numbers of elements, and few results of many: on the simulator."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tilewright import Target, ops
from tilewright.ops import Operand

torch = pytest.importorskip("torch")
F = torch.nn.functional
SIM, GPU = Target("sim -device=H200"), "cuda -device=H200"
ROUNDING = {torch.float32: 2e-6, torch.float16: 2.0**-10, torch.bfloat16: 2.0**-7}


def drawn(*shape: int, dtype: Any = torch.float32) -> Any:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def check(found: Any, exact: Any, rounding: float) -> None:
    """NaN where NaN is due, and all else as near as rounding."""
    assert torch.equal(found.isnan(), exact.isnan())
    largest = max(1.0, exact[exact.isfinite()].abs().max().item()) if exact.isfinite().any() else 1.0
    off = torch.where(found.double() == exact, 0.0, (found.double() - exact).abs()).nan_to_num(0.0)
    assert off.max().item() <= rounding * largest


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ((2, 41001), torch.float32), ((2, 41001), torch.float16), ((2, 65544), torch.bfloat16),
        ((3, 741), torch.bfloat16), ((2, 33001), torch.float16), ((2, 90000), torch.float16),
    ],
)  # fmt: skip
def test_softmax(shape: tuple[int, int], dtype: Any) -> None:
    x, labels = drawn(*shape, dtype=dtype), torch.tensor([5, shape[1] - 1, 0][: shape[0]])
    rounding = ROUNDING[dtype]
    check(ops.softmax(x, target=SIM), torch.softmax(x.double(), -1), rounding)
    check(ops.log_softmax(x, target=SIM), torch.log_softmax(x.double(), -1), rounding)
    check(ops.cross_entropy(x, labels, target=SIM), F.cross_entropy(x.double(), labels, reduction="none"), rounding)


def test_softmax_of_what_is_not_finite() -> None:
    x = drawn(5, 41001)
    x[0, 5], x[1, 7], x[2] = torch.inf, torch.nan, -torch.inf
    x[3, ::2] = -torch.inf
    check(ops.softmax(x, target=SIM), torch.softmax(x.double(), -1), 2e-6)
    check(ops.log_softmax(x, target=SIM), torch.log_softmax(x.double(), -1), 2e-6)


@pytest.mark.sweep
def test_softmax_along_another_axis() -> None:
    x = drawn(41001, 3)
    check(ops.softmax(x, axis=0, target=SIM), torch.softmax(x.double(), 0), 2e-6)


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((7000, 77), 0), ((642, 326), 0), ((3000, 130), 0), ((2552, 5), 0), ((600, 1), 0), ((2, 105293), 1),
        ((1, 200001), 1), ((2, 131072), 1), ((3, 23003), 1),
    ],
)  # fmt: skip
def test_sums(shape: tuple[int, int], axis: int, dtype: Any) -> None:
    x = drawn(*shape, dtype=dtype)
    check(ops.sum(x, axis=axis, target=SIM), x.double().sum(axis), 4 * ROUNDING[dtype])
    check(ops.mean(x, axis=axis, target=SIM), x.double().mean(axis), 4 * ROUNDING[dtype])


@pytest.mark.sample(3)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("shape", [(3, 8861), (2, 33572), (2, 33001)])
def test_norms(shape: tuple[int, int], dtype: Any) -> None:
    x, g, b = drawn(*shape, dtype=dtype), drawn(shape[1], dtype=dtype), drawn(shape[1] + 1, dtype=dtype)[1:].clone()
    exact = F.layer_norm(x.double(), x.shape[-1:], g.double(), b.double())
    check(ops.layer_norm(x, g, b, target=SIM), exact, 4 * ROUNDING[dtype])
    exact = F.rms_norm(x.double(), x.shape[-1:], g.double(), 1e-5)
    check(ops.rms_norm(x, g, target=SIM), exact, 4 * ROUNDING[dtype])


@pytest.mark.sweep
@pytest.mark.parametrize("case", ["far from 0", "an outlier first", "alike", "not finite"])
def test_norms_in_one_pass(case: str) -> None:
    """Sums of the differences from about the mean: what the mean is, and what is sampled, costs no accuracy."""
    x = drawn(2, 6, 130, 60)
    if case == "far from 0":
        x = x + 100.0
    elif case == "an outlier first":
        x[:, :, 0, 0] = 300.0
    elif case == "alike":
        x = torch.full_like(x, 3.3)
    else:
        x[0, 1, 100, 7] = torch.inf
    g, b = drawn(6), drawn(7)[1:].clone()
    exact, rounding = F.group_norm(x.double(), 1, g.double(), b.double()), 2e-5 if case == "far from 0" else 2e-6
    check(ops.group_norm(x, g, b, groups=1, target=SIM), exact, rounding)
    check(ops.layer_norm(x, axis=(1, 2, 3), target=SIM), F.layer_norm(x.double(), x.shape[1:]), rounding)


def test_a_mean_and_a_variance_take_one_pass() -> None:
    function = ops.group_norm.function(Operand((16, 66, 256, 256), "float32"), groups=3, target=GPU)
    # The mean of some elements; sums in parts; what these are in all; and the results.
    assert len(function.launch_config().launches) == 4


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("op", "shapes", "kernels"),
    [
        # What is made of sums in parts is computed where the parts are combined.
        (ops.sum, [(118693, 77)], 2),
        # The maximum and the sum in one pass.
        (ops.softmax, [(88, 399603)], 3),
        (ops.softmax, [(934, 63317)], 1),
        (ops.softmax, [(2, 40000)], 1),
        (ops.layer_norm, [(4, 33572)], 1),
        # Chunks of rows, which follow one kernel that adds them up.
        (ops.cumsum, [(34, 252852)], 2),
    ],
)
def test_kernels(op: Any, shapes: list[tuple[int, int]], kernels: int) -> None:
    options = {"axis": 0} if op is ops.sum else {}
    function = op.function(*(Operand(shape, "float16") for shape in shapes), target=GPU, **options)
    assert len(function.launch_config().launches) == kernels


@pytest.mark.parametrize("op", [ops.softmax, ops.log_softmax])
def test_odd_rows_are_read_once(op: Callable[..., Any]) -> None:
    """24 elements a thread of a warp, which stay in its registers."""
    function = op.function(Operand((10803, 741), "bfloat16"), target=GPU)  # type: ignore[attr-defined]
    assert len(re.findall(r"ld\.global", function.ptx)) == len(re.findall(r"st\.global", function.ptx)) == 24
