"""Programs as C++ for people: the kernels in CUDA C++, and the host program.

Both are printed from the gpu stage by passes (passes/gpu-to-source); nothing is compiled from them here.
"""

from __future__ import annotations

import re

from mlir import ir

from ..devices.capabilities import features_of
from ..errors import CompileError
from ..ir.diagnostics import MLIRError, diagnostics_of
from ..ir.running import run_manager

__all__ = ["KERNEL_PASSES", "cuda_source", "host_source"]

# Accesses of an argument as one row, which has no form in C++, become those of the argument. The rest is as on the way
# to PTX: indices have these widths, roles are conditions, loops over a thread's registers are unrolled.
KERNEL_PASSES = (
    "gpu.module(gpu.func(fold-memref-alias-ops,affine-expand-index-ops-as-affine,canonicalize),choose-index-widths,"
    "gpu.func(check-tile-kernels,expand-tile-roles,annotate-unrolled-loops))"
)


def _run(module: ir.Module, pipeline: str, doing: str) -> None:
    from mlir.passmanager import PassManager

    with module.context:
        try:
            run_manager(PassManager.parse(f"builtin.module({pipeline})"), module.operation)
        except MLIRError as error:
            found = diagnostics_of(error.error_diagnostics)
            text = "\n".join(map(str, found)) or str(error)
            raise CompileError(f"{text}\n({doing})", stage="source", diagnostics=found) from None


def _expect_wgmma(module: ir.Module, arch: str) -> None:
    """Tiles are written as TMA copies them, and their matmuls as warpgroups of sm_90a compute them."""
    if "wgmma" not in features_of(arch) and "tile.wgmma" in str(module):
        raise CompileError(
            f"expected the architecture sm_90a for matmuls of warpgroups in C++, got {arch}: other GPUs have the PTX",
            stage="source",
        )


def cuda_source(module: ir.Module, arch: str) -> str:
    """The kernels of a module of the gpu stage in CUDA C++; the module is the function's own.

    Raises CompileError (stage "source") where an op has no form there.
    """
    _expect_wgmma(module, arch)
    _run(module, f"{KERNEL_PASSES},emit-cuda-source", "writing the kernels in CUDA C++")
    texts = [
        ir.StringAttr(operation.attributes["tilewright.cuda"]).value
        for operation in module.body
        if operation.operation.name == "gpu.module"
    ]
    return "\n".join(texts)


def host_source(module: ir.Module, name: str, cubin: bytes, arch: str, *, managed: bool = False) -> str:
    """The host program `name` of a module of the gpu stage in C++, with its kernels' cubin; the module is the
    function's own. With `managed`, the arrays are this machine's, and copied.

    Raises CompileError (stage "source") where an op has no form there.
    """
    _expect_wgmma(module, arch)
    options = f"{{managed={str(managed).lower()}}}"
    _run(module, f"emit-host-source{options}", "writing the host program in C++")
    (text,) = (
        ir.StringAttr(operation.attributes["tilewright.cpp"]).value
        for operation in module.body
        if operation.operation.name == "func.func" and ir.StringAttr(operation.attributes["sym_name"]).value == name
    )
    found = re.search(r"extern const unsigned char (\w+)\[\];", text)
    assert found is not None  # the pass writes it
    rows = (cubin[at : at + 24] for at in range(0, len(cubin), 24))
    image = ",\n".join("    " + ", ".join(f"0x{byte:02x}" for byte in row) for row in rows)
    return (
        f"// The host program of {name}, with its kernels for {arch}.\n"
        f"//   g++ -std=c++17 -c {name}.cpp, with the folder of CUDA's cuda.h, and -lcuda to link\n"
        f"{text}\n// For {arch}, {len(cubin)} bytes.\n"
        f"alignas(16) extern const unsigned char {found[1]}[] = {{\n{image}}};\n"
    )
