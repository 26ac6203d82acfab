"""What the SMs of each compute capability have: limits, rates by instruction and type, and features.

Limits per SM and block, and results per clock cycle and SM of arithmetic instructions, are from the CUDA C++
Programming Guide, "Compute capabilities". Dense rates of tensor cores are from the whitepapers of the architectures.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import TilewrightValueError as ValueError

__all__ = ["CAPABILITIES", "Capability", "Rates", "capability_of", "features_of", "number_of"]

Rates = Mapping[tuple[str, str], int]
"""Operations (a fused multiply-add is two) that an SM does in a clock cycle, by instruction and type of its operands:
"fma" of ordinary arithmetic, "mma" of ``mma.sync``, "wgmma" and "tcgen05" of the instructions of those names, all with
32-bit accumulators; ("exp", "float32") are the special functions."""

_KIB = 1024


@dataclass(frozen=True, slots=True)
class Capability:
    """What the SMs of GPUs of one compute capability have."""

    warps_per_sm: int
    blocks_per_sm: int
    shared_bytes_per_sm: int
    rates: Rates
    l2_bytes_per_clock: int = 64
    """What an SM can read of the second cache in a clock cycle."""
    registers_per_sm: int = 65536
    register_unit: int = 256
    """Registers are given to whole warps in multiples of this number."""
    shared_unit: int = 128
    """Shared memory is given to blocks in multiples of this number of bytes."""
    reserved_shared_bytes: int = 1024
    """Of the shared memory that each block has the system takes so many bytes."""


def _rates(*, fma: Mapping[str, int], mma: Mapping[str, int], exp: int = 16, **more: Mapping[str, int]) -> Rates:
    found = {("exp", "float32"): exp}
    for instruction, by_type in {"fma": fma, "mma": mma, **more}.items():
        found |= {(instruction, dtype): rate for dtype, rate in by_type.items()}
    return MappingProxyType(found)


def _tensor(f16: int, *, f8: bool = False, bf16: bool = True) -> dict[str, int]:
    """Rates of tensor cores: types of half the bits have twice the rate."""
    found = {"float16": f16, "int8": 2 * f16}
    if bf16:
        found |= {"bfloat16": f16, "tf32": f16 // 2}
    if f8:
        found |= {"float8_e4m3fn": 2 * f16, "float8_e5m2": 2 * f16}
    return found


_HOPPER_FMA = {"float32": 256, "float16": 512, "bfloat16": 512, "float64": 128, "int32": 128}
_CONSUMER_FMA = {"float32": 256, "float16": 256, "bfloat16": 256, "float64": 4, "int32": 128}

CAPABILITIES: Mapping[int, Capability] = MappingProxyType(
    {
        75: Capability(
            32,
            16,
            64 * _KIB,
            _rates(fma={"float32": 128, "float16": 256, "float64": 4, "int32": 128}, mma=_tensor(1024, bf16=False)),
            shared_unit=256,
            reserved_shared_bytes=0,
        ),
        80: Capability(
            64,
            32,
            164 * _KIB,
            _rates(
                fma={"float32": 128, "float16": 512, "bfloat16": 256, "float64": 64, "int32": 128},
                mma={**_tensor(2048), "float64": 128},
            ),
        ),
        86: Capability(48, 16, 100 * _KIB, _rates(fma=_CONSUMER_FMA, mma=_tensor(1024))),
        87: Capability(48, 16, 164 * _KIB, _rates(fma=_CONSUMER_FMA, mma=_tensor(2048))),
        89: Capability(48, 24, 100 * _KIB, _rates(fma=_CONSUMER_FMA, mma=_tensor(1024, f8=True))),
        # mma.sync of Hopper: 0.62 of the rate of wgmma ("Benchmarking and Dissecting the Nvidia Hopper GPU
        # Architecture via Microbenchmarking", arXiv 2402.13499).
        90: Capability(
            64,
            32,
            228 * _KIB,
            _rates(fma=_HOPPER_FMA, mma={**_tensor(2540), "float64": 256}, wgmma=_tensor(4096, f8=True)),
        ),
        # No rate of mma.sync has been published for capability 10.x: taken as that of 9.0.
        100: Capability(
            64, 32, 228 * _KIB, _rates(fma=_HOPPER_FMA, mma=_tensor(2540, f8=True), tcgen05=_tensor(8192, f8=True))
        ),
        103: Capability(
            64, 32, 228 * _KIB, _rates(fma=_HOPPER_FMA, mma=_tensor(2540, f8=True), tcgen05=_tensor(8192, f8=True))
        ),
        120: Capability(48, 24, 100 * _KIB, _rates(fma=_CONSUMER_FMA, mma=_tensor(1024, f8=True))),
    }
)


def number_of(arch: str) -> int:
    """The compute capability times ten of an architecture's name.

    >>> number_of("sm_90a"), number_of("sm_120") > number_of("sm_90")
    (90, True)
    """
    found = re.fullmatch(r"sm_(\d+)[a-z]?", arch)
    if found is None:
        raise ValueError(f"expected an architecture such as sm_90a, got {arch!r}")
    return int(found[1])


def capability_of(arch: str) -> Capability | None:
    """What the SMs of an architecture have; None of one that the table does not have."""
    return CAPABILITIES.get(number_of(arch))


def features_of(arch: str) -> frozenset[str]:
    """What kernels for an architecture may use: names of PTX instructions, and "clusters".

    >>> sorted(features_of("sm_80")), "wgmma" in features_of("sm_90"), "wgmma" in features_of("sm_90a")
    (['cp.async', 'ldmatrix', 'mma.sync'], False, True)
    """
    number = number_of(arch)
    found = {"ldmatrix"}
    if number >= 80:
        found |= {"cp.async", "mma.sync"}
    if number >= 89:
        found.add("mma.sync.f8")
    if number >= 90:
        found |= {"clusters", "tma", "griddepcontrol"}
    if arch == "sm_90a":
        found |= {"wgmma", "setmaxnreg"}
    if number in (100, 103) and arch[-1] in "af":
        found |= {"tcgen05", "setmaxnreg"}
    return frozenset(found)
