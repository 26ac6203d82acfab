// RUN: tilewright-opt %s --allow-unregistered-dialect --test-index --verify-diagnostics --split-input-file

// Loops, and expressions of loops.
func.func @loops(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  scf.for %i = %c3 to %c10 step %c1 {
    "test.range"(%i) : (index) -> () // expected-remark {{'3 to 9'}}
    %0 = affine.apply affine_map<(d0) -> (d0 * -2 + 1)>(%i)
    "test.range"(%0) : (index) -> () // expected-remark {{'-17 to -5'}}
    %1 = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%i)
    "test.range"(%1) : (index) -> () // expected-remark {{'0 to 2'}}
    %2 = affine.apply affine_map<(d0) -> (d0 ceildiv 4)>(%i)
    "test.range"(%2) : (index) -> () // expected-remark {{'1 to 3'}}
    // Remainders of what goes around, and of what does not.
    %3 = affine.apply affine_map<(d0) -> (d0 mod 4)>(%i)
    "test.range"(%3) : (index) -> () // expected-remark {{'0 to 3'}}
    %4 = affine.apply affine_map<(d0) -> ((d0 + 8) mod 32)>(%i)
    "test.range"(%4) : (index) -> () // expected-remark {{'11 to 17'}}
    // A loop up to another's variable.
    scf.for %j = %c0 to %i step %c1 {
      "test.range"(%j) : (index) -> () // expected-remark {{'0 to 8'}}
    }
    scf.for %j = %c0 to %n step %c1 {
      "test.range"(%j) : (index) -> () // expected-remark {{'0 to unknown'}}
      %5 = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%j, %i)
      "test.range"(%5) : (index) -> () // expected-remark {{'3 to unknown'}}
      %6 = affine.apply affine_map<(d0, d1) -> (d1 - d0)>(%j, %i)
      "test.range"(%6) : (index) -> () // expected-remark {{'unknown to 9'}}
      %7 = affine.apply affine_map<(d0) -> (d0 mod 7)>(%j)
      "test.range"(%7) : (index) -> () // expected-remark {{'0 to 6'}}
    }
  }
  "test.range"(%n) : (index) -> () // expected-remark {{'unknown to unknown'}}
  return
}

// -----

// What 64 bits do not hold is not known.
func.func @overflow() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %large = arith.constant 9223372036854775807 : index
  scf.for %i = %c0 to %large step %c1 {
    %0 = affine.apply affine_map<(d0) -> (d0 * 2)>(%i)
    "test.range"(%0) : (index) -> () // expected-remark {{'0 to unknown'}}
    %1 = affine.apply affine_map<(d0) -> (d0 + 2)>(%i)
    "test.range"(%1) : (index) -> () // expected-remark {{'2 to unknown'}}
  }
  return
}

// -----

// Ops of other dialects say themselves what they give.
func.func @ops(%a: index, %m: memref<?xf32>, %wide: i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %0 = arith.remui %a, %c16 : index
  "test.range"(%0) : (index) -> () // expected-remark {{'0 to 15'}}
  %1 = arith.addi %0, %c1 : index
  "test.range"(%1) : (index) -> () // expected-remark {{'1 to 16'}}
  %2 = arith.minsi %a, %c16 : index
  "test.range"(%2) : (index) -> () // expected-remark {{'unknown to 16'}}
  %3 = memref.dim %m, %c0 : memref<?xf32>
  "test.range"(%3) : (index) -> () // expected-remark {{'0 to unknown'}}
  %4 = arith.index_cast %wide : i64 to index
  "test.range"(%4) : (index) -> () // expected-remark {{'unknown to unknown'}}
  return
}

// -----

// The indices of threads and blocks, as far as the launch says.
func.func @launch(%n: index) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %n, %gz = %c1)
             threads(%tx, %ty, %tz) in (%x = %c128, %y = %c1, %z = %c1) {
    %0 = gpu.thread_id x
    "test.range"(%0) : (index) -> () // expected-remark {{'0 to 127'}}
    %1 = gpu.block_id x
    "test.range"(%1) : (index) -> () // expected-remark {{'0 to 3'}}
    %2 = gpu.block_id y
    "test.range"(%2) : (index) -> () // expected-remark {{'0 to 4294967294'}}
    gpu.terminator
  }
  return
}
