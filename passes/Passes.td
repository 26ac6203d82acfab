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
    memrefs of them and returns 0. A result that is not the output's argument (`te.output`, in order) already is copied
    there. Its temporaries are freed at its end, so it needs no workspace: beside `@f` there is
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

//===--- loops to gpu -----------------------------------------------------===//

def VectorizeLoops : Pass<"vectorize-loops", "mlir::func::FuncOp"> {
  let summary = "Loops marked to be vectorized become vector code";
  let description = [{
    ```mlir
    scf.for %j = %c0 to %c4 step %c1 {
      %x = memref.load %A[%j] : memref<4xf32>
      memref.store %x, %B[%j] : memref<4xf32>
    } {schedule.vectorize}
    ```
    becomes
    ```mlir
    %x = vector.load %A[%c0] {alignment = 16} : memref<4xf32>, vector<4xf32>
    vector.store %x, %B[%c0] {alignment = 16} : memref<4xf32>, vector<4xf32>
    ```
    A loop whose body has no vector form, such as one with a predicate inside, stays a loop.
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::vector::VectorDialect"];
}

def UnrollLoops : Pass<"unroll-loops", "mlir::func::FuncOp"> {
  let summary = "Loops marked to be unrolled are written out";
}

def MapLoopsToGPU : Pass<"map-loops-to-gpu", "mlir::ModuleOp"> {
  let summary = "Each top-level nest with bound loops becomes a launch";
  let description = [{
    Every loop with `schedule.bind`, at any depth, gives way to its body with the block or thread index in place of
    its variable: all threads run the rest of the nest alike. A loop bound to an index inside a loop bound to the same
    index uses the same index again: that is how the threads of a block share work. Extents of loops on one index must
    agree; those of thread indices must be constant. The launch says in `tilewright.launch_origin` where each of its
    extents came from.

    ```mlir
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        memref.store %x, %C[%i, %j] : memref<4x32xf32>
      } {schedule.axis = "C.j", schedule.bind = #schedule.thread<threadIdx.x>}
    } {schedule.axis = "C.i", schedule.bind = #schedule.thread<blockIdx.x>}
    ```
    becomes
    ```mlir
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
      memref.store %x, %C[%bx, %tx] : memref<4x32xf32>
      gpu.terminator
    } {tilewright.launch_origin = {block.x = "j of stage C", grid.x = "i of stage C"}}
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect"];
}

def OutlineKernels : Pass<"outline-kernels", "mlir::ModuleOp"> {
  let summary = "Each launch of @f becomes a kernel in @f_kernels";
  let description = [{
    Kernels are named `@f_kernel0`, `@f_kernel1`, ... in the order of their launches. They take the arguments of the
    function that they use, in its order, then other values; constants and extents of tensors that they take are
    computed inside. Upstream's `gpu-kernel-outlining` makes a module a kernel, which then would be a cubin each.

    ```mlir
    gpu.launch blocks(...) threads(...) { ... memref.store %x, %C[%bx, %tx] ... }
    ```
    becomes
    ```mlir
    gpu.module @f_kernels {
      gpu.func @f_kernel0(%C: memref<4x32xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, ...} { ... }
    }
    gpu.launch_func @f_kernels::@f_kernel0 blocks in (...) threads in (...) args(%C : memref<4x32xf32>)
    ```
  }];
  let dependentDialects = ["mlir::gpu::GPUDialect"];
}

def ElectWriterThreads : Pass<"elect-writer-threads", "mlir::gpu::GPUFuncOp"> {
  let summary = "What all threads along an index would write alike, thread 0 writes";
  let description = [{
    Work in a kernel outside of all loops on some thread index is done by every thread along that index. Where it
    writes to global or shared memory, only thread 0 along that index shall: otherwise an update of memory would happen
    once a thread. Found by dependence: values, conditions and private memory that do not depend on the index.

    ```mlir
    %n = memref.load %count[%bx] : memref<8xi32>
    memref.store %n, %C[%bx] : memref<8xi32>
    ```
    becomes, in a block of 32 by 1 threads,
    ```mlir
    %tx = gpu.thread_id x
    %first = arith.cmpi eq, %tx, %c0 : index
    scf.if %first {
      %n = memref.load %count[%bx] : memref<8xi32>
      memref.store %n, %C[%bx] : memref<8xi32>
    }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def PlanSharedMemory : Pass<"plan-shared-memory", "mlir::ModuleOp"> {
  let summary = "Shared buffers of a kernel become parts of one symbol, which they share over time";
  let description = [{
    Buffers of which no two live at the same time may lie at the same place; large ones are placed first. The launches
    get the size of the whole, and `"shared"` in `tilewright.launch_origin` lists the buffers.

    ```mlir
    %As = memref.alloc() {te.stage = "A.shared"} : memref<32x32xf32, #gpu.address_space<workgroup>>
    ```
    becomes
    ```mlir
    %all = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
    %As = memref.view %all[%c0][] {te.stage = "A.shared"}
        : memref<0xi8, #gpu.address_space<workgroup>> to memref<32x32xf32, #gpu.address_space<workgroup>>
    ```
  }];
  let options = [Option<"sharedLimit", "shared-limit", "int64_t", /*default=*/"232448",
                        "bytes of shared memory that a block may have; sm_90 has 227 KiB">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

def InsertBarriers : Pass<"insert-barriers", "mlir::gpu::GPUFuncOp"> {
  let summary = "Barriers where threads of a block exchange values through shared memory, and nowhere else";
  let description = [{
    A barrier stands between two accesses to shared memory if one of them writes, their bytes may overlap and they may
    be made by different threads; also where the second access is in a later iteration of a loop. Accesses whose
    element determines the thread need none. Barriers stand as far out as they can, and only where all threads of a
    block come by: if one is needed elsewhere, that is an error.

    ```mlir
    memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    %y = memref.load %S[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
    ```
    becomes
    ```mlir
    memref.store %x, %S[%tx] : memref<32xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %y = memref.load %S[%c0] : memref<32xf32, #gpu.address_space<workgroup>>
    ```
  }];
}

def PlanWorkspace : Pass<"plan-workspace", "mlir::func::FuncOp"> {
  let summary = "Temporaries between kernels become parts of one workspace, which they share over time";
  let description = [{
    The function takes the workspace as its last argument and says in `tilewright.workspace_bytes` how large it is,
    unless that depends on symbolic extents: then the furthest end of a view is the size. Each temporary starts at a
    multiple of 256 bytes.

    ```mlir
    func.func @f(%A: memref<64xf32>) {
      %T = memref.alloc() {te.stage = "T"} : memref<64xf32>
    ```
    becomes
    ```mlir
    func.func @f(%A: memref<64xf32>, %workspace: memref<?xi8>) attributes {tilewright.workspace_bytes = 256 : i64} {
      %T = memref.view %workspace[%c0][] {te.stage = "T"} : memref<?xi8> to memref<64xf32>
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

//===--- gpu to nvvm ------------------------------------------------------===//

def ExpandMath : Pass<"expand-math", "mlir::gpu::GPUFuncOp"> {
  let summary = "Exponentials, logarithms, tanh and rsqrt become arithmetic around 2^x and the square root";
  let description = [{
    Libdevice is not linked, so what has no instruction of its own is built from what has. `math.exp`, `math.log` and
    `math.tanh` on f32 stay within 2 units of the last place, `math.log2` and `math.log10` within 3, on scalars and
    vectors; f16 and bf16 are computed in f32. `math.rsqrt` is a square root and a division, of f64 too. Other functions,
    and those of f64, are left for `check-kernel-ops` to refuse.

    ```mlir
    %y = math.exp %x : f32
    ```
    becomes
    ```mlir
    %0 = arith.maximumf %x, %lowest : f32
    %1 = arith.minimumf %0, %highest : f32
    %2 = arith.mulf %1, %log2e : f32
    %n = math.floor %2 : f32
    %3 = arith.negf %n : f32
    %4 = math.fma %1, %log2e, %3 : f32
    %f = math.fma %1, %log2e_low, %4 : f32
    %5 = math.exp2 %f : f32
    %6 = math.exp2 %n : f32
    %y = arith.mulf %5, %6 : f32
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect"];
}

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
