"""What a program is compiled for."""

from __future__ import annotations

import builtins
import shlex
from collections.abc import Callable as _Callable
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import TYPE_CHECKING, Any

from .devices import GPU, architectures, default_for, find, known_as, number_of, present
from .errors import TilewrightTypeError as TypeError
from .errors import TilewrightValueError as ValueError
from .tvm_compat.missing_names import attribute_of, attributes_of

__all__ = ["DEFAULT_ARCH", "Target", "TargetKind", "cuda", "current_gpu"]

DEFAULT_ARCH = "sm_90a"
KINDS = {"cuda": "cuda", "cpu": "cpu", "llvm": "cpu", "sim": "sim"}
# What TVM's scripts say beside the kind, and what is taken of the machine itself: the processor, the GPU's limits.
_NOTES = {
    "llvm": ("mcpu", "mattr", "num-cores", "opt-level", "keys", "model", "link-params"),
    "cuda": (
        "keys", "model", "max_num_threads", "max_threads_per_block", "max_shared_memory_per_block",
        "registers_per_block", "thread_warp_size",
    ),
}  # fmt: skip


@cache
def _present_arch() -> str | None:
    """The architecture of the first GPU, with its own features where it has any (`sm_90a`); None without a GPU."""
    found = present()
    return found.arch if found is not None and found.arch in architectures() else None


class TargetKind(str):
    """A kind of target: "cuda", "cpu" or "sim", which TVM calls by its `name`."""

    __slots__ = ()

    @property
    def name(self) -> str:
        return str(self)


# The `with` blocks of targets that we are in.
_current: ContextVar[tuple[Target, ...]] = ContextVar("targets", default=())


