"""SASS of PTX by the linker that is here, and a run of it on a GPU."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tilewright.backend.cubin import LinkOptions, link
from tilewright.backend.sass import disassemble, find_disassembler

needs_disassembler = pytest.mark.skipif(find_disassembler() is None, reason="neither nvdisasm nor cuobjdump here")


def sass_of(ptx: str) -> str:
    return disassemble(link(ptx, "sm_90a").image)


# A process of its own: it asks the driver for what the run time has no name for, and a wrong address would take the
# context with it.
RUN = """
import ctypes, sys
from cuda.bindings import driver as d
def of(result):
    assert int(result[0]) == 0, result[0]
    return result[1] if len(result) == 2 else None
name, blocks, threads, given, size = sys.argv[2].encode(), *map(int, sys.argv[3:5]), bytes.fromhex(sys.argv[5]), int(sys.argv[6])
of(d.cuInit(0))
of(d.cuCtxSetCurrent(of(d.cuDevicePrimaryCtxRetain(0))))
module = of(d.cuModuleLoadData(open(sys.argv[1], "rb").read()))
addresses = [ctypes.c_uint64(int(of(d.cuMemAlloc(bytes)))) for bytes in (size, max(len(given), 1))]
held = ctypes.create_string_buffer(given or b"0", max(len(given), 1))
of(d.cuMemcpyHtoD(addresses[1].value, ctypes.addressof(held), len(held)))
params = (ctypes.c_void_p * 2)(*map(ctypes.addressof, addresses))
of(d.cuLaunchKernel(of(d.cuModuleGetFunction(module, name)), blocks, 1, 1, threads, 1, 1, 0, 0, ctypes.addressof(params), 0))
got = ctypes.create_string_buffer(size)
of(d.cuMemcpyDtoH(ctypes.addressof(got), addresses[0].value, size))
print(got.raw.hex())
"""


def run_ptx(
    ptx: str, folder: Path, grid: tuple[int, int], given: bytes, size: int, options: LinkOptions | None = None
) -> bytes:
    """What a kernel of (out, in) writes."""
    name = re.findall(r"entry (\w+)", ptx)[0]
    image = folder / "kernel.cubin"
    image.write_bytes(link(ptx, "sm_90a", options).image)
    arguments = [str(image), name, *map(str, grid), given.hex(), str(size)]
    run = subprocess.run([sys.executable, "-c", RUN, *arguments], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return bytes.fromhex(run.stdout)
