#ifndef TILEWRIGHT_PASSES
#define TILEWRIGHT_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

//===--- te to linalg -----------------------------------------------------===//

def ConvertTEToLinalg : Pass<"convert-te-to-linalg", "mlir::ModuleOp"> {
  let summary = "Each te.compute becomes a linalg.generic on tensors";
  let description = [{
    The op keeps the stage's name and the names of its axes. A read that happens at every point of the axes, at indices
    affine in them, becomes an operand with that map, where linalg can have it as one: a dimension that is indexed by
    an axis alone must have the axis's extent, since linalg takes the extents of its loops from there. Every other read
    becomes `tensor.extract`. A program's outputs are written to their arguments; other tensors start as `tensor.empty`.
    A reduction starts from a `linalg.fill` with its identity.

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
  let dependentDialects = ["mlir::linalg::LinalgDialect", "mlir::tensor::TensorDialect", "mlir::arith::ArithDialect",
                           "mlir::affine::AffineDialect"];
}

//===--- gpu to host ------------------------------------------------------===//

def ConvertGPUToHost : Pass<"convert-gpu-to-host", "mlir::ModuleOp"> {
  let summary = "The host function of the gpu stage becomes a function of the host ABI";
  let description = [{
    Each function that launches kernels becomes an `llvm.func` of the host ABI (docs/stages.md): the arguments' pointers
    and extents are loaded from two arrays, views of the workspace become pointers into it, and each `gpu.launch_func`
    becomes a call of the launcher with the kernel's number, the launch configuration and the parameters of the kernel
    ABI. The first launch that returns non-zero ends the call; a launch whose grid is empty is left out. A second
    function gives the workspace's size. The `gpu.module` goes. Structured control flow must have been lowered before;
    `arith` and `cf` remain.

    ```mlir
    func.func @f(%a: memref<?xf32> {te.name = "A"}, %workspace: memref<?xi8>) {
      ...
      %t = memref.view %workspace[%c0][%n] : memref<?xi8> to memref<?xf32>
      gpu.launch_func @f_kernels::@f_kernel0 blocks in (%grid, %c1, %c1) threads in (%c256, %c1, %c1)
        args(%a : memref<?xf32>, %t : memref<?xf32>) {tilewright.launch_origin = {"grid.x" = "i.outer of stage T"}}
      return
    }
    ```
    becomes
    ```mlir
    llvm.func @f(%data: !llvm.ptr, %shape: !llvm.ptr, %workspace: !llvm.ptr, %launcher: !llvm.ptr) -> i32 {
      %a = llvm.load %data : !llvm.ptr -> !llvm.ptr
      %n = llvm.load %shape : !llvm.ptr -> i64
      ...
      %status = llvm.call %launch(%context, %kernel, %config, %params, %count) {tilewright.kernel = "f_kernel0",
        tilewright.launch_origin = {"grid.x" = "i.outer of stage T"}} : !llvm.ptr, (...) -> i32
      ...
    }
    llvm.func @f_workspace_bytes(%shape: !llvm.ptr) -> i64
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect"];
}

//===--- linalg to cpu ----------------------------------------------------===//

def DropSchedules : Pass<"drop-schedules", "mlir::ModuleOp"> {
  let summary = "Erases the schedules, for a target that schedules by itself";
}

def StoreBoolsAsBytes : Pass<"store-bools-as-bytes", "mlir::ModuleOp"> {
  let summary = "Memrefs of i1 become memrefs of i8";
  let description = [{
    NumPy's bools are bytes, and so are a memref's i1, but a vector of i1 in memory is packed into bits. Here every
    access becomes one of bytes, which are 0 or 1 when they are written and true unless they are 0 when they are read.

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

def LegalizeNarrowFloats : Pass<"legalize-narrow-floats"> {
  let summary = "Conversions from and to f8E4M3FN and f8E5M2 become integer and f32 arithmetic";
  let description = [{
    Exact, on scalars and vectors: to nearest even, with subnormals and NaN. What is beyond the largest value becomes
    infinity in f8E5M2 and NaN in f8E4M3FN, which has no infinity. Both are storage types: arithmetic on them is to be
    done in f32 first (`arith-emulate-unsupported-floats`).

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

def VectorizeLinalgLoops : Pass<"vectorize-linalg-loops", "mlir::ModuleOp"> {
  let summary = "linalg ops on memrefs become loops over vectors, tiled for registers";
  let description = [{
    For each op one axis is chosen whose iterations become the lanes of vectors: the one along which the most memory
    accesses are contiguous. In a reduction, a tile of several vectors, by several iterations of an axis that shares
    loads among them, is kept in registers over all reduction loops. Extents that are no multiple of the tile are
    finished by smaller tiles and masked vectors. What cannot be vectorised, such as a reduction with a custom
    combiner along the axis, becomes scalar loops. Conditions within a vector become masks.

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
    Each function takes `data`, `shape`, `workspace` and `launcher` as docs/stages.md says of the host stage, makes its
    memrefs of them and returns 0. Its temporaries are freed at its end, so it needs no workspace: beside `@f` there is
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
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::func::FuncDialect", "mlir::memref::MemRefDialect",
                           "mlir::arith::ArithDialect"];
}

#endif
