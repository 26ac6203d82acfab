// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(annotate-unrolled-loops)))' | FileCheck %s
// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(annotate-unrolled-loops),convert-scf-to-cf,convert-kernels-to-nvvm))' | FileCheck %s --check-prefix=NVVM

// Marked loops are annotated, and loops that pick elements of registers; one that picks among more than could be code
// is not, nor one around others that are code enough.
// CHECK: #[[UNROLL:.*]] = #llvm.loop_unroll<full = true>
// CHECK: #[[LOOP:.*]] = #llvm.loop_annotation<unroll = #[[UNROLL]]>
// CHECK-LABEL: gpu.func @f
// CHECK: scf.for %[[J:.*]] =
// CHECK-NEXT: memref.store %{{.*}}, %{{.*}}[%[[J]]] : memref<8xf32>
// CHECK-NEXT: } {llvm.loop_annotation = #[[LOOP]]}
// CHECK: scf.for
// CHECK: } {llvm.loop_annotation = #[[LOOP]]}
// CHECK: scf.for
// CHECK: }
// CHECK-NOT: llvm.loop_annotation
// CHECK: gpu.return

// CHECK-LABEL: gpu.func @nested
// CHECK: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: scf.for
// CHECK: } {llvm.loop_annotation = #[[LOOP]]}
// CHECK-NEXT: } {llvm.loop_annotation = #[[LOOP]]}
// CHECK-NEXT: }
// CHECK-NEXT: gpu.return

// Of marked loops in each other, those stay loops that would make too many copies.
// CHECK-LABEL: gpu.func @marked
// CHECK: scf.for
// CHECK-NEXT: scf.for
// CHECK-NEXT: memref.store
// CHECK-NEXT: } {llvm.loop_annotation = #[[LOOP]]}
// CHECK-NEXT: }
// CHECK-NEXT: gpu.return

// Of loops beside each other, those stay loops that would make a kernel too long: the last two here.
// CHECK-LABEL: gpu.func @beside
// CHECK-COUNT-4: } {llvm.loop_annotation = #[[LOOP]]}
// CHECK-NOT: llvm.loop_annotation
// CHECK: gpu.return

// The annotation is the latch's.
// NVVM-LABEL: llvm.func @f
// NVVM-COUNT-2: llvm.br {{.*}} {loop_annotation = #{{.*}}}
// NVVM-NOT: loop_annotation
// NVVM: llvm.return
// NVVM-LABEL: llvm.func @nested
// NVVM-COUNT-2: llvm.br {{.*}} {loop_annotation = #{{.*}}}
// NVVM-NOT: loop_annotation
// NVVM: llvm.return
gpu.module @kernels {
  gpu.func @f(%A: memref<8xf32>, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %many = arith.constant 8192 : index
    %l = memref.alloca() : memref<8192xf32, #gpu.address_space<private>>
    scf.for %j = %c0 to %c8 step %c1 {
      memref.store %x, %A[%j] : memref<8xf32>
    } {schedule.unroll}
    scf.for %i = %c0 to %c4 step %c1 {
      memref.store %x, %l[%i] : memref<8192xf32, #gpu.address_space<private>>
    }
    scf.for %i = %c0 to %many step %c1 {
      memref.store %x, %l[%i] : memref<8192xf32, #gpu.address_space<private>>
    }
    gpu.return
  }

  gpu.func @nested(%x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %l = memref.alloca() : memref<16x16x16xf32, #gpu.address_space<private>>
    scf.for %i = %c0 to %c16 step %c1 {
      scf.for %j = %c0 to %c16 step %c1 {
        scf.for %k = %c0 to %c16 step %c1 {
          memref.store %x, %l[%i, %j, %k] : memref<16x16x16xf32, #gpu.address_space<private>>
        }
      }
    }
    gpu.return
  }

  gpu.func @marked(%A: memref<256x256xf32>, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    scf.for %i = %c0 to %c256 step %c1 {
      scf.for %j = %c0 to %c256 step %c1 {
        memref.store %x, %A[%i, %j] : memref<256x256xf32>
      } {schedule.unroll}
    } {schedule.unroll}
    gpu.return
  }

  gpu.func @beside(%x: f32) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %many = arith.constant 2048 : index
    %l = memref.alloca() : memref<2048xf32, #gpu.address_space<private>>
    scf.for %i = %c0 to %many step %c1 {
      memref.store %x, %l[%i] : memref<2048xf32, #gpu.address_space<private>>
    }
    scf.for %i = %c0 to %many step %c1 {
      memref.store %x, %l[%i] : memref<2048xf32, #gpu.address_space<private>>
    }
    scf.for %i = %c0 to %many step %c1 {
      memref.store %x, %l[%i] : memref<2048xf32, #gpu.address_space<private>>
    }
    scf.for %i = %c0 to %many step %c1 {
      memref.store %x, %l[%i] : memref<2048xf32, #gpu.address_space<private>>
    }
    scf.for %i = %c0 to %many step %c1 {
      memref.store %x, %l[%i] : memref<2048xf32, #gpu.address_space<private>>
    }
    scf.for %i = %c0 to %many step %c1 {
      memref.store %x, %l[%i] : memref<2048xf32, #gpu.address_space<private>>
    }
    gpu.return
  }
}
