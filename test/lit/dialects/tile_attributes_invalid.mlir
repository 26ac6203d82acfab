// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// Attributes of the dialect tile on ops of others: one that is not known, on another op, or of another type.
func.func @unknown() {
  // expected-error @below {{'arith.constant' op expected an attribute that the dialect tile has for other dialects' ops, got "tile.most_iterations"}}
  %x = arith.constant {tile.most_iterations = 4} 1.0 : f32
  return
}

// -----

func.func @on_another_op() {
  // expected-error @below {{'arith.constant' op expected "tile.least_iterations" on a loop (scf.for)}}
  %x = arith.constant {tile.least_iterations = 4} 1.0 : f32
  return
}

// -----

func.func @no_iteration(%n: index) {
  %c1 = arith.constant 1 : index
  // expected-error @below {{'scf.for' op expected "tile.least_iterations" to be an i64 of at least 1, got 0 : i64}}
  scf.for %i = %c1 to %n step %c1 {
  } {tile.least_iterations = 0}
  return
}

// -----

func.func @not_a_load() {
  // expected-error @below {{'arith.constant' op expected "tile.gathered" on a TMA load (nvvm.cp.async.bulk.tensor.shared.cluster.global)}}
  %x = arith.constant {tile.gathered = 0} 1.0 : f32
  return
}

// -----

llvm.func @no_dimension(%to: !llvm.ptr<7>, %map: !llvm.ptr, %barrier: !llvm.ptr<3>, %at: i32) {
  // expected-error @below {{'nvvm.cp.async.bulk.tensor.shared.cluster.global' op expected "tile.gathered" to be an i64 from 0 to 4, got 5 : i64}}
  nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %barrier, box[%at, %at] {tile.gathered = 5} : !llvm.ptr<7>, !llvm.ptr
  llvm.return
}
