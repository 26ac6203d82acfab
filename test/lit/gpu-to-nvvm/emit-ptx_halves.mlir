// RUN: tilewright-opt %s --split-input-file --pass-pipeline='builtin.module(gpu.module(emit-ptx))' | FileCheck %s

// ptxas loses the sign of a lane's constant, or of a lane that is negated.
// CHECK-LABEL: gpu.module @constant
// CHECK-NOT:   f16x2
// CHECK:       fma.rn.f16 \09
// CHECK-NOT:   f16x2
// CHECK:       ret;
gpu.module @constant [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %x: f16) attributes {nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    %signed = llvm.mlir.constant(dense<[0.0, -1.0]> : vector<2xf16>) : vector<2xf16>
    %zero = llvm.mlir.constant(0 : i32) : i32
    %pair = llvm.insertelement %x, %signed[%zero : i32] : vector<2xf16>
    %v = llvm.load %in : !llvm.ptr<1> -> vector<3xf16>
    %a = llvm.shufflevector %v, %v [0, 1] : vector<3xf16>
    %b = llvm.shufflevector %v, %v [1, 2] : vector<3xf16>
    %product = llvm.fmul %pair, %b {fastmathFlags = #llvm.fastmath<contract>} : vector<2xf16>
    %sum = llvm.fadd %product, %a {fastmathFlags = #llvm.fastmath<contract>} : vector<2xf16>
    llvm.store %sum, %out : vector<2xf16>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// What is loaded together stays together, and so does what has one sign.
// CHECK-LABEL: gpu.module @whole
// CHECK:       fma.rn.f16x2
// CHECK:       sub.rn.f16x2
gpu.module @whole [#nvvm.target<chip = "sm_90">] {
  llvm.func @k(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %x: vector<2xf16>) attributes {nvvm.kernel} {
    %v = llvm.load %in : !llvm.ptr<1> -> vector<4xf16>
    %a = llvm.shufflevector %v, %v [0, 1] : vector<4xf16>
    %b = llvm.shufflevector %v, %v [2, 3] : vector<4xf16>
    %minus = llvm.mlir.constant(dense<-3.0> : vector<2xf16>) : vector<2xf16>
    %product = llvm.fmul %a, %minus {fastmathFlags = #llvm.fastmath<contract>} : vector<2xf16>
    %sum = llvm.fadd %product, %b {fastmathFlags = #llvm.fastmath<contract>} : vector<2xf16>
    %difference = llvm.fsub %x, %sum : vector<2xf16>
    llvm.store %difference, %out : vector<2xf16>, !llvm.ptr<1>
    llvm.return
  }
}
