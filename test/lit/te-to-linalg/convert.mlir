// RUN: tilewright-opt %s -convert-te-to-linalg -canonicalize -split-input-file | FileCheck %s
// What comes out verifies and reads back.
// RUN: tilewright-opt %s -convert-te-to-linalg -split-input-file | tilewright-opt -split-input-file -o /dev/null

// CHECK-DAG: #[[$A:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$B:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$C:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func.func @mmult
// CHECK-SAME: %[[A:.+]]: tensor<64x32xf32> {te.name = "A"}, %[[B:.+]]: tensor<32x48xf32>, %[[OUT:.+]]: tensor<64x48xf32> {te.output}
func.func @mmult(%A: tensor<64x32xf32> {te.name = "A"}, %B: tensor<32x48xf32>, %out: tensor<64x48xf32> {te.output})
    -> tensor<64x48xf32> {
  // CHECK: %[[ZERO:.+]] = arith.constant 0.0
  // CHECK: %[[FILL:.+]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[OUT]] : tensor<64x48xf32>)
  // CHECK: %[[R:.+]] = linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #[[$C]]], iterator_types = ["parallel", "parallel", "reduction"]}
  // CHECK-SAME: ins(%[[A]], %[[B]] : {{.*}}) outs(%[[FILL]] :
  // CHECK-SAME: attrs = {te.axes = ["i", "j", "k"], te.stage = "C"} {
  // CHECK: ^bb0(%[[a:.+]]: f32, %[[b:.+]]: f32, %[[c:.+]]: f32):
  // CHECK: %[[ab:.+]] = arith.mulf %[[a]], %[[b]]
  // CHECK: %[[sum:.+]] = arith.addf %[[c]], %[[ab]]
  // CHECK: linalg.yield %[[sum]]
  // CHECK: return %[[R]]
  %C = te.compute "C" (%i: 64, %j: 48) sum (%k: 32) {
    %a = te.read %A[%i, %k] : tensor<64x32xf32>
    %b = te.read %B[%k, %j] : tensor<32x48xf32>
    %ab = arith.mulf %a, %b : f32
    te.yield %ab : f32
  } : tensor<64x48xf32>
  return %C : tensor<64x48xf32>
}

// -----

// A read under a condition stays under it; a temporary starts empty.
// CHECK-LABEL: func.func @conv
func.func @conv(%X: tensor<1x8x13x13xf32>, %W: tensor<16x8x3x3xf32>, %out: tensor<1x16x13x13xf32> {te.output})
    -> tensor<1x16x13x13xf32> {
  %c1 = arith.constant 1 : index
  %c14 = arith.constant 14 : index
  %zero = arith.constant 0.0 : f32
  // CHECK: tensor.empty() : tensor<1x8x15x15xf32>
  // CHECK: %[[PAD:.+]] = linalg.generic
  // CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(
  // CHECK-SAME: te.stage = "pad"
  // CHECK: %[[y:.+]] = linalg.index 2
  // CHECK: scf.if
  // CHECK: %[[at:.+]] = affine.apply #{{.+}}()[%[[y]]]
  // CHECK: tensor.extract %arg0[%{{.+}}, %{{.+}}, %[[at]], %{{.+}}]
  %pad = te.compute "pad" (%n: 1, %c: 8, %y: 15, %x: 15) {
    %0 = arith.cmpi sge, %y, %c1 : index
    %1 = arith.cmpi slt, %y, %c14 : index
    %2 = arith.cmpi sge, %x, %c1 : index
    %3 = arith.cmpi slt, %x, %c14 : index
    %4 = arith.andi %0, %1 : i1
    %5 = arith.andi %2, %3 : i1
    %6 = arith.andi %4, %5 : i1
    %v = scf.if %6 -> f32 {
      %r = te.read %X[%n, %c, %y - 1, %x - 1] : tensor<1x8x13x13xf32>
      scf.yield %r : f32
    } else {
      scf.yield %zero : f32
    }
    te.yield %v : f32
  } : tensor<1x8x15x15xf32>
  // A window: the sum of two axes is an operand's index.
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[PAD]], %arg1 :
  // CHECK-SAME: te.axes = ["n", "f", "y", "x", "c", "ry", "rx"], te.stage = "conv"
  %conv = te.compute "conv" (%n: 1, %f: 16, %y: 13, %x: 13) sum (%c: 8, %ry: 3, %rx: 3) {
    %p = te.read %pad[%n, %c, %y + %ry, %x + %rx] : tensor<1x8x15x15xf32>
    %w = te.read %W[%f, %c, %ry, %rx] : tensor<16x8x3x3xf32>
    %pw = arith.mulf %p, %w : f32
    te.yield %pw : f32
  } : tensor<1x16x13x13xf32>
  return %conv : tensor<1x16x13x13xf32>
}

