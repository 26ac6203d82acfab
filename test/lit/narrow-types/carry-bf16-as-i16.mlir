// RUN: tilewright-opt %s --carry-bf16-as-i16 | FileCheck %s

// CHECK-NOT: bf16
// CHECK-LABEL: llvm.func @f
// CHECK-SAME: (%[[BITS:.*]]: i16, %[[P:.*]]: !llvm.ptr, %[[C:.*]]: i1)
// CHECK: %[[ONE:.*]] = llvm.mlir.constant(16256 : i16) : i16
// CHECK: %[[S:.*]] = llvm.select %[[C]], %[[ONE]], %[[BITS]] : i1, i16
// CHECK: %[[G:.*]] = llvm.getelementptr %[[P]][4] : (!llvm.ptr) -> !llvm.ptr, i16
// CHECK: llvm.store %[[S]], %[[G]] : i16, !llvm.ptr
// CHECK: llvm.mlir.constant(dense<[16256, -16384]> : vector<2xi16>) : vector<2xi16>
llvm.func @f(%bits: i16, %p: !llvm.ptr, %c: i1) -> vector<2xbf16> {
  %one = llvm.mlir.constant(1.0 : bf16) : bf16
  %x = llvm.bitcast %bits : i16 to bf16
  %s = llvm.select %c, %one, %x : i1, bf16
  %g = llvm.getelementptr %p[4] : (!llvm.ptr) -> !llvm.ptr, bf16
  llvm.store %s, %g : bf16, !llvm.ptr
  %v = llvm.mlir.constant(dense<[1.0, -2.0]> : vector<2xbf16>) : vector<2xbf16>
  llvm.return %v : vector<2xbf16>
}

// What an argument is for its caller stays.
// CHECK: llvm.func @g{{.*}}tilewright.arguments = [{te.dtype = bf16, te.name = "A", type = memref<4xi16>}]
llvm.func @g() attributes {tilewright.arguments = [{te.name = "A", te.dtype = bf16, type = memref<4xbf16>}]} {
  llvm.return
}
