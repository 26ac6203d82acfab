"""The compiled host program: what it hands its launcher, and what it makes of the launcher's answer."""

from __future__ import annotations

import ctypes

import pytest
from mlir import ir as mlir_ir
from mlir.passmanager import PassManager

from tilewright.ir import context
from tilewright.runtime.host_program import HostProgram, KernelLaunch, Launcher, _LaunchFunction

# Two kernels over a symbolic n, the second behind a condition, with a temporary of n floats between them.
SOURCE = """
module attributes {gpu.container_module} {
  gpu.module @scale_kernels {
    gpu.func @scale_kernel0(%a: memref<?x4xf32>, %t: memref<?xf32>, %by: f32) kernel { gpu.return }
    gpu.func @scale_kernel1(%t: memref<?xf32>, %b: memref<?x4xf32>, %n: index) kernel { gpu.return }
  }
  func.func @scale(%a: memref<?x4xf32> {te.name = "A"}, %b: memref<?x4xf32> {te.name = "B", te.output},
                   %workspace: memref<?xi8>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %by = arith.constant 2.5 : f32
    %bytes = arith.constant 1024 : i32
    %n = memref.dim %a, %c0 : memref<?x4xf32>
    %t = memref.view %workspace[%c256][%n] : memref<?xi8> to memref<?xf32>
    %grid = affine.apply affine_map<()[s0] -> (s0 ceildiv 128)>()[%n]
    gpu.launch_func @scale_kernels::@scale_kernel0 blocks in (%grid, %c1, %c1) threads in (%c128, %c1, %c1)
      dynamic_shared_memory_size %bytes args(%a : memref<?x4xf32>, %t : memref<?xf32>, %by : f32)
      {tilewright.launch_origin = {grid.x = "i.outer of stage T, scale.py:5"}}
    %many = arith.cmpi ugt, %n, %c128 : index
    scf.if %many {
      gpu.launch_func @scale_kernels::@scale_kernel1 blocks in (%c1, %grid, %c1) threads in (%c64, %c1, %c1)
        args(%t : memref<?xf32>, %b : memref<?x4xf32>, %n : index)
    }
    return
  }
}
"""


@pytest.fixture(scope="module")
def scale() -> HostProgram:
    with context():
        module = mlir_ir.Module.parse(SOURCE)
        PassManager.parse("builtin.module(tilewright-pipeline{from=gpu to=host})").run(module.operation)
        return HostProgram(module)


class Spy:
    """A launcher that keeps what it is given; parameters are read as the kernel ABI lays them out."""

    def __init__(self, params: dict[int, str], answers: dict[int, int] | None = None) -> None:
        self.launches: list[tuple[int, tuple[int, ...], list[object]]] = []
        # Of each launch, the bytes of the parameters as one block, or None.
        self.blocks: list[int | None] = []
        kinds = {"p": ctypes.c_uint64, "i": ctypes.c_int64, "f": ctypes.c_float}

        def launch(_context, kernel, config, slots, count):
            values = [
                ctypes.cast(slots[i], ctypes.POINTER(kinds[kind])).contents.value
                for i, kind in zip(range(count), params[kernel], strict=True)
            ]
            self.launches.append((kernel, tuple(config[i] for i in range(7)), values))
            self.blocks.append(slots[count] and slots[count] - slots[0])
            return (answers or {}).get(kernel, 0)

        self._function = _LaunchFunction(launch)
        self.launcher = Launcher(None, ctypes.cast(self._function, ctypes.c_void_p))


def test_names(scale: HostProgram) -> None:
    assert scale.name == "scale"
    assert scale.kernels == ("scale_kernel0", "scale_kernel1")