@dataclass(frozen=True, init=False)
class Target:
    """A kind of machine, and for a GPU its architecture and what it has.

    `kind` is "cuda" (an NVIDIA GPU), "sim" (the same kernels, simulated on this machine) or "cpu" ("llvm" is another
    name for it). It may carry the architecture as TVM writes it: "cuda -arch=sm_90a". Without one, `arch` is that of
    the GPU present, and sm_90a where there is none; "cpu" has none. With `checks` (-checks=off turns them off) the
    simulator reports accesses out of bounds, reads of what nothing wrote, and races. With `gpu_indices`
    (-gpu-indices=on) it computes indices in as many bits as a kernel for a GPU does, often 32, and not in 64.

    `device` names the GPU that schedules are made for, as "cuda -device=a100" does. Names are "A100", "RTX 4090", "L4",
    "H100", "H100 PCIe", "H200", "B200", "RTX 5090" and others (`tilewright.devices.KNOWN`). The architecture is then
    that of the GPU unless it is given. `Target.device` describes it: SMs, memory, rates, features.

    Of TVM's other forms it takes another target, a dictionary, ``target=`` for the kind, and the `host`, which can only
    be this machine. Of "llvm" it takes -mcpu, -mattr, -mtriple of x86_64, -num-cores, -opt-level, -keys and -model. It
    compiles for the processor that it runs on all the same. Of "cuda" it takes -keys, -model and limits such as
    -max_num_threads. The limits in force are those of the architecture. A tag of TVM's, "nvidia/nvidia-a100", is "cuda
    -device=a100". In a ``with`` block it is the target of builds that name none.

    Raises ValueError for a kind, option or architecture that is not known, TypeError for what is neither.

    >>> Target("cuda", arch="sm_90a")
    Target(kind='cuda', arch='sm_90a')
    >>> Target("cuda -arch=sm_80").arch
    'sm_80'
    >>> Target("cuda", device="L4").arch, Target("cuda -device=a100").device.sms
    ('sm_89', 108)
    >>> with Target("llvm -mcpu=core-avx2"):
    ...     Target.current()
    Target(kind='cpu', arch=None)
    >>> Target("cuda", arch="sm_12")
    Traceback (most recent call last):
        ...
    tilewright.errors.TilewrightValueError: expected an architecture from sm_75 to sm_120, got 'sm_12'
    """

    kind: TargetKind
    arch: str | None
    checks: bool = field(repr=False)
    gpu_indices: bool = field(repr=False)
    device_name: str = field(repr=False)
    """The GPU that was asked for by name, "" where none was."""

    def __init__(
        self,
        kind: Target | str | Mapping[str, Any] | None = None,
        arch: str | None = None,
        checks: bool = True,
        gpu_indices: bool = False,
        *,
        device: str | None = None,
        host: Target | str | Mapping[str, Any] | None = None,
        target: Target | str | Mapping[str, Any] | None = None,
    ) -> None:
        if target is not None:
            if kind is not None:
                raise TypeError(f"expected one kind, got {kind!r} and target={target!r}")
            kind = target
        if host is not None and Target(host).kind != "cpu":
            raise ValueError(f"expected this machine's processor as host (cpu, llvm), got {host!r}")
        if isinstance(kind, Target):
            given = kind
            kind, checks, gpu_indices = str(given.kind), checks and given.checks, gpu_indices or given.gpu_indices
            if device is None:
                arch, device = given.arch if arch is None else arch, given.device_name or None
        made = _parse(_text("cuda" if kind is None else kind), arch, checks, gpu_indices, device)
        for name, value in zip(("kind", "arch", "checks", "gpu_indices", "device_name"), made):
            object.__setattr__(self, name, value)

    if not TYPE_CHECKING:
        __getattr__ = attributes_of("Target", "'Target' object")

    @property
    def keys(self) -> tuple[str, ...]:
        """What TVM's scripts ask of a target: ``"gpu" in target.keys``."""
        return {"cuda": ("cuda", "gpu"), "sim": ("sim", "gpu"), "cpu": ("cpu",)}[self.kind]

    @property
    def max_num_threads(self) -> int:
        """How many threads a block has at most: 1024, and 1 on cpu, which has no blocks."""
        return 1 if self.kind == "cpu" else 1024

    @property
    def thread_warp_size(self) -> int:
        """How many threads a warp has: 32, and 1 on cpu.

        >>> Target("cuda").thread_warp_size, Target("llvm").max_num_threads
        (32, 1)
        """
        return 1 if self.kind == "cpu" else 32

    @property
    def max_shared_memory_per_block(self) -> int:
        """The bytes of shared memory that every block may have: 49152, and 0 on cpu."""
        return 0 if self.kind == "cpu" else 49152

    @property
    def max_block_size_x(self) -> int:
        """How many threads a block has along x at most."""
        return self.max_num_threads

    @property
    def max_block_size_y(self) -> int:
        """How many threads a block has along y at most."""
        return self.max_num_threads

    @property
    def model(self) -> str:
        """What TVM keeps of a target's name beside its architecture."""
        return "unknown"

    @property
    def libs(self) -> tuple[str, ...]:
        """The libraries that operators may call: none."""
        return ()

    @property
    def device(self) -> GPU | None:
        """The GPU that is compiled for, or None for cpu.

        It is the named GPU, if any. Else it is the present GPU, if it has this architecture's compute capability. Else
        it is the GPU of the table that stands for the architecture (H200 for sm_90a).

        >>> Target("cuda -arch=sm_80").device.name, Target("cpu").device
        ('NVIDIA A100-SXM4-80GB', None)
        """
        if self.arch is None:
            return None
        if self.device_name:
            return find(self.device_name).compiled_for(self.arch)
        here = present() if self.kind == "cuda" else None
        if here is not None and here.capability == number_of(self.arch):
            return here.compiled_for(self.arch)
        return default_for(self.arch)

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """The target of the innermost ``with`` block, or None.

        Without `allow_none`, raises ValueError where there is none."""
        targets = _current.get()
        if not targets and not allow_none:
            raise ValueError("expected to be in a target's 'with' block")
        return targets[-1] if targets else None

    def __enter__(self) -> Target:
        _current.set((*_current.get(), self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.set(_current.get()[:-1])

    @staticmethod
    def of(target: Target | str | None) -> Target:
        """`target` itself, or made from its string; None is that of the ``with`` block, else "cuda". Raises TypeError
        for anything else.
        """
        if isinstance(target, Target):
            return target
        if target is None:
            return Target.current() or Target("cuda")
        if isinstance(target, str):
            return Target(target)
        raise TypeError(f"expected a Target or a string, got {type(target).__name__}")

    def __str__(self) -> str:
        options = f" -device={shlex.quote(self.device_name)}" if self.device_name else ""
        options += ("" if self.checks else " -checks=off") + (" -gpu-indices=on" if self.gpu_indices else "")
        return self.kind + ("" if self.arch is None else f" -arch={self.arch}") + options


def _text(kind: str | Mapping[str, Any]) -> str:
    """The target as TVM writes it in a string."""
    if isinstance(kind, Mapping):
        if "kind" not in kind:
            raise ValueError(f"expected the target's 'kind' in the dictionary, got {', '.join(kind) or 'nothing'}")
        options = (f"-{name}={shlex.quote(str(value))}" for name, value in kind.items() if name not in ("kind", "keys"))
        return " ".join((str(kind["kind"]), *options))
    if not isinstance(kind, str):
        raise TypeError(f"expected the target's kind as a string, got {type(kind).__name__}")
    return kind


def _parse(
    text: str, arch: str | None, checks: bool, gpu_indices: bool, device: str | None
) -> tuple[TargetKind, str | None, bool, bool, str]:
    """The kind, the architecture, the checks, the widths of indices and the name of the device."""
    try:
        words = shlex.split(text)
    except builtins.ValueError:
        raise ValueError(f"expected a target whose quotes are closed, got {text!r}") from None
    if len(words) == 1 and words[0].startswith("nvidia/") and known_as(words[0].removeprefix("nvidia/")) is not None:
        words = ["cuda", f"-device={words[0].removeprefix('nvidia/')}"]  # TVM's tag of a GPU
    kind = KINDS.get(words[0]) if words else None
    if kind is None:
        raise ValueError(f"expected a target of kind cuda, cpu or sim, got {text!r}")
    for word in words[1:]:
        name, _, value = word.lstrip("-").partition("=")
        if (kind, name) == ("sim", "checks") and value in ("on", "off"):
            checks = value == "on"
            continue
        if (kind, name) == ("sim", "gpu-indices") and value in ("on", "off"):
            gpu_indices = value == "on"
            continue
        if name in _NOTES.get(words[0], ()) and value:
            continue
        if (words[0], name) == ("llvm", "mtriple") and value:
            if value.split("-")[0] != "x86_64":
                raise ValueError(f"expected this machine's processor, x86_64, got {word!r}")
            continue
        if name == "device" and value and words[0] in ("cuda", "sim"):
            if device is not None and device != value:
                raise ValueError(f"expected one device, got {value!r} and {device!r}")
            device = value
            continue
        if name != "arch" or not value:
            raise ValueError(f"expected -arch=ARCH after the target's kind, got {word!r}")
        if arch is not None and arch != value:
            raise ValueError(f"expected one architecture, got {value!r} and {arch!r}")
        arch = value
    if kind == "cpu":
        if arch is not None:
            raise ValueError(f"expected no architecture for target cpu, got {arch!r}")
        if device is not None:
            raise ValueError(f"expected no device for target cpu, got {device!r}")
    elif device is not None:
        arch = _arch_of(device, arch)
    elif arch is None:
        arch = (_present_arch() if kind == "cuda" else None) or DEFAULT_ARCH
    elif arch not in architectures():
        raise ValueError(f"expected an architecture from sm_75 to sm_120, got {arch!r}")
    if kind != "sim" and not checks:
        raise ValueError(f"expected checks to be turned off for target sim only, got {kind}")
    if kind != "sim" and gpu_indices:
        raise ValueError(f"expected a GPU's indices for target sim only, got {kind}")
    return TargetKind(kind), arch, checks, gpu_indices, device or ""


def _arch_of(device: object, arch: str | None) -> str:
    """The architecture to compile for, for a device of the table."""
    if not isinstance(device, str):
        raise TypeError(f"expected the name of a device, got {type(device).__name__}")
    gpu = find(device)
    if arch is None or arch == gpu.arch:
        return gpu.arch
    if arch not in architectures():
        raise ValueError(f"expected an architecture from sm_75 to sm_120, got {arch!r}")
    if not arch[-1].isdigit() or number_of(arch) > gpu.capability:
        raise ValueError(f"expected an architecture whose kernels run on {gpu.name} ({gpu.arch}), got {arch!r}")
    return arch


def current_gpu() -> GPU:
    """The GPU that schedules are made for: of the target of the ``with`` block, of the GPU present, or an H200.

    >>> with Target("cuda", device="L4"):
    ...     current_gpu().sms
    58
    """
    target = Target.of(None)
    return target.device or Target("cuda").device  # type: ignore[return-value]


def cuda(model: str = "unknown", arch: str | None = None, options: object = None) -> Target:
    """`Target("cuda", arch)`, as TVM writes it."""
    return Target("cuda", arch)


__getattr__: _Callable[[str], object] = attribute_of("target", "module 'tilewright.target'")
