#ifndef TILEWRIGHT_LINALG_TO_CPU_PASSES
#define TILEWRIGHT_LINALG_TO_CPU_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def DropSchedules : Pass<"drop-schedules", "mlir::ModuleOp"> {
  let summary = "Erases the schedules that a processor does not follow";
  let description = [{
    These are the schedules that bind loops to the blocks or threads of a GPU, and those that use another primitive for
    GPUs alone. Schedules that leave all stages and loops as they are count too.

    ```mlir
    schedule.of @f {
      %B = schedule.stage "B"
      %i = schedule.axes %B ["i"] : !schedule.axis
      schedule.bind %i to <threadIdx.x>
    }
    ```

    becomes nothing, while a schedule with a `schedule.split` and no `schedule.bind` stays.
  }];
}

def LegalizeScheduledLoops : Pass<"legalize-scheduled-loops", "mlir::func::FuncOp"> {
  let summary = "Loops of a schedule are made such as a processor can run";
  let description = [{
    A loop bound to a block or thread index of a GPU is an error; one of virtual threads is a loop as any other. A
    multiplication and an addition may become one fused instruction.

    ```mlir
    scf.for %i = %c0 to %c4 step %c1 {
      %p = arith.mulf %x, %y : f32
    } {schedule.bind = #schedule.thread<vthread>}
    ```

    becomes

    ```mlir
    scf.for %i = %c0 to %c4 step %c1 {
      %p = arith.mulf %x, %y fastmath<contract> : f32
    }
    ```
  }];
  let dependentDialects = ["tilewright::ProgramDialect"];
}

