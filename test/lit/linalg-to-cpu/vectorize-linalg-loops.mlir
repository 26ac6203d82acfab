// RUN: tilewright-opt %s --vectorize-linalg-loops=vector-bits=256 --canonicalize --cse --split-input-file | FileCheck %s

// A multiple of the vector: whole vectors alone.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: vector.create_mask
// CHECK: vector.load %{{.*}} : memref<64xf32>, vector<8xf32>
// CHECK: arith.negf %{{.*}} : vector<8xf32>
// CHECK: vector.store %{{.*}} : memref<64xf32>, vector<8xf32>
// CHECK-NOT: memref.load
// CHECK: return
func.func @whole(%x: memref<64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.negf %a : f32
    linalg.yield %c : f32
  }
  return
}

// -----

// What is left over of an extent is masked.
// CHECK-LABEL: func.func @rest(
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: %[[MASK:.*]] = vector.constant_mask [3] : vector<8xi1>
// CHECK: vector.maskedload %{{.*}}, %[[MASK]], {{.*}} vector<8xf32>
// CHECK: vector.maskedstore %{{.*}}, %[[MASK]]
// CHECK: return
func.func @rest(%x: memref<11xf32>, %y: memref<11xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<11xf32>) outs(%y : memref<11xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.negf %a : f32
    linalg.yield %c : f32
  }
  return
}

// -----

// But for one element, which LLVM would store as a vector where it is truncated.
// CHECK-LABEL: func.func @one_left(
// CHECK: vector.store %{{.*}} : memref<9xi8>, vector<8xi8>
// CHECK-NOT: vector.maskedstore
// CHECK: memref.store %{{.*}} : memref<9xi8>
// CHECK: return
func.func @one_left(%x: memref<9xi32>, %y: memref<9xi8>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<9xi32>) outs(%y : memref<9xi8>) {
  ^bb0(%a: i32, %b: i8):
    %c = arith.trunci %a : i32 to i8
    linalg.yield %c : i8
  }
  return
}

// -----

// Along the axis that is contiguous in memory, here the outer one.
// CHECK-LABEL: func.func @outer_axis(
// CHECK: scf.for
// CHECK: vector.load %{{.*}} : memref<8x64xf32>, vector<8xf32>
// CHECK: vector.store %{{.*}} : memref<8x64xf32>, vector<8xf32>
func.func @outer_axis(%x: memref<8x64xf32>, %y: memref<8x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<8x64xf32>) outs(%y : memref<8x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// A product keeps a tile of several vectors in registers over the reduction: no store inside its loop.
// CHECK-LABEL: func.func @matmul(
// CHECK: scf.for {{.*}} iter_args(
// CHECK-COUNT-2: vector.load %arg1
// CHECK-NOT: vector.store
// CHECK: scf.yield %{{.*}}, %{{.*}} : vector<8xf32>
// CHECK: vector.store
func.func @matmul(%a: memref<16x32xf32>, %b: memref<32x16xf32>, %c: memref<16x16xf32>) {
  linalg.matmul ins(%a, %b : memref<16x32xf32>, memref<32x16xf32>) outs(%c : memref<16x16xf32>)
  return
}

// -----

// A sum over a row: lanes of partial sums, which are summed up after the loop.
// CHECK-LABEL: func.func @row_sum(
// CHECK: scf.for {{.*}} iter_args({{.*}}vector<8xf32>
// CHECK: vector.load {{.*}} vector<8xf32>
// CHECK: scf.yield
// CHECK: vector.reduction <add>
// CHECK: memref.store
func.func @row_sum(%x: memref<4x256xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x256xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %acc, %a : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A condition within a vector is a mask: the read happens only where it may.
// CHECK-LABEL: func.func @condition(
// CHECK-NOT: scf.if
// CHECK: vector.{{maskedload|gather}}
// CHECK: arith.select
func.func @condition(%x: memref<16xf32>, %y: memref<16xf32>) {
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<16xf32>) {
  ^bb0(%old: f32):
    %i = linalg.index 0 : index
    %in = arith.cmpi uge, %i, %c8 : index
    %v = scf.if %in -> f32 {
      %j = arith.subi %i, %c8 : index
      %r = memref.load %x[%j] : memref<16xf32>
      scf.yield %r : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %v : f32
  }
  return
}

// -----

// Any op on elements that does nothing to memory, such as a division, and any reduction that vectors have.
// CHECK-LABEL: func.func @any_op(
// CHECK: arith.ceildivui %{{.*}} : vector<8xi32>
// CHECK: return
func.func @any_op(%x: memref<64xi32>, %y: memref<64xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<64xi32>) outs(%y : memref<64xi32>) {
  ^bb0(%a: i32, %b: i32):
    %c7 = arith.constant 7 : i32
    %c = arith.ceildivui %a, %c7 : i32
    linalg.yield %c : i32
  }
  return
}

// CHECK-LABEL: func.func @any_reduction(
// CHECK: arith.xori %{{.*}} : vector<8xi32>
// CHECK: vector.reduction <xor>
// CHECK: return
func.func @any_reduction(%x: memref<512xi32>, %y: memref<i32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<512xi32>) outs(%y : memref<i32>) {
  ^bb0(%a: i32, %b: i32):
    %c = arith.xori %b, %a : i32
    linalg.yield %c : i32
  }
  return
}

// -----

// A long op has a loop for threads: over as many of the outermost axes as make enough iterations.
// CHECK-LABEL: func.func @long(
// CHECK: %[[ALL:.*]] = arith.constant 128 : index
// CHECK: scf.for %{{.*}} = %c0 to %[[ALL]] step %c1
// CHECK: affine.apply
// CHECK: scf.for %{{.*}} = %c0 to %c1000 step %c1
// CHECK: scf.for
// CHECK: }{{$}}
// CHECK-NEXT: }{{$}}
// CHECK-NEXT: } {schedule.parallel}
func.func @long(%x: memref<2x64x1000x64xf32>, %y: memref<2x64x1000x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : memref<2x64x1000x64xf32>) outs(%y : memref<2x64x1000x64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.negf %a : f32
    linalg.yield %c : f32
  }
  return
}

// -----

// Of the only axis each iteration is a vector; what is left over is for one thread.
// CHECK-LABEL: func.func @long_row(
// CHECK: scf.for %[[I:.*]] = %c0 to %c125000 step %c1
// CHECK: affine.apply #{{.*}}()[%[[I]]]
// CHECK: } {schedule.parallel}
// CHECK: vector.maskedstore
func.func @long_row(%x: memref<1000003xf32>, %y: memref<1000003xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : memref<1000003xf32>) outs(%y : memref<1000003xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.negf %a : f32
    linalg.yield %c : f32
  }
  return
}
