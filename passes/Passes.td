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

//===--- gpu to sim -------------------------------------------------------===//

def ConvertGPUToSim : Pass<"convert-gpu-to-sim", "mlir::ModuleOp"> {
  let summary = "Each kernel becomes a function that runs one simulated thread";
  let description = [{
    The function takes the thread's state and the launch's parameters; runtime/sim/ABI.h says what is where. Thread and
    block numbers and the base of shared memory are words of the state; barriers, shuffles and the end of a thread are
    calls of the run time, each with a site: a constant that holds a name and the source line. Local arrays move to the
    top. The host functions go; `@<kernel>_info` tells the run time what a kernel needs and takes.

    ```mlir
    gpu.module @double_kernels {
      gpu.func @double_kernel0(%a: memref<64xf32>) kernel {
        %i = gpu.thread_id x
        %x = memref.load %a[%i] : memref<64xf32>
        gpu.barrier
        ...
    ```

    becomes

    ```mlir
    func.func @double_kernel0(%state: !llvm.ptr, %params: !llvm.ptr) attributes {tilewright.sim_kernel} {
      %place = llvm.getelementptr %state[0] : (!llvm.ptr) -> !llvm.ptr, i64
      %x_i64 = llvm.load %place : !llvm.ptr -> i64
      %i = arith.index_cast %x_i64 : i64 to index
      %a = builtin.unrealized_conversion_cast %descriptor : !llvm.struct<...> to memref<64xf32>
      %x = memref.load %a[%i] : memref<64xf32>
      %site = llvm.mlir.addressof @site0 : !llvm.ptr
      call @tw_sim_barrier(%state, %site) : (!llvm.ptr, !llvm.ptr) -> ()
      ...
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect"];
}

def InsertSimChecks : Pass<"insert-sim-checks", "mlir::ModuleOp"> {
  let summary = "A check before every access to memory";
  let description = [{
    Each index must be below its extent; the run time then looks at the address: is it inside the buffer, was it written
    before it is read, does another thread of the block touch the same bytes of shared memory with no barrier between.
    What is found is reported with the indices; the access is made all the same unless it is out of bounds.

    ```mlir
    %x = memref.load %a[%i] : memref<64xf32>
    ```

    becomes

    ```mlir
    %inside = arith.cmpi ult, %i, %c64 : index
    %defect = scf.if %inside -> (i32) {
      %found = func.call @tw_sim_load_global(%state, %argument, %address, %bytes) : (!llvm.ptr, i32, i64, i64) -> i32
      scf.yield %found : i32
    } else {
      scf.yield %out_of_bounds : i32
    }
    scf.if %found_any {
      func.call @tw_sim_report(...)
    }
    %x = scf.if %safe -> (f32) {
      %loaded = memref.load %a[%i] : memref<64xf32>
      scf.yield %loaded : f32
    } else {
      scf.yield %zero : f32
    }
    ```
  }];
  let dependentDialects = ["mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect",
                           "mlir::scf::SCFDialect", "mlir::memref::MemRefDialect"];
}

def EraseAddressSpaces : Pass<"erase-address-spaces", "mlir::ModuleOp"> {
  let summary = "Memrefs of shared and local memory become plain ones";
  let description = [{
    ```mlir
    %tile = memref.view %shared[%c0][] : memref<0xi8, #gpu.address_space<workgroup>>
                                      to memref<4x8xf32, #gpu.address_space<workgroup>>
    ```

    becomes

    ```mlir
    %tile = memref.view %shared[%c0][] : memref<0xi8> to memref<4x8xf32>
    ```
  }];
}

def KeepNarrowRounding : Pass<"keep-narrow-rounding"> {
  let summary = "Conversions between float types keep their rounding";
  let description = [{
    `arith-emulate-unsupported-floats` marks its conversions so that an extension undoes a truncation before it. A GPU
    rounds after each operation, and so does the simulator.

    ```mlir
    %narrow = arith.truncf %x fastmath<contract> : f32 to bf16
    ```

    becomes

    ```mlir
    %narrow = arith.truncf %x : f32 to bf16
    ```
  }];
}

#endif
