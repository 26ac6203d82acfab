// RUN: tilewright-opt %s --guard-integer-ops --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @unsigned(
// CHECK-SAME: %[[A:.*]]: i32, %[[B:.*]]: i32)
func.func @unsigned(%a: i32, %b: i32) -> (i32, i32) {
  // CHECK: %[[ONE:.*]] = arith.constant 1 : i32
  // CHECK: %[[BY:.*]] = arith.maxui %[[B]], %[[ONE]]
  // CHECK: %[[Q:.*]] = arith.divui %[[A]], %[[BY]]
  // CHECK: %[[IS_ZERO:.*]] = arith.cmpi eq, %[[B]], %{{.*}}
  // CHECK: %[[QUOTIENT:.*]] = arith.select %[[IS_ZERO]], %c-1_i32{{.*}}, %[[Q]]
  %0 = arith.divui %a, %b : i32
  // CHECK: %[[R:.*]] = arith.remui
  // CHECK: %[[REMAINDER:.*]] = arith.select %{{.*}}, %c-1_i32{{.*}}, %[[R]]
  %1 = arith.remui %a, %b : i32
  // CHECK: return %[[QUOTIENT]], %[[REMAINDER]]
  return %0, %1 : i32, i32
}

// -----

// 0 and -1 are found by one comparison, of the number after them.
// CHECK-LABEL: func.func @signed(
// CHECK-SAME: %[[A:.*]]: i8, %[[B:.*]]: i8)
func.func @signed(%a: i8, %b: i8) -> (i8, i8) {
  // CHECK: %[[NEXT:.*]] = arith.addi %[[B]], %c1_i8
  // CHECK: %[[SPECIAL:.*]] = arith.cmpi ult, %[[NEXT]], %c2_i8
  // CHECK: %[[BY:.*]] = arith.select %[[SPECIAL]], %c1_i8, %[[B]]
  // CHECK: %[[Q:.*]] = arith.floordivsi %[[A]], %[[BY]]
  // CHECK: %[[NEGATED:.*]] = arith.subi %{{.*}}, %[[A]]
  // CHECK: %[[MINUS:.*]] = arith.cmpi eq, %[[B]], %c-1_i8
  // CHECK: %[[ONE_OR_Q:.*]] = arith.select %[[MINUS]], %[[NEGATED]], %[[Q]]
  // CHECK: %[[ZERO:.*]] = arith.cmpi eq, %[[B]], %c0_i8
  // CHECK: arith.select %[[ZERO]], %c-1_i8{{.*}}, %[[ONE_OR_Q]]
  %0 = arith.floordivsi %a, %b : i8
  // A remainder by -1 is that by 1.
  // CHECK: %[[R:.*]] = arith.remsi
  // CHECK: arith.select %{{.*}}, %c-1_i8{{.*}}, %[[R]]
  %1 = arith.remsi %a, %b : i8
  return %0, %1 : i8, i8
}

// -----

// What is known costs nothing: constants, their lanes, what is extended of them, a maximum with 1.
// CHECK-LABEL: func.func @known(
func.func @known(%a: vector<2xi32>, %b: i32, %c: i16, %i: index) -> (vector<2xi32>, i32, i32, index, i32, index) {
  // CHECK-NOT: arith.select
  // CHECK-NOT: arith.cmpi
  %lanes = arith.constant dense<[3, -7]> : vector<2xi32>
  %0 = arith.divsi %a, %lanes : vector<2xi32>
  %one = arith.constant 1 : i32
  %positive = arith.maxui %b, %one : i32
  %1 = arith.remui %b, %positive : i32
  %bit = arith.constant 16 : i32
  %or = arith.ori %b, %bit : i32
  %2 = arith.divui %b, %or : i32
  %c8 = arith.constant 8 : index
  %3 = arith.floordivsi %i, %c8 : index
  %31 = arith.constant 31 : i32
  %4 = arith.shrsi %b, %31 : i32
  %5 = arith.shli %i, %c8 : index
  // CHECK: return
  return %0, %1, %2, %3, %4, %5 : vector<2xi32>, i32, i32, index, i32, index
}

// -----

// CHECK-LABEL: func.func @shifts(
// CHECK-SAME: %[[A:.*]]: i16, %[[N:.*]]: i16)
func.func @shifts(%a: i16, %n: i16) -> (i16, i16, i16) {
  // CHECK: %[[LEFT:.*]] = arith.shli %[[A]], %[[N]]
  // CHECK: %[[FAR:.*]] = arith.cmpi uge, %[[N]], %c16_i16
  // CHECK: arith.select %[[FAR]], %c0_i16, %[[LEFT]]
  %0 = arith.shli %a, %n : i16
  // CHECK: %[[BELOW:.*]] = arith.minui %[[N]], %c15_i16
  // CHECK: arith.shrsi %[[A]], %[[BELOW]]
  %1 = arith.shrsi %a, %n : i16
  // CHECK: %[[RIGHT:.*]] = arith.shrui %[[A]], %[[N]]
  // CHECK: arith.select %{{.*}}, %c0_i16{{.*}}, %[[RIGHT]]
  %2 = arith.shrui %a, %n : i16
  return %0, %1, %2 : i16, i16, i16
}

// -----

