"""The field's programs run as they are on the simulator and on the processor, and compile for a GPU."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tvm
from compat.field import PROGRAMS, SIZES, convolutions, d2l, dense, injective, pooling, rows, sorting, winograd  # noqa: F401

CASES = [(name, size) for name, sizes in SIZES.items() for size in sizes]
# Schedules of loops, for a processor alone; statements in threads, for a GPU alone.
NO_THREADS = {name for name in PROGRAMS if name.endswith("_of_a_processor")}
THREADS = {
    "sort_by_odd_and_even_pairs", "non_maximum_suppression", "valid_first", "cumulative_sum",
}  # fmt: skip


def test_there_are_as_many_as_there_should_be() -> None:
    assert len(PROGRAMS) >= 40 and all(len(sizes) >= 2 for sizes in SIZES.values())


@pytest.mark.sample(60)
@pytest.mark.parametrize("target", ["llvm", "sim", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize(
    ("name", "size"), CASES, ids=lambda case: case if isinstance(case, str) else "x".join(map(str, case))
)
def test_program(name: str, size: tuple[int, ...], target: str) -> None:
    if name in (THREADS if target == "llvm" else NO_THREADS):
        pytest.skip(f"its schedule is for {'a GPU' if target == 'llvm' else 'a processor'}")
    if target == "cuda" and not tvm.cuda(0).exist:
        pytest.skip("no NVIDIA GPU here")
    s, args, arrays, expected = PROGRAMS[name](*size)
    func = tvm.build(s, args, target, name=name)
    dev = tvm.device(target, 0)
    given = [tvm.nd.array(array, dev) for array in arrays]
    out = [tvm.nd.array(tvm.testing.poisoned(one.shape, one.dtype), dev) for one in expected]
    func(*given, *out)
    for got, one in zip(out, expected):
        if one.dtype.kind in "iu":
            np.testing.assert_array_equal(got.numpy(), one)
        else:
            wide = 1e-5 if one.dtype == np.float32 else 2e-3
            np.testing.assert_allclose(got.numpy().astype("float64"), one.astype("float64"), rtol=wide, atol=wide)


@pytest.mark.sample(7)
@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - NO_THREADS))
def test_program_compiles_for_cuda(name: str) -> None:
    s, args, *_ = PROGRAMS[name](*SIZES[name][0])
    assert ".visible .entry" in tvm.build(s, args, "cuda -arch=sm_90a", name=name).imported_modules[0].get_source()
