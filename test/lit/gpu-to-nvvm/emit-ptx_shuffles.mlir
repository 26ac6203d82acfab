// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(emit-ptx))' | FileCheck %s

// SLPVectorizer leaves shuffles of the reduction before the vectors that they read, of three unrolled loops.
// CHECK-LABEL: gpu.module @m
// CHECK:       ret;
#loop_unroll = #llvm.loop_unroll<full = true>
#loop_annotation = #llvm.loop_annotation<unroll = #loop_unroll>
gpu.module @m [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] {
  llvm.func @all(%arg0: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg1: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias}) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 2, 1, 1>} {
    %0 = llvm.mlir.constant(72 : index) : i32
    %1 = llvm.mlir.constant(24 : index) : i32
    %2 = llvm.mlir.constant(3 : index) : i32
    %3 = llvm.mlir.constant(0.000000e+00 : bf16) : bf16
    %4 = llvm.mlir.constant(2 : index) : i32
    %5 = llvm.mlir.constant(1 : i8) : i8
    %6 = llvm.mlir.constant(0 : i8) : i8
    %7 = llvm.mlir.constant(9 : index) : i32
    %8 = llvm.mlir.constant(6 : index) : i32
    %9 = llvm.mlir.constant(1 : index) : i32
    %10 = llvm.mlir.constant(8 : index) : i32
    %11 = llvm.mlir.constant(18 : index) : i32
    %12 = llvm.mlir.constant(0 : index) : i32
    %13 = nvvm.read.ptx.sreg.tid.x : i32
    %14 = llvm.alloca %0 x i8 : (i32) -> !llvm.ptr
    llvm.br ^bb1(%12 : i32)
  ^bb1(%15: i32):  // 2 preds: ^bb0, ^bb14
    %16 = llvm.icmp "slt" %15, %2 : i32
    llvm.cond_br %16, ^bb2, ^bb15
  ^bb2:  // pred: ^bb1
    llvm.br ^bb3(%12 : i32)
  ^bb3(%17: i32):  // 2 preds: ^bb2, ^bb13
    %18 = llvm.icmp "slt" %17, %2 : i32
    llvm.cond_br %18, ^bb4, ^bb14
  ^bb4:  // pred: ^bb3
    llvm.br ^bb5(%12 : i32)
  ^bb5(%19: i32):  // 2 preds: ^bb4, ^bb12
    %20 = llvm.icmp "slt" %19, %10 : i32
    llvm.cond_br %20, ^bb6, ^bb13
  ^bb6:  // pred: ^bb5
    %21 = llvm.add %15, %17 : i32
    %22 = llvm.icmp "slt" %21, %2 : i32
    %23 = llvm.icmp "slt" %17, %9 : i32
    %24 = llvm.and %22, %23 : i1
    %25 = llvm.mul %13, %7 overflow<nsw> : i32
    %26 = llvm.add %21, %25 : i32
    %27 = llvm.add %26, %2 : i32
    %28 = llvm.add %26, %8 : i32
    %29 = llvm.icmp "slt" %26, %11 : i32
    %30 = llvm.icmp "slt" %27, %11 : i32
    %31 = llvm.icmp "slt" %28, %11 : i32
    %32 = llvm.and %24, %29 : i1
    %33 = llvm.and %24, %30 : i1
    %34 = llvm.and %24, %31 : i1
    llvm.cond_br %32, ^bb7, ^bb8
  ^bb7:  // pred: ^bb6
    %35 = llvm.mul %26, %10 overflow<nsw, nuw> : i32
    %36 = llvm.add %35, %19 overflow<nsw, nuw> : i32
    %37 = llvm.getelementptr inbounds|nuw %arg0[%36] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
    %38 = llvm.load %37 : !llvm.ptr -> bf16
    %39 = llvm.fcmp "oeq" %38, %3 : bf16
    %40 = llvm.zext %39 : i1 to i8
    %41 = llvm.mul %12, %1 overflow<nsw, nuw> : i32
    %42 = llvm.mul %21, %10 overflow<nsw, nuw> : i32
    %43 = llvm.add %41, %42 overflow<nsw, nuw> : i32
    %44 = llvm.add %43, %19 overflow<nsw, nuw> : i32
    %45 = llvm.getelementptr inbounds|nuw %14[%44] : (!llvm.ptr, i32) -> !llvm.ptr, i8
    llvm.store %40, %45 : i8, !llvm.ptr
    llvm.br ^bb8
  ^bb8:  // 2 preds: ^bb6, ^bb7
    llvm.cond_br %33, ^bb9, ^bb10
  ^bb9:  // pred: ^bb8
    %46 = llvm.mul %27, %10 overflow<nsw, nuw> : i32
    %47 = llvm.add %46, %19 overflow<nsw, nuw> : i32
    %48 = llvm.getelementptr inbounds|nuw %arg0[%47] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
    %49 = llvm.load %48 : !llvm.ptr -> bf16
    %50 = llvm.fcmp "oeq" %49, %3 : bf16
    %51 = llvm.zext %50 : i1 to i8
    %52 = llvm.mul %9, %1 overflow<nsw, nuw> : i32
    %53 = llvm.mul %21, %10 overflow<nsw, nuw> : i32
    %54 = llvm.add %52, %53 overflow<nsw, nuw> : i32
    %55 = llvm.add %54, %19 overflow<nsw, nuw> : i32
    %56 = llvm.getelementptr inbounds|nuw %14[%55] : (!llvm.ptr, i32) -> !llvm.ptr, i8
    llvm.store %51, %56 : i8, !llvm.ptr
    llvm.br ^bb10
  ^bb10:  // 2 preds: ^bb8, ^bb9
    llvm.cond_br %34, ^bb11, ^bb12
  ^bb11:  // pred: ^bb10
    %57 = llvm.mul %28, %10 overflow<nsw, nuw> : i32
    %58 = llvm.add %57, %19 overflow<nsw, nuw> : i32
    %59 = llvm.getelementptr inbounds|nuw %arg0[%58] : (!llvm.ptr, i32) -> !llvm.ptr, bf16
    %60 = llvm.load %59 : !llvm.ptr -> bf16
    %61 = llvm.fcmp "oeq" %60, %3 : bf16
    %62 = llvm.zext %61 : i1 to i8
    %63 = llvm.mul %4, %1 overflow<nsw, nuw> : i32
    %64 = llvm.mul %21, %10 overflow<nsw, nuw> : i32
    %65 = llvm.add %63, %64 overflow<nsw, nuw> : i32
    %66 = llvm.add %65, %19 overflow<nsw, nuw> : i32
    %67 = llvm.getelementptr inbounds|nuw %14[%66] : (!llvm.ptr, i32) -> !llvm.ptr, i8
    llvm.store %62, %67 : i8, !llvm.ptr
    llvm.br ^bb12
  ^bb12:  // 2 preds: ^bb10, ^bb11
    %68 = llvm.add %19, %9 : i32
    llvm.br ^bb5(%68 : i32) {loop_annotation = #loop_annotation}
  ^bb13:  // pred: ^bb5
    %69 = llvm.add %17, %9 : i32
    llvm.br ^bb3(%69 : i32) {loop_annotation = #loop_annotation}
  ^bb14:  // pred: ^bb3
    %70 = llvm.add %15, %9 : i32
    llvm.br ^bb1(%70 : i32) {loop_annotation = #loop_annotation}
  ^bb15:  // pred: ^bb1
    llvm.br ^bb16(%12 : i32)
  ^bb16(%71: i32):  // 2 preds: ^bb15, ^bb20
    %72 = llvm.icmp "slt" %71, %2 : i32
    llvm.cond_br %72, ^bb17, ^bb21
  ^bb17:  // pred: ^bb16
    %73 = llvm.mul %13, %7 overflow<nsw> : i32
    %74 = llvm.add %71, %73 : i32
    %75 = llvm.add %74, %2 : i32
    %76 = llvm.add %74, %8 : i32
    %77 = llvm.getelementptr inbounds|nuw %arg1[%74] : (!llvm.ptr, i32) -> !llvm.ptr, i8
    llvm.store %5, %77 : i8, !llvm.ptr
    %78 = llvm.getelementptr inbounds|nuw %arg1[%75] : (!llvm.ptr, i32) -> !llvm.ptr, i8
    llvm.store %5, %78 : i8, !llvm.ptr
    %79 = llvm.getelementptr inbounds|nuw %arg1[%76] : (!llvm.ptr, i32) -> !llvm.ptr, i8
    llvm.store %5, %79 : i8, !llvm.ptr
    llvm.br ^bb18(%12 : i32)
  ^bb18(%80: i32):  // 2 preds: ^bb17, ^bb19
    %81 = llvm.icmp "slt" %80, %10 : i32
    llvm.cond_br %81, ^bb19, ^bb20
  ^bb19:  // pred: ^bb18
    %82 = llvm.load %77 : !llvm.ptr -> i8
    %83 = llvm.load %78 : !llvm.ptr -> i8
    %84 = llvm.load %79 : !llvm.ptr -> i8
    %85 = llvm.icmp "ne" %82, %6 : i8
    %86 = llvm.icmp "ne" %83, %6 : i8
    %87 = llvm.icmp "ne" %84, %6 : i8
    %88 = llvm.mul %12, %1 overflow<nsw, nuw> : i32
    %89 = llvm.mul %71, %10 overflow<nsw, nuw> : i32
    %90 = llvm.add %88, %89 overflow<nsw, nuw> : i32
    %91 = llvm.add %90, %80 overflow<nsw, nuw> : i32
    %92 = llvm.getelementptr inbounds|nuw %14[%91] : (!llvm.ptr, i32) -> !llvm.ptr, i8
    %93 = llvm.load %92 : !llvm.ptr -> i8
    %94 = llvm.mul %9, %1 overflow<nsw, nuw> : i32
    %95 = llvm.add %94, %89 overflow<nsw, nuw> : i32
    %96 = llvm.add %95, %80 overflow<nsw, nuw> : i32
    %97 = llvm.getelementptr inbounds|nuw %14[%96] : (!llvm.ptr, i32) -> !llvm.ptr, i8
    %98 = llvm.load %97 : !llvm.ptr -> i8
    %99 = llvm.mul %4, %1 overflow<nsw, nuw> : i32
    %100 = llvm.add %99, %89 overflow<nsw, nuw> : i32
    %101 = llvm.add %100, %80 overflow<nsw, nuw> : i32
    %102 = llvm.getelementptr inbounds|nuw %14[%101] : (!llvm.ptr, i32) -> !llvm.ptr, i8
    %103 = llvm.load %102 : !llvm.ptr -> i8
    %104 = llvm.icmp "ne" %93, %6 : i8
    %105 = llvm.icmp "ne" %98, %6 : i8
    %106 = llvm.icmp "ne" %103, %6 : i8
    %107 = llvm.intr.umin(%85, %104) : (i1, i1) -> i1
    %108 = llvm.intr.umin(%86, %105) : (i1, i1) -> i1
    %109 = llvm.intr.umin(%87, %106) : (i1, i1) -> i1
    %110 = llvm.zext %107 : i1 to i8
    %111 = llvm.zext %108 : i1 to i8
    %112 = llvm.zext %109 : i1 to i8
    llvm.store %110, %77 : i8, !llvm.ptr
    llvm.store %111, %78 : i8, !llvm.ptr
    llvm.store %112, %79 : i8, !llvm.ptr
    %113 = llvm.add %80, %9 : i32
    llvm.br ^bb18(%113 : i32) {loop_annotation = #loop_annotation}
  ^bb20:  // pred: ^bb18
    %114 = llvm.add %71, %9 : i32
    llvm.br ^bb16(%114 : i32) {loop_annotation = #loop_annotation}
  ^bb21:  // pred: ^bb16
    llvm.return
  }
}
