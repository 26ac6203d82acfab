// RUN: tilewright-opt %s --wrap-in-host-abi | FileCheck %s

// data, shape, workspace, launcher: the i-th pointer of data, and the extents of all arguments in order.
// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[DATA:[^:]*]]: !llvm.ptr, %[[SHAPE:[^:]*]]: !llvm.ptr, %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: !llvm.ptr) -> i32
// CHECK: %[[A_PLACE:.*]] = llvm.getelementptr %[[DATA]][0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK: llvm.load %[[A_PLACE]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[A:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<4x8xf32>
// CHECK: %[[B_PLACE:.*]] = llvm.getelementptr %[[DATA]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK: llvm.load %[[B_PLACE]] : !llvm.ptr -> !llvm.ptr
// CHECK: %[[N_PLACE:.*]] = llvm.getelementptr %[[SHAPE]][3] : (!llvm.ptr) -> !llvm.ptr, i64
// CHECK: %[[N:.*]] = llvm.load %[[N_PLACE]] : !llvm.ptr -> i64
// CHECK: llvm.insertvalue %[[N]], %{{.*}}[3, 1]
// CHECK: %[[B:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<4x?xf32>
// Temporaries come from the run time. Without memory, or where their bytes are more than can be said, the program ends.
// CHECK: %[[LOW:.*]], %[[HIGH:.*]] = arith.mulsi_extended
// CHECK: %[[BYTES:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : i64
// CHECK: %[[MADE:.*]] = llvm.call @tilewrightHostAllocate(%{{.*}}, %[[BYTES]]) : (!llvm.ptr, i64) -> !llvm.ptr
// CHECK: %[[MISSING:.*]] = llvm.icmp "eq" %[[MADE]]
// CHECK: cf.cond_br %[[MISSING]], ^[[FAIL:.*]], ^[[NEXT:.*]]
// CHECK: ^[[FAIL]]:
// CHECK-NEXT: %[[FAILED:.*]] = arith.constant -1 : i32
// CHECK-NEXT: return %[[FAILED]] : i32
// CHECK: ^[[NEXT]]:
// CHECK: llvm.insertvalue %[[MADE]]
// CHECK: %[[T:.*]] = builtin.unrealized_conversion_cast %{{.*}} to memref<4x?xf32>
// A result that is not the output's argument is copied there, temporaries are freed, and the end is 0.
// CHECK: memref.copy %[[T]], %[[B]]
// CHECK: %[[OK:.*]] = arith.constant 0 : i32
// CHECK: llvm.call @free(%[[MADE]])
// CHECK: return %[[OK]] : i32
// CHECK-LABEL: func.func @f_workspace_bytes(
// CHECK-SAME: !llvm.ptr) -> i64
// CHECK: %[[NONE:.*]] = arith.constant 0 : i64
// CHECK: return %[[NONE]] : i64
func.func @f(%A: memref<4x8xf32>, %B: memref<4x?xf32> {te.name = "B", te.output}) -> memref<4x?xf32> {
  %c1 = arith.constant 1 : index
  %n = memref.dim %B, %c1 : memref<4x?xf32>
  %T = memref.alloc(%n) : memref<4x?xf32>
  return %T : memref<4x?xf32>
}

// A result that is the output's argument already.
// CHECK-LABEL: func.func @in_place(
// CHECK-NOT: memref.copy
// CHECK: return
func.func @in_place(%A: memref<8xf32> {te.output}) -> memref<8xf32> {
  return %A : memref<8xf32>
}

// CHECK: func.func private @external(memref<8xf32>)
func.func private @external(memref<8xf32>)

// The strides of an argument that is not row-major lie behind its extents, those that are known too.
// CHECK-LABEL: func.func @strided(
// CHECK-SAME: %{{[^:]*}}: !llvm.ptr, %[[SHAPE:[^:]*]]: !llvm.ptr
// CHECK: %[[LD_PLACE:.*]] = llvm.getelementptr %[[SHAPE]][2]
// CHECK: %[[LD:.*]] = llvm.load %[[LD_PLACE]] : !llvm.ptr -> i64
// CHECK: llvm.insertvalue %[[LD]], %{{.*}}[4, 0]
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<4x8xf32, strided<[?, 1]>>
// CHECK: llvm.getelementptr %[[SHAPE]][4]
// CHECK: builtin.unrealized_conversion_cast %{{.*}} to memref<?xf32>
func.func @strided(%A: memref<4x8xf32, strided<[?, 1]>>, %B: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %x = memref.load %A[%c0, %c0] : memref<4x8xf32, strided<[?, 1]>>
  memref.store %x, %B[%c0] : memref<?xf32>
  return
}
