#ifndef TILEWRIGHT_GPU_TO_SOURCE_PASSES
#define TILEWRIGHT_GPU_TO_SOURCE_PASSES

include "mlir/Pass/PassBase.td"

// Ways out of the gpu stage for people: nothing is lowered from what they write.

def EmitCUDASource : Pass<"emit-cuda-source", "mlir::ModuleOp"> {
  let summary = "The kernels of the gpu stage as readable CUDA C++, as the attribute tilewright.cuda of their gpu.module";
  let description = [{
    nvcc and NVRTC compile the text to kernels that take the same arguments and are launched in the same way. A
    parameter is a pointer for each buffer, followed by a `long long` for each dynamic dimension. Buffers are arrays of
    their extents, loops have the names of their axes, and comments the user's lines. Functions of mathematics are
    CUDA's, so their last places may differ from those of Tilewright's own. Kernels of asynchronous tiles come from
    `expand-tile-roles`: TMA, mbarriers and wgmma are functions of inline PTX at the top. An op without a form in CUDA
    C++ is an error. Nothing else of the module changes.

    ```mlir
    scf.for %k = %c0 to %c16 step %c1 {
      %0 = memref.load %acc[] : memref<f32, #gpu.address_space<private>>
      %1 = memref.load %a[%ty, %k] : memref<16x16xf32, #gpu.address_space<workgroup>>
      %2 = memref.load %b[%k, %tx] : memref<16x16xf32, #gpu.address_space<workgroup>>
      %3 = arith.mulf %1, %2 fastmath<contract> : f32
      %4 = arith.addf %0, %3 fastmath<contract> : f32
      memref.store %4, %acc[] : memref<f32, #gpu.address_space<private>>
    } {schedule.axis = #schedule.axis<"k.inner" of "C">}
    ```
    reads
    ```
    for (int k_inner = 0; k_inner < 16; ++k_inner) {  // C.k.inner, mmult.py:13
      // mmult.py:9: C = te.compute((M, N), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
      C_local = C_local + A_shared[ty][k_inner] * B_shared[k_inner][tx];
    }
    ```
  }];
  let dependentDialects = ["tilewright::ProgramDialect", "mlir::LLVM::LLVMDialect"];
  let options = [Option<"hasLines", "lines", "bool", "false",
                        "where each line came from, too: an array of locations, tilewright.cuda_lines">];
}

def EmitHostSource : Pass<"emit-host-source", "mlir::ModuleOp"> {
  let summary = "The host programs of the gpu stage as readable C++, as the attribute tilewright.cpp of their functions";
  let description = [{
    The text compiles against the driver's header alone. The kernels' cubin is an array `<name>_cubin`, which the user
    adds. The text checks arguments, loads the kernels at the first call in a context, and launches them. Each number of
    a launch has the axis that it came from. Temporaries have one arena, and a comment says how large each is and how
    long it lives. With `managed`, the arrays are in host memory: their memory on the GPU is allocated, and they are
    copied there and back.

    ```mlir
    gpu.launch_func @f_kernels::@f_kernel0 blocks in (%grid, %c1, %c1) threads in (%c32, %c1, %c1) args(%a : memref<?xf32>)
        {tilewright.launch_origin = {grid.x = "i.outer of stage B, f.py:5"}}
    ```
    reads
    ```
    const unsigned grid[3] = {
        unsigned(ceil_div(n, 32LL)),  // grid.x: i.outer of stage B, f.py:5
        unsigned(1LL),
        unsigned(1LL),
    };
    ```
  }];
  let options = [Option<"isManaged", "managed", "bool", "false", "the arrays are this machine's, and copied">,
                 Option<"hasLines", "lines", "bool", "false",
                        "where each line came from, too: an array of locations, tilewright.cpp_lines">];
  let dependentDialects = ["tilewright::ProgramDialect"];
}

#endif // TILEWRIGHT_GPU_TO_SOURCE_PASSES
