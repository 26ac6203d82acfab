module {
  llvm.func @mmult(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: !llvm.ptr, %arg3: !llvm.ptr) -> i32 attributes {tilewright.arguments = [{te.dtype = f32, te.name = "A", type = memref<64x64xf32>}, {te.dtype = f32, te.name = "B", type = memref<64x64xf32>}, {te.dtype = f32, te.name = "C", te.output, type = memref<64x64xf32>}], tilewright.kernels = ["mmult_kernel0"]} {
    %0 = llvm.mlir.constant(2048 : i64) : i64
    %1 = llvm.mlir.constant(0 : i32) : i32
    %2 = llvm.mlir.constant(16 : i64) : i64
    %3 = llvm.mlir.constant(1 : i64) : i64
    %4 = llvm.mlir.constant(4 : i64) : i64
    %5 = llvm.mlir.constant(4 : i32) : i32
    %6 = llvm.mlir.constant(3 : i32) : i32
    %7 = llvm.mlir.constant(7 : i32) : i32
    %8 = llvm.load %arg0 : !llvm.ptr -> !llvm.ptr
    %9 = llvm.getelementptr %arg0[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %10 = llvm.load %9 : !llvm.ptr -> !llvm.ptr
    %11 = llvm.getelementptr %arg0[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    %12 = llvm.load %11 : !llvm.ptr -> !llvm.ptr
    %13 = llvm.load %arg3 : !llvm.ptr -> !llvm.ptr
    %14 = llvm.getelementptr %arg3[0, 1] : (!llvm.ptr) -> !llvm.ptr, !llvm.struct<(ptr, ptr, ptr)>
    %15 = llvm.load %14 : !llvm.ptr -> !llvm.ptr
    %16 = llvm.alloca %7 x i64 {alignment = 8 : i64} : (i32) -> !llvm.ptr
    %17 = llvm.alloca %6 x i64 {alignment = 8 : i64} : (i32) -> !llvm.ptr
    %18 = llvm.alloca %5 x !llvm.ptr {alignment = 8 : i64} : (i32) -> !llvm.ptr
    llvm.store %17, %18 : !llvm.ptr, !llvm.ptr
    %19 = llvm.getelementptr %17[1] : (!llvm.ptr) -> !llvm.ptr, i64
    %20 = llvm.getelementptr %18[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    llvm.store %19, %20 : !llvm.ptr, !llvm.ptr
    %21 = llvm.getelementptr %17[2] : (!llvm.ptr) -> !llvm.ptr, i64
    %22 = llvm.getelementptr %18[2] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    llvm.store %21, %22 : !llvm.ptr, !llvm.ptr
    llvm.store %4, %16 : i64, !llvm.ptr
    %23 = llvm.getelementptr %16[1] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %4, %23 : i64, !llvm.ptr
    %24 = llvm.getelementptr %16[2] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %3, %24 : i64, !llvm.ptr
    %25 = llvm.getelementptr %16[3] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %2, %25 : i64, !llvm.ptr
    %26 = llvm.getelementptr %16[4] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %2, %26 : i64, !llvm.ptr
    %27 = llvm.getelementptr %16[5] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %3, %27 : i64, !llvm.ptr
    %28 = llvm.getelementptr %16[6] : (!llvm.ptr) -> !llvm.ptr, i64
    llvm.store %0, %28 : i64, !llvm.ptr
    llvm.store %8, %17 : !llvm.ptr, !llvm.ptr
    llvm.store %10, %19 : !llvm.ptr, !llvm.ptr
    llvm.store %12, %21 : !llvm.ptr, !llvm.ptr
    %29 = llvm.getelementptr %17[3] : (!llvm.ptr) -> !llvm.ptr, i64
    %30 = llvm.getelementptr %18[3] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
    llvm.store %29, %30 : !llvm.ptr, !llvm.ptr
    %31 = llvm.call %15(%13, %1, %16, %18, %6) {tilewright.kernel = "mmult_kernel0", tilewright.launch_origin = {block.x = "j.inner of stage C, 3-loops.mlir:11", block.y = "i.inner of stage C, 3-loops.mlir:10", grid.x = "j.outer of stage C, 3-loops.mlir:9", grid.y = "i.outer of stage C, 3-loops.mlir:8", shared = "A.shared (1024 bytes), B.shared (1024 bytes)"}} : !llvm.ptr, (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, i32) -> i32
    %32 = llvm.icmp "ne" %31, %1 : i32
    llvm.cond_br %32, ^bb2(%31 : i32), ^bb1
  ^bb1:  // pred: ^bb0
    llvm.return %1 : i32
  ^bb2(%33: i32):  // pred: ^bb0
    llvm.return %33 : i32
  }
  llvm.func @mmult_workspace_bytes(%arg0: !llvm.ptr) -> i64 {
    %0 = llvm.mlir.constant(0 : i64) : i64
    llvm.return %0 : i64
  }
}

