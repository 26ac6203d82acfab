"""Tensor maps on their way from the host program to the driver and to a kernel's parameters."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from mlir import ir as mlir_ir
from mlir.passmanager import PassManager

from tilewright import nd
from tilewright.errors import DriverError, LaunchError
from tilewright.ir import context
from tilewright.runtime import CudaProgram, DeviceKind, Signature, cuda
from tilewright.runtime.host_program import HostProgram

SOURCE = """
!map = !tile.tensor_map<1x8x32xtf32, swizzle = 128>
!other = !tile.tensor_map<16xf32>
module attributes {gpu.container_module} {
  gpu.module @copy_kernels {
    gpu.func @copy_kernel0(%a: !map, %n: index, %b: !other) kernel attributes {known_cluster_size = array<i32: 2, 1, 1>} { gpu.return }
    gpu.func @copy_kernel1(%n: index) kernel { gpu.return }
  }
  func.func @copy(%a: memref<2x?x64xf32> {te.name = "A", te.dtype = f32, te.symbols = ["", "n", ""]},
                  %b: memref<?xf32> {te.name = "B", te.dtype = f32, te.symbols = ["n"], te.output}) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %n = memref.dim %a, %c1 : memref<2x?x64xf32>
    %map = tile.encode %a : memref<2x?x64xf32> -> !map
    %other = tile.encode %b : memref<?xf32> -> !other
    gpu.launch_func @copy_kernels::@copy_kernel0 clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%map : !map, %n : index, %other : !other)
    gpu.launch_func @copy_kernels::@copy_kernel1 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%c7 : index)
    return
  }
}
"""


ODD = """
!map = !tile.tensor_map<8x32xf32, swizzle = 128>
module attributes {gpu.container_module} {
  gpu.module @odd_kernels {
    gpu.func @odd_kernel0(%a: !map) kernel { gpu.return }
  }
  func.func @odd(%a: memref<?x?xf32> {te.name = "A", te.dtype = f32, te.symbols = ["m", "n"], te.output}) {
    %c1 = arith.constant 1 : index
    %map = tile.encode %a : memref<?x?xf32> -> !map
    gpu.launch_func @odd_kernels::@odd_kernel0 blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%map : !map)
    return
  }
}
"""


def make(source: str, arch: str = "sm_90a") -> CudaProgram:
    with context():
        module = mlir_ir.Module.parse(source)
        PassManager.parse("builtin.module(tilewright-pipeline{from=gpu to=host})").run(module.operation)
        function = next(op for op in module.body.operations if "tilewright.kernels" in op.attributes)
        signature = Signature.from_function(function.operation, DeviceKind.CUDA)
        return CudaProgram(HostProgram(module, cubins={arch: b"\x7fELF"}), signature)


@pytest.fixture
def copy() -> CudaProgram:
    return make(SOURCE)


def arrays(n: int) -> tuple[nd.NDArray, nd.NDArray]:
    return nd.zeros((2, n, 64), "float32", cuda(0)), nd.zeros(n, "float32", cuda(0))


def read(where: int, kind: type, count: int) -> list[int]:
    return list((kind * count).from_address(where)) if count else []


def test_encoded_and_passed(fake, copy: CudaProgram) -> None:
    encoded, passed = [], []

    def encode(place, element, rank, data, extents, strides, box, steps, interleave, swizzle, promotion, fill) -> int:
        assert place % 64 == 0
        ctypes.memset(place, 0x40 + len(encoded), 128)
        wide, narrow = ctypes.c_uint64, ctypes.c_uint32
        shape = (
            read(extents, wide, rank),
            read(strides, wide, rank - 1),
            read(box, narrow, rank),
            read(steps, narrow, rank),
        )
        encoded.append((element, data, *shape, interleave, swizzle, promotion, fill))
        return 0

    def kernel(function: int, params) -> None:
        if function == 0xF000:
            passed.append([ctypes.string_at(params[i], size) for i, size in enumerate((128, 8, 128))])
        else:
            passed.append([ctypes.string_at(params[0], 8)])

    fake.table.set_encode(encode)
    fake.kernel = kernel
    a, b = arrays(24)
    copy(a, b)
    # Innermost dimension first; 11 is CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, 7 FLOAT32, 3 SWIZZLE_128B.
    assert [one[:1] + one[2:] for one in encoded] == [
        (11, [64, 24, 2], [256, 6144], [32, 8, 1], [1, 1, 1], 0, 3, 3, 0),
        (7, [24], [], [16], [1], 0, 0, 3, 0),
    ]
    assert [one[1] for one in encoded] == [a.address, b.address]
    number = lambda value: value.to_bytes(8, "little")  # noqa: E731
    assert passed == [[b"\x40" * 128, number(24), b"\x41" * 128], [number(7)]]
    np.testing.assert_array_equal(b.numpy(), 0)


def test_tensors_without_elements(fake, copy: CudaProgram) -> None:
    """The driver has no map of them: kernels get that of one element, wherever it is, outside of which they copy."""
    encoded = []

    def encode(place, element, rank, data, extents, strides, box, *others) -> int:
        encoded.append((read(extents, ctypes.c_uint64, rank), read(strides, ctypes.c_uint64, rank - 1)))
        assert data and data % 16 == 0
        return 0

    fake.table.set_encode(encode)
    copy(*arrays(0))
    assert encoded == [([1, 1, 1], [16, 16]), ([1], [])]


def test_refused_by_the_driver(fake, copy: CudaProgram) -> None:
    fake.table.set_encode(lambda *_: 1)
    with pytest.raises(DriverError) as caught:
        copy(*arrays(24))
    assert str(caught.value) == (
        "cuTensorMapEncodeTiled failed with CUDA_ERROR_INVALID_VALUE (1): a tensor with the extents (2, 24, 64)"
    )
    assert fake.launches == []


def test_strides_that_the_engine_cannot_do(fake) -> None:
    fake.table.set_encode(lambda *_: 1)
    with pytest.raises(DriverError) as caught:
        make(ODD)(nd.zeros((4, 5), "float32", cuda(0)))
    assert str(caught.value) == (
        "cuTensorMapEncodeTiled failed with CUDA_ERROR_INVALID_VALUE (1): a tensor with the extents (4, 5); "
        "expected a stride of a multiple of 16 bytes in dimension 0, got 20"
    )


def test_a_gpu_whose_threads_copy(fake) -> None:
    """To it a map is where the tensor lies, and of each dimension, the innermost first, extent, stride and step."""
    passed = []

    def kernel(function: int, params) -> None:
        if function == 0xF000:
            passed.extend(read(params[0], ctypes.c_uint64, 16))

    fake.attributes["COMPUTE_CAPABILITY_MAJOR"] = 8
    fake.attributes["COMPUTE_CAPABILITY_MINOR"] = 0
    fake.kernel = kernel
    a, b = arrays(24)
    make(
        SOURCE.replace("known_cluster_size = array<i32: 2, 1, 1>", "a").replace(
            "clusters in (%c2, %c1, %c1) blocks", "blocks"
        ),
        "sm_80",
    )(a, b)
    assert passed[:4] == [a.address, 64, 24, 2]
    assert passed[6:9] == [4, 256, 6144] and passed[11:14] == [1, 1, 1]


def test_strides_that_threads_cannot_copy(fake) -> None:
    fake.attributes["COMPUTE_CAPABILITY_MAJOR"] = 8
    fake.attributes["COMPUTE_CAPABILITY_MINOR"] = 0
    with pytest.raises(LaunchError) as caught:
        make(ODD, "sm_80")(nd.zeros((4, 5), "float32", cuda(0)))
    assert str(caught.value) == (
        "threads cannot copy 16 bytes at a time of a tensor with the extents (4, 5); expected a stride of a multiple of "
        "16 bytes in dimension 0, got 20"
    )


def test_an_old_driver(fake, copy: CudaProgram) -> None:
    with pytest.raises(LaunchError) as caught:
        copy(*arrays(24))
    assert str(caught.value) == (
        "no cuTensorMapEncodeTiled, which kernels with tensor maps need: install a driver for CUDA 12 or later"
    )


def test_launch_config(fake, copy: CudaProgram) -> None:
    first, second = copy.launch_config(*arrays(24))
    assert (first.grid, second.grid) == ((2, 1, 1), (1, 1, 1))
