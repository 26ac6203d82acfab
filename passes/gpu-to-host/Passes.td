#ifndef TILEWRIGHT_GPU_TO_HOST_PASSES
#define TILEWRIGHT_GPU_TO_HOST_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def ConvertGPUToHost : Pass<"convert-gpu-to-host", "mlir::ModuleOp"> {
  let summary = "The host function of the gpu stage becomes a function of the host ABI";
  let description = [{
    Each function that launches kernels becomes an `llvm.func` of the host ABI (docs/stages.md). It loads the arguments'
    pointers and extents from two arrays. Views of the workspace become pointers into it. Each `gpu.launch_func` becomes
    a call of the launcher. It passes the kernel's number, the launch configuration and the parameters of the kernel
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
  let dependentDialects = ["tilewright::ProgramDialect", "mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect"];
}

#endif // TILEWRIGHT_GPU_TO_HOST_PASSES
