"""What the checks of gpu_smoke.py share: how one is told of, and a program of a few PTX instructions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from mlir import ir
from mlir.passmanager import PassManager

from tilewright.ir import context
from tilewright.runtime import CudaProgram, DeviceKind, Signature, cuda
from tilewright.runtime.host_program import HostProgram

GPU = cuda(0)

# B = 2 A + C over n floats, in two kernels with a temporary: T = 2 A, B = T + C. {shared} is the bytes of dynamic
# shared memory that the first one asks for.
HOST = """
module attributes {{gpu.container_module}} {{
  gpu.module @axpy_kernels {{
    gpu.func @axpy_kernel0(%a: memref<?xf32>, %t: memref<?xf32>) kernel {{ gpu.return }}
    gpu.func @axpy_kernel1(%t: memref<?xf32>, %c: memref<?xf32>, %b: memref<?xf32>) kernel {{ gpu.return }}
  }}
  func.func @axpy(%a: memref<?xf32> {{te.name = "A", te.dtype = f32, te.symbols = ["n"]}},
                  %c: memref<?xf32> {{te.name = "C", te.dtype = f32, te.symbols = ["n"]}},
                  %b: memref<?xf32> {{te.name = "B", te.dtype = f32, te.symbols = ["n"], te.output}},
                  %workspace: memref<?xi8>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c{block} = arith.constant {block} : index
    %shared = arith.constant {shared} : i32
    %n = memref.dim %a, %c0 : memref<?xf32>
    %t = memref.view %workspace[%c0][%n] : memref<?xi8> to memref<?xf32>
    %grid = arith.ceildivui %n, %c{block} : index
    gpu.launch_func @axpy_kernels::@axpy_kernel0 blocks in (%grid, %c1, %c1) threads in (%c{block}, %c1, %c1)
      dynamic_shared_memory_size %shared args(%a : memref<?xf32>, %t : memref<?xf32>)
    gpu.launch_func @axpy_kernels::@axpy_kernel1 blocks in (%grid, %c1, %c1) threads in (%c{block}, %c1, %c1)
      args(%t : memref<?xf32>, %c : memref<?xf32>, %b : memref<?xf32>)
    return
  }}
}}
"""

PTX_HEAD = """
.version 8.7
.target {arch}
.address_size 64
"""

PTX = """
.visible .entry {name}({params}) {{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %i<4>; .reg .b64 %a<4>; .reg .f32 %f<4>;
  mov.u32 %r0, %ctaid.x; mov.u32 %r1, %ntid.x; mov.u32 %r2, %tid.x;
  mad.lo.s32 %r3, %r0, %r1, %r2;
  cvt.u64.u32 %i0, %r3;
  ld.param.u64 %i1, [{name}_1];
  setp.ge.u64 %p, %i0, %i1;
  @%p bra DONE_{name};
  shl.b64 %i2, %i0, 2;
{body}
DONE_{name}:
  ret;
}}
"""


def _ptx(name: str, arrays: int, compute: str) -> str:
    """An entry by the kernel ABI: a pointer and an extent for each array; the last one is written from %f0."""
    lines = []
    for i in range(arrays):
        lines.append(
            f"ld.param.u64 %a{i}, [{name}_{2 * i}]; cvta.to.global.u64 %a{i}, %a{i}; add.s64 %a{i}, %a{i}, %i2;"
        )
        if i < arrays - 1:
            lines.append(f"ld.global.f32 %f{i}, [%a{i}];")
    lines += [compute, f"st.global.f32 [%a{arrays - 1}], %f0;"]
    params = ", ".join(f".param .u64 {name}_{i}" for i in range(2 * arrays))
    return PTX.format(name=name, params=params, body="\n".join(lines))


def cubin_for(arch: str) -> bytes:
    """The two kernels, linked in process by nvJitLink."""
    from cuda.bindings import nvjitlink

    ptx = PTX_HEAD.format(arch=arch) + _ptx("axpy_kernel0", 2, "add.f32 %f0, %f0, %f0;")
    ptx += _ptx("axpy_kernel1", 3, "add.f32 %f0, %f0, %f1;")
    handle = nvjitlink.create(1, [f"-arch={arch}"])
    data = ptx.encode()
    nvjitlink.add_data(handle, nvjitlink.InputType.PTX, data, len(data), "axpy")
    nvjitlink.complete(handle)
    linked = bytearray(nvjitlink.get_linked_cubin_size(handle))
    nvjitlink.get_linked_cubin(handle, linked)
    nvjitlink.destroy(handle)
    return bytes(linked)


def program(arch: str, block: int = 256, shared: int = 0) -> CudaProgram:
    with context():
        module = ir.Module.parse(HOST.format(block=block, shared=shared))
        PassManager.parse("builtin.module(tilewright-pipeline{from=gpu to=host})").run(module.operation)
        function = next(op for op in module.body.operations if "tilewright.kernels" in op.attributes)
        signature = Signature.from_function(function.operation, DeviceKind.CUDA)
        return CudaProgram(HostProgram(module, cubins={arch: cubin_for(arch)}), signature)


def inputs(n: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    return random.standard_normal(n, "float32"), random.standard_normal(n, "float32")


CHECKS: list[Callable[[], str | None]] = []


def check(function: Callable[[], str | None]) -> Callable[[], str | None]:
    CHECKS.append(function)
    return function