def OutlineLoopNests : Pass<"outline-loop-nests", "mlir::ModuleOp"> {
  let summary = "Each nest of a schedule becomes a function, and each parallel loop a task for threads";
  let description = [{
    A nest's buffers are parameters that do not overlap. The outermost loops with `schedule.parallel` are handed to
    `tilewrightHostParallel`, with what they use in memory; a parallel loop inside another is a plain loop. In a
    function without a schedule these loops alone become functions, of buffers that may overlap.

    ```mlir
    scf.for %i = %c0 to %c8 step %c1 {
      %x = memref.load %A[%i] : memref<8xf32>
      memref.store %x, %B[%i] : memref<8xf32>
    } {schedule.parallel}
    ```

    becomes

    ```mlir
    %shared = llvm.alloca %c1 x !llvm.struct<(ptr, ptr)>
    ... store the addresses of %A and %B in %shared ...
    llvm.call @tilewrightHostParallel(@f_loops0_task, %shared, %c8)

    func.func private @f_loops0(%a: !llvm.ptr {llvm.noalias}, %b: !llvm.ptr {llvm.noalias}, %begin: i64, %end: i64) {
      scf.for %i = %begin to %end step %c1 { ... }
    }
    llvm.func internal @f_loops0_task(%shared: !llvm.ptr, %begin: i64, %end: i64) -> i32
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect", "mlir::func::FuncDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

def PlaceLoopBuffers : Pass<"place-loop-buffers", "mlir::func::FuncOp"> {
  let summary = "Buffers in loops are on the stack, allocated once, or where they are large on the heap";
  let description = [{
    Up to 64 KiB a buffer and 256 KiB a function are on the stack. All begin at a line of the cache.

    ```mlir
    scf.for %i = %c0 to %n step %c1 {
      %x = memref.alloca() : memref<4xf32>
      %y = memref.alloc(%n) : memref<?xf32>
    }
    ```

    becomes

    ```mlir
    %x = memref.alloca() {alignment = 64} : memref<4xf32>
    scf.for %i = %c0 to %n step %c1 {
      %y = memref.alloc(%n) {alignment = 64} : memref<?xf32>
      memref.dealloc %y : memref<?xf32>
    }
    ```
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def UnrollScheduledLoops : Pass<"unroll-scheduled-loops", "mlir::func::FuncOp"> {
  let summary = "Loops marked to be unrolled are left to LLVM to be unrolled";
  let description = [{
    Unless its extent is no constant, or its code would be too large: then it stays a loop.

    ```mlir
    scf.for %i = %c0 to %c8 step %c1 {
      ...
    } {schedule.unroll}
    ```

    becomes

    ```mlir
    scf.for %i = %c0 to %c8 step %c1 {
      ...
    } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
    ```

    Of an innermost loop over vectors four iterations become one (`<count = 4 : i32>`), if its extent is a larger
    multiple of four.
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def AttachLoopAnnotations : Pass<"attach-loop-annotations", "mlir::ModuleOp"> {
  let summary = "What loops say to LLVM becomes an attribute of their branches";
  let description = [{
    Upstream's conversions carry the annotations of loops along as attributes that LLVM is not told.

    ```mlir
    llvm.br ^header(%next : i64) {llvm.loop_annotation = #annotation}
    ```

    becomes

    ```mlir
    llvm.br ^header(%next : i64) {loop_annotation = #annotation}
    ```
  }];
}

def LegalizeExterns : Pass<"legalize-externs", "mlir::ModuleOp"> {
  let summary = "The statements of te.extern are made such as a processor can run";
  let description = [{
    Buffers of their own are allocated once, in the one memory that there is, or in each iteration of a loop for threads
    around them. Small ones are on the stack. A thread axis is an error. Bufferization then puts the statements in the
    place of the op.

    ```mlir
    %C = te.extern "C" outs(%c = %out : tensor<64xf32>) {
      %t = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
      ...
    }
    ```

    becomes

    ```mlir
    %t = memref.alloca() : memref<4xf32>
    %C = te.extern "C" outs(%c = %out : tensor<64xf32>) { ... }
    ```
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def SerializeScans : Pass<"serialize-scans", "mlir::ModuleOp"> {
  let summary = "A scan becomes a loop over its first axis, one row of the result after the other";
  let description = [{
    A `linalg.generic` with `te.scan` reads elements of its result that earlier iterations of its first axis wrote. It
    becomes an `scf.for` that carries the results, and in it an op on one row, whose reads are `tensor.extract`.

    ```mlir
    %S = linalg.generic {iterator_types = ["reduction", "parallel"], ...} outs(%out : tensor<128x64xf32>) attrs = {te.scan, ...} {
      ... tensor.extract %out[%t_minus_1, %i] ...
    }
    ```

    becomes

    ```mlir
    %S, %_ = scf.for %t = %c0 to %c128 step %c1 iter_args(%s = %out, %row = %empty) -> (tensor<128x64xf32>, tensor<1x64xf32>) {
      %next = linalg.generic {iterator_types = ["parallel", "parallel"], ...} outs(%row : tensor<1x64xf32>) {
        ... tensor.extract %s[%t_minus_1, %i] ...
      }
      %place = tensor.extract_slice %s[%t, 0] [1, 64] [1, 1] : tensor<128x64xf32> to tensor<1x64xf32>
      %copied = linalg.generic {...} ins(%next : tensor<1x64xf32>) outs(%place : tensor<1x64xf32>) { ... }
      %inserted = tensor.insert_slice %copied into %s[%t, 0] [1, 64] [1, 1] : tensor<1x64xf32> into tensor<128x64xf32>
      scf.yield %inserted, %next : tensor<128x64xf32>, tensor<1x64xf32>
    }
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::linalg::LinalgDialect",
                           "mlir::scf::SCFDialect", "mlir::tensor::TensorDialect"];
}

def ApplyArgumentStrides : Pass<"apply-argument-strides", "mlir::ModuleOp"> {
  let summary = "Arguments with te.strides become memrefs with these strides, and so do the parts of them";
  let description = [{
    Bufferization makes every argument a row-major memref.

    ```mlir
    func.func @f(%x: memref<8x?xf32> {te.strides = array<i64: -1, 1>})
    ```

    becomes

    ```mlir
    func.func @f(%x: memref<8x?xf32, strided<[?, 1]>> {te.strides = array<i64: -1, 1>})
    ```
  }];
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::memref::MemRefDialect"];
}

def VectorizeLinalgLoops : Pass<"vectorize-linalg-loops", "mlir::ModuleOp"> {
  let summary = "linalg ops on memrefs become loops over vectors, tiled for registers";
  let description = [{
    For each op, the iterations of one axis become the lanes of vectors: the axis along which the most memory accesses
    are contiguous. In a reduction, a tile is kept in registers over all reduction loops. It is several vectors by
    several iterations of an axis that shares loads among them. Extents that are no multiple of the tile are finished by
    smaller tiles and masked vectors. What cannot be vectorised, such as a reduction with a custom combiner along the
    axis, becomes scalar loops. Conditions within a vector become masks. Where an op is worth waking other threads,
    they share its outermost axes, as one loop with `schedule.parallel`.

    ```mlir
    linalg.generic {indexing_maps = [(i) -> (i), (i) -> (i)], iterator_types = ["parallel"]}
        ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.negf %a : f32
      linalg.yield %c : f32
    }
    ```

    becomes

    ```mlir
    scf.for %i = %c0 to %c64 step %c16 {
      %a = vector.load %x[%i] : memref<64xf32>, vector<16xf32>
      %c = arith.negf %a : vector<16xf32>
      vector.store %c, %y[%i] : memref<64xf32>, vector<16xf32>
    }
    ```
  }];
  let options = [Option<"vectorBits", "vector-bits", "int64_t", "512", "the width of a vector in bits">];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def WrapInHostABI : Pass<"wrap-in-host-abi", "mlir::ModuleOp"> {
  let summary = "Functions on memrefs get the signature of host functions";
  let description = [{
    Each public function takes `data`, `shape`, `workspace` and `launcher` as docs/stages.md says of the host stage, makes its
    memrefs of them and returns 0. A result that is not the output's argument (`te.output`, in order) already is copied
    there. Its temporaries are freed at its end, so it needs no workspace: beside `@f` there is
    `@f_workspace_bytes`, which returns 0.

    ```mlir
    func.func @f(%x: memref<?x4xf32>)
    ```

    becomes

    ```mlir
    func.func @f(%data: !llvm.ptr, %shape: !llvm.ptr, %workspace: !llvm.ptr, %launcher: !llvm.ptr) -> i32
    func.func @f_workspace_bytes(%shape: !llvm.ptr) -> i64
    ```
  }];
  let dependentDialects = ["tilewright::ProgramDialect", "mlir::LLVM::LLVMDialect", "mlir::func::FuncDialect", "mlir::memref::MemRefDialect",
                           "mlir::arith::ArithDialect"];
}

def KeepOuterLoops : Pass<"keep-outer-loops", "mlir::ModuleOp"> {
  let summary = "Loops around loops are not for LLVM to unroll";
  let description = [{
    LLVM would unroll those of few iterations with all that is in them, which takes it seconds. Loops that run few ops
    in all are left to LLVM, and so are those that say what they are already.

    ```mlir
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %c1000 step %c1 { ... }
    }
    ```

    becomes

    ```mlir
    scf.for %i = %c0 to %c3 step %c1 {
      scf.for %j = %c0 to %c1000 step %c1 { ... }
    } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

#endif // TILEWRIGHT_LINALG_TO_CPU_PASSES