// -----

// The region's combiner, an identity a result, and only one of the two results an output.
// CHECK-LABEL: func.func @argmax
// CHECK-SAME: %[[X:.+]]: tensor<64x128xf32>, %[[AT:.+]]: tensor<64xi32>
func.func @argmax(%X: tensor<64x128xf32>, %o: tensor<64xi32> {te.output}) -> tensor<64xi32> {
  // CHECK-DAG: %[[EMPTY:.+]] = tensor.empty() : tensor<64xf32>
  // CHECK-DAG: %[[F0:.+]] = linalg.fill ins(%{{.+}} : i32) outs(%[[AT]] :
  // CHECK-DAG: %[[F1:.+]] = linalg.fill ins(%{{.+}} : f32) outs(%[[EMPTY]] :
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[X]] : tensor<64x128xf32>) outs(%[[F0]], %[[F1]] : tensor<64xi32>, tensor<64xf32>)
  // CHECK: ^bb0(%[[x:.+]]: f32, %[[n0:.+]]: i32, %[[x0:.+]]: f32):
  // CHECK: %[[k:.+]] = linalg.index 1
  // CHECK: %[[n1:.+]] = arith.index_cast %[[k]]
  // CHECK: %[[ge:.+]] = arith.cmpf oge, %[[x0]], %[[x]]
  // CHECK: %[[n:.+]] = arith.select %[[ge]], %[[n0]], %[[n1]]
  // CHECK: %[[m:.+]] = arith.select %[[ge]], %[[x0]], %[[x]]
  // CHECK: linalg.yield %[[n]], %[[m]]
  %at, %max = te.compute "argmax" (%i: 64) reduce (%k: 128) {
    %x = te.read %X[%i, %k] : tensor<64x128xf32>
    %n = arith.index_cast %k : index to i32
    te.yield %n, %x : i32, f32
  } combine (%n0: i32, %x0: f32, %n1: i32, %x1: f32) identity [-1 : i32, 0xFF800000 : f32] {
    %ge = arith.cmpf oge, %x0, %x1 : f32
    %n = arith.select %ge, %n0, %n1 : i32
    %x = arith.select %ge, %x0, %x1 : f32
    te.yield %n, %x : i32, f32
  } : tensor<64xi32>, tensor<64xf32>
  return %at : tensor<64xi32>
}

// -----

// No operand has a window's axes alone: each gets an operand that is never read.
// CHECK-DAG: #[[$WIN:.+]] = affine_map<(d0, d1, d2, d3) -> (d0 * 2 + d2, d1 * 2 + d3)>
// CHECK-DAG: #[[$RY:.+]] = affine_map<(d0, d1, d2, d3) -> (d2)>
// CHECK-DAG: #[[$RX:.+]] = affine_map<(d0, d1, d2, d3) -> (d3)>
// CHECK-LABEL: func.func @pool
func.func @pool(%X: tensor<16x16xf16>, %out: tensor<7x7xf16> {te.output}) -> tensor<7x7xf16> {
  // CHECK-DAG: %[[EY:.+]] = tensor.empty() : tensor<3xf16>
  // CHECK-DAG: %[[EX:.+]] = tensor.empty() : tensor<4xf16>
  // CHECK: linalg.generic {indexing_maps = [#[[$WIN]], #[[$RY]], #[[$RX]], #{{[a-z0-9]+}}]
  // CHECK-SAME: ins(%arg0, %[[EY]], %[[EX]] : {{.*}}attrs
  // CHECK: arith.maximumf
  %P = te.compute "P" (%y: 7, %x: 7) max (%ry: 3, %rx: 4) {
    %v = te.read %X[%y * 2 + %ry, %x * 2 + %rx] : tensor<16x16xf16>
    te.yield %v : f16
  } : tensor<7x7xf16>
  return %P : tensor<7x7xf16>
}

