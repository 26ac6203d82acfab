// RUN: tilewright-opt %s --convert-gpu-to-host --split-input-file | FileCheck %s

// Pointers and the dynamic extents come from the arrays of the ABI; the parameters are those of the kernel ABI.

// CHECK-NOT: gpu.container_module
// CHECK-LABEL: llvm.func @scale(
// CHECK-SAME: %[[DATA:.*]]: !llvm.ptr, %[[SHAPE:.*]]: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[LAUNCHER:.*]]: !llvm.ptr) -> i32
// CHECK-SAME: tilewright.arguments = [{te.name = "A", te.symbols = ["n", ""], type = memref<?x4xf32>}, {te.name = "B", te.output, type = memref<?x4xf32>}]
// CHECK-SAME: tilewright.kernels = ["scale_kernel0"]
// CHECK: %[[A:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.ptr
// CHECK: %[[N_PLACE:.*]] = llvm.getelementptr %[[SHAPE]][0]
// CHECK: %[[N_I64:.*]] = llvm.load %[[N_PLACE]] : !llvm.ptr -> i64
// CHECK: %[[N:.*]] = arith.index_cast %[[N_I64]] : i64 to index
// CHECK: %[[B_PLACE:.*]] = llvm.getelementptr %[[DATA]][1]
// CHECK: %[[B:.*]] = llvm.load %[[B_PLACE]]
// CHECK: %[[M_PLACE:.*]] = llvm.getelementptr %[[SHAPE]][2]
// CHECK: %[[M:.*]] = arith.index_cast
// CHECK: %[[CONTEXT:.*]] = llvm.load %[[LAUNCHER]]
// CHECK: %[[LAUNCH_PLACE:.*]] = llvm.getelementptr %[[LAUNCHER]][0, 1]
// CHECK: %[[LAUNCH:.*]] = llvm.load %[[LAUNCH_PLACE]]
// CHECK: %[[CONFIG:.*]] = llvm.alloca %{{.*}} x i64
// CHECK: %[[SLOTS:.*]] = llvm.alloca %{{.*}} x i64
// CHECK: %[[PARAMS:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: %[[GRID:.*]] = arith.ceildivui %[[N]]
// The driver refuses an empty grid.
// CHECK: %[[GRID_I64:.*]] = arith.index_cast %[[GRID]]
// CHECK: %[[EMPTY:.*]] = llvm.icmp "eq" %[[GRID_I64]]
// CHECK: llvm.cond_br %[[EMPTY]], ^[[DONE:.*]], ^[[GO:.*]]
// CHECK: ^[[GO]]:
// CHECK: llvm.getelementptr %[[CONFIG]][0]
// CHECK: llvm.store %[[GRID_I64]]
// CHECK: llvm.getelementptr %[[CONFIG]][6]
// CHECK: llvm.getelementptr %[[SLOTS]][0]
// CHECK: llvm.store %[[A]]
// CHECK: %[[N_AGAIN:.*]] = arith.index_cast %[[N]] : index to i64
// CHECK: llvm.getelementptr %[[SLOTS]][1]
// CHECK: llvm.store %[[N_AGAIN]]
// CHECK: llvm.getelementptr %[[SLOTS]][2]
// CHECK: llvm.store %[[B]]
// CHECK: llvm.getelementptr %[[SLOTS]][3]
// CHECK: llvm.getelementptr %[[SLOTS]][4]
// CHECK: llvm.store %{{.*}} : f32
// The scalar of 4 bytes keeps the parameters from being one block.
// CHECK: %[[END:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: %[[END_PLACE:.*]] = llvm.getelementptr %[[PARAMS]][5]
// CHECK: llvm.store %[[END]], %[[END_PLACE]]
// CHECK: %[[KERNEL:.*]] = llvm.mlir.constant(0 : i32)
// CHECK: %[[COUNT:.*]] = llvm.mlir.constant(5 : i32)
// CHECK: %[[STATUS:.*]] = llvm.call %[[LAUNCH]](%[[CONTEXT]], %[[KERNEL]], %[[CONFIG]], %[[PARAMS]], %[[COUNT]])
// CHECK-SAME: tilewright.cluster = array<i32: 2, 1, 1>
// CHECK-SAME: tilewright.kernel = "scale_kernel0"
// CHECK-SAME: tilewright.launch_origin = {grid.x = "i.outer of stage B, scale.py:5"}
// CHECK: %[[FAILED:.*]] = llvm.icmp "ne" %[[STATUS]]
// CHECK: llvm.cond_br %[[FAILED]], ^[[STOP:.*]](%[[STATUS]] : i32), ^[[DONE]]
// CHECK: ^[[DONE]]:
// CHECK: llvm.return %{{.*}} : i32
// CHECK: ^[[STOP]](%[[CODE:.*]]: i32):
// CHECK: llvm.return %[[CODE]]
// CHECK-LABEL: llvm.func @scale_workspace_bytes(%{{.*}}: !llvm.ptr) -> i64
// CHECK: %[[NOTHING:.*]] = llvm.mlir.constant(0 : i64)
// CHECK: llvm.return %[[NOTHING]]
// CHECK-NOT: gpu.
module attributes {gpu.container_module} {
  gpu.module @scale_kernels {
    gpu.func @scale_kernel0(%a: memref<?x4xf32>, %b: memref<?x4xf32>, %by: f32) kernel
        attributes {known_cluster_size = array<i32: 2, 1, 1>} { gpu.return }
  }
  func.func @scale(%a: memref<?x4xf32> {te.name = "A", te.symbols = ["n", ""]},
                   %b: memref<?x4xf32> {te.name = "B", te.output}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    %by = arith.constant 2.0 : f32
    %n = memref.dim %a, %c0 : memref<?x4xf32>
    %grid = arith.ceildivui %n, %c256 : index
    gpu.launch_func @scale_kernels::@scale_kernel0 blocks in (%grid, %c1, %c1) threads in (%c256, %c1, %c1)
      args(%a : memref<?x4xf32>, %b : memref<?x4xf32>, %by : f32)
      {tilewright.launch_origin = {grid.x = "i.outer of stage B, scale.py:5"}}
    return
  }
}

