"""GPUs by name, for programs that are compiled where the GPU is not present.

Clocks are boost clocks, and bandwidths are those of the datasheets. A row has rates of tensor cores where the GPU's
differ from those of its capability (`capabilities`). Each row names its source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from ..errors import TilewrightValueError as ValueError
from .capabilities import CAPABILITIES, Rates, number_of
from .gpu import GPU

__all__ = ["KNOWN", "default_for", "find", "known_as"]

_MIB, _GIB = 1 << 20, 1 << 30


def _halved(capability: int) -> Rates:
    """Rates of products whose 16- and 8-bit tensor cores have half the rate with 32-bit accumulators of floats."""
    rates = CAPABILITIES[capability].rates
    return MappingProxyType(
        {
            (instruction, dtype): rate // 2 if instruction == "mma" and dtype != "int8" else rate
            for (instruction, dtype), rate in rates.items()
        }
    )


def _gpu(
    name: str,
    arch: str,
    sms: int,
    mhz: int,
    memory_gib: int,
    gb_per_s: int,
    l2_mib: int,
    source: str,
    rates: Rates | None = None,
) -> GPU:
    sm = CAPABILITIES[number_of(arch)]
    rates = sm.rates if rates is None else rates
    return GPU(name, arch, sms, mhz * 1e6, memory_gib * _GIB, gb_per_s * 1e9, l2_mib * _MIB, sm, rates, source)


_TURING = "NVIDIA T4 datasheet, 2019; NVIDIA Turing GPU Architecture whitepaper"
_AMPERE = "NVIDIA A100 Tensor Core GPU Architecture whitepaper; NVIDIA A100 datasheet, 2022"
_GA102 = "NVIDIA Ampere GA102 GPU Architecture whitepaper"
_ADA = "NVIDIA Ada GPU Architecture whitepaper"
_HOPPER = "NVIDIA H100 Tensor Core GPU Architecture whitepaper; NVIDIA H100 datasheet"
_BLACKWELL = "NVIDIA Blackwell architecture technical brief; HGX B200 datasheet"

# The first GPU of a capability is the one that stands for it where nothing but the architecture is given.
KNOWN: Mapping[str, GPU] = MappingProxyType(
    {
        "T4": _gpu("Tesla T4", "sm_75", 40, 1590, 16, 320, 4, _TURING),
        "A100": _gpu("NVIDIA A100-SXM4-80GB", "sm_80", 108, 1410, 80, 2039, 40, _AMPERE),
        "A100 40GB": _gpu("NVIDIA A100-SXM4-40GB", "sm_80", 108, 1410, 40, 1555, 40, _AMPERE),
        "A10": _gpu("NVIDIA A10", "sm_86", 72, 1695, 24, 600, 6, f"NVIDIA A10 datasheet, 2021; {_GA102}"),
        "RTX 3090": _gpu("NVIDIA GeForce RTX 3090", "sm_86", 82, 1695, 24, 936, 6, _GA102, _halved(86)),
        "Orin": _gpu("Orin", "sm_87", 16, 1300, 32, 205, 4, "NVIDIA Jetson AGX Orin Technical Brief, 2022"),
        "RTX 4090": _gpu("NVIDIA GeForce RTX 4090", "sm_89", 128, 2520, 24, 1008, 72, _ADA, _halved(89)),
        "L4": _gpu("NVIDIA L4", "sm_89", 58, 2040, 24, 300, 48, f"NVIDIA L4 datasheet, 2023; {_ADA}"),
        "L40S": _gpu("NVIDIA L40S", "sm_89", 142, 2490, 48, 864, 96, f"NVIDIA L40S datasheet, 2023; {_ADA}"),
        "H200": _gpu("NVIDIA H200", "sm_90a", 132, 1830, 141, 4800, 50, f"NVIDIA H200 datasheet, 2024; {_HOPPER}"),
        "H100": _gpu("NVIDIA H100 80GB HBM3", "sm_90a", 132, 1830, 80, 3350, 50, _HOPPER),
        "H100 PCIe": _gpu("NVIDIA H100 PCIe", "sm_90a", 114, 1620, 80, 2000, 50, _HOPPER),
        "B200": _gpu("NVIDIA B200", "sm_100a", 148, 1856, 180, 8000, 126, _BLACKWELL),
        "B300": _gpu("NVIDIA B300", "sm_103a", 148, 1856, 279, 8000, 126, f"{_BLACKWELL}; HGX B300 datasheet"),
        "RTX 5090": _gpu(
            "NVIDIA GeForce RTX 5090",
            "sm_120a",
            170,
            2407,
            32,
            1792,
            96,
            "NVIDIA RTX Blackwell GPU Architecture whitepaper",
            _halved(120),
        ),
    }
)
_ALIASES = {"h100 sxm": "H100", "h100 sxm5": "H100", "a100 80gb": "A100", "a100 sxm": "A100", "tesla t4": "T4"}


def _plain(name: str) -> str:
    """A name without what people leave out: maker, line and punctuation.

    >>> _plain("NVIDIA GeForce RTX 4090"), _plain("rtx-4090"), _plain("RTX4090")
    ('rtx 4090', 'rtx 4090', 'rtx 4090')
    """
    words = re.sub(r"[-_\s]+", " ", name.lower()).replace("nvidia ", "").replace("geforce ", "").strip()
    return re.sub(r"^rtx ?(?=\d)", "rtx ", words)


@cache
def known_as(name: str) -> GPU | None:
    """The GPU of a name, of the table or the driver's; None where the table has none."""
    wanted = _plain(name)
    for key, gpu in KNOWN.items():
        if wanted in (_plain(key), _plain(gpu.name)):
            return gpu
    return KNOWN[_ALIASES[wanted]] if wanted in _ALIASES else None


def find(name: str) -> GPU:
    """The GPU of a name: "H200", "h100 pcie", "NVIDIA GeForce RTX 4090".

    Raises
    ------
    ValueError
        Where the table has no such GPU.

    >>> find("rtx4090").sms, find("h100-pcie").sms
    (128, 114)
    """
    found = known_as(name)
    if found is None:
        raise ValueError(f"expected a device of {', '.join(KNOWN)}, got {name!r}")
    return found


def default_for(arch: str) -> GPU:
    """The GPU that stands for an architecture: of the highest capability in the table that is not above it.

    >>> default_for("sm_90").name, default_for("sm_88").name
    ('NVIDIA H200', 'Orin')
    """
    number = number_of(arch)
    best = next(iter(KNOWN.values()))
    for gpu in KNOWN.values():
        if best.capability < gpu.capability <= number:
            best = gpu
    return best.compiled_for(arch)
