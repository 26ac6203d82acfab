"""Programs on a GPU, with the driver's entry points replaced: what reaches them, and what comes back."""

from __future__ import annotations

import ctypes
import gc

import numpy as np
import pytest
from mlir import ir as mlir_ir
from mlir.passmanager import PassManager

from tilewright import nd
from tilewright.errors import DriverError, LaunchError
from tilewright.ir import context
from tilewright.runtime import CudaProgram, DeviceKind, Signature, Stream, cuda
from tilewright.runtime.host_program import HostProgram
from tilewright.runtime.module import runs_on

SOURCE = """
module attributes {gpu.container_module} {
  gpu.module @double_kernels {
    gpu.func @double_kernel0(%a: memref<?xf32>, %t: memref<?xf32>) kernel { gpu.return }
    gpu.func @double_kernel1(%t: memref<?xf32>, %b: memref<?xf32>) kernel { gpu.return }
  }
  func.func @double(%a: memref<?xf32> {te.name = "A", te.dtype = f32, te.symbols = ["n"]},
                    %b: memref<?xf32> {te.name = "B", te.dtype = f32, te.symbols = ["n"], te.output},
                    %workspace: memref<?xi8>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c128 = arith.constant 128 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    %size = arith.muli %n, %c4 : index
    %bytes = arith.index_cast %size : index to i32
    %t = memref.view %workspace[%c0][%n] : memref<?xi8> to memref<?xf32>
    %grid = arith.ceildivui %n, %c128 : index
    gpu.launch_func @double_kernels::@double_kernel0 blocks in (%grid, %c1, %c1) threads in (%c128, %c1, %c1)
      dynamic_shared_memory_size %bytes args(%a : memref<?xf32>, %t : memref<?xf32>)
    gpu.launch_func @double_kernels::@double_kernel1 blocks in (%c1, %grid, %c1) threads in (%c128, %c1, %c1)
      args(%t : memref<?xf32>, %b : memref<?xf32>)
    return
  }
}
"""


def make(arch: str = "sm_90a") -> CudaProgram:
    with context():
        module = mlir_ir.Module.parse(SOURCE)
        PassManager.parse("builtin.module(tilewright-pipeline{from=gpu to=host})").run(module.operation)
        function = next(op for op in module.body.operations if "tilewright.kernels" in op.attributes)
        signature = Signature.from_function(function.operation, DeviceKind.CUDA)
        return CudaProgram(HostProgram(module, cubins={arch: b"\x7fELF"}), signature)


@pytest.fixture
def double(fake) -> CudaProgram:
    def kernel(function: int, params) -> None:
        """kernel0 copies A to T, kernel1 writes 2 T to B; read by the kernel ABI: pointer, extent, pointer, extent."""
        read = [ctypes.cast(params[i], ctypes.POINTER(ctypes.c_int64)).contents.value for i in range(4)]
        source, target = (
            np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_float)), (read[1],))
            for address in (read[0], read[2])
        )
        assert read[1] == read[3]
        target[:] = source * (1 if function == 0xF000 else 2)

    fake.kernel = kernel
    return make()


def arrays(n: int, index: int = 0) -> tuple[nd.NDArray, nd.NDArray]:
    return nd.array(np.arange(n, dtype="float32"), cuda(index)), nd.zeros(n, "float32", cuda(index))


def test_runs(fake, double: CudaProgram) -> None:
    a, b = arrays(1000)
    double(a, b)
    np.testing.assert_array_equal(b.numpy(), 2 * np.arange(1000))
    assert fake.launches == [
        (0xF000, (8, 1, 1, 128, 1, 1, 4000), None),
        (0xF001, (1, 8, 1, 128, 1, 1, 0), None),
    ]
    assert fake.limits == []


def test_loads_once_a_device(fake, double: CudaProgram) -> None:
    for index in (0, 1, 0, 1):
        double(*arrays(5, index))
    assert fake.names().count("cuModuleLoadData") == 2
    assert fake._stack == []


def test_shared_memory_over_48_kib_is_asked_for_once(fake, double: CudaProgram) -> None:
    for n in (20000, 16000, 20000, 25000):
        double(*arrays(n))
    assert fake.limits == [(0xF000, 8, 80000), (0xF000, 8, 100000)]


def test_streams(fake, double: CudaProgram) -> None:
    a, b = arrays(5)
    double(a, b, stream=0x77)
    with Stream(cuda(0)) as stream:
        double(a, b)
    assert [launch[2] for launch in fake.launches] == [0x77, 0x77, stream.handle, stream.handle]


def test_workspaces_come_from_a_pool_and_go_back_in_the_streams_order(fake, double: CudaProgram) -> None:
    a, b = arrays(5)
    before = dict(fake.sizes)
    for _ in range(10):
        double(a, b, stream=0x77)
    asked = [call[1:] for call in fake.calls if call[0] == "cuMemAllocFromPoolAsync"]
    given_back = [call[2] for call in fake.calls if call[0] == "cuMemFreeAsync"]
    assert [(size, stream) for size, _, stream in asked] == [(20, 0x77)] * 10 and given_back == [0x77] * 10
    assert len({pool for _, pool, _ in asked}) == 1 and fake.names().count("cuMemPoolCreate") == 1
    assert fake.sizes == before


