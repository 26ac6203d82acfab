// RUN: tilewright-opt %s --tilewright-pipeline="from=gpu to=host" | FileCheck %s

// The whole edge leaves LLVM's dialect alone.

// CHECK-LABEL: llvm.func @scale(
// CHECK-NOT: {{arith\.|affine\.|scf\.|cf\.|func\.|gpu\.|builtin\.}}
// CHECK: llvm.func @scale_workspace_bytes
// CHECK-NOT: {{arith\.|affine\.|scf\.|cf\.|func\.|gpu\.|builtin\.}}
module attributes {gpu.container_module} {
  gpu.module @scale_kernels {
    gpu.func @scale_kernel0(%a: memref<?xf32>, %t: memref<?xf32>) kernel { gpu.return }
    gpu.func @scale_kernel1(%a: memref<?xf32>, %t: memref<?xf32>, %n: index) kernel { gpu.return }
  }
  func.func @scale(%a: memref<?xf32> {te.name = "A"}, %b: memref<?xf32> {te.name = "B", te.output},
                   %workspace: memref<?xi8>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    %t = memref.view %workspace[%c0][%n] : memref<?xi8> to memref<?xf32>
    %grid = affine.apply affine_map<()[s0] -> (s0 ceildiv 256)>()[%n]
    gpu.launch_func @scale_kernels::@scale_kernel0 blocks in (%grid, %c1, %c1) threads in (%c256, %c1, %c1)
      args(%a : memref<?xf32>, %t : memref<?xf32>)
    %many = arith.cmpi ugt, %n, %c256 : index
    scf.if %many {
      %blocks = arith.ceildivsi %n, %c256 : index
      gpu.launch_func @scale_kernels::@scale_kernel1 blocks in (%blocks, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%t : memref<?xf32>, %b : memref<?xf32>, %n : index)
    }
    return
  }
}
