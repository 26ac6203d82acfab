// RUN: not tilewright-opt %s --split-input-file --emit-host-object 2>&1 | FileCheck %s
// RUN: not tilewright-opt %s --split-input-file --emit-host-object=mcpu=foo 2>&1 | FileCheck %s --check-prefix=MCPU
// MCPU: error: mcpu: expected a processor that LLVM knows for {{.+}}, got 'foo'

// Inline assembly for which LLVM's back end for x86 ends the process elsewhere. What it is about differs.
// CHECK: error: LLVM's back end gave up
llvm.func @f(%x: f32, %y: f32, %a: i64) -> !llvm.struct<(f32, f32)> {
  %0 = llvm.inline_asm has_side_effects "{ $0, $1, $4 }", "=f,=f,0,1,l" %x, %y, %a : (f32, f32, i64) -> !llvm.struct<(f32, f32)>
  llvm.return %0 : !llvm.struct<(f32, f32)>
}

// -----

// What LLVM's back end reports, and goes on.
// CHECK: error: LLVM's back end gave up: couldn't allocate output register for constraint 'f'
llvm.func @f(%x: i128, %y: i128, %a: i64) -> !llvm.struct<(i128, i128)> {
  %0 = llvm.inline_asm has_side_effects "{ $0, $1, $4 }", "=f,=f,0,1,l" %x, %y, %a : (i128, i128, i64) -> !llvm.struct<(i128, i128)>
  llvm.return %0 : !llvm.struct<(i128, i128)>
}
