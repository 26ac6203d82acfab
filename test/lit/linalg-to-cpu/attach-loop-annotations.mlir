// RUN: tilewright-opt %s --attach-loop-annotations | FileCheck %s

#unroll = #llvm.loop_unroll<full = true>
#annotation = #llvm.loop_annotation<unroll = #unroll>

// CHECK-LABEL: llvm.func @f
llvm.func @f(%c: i1) {
  llvm.br ^header
^header:
  llvm.cond_br %c, ^body, ^end
^body:
  // CHECK: llvm.br ^bb1 {loop_annotation = #{{.*}}}
  llvm.br ^header {llvm.loop_annotation = #annotation}
^end:
  llvm.return
}
