#ifndef TILEWRIGHT_GPU_TO_NVVM_PASSES
#define TILEWRIGHT_GPU_TO_NVVM_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def CheckKernelOps : Pass<"check-kernel-ops", "mlir::gpu::GPUModuleOp"> {
  let summary = "Refuse ops and types that have no lowering for a GPU";
  let description = [{
    Refuses ops at the user's line. It refuses those on which LLVM's back end aborts or upstream's conversion asserts,
    and those that would become a call of libdevice. The module is not changed.

    ```mlir
    %y = math.exp2 %x : f64  // error: math.exp2 on 'f64' has no lowering for target cuda
    ```
  }];
}

def AnnotateUnrolledLoops : Pass<"annotate-unrolled-loops", "mlir::gpu::GPUFuncOp"> {
  let summary = "LLVM unrolls the loops that are marked to be unrolled";
  let description = [{
    If a loop's variable picks an element of a thread's own buffer, and its extent is constant, the loop is unrolled
    too, marked or not. Registers have no addresses, so only then does the buffer stay in them. Limits hold for the
    code that this makes: 16,384 operations of a loop that is marked, with the loops in it. Of others 4,096, and 16,384
    with the copies that marked loops around it make. All loops of a kernel together make 16,384 at most. A loop over
    steps of matmuls stays a loop where threads hold the result of the tile before (`unroll = <disable = true>`).

    ```mlir
    scf.for %i = %c0 to %c8 step %c1 {
      ...
    } {schedule.unroll}
    ```
    becomes
    ```mlir
    scf.for %i = %c0 to %c8 step %c1 {
      ...
    } {llvm.loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect"];
}

def ShareConversions : Pass<"share-conversions", "mlir::gpu::GPUFuncOp"> {
  let summary = "Integers that differ by constants are converted to f32 once";
  let description = [{
    A thread converts the distances of its elements from a query, as of a bias that grows with them. They differ by
    constants. One of them is converted, and the others are sums of floats. That is exact up to 2^24, which the ranges
    of indices have to prove. Three conversions and more are worth it.

    ```mlir
    %0 = affine.apply affine_map<(d0) -> (d0 * 128 + 9)>(%i)
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    ```
    becomes
    ```mlir
    %0 = affine.apply affine_map<(d0) -> (d0 * 128)>(%i)
    %1 = arith.index_cast %0 : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    %3 = arith.addf %2, %c9 : f32
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect"];
}

def SplitSharedAddresses : Pass<"split-shared-addresses", "mlir::gpu::GPUFuncOp"> {
  let summary = "Addresses in shared memory become a base, and what is constant once loops are unrolled";
  let description = [{
    An instruction holds a constant distance itself. All accesses of a fragment then need one register for their
    addresses, and the alignment of one implies that of the others. It is so with loads from global memory, too, in
    the two copies of a map of fragments that a mask makes.

    ```mlir
    %0 = affine.apply affine_map<(d0)[s0] -> (d0 + s0 * 4 + 64)>(%i)[%thread_id_x]
    %1 = memref.load %s[%k, %0] : memref<8x132xf32, #gpu.address_space<workgroup>>
    ```
    where the loops of `%i` and `%k` are to be unrolled becomes
    ```mlir
    %base = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%thread_id_x]
    %view = memref.reinterpret_cast %s to offset: [%base], sizes: [1056], strides: [1]
        : memref<8x132xf32, #gpu.address_space<workgroup>> to memref<1056xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    %0 = affine.apply affine_map<(d0, d1) -> (d0 + d1 * 132 + 64)>(%i, %k)
    %1 = memref.load %view[%0] : memref<1056xf32, strided<[1], offset: ?>, #gpu.address_space<workgroup>>
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::memref::MemRefDialect"];
}

def ConvertKernelsToNVVM : Pass<"convert-kernels-to-nvvm", "mlir::gpu::GPUModuleOp"> {
  let summary = "Kernels go to the LLVM and NVVM dialects, with the kernel ABI";
  let description = [{
    A memref becomes a pointer followed by an `i64` for each dynamic dimension, an `index` an `i64` (docs/stages.md).
    Pointers are 16-byte aligned. They are `noalias`, since the arguments of a program do not overlap. A pointer that is
    only loaded from is `readonly`, so that its loads go through the read-only cache. Indices have as many bits as the
    module's data layout says (`choose-index-widths`), otherwise 64. A kernel with `dependent` in its
    `tilewright.launch` first waits for the kernel before it in the stream (`nvvm.griddepcontrol wait`). None of its
    pointers is `readonly`: loads through the read-only cache would not wait. The module gets the `#nvvm.target` of
    `arch`, whose PTX version follows from it. Expects control flow as blocks (`convert-scf-to-cf`) and no affine ops.

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
  let options = [Option<"arch", "arch", "std::string", "::tilewright::kDefaultArchitecture.str()", "the GPU architecture, sm_75 to sm_120">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect", "mlir::arith::ArithDialect",
                           "mlir::cf::ControlFlowDialect", "mlir::memref::MemRefDialect", "mlir::vector::VectorDialect"];
}

def EmitPTX : Pass<"emit-ptx", "mlir::gpu::GPUModuleOp"> {
  let summary = "PTX of a gpu.module at the nvvm stage, as its attribute tilewright.ptx";
  let description = [{
    LLVM's pipeline and NVPTX back end run in process, at the level and for the chip of the module's `#nvvm.target`. Between
    them a step avoids what ptxas compiles wrongly (WideProducts.h). The module keeps its body. Where LLVM gives up on an op (it aborts on what it cannot select), the pass fails with LLVM's
    message.

    LoopStrengthReduce keeps a register for each address that a loop moves along. A kernel that gathers the operands of
    `mma.sync` element by element has hundreds of them. It goes without this pass, which would take most of the
    compiler's time, and the registers of the accumulators.
  }];
  let dependentDialects = ["tilewright::ProgramDialect"];
}

#endif // TILEWRIGHT_GPU_TO_NVVM_PASSES
