#ifndef TILEWRIGHT_TE_TO_LINALG_PASSES
#define TILEWRIGHT_TE_TO_LINALG_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def ConvertTEToLinalg : Pass<"convert-te-to-linalg", "mlir::ModuleOp"> {
  let summary = "Each te.compute becomes a linalg.generic on tensors";
  let description = [{
    The op keeps the stage's name and the names of its axes. A read at every point of the axes, with indices affine in
    them, becomes an operand with that map, where linalg allows it. From such an operand linalg takes the extents of its
    loops. A dimension that is indexed by an axis alone must therefore have the axis's extent. Every other read becomes
    `tensor.extract`. A program's outputs are written to their arguments; other tensors start as `tensor.empty`. A
    reduction starts from a `linalg.fill` with its identity. A scan is written into its `te.state`, where it has one;
    for an output, that is the argument.

    ```mlir
    %C = te.compute "C" (%i: 64, %j: 48) sum (%k: 32) {
      %a = te.read %A[%i, %k] : tensor<64x32xf32>
      %b = te.read %B[%k, %j] : tensor<32x48xf32>
      %ab = arith.mulf %a, %b : f32
      te.yield %ab : f32
    } : tensor<64x48xf32>
    ```

    becomes

    ```mlir
    %zero = arith.constant 0.0 : f32
    %0 = linalg.fill ins(%zero : f32) outs(%out : tensor<64x48xf32>) -> tensor<64x48xf32>
    %C = linalg.generic {
        indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
        iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%A, %B : tensor<64x32xf32>, tensor<32x48xf32>) outs(%0 : tensor<64x48xf32>)
        attrs = {te.axes = ["i", "j", "k"], te.stage = "C"} {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %ab = arith.mulf %a, %b : f32
      %sum = arith.addf %c, %ab : f32
      linalg.yield %sum : f32
    } -> tensor<64x48xf32>
    ```
  }];
  let dependentDialects = ["tilewright::te::TEDialect", "mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect",
                           "mlir::affine::AffineDialect", "mlir::bufferization::BufferizationDialect"];
}

#endif // TILEWRIGHT_TE_TO_LINALG_PASSES