@pytest.mark.parametrize(
    ("code", "what"),
    [
        (
            "CUDA_ERROR_OUT_OF_MEMORY",
            "CUDA_ERROR_OUT_OF_MEMORY (2): 4000 bytes of workspace for double on cuda:0; free memory on the GPU, or let "
            "fewer programs share it",
        ),
        (
            "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
            "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900): 4000 bytes of workspace for double on cuda:0; a stream is being "
            "captured, and this call is on another one: capture on a stream of the GPU that the arrays are on",
        ),
    ],
)
def test_no_workspace(fake, double: CudaProgram, code: str, what: str) -> None:
    a, b = arrays(1000)
    fake.fail["cuMemAllocFromPoolAsync"] = getattr(fake.CUresult, code)
    with pytest.raises(DriverError) as caught:
        double(a, b)
    assert str(caught.value) == f"cuMemAllocFromPoolAsync failed with {what}"
    assert fake.launches == [] and fake._stack == []


def test_wrong_arguments_launch_nothing(fake, double: CudaProgram) -> None:
    a, b = arrays(5)
    with pytest.raises(ValueError) as caught:
        double(a, arrays(6)[1])
    assert str(caught.value) == (
        "double(A: float32[n], B: float32[n]): argument 1 (B): expected extent n = 5, as in dimension 0 of A, in "
        "dimension 0, got shape (6,)"
    )
    assert fake.launches == []


def test_a_refused_launch_names_the_kernel_and_its_numbers(fake, double: CudaProgram) -> None:
    fake.launch_result = fake.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS
    with pytest.raises(DriverError) as caught:
        double(*arrays(1000))
    assert str(caught.value) == (
        "cuLaunchKernelEx failed with CUDA_ERROR_ILLEGAL_ADDRESS (700): double_kernel0 with grid (8, 1, 1), "
        "block (128, 1, 1) and 4000 bytes of shared memory on cuda:0; an earlier kernel of this process did that, and the "
        "GPU's context is lost with it: target \"sim\" names such an access of a kernel of Tilewright's, "
        "compute-sanitizer of any"
    )
    assert (caught.value.call, caught.value.code) == ("cuLaunchKernelEx", 700)
    assert len(fake.launches) == 1


def test_shared_memory_over_the_gpus_limit(fake, double: CudaProgram) -> None:
    fake.fail["cuFuncSetAttribute"] = fake.CUresult.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(DriverError) as caught:
        double(*arrays(100000))
    assert str(caught.value) == (
        "cuFuncSetAttribute failed with CUDA_ERROR_INVALID_VALUE (1): double_kernel0 with grid (782, 1, 1), "
        "block (128, 1, 1) and 400000 bytes of shared memory on cuda:0; "
        "expected at most 232448 for shared memory, got 400000"
    )


@pytest.mark.parametrize("arch", ["sm_80", "sm_100a"])
def test_a_cubin_for_another_architecture(fake, arch: str) -> None:
    program = make(arch)
    with pytest.raises(LaunchError) as caught:
        program(*arrays(5))
    assert str(caught.value) == (
        f"double is compiled for {arch}, and cuda:0 (Fake GPU 0) is sm_90: "
        'build it with target=tw.Target("cuda", arch="sm_90")'
    )
    assert "cuModuleLoadData" not in fake.names()


def test_a_cubin_that_the_driver_finds_to_be_for_another(fake, double: CudaProgram) -> None:
    fake.fail["cuModuleLoadData"] = fake.CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU
    with pytest.raises(DriverError) as caught:
        double(*arrays(5))
    assert str(caught.value) == (
        "cuModuleLoadData failed with CUDA_ERROR_NO_BINARY_FOR_GPU (209): double is compiled for sm_90a, and cuda:0 "
        '(Fake GPU 0) is sm_90: build it with target=tw.Target("cuda", arch="sm_90")'
    )


@pytest.mark.parametrize(
    ("arch", "capability", "runs"),
    [
        ("sm_75", (7, 5), True), ("sm_80", (8, 9), True), ("sm_86", (8, 0), False), ("sm_80", (9, 0), False),
        ("sm_90a", (9, 0), True), ("sm_100a", (10, 3), False), ("sm_100f", (10, 3), True), ("sm_120", (12, 1), True),
        ("sm_120", (10, 0), False),
    ],
)  # fmt: skip
def test_runs_on(arch: str, capability: tuple[int, int], runs: bool) -> None:
    assert runs_on(arch, capability) is runs


def test_no_architecture() -> None:
    with pytest.raises(ValueError, match=r"^expected an architecture like sm_90a, got 'hopper'$"):
        runs_on("hopper", (9, 0))


def test_kernel_attributes(fake, double: CudaProgram) -> None:
    first, second = double.kernel_attributes()
    assert (first.kernel, first.num_regs, first.local_bytes, first.max_threads) == ("double_kernel0", 32, 0, 1024)
    assert (second.kernel, second.num_regs, second.shared_bytes) == ("double_kernel1", 33, 1)


def test_launch_config_launches_nothing(fake, double: CudaProgram) -> None:
    assert [launch.grid for launch in double.launch_config(*arrays(300))] == [(3, 1, 1), (1, 3, 1)]
    assert fake.launches == [] and "cuModuleLoadData" not in fake.names()


def test_a_program_that_goes_is_unloaded(fake) -> None:
    program = make()
    program.load(cuda(1))
    del program
    gc.collect()
    assert fake.names().count("cuModuleUnload") == 1
