// RUN: tilewright-opt %s --plan-shared-memory | FileCheck %s

// Offsets in bytes. Buffers of 1024 bytes or more begin at multiples of 128, smaller ones at multiples of 16.

module attributes {gpu.container_module} {
// CHECK-LABEL: gpu.module @kernels
// CHECK-NEXT: memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
gpu.module @kernels {

// Both are read at the end: side by side, the larger first.
// CHECK-LABEL: gpu.func @side_by_side
// CHECK-NEXT: %[[ALL:.*]] = memref.get_global @shared_memory
// CHECK-NEXT: %[[A:.*]] = arith.constant 400 : index
// CHECK-NEXT: memref.view %[[ALL]][%[[A]]][] {te.stage = "A"} : {{.*}} to memref<3xf32
// CHECK-NEXT: %[[B:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.view %[[ALL]][%[[B]]][] {te.stage = "B"} : {{.*}} to memref<100xf32
// CHECK-NEXT: %[[C:.*]] = arith.constant 416 : index
// CHECK-NEXT: memref.view %[[ALL]][%[[C]]][] {te.stage = "C"} : {{.*}} to memref<9xi8
// CHECK-NOT: memref.alloc
// CHECK-NOT: memref.dealloc
gpu.func @side_by_side(%x: f32, %b: i8) kernel {
  %A = memref.alloc() {te.stage = "A"} : memref<3xf32, #gpu.address_space<workgroup>>
  %c0 = arith.constant 0 : index
  %B = memref.alloc() {te.stage = "B"} : memref<100xf32, #gpu.address_space<workgroup>>
  %C = memref.alloc() {te.stage = "C"} : memref<9xi8, #gpu.address_space<workgroup>>
  memref.store %x, %A[%c0] : memref<3xf32, #gpu.address_space<workgroup>>
  memref.store %x, %B[%c0] : memref<100xf32, #gpu.address_space<workgroup>>
  memref.store %b, %C[%c0] : memref<9xi8, #gpu.address_space<workgroup>>
  %a = memref.load %A[%c0] : memref<3xf32, #gpu.address_space<workgroup>>
  %c = memref.load %B[%c0] : memref<100xf32, #gpu.address_space<workgroup>>
  memref.dealloc %A : memref<3xf32, #gpu.address_space<workgroup>>
  gpu.return
}

// A larger alignment that an allocation asks for, and that of large buffers: 4000 bytes, then at 4096, then 5120.
// CHECK-LABEL: gpu.func @alignment
// CHECK: %[[A:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[A]]][] {te.stage = "A"}
// CHECK-NEXT: %[[B:.*]] = arith.constant 4096 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[B]]][] {te.stage = "B"}
// CHECK-NEXT: %[[C:.*]] = arith.constant 6144 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[C]]][] {te.stage = "C"}
gpu.func @alignment(%x: f32) kernel {
  %c0 = arith.constant 0 : index
  %A = memref.alloc() {te.stage = "A"} : memref<1000xf32, #gpu.address_space<workgroup>>
  %B = memref.alloc() {te.stage = "B"} : memref<257xf32, #gpu.address_space<workgroup>>
  %C = memref.alloc() {te.stage = "C", alignment = 1024 : i64} : memref<4xf32, #gpu.address_space<workgroup>>
  memref.store %x, %A[%c0] : memref<1000xf32, #gpu.address_space<workgroup>>
  memref.store %x, %B[%c0] : memref<257xf32, #gpu.address_space<workgroup>>
  memref.store %x, %C[%c0] : memref<4xf32, #gpu.address_space<workgroup>>
  memref.store %x, %B[%c0] : memref<257xf32, #gpu.address_space<workgroup>>
  memref.store %x, %A[%c0] : memref<1000xf32, #gpu.address_space<workgroup>>
  gpu.return
}

// One loop after another: two buffers share a place. The third lives with both.
// CHECK-LABEL: gpu.func @one_after_another
// CHECK: %[[A:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[A]]][] {te.stage = "A"}
// CHECK-NEXT: %[[B:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[B]]][] {te.stage = "B"}
// CHECK-NEXT: %[[C:.*]] = arith.constant 4096 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[C]]][] {te.stage = "C"}
gpu.func @one_after_another(%x: f32) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %A = memref.alloc() {te.stage = "A"} : memref<1024xf32, #gpu.address_space<workgroup>>
  %B = memref.alloc() {te.stage = "B"} : memref<1024xf32, #gpu.address_space<workgroup>>
  %C = memref.alloc() {te.stage = "C"} : memref<1024xf32, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %A[%i] : memref<1024xf32, #gpu.address_space<workgroup>>
    memref.store %x, %C[%i] : memref<1024xf32, #gpu.address_space<workgroup>>
  }
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %B[%i] : memref<1024xf32, #gpu.address_space<workgroup>>
    memref.store %x, %C[%i] : memref<1024xf32, #gpu.address_space<workgroup>>
  }
  gpu.return
}

