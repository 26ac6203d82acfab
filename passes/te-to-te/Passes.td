#ifndef TILEWRIGHT_TE_TO_TE_PASSES
#define TILEWRIGHT_TE_TO_TE_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def RewriteScheduledDataflow : Pass<"rewrite-scheduled-dataflow", "mlir::ModuleOp"> {
  let summary = "cache_read, cache_write, rfactor, pad_einsum and compute_inline become stages of te";
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

    A factored reduction is two: with `%ko, %ki = schedule.split %k by 16` and 100 elements, of which the last part has
    no 16, `schedule.rfactor %B, %ki at 0 as "B.rf"` makes
    ```mlir
    %B_rf = te.compute "B.rf" (%ki as "k.inner": 16, %i: 8) sum (%ko as "k.outer": 7) {
      %k = affine.apply affine_map<(d0, d1) -> (d1 * 16 + d0)>(%ki, %ko)
      %inside = arith.cmpi slt, %k, %c100 : index
      %a = scf.if %inside -> (f32) { ... te.read %A[%i, %ko * 16 + %ki] ... } else { scf.yield %zero : f32 }
      te.yield %a : f32
    } : tensor<16x8xf32>
    %B = te.compute "B" (%i: 8) sum (%ki as "k.inner": 16) { ... te.read %B_rf[%ki, %i] ... } : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["mlir::tensor::TensorDialect", "mlir::arith::ArithDialect", "mlir::affine::AffineDialect",
                           "mlir::scf::SCFDialect"];
}

def FillEmptyReductions : Pass<"fill-empty-reductions", "mlir::ModuleOp"> {
  let summary = "Reductions over axes of extent 0 become reductions of the identity";
  let description = [{
    Such an axis gets one iteration, whose element is the identity, and reads nothing. Whatever a schedule makes of the axis
    (a split, a bind, a reduction across threads) then works as on any other. A read of a tensor without elements, by an
    axis whose symbolic extent can only be 0, becomes 0: it never happens.

    ```mlir
    %B = te.compute "B" (%i: 8) max (%k: 0) {
      %a = te.read %A[%i, %k] : tensor<8x0xf32>
      te.yield %a : f32
    } : tensor<8xf32>
    ```

    becomes

    ```mlir
    %B = te.compute "B" (%i: 8) max (%k: 1) {
      %lowest = arith.constant 0xFF800000 : f32
      te.yield %lowest : f32
    } : tensor<8xf32>
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

#endif // TILEWRIGHT_TE_TO_TE_PASSES
