"""Kernels that benchmarks write by hand, from the gpu stage to machine code or on the simulator: no GPU is needed."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections import Counter
from types import ModuleType

import ml_dtypes
import numpy as np
import pytest
from mlir import ir
from mlir.passmanager import PassManager

from tilewright.backend import sass
from tilewright.backend.cubin import Cubin, find_ptxas, link
from tilewright.backend.ptx import emit_ptx
from tilewright.ir import context
from tree import ROOT


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "bench" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # a dataclass looks its module up
    spec.loader.exec_module(module)
    return module


tile_gemm, tensor_cores_alone = _load("tile_gemm"), _load("tensor_cores_alone")


def build(gemm: object) -> Cubin:
    """The cubin, which neither spills nor costs speed that ptxas knows of."""
    with context():
        module = ir.Module.parse(gemm.text())  # pyright: ignore[reportAttributeAccessIssue]
        PassManager.parse(tile_gemm.PIPELINE).run(module.operation)
        cubin = link(emit_ptx(module), "sm_90a")
    (resources,) = cubin.resources.values()
    assert (resources.stack_bytes, resources.spill_store_bytes, resources.spill_load_bytes) == (0, 0, 0)
    notes = cubin.notes if find_ptxas() else [note for note in cubin.notes if "(C7504)" not in note[1]]
    assert not notes
    return cubin


def instructions(cubin: Cubin, *names: str) -> Counter[str]:
    """How often each instruction of these names stands in the machine code."""
    found = re.findall(rf"\b((?:{'|'.join(names)})[.\w]*)", sass.disassemble(cubin.image))
    return Counter(found)


@pytest.mark.sweep
def test_bf16() -> None:
    cubin = build(tile_gemm.Gemm(8192, 8192, 8192))
    if sass.find_disassembler() is None:
        pytest.skip("neither nvdisasm nor cuobjdump is installed")
    assert instructions(cubin, "HGMMA", "UTMALDG", "UTMASTG", "STSM") == {
        "HGMMA.64x256x16.F32.BF16": 8,
        "UTMALDG.2D": 1,
        "UTMALDG.2D.MULTICAST": 1,
        "UTMASTG.2D": 4,
        "STSM.16.M88.4": 16,
    }
    if find_ptxas():
        assert instructions(cubin, "USETMAXREG").keys() == {
            "USETMAXREG.DEALLOC.CTAPOOL",
            "USETMAXREG.TRY_ALLOC.CTAPOOL",
        }


@pytest.mark.sample(2)
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_layouts(transpose_a: bool, transpose_b: bool) -> None:
    build(tile_gemm.Gemm(512, 512, 256, transpose_a=transpose_a, transpose_b=transpose_b))


@pytest.mark.sweep
@pytest.mark.parametrize(
    ("dtype", "instruction"),
    [
        ("f16", "HGMMA.64x128x16.F32"),
        ("tf32", "HGMMA.64x128x8.F32.TF32"),
        ("f8E4M3FN", "QGMMA.64x128x32.F32.E4M3.E4M3"),
        ("i8", "IGMMA.64x128x32.S8.S8"),
    ],
)
def test_types(dtype: str, instruction: str) -> None:
    cubin = build(tile_gemm.Gemm(256, 256, 256, dtype=dtype, block_n=128, cluster=1, depth=2))
    if sass.find_disassembler() is not None:
        assert instructions(cubin, "[HQI]GMMA").keys() == {instruction}


@pytest.mark.sweep
def test_partial_sums_of_8_bit_floats() -> None:
    gemm = tile_gemm.Gemm(256, 256, 512, dtype="f8E4M3FN", block_n=128, depth=4, promote=True)
    cubin = build(gemm)
    if sass.find_disassembler() is not None:
        # As many as a thread has elements, in the loop.
        assert sum(instructions(cubin, "FADD").values()) == 64


@pytest.mark.sweep
def test_results_in_parts() -> None:
    cubin = build(tile_gemm.Gemm(256, 256, 128, dtype="tf32", store_n=64, depth=4))
    if sass.find_disassembler() is not None:
        assert instructions(cubin, "HGMMA").keys() == {"HGMMA.64x256x8.F32.TF32"}


def test_shapes_of_whole_tiles() -> None:
    with pytest.raises(ValueError, match=r"expected a shape of multiples of \(256, 256, 64\), got \(256, 100, 64\)"):
        tile_gemm.Gemm(256, 100, 64).text()


def test_tensor_cores_alone() -> None:
    """What the bench times of them alone adds up the slots of its ring round by round, and the first once more."""
    rounds, rng = 3, np.random.default_rng(0)
    a, b = (rng.standard_normal((rows, 256)).astype(ml_dtypes.bfloat16) for rows in (128, 256))
    kept = np.full((2, 64 * 256), np.nan, np.float32)
    tensor_cores_alone.build(2, rounds, "sim")(a, b, kept)
    x, y = a.astype(np.float64), b.astype(np.float64)
    expected = rounds * x @ y.T + x[:, :64] @ y[:, :64].T
    # In which order registers hold the sums is theirs to know.
    for half, rows in zip(kept, (expected[:64], expected[64:])):
        np.testing.assert_allclose(np.sort(half), np.sort(rows, axis=None), atol=1e-3)