// -----

// An index that is computed is extracted, and so is one alone in a larger dimension, which linalg would take its
// extent from.
// CHECK-LABEL: func.func @gather
func.func @gather(%X: tensor<100x8xf32>, %at: tensor<20xi32>, %out: tensor<10x8xf32> {te.output}) -> tensor<10x8xf32> {
  // CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} outs(%arg2 :
  // CHECK: %[[i:.+]] = linalg.index 0
  // CHECK: %[[j:.+]] = linalg.index 1
  // CHECK: %[[a:.+]] = tensor.extract %arg1[%[[i]]]
  // CHECK: %[[r:.+]] = arith.index_cast %[[a]]
  // CHECK: tensor.extract %arg0[%[[r]], %[[j]]]
  %G = te.compute "G" (%i: 10, %j: 8) {
    %a = te.read %at[%i] : tensor<20xi32>
    %r = arith.index_cast %a : i32 to index
    %x = te.read %X[symbol(%r), %j] : tensor<100x8xf32>
    te.yield %x : f32
  } : tensor<10x8xf32>
  return %G : tensor<10x8xf32>
}

// -----

// Two dimensions of one symbol are known to be equal, so both tensors are operands; of %Z nothing is known.
// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%X: tensor<?x4xf32> {te.symbols = ["n", ""]}, %Y: tensor<?xf32> {te.symbols = ["n"]},
                    %Z: tensor<?xf32> {te.symbols = ["m"]}, %out: tensor<?xf32> {te.symbols = ["n"], te.output})
    -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %X, %c0 : tensor<?x4xf32>
  // CHECK: %[[EMPTY:.+]] = tensor.empty(%{{.+}}) : tensor<?xf32>
  // CHECK: %[[T:.+]] = linalg.generic
  // CHECK-SAME: ins(%arg1 : tensor<?xf32>) outs(%[[EMPTY]] :
  // CHECK: tensor.extract %arg2
  %T = te.compute "T" (%i: %n) {
    %y = te.read %Y[%i] : tensor<?xf32>
    %z = te.read %Z[%i] : tensor<?xf32>
    %t = arith.addf %y, %z : f32
    te.yield %t : f32
  } : tensor<?xf32>
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%arg0, %[[T]] : tensor<?x4xf32>, tensor<?xf32>)
  %S = te.compute "S" (%i: %n) sum (%k: 4) {
    %x = te.read %X[%i, %k] : tensor<?x4xf32>
    %t = te.read %T[%i] : tensor<?xf32>
    %xt = arith.mulf %x, %t : f32
    te.yield %xt : f32
  } : tensor<?xf32>
  return %S : tensor<?xf32>
}

// -----

// Unsigned extremes, and a result without dimensions; the same read twice is one operand.
// CHECK-LABEL: func.func @unsigned
func.func @unsigned(%X: tensor<9xi8>, %out: tensor<i8> {te.output}) -> tensor<i8> {
  // CHECK: arith.constant 0 : i8
  // CHECK: linalg.generic
  // CHECK-SAME: iterator_types = ["reduction"]
  // CHECK-SAME: ins(%arg0 : tensor<9xi8>) outs(%{{.+}} : tensor<i8>)
  // CHECK: arith.maxui
  %M = te.compute "M" () unsigned max (%k: 9) {
    %x = te.read %X[%k] : tensor<9xi8>
    %y = te.read %X[%k] : tensor<9xi8>
    %xy = arith.muli %x, %y : i8
    te.yield %xy : i8
  } : tensor<i8>
  return %M : tensor<i8>
}

// -----

// Where an extent is none of the tensor's, the tensor is no operand.
// CHECK-LABEL: func.func @dim_of_none
func.func @dim_of_none(%X: tensor<?xf32>, %out: tensor<?xf32> {te.output}) -> tensor<?xf32> {
  %c7 = arith.constant 7 : index
  %n = tensor.dim %X, %c7 : tensor<?xf32>
  // CHECK: linalg.generic
  // CHECK-NOT: ins(
  // CHECK: tensor.extract %arg0
  %Y = te.compute "Y" (%i: %n) {
    %x = te.read %X[%i] : tensor<?xf32>
    te.yield %x : f32
  } : tensor<?xf32>
  return %Y : tensor<?xf32>
}
