"""The last two steps: PTX of a module at the nvvm stage by LLVM, and a cubin of PTX by nvJitLink, both in process.

nvJitLink compiles PTX as something that may be linked to more, and then ptxas ignores `setmaxnreg`, by which roles hand
out registers (note C7504). Such PTX goes through ptxas itself where that is installed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import CompileError
from ..errors import TilewrightValueError as ValueError
from ..native.interruptible import interruptibly
from ..native.tools import run_tool

__all__ = ["Cubin", "KernelResources", "LinkOptions", "find_ptxas", "link", "link_cubin"]


@dataclass(frozen=True, slots=True)
class LinkOptions:
    """How a cubin is made of PTX.

    `opt_level` is 0 or 3, which are those of nvJitLink. `line_info` keeps the source lines for profilers. `extra` is
    handed to nvJitLink as it stands. There is no bound on registers here: ptxas ignores `-maxrregcount`, without a
    word, for kernels that state their block's size (`.reqntid`), as ours do. `nvvm.maxnreg` on the kernel is what
    counts.

    >>> LinkOptions(line_info=True).arguments("sm_90a")
    ('-arch=sm_90a', '-O3', '-verbose', '-lineinfo')
    """

    opt_level: int = 3
    line_info: bool = False
    extra: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.opt_level not in (0, 3):
            raise ValueError(f"expected an opt_level of 0 or 3, got {self.opt_level!r}")

    def arguments(self, arch: str) -> tuple[str, ...]:
        """The linker's command line."""
        arguments = [f"-arch={arch}", f"-O{self.opt_level}", "-verbose"]
        if self.line_info:
            arguments.append("-lineinfo")
        return (*arguments, *self.extra)


@dataclass(frozen=True, slots=True)
class KernelResources:
    """What a thread of a kernel takes, as ptxas reports it: registers, and bytes of stack and of spills."""

    registers: int
    stack_bytes: int
    spill_store_bytes: int
    spill_load_bytes: int


@dataclass(frozen=True, slots=True)
class Cubin:
    """A linked cubin: its bytes, the resources of each kernel in it, and the linker's log."""

    image: bytes
    resources: dict[str, KernelResources]
    log: str

    @property
    def notes(self) -> tuple[tuple[str, str], ...]:
        """The assembler's notes C75xx: it added waits, or serialised ``wgmma``. Each comes with its kernel, or with ""
        where the log names none.

        >>> Cubin(b"", {}, "ptxas info    : (C7510) Potential Performance Loss: serialized in function 'f'").notes
        (('f', "(C7510) Potential Performance Loss: serialized in function 'f'"),)
        """
        found: list[tuple[str, str]] = []
        for line in self.log.splitlines():
            if match := re.search(r"\(C75\d\d\).*", line):
                kernel = re.search(r"function '([^']+)'", match[0])
                found.append((kernel[1] if kernel else "", match[0]))
        return tuple(found)


def link_cubin(ptx: str, arch: str, options: LinkOptions | None = None) -> bytes:
    """The cubin for `arch` of `ptx`; `link` tells what it takes beside. Raises CompileError (stage "cubin")."""
    return link(ptx, arch, options).image


def find_ptxas() -> Path | None:
    """ptxas on the PATH or, where there is none, that of NVIDIA's package on PyPI, which does not put it there."""
    spec = importlib.util.find_spec("nvidia")
    folders = [] if spec is None else [Path(root) / "cu13" / "bin" for root in spec.submodule_search_locations or ()]
    for path in (None, os.pathsep.join(map(str, folders))):
        found = shutil.which("ptxas", path=path)
        if found is not None:
            return Path(found)
    return None


def _assemble(ptxas: Path, ptx: str, arch: str, options: LinkOptions) -> Cubin:
    """A cubin by ptxas itself, which sees the whole program."""
    arguments = [argument.removeprefix("-Xptxas=") for argument in options.arguments(arch)]
    arguments[arguments.index("-verbose")] = "--verbose"  # the same, spelt otherwise
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "kernels.ptx", Path(folder) / "kernels.cubin"
        source.write_text(ptx)
        run = run_tool([str(ptxas), *arguments, str(source), "-o", str(target)])
        log = (run.stdout + run.stderr).strip().replace(str(source), "kernels.ptx")
        if run.returncode != 0:
            raise CompileError(f"ptxas refused the PTX for {arch}:\n{log}", stage="cubin")
        return Cubin(target.read_bytes(), _resources(log), log)


