#ifndef TILEWRIGHT_TE_TO_TE_PASSES
#define TILEWRIGHT_TE_TO_TE_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def RewriteScheduledDataflow : Pass<"rewrite-scheduled-dataflow", "mlir::ModuleOp"> {
  let summary = "cache_read, cache_write and compute_inline become stages of te";
  let description = [{
    Afterwards the schedule speaks of loops alone. A cached tensor is a stage of its own:

    ```mlir
    %C = te.compute "C" (%i: 64) { %a = te.read %A[%i] : tensor<64xf32>  te.yield %a : f32 } : tensor<64xf32>
    schedule.of @f {
      %C = schedule.stage "C"
      %A_shared = schedule.cache_read "A" in <shared> for %C as "A.shared"
    }
    ```
    becomes
    ```mlir
    %A_shared = te.compute "A.shared" (%ax0: 64) { %a = te.read %A[%ax0] : tensor<64xf32>  te.yield %a : f32 } : tensor<64xf32>
    %C = te.compute "C" (%i: 64) { %a = te.read %A_shared[%i] : tensor<64xf32>  te.yield %a : f32 } : tensor<64xf32>
    schedule.of @f {
      %C = schedule.stage "C"
      %A_shared = schedule.stage "A.shared"
      schedule.set_scope %A_shared to <shared>
    }
    ```
  }];
  let dependentDialects = ["mlir::tensor::TensorDialect", "mlir::arith::ArithDialect", "mlir::affine::AffineDialect"];
}

#endif // TILEWRIGHT_TE_TO_TE_PASSES