def test_launches_follow_the_kernel_abi(scale: HostProgram) -> None:
    spy = Spy({0: "pipif", 1: "pipii"})
    assert scale.call([0x1000, 0x2000], [1000, 4, 1000, 4], 0x4000, spy.launcher) == 0
    assert spy.launches == [
        (0, (8, 1, 1, 128, 1, 1, 1024), [0x1000, 1000, 0x4100, 1000, 2.5]),
        (1, (1, 8, 1, 64, 1, 1, 0), [0x4100, 1000, 0x2000, 1000, 1000]),
    ]
    # A float of 4 bytes does not lie in its slot as the kernel would find it.
    assert spy.blocks == [None, 40]


def test_a_branch_not_taken_launches_nothing(scale: HostProgram) -> None:
    spy = Spy({0: "pipif"})
    assert scale.call([0x1000, 0x2000], [100, 4, 100, 4], 0x4000, spy.launcher) == 0
    assert [kernel for kernel, _, _ in spy.launches] == [0]


def test_an_empty_grid_launches_nothing(scale: HostProgram) -> None:
    spy = Spy({})
    assert scale.call([0, 0], [0, 4, 0, 4], 0, spy.launcher) == 0
    assert spy.launches == []


def test_the_first_failure_ends_the_call_and_is_returned(scale: HostProgram) -> None:
    spy = Spy({0: "pipif", 1: "pipii"}, answers={0: 719})
    assert scale.call([0x1000, 0x2000], [1000, 4, 1000, 4], 0x4000, spy.launcher) == 719
    assert len(spy.launches) == 1


def test_workspace_bytes(scale: HostProgram) -> None:
    assert scale.workspace_bytes([1000, 4, 1000, 4]) == 256 + 4 * 1000
    assert scale.workspace_bytes([0, 4, 0, 4]) == 256


def test_launch_config_records(scale: HostProgram) -> None:
    launches = scale.launch_config([1000, 4, 1000, 4])
    assert launches == (
        KernelLaunch("scale_kernel0", (8, 1, 1), (128, 1, 1), 1024, {"grid.x": "i.outer of stage T, scale.py:5"}),
        KernelLaunch("scale_kernel1", (1, 8, 1), (64, 1, 1), 0, {}),
    )
    assert str(launches[0]) == (
        "scale_kernel0\n"
        "  grid.x = 8  (i.outer of stage T, scale.py:5)\n"
        "  grid.y = 1\n  grid.z = 1\n  block.x = 128\n  block.y = 1\n  block.z = 1\n  shared = 1024"
    )


def test_more_launches_than_kernels_are_all_recorded() -> None:
    with context():
        module = mlir_ir.Module.parse("""
          module attributes {gpu.container_module} {
            gpu.module @f_kernels { gpu.func @f_kernel0() kernel { gpu.return } }
            func.func @f() {
              %c0 = arith.constant 0 : index
              %c1 = arith.constant 1 : index
              %c5 = arith.constant 5 : index
              scf.for %i = %c1 to %c5 step %c1 {
                gpu.launch_func @f_kernels::@f_kernel0 blocks in (%i, %c1, %c1) threads in (%c1, %c1, %c1)
              }
              return
            }
          }""")
        PassManager.parse("builtin.module(tilewright-pipeline{from=gpu to=host})").run(module.operation)
        assert [launch.grid[0] for launch in HostProgram(module).launch_config([])] == [1, 2, 3, 4]


def test_wrong_lengths(scale: HostProgram) -> None:
    with pytest.raises(ValueError, match=r"^expected 2 addresses for @scale, got 1$"):
        scale.call([0], [1, 4, 1, 4], 0, Launcher())
    with pytest.raises(ValueError, match=r"^expected 4 extents for @scale, got 2$"):
        scale.workspace_bytes([1, 4])


def test_no_such_program() -> None:
    with context():
        module = mlir_ir.Module.parse("module {}")
        with pytest.raises(ValueError, match=r"^expected exactly one program in the host module, got none$"):
            HostProgram(module)
        with pytest.raises(ValueError, match=r"^expected the program 'f' in the host module, got none$"):
            HostProgram(module, "f")
