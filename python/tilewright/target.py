"""What a program is compiled for."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from functools import cache

__all__ = ["ARCHITECTURES", "DEFAULT_ARCH", "Target"]

# What LLVM 22's NVPTX back end and CUDA 13's linker both know; passes/Pipelines.cpp has the same list.
ARCHITECTURES = (
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89",
    "sm_90", "sm_90a", "sm_100", "sm_100a", "sm_100f",
    "sm_103", "sm_103a", "sm_103f", "sm_110", "sm_110a", "sm_110f",
    "sm_120", "sm_120a", "sm_120f",
)  # fmt: skip
DEFAULT_ARCH = "sm_90a"
KINDS = {"cuda": "cuda", "cpu": "cpu", "llvm": "cpu", "sim": "sim"}


@cache
def _present_arch() -> str | None:
    """The architecture of the first GPU, with its own features where it has any (`sm_90a`); None without a GPU."""
    try:
        from cuda.bindings import driver  # pyright: ignore[reportAttributeAccessIssue]

        (result,) = driver.cuInit(0)
    except (ImportError, RuntimeError):
        return None
    if int(result) != 0:
        return None
    result, device = driver.cuDeviceGet(0)
    if int(result) != 0:
        return None
    attribute = driver.CUdevice_attribute
    _, major = driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
    _, minor = driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
    arch = f"sm_{major}{minor}"
    return next((known for known in (arch + "a", arch) if known in ARCHITECTURES), None)


@dataclass(frozen=True)
class Target:
    """A kind of machine, and for a GPU its architecture.

    `kind` is "cuda" (an NVIDIA GPU), "sim" (the same kernels, simulated on this machine) or "cpu" ("llvm" is another
    name for it). It may carry the architecture as TVM writes it: "cuda -arch=sm_90a". Without one, `arch` is that of
    the GPU present, and sm_90a where there is none; "cpu" has none. With `checks` (-checks=off turns them off) the
    simulator reports accesses out of bounds, reads of what nothing wrote, and races.

    >>> Target("cuda", arch="sm_90a")
    Target(kind='cuda', arch='sm_90a')
    >>> Target("cuda -arch=sm_80").arch
    'sm_80'
    >>> Target("cuda", arch="sm_12")
    Traceback (most recent call last):
        ...
    ValueError: expected an architecture from sm_75 to sm_120, got 'sm_12'
    """

    kind: str = "cuda"
    arch: str | None = None
    checks: bool = field(default=True, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str):
            raise TypeError(f"expected the target's kind as a string, got {type(self.kind).__name__}")
        words = shlex.split(self.kind)
        kind = KINDS.get(words[0]) if words else None
        if kind is None:
            raise ValueError(f"expected a target of kind cuda, cpu or sim, got {self.kind!r}")
        arch = self.arch
        for word in words[1:]:
            name, _, value = word.lstrip("-").partition("=")
            if (kind, name) == ("sim", "checks") and value in ("on", "off"):
                object.__setattr__(self, "checks", value == "on")
                continue
            if name != "arch" or not value:
                raise ValueError(f"expected -arch=ARCH after the target's kind, got {word!r}")
            if arch is not None and arch != value:
                raise ValueError(f"expected one architecture, got {value!r} and {arch!r}")
            arch = value
        if kind == "cpu":
            if arch is not None:
                raise ValueError(f"expected no architecture for target cpu, got {arch!r}")
        elif arch is None:
            arch = (_present_arch() if kind == "cuda" else None) or DEFAULT_ARCH
        elif arch not in ARCHITECTURES:
            raise ValueError(f"expected an architecture from sm_75 to sm_120, got {arch!r}")
        if kind != "sim" and not self.checks:
            raise ValueError(f"expected checks to be turned off for target sim only, got {kind}")
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "arch", arch)

    @staticmethod
    def of(target: Target | str | None) -> Target:
        """`target` itself, or made from its string; None is "cuda"."""
        if isinstance(target, Target):
            return target
        if target is None or isinstance(target, str):
            return Target("cuda" if target is None else target)
        raise TypeError(f"expected a Target or a string, got {type(target).__name__}")

    def __str__(self) -> str:
        checks = "" if self.checks else " -checks=off"
        return self.kind + ("" if self.arch is None else f" -arch={self.arch}") + checks
