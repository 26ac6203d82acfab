// RUN: tilewright-opt %s --allow-unregistered-dialect --test-index --verify-diagnostics --split-input-file

// Extents that programs ask for, in units of what divides them, and what a call's arguments promise.
func.func @extents(%a: memref<?x?xf32> {te.symbols = ["n", "m"], te.divisible_by = array<i64: 1, 8>, te.minimum = array<i64: 16, 64>},
                   %b: memref<?x4xf32> {te.symbols = ["m", ""]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %n = memref.dim %a, %c0 : memref<?x?xf32>
  "test.extent"(%n) : (index) -> () // expected-remark {{'dimension 0 of #0 by 1, at least 16'}}
  %m = memref.dim %a, %c1 : memref<?x?xf32>
  %units = arith.divui %m, %c8 : index
  "test.extent"(%units) : (index) -> () // expected-remark {{'dimension 1 of #0 by 8, at least 8'}}
  "test.extent"(%c8) : (index) -> () // expected-remark {{'none'}}
  "test.is_extent"(%n, %a) {dimension = 0} : (index, memref<?x?xf32>) -> () // expected-remark {{'yes, a multiple of 1'}}
  "test.is_extent"(%n, %a) {dimension = 1} : (index, memref<?x?xf32>) -> () // expected-remark {{'not known, a multiple of 8'}}
  // Units times the unit, and a symbol of the same name.
  %whole = affine.apply affine_map<(d0) -> (d0 * 8)>(%units)
  "test.is_extent"(%whole, %a) {dimension = 1} : (index, memref<?x?xf32>) -> () // expected-remark {{'yes, a multiple of 8'}}
  "test.is_extent"(%units, %a) {dimension = 1} : (index, memref<?x?xf32>) -> () // expected-remark {{'not known, a multiple of 8'}}
  "test.is_extent"(%whole, %b) {dimension = 0} : (index, memref<?x4xf32>) -> () // expected-remark {{'yes, a multiple of 1'}}
  "test.is_extent"(%c4, %b) {dimension = 1} : (index, memref<?x4xf32>) -> () // expected-remark {{'yes, a multiple of 4'}}
  // Of temporaries the size that they are allocated with.
  %t = memref.alloc(%whole) : memref<?xf32>
  "test.is_extent"(%whole, %t) {dimension = 0} : (index, memref<?xf32>) -> () // expected-remark {{'yes, a multiple of 8'}}
  "test.is_extent"(%n, %t) {dimension = 0} : (index, memref<?xf32>) -> () // expected-remark {{'not known, a multiple of 8'}}
  return
}

// -----

// Comparisons by the extents of loops and the least extents of arguments.
func.func @known(%a: memref<?xf32> {te.minimum = array<i64: 16>}, %b: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %n = memref.dim %a, %c0 : memref<?xf32>
  %m = memref.dim %b, %c0 : memref<?xf32>
  "test.known_less"(%c15, %n) {more = 0} : (index, index) -> () // expected-remark {{'yes'}}
  "test.known_less"(%c15, %n) {more = 1} : (index, index) -> () // expected-remark {{'not known'}}
  "test.known_less"(%c16, %n) {more = -1} : (index, index) -> () // expected-remark {{'yes'}}
  "test.known_less"(%c0, %m) {more = 0} : (index, index) -> () // expected-remark {{'not known'}}
  "test.known_less"(%c0, %m) {more = -1} : (index, index) -> () // expected-remark {{'yes'}}
  scf.for %i = %c0 to %n step %c1 {
    "test.known_less"(%i, %n) {more = 0} : (index, index) -> () // expected-remark {{'yes'}}
    "test.known_less"(%i, %n) {more = 1} : (index, index) -> () // expected-remark {{'not known'}}
    scf.for %j = %c0 to %c16 step %c1 {
      %e = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %j)
      %end = affine.apply affine_map<(d0) -> (d0 * 16)>(%n)
      "test.known_less"(%e, %end) {more = 0} : (index, index) -> () // expected-remark {{'yes'}}
    }
  }
  return
}

// -----

// The number of an element; one of several along the last dimension is one more symbol.
func.func @elements() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c2 step %c1 {
      %column = affine.apply affine_map<(d0) -> (d0 * 4)>(%j)
      "test.element"(%i, %column) {weights = array<i64: 8, 1>, length = 1} : (index, index) -> () // expected-remark {{'d0 * 8 + d1 * 4: 0 to 60'}}
      "test.element"(%i, %column) {weights = array<i64: 8, 1>, length = 4} : (index, index) -> () // expected-remark {{'d0 * 8 + d1 * 4 + s0: 0 to 63'}}
    }
  }
  return
}

// -----

// Places that iterations take in turn, beside values that two accesses see alike.
func.func @apart() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %x = %c0 to %c4 step %c1 {
      scf.for %y = %c0 to %c4 step %c1 {
        %here = affine.apply affine_map<(d0) -> (d0 mod 3)>(%i)
        %next = affine.apply affine_map<(d0) -> ((d0 + 1) mod 3)>(%i)
        "test.places_apart"(%here, %next, %i) : (index, index, index) -> () // expected-remark {{'yes'}}
        "test.places_apart"(%here, %next) : (index, index) -> () // expected-remark {{'not known'}}
        %mine = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%i, %x)
        %other = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1 + 4)>(%i, %y)
        "test.places_apart"(%mine, %other, %i) : (index, index, index) -> () // expected-remark {{'yes'}}
        "test.places_apart"(%mine, %other) : (index, index) -> () // expected-remark {{'not known'}}
      }
    }
  }
  return
}

// -----

// In a kernel, which values 32 bits hold, all that is computed on the way among them.
gpu.module @kernels {
  gpu.func @kernel(%n: index) kernel {
    %x = gpu.thread_id x
    "test.kernel_range"(%x) : (index) -> () // expected-remark {{'0 to 1023, by 32 bits'}}
    %c3 = arith.constant 3 : index
    %large = arith.constant 4194304 : index
    %i = arith.muli %x, %c3 : index
    "test.kernel_range"(%i) : (index) -> () // expected-remark {{'0 to 3069, by 32 bits'}}
    %j = arith.muli %x, %large : index
    "test.kernel_range"(%j) : (index) -> () // expected-remark {{'0 to 4290772992, by 64 bits'}}
    // It fits, but what it is computed from does not.
    %r = affine.apply affine_map<(d0) -> ((d0 * 4194303) floordiv 8192)>(%x)
    "test.kernel_range"(%r) : (index) -> () // expected-remark {{'0 to 523775, by 64 bits'}}
    gpu.return
  }
}
