// RUN: tilewright-opt %s --pass-pipeline='builtin.module(func.func(distribute-private-buffers))' --split-input-file | FileCheck %s

#at = affine_map<(o, t, v) -> (o * 32 + t * 4 + v)>

// Each thread stores four neighbours at a time, and another loop reads one after the other: 8 of 64 are its own.
// CHECK-DAG: #[[PART:.+]] = affine_map<(d0, d1) -> (d0 * 4 + d1)>
// CHECK-LABEL: func @parts
// CHECK: %[[B:.+]] = memref.alloca() {te.stage = "B"} : memref<8xf32, #gpu.address_space<private>>
// CHECK: memref.load %arg0[%{{.+}}] : memref<64xf32>
// CHECK: %[[AT:.+]] = affine.apply #[[PART]](%{{.+}}, %{{.+}})
// CHECK: memref.store %{{.+}}, %[[B]][%[[AT]]] {mark} : memref<8xf32, #gpu.address_space<private>>
// CHECK: %[[FROM:.+]] = affine.apply #[[PART]](%{{.+}}, %{{.+}})
// CHECK: memref.load %[[B]][%[[FROM]]] : memref<8xf32, #gpu.address_space<private>>
func.func @parts(%A: memref<64xf32>, %C: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %B = memref.alloca() {te.stage = "B"} : memref<64xf32, #gpu.address_space<private>>
  scf.for %o = %c0 to %c2 step %c1 {
    scf.for %t = %c0 to %c8 step %c1 {
      scf.for %v = %c0 to %c4 step %c1 {
        %i = affine.apply #at(%o, %t, %v)
        %x = memref.load %A[%i] : memref<64xf32>
        memref.store %x, %B[%i] {mark} : memref<64xf32, #gpu.address_space<private>>
      }
    } {schedule.bind = #schedule.thread<threadIdx.x>}
  }
  scf.for %t = %c0 to %c8 step %c1 {
    scf.for %o = %c0 to %c2 step %c1 {
      scf.for %v = %c0 to %c4 step %c1 {
        %i = affine.apply #at(%o, %t, %v)
        %x = memref.load %B[%i] : memref<64xf32, #gpu.address_space<private>>
        memref.store %x, %C[%i] : memref<64xf32>
      }
    }
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}

// -----

// Two thread indices, a number of elements that does not fill all turns, and an axis of the buffer that no thread has.
// CHECK-LABEL: func @two
// CHECK: memref.alloca() : memref<3x2xf32, #gpu.address_space<private>>
func.func @two(%x: f32, %C: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c50 = arith.constant 50 : index
  %B = memref.alloca() : memref<3x50xf32, #gpu.address_space<private>>
  scf.for %y = %c0 to %c4 step %c1 {
    scf.for %t = %c0 to %c8 step %c1 {
      scf.for %i = %c0 to %c3 step %c1 {
        scf.for %o = %c0 to %c2 step %c1 {
          %j = affine.apply affine_map<(o, y, t) -> (o * 32 + y * 8 + t)>(%o, %y, %t)
          %inside = arith.cmpi slt, %j, %c50 : index
          scf.if %inside {
            memref.store %x, %B[%i, %j] : memref<3x50xf32, #gpu.address_space<private>>
          }
        }
      }
    } {schedule.bind = #schedule.thread<threadIdx.x>}
  } {schedule.bind = #schedule.thread<threadIdx.y>}
  return
}

// -----

// All threads store all of it: each has all of it.
// CHECK-LABEL: func @alike
// CHECK: memref.alloca() : memref<4xf32, #gpu.address_space<private>>
func.func @alike(%x: f32, %C: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %B = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
  scf.for %i = %c0 to %c4 step %c1 {
    memref.store %x, %B[%i] : memref<4xf32, #gpu.address_space<private>>
  }
  scf.for %t = %c0 to %c8 step %c1 {
    %i = affine.apply affine_map<(t) -> (t mod 4)>(%t)
    %b = memref.load %B[%i] : memref<4xf32, #gpu.address_space<private>>
    memref.store %b, %C[%t] : memref<8xf32>
  } {schedule.bind = #schedule.thread<threadIdx.x>}
  return
}
