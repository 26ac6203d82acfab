#ifndef TILEWRIGHT_NARROW_TYPES_PASSES
#define TILEWRIGHT_NARROW_TYPES_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def StoreBoolsAsBytes : Pass<"store-bools-as-bytes", "mlir::ModuleOp"> {
  let summary = "Memrefs of i1 become memrefs of i8";
  let description = [{
    NumPy's bools are bytes, and so are a memref's i1, but a vector of i1 in memory is packed into bits. Here every
    access becomes one of bytes. A byte is written as 0 or 1, and any byte but 0 is read as true.

    ```mlir
    %b = memref.load %m[%i] : memref<8xi1>
    ```

    becomes

    ```mlir
    %byte = memref.load %m[%i] : memref<8xi8>
    %b = arith.cmpi ne, %byte, %c0_i8 : i8
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def ChooseIndexWidths : Pass<"choose-index-widths", "mlir::gpu::GPUModuleOp"> {
  let summary = "Indices have 32 bits where every number that is computed of them fits, otherwise 64";
  let description = [{
    Indices get their widths here: on the paths to nvvm and to CUDA source, and to the simulator where it computes as a
    GPU does. Its decision stands in the module's data layout, and nobody decides again. Where all buffers are static
    and below 2^31 elements, an index has 32 bits. The ranges of an op's operands, its result and all values between say
    whether it needs more. If so, it is computed in i64, with a cast where an index comes in or goes out. Something else
    than arithmetic and accesses, such as the bound of a loop, may use an index of more than 32 bits. The module then
    keeps 64 bits.

    ```mlir
    gpu.module @f_kernels {
      ...
      %0 = memref.load %ids[%i] : memref<64xi64>
      %1 = arith.index_cast %0 : i64 to index
      %2 = arith.remsi %1, %c1000 : index
    ```

    becomes

    ```mlir
    gpu.module @f_kernels attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>} {
      ...
      %0 = memref.load %ids[%i] : memref<64xi64>
      %1 = arith.remsi %0, %c1000_i64 : i64
      %2 = arith.index_cast %1 : i64 to index
    ```
  }];
  let dependentDialects = ["mlir::DLTIDialect", "mlir::arith::ArithDialect"];
}

def LegalizeNarrowFloats : Pass<"legalize-narrow-floats"> {
  let summary = "Conversions from and to f8E4M3FN and f8E5M2 become integer and f32 arithmetic";
  let description = [{
    Exact, on scalars and vectors: to nearest even, with subnormals and NaN. What is beyond the largest value becomes
    infinity in f8E5M2 and NaN in f8E4M3FN, which has no infinity. Both are storage types: arithmetic on them is to be
    done in f32 first (`arith-emulate-unsupported-floats`). From bf16 to f64 the way is through f32.

    ```mlir
    %y = arith.extf %x : f8E5M2 to f16
    ```

    becomes

    ```mlir
    %0 = arith.bitcast %x : f8E5M2 to i8
    %1 = arith.extui %0 : i8 to i16
    %2 = arith.shli %1, %c8_i16 : i16
    %y = arith.bitcast %2 : i16 to f16
    ```
  }];
  let options = [Option<"f64ThroughF32", "f64-through-f32", "bool", "false",
                        "also round from f64 to f16 and bf16 through f32, where the target has no instruction for it">];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def CarryBF16AsI16 : Pass<"carry-bf16-as-i16", "mlir::ModuleOp"> {
  let summary = "In the LLVM dialect, bf16 becomes i16";
  let description = [{
    When its arithmetic is gone, a bf16 is only moved. LLVM moves it through f32 on x86, where the way back is an
    instruction that makes subnormals zero, even for a select. Any arithmetic on bf16 must have been expanded before
    (`arith-emulate-unsupported-floats`, `arith-expand`).

    ```mlir
    %narrow = llvm.bitcast %bits : i16 to bf16
    llvm.store %narrow, %place : bf16, !llvm.ptr
    ```

    becomes

    ```mlir
    llvm.store %bits, %place : i16, !llvm.ptr
    ```
  }];
}

#endif // TILEWRIGHT_NARROW_TYPES_PASSES
