// RUN: tilewright-opt %s --allow-unregistered-dialect --test-index --verify-diagnostics --split-input-file

// Quotients and remainders of one value are digits of it.
func.func @numbers(%a: index, %b: index) {
  "test.number"(%a) : (index) -> () // expected-remark {{'d0 by 1'}}
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%a)
  "test.number"(%0) : (index) -> () // expected-remark {{'d0 by 4'}}
  %1 = affine.apply affine_map<(d0) -> (d0 mod 8)>(%a)
  "test.number"(%1) : (index) -> () // expected-remark {{'d0 by 1 up to 8'}}
  %2 = affine.apply affine_map<(d0) -> ((d0 floordiv 4) mod 8)>(%a)
  "test.number"(%2) : (index) -> () // expected-remark {{'d0 by 4 up to 8'}}
  %3 = affine.apply affine_map<(d0) -> ((d0 mod 32) floordiv 4)>(%a)
  "test.number"(%3) : (index) -> () // expected-remark {{'d0 by 4 up to 8'}}
  %4 = affine.apply affine_map<(d0) -> (((d0 mod 32) floordiv 4) mod 4)>(%a)
  "test.number"(%4) : (index) -> () // expected-remark {{'d0 by 4 up to 4'}}
  // 30 mod 4 cuts a digit in two.
  %5 = affine.apply affine_map<(d0) -> ((d0 mod 30) floordiv 4)>(%a)
  "test.number"(%5) : (index) -> () // expected-remark {{'no digit'}}
  %6 = affine.apply affine_map<(d0) -> ((d0 mod 30) mod 4)>(%a)
  "test.number"(%6) : (index) -> () // expected-remark {{'no digit'}}
  %7 = affine.apply affine_map<(d0) -> ((d0 + 1) floordiv 4)>(%a)
  "test.number"(%7) : (index) -> () // expected-remark {{'no digit'}}
  %8 = affine.apply affine_map<(d0) -> (d0 ceildiv 4)>(%a)
  "test.number"(%8) : (index) -> () // expected-remark {{'no digit'}}
  %9 = affine.apply affine_map<(d0, d1) -> ((d0 + d1) floordiv 4)>(%a, %b)
  "test.number"(%9) : (index) -> () // expected-remark {{'no digit'}}
  return
}

// -----

// A number follows from its digits where none is missing.
func.func @whole(%a: index) {
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 32)>(%a)
  %1 = affine.apply affine_map<(d0) -> ((d0 floordiv 4) mod 8)>(%a)
  %2 = affine.apply affine_map<(d0) -> (d0 mod 4)>(%a)
  %3 = affine.apply affine_map<(d0) -> (d0 mod 2)>(%a)
  "test.whole"(%a) : (index) -> () // expected-remark {{'yes'}}
  "test.whole"(%0, %1, %2) : (index, index, index) -> () // expected-remark {{'yes'}}
  "test.whole"(%3, %2, %1, %0) : (index, index, index, index) -> () // expected-remark {{'yes'}}
  "test.whole"(%0, %2) : (index, index) -> () // expected-remark {{'not known'}}
  "test.whole"(%1, %2) : (index, index) -> () // expected-remark {{'not known'}}
  "test.whole"(%0, %1, %3) : (index, index, index) -> () // expected-remark {{'not known'}}
  return
}

// -----

// Which values follow from a place, whatever the variables of other loops.
func.func @determined(%a: index, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  scf.for %v = %c0 to %c64 step %c1 {
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c5 step %c1 {
        scf.for %k = %c0 to %n step %c1 {
          %0 = affine.apply affine_map<(d0, d1, d2) -> (d0 * 4 + d1 + d2)>(%v, %i, %a)
          "test.determined"(%v, %0) : (index, index) -> () // expected-remark {{'yes'}}
          // Two values reach one place.
          %1 = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%v, %j)
          "test.determined"(%v, %1) : (index, index) -> () // expected-remark {{'not known'}}
          "test.determined"(%v, %i, %j) : (index, index, index) -> () // expected-remark {{'not known'}}
          %2 = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%v, %k)
          "test.determined"(%v, %2) : (index, index) -> () // expected-remark {{'not known'}}
          // Backwards.
          %3 = affine.apply affine_map<(d0, d1) -> (d0 * -4 + d1)>(%v, %i)
          "test.determined"(%v, %3) : (index, index) -> () // expected-remark {{'yes'}}
          // A fused loop: the quotient alone does not say it, both together do.
          %q = affine.apply affine_map<(d0) -> (d0 floordiv 8)>(%v)
          %r = affine.apply affine_map<(d0) -> (d0 mod 8)>(%v)
          "test.determined"(%v, %q) : (index, index) -> () // expected-remark {{'not known'}}
          "test.determined"(%v, %r) : (index, index) -> () // expected-remark {{'not known'}}
          "test.determined"(%v, %q, %r) : (index, index, index) -> () // expected-remark {{'yes'}}
          "test.determined"(%v, %r, %q) : (index, index, index) -> () // expected-remark {{'yes'}}
          // With tiles of rows and of columns behind them.
          %4 = affine.apply affine_map<(d0, d1) -> ((d0 floordiv 8) * 4 + d1)>(%v, %i)
          %5 = affine.apply affine_map<(d0, d1) -> ((d0 mod 8) * 5 + d1)>(%v, %j)
          "test.determined"(%v, %4, %5) : (index, index, index) -> () // expected-remark {{'yes'}}
          // A tile that reaches into the next one.
          %6 = affine.apply affine_map<(d0, d1) -> ((d0 mod 8) * 4 + d1)>(%v, %j)
          "test.determined"(%v, %4, %6) : (index, index, index) -> () // expected-remark {{'not known'}}
          // Quotients by numbers of which none divides the other.
          %s = affine.apply affine_map<(d0) -> (d0 mod 6)>(%v)
          "test.determined"(%v, %q, %s) : (index, index, index) -> () // expected-remark {{'not known'}}
          // Three axes that are one.
          %7 = affine.apply affine_map<(d0) -> ((d0 floordiv 4) mod 4)>(%v)
          %8 = affine.apply affine_map<(d0) -> (d0 floordiv 16)>(%v)
          %9 = affine.apply affine_map<(d0) -> (d0 mod 4)>(%v)
          "test.determined"(%v, %8, %7, %9) : (index, index, index, index) -> () // expected-remark {{'yes'}}
          "test.determined"(%v, %8, %9) : (index, index, index) -> () // expected-remark {{'not known'}}
        }
      }
    }
  }
  return
}
