"""What `Function.report` says of kernels that are known."""

from __future__ import annotations

import numpy as np
import pytest

import tilewright as tw
from tilewright import schedules, te
from tilewright.backend.sass import find_disassembler
from tilewright.report import KernelReport, Machine, Report
from tilewright.report.occupancy import occupancy_of
from tilewright.report.work import Work
from tilewright.runtime.host_program import KernelLaunch

CUDA = "cuda -arch=sm_90a"


@pytest.mark.sweep
def test_matrix_product() -> None:
    func = tw.build(*schedules.sgemm(1024, 512, 256, tile=(128, 128), split_k=1), target=CUDA, name="sgemm")
    report = func.report()
    # The stage that stores adds 0.
    assert report.work == Work(2 * 1024 * 512 * 256 + 1024 * 512, 4 * (1024 * 256 + 256 * 512 + 1024 * 512))
    (kernel,) = report.kernels
    assert kernel.launch == func.launch_config().launches[0]
    assert kernel.spills == 0 and kernel.notes == ()
    assert kernel.occupancy is not None and kernel.occupancy.limit == "registers"
    assert kernel.instructions["barrier"][0] == func.ptx.count("barrier.sync") + func.ptx.count("bar.sync")
    assert "global store, 16 bytes" in kernel.instructions
    text = str(report).splitlines()
    assert text[0] == "sgemm: 269 M operations, 3.67 MB at the least, 73.3 operations a byte"
    # Before it, where there is a GPU, what bounds it there.
    assert "sgemm_kernel0: grid 4 x 8 = 32, block 16 x 16 = 256, 16640 bytes of shared memory" in text


@pytest.mark.sweep
def test_tensor_cores() -> None:
    func = tw.build(*schedules.matmul_mma(512, 512, 512, "bfloat16", stages=4), target=CUDA, name="mm")
    report = func.report()
    (kernel,) = report.kernels
    assert (kernel.stages, kernel.tensor_type, kernel.spills) == (4, "bf16", 0)
    # A step of 64 along k, for 4 x 8 tiles of a warp.
    assert kernel.instructions["mma.sync"][0] == 4 * 4 * 8
    assert "131072 bytes of shared memory in 4 stages\n" in str(report)
    assert report.work is not None and report.work.operations == 2 * 512**3


@pytest.mark.sweep
def test_what_was_meant_is_there() -> None:
    """Of warpgroups' products and of warps', each op beside the instructions that it became."""
    func = tw.build(*schedules.matmul_wgmma(512, 512, 512, "bfloat16", "bfloat16"), target=CUDA, name="mm")
    (kernel,) = func.report().kernels
    # A result of 256 columns is stored in panels of 64, one after the other.
    assert kernel.meant == {"wgmma": 2, "TMA load": 2, "TMA store": 4, "stmatrix": 4, "register budget": 2}
    # Four of 32 bytes along k for each, a store of matrices for each 16 columns and one of a tile for each 64.
    counts = {kind: kernel.instructions[kind][0] for kind in kernel.meant}
    assert counts.pop("TMA load") >= 3
    assert counts == {"wgmma": 8, "TMA store": 4, "stmatrix": 16, "register budget": 2}
    assert kernel.mismatches == ()
    func = tw.build(*schedules.matmul_mma(512, 512, 512, "bfloat16"), target=CUDA, name="mm")
    (kernel,) = func.report().kernels
    assert kernel.meant.keys() == {"mma.sync", "ldmatrix", "cp.async"} and kernel.mismatches == ()


@pytest.mark.sweep
def test_clusters_of_the_schedule() -> None:
    scheduled = schedules.matmul_wgmma(512, 512, 512, "bfloat16", "bfloat16", tile=(128, 128), cluster=(2, 1))
    report = tw.build(*scheduled, target=CUDA, name="mm").report()
    assert report.kernels[0].launch.cluster == (1, 2, 1)
    assert ", clusters of 1 x 2 = 2, " in str(report)


