// RUN: tilewright-opt %s --allow-unregistered-dialect --test-index --verify-diagnostics --split-input-file

// What affine.apply computes is an expression of its operands, whatever the order; constants are numbers.
func.func @composed(%a: index, %b: index) {
  %c4 = arith.constant 4 : index
  %0 = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%a, %b)
  %1 = affine.apply affine_map<(d0)[s0] -> (d0 + s0 * 2 - 3)>(%0)[%c4]
  "test.expression"(%1) : (index) -> () // expected-remark {{'d0 * 8 + d1 + 5'}}
  "test.form"(%1) : (index) -> () // expected-remark {{'8 of d0, 1 of d1, 5'}}
  return
}

// -----

// Terms that are equal are one, and none has the coefficient 0.
func.func @merged(%a: index, %b: index) {
  %0 = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%a)
  %1 = affine.apply affine_map<(d0, d1, d2) -> (d0 * 3 + d1 + d2 * 5 - d1)>(%0, %b, %0)
  "test.form"(%1) : (index) -> () // expected-remark {{'8 of d0 floordiv 4, 0'}}
  return
}

// -----

// An op that is not affine is a value of its own.
func.func @opaque(%a: index, %b: index) {
  %0 = arith.divui %a, %b : index
  %1 = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)>(%0, %a)
  "test.expression"(%1) : (index) -> () // expected-remark {{'d0 * 2 + d1'}}
  "test.expression"(%a) : (index) -> () // expected-remark {{'d1'}}
  return
}

// -----

// Digits: a thread's index that can be read off the number of an element.
func.func @digits() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c4 step %c1 {
      scf.for %k = %c0 to %c5 step %c1 {
        %0 = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%i, %j)
        "test.digit"(%0, %i) {extent = 8} : (index, index) -> () // expected-remark {{'d1'}}
        "test.digit"(%0, %j) {extent = 4} : (index, index) -> () // expected-remark {{'d0'}}
        // What stands below carries into it.
        %1 = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%i, %k)
        "test.digit"(%1, %i) {extent = 8} : (index, index) -> () // expected-remark {{'no digit'}}
        // So does a constant.
        %2 = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1 + 1)>(%i, %j)
        "test.digit"(%2, %i) {extent = 8} : (index, index) -> () // expected-remark {{'no digit'}}
        // What stands above comes down by the digit's extent.
        %3 = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1 * 4 + 2)>(%k, %i)
        "test.digit"(%3, %i) {extent = 8} : (index, index) -> () // expected-remark {{'d2 * 4 + 2'}}
        // Backwards: 31 - 4 i - j has the digit 7 - i.
        %4 = affine.apply affine_map<(d0, d1) -> (d0 * -4 - d1 + 31)>(%i, %j)
        "test.digit"(%4, %i) {extent = 8} : (index, index) -> () // expected-remark {{'-d1 + 3'}}
        // It is not there at all.
        "test.digit"(%4, %k) {extent = 5} : (index, index) -> () // expected-remark {{'no digit'}}
      }
    }
  }
  return
}

// -----

func.func @never_equal(%a: index, %b: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    // Other remainders.
    %0 = affine.apply affine_map<(d0) -> (d0 * 6)>(%a)
    %1 = affine.apply affine_map<(d0) -> (d0 * 4 + 3)>(%b)
    "test.never_equal"(%0, %1) : (index, index) -> () // expected-remark {{'yes'}}
    %2 = affine.apply affine_map<(d0) -> (d0 * 4 + 2)>(%b)
    "test.never_equal"(%0, %2) : (index, index) -> () // expected-remark {{'not known'}}
    // Ranges that are apart.
    "test.never_equal"(%i, %c8) : (index, index) -> () // expected-remark {{'yes'}}
    %3 = affine.apply affine_map<(d0) -> (d0 + 7)>(%i)
    "test.never_equal"(%i, %3) : (index, index) -> () // expected-remark {{'not known'}}
  }
  return
}

// -----

// Expressions of the same values.
func.func @different(%a: index, %b: index) {
  // By a constant.
  %0 = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%a, %b)
  %1 = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1 + 2)>(%a, %b)
  "test.different"(%0, %1) : (index, index) -> () // expected-remark {{'yes'}}
  "test.different"(%0, %0) : (index, index) -> () // expected-remark {{'not known'}}
  // The slots of a ring of three, in each step of a period.
  %2 = affine.apply affine_map<(d0) -> (d0 mod 3)>(%a)
  %3 = affine.apply affine_map<(d0) -> ((d0 + 2) mod 3)>(%a)
  %4 = affine.apply affine_map<(d0) -> ((d0 + 3) mod 3)>(%a)
  "test.different"(%2, %3) : (index, index) -> () // expected-remark {{'yes'}}
  "test.different"(%2, %4) : (index, index) -> () // expected-remark {{'not known'}}
  // Of two values.
  %5 = affine.apply affine_map<(d0) -> (d0 mod 3)>(%b)
  "test.different"(%2, %5) : (index, index) -> () // expected-remark {{'not known'}}
  return
}

// -----

// How an index grows with a loop, and what divides it at the loop's start.
func.func @strides(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %t = %c0 to %c8 step %c1 {
    scf.for %i = %c0 to %c8 step %c1 {
      %0 = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1 * 3)>(%t, %i)
      "test.stride"(%0, %i) : (index, index) -> () // expected-remark {{'3'}}
      "test.stride"(%0, %t) : (index, index) -> () // expected-remark {{'32'}}
      "test.divisor"(%0, %i) : (index, index) -> () // expected-remark {{'32'}}
      %1 = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%i)
      "test.stride"(%1, %i) : (index, index) -> () // expected-remark {{'not known'}}
      // Twice the half of an even number.
      %2 = affine.apply affine_map<(d0) -> ((d0 * 4) floordiv 2)>(%i)
      "test.stride"(%2, %i) : (index, index) -> () // expected-remark {{'2'}}
      %3 = arith.remui %t, %n : index
      "test.stride"(%3, %i) : (index, index) -> () // expected-remark {{'0'}}
      %4 = arith.remui %i, %n : index
      "test.stride"(%4, %i) : (index, index) -> () // expected-remark {{'not known'}}
      "test.divisor"(%4, %t) : (index, index) -> () // expected-remark {{'1'}}
      %5 = affine.apply affine_map<(d0, d1) -> (d0 * 24 + d1)>(%t, %i)
      "test.divisor"(%5, %i) : (index, index) -> () // expected-remark {{'8'}}
    }
  }
  return
}
