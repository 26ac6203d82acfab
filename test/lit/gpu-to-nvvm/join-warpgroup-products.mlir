// RUN: tilewright-opt %s --join-warpgroup-products | FileCheck %s
// What a product of a step gives back goes to the next one and nowhere else, so that they are one text. Descriptors stand
// before it.

!acc = !llvm.struct<(f32, f32)>

// CHECK-LABEL: llvm.func @three(
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32, %[[A:.*]]: i64, %[[B:.*]]: i64)
llvm.func @three(%x: f32, %y: f32, %a: i64, %b: i64) -> !acc {
  %two = llvm.mlir.constant(2 : i64) : i64
  %0 = llvm.inline_asm has_side_effects "{ wgmma.mma_async {$0, $1}, $4, $5; }", "=f,=f,0,1,l,l" %x, %y, %a, %b : (f32, f32, i64, i64) -> !acc
  // CHECK-NEXT: %[[TWO:.*]] = llvm.mlir.constant
  // CHECK-NEXT: %[[A2:.*]] = llvm.add %[[A]], %[[TWO]]
  // CHECK-NEXT: %[[A4:.*]] = llvm.add %[[A2]], %[[TWO]]
  // CHECK-NEXT: %[[SUM:.*]] = llvm.inline_asm has_side_effects "{ wgmma.mma_async {$0, $1}, $4, $5; }{ wgmma.mma_async {$0, $1}, $6, $7; }{ wgmma.mma_async {$0, $1}, $8, $9, p; }", "=f,=f,0,1,l,l,l,l,l,l" %[[X]], %[[Y]], %[[A]], %[[B]], %[[A2]], %[[B]], %[[A4]], %[[B]] :
  // CHECK-NEXT: llvm.return %[[SUM]]
  %x0 = llvm.extractvalue %0[0] : !acc
  %y0 = llvm.extractvalue %0[1] : !acc
  %a2 = llvm.add %a, %two : i64
  %1 = llvm.inline_asm has_side_effects "{ wgmma.mma_async {$0, $1}, $4, $5; }", "=f,=f,0,1,l,l" %x0, %y0, %a2, %b : (f32, f32, i64, i64) -> !acc
  %x1 = llvm.extractvalue %1[0] : !acc
  %y1 = llvm.extractvalue %1[1] : !acc
  %a4 = llvm.add %a2, %two : i64
  %2 = llvm.inline_asm has_side_effects "{ wgmma.mma_async {$0, $1}, $4, $5, p; }", "=f,=f,0,1,l,l" %x1, %y1, %a4, %b : (f32, f32, i64, i64) -> !acc
  llvm.return %2 : !acc
}

// Somebody else reads a number of the first; something happens between the products.
// CHECK-LABEL: llvm.func @others(
llvm.func @others(%x: f32, %y: f32, %a: i64, %p: !llvm.ptr) -> !acc {
  // CHECK-COUNT-3: llvm.inline_asm has_side_effects "wgmma.mma_async {$0, $1}, $4;"
  %0 = llvm.inline_asm has_side_effects "wgmma.mma_async {$0, $1}, $4;", "=f,=f,0,1,l" %x, %y, %a : (f32, f32, i64) -> !acc
  %x0 = llvm.extractvalue %0[0] : !acc
  %y0 = llvm.extractvalue %0[1] : !acc
  llvm.store %x0, %p : f32, !llvm.ptr
  %1 = llvm.inline_asm has_side_effects "wgmma.mma_async {$0, $1}, $4;", "=f,=f,0,1,l" %x0, %y0, %a : (f32, f32, i64) -> !acc
  %x1 = llvm.extractvalue %1[0] : !acc
  %y1 = llvm.extractvalue %1[1] : !acc
  llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "" : () -> ()
  %2 = llvm.inline_asm has_side_effects "wgmma.mma_async {$0, $1}, $4;", "=f,=f,0,1,l" %x1, %y1, %a : (f32, f32, i64) -> !acc
  llvm.return %2 : !acc
}