// Around a loop that uses them, both live as long as the loop; inside it, one after the other.
// CHECK-LABEL: gpu.func @around_and_inside
// CHECK: %[[A:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[A]]][] {te.stage = "A"}
// CHECK-NEXT: %[[B:.*]] = arith.constant 64 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[B]]][] {te.stage = "B"}
// CHECK-NEXT: %[[C:.*]] = arith.constant 128 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[C]]][] {te.stage = "C"}
// CHECK-NEXT: %[[D:.*]] = arith.constant 128 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[D]]][] {te.stage = "D"}
gpu.func @around_and_inside(%x: f32) kernel {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %A = memref.alloc() {te.stage = "A"} : memref<16xf32, #gpu.address_space<workgroup>>
  %B = memref.alloc() {te.stage = "B"} : memref<16xf32, #gpu.address_space<workgroup>>
  scf.for %i = %c0 to %c8 step %c1 {
    memref.store %x, %A[%i] : memref<16xf32, #gpu.address_space<workgroup>>
    memref.store %x, %B[%i] : memref<16xf32, #gpu.address_space<workgroup>>
    %C = memref.alloc() {te.stage = "C"} : memref<16xf32, #gpu.address_space<workgroup>>
    memref.store %x, %C[%i] : memref<16xf32, #gpu.address_space<workgroup>>
    %D = memref.alloc() {te.stage = "D"} : memref<16xf32, #gpu.address_space<workgroup>>
    memref.store %x, %D[%i] : memref<16xf32, #gpu.address_space<workgroup>>
  }
  gpu.return
}

// What is read from A is written to B: at one place they would need a barrier between. C may lie where A was.
// CHECK-LABEL: gpu.func @from_one_to_the_next
// CHECK: %[[A:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[A]]][] {te.stage = "A"}
// CHECK-NEXT: %[[B:.*]] = arith.constant 64 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[B]]][] {te.stage = "B"}
// CHECK-NEXT: %[[C:.*]] = arith.constant 0 : index
// CHECK-NEXT: memref.view %{{.*}}[%[[C]]][] {te.stage = "C"}
gpu.func @from_one_to_the_next(%x: f32, %p: i1) kernel {
  %c0 = arith.constant 0 : index
  %A = memref.alloc() {te.stage = "A"} : memref<16xf32, #gpu.address_space<workgroup>>
  memref.store %x, %A[%c0] : memref<16xf32, #gpu.address_space<workgroup>>
  %B = memref.alloc() {te.stage = "B"} : memref<16xf32, #gpu.address_space<workgroup>>
  %a = scf.if %p -> f32 {
    %read = memref.load %A[%c0] : memref<16xf32, #gpu.address_space<workgroup>>
    scf.yield %read : f32
  } else {
    scf.yield %x : f32
  }
  memref.store %a, %B[%c0] : memref<16xf32, #gpu.address_space<workgroup>>
  %C = memref.alloc() {te.stage = "C"} : memref<16xf32, #gpu.address_space<workgroup>>
  %b = memref.load %B[%c0] : memref<16xf32, #gpu.address_space<workgroup>>
  memref.store %b, %C[%c0] : memref<16xf32, #gpu.address_space<workgroup>>
  gpu.return
}

// CHECK-LABEL: gpu.func @none
// CHECK-NOT: memref.get_global
gpu.func @none() kernel {
  gpu.return
}
}

// CHECK-LABEL: func.func @launches
// CHECK: %[[BYTES:.*]] = arith.constant 425 : i32
// CHECK-NEXT: gpu.launch_func @kernels::@side_by_side {{.*}} dynamic_shared_memory_size %[[BYTES]]
// CHECK-SAME: {tilewright.launch_origin = {grid.x = "i of stage A", shared = "A (12 bytes), B (400 bytes), C (9 bytes)"}}
// CHECK: arith.constant 6160 : i32
// CHECK: @kernels::@alignment
// CHECK: arith.constant 8192 : i32
// CHECK: @kernels::@one_after_another
// CHECK: arith.constant 192 : i32
// CHECK: @kernels::@around_and_inside
// CHECK: arith.constant 128 : i32
// CHECK: @kernels::@from_one_to_the_next
// CHECK-NOT: arith.constant
// CHECK: gpu.launch_func @kernels::@none
// CHECK-NOT: dynamic_shared_memory_size
// CHECK: return
func.func @launches(%x: f32, %b: i8, %p: i1) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@side_by_side blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : f32, %b : i8) {tilewright.launch_origin = {grid.x = "i of stage A"}}
  gpu.launch_func @kernels::@alignment blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : f32)
  gpu.launch_func @kernels::@one_after_another blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : f32)
  gpu.launch_func @kernels::@around_and_inside blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : f32)
  gpu.launch_func @kernels::@from_one_to_the_next blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : f32, %p : i1)
  gpu.launch_func @kernels::@none blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
  return
}
}
