#ifndef TILEWRIGHT_LINALG_TO_LOOPS_PASSES
#define TILEWRIGHT_LINALG_TO_LOOPS_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def ApplySchedule : Pass<"apply-schedule", "mlir::ModuleOp"> {
  let summary = "Linalg on tensors becomes the loops that the schedule specifies, on memrefs";
  let description = [{
    There are three phases. The first resolves the schedule to stages with their loops. The second infers which part of
    each stage is computed where. `print-loop-bounds` prints that. The third emits the loops, with a buffer for each
    stage in the memory of its scope. Iterations beyond an axis are predicated off unless they are proven not to exist.
    A buffer in shared memory that the schedule binds to no thread is filled by all threads of the block together. With
    `on-processor`, a function without a schedule stays as it is. A stage in global memory may then be computed at a
    loop, in a buffer of its own.

    ```mlir
    %C = linalg.generic {...} ins(%A : tensor<100xf32>) outs(%out : tensor<100xf32>) attrs = {te.stage = "C", te.axes = ["i"]} {...}
    schedule.of @f { ... %io, %ii = schedule.split %i by 32  schedule.bind %ii to <threadIdx.x> }
    ```
    becomes
    ```mlir
    scf.for %io = %c0 to %c4 step %c1 {
      scf.for %ii = %c0 to %c32 step %c1 {
        %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%io, %ii)
        %inside = arith.cmpi slt, %i, %c100 : index
        scf.if %inside { ... }
      } {schedule.axis = #schedule.axis<"i.inner" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
    } {schedule.axis = #schedule.axis<"i.outer" of "C">}
    ```
  }];
  let options = [Option<"onProcessor", "on-processor", "bool", "false", "for target cpu, which makes other loops without a schedule">];
  let dependentDialects = ["tilewright::ProgramDialect", "tilewright::schedule::ScheduleDialect", "tilewright::te::TEDialect", "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

def PrintLoopBounds : Pass<"print-loop-bounds", "mlir::ModuleOp"> {
  let summary = "Prints which part of each stage its schedule computes where, as apply-schedule infers it";
  let description = [{
    Takes what `apply-schedule` takes, reports the same errors, and leaves the program as it is. For each stage it
    prints the memory, the axes, the part of the tensor that its buffer holds, and the loops. For each axis it prints
    how many elements are computed at once, from which on, and of how many. In expressions the loop with number N is
    `dN`, a symbolic extent `sN`.

    ```
    stage A.shared in shared memory, in loop k.outer of stage C.local
      axis ax0: 32 of 64 from d0 * 32, index d11 * 8 + d12 + d10 floordiv 8
      axis ax1: 8 of 32 from d8 * 8, index d10 mod 8
      buffer [32, 8] from [d0 * 32, d8 * 8]
      loop d11 ax0.ax1.fused.outer.outer: extent 4
      loop d12 ax0.ax1.fused.outer.inner: extent 8, threadIdx.y
      loop d10 ax0.ax1.fused.inner: extent 8, threadIdx.x
    ```
  }];
  let options = [Option<"onProcessor", "on-processor", "bool", "false", "as apply-schedule's">];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::tensor::TensorDialect"];
}

def FoldKnownConditions : Pass<"fold-known-conditions", "mlir::func::FuncOp"> {
  let summary = "Conditions that the extents decide are gone";
  let description = [{
    A comparison of indices is decided by the ranges of the loops around it and by what is known of symbolic extents. An
    extent is never negative, and `te.minimum` may say more.

    ```mlir
    func.func @f(%A: memref<?xf32> {te.minimum = array<i64: 32>}) {
      %n = memref.dim %A, %c0 : memref<?xf32>
      scf.for %i = %c0 to %c32 step %c1 {
        %inside = arith.cmpi slt, %i, %n : index
        scf.if %inside { ... }
      }
    ```
    becomes
    ```mlir
      scf.for %i = %c0 to %c32 step %c1 { ... }
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def PartitionLoops : Pass<"partition-loops", "mlir::func::FuncOp"> {
  let summary = "Iterations that need no predicates become loops of their own";
  let description = [{
    In loops that the schedule marks. A predicate is one that grows or falls with the loop in even steps. The effect of
    other loops on it is taken at its worst, so that the parts are the same for all threads.

    ```mlir
    scf.for %io = %c0 to %c4 step %c1 {
      scf.for %ii = %c0 to %c32 step %c1 {
        %i = affine.apply affine_map<(d0, d1) -> (d0 * 32 + d1)>(%io, %ii)
        %inside = arith.cmpi slt, %i, %c100 : index
        scf.if %inside { ... }
      }
    } {schedule.partition}
    ```
    becomes
    ```mlir
    scf.for %io = %c0 to %c3 step %c1 {
      scf.for %ii = %c0 to %c32 step %c1 { ... }
    }
    scf.for %part = %c0 to %c1 step %c1 {
      %io = affine.apply affine_map<(d0) -> (d0 + 3)>(%part)
      scf.for %ii = %c0 to %c32 step %c1 { ... scf.if %inside { ... } }
    }
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

#endif // TILEWRIGHT_LINALG_TO_LOOPS_PASSES