// CHECK-LABEL: func.func @conversions(
// CHECK-SAME: %[[X:.*]]: f32, %[[V:.*]]: vector<4xf16>)
func.func @conversions(%x: f32, %v: vector<4xf16>) -> (i32, vector<4xi8>) {
  // CHECK: %[[TO:.*]] = arith.fptosi %[[X]] : f32 to i32
  // CHECK: %[[OVER:.*]] = arith.cmpf oge, %[[X]], %cst{{.*}} : f32
  // CHECK: %[[HIGH:.*]] = arith.select %[[OVER]], %c2147483647_i32, %[[TO]]
  // CHECK: %[[UNDER:.*]] = arith.cmpf ole, %[[X]], %cst{{.*}} : f32
  // CHECK: %[[BOTH:.*]] = arith.select %[[UNDER]], %c-2147483648_i32, %[[HIGH]]
  // CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]]
  // CHECK: arith.select %[[NAN]], %c0_i32, %[[BOTH]]
  %0 = arith.fptosi %x : f32 to i32
  // Fewer bits are converted by way of 32.
  // CHECK: %[[W:.*]] = arith.extf %[[V]] : vector<4xf16> to vector<4xf32>
  // CHECK: %[[IS_NAN:.*]] = arith.cmpf uno, %[[W]], %[[W]]
  // CHECK: %[[N:.*]] = arith.select %[[IS_NAN]], %{{.*}}, %[[W]]
  // CHECK: %[[LEAST:.*]] = arith.maximumf %[[N]], %{{.*}} fastmath<nnan,nsz> : vector<4xf32>
  // CHECK: %[[MOST:.*]] = arith.minimumf %[[LEAST]], %{{.*}} fastmath<nnan,nsz> : vector<4xf32>
  // CHECK: %[[I:.*]] = arith.fptosi %[[MOST]] : vector<4xf32> to vector<4xi32>
  // CHECK: arith.trunci %[[I]] : vector<4xi32> to vector<4xi8>
  %1 = arith.fptoui %v : vector<4xf16> to vector<4xi8>
  return %0, %1 : i32, vector<4xi8>
}

// -----

// What lies between the type's limits already, or is NaN.
// CHECK-LABEL: func.func @limited(
func.func @limited(%x: f32) -> i8 {
  %least = arith.constant -1.280000e+02 : f32
  %most = arith.constant 1.270000e+02 : f32
  // CHECK: arith.maximumf
  // CHECK: %[[M:.*]] = arith.minimumf
  %0 = arith.maximumf %x, %least : f32
  %1 = arith.minimumf %0, %most : f32
  // CHECK-NEXT: %[[NAN:.*]] = arith.cmpf uno, %[[M]], %[[M]]
  // CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.0
  // CHECK-NEXT: %[[N:.*]] = arith.select %[[NAN]], %[[ZERO]], %[[M]]
  // CHECK-NEXT: %[[I:.*]] = arith.fptosi %[[N]] : f32 to i32
  // CHECK-NEXT: arith.trunci %[[I]] : i32 to i8
  %2 = arith.fptosi %1 : f32 to i8
  return %2 : i8
}

// -----

// Limits of another type.
// CHECK-LABEL: func.func @limited_elsewhere(
func.func @limited_elsewhere(%x: f32) -> i8 {
  %least = arith.constant -1.280000e+02 : f32
  %most = arith.constant 2.550000e+02 : f32
  %0 = arith.maximumf %x, %least : f32
  %1 = arith.minimumf %0, %most : f32
  // CHECK-COUNT-2: arith.minimumf
  %2 = arith.fptosi %1 : f32 to i8
  return %2 : i8
}

// -----

// Of 1 bit, every divisor is 0 or -1.
// CHECK-LABEL: func.func @bit(
// CHECK-SAME: %[[A:.*]]: i1, %[[B:.*]]: i1)
func.func @bit(%a: i1, %b: i1) -> (i1, i1) {
  // CHECK: %[[ONE:.*]] = arith.constant true
  // CHECK: %[[ZERO:.*]] = arith.constant false
  // CHECK: %[[Q:.*]] = arith.floordivsi %[[ZERO]], %[[ONE]]
  // CHECK: %[[NEGATED:.*]] = arith.subi %{{.*}}, %[[A]]
  // CHECK: %[[MINUS:.*]] = arith.cmpi eq, %[[B]], %true
  // CHECK: %[[ONE_OR_Q:.*]] = arith.select %[[MINUS]], %[[NEGATED]], %[[Q]]
  // CHECK: %[[IS_ZERO:.*]] = arith.cmpi eq, %[[B]], %false
  // CHECK: arith.select %[[IS_ZERO]], %true{{.*}}, %[[ONE_OR_Q]]
  %0 = arith.floordivsi %a, %b : i1
  // CHECK: %[[R:.*]] = arith.remsi %false{{.*}}, %true
  // CHECK: arith.select %{{.*}}, %true{{.*}}, %[[R]]
  %1 = arith.remsi %a, %b : i1
  return %0, %1 : i1, i1
}

// -----

// CHECK-LABEL: func.func @two_bits(
// CHECK-SAME: %[[A:.*]]: i2, %[[B:.*]]: i2)
func.func @two_bits(%a: i2, %b: i2) -> (i2, i2) {
  // CHECK: %[[NEXT:.*]] = arith.addi %[[B]], %c1_i2
  // CHECK: arith.cmpi ult, %[[NEXT]], %c-2_i2
  %0 = arith.divsi %a, %b : i2
  // CHECK: arith.cmpi uge, %[[B]], %c-2_i2
  %1 = arith.shli %a, %b : i2
  return %0, %1 : i2, i2
}