// -----

// Two kernels with a temporary in the workspace: a constant grid needs no test, the second launch waits for the first
// one's status.

// CHECK-LABEL: llvm.func @twice(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %[[WORKSPACE:[a-z0-9]*]]: !llvm.ptr, %{{.*}}: !llvm.ptr)
// CHECK-SAME: tilewright.kernels = ["twice_kernel0", "twice_kernel1"]
// CHECK: %[[SHIFT:.*]] = arith.index_cast %c512 : index to i64
// CHECK: %[[T:.*]] = llvm.getelementptr %[[WORKSPACE]][%[[SHIFT]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: %[[BYTES:.*]] = llvm.zext %c64_i32 : i32 to i64
// CHECK-NOT: llvm.cond_br
// CHECK: llvm.store %[[BYTES]]
// CHECK: llvm.store %[[T]]
// CHECK: %[[END:.*]] = llvm.getelementptr %{{.*}}[2] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: llvm.store %[[END]]
// CHECK: %[[FIRST:.*]] = llvm.call {{.*}}{tilewright.kernel = "twice_kernel0"
// CHECK: llvm.cond_br %{{.*}}, ^[[STOP:.*]](%[[FIRST]] : i32), ^[[NEXT:.*]]
// CHECK: ^[[NEXT]]:
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
// CHECK: %[[SECOND:.*]] = llvm.call %{{.*}}(%{{.*}}, %[[ONE]], {{.*}}{tilewright.kernel = "twice_kernel1"
// CHECK: llvm.cond_br %{{.*}}, ^[[STOP]](%[[SECOND]] : i32)
// CHECK-LABEL: llvm.func @twice_workspace_bytes
// CHECK: llvm.mlir.constant(768 : i64)
module attributes {gpu.container_module} {
  gpu.module @twice_kernels {
    gpu.func @twice_kernel0(%a: memref<64xf32>, %t: memref<64xf32>) kernel { gpu.return }
    gpu.func @twice_kernel1(%t: memref<64xf32>, %b: memref<64xf32>) kernel { gpu.return }
  }
  func.func @twice(%a: memref<64xf32> {te.name = "A"}, %b: memref<64xf32> {te.name = "B", te.output},
                   %workspace: memref<?xi8>) attributes {tilewright.workspace_bytes = 768 : i64} {
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c512 = arith.constant 512 : index
    %bytes = arith.constant 64 : i32
    %t = memref.view %workspace[%c512][] : memref<?xi8> to memref<64xf32>
    gpu.launch_func @twice_kernels::@twice_kernel0 blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
      dynamic_shared_memory_size %bytes args(%a : memref<64xf32>, %t : memref<64xf32>)
    gpu.launch_func @twice_kernels::@twice_kernel1 blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%t : memref<64xf32>, %b : memref<64xf32>)
    return
  }
}

