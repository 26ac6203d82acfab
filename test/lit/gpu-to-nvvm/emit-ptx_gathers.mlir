// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(emit-ptx))' | FileCheck %s

// A loop gathers 40 elements for mma.sync. Its addresses are computed from the loop's counter: no register moves along.
// CHECK-LABEL: gpu.module @m
// CHECK-SAME:    .entry gathers
// CHECK-SAME:    $L__BB0_2:{{.?.?.?.?.?.?}}mul.lo.s32
#loop_unroll = #llvm.loop_unroll<full = true>
#loop_annotation = #llvm.loop_annotation<unroll = #loop_unroll>
gpu.module @m [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] {
  llvm.func @gathers(%x: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %y: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias}, %row: i32, %turns: i32) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 32, 1, 1>} {
    %zero = llvm.mlir.constant(0 : i32) : i32
    %one = llvm.mlir.constant(1 : i32) : i32
    %count = llvm.mlir.constant(40 : i32) : i32
    %none = llvm.mlir.constant(0.000000e+00 : f16) : f16
    %empty = llvm.mlir.constant(dense<0.000000e+00> : vector<2xf16>) : vector<2xf16>
    %f0 = llvm.mlir.constant(0.000000e+00 : f32) : f32
    %lane = nvvm.read.ptx.sreg.tid.x : i32
    llvm.br ^turn(%zero, %f0, %f0, %f0, %f0 : i32, f32, f32, f32, f32)
  ^turn(%i: i32, %c0: f32, %c1: f32, %c2: f32, %c3: f32):
    %more = llvm.icmp "slt" %i, %turns : i32
    llvm.cond_br %more, ^gather(%zero, %none : i32, f16), ^end
  ^gather(%j: i32, %sum: f16):
    %left = llvm.icmp "slt" %j, %count : i32
    llvm.cond_br %left, ^element, ^multiply {loop_annotation = #loop_annotation}
  ^element:
    %0 = llvm.mul %i, %count overflow<nsw, nuw> : i32
    %1 = llvm.add %0, %j overflow<nsw, nuw> : i32
    %2 = llvm.mul %1, %row overflow<nsw, nuw> : i32
    %3 = llvm.add %2, %lane overflow<nsw, nuw> : i32
    %4 = llvm.getelementptr inbounds|nuw %x[%3] : (!llvm.ptr, i32) -> !llvm.ptr, f16
    %5 = llvm.load %4 : !llvm.ptr -> f16
    %6 = llvm.fadd %sum, %5 : f16
    %7 = llvm.add %j, %one overflow<nsw, nuw> : i32
    llvm.br ^gather(%7, %6 : i32, f16)
  ^multiply:
    %a = llvm.insertelement %sum, %empty[%zero : i32] : vector<2xf16>
    %d = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%c0, %c1, %c2, %c3] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %d[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %d[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %d[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %d[3] : !llvm.struct<(f32, f32, f32, f32)>
    %8 = llvm.add %i, %one overflow<nsw, nuw> : i32
    llvm.br ^turn(%8, %d0, %d1, %d2, %d3 : i32, f32, f32, f32, f32)
  ^end:
    %9 = llvm.getelementptr inbounds|nuw %y[%lane] : (!llvm.ptr, i32) -> !llvm.ptr, f32
    llvm.store %c0, %9 : f32, !llvm.ptr
    llvm.return
  }
}
