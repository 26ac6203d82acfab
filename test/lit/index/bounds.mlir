// RUN: tilewright-opt %s --allow-unregistered-dialect --test-index --verify-diagnostics --split-input-file

// A split: quotient and remainder of what never wraps are gone.
func.func @split(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %o = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      %0 = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1) floordiv 4)>(%o, %i)
      "test.simplify"(%0) : (index) -> () // expected-remark {{'d0'}}
      %1 = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1) mod 4)>(%o, %i)
      "test.simplify"(%1) : (index) -> () // expected-remark {{'d1'}}
      %2 = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1 + 1) mod 4)>(%o, %i)
      "test.simplify"(%2) : (index) -> () // expected-remark {{'(d1 + 1) mod 4'}}
      // As upstream writes it.
      %mod = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1 - ((d1 + 1) floordiv 4) * 4)>(%o, %i)
      "test.simplify"(%mod) : (index) -> () // expected-remark {{'d0 * 8 + (d1 + 1) mod 4 - 1'}}
      // Multiples of 4 beside something below 4.
      %3 = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1) mod 8)>(%o, %i)
      "test.simplify"(%3) : (index) -> () // expected-remark {{'(d0 mod 2) * 4 + d1'}}
      %4 = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1) floordiv 8)>(%o, %i)
      "test.simplify"(%4) : (index) -> () // expected-remark {{'d0 floordiv 2'}}
      // A number is what its quotient and its remainder say.
      %5 = affine.apply affine_map<(d0) -> ((d0 floordiv 3) * 3 + d0 mod 3)>(%o)
      "test.simplify"(%5) : (index) -> () // expected-remark {{'d0'}}
    }
  }
  return
}

// -----

// An extent is rounded up in one way.
func.func @rounded(%n: index) {
  %0 = affine.apply affine_map<(d0) -> ((d0 + 31) floordiv 32)>(%n)
  "test.simplify"(%0) : (index) -> () // expected-remark {{'s0 ceildiv 32'}}
  return
}

// -----

func.func @intervals(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %o = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %k = %c0 to %n step %c1 {
        %0 = affine.apply affine_map<(d0, d1, d2) -> (d0 * 8 + d1 * 2 + d2)>(%o, %i, %k)
        "test.interval"(%0, %i) : (index, index) -> () // expected-remark {{'from d0 * 8 + d2 by 6'}}
        "test.interval"(%0, %k) : (index, index) -> () // expected-remark {{'from d0 * 8 + d1 * 2 by s0 - 1'}}
        "test.interval"(%0, %o, %i) : (index, index, index) -> () // expected-remark {{'from d2 by s0 * 8 - 2'}}
        // Backwards it begins at the end.
        %1 = affine.apply affine_map<(d0, d1) -> (d0 - d1 * 2)>(%o, %i)
        "test.interval"(%1, %i) : (index, index) -> () // expected-remark {{'from d0 - 6 by 6'}}
        // Unaligned it may reach one quotient further.
        %2 = affine.apply affine_map<(d0, d1) -> ((d0 + d1) floordiv 4)>(%o, %i)
        "test.interval"(%2, %i) : (index, index) -> () // expected-remark {{'from d0 floordiv 4 by 1'}}
        %3 = affine.apply affine_map<(d0, d1) -> ((d0 * 4 + d1) floordiv 4)>(%o, %i)
        "test.interval"(%3, %i) : (index, index) -> () // expected-remark {{'from d0 by 0'}}
        %4 = affine.apply affine_map<(d0, d1) -> ((d0 + d1) mod 8)>(%o, %i)
        "test.interval"(%4, %i) : (index, index) -> () // expected-remark {{'from 0 by 7'}}
        // A quotient of a multiple of 6 by 8 is not a multiple of 2.
        %5 = affine.apply affine_map<(d0, d1) -> (((d0 * 6 + d1) floordiv 8) floordiv 2)>(%o, %i)
        "test.interval"(%5, %i) : (index, index) -> () // expected-remark {{'from ((d0 * 6) floordiv 8) floordiv 2 by 1'}}
      }
    }
  }
  return
}

// -----

func.func @less(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %tiles = affine.apply affine_map<(d0) -> (d0 ceildiv 4)>(%n)
  %whole = affine.apply affine_map<(d0) -> (d0 * 4)>(%n)
  %last = affine.apply affine_map<(d0) -> (d0 * 4 - 1)>(%n)
  scf.for %o = %c0 to %n step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      %0 = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%o, %i)
      "test.less"(%0, %whole) : (index, index) -> () // expected-remark {{'yes'}}
      "test.less"(%0, %last) : (index, index) -> () // expected-remark {{'not known'}}
      "test.less"(%o, %n) : (index, index) -> () // expected-remark {{'yes'}}
      "test.less"(%0, %n) : (index, index) -> () // expected-remark {{'not known'}}
    }
  }
  // An extent is 1 at least.
  "test.less"(%c0, %tiles) : (index, index) -> () // expected-remark {{'yes'}}
  "test.less"(%c1, %tiles) : (index, index) -> () // expected-remark {{'not known'}}
  return
}