// -----

// A workspace whose size depends on the extents: the end of its furthest view.

// CHECK-LABEL: llvm.func @symbolic_workspace_bytes(
// CHECK-SAME: %[[SHAPE:.*]]: !llvm.ptr
// CHECK: %[[PLACE:.*]] = llvm.getelementptr %[[SHAPE]][0]
// CHECK: %[[LOADED:.*]] = llvm.load %[[PLACE]]
// CHECK: %[[N:.*]] = arith.index_cast %[[LOADED]]
// CHECK: %[[SHIFT:.*]] = arith.muli %[[N]], %c4
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i64)
// CHECK: %[[BYTES:.*]] = "llvm.intr.smul.with.overflow"(%[[FOUR]], %{{.*}})
// CHECK: %[[SIZE:.*]] = llvm.extractvalue %[[BYTES]][0]
// CHECK: %[[END:.*]] = llvm.add %{{.*}}, %[[SIZE]]
// CHECK: llvm.icmp "slt" %[[END]]
// CHECK: %[[MOST:.*]] = llvm.intr.smax(%{{.*}}, %[[END]])
// CHECK: %[[ROWS:.*]] = llvm.mlir.constant(3 : i64)
// CHECK: %[[BYTES:.*]] = "llvm.intr.smul.with.overflow"(%{{.*}}, %[[ROWS]])
// CHECK: %[[SIZE:.*]] = llvm.extractvalue %[[BYTES]][0]
// CHECK: %[[BEGIN:.*]] = arith.index_cast %[[SHIFT]]
// CHECK: %[[END:.*]] = llvm.add %[[BEGIN]], %[[SIZE]]
// CHECK: llvm.icmp "slt" %[[BEGIN]]
// CHECK: %[[LAST:.*]] = llvm.intr.smax(%[[MOST]], %[[END]])
// Beyond 64 bits there is none.
// CHECK: %[[NONE:.*]] = llvm.mlir.constant(-1 : i64)
// CHECK: %[[RESULT:.*]] = llvm.select %{{.*}}, %[[NONE]], %[[LAST]]
// CHECK: llvm.return %[[RESULT]]
func.func @symbolic(%a: memref<?xf32> {te.name = "A"}, %workspace: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %t = memref.view %workspace[%c0][%n] : memref<?xi8> to memref<?xf32>
  %shift = arith.muli %n, %c4 : index
  %u = memref.view %workspace[%shift][%n] : memref<?xi8> to memref<?x3xf16>
  return
}

// -----

// An int8 argument of the program is not the workspace: it has a name. A program may launch nothing.

// CHECK-LABEL: llvm.func @bytes(
// CHECK-SAME: tilewright.arguments = [{te.name = "A", type = memref<?xi8>}]
func.func @bytes(%a: memref<?xi8> {te.name = "A"}) {
  return
}

// -----

// A grid that is known to have blocks is not asked for.
// CHECK-LABEL: llvm.func @never_empty(
// CHECK-NOT: llvm.icmp "eq"
// CHECK: llvm.call %{{.*}}({{.*}}) {tilewright.kernel = "never_empty_kernel0"
module attributes {gpu.container_module} {
  gpu.module @never_empty_kernels {
    gpu.func @never_empty_kernel0(%a: memref<?xf32>) kernel { gpu.return }
  }
  func.func @never_empty(%a: memref<?xf32> {te.name = "A", te.symbols = ["n"], te.minimum = array<i64: 1>, te.output}) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %n = memref.dim %a, %c0 : memref<?xf32>
    gpu.launch_func @never_empty_kernels::@never_empty_kernel0 blocks in (%n, %c1, %c1) threads in (%c1, %c1, %c1)
      args(%a : memref<?xf32>) {tilewright.nonempty}
    return
  }
}
