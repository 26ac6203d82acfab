module attributes {gpu.container_module} {
  gpu.module @mmult_kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] {
    llvm.mlir.global external @shared_memory() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
    llvm.func @mmult_kernel0(%arg0: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg1: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %arg2: !llvm.ptr {llvm.align = 16 : i64, llvm.noalias}) attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 16, 16, 1>} {
      %0 = llvm.mlir.addressof @shared_memory : !llvm.ptr<3>
      %1 = llvm.mlir.constant(4 : index) : i32
      %2 = llvm.mlir.constant(16 : index) : i32
      %3 = llvm.mlir.constant(0.000000e+00 : f32) : f32
      %4 = llvm.mlir.constant(1 : index) : i32
      %5 = llvm.mlir.constant(64 : index) : i32
      %6 = llvm.mlir.constant(0 : index) : i32
      %7 = llvm.getelementptr %0[0, 0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, !llvm.array<0 x i8>
      %8 = llvm.getelementptr %7[1024] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
      %9 = nvvm.read.ptx.sreg.ctaid.x : i32
      %10 = nvvm.read.ptx.sreg.ctaid.y : i32
      %11 = nvvm.read.ptx.sreg.tid.x : i32
      %12 = nvvm.read.ptx.sreg.tid.y : i32
      %13 = llvm.alloca %4 x f32 : (i32) -> !llvm.ptr
      llvm.store %3, %13 : f32, !llvm.ptr
      llvm.br ^bb1(%6 : i32)
    ^bb1(%14: i32):  // 2 preds: ^bb0, ^bb5
      %15 = llvm.icmp "slt" %14, %1 : i32
      llvm.cond_br %15, ^bb2, ^bb6
    ^bb2:  // pred: ^bb1
      %16 = llvm.mul %10, %2 overflow<nsw> : i32
      %17 = llvm.add %16, %12 : i32
      %18 = llvm.mul %14, %2 overflow<nsw> : i32
      %19 = llvm.add %18, %11 : i32
      %20 = llvm.mul %17, %5 overflow<nsw, nuw> : i32
      %21 = llvm.add %20, %19 overflow<nsw, nuw> : i32
      %22 = llvm.getelementptr inbounds|nuw %arg0[%21] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %23 = llvm.load %22 : !llvm.ptr -> f32
      nvvm.barrier0
      %24 = llvm.mul %12, %2 overflow<nsw> : i32
      %25 = llvm.add %24, %11 : i32
      %26 = llvm.getelementptr %7[%25] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      llvm.store %23, %26 : f32, !llvm.ptr<3>
      %27 = llvm.add %18, %12 : i32
      %28 = llvm.mul %9, %2 overflow<nsw> : i32
      %29 = llvm.add %28, %11 : i32
      %30 = llvm.mul %27, %5 overflow<nsw, nuw> : i32
      %31 = llvm.add %30, %29 overflow<nsw, nuw> : i32
      %32 = llvm.getelementptr inbounds|nuw %arg1[%31] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %33 = llvm.load %32 : !llvm.ptr -> f32
      %34 = llvm.getelementptr %8[%25] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      llvm.store %33, %34 : f32, !llvm.ptr<3>
      nvvm.barrier0
      llvm.br ^bb3(%6 : i32)
    ^bb3(%35: i32):  // 2 preds: ^bb2, ^bb4
      %36 = llvm.icmp "slt" %35, %2 : i32
      llvm.cond_br %36, ^bb4, ^bb5
    ^bb4:  // pred: ^bb3
      %37 = llvm.load %13 : !llvm.ptr -> f32
      %38 = llvm.add %35, %24 : i32
      %39 = llvm.getelementptr %7[%38] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %40 = llvm.load %39 : !llvm.ptr<3> -> f32
      %41 = llvm.mul %35, %2 overflow<nsw> : i32
      %42 = llvm.add %41, %11 : i32
      %43 = llvm.getelementptr %8[%42] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %44 = llvm.load %43 : !llvm.ptr<3> -> f32
      %45 = llvm.fmul %40, %44 {fastmathFlags = #llvm.fastmath<contract>} : f32
      %46 = llvm.fadd %37, %45 {fastmathFlags = #llvm.fastmath<contract>} : f32
      llvm.store %46, %13 : f32, !llvm.ptr
      %47 = llvm.add %35, %4 : i32
      llvm.br ^bb3(%47 : i32)
    ^bb5:  // pred: ^bb3
      %48 = llvm.add %14, %4 : i32
      llvm.br ^bb1(%48 : i32)
    ^bb6:  // pred: ^bb1
      %49 = llvm.load %13 : !llvm.ptr -> f32
      %50 = llvm.mul %10, %2 overflow<nsw> : i32
      %51 = llvm.add %50, %12 : i32
      %52 = llvm.mul %9, %2 overflow<nsw> : i32
      %53 = llvm.add %52, %11 : i32
      %54 = llvm.mul %51, %5 overflow<nsw, nuw> : i32
      %55 = llvm.add %54, %53 overflow<nsw, nuw> : i32
      %56 = llvm.getelementptr inbounds|nuw %arg2[%55] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %49, %56 : f32, !llvm.ptr
      llvm.return
    }
  }
  func.func @mmult(%arg0: memref<64x64xf32> {te.dtype = f32, te.name = "A"}, %arg1: memref<64x64xf32> {te.dtype = f32, te.name = "B"}, %arg2: memref<64x64xf32> {te.dtype = f32, te.name = "C", te.output}) {
    %c16 = arith.constant 16 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c2048_i32 = arith.constant 2048 : i32
    gpu.launch_func  @mmult_kernels::@mmult_kernel0 blocks in (%c4, %c4, %c1) threads in (%c16, %c16, %c1)  dynamic_shared_memory_size %c2048_i32 args(%arg0 : memref<64x64xf32>, %arg1 : memref<64x64xf32>, %arg2 : memref<64x64xf32>) {tilewright.launch_origin = {block.x = "j.inner of stage C, 3-loops.mlir:11", block.y = "i.inner of stage C, 3-loops.mlir:10", grid.x = "j.outer of stage C, 3-loops.mlir:9", grid.y = "i.outer of stage C, 3-loops.mlir:8", shared = "A.shared (1024 bytes), B.shared (1024 bytes)"}}
    return
  }
}