def test_what_was_not_meant_is_named() -> None:
    launch = KernelLaunch("f_kernel0", (1, 1, 1), (32, 1, 1), 0, {})
    counts = {"mma.sync": (4, 8), "local memory": (0, 12), "ldmatrix": (2, 0)}
    kernel = KernelReport(launch, 32, 48, None, counts, (), meant={"mma.sync": 1, "ldmatrix": 2})
    assert kernel.mismatches == (
        "ldmatrix: 2 ops of the kernel are to be that, none is in SASS",
        "local memory: 12 in SASS, for what was to be in registers",
    )
    assert str(kernel).splitlines()[2:] == [
        "  instructions    ops    PTX   SASS",
        "  mma.sync          1      4      8",
        "  ldmatrix          2      2      0",
        "  local memory             0     12",
        "  mismatch: ldmatrix: 2 ops of the kernel are to be that, none is in SASS",
        "  mismatch: local memory: 12 in SASS, for what was to be in registers",
    ]
    # Without a disassembler PTX has to do.
    counts = {"wgmma": (0, None)}
    kernel = KernelReport(launch, 32, 0, None, counts, (), meant={"wgmma": 1})
    assert kernel.mismatches == ("wgmma: 1 op of the kernel is to be that, none is in PTX",)


@pytest.mark.sweep
@pytest.mark.skipif(find_disassembler() is None, reason="no disassembler is installed")
def test_machine_code_is_counted() -> None:
    func = tw.build(*schedules.sgemm(256, 256, 256), target=CUDA, name="sgemm")
    meant, found = func.report().kernels[0].instructions["multiply-add"]
    assert meant > 500 and found is not None and found > 500


@pytest.mark.sweep
def test_symbolic_extents() -> None:
    n = te.var("n")
    A = te.placeholder((n, 4), "float16", "A")
    padded = te.compute((n + 2, 4), lambda i, j: te.if_then_else(i < n, A[i, j], te.const(0, "float16")), name="padded")
    B = te.compute((n, 4), lambda i, j: padded[i + 1, j] * padded[i + 2, j], name="B")
    s = te.create_schedule(B.op)
    for stage in (padded, B):
        s[stage].bind(s[stage].fuse(*s[stage].op.axis), te.thread_axis("blockIdx.x"))
    func = tw.build(s, [A, B], target=CUDA, name="products")
    report = func.report(np.empty((10, 4), "float16"), np.empty((10, 4), "float16"))
    assert report.work == Work(operations=40, bytes=2 * 80)
    assert [kernel.launch.grid[0] for kernel in report.kernels] == [48, 40]


def test_no_kernels() -> None:
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1, name="B")
    func = tw.build(te.create_schedule(B.op), [A, B], target="cpu", name="increment")
    with pytest.raises(tw.TilewrightError) as error:
        func.report()
    assert str(error.value) == (
        'increment is compiled for cpu, and only target cuda makes a ptx: build it for "cuda", which needs no GPU'
    )


def test_occupancy() -> None:
    # The figures of CUDA's occupancy calculator.
    for threads, registers, shared, blocks, limit in (
        (1024, 32, 0, 2, "threads"),
        (256, 128, 0, 2, "registers"),
        (96, 255, 0, 2, "registers"),
        (32, 16, 0, 32, "blocks"),
        (64, 32, 227 * 1024, 1, "shared memory"),
    ):
        found = occupancy_of("sm_90a", threads, registers, shared)
        assert found is not None and (found.blocks, found.limit) == (blocks, limit)
    assert occupancy_of("sm_110", 32, 32, 0) is None


def test_roofline() -> None:
    machine = Machine("a GPU", 60e12, 4e12)
    copying, multiplying = Work(10**9, 4 * 10**9), Work(6 * 10**11, 10**8)
    assert Report("f", (), copying, machine).bound == "memory"
    assert Report("f", (), copying, machine).floor_seconds == pytest.approx(1e-3)
    assert Report("f", (), multiplying, machine).bound == "arithmetic"
    assert Report("f", (), multiplying, machine).floor_seconds == pytest.approx(1e-2)
    tensor = Machine("a GPU", 60e12, 4e12, {"bf16": 600e12})
    launch = KernelLaunch("f_kernel0", (1, 1, 1), (32, 1, 1), 0, {})
    kernel = KernelReport(launch, 32, 0, None, {}, (), stages=3, tensor_type="bf16")
    report = Report("f", (kernel,), multiplying, tensor)
    assert report.floor_seconds == pytest.approx(1e-3) and report.bound == "arithmetic"
    assert "bound by arithmetic on a GPU: no less than 1e+03 us with tensor cores of bf16" in str(report)
    assert Report("f", (kernel,), multiplying, machine).floor_seconds == pytest.approx(1e-2)
    assert Report("f", (), copying, None).bound is None and Report("f", (), None, machine).floor_seconds is None