def link(ptx: str, arch: str, options: LinkOptions | None = None) -> Cubin:
    """Links `ptx` to a cubin for `arch` with nvJitLink; by ptxas, if it is installed, where `ptx` hands out registers.

    Raises CompileError (stage "cubin") with the linker's log where it refuses the PTX or the architecture, and where
    the linker's library is not installed.
    """
    ptxas = find_ptxas() if "setmaxnreg" in ptx else None
    if ptxas is not None:
        return _assemble(ptxas, ptx, arch, options or LinkOptions())
    try:
        from cuda.bindings import nvjitlink
    except ImportError as error:
        raise CompileError(f"nvJitLink is not installed: {error}", stage="cubin") from None

    arguments = list((options or LinkOptions()).arguments(arch))
    source = ptx.encode()

    def log_of(handle: int, kind: str) -> str:
        size = getattr(nvjitlink, f"get_{kind}_log_size")(handle)
        buffer = bytearray(size)
        getattr(nvjitlink, f"get_{kind}_log")(handle, buffer)
        return buffer.decode(errors="replace").strip("\0 \n")

    def linked() -> tuple[bytes, str]:
        try:
            handle = nvjitlink.create(len(arguments), arguments)
        except nvjitlink.nvJitLinkError as error:
            told = f"nvJitLink refused its options ({' '.join(arguments)}): {error}"
            raise CompileError(told, stage="cubin") from None
        except RuntimeError as error:  # the library is loaded at the first call
            raise CompileError(f"nvJitLink could not be loaded: {error}", stage="cubin") from None
        try:
            try:
                nvjitlink.add_data(handle, nvjitlink.InputType.PTX, source, len(source), "kernels.ptx")
                nvjitlink.complete(handle)
            except nvjitlink.nvJitLinkError as error:
                log = log_of(handle, "error") or str(error)
                raise CompileError(f"nvJitLink refused the PTX for {arch}:\n{log}", stage="cubin") from None
            image = bytearray(nvjitlink.get_linked_cubin_size(handle))
            nvjitlink.get_linked_cubin(handle, image)
            return bytes(image), log_of(handle, "info")
        finally:
            nvjitlink.destroy(handle)

    # A handle belongs to the thread that made it: from another one nvJitLink crashes.
    image, log = interruptibly(linked)
    return Cubin(image, _resources(log), log)


def _resources(log: str) -> dict[str, KernelResources]:
    """The lines of ptxas's report, by kernel.

    >>> _resources('''ptxas info    : Compiling entry function 'f' for 'sm_90a'
    ... ptxas info    : Function properties for f
    ... ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads
    ... ptxas info    : Used 40 registers, used 1 barriers''')
    {'f': KernelResources(registers=40, stack_bytes=8, spill_store_bytes=4, spill_load_bytes=12)}

    Some builds of nvJitLink say it in words of their own, where spills are the local memory beyond the stack.

    >>> _resources('''info    : Function properties for 'f':
    ... info    : used 40 registers, used 1 barriers, 8 stack, 1024 bytes smem, 552 bytes cmem[0], 12 bytes lmem''')
    {'f': KernelResources(registers=40, stack_bytes=8, spill_store_bytes=4, spill_load_bytes=4)}
    """
    found: dict[str, KernelResources] = {}
    name, memory = "", (0, 0, 0)
    for line in log.splitlines():
        if match := re.search(r"Compiling entry function '([^']+)'", line):
            name, memory = match[1], (0, 0, 0)
        elif match := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line):
            memory = (int(match[1]), int(match[2]), int(match[3]))
        elif name and (match := re.search(r"Used (\d+) registers", line)):
            found[name] = KernelResources(int(match[1]), *memory)
        elif match := re.search(r"Function properties for '([^']+)'", line):
            name = match[1]
        elif name and (match := re.search(r"used (\d+) registers.* (\d+) stack.* (\d+) bytes lmem", line)):
            spilled = max(int(match[3]) - int(match[2]), 0)
            found[name] = KernelResources(int(match[1]), int(match[2]), spilled, spilled)
    return found
