"""What a GPU is: the table, the driver, and who goes by it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import tilewright as tw
from tilewright import devices, schedules
from tilewright.devices.present import _described


@pytest.mark.parametrize(
    ("name", "arch", "sms", "tflops"),
    [
        ("A100", "sm_80", 108, 312),
        ("RTX 4090", "sm_89", 128, 165),
        ("L4", "sm_89", 58, 121),
        ("H100", "sm_90a", 132, 989),
        ("H100 PCIe", "sm_90a", 114, 756),
        ("H200", "sm_90a", 132, 989),
        ("B200", "sm_100a", 148, 2250),
        ("RTX 5090", "sm_120a", 170, 209),
    ],
)
def test_peaks_are_those_of_the_datasheets(name: str, arch: str, sms: int, tflops: int) -> None:
    """Dense products of 16-bit types with 32-bit sums."""
    gpu = devices.find(name)
    instruction = next(one for one in ("tcgen05", "wgmma", "mma") if (one, "bfloat16") in gpu.rates)
    assert (gpu.arch, gpu.sms) == (arch, sms)
    assert gpu.peak(instruction, "bfloat16") / 1e12 == pytest.approx(tflops, rel=0.005)
    assert gpu.source


def test_memory_limits_are_those_that_the_compiler_checks() -> None:
    """A program that needs too much says how much there is."""

    def build(arch: str, limit: int) -> None:
        A = tw.te.placeholder((limit + 16,), "uint8", name="A")
        C = tw.te.compute((limit + 16,), lambda i: A[limit + 15 - i], name="C")
        s = tw.te.create_schedule(C.op)
        b, i = s[C].split(C.op.axis[0], nparts=1)
        s[C].bind(b, tw.te.thread_axis("blockIdx.x"))
        s[s.cache_read(A, "shared", [C])].compute_at(s[C], b)
        tw.build(s, [A, C], tw.Target("cuda", arch=arch), "f")

    known = [arch for arch in devices.architectures() if devices.capability_of(arch)]
    assert len(known) > 10
    for arch in known:
        limit = devices.default_for(arch).shared_bytes_per_block
        with pytest.raises(tw.ScheduleError, match=f"expected at most {limit} bytes of shared memory"):
            build(arch, limit)


def test_a_target_names_its_device() -> None:
    target = tw.Target("cuda -device=a100")
    assert target == tw.Target("cuda", device="a100") and target.arch == "sm_80"
    assert str(target) == "cuda -arch=sm_80 -device=a100" and tw.Target(str(target)) == target
    assert tw.Target(target).device == target.device == devices.find("A100")
    assert tw.Target("sim", device="RTX 4090").arch == "sm_89"
    assert tw.Target("cpu").device is None
    older = tw.Target("cuda", arch="sm_80", device="H200").device
    assert older is not None and older.sms == 132 and "wgmma" not in older.features
    assert {tw.Target("cuda", arch=arch).device.capability for arch in ("sm_90", "sm_90a")} == {90}  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: tw.Target("cuda", device="K80"),
            "expected a device of T4, A100, A100 40GB, A10, RTX 3090, Orin, RTX 4090, L4, L40S, H200, H100, H100 PCIe, "
            "B200, B300, RTX 5090, got 'K80'",
        ),
        (lambda: tw.Target("cpu", device="L4"), "expected no device for target cpu, got 'L4'"),
        (lambda: tw.Target("cuda -device=L4", device="T4"), "expected one device, got 'L4' and 'T4'"),
        (
            lambda: tw.Target("cuda", arch="sm_90a", device="L4"),
            "expected an architecture whose kernels run on NVIDIA L4 (sm_89), got 'sm_90a'",
        ),
        (
            lambda: tw.Target("cuda", arch="sm_12", device="L4"),
            "expected an architecture from sm_75 to sm_120, got 'sm_12'",
        ),
        (lambda: tw.Target("cuda", device=3), "expected the name of a device, got int"),  # type: ignore[arg-type]
    ],
)
def test_devices_that_there_are_not(make: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert str(caught.value) == message


def test_the_default_of_persistent_is_the_device() -> None:
    A = tw.te.placeholder((64,), name="A")
    B = tw.te.compute((64,), lambda i: A[i] + 1, name="B")
    for device, sms in (("H100 PCIe", 114), ("H200", 132)):
        s = tw.te.create_schedule(B.op)
        s[B].bind(B.op.axis[0], tw.te.thread_axis("blockIdx.x"))
        with tw.Target("cuda", device=device):
            s[B].persistent()
        assert f"{sms} blocks go through the tiles" in str(s)


def test_schedules_are_made_for_the_device() -> None:
    """A product of few tiles goes to as many blocks as the device has SMs for."""
    parts = []
    for device in ("L4", "H200"):
        with tw.Target("cuda", device=device):
            _, (_, _, C) = schedules.sgemm(128, 1024, 8192)
        (total,) = C.op.input_tensors
        parts.append(total.op.input_tensors[0].shape[0])
    assert parts == [8, 32]


def test_the_driver_says_what_is_present() -> None:
    """SMs of a part of a GPU are the driver's; rates of what the table does not have are its capability's."""
    attributes = {
        "COMPUTE_CAPABILITY_MAJOR": 9, "COMPUTE_CAPABILITY_MINOR": 0, "MEMORY_CLOCK_RATE": 2_000_000,
        "GLOBAL_MEMORY_BUS_WIDTH": 4096, "MULTIPROCESSOR_COUNT": 60, "CLOCK_RATE": 1_500_000, "L2_CACHE_SIZE": 1 << 25,
    }  # fmt: skip

    def driver_of(name: bytes) -> Any:
        return SimpleNamespace(
            CUdevice_attribute=SimpleNamespace(**{f"CU_DEVICE_ATTRIBUTE_{key}": key for key in attributes}),
            cuDeviceGetAttribute=lambda key, device: (0, attributes[key]),
            cuDeviceGetName=lambda count, device: (0, name + b"\0"),
            cuDeviceTotalMem=lambda device: (0, 1 << 35),
        )

    known = _described(driver_of(b"NVIDIA H200"), 0)
    assert (known.sms, known.arch, known.l2_bytes, known.memory_bytes) == (60, "sm_90a", 1 << 25, 1 << 35)
    assert known.bandwidth == devices.find("H200").bandwidth and known.source.startswith("driver; NVIDIA H200")
    other = _described(driver_of(b"NVIDIA GH300"), 0)
    assert (other.bandwidth, other.clock_hz, other.source) == (2.048e12, 1.5e9, "driver")
    assert other.rates == devices.find("H200").rates
