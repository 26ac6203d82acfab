#ifndef TILEWRIGHT_PASSES
#define TILEWRIGHT_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

//===--- te to te ---------------------------------------------------------===//

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

//===--- linalg to loops --------------------------------------------------===//

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

//===--- gpu to nvvm ------------------------------------------------------===//

def CheckKernelOps : Pass<"check-kernel-ops", "mlir::gpu::GPUModuleOp"> {
  let summary = "Refuse ops and types that have no lowering for a GPU";
  let description = [{
    What LLVM's back end aborts on, what upstream's conversion asserts on, and what would become a call of libdevice is
    refused here, at the user's line. The module is not changed.

    ```mlir
    %y = math.exp2 %x : f64  // error: math.exp2 on 'f64' has no lowering for target cuda
    ```
  }];
}

def ConvertKernelsToNVVM : Pass<"convert-kernels-to-nvvm", "mlir::gpu::GPUModuleOp"> {
  let summary = "Kernels go to the LLVM and NVVM dialects, with the kernel ABI";
  let description = [{
    A memref becomes a pointer followed by an `i64` for each dynamic dimension, an `index` an `i64` (docs/stages.md).
    Pointers are 16-byte aligned and, since the arguments of a program do not overlap, `noalias`; one that is only loaded
    from is `readonly`, so that its loads go through the read-only cache. Indices are computed in 32 bits where all
    buffers are static and below 2^31 elements, otherwise in 64. The module gets the `#nvvm.target` of `arch`, whose PTX
    version follows from it. Expects control flow as blocks (`convert-scf-to-cf`) and no affine ops.

    ```mlir
    gpu.module @f_kernels {
      gpu.func @f_kernel0(%a: memref<?xf32>, %b: memref<?xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
        %i = gpu.thread_id x
        %x = memref.load %a[%i] : memref<?xf32>
        memref.store %x, %b[%i] : memref<?xf32>
        gpu.return
      }
    }
    ```
    becomes
    ```mlir
    gpu.module @f_kernels [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx86">] {
      llvm.func @f_kernel0(%a: !llvm.ptr {llvm.align = 16, llvm.noalias, llvm.readonly}, %a_0: i64,
                           %b: !llvm.ptr {llvm.align = 16, llvm.noalias}, %b_0: i64)
          attributes {gpu.kernel, nvvm.kernel, nvvm.reqntid = array<i32: 256, 1, 1>} {
        %i = nvvm.read.ptx.sreg.tid.x range <i32, 0, 256> : i32
        ...
      }
    }
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", [{"sm_90a"}], "the GPU architecture, sm_75 to sm_120">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect", "mlir::arith::ArithDialect",
                           "mlir::cf::ControlFlowDialect", "mlir::memref::MemRefDialect", "mlir::vector::VectorDialect"];
}

def EmitPTX : Pass<"emit-ptx", "mlir::gpu::GPUModuleOp"> {
  let summary = "PTX of a gpu.module at the nvvm stage, as its attribute tilewright.ptx";
  let description = [{
    LLVM's pipeline and NVPTX back end run in process, at the level and for the chip of the module's `#nvvm.target`. The
    module keeps its body. Where LLVM gives up on an op (it aborts on what it cannot select), the pass fails with LLVM's
    message.
  }];
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

#endif
