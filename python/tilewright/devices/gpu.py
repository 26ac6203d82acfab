"""A GPU: the numbers that schedules, models and reports ask for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from .capabilities import Capability, Rates, features_of, number_of

__all__ = ["GPU", "MOST_BLOCKS_YZ"]

MOST_BLOCKS_YZ = 65535
"""Blocks of a grid along its second axis, and along its third: so many at most on each GPU of CUDA's."""


@dataclass(frozen=True, slots=True)
class GPU:
    """A GPU as `Target.device` describes it: one product, and the architecture that kernels for it are compiled for.

    >>> import tilewright as tw
    >>> gpu = tw.Target("cuda", device="H200").device
    >>> gpu.name, gpu.arch, gpu.sms, gpu.shared_bytes_per_block
    ('NVIDIA H200', 'sm_90a', 132, 232448)
    >>> round(gpu.peak("wgmma", "bfloat16") / 1e12), round(gpu.bandwidth / 1e12, 1)
    (989, 4.8)
    """

    name: str
    """As the driver says it: "NVIDIA H200"."""
    arch: str
    sms: int
    clock_hz: float
    """The clock that the published peaks are of: the boost clock."""
    memory_bytes: int
    bandwidth: float
    """Of the memory, in bytes a second."""
    l2_bytes: int
    sm: Capability = field(hash=False)
    rates: Rates = field(hash=False)
    """Operations that an SM does in a clock cycle, by instruction and type: `capabilities.Rates`."""
    source: str
    """Where the numbers are from: a publication, or "driver"."""

    @property
    def capability(self) -> int:
        """The compute capability times ten: 90 for an H200. Architectures are compared by it."""
        return number_of(self.arch)

    @property
    def features(self) -> frozenset[str]:
        """What kernels may use: "ldmatrix", "cp.async", "mma.sync", "mma.sync.f8", "tma", "clusters", "wgmma", …"""
        return features_of(self.arch)

    @property
    def warp_size(self) -> int:
        return 32

    @property
    def threads_per_block(self) -> int:
        """The most that a block may have."""
        return 1024

    @property
    def threads_per_sm(self) -> int:
        return self.sm.warps_per_sm * self.warp_size

    @property
    def shared_bytes_per_block(self) -> int:
        """The most shared memory that a block may have."""
        return self.sm.shared_bytes_per_sm - self.sm.reserved_shared_bytes

    @property
    def registers_per_thread(self) -> int:
        """The most that a thread may have."""
        return 255

    @property
    def l2_bandwidth(self) -> float:
        """Of the second cache, in bytes a second, as all SMs together can read it."""
        return self.sms * self.sm.l2_bytes_per_clock * self.clock_hz

    def sm_peak(self, instruction: str, dtype: str) -> float:
        """Operations a second of one SM by an instruction ("fma", "mma", "wgmma", "tcgen05") on operands of a type; 0.0
        where there is no such instruction."""
        return self.rates.get((instruction, dtype), 0) * self.clock_hz

    def peak(self, instruction: str, dtype: str) -> float:
        """Operations a second of all SMs: `sm_peak` times `sms`."""
        return self.sms * self.sm_peak(instruction, dtype)

    def compiled_for(self, arch: str) -> GPU:
        """The same GPU with kernels for another architecture: an H200 that runs kernels for sm_80 has no "wgmma"."""
        return self if arch == self.arch else replace(self, arch=arch)
