// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(emit-ptx))' | FileCheck %s

// Unrolled loops make a chain of 1,155 branches on one condition, that of a guard in them. SimplifyCFG would thread one
// in each of its iterations, of which LLVM takes the thousandth for an error.
// CHECK-LABEL: gpu.module @m
// CHECK-SAME:    .entry guarded
// CHECK-SAME:    ret;
#loop_unroll = #llvm.loop_unroll<full = true>
#loop_annotation = #llvm.loop_annotation<unroll = #loop_unroll>
gpu.module @m [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] {
  llvm.func @guarded(%arg0: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg1: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias}, %arg2: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 8, 1, 1>} {
    %0 = llvm.mlir.constant(0.000000e+00 : f64) : f64
    %1 = llvm.mlir.constant(32 : index) : i32
    %2 = llvm.mlir.constant(8 : index) : i32
    %3 = llvm.mlir.constant(6 : index) : i32
    %4 = llvm.mlir.constant(48 : index) : i32
    %5 = llvm.mlir.constant(1 : index) : i32
    %6 = llvm.mlir.constant(3 : index) : i32
    %7 = llvm.mlir.constant(9 : index) : i32
    %8 = llvm.mlir.constant(36 : index) : i32
    %9 = llvm.mlir.constant(4 : index) : i32
    %10 = llvm.mlir.constant(0 : index) : i32
    %11 = nvvm.read.ptx.sreg.tid.x : i32
    %12 = llvm.alloca %1 x f64 : (i32) -> !llvm.ptr
    llvm.br ^bb1(%10 : i32)
  ^bb1(%13: i32):  // 2 preds: ^bb0, ^bb18
    %14 = llvm.icmp "slt" %13, %9 : i32
    llvm.cond_br %14, ^bb2, ^bb19
  ^bb2:  // pred: ^bb1
    llvm.br ^bb3(%10 : i32)
  ^bb3(%15: i32):  // 2 preds: ^bb2, ^bb17
    %16 = llvm.icmp "slt" %15, %2 : i32
    llvm.cond_br %16, ^bb4, ^bb18
  ^bb4:  // pred: ^bb3
    %17 = llvm.icmp "slt" %11, %3 : i32
    llvm.cond_br %17, ^bb5, ^bb6
  ^bb5:  // pred: ^bb4
    %18 = llvm.mul %13, %2 overflow<nsw, nuw> : i32
    %19 = llvm.mul %10, %2 overflow<nsw, nuw> : i32
    %20 = llvm.add %18, %19 overflow<nsw, nuw> : i32
    %21 = llvm.add %20, %15 overflow<nsw, nuw> : i32
    %22 = llvm.getelementptr inbounds|nuw %12[%21] : (!llvm.ptr, i32) -> !llvm.ptr, f64
    llvm.store %0, %22 : f64, !llvm.ptr
    llvm.br ^bb6
  ^bb6:  // 2 preds: ^bb4, ^bb5
    llvm.br ^bb7(%10 : i32)
  ^bb7(%23: i32):  // 2 preds: ^bb6, ^bb16
    %24 = llvm.icmp "slt" %23, %9 : i32
    llvm.cond_br %24, ^bb8, ^bb17
  ^bb8:  // pred: ^bb7
    llvm.br ^bb9(%10 : i32)
  ^bb9(%25: i32):  // 2 preds: ^bb8, ^bb15
    %26 = llvm.icmp "slt" %25, %6 : i32
    llvm.cond_br %26, ^bb10, ^bb16
  ^bb10:  // pred: ^bb9
    llvm.br ^bb11(%10 : i32)
  ^bb11(%27: i32):  // 2 preds: ^bb10, ^bb14
    %28 = llvm.icmp "slt" %27, %6 : i32
    llvm.cond_br %28, ^bb12, ^bb15
  ^bb12:  // pred: ^bb11
    llvm.cond_br %17, ^bb13, ^bb14
  ^bb13:  // pred: ^bb12
    %29 = llvm.mul %13, %2 overflow<nsw, nuw> : i32
    %30 = llvm.mul %10, %2 overflow<nsw, nuw> : i32
    %31 = llvm.add %29, %30 overflow<nsw, nuw> : i32
    %32 = llvm.add %31, %15 overflow<nsw, nuw> : i32
    %33 = llvm.getelementptr inbounds|nuw %12[%32] : (!llvm.ptr, i32) -> !llvm.ptr, f64
    %34 = llvm.load %33 : !llvm.ptr -> f64
    %35 = llvm.add %15, %27 : i32
    %36 = llvm.add %25, %11 : i32
    %37 = llvm.mul %35, %1 overflow<nsw, nuw> : i32
    %38 = llvm.mul %10, %1 overflow<nsw, nuw> : i32
    %39 = llvm.add %37, %38 overflow<nsw, nuw> : i32
    %40 = llvm.mul %36, %9 overflow<nsw, nuw> : i32
    %41 = llvm.add %39, %40 overflow<nsw, nuw> : i32
    %42 = llvm.add %41, %23 overflow<nsw, nuw> : i32
    %43 = llvm.getelementptr inbounds|nuw %arg2[%42] : (!llvm.ptr, i32) -> !llvm.ptr, f64
    %44 = llvm.load %43 : !llvm.ptr -> f64
    %45 = llvm.mul %13, %8 overflow<nsw, nuw> : i32
    %46 = llvm.mul %23, %7 overflow<nsw, nuw> : i32
    %47 = llvm.add %45, %46 overflow<nsw, nuw> : i32
    %48 = llvm.mul %25, %6 overflow<nsw, nuw> : i32
    %49 = llvm.add %47, %48 overflow<nsw, nuw> : i32
    %50 = llvm.add %49, %27 overflow<nsw, nuw> : i32
    %51 = llvm.getelementptr inbounds|nuw %arg0[%50] : (!llvm.ptr, i32) -> !llvm.ptr, f64
    %52 = llvm.load %51 : !llvm.ptr -> f64
    %53 = llvm.fmul %44, %52 {fastmathFlags = #llvm.fastmath<contract>} : f64
    %54 = llvm.fadd %34, %53 {fastmathFlags = #llvm.fastmath<contract>} : f64
    llvm.store %54, %33 : f64, !llvm.ptr
    llvm.br ^bb14
  ^bb14:  // 2 preds: ^bb12, ^bb13
    %55 = llvm.add %27, %5 : i32
    llvm.br ^bb11(%55 : i32)
  ^bb15:  // pred: ^bb11
    %56 = llvm.add %25, %5 : i32
    llvm.br ^bb9(%56 : i32)
  ^bb16:  // pred: ^bb9
    %57 = llvm.add %23, %5 : i32
    llvm.br ^bb7(%57 : i32)
  ^bb17:  // pred: ^bb7
    %58 = llvm.add %15, %5 : i32
    llvm.br ^bb3(%58 : i32) {loop_annotation = #loop_annotation}
  ^bb18:  // pred: ^bb3
    %59 = llvm.add %13, %5 : i32
    llvm.br ^bb1(%59 : i32) {loop_annotation = #loop_annotation}
  ^bb19:  // pred: ^bb1
    llvm.br ^bb20(%10 : i32)
  ^bb20(%60: i32):  // 2 preds: ^bb19, ^bb26
    %61 = llvm.icmp "slt" %60, %9 : i32
    llvm.cond_br %61, ^bb21, ^bb27
  ^bb21:  // pred: ^bb20
    llvm.br ^bb22(%10 : i32)
  ^bb22(%62: i32):  // 2 preds: ^bb21, ^bb25
    %63 = llvm.icmp "slt" %62, %2 : i32
    llvm.cond_br %63, ^bb23, ^bb26
  ^bb23:  // pred: ^bb22
    %64 = llvm.icmp "slt" %11, %3 : i32
    llvm.cond_br %64, ^bb24, ^bb25
  ^bb24:  // pred: ^bb23
    %65 = llvm.mul %60, %2 overflow<nsw, nuw> : i32
    %66 = llvm.mul %10, %2 overflow<nsw, nuw> : i32
    %67 = llvm.add %65, %66 overflow<nsw, nuw> : i32
    %68 = llvm.add %67, %62 overflow<nsw, nuw> : i32
    %69 = llvm.getelementptr inbounds|nuw %12[%68] : (!llvm.ptr, i32) -> !llvm.ptr, f64
    %70 = llvm.load %69 : !llvm.ptr -> f64
    %71 = llvm.mul %60, %4 overflow<nsw, nuw> : i32
    %72 = llvm.mul %11, %2 overflow<nsw, nuw> : i32
    %73 = llvm.add %71, %72 overflow<nsw, nuw> : i32
    %74 = llvm.add %73, %62 overflow<nsw, nuw> : i32
    %75 = llvm.getelementptr inbounds|nuw %arg1[%74] : (!llvm.ptr, i32) -> !llvm.ptr, f64
    llvm.store %70, %75 : f64, !llvm.ptr
    llvm.br ^bb25
  ^bb25:  // 2 preds: ^bb23, ^bb24
    %76 = llvm.add %62, %5 : i32
    llvm.br ^bb22(%76 : i32) {loop_annotation = #loop_annotation}
  ^bb26:  // pred: ^bb22
    %77 = llvm.add %60, %5 : i32
    llvm.br ^bb20(%77 : i32) {loop_annotation = #loop_annotation}
  ^bb27:  // pred: ^bb20
    llvm.return
  }
}
