#ifndef TILEWRIGHT_LINALG_TO_LOOPS_PASSES
#define TILEWRIGHT_LINALG_TO_LOOPS_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def ApplySchedule : Pass<"apply-schedule", "mlir::ModuleOp"> {
  let summary = "Linalg on tensors becomes the loops that the schedule specifies, on memrefs";
  let description = [{
    Infers which part of each stage is computed where, allocates a buffer for it in the memory of its scope, and emits
    the loops. Iterations beyond an axis are predicated off unless they are proven not to exist. A buffer in shared memory
    that the schedule binds to no thread is filled by all threads of the block together.

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
      } {schedule.axis = "C.i.inner", schedule.bind = #schedule.thread<threadIdx.x>}
    } {schedule.axis = "C.i.outer"}
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect"];
}

#endif // TILEWRIGHT_LINALG_TO_LOOPS_PASSES
