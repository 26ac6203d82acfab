#ifndef TILEWRIGHT_LOOPS_TO_GPU_PASSES
#define TILEWRIGHT_LOOPS_TO_GPU_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def MakeStoresAtomic : Pass<"make-stores-atomic", "mlir::func::FuncOp"> {
  let summary = "Stores to which other blocks add become atomic operations";
  let description = [{
    Before this pass such a store is the one of its loops as any other is, so that `raise-to-tile-ops` can give it to
    TMA. From here on each pass sees that the element is read and written.

    ```mlir
    memref.store %part, %C[%i] {schedule.reduce_add} : memref<64xf32>
    ```
    becomes
    ```mlir
    %before = memref.atomic_rmw addf %part, %C[%i] : (f32, memref<64xf32>) -> f32
    ```
  }];
  let dependentDialects = ["mlir::memref::MemRefDialect"];
}

def DistributePrivateBuffers : Pass<"distribute-private-buffers", "mlir::func::FuncOp"> {
  let summary = "Of a private buffer that threads fill together, each thread keeps its part";
  let description = [{
    Run in sequence, the loops on thread indices fill a private buffer around them with the elements of all threads. On
    a GPU, each thread has a buffer of its own and can only read what it stored itself. In all accesses, the index of
    the thread must therefore be the same digit of the element's number. The buffer is then as large as one thread's
    part.

    ```mlir
    %b = memref.alloca() : memref<64xf32, #gpu.address_space<private>>
    scf.for %o = %c0 to %c2 step %c1 {
      scf.for %t = %c0 to %c8 step %c1 {
        scf.for %v = %c0 to %c4 step %c1 {
          %at = affine.apply affine_map<(o, t, v) -> (o * 32 + t * 4 + v)>(%o, %t, %v)
          memref.store %x, %b[%at] : memref<64xf32, #gpu.address_space<private>>
        }
      } {schedule.bind = #schedule.thread<threadIdx.x>}
    }
    ```
    becomes
    ```mlir
    %b = memref.alloca() : memref<8xf32, #gpu.address_space<private>>
    ...
          %at = affine.apply affine_map<(o, v) -> (o * 4 + v)>(%o, %v)
          memref.store %x, %b[%at] : memref<8xf32, #gpu.address_space<private>>
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::memref::MemRefDialect"];
}

def InjectVirtualThreads : Pass<"inject-virtual-threads", "mlir::func::FuncOp"> {
  let summary = "Loops on virtual threads are distributed over the ops of their bodies";
  let description = [{
    Each op of the body is executed for all virtual threads before the next op is. Ops that do not depend on the virtual
    thread are executed once. A buffer of the body whose contents depend on it gets a leading dimension.

    ```mlir
    scf.for %v = %c0 to %c2 step %c1 {
      %acc = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
      scf.for %k = %c0 to %c8 step %c1 {
        ... %acc ... %v ...
      }
    } {schedule.bind = #schedule.thread<vthread>}
    ```
    becomes
    ```mlir
    %acc = memref.alloca() : memref<2x4xf32, #gpu.address_space<private>>
    scf.for %k = %c0 to %c8 step %c1 {
      ... %acc[%c0, ... ... %c0 ...
      ... %acc[%c1, ... ... %c1 ...
    }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

def PipelineLoops : Pass<"pipeline-loops", "mlir::func::FuncOp"> {
  let summary = "Shared buffers of pipelined loops are filled some iterations ahead";
  let description = [{
    A loop with `schedule.pipeline` fills the shared buffers in it that are marked and computes with them. Each buffer
    gets a place for each of its `stages`. The first `stages - 1` iterations are filled before the loop. In the loop,
    iteration k fetches what iteration k + stages - 1 needs to registers, computes, and stores what it fetched. With
    `async = true`, copies bypass the registers: the stores are marked for `convert-copies-to-async`. A group of copies
    is waited for just before it is needed. Stands after map-loops-to-gpu, so that each thread has registers of its own.

    ```mlir
    scf.for %k = %c0 to %n step %c1 {
      %s = memref.alloc() {schedule.pipelined} : memref<32xf32, #gpu.address_space<workgroup>>
      %x = memref.load %a[%k, %t]
      memref.store %x, %s[%t]
      ... %s ...
    } {schedule.pipeline = #schedule.pipeline<stages = 2>}
    ```
    becomes
    ```mlir
    %s = memref.alloc() : memref<2x32xf32, #gpu.address_space<workgroup>>
    ... %s[0, %t] filled for k = 0
    scf.for %k = %c0 to %n step %c1 {
      scf.if %k + 1 < %n { %r <- %a[%k + 1, %t] }
      ... %s[%k mod 2] ...
      scf.if %k + 1 < %n { %s[(%k + 1) mod 2, %t] <- %r }
    }
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::NVVM::NVVMDialect", "mlir::scf::SCFDialect"];
}

def DistributeFragments : Pass<"distribute-fragments", "mlir::func::FuncOp"> {
  let summary = "Tiles that matrix instructions compute lie in the registers of a warp's lanes";
  let description = [{
    Loops with `schedule.instruction` multiply one tile of matrices. All lanes of a warp, along threadIdx.x, do it
    together. Each lane keeps the elements of private buffers that the instruction takes from it. Other loops on these
    buffers run in each lane over its own elements. Copies from shared memory become `nvgpu.ldmatrix` where 16 bytes of
    a row lie together.

    ```mlir
    %c = memref.alloca() : memref<64x32xf32, #gpu.address_space<private>>
    ...
    scf.for %i = %c0 to %c64 step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        %x = memref.load %c[%i, %j]
        memref.store %x, %C[%i, %j]
      }
    }
    ```
    becomes
    ```mlir
    %c = memref.alloca() : memref<4x4x4xf32, #gpu.address_space<private>>
    ...
    scf.for %i = %c0 to %c8 step %c1 {
      scf.for %j = %c0 to %c4 step %c1 {
        scf.for %e = %c0 to %c2 step %c1 {
          %row = affine.apply affine_map<(i, lane) -> (i * 8 + lane floordiv 4)>(%i, %lane)
          %col = affine.apply affine_map<(j, lane, e) -> (j * 8 + (lane mod 4) * 2 + e)>(%j, %lane, %e)
          %x = memref.load %c[%i floordiv 2, %j, %i mod 2 * 2 + %e]
          memref.store %x, %C[%row, %col]
        } {schedule.vectorize}
      } {schedule.unroll}
    } {schedule.unroll}
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", "::tilewright::kDefaultArchitecture.str()", "the GPU architecture">];
  let dependentDialects = ["tilewright::ProgramDialect", "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect",
                           "mlir::nvgpu::NVGPUDialect", "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def VectorizeScheduledLoops : Pass<"vectorize-scheduled-loops", "mlir::func::FuncOp"> {
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
    A predicate on the lanes is evaluated before them. Where it holds in all lanes, they become a vector. Otherwise the
    loop runs, unless the lanes provably agree.

    ```mlir
    scf.for %j = %c0 to %c4 step %c1 {
      %k = affine.apply affine_map<(i, j) -> (i * 4 + j)>(%i, %j)
      %inside = arith.cmpi slt, %k, %n : index
      scf.if %inside {
        %x = memref.load %A[%k] : memref<?xf32>
        memref.store %x, %B[%k] : memref<?xf32>
      }
    } {schedule.vectorize}
    ```
    becomes
    ```mlir
    %last = affine.apply affine_map<(i, j) -> (i * 4 + j)>(%i, %c3)
    %all = arith.cmpi slt, %last, %n : index
    scf.if %all {
      %first = affine.apply affine_map<(i, j) -> (i * 4 + j)>(%i, %c0)
      %x = vector.load %A[%first] {alignment = 16} : memref<?xf32>, vector<4xf32>
      vector.store %x, %B[%first] {alignment = 16} : memref<?xf32>, vector<4xf32>
    } else {
      scf.for %j = ...
    }
    ```
    A choice between two values that all lanes make alike, as at a tensor's edge, becomes one between vectors. An
    asynchronous copy of what is there in the first lanes, and of zeros, becomes a `vector.maskedload`. A loop whose
    body has no vector form, or none with wider accesses behind its predicate, stays a loop. A loop also stays if an
    iteration loads or stores what an earlier iteration stores or loads after that, such as a sum in memory. As lanes,
    all iterations would do the first access before any does the next. Lanes may lie together in several rows of a
    row-major tensor, where one number is split into the indices. A vector then takes them from the tensor as one row. A
    GPU's vectors have 1, 2, 4, 8 or 16 lanes; with `on-processor`, an axis of any extent becomes vectors of at most 64
    lanes.
  }];
  let options = [Option<"onProcessor", "on-processor", "bool", "false", "vectors of any extent, at any address">];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def MapLoopsToGPU : Pass<"map-loops-to-gpu", "mlir::ModuleOp"> {
  let summary = "Each top-level nest with bound loops becomes a launch";
  let description = [{
    Every loop with `schedule.bind`, at any depth, is replaced by its body, with the block or thread index in place of
    its variable. All threads run the rest of the nest alike. Inside a loop bound to an index, a loop bound to the same
    index uses the index again. So the threads of a block share work. Extents of loops on one index must agree; those of
    thread indices must be constant. The launch says in `tilewright.launch_origin` where each of its extents came from.

    ```mlir
    scf.for %i = %c0 to %c4 step %c1 {
      scf.for %j = %c0 to %c32 step %c1 {
        memref.store %x, %C[%i, %j] : memref<4x32xf32>
      } {schedule.axis = #schedule.axis<"j" of "C">, schedule.bind = #schedule.thread<threadIdx.x>}
    } {schedule.axis = #schedule.axis<"i" of "C">, schedule.bind = #schedule.thread<blockIdx.x>}
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
  let dependentDialects = ["tilewright::ProgramDialect", "tilewright::te::TEDialect", "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect"];
}

def ConvertCopiesToAsync : Pass<"convert-copies-to-async", "mlir::func::FuncOp"> {
  let summary = "Copies of pipelined loops go past the registers";
  let description = [{
    A store to shared memory with `schedule.async` and the load that it stores become one `nvgpu.device_async_copy`.

    ```mlir
    %x = vector.load %a[%i] : memref<64xf32>, vector<4xf32>
    vector.store %x, %s[%j] {schedule.async} : memref<32xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    ```
    becomes
    ```mlir
    nvgpu.device_async_copy %a[%i], %s[%j], 4 {bypassL1} : memref<64xf32> to memref<32xf32, #gpu.address_space<workgroup>>
    ```
    Where a choice is stored between such a load and zero, the copy is of all elements or of none, and the rest is zero.
    A `vector.maskedload` of the first elements becomes a copy of as many.
  }];
  let options = [Option<"arch", "arch", "std::string", "::tilewright::kDefaultArchitecture.str()", "the GPU architecture">];
  let dependentDialects = ["mlir::nvgpu::NVGPUDialect"];
}

def OutlineKernels : Pass<"outline-kernels", "mlir::ModuleOp"> {
  let summary = "Each launch of @f becomes a kernel in @f_kernels";
  let description = [{
    Kernels are named `@f_kernel0`, `@f_kernel1`, ... in the order of their launches. PTX has ASCII alone: each other
    byte of the name becomes `$` and two hexadecimal digits. Kernels take the function's arguments that they use, in its
    order, then other values. Constants and extents of tensors that they take are computed inside. Upstream's
    `gpu-kernel-outlining` makes a module for each kernel, and would make a cubin of each.

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

def LowerWarpBuffers : Pass<"lower-warp-buffers", "mlir::gpu::GPUFuncOp"> {
  let summary = "What the lanes of a warp exchange lies in their registers";
  let description = [{
    A shared buffer with `schedule.warp` becomes as many registers of each lane, if no two lanes store the same element.
    A load becomes a shuffle from the lane that has the element. Lanes are threads along threadIdx.x, whose number is a
    power of two up to 32. All lanes take part in a shuffle: it stands before the predicates around the load. The buffer
    stays in shared memory where its elements are no lane's own, or where a load cannot stand where all lanes come by.

    ```mlir
    %w = memref.alloc() {schedule.warp = 0 : i64} : memref<32xf32, #gpu.address_space<workgroup>>
    memref.store %x, %w[%tx]
    %y = memref.load %w[(%tx + 1) mod 32]
    ```
    becomes
    ```mlir
    %w = memref.alloca() : memref<1xf32, #gpu.address_space<private>>
    memref.store %x, %w[%c0]
    %own = memref.load %w[%c0]
    %y, %valid = gpu.shuffle idx %own, (%tx + 1) mod 32, %c32 : f32
    ```
  }];
  let dependentDialects = ["tilewright::ProgramDialect", "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

def PlanSharedMemory : Pass<"plan-shared-memory", "mlir::ModuleOp"> {
  let summary = "Shared buffers of a kernel become parts of one symbol, which they share over time";
  let description = [{
    Buffers of which no two live at the same time may lie at the same place; large ones are placed first. A buffer lives
    until what was read from it is written to another, so that the two need no barrier between them. The launches get
    the size of the whole, and `"shared"` in `tilewright.launch_origin` lists the buffers.

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
  let options = [Option<"sharedLimit", "shared-limit", "int64_t",
                        "::tilewright::findArchitecture(::tilewright::kDefaultArchitecture)->sharedLimit",
                        "bytes of shared memory that a block may have, by default those of sm_90a">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

def InsertBarriers : Pass<"insert-barriers", "mlir::gpu::GPUFuncOp"> {
  let summary = "Barriers where threads of a block exchange values through shared memory, and nowhere else";
  let description = [{
    A barrier stands between two accesses to shared memory if one of them writes, their bytes may overlap, and different
    threads may make them. The second access may be in a later iteration of a loop. Accesses whose element determines
    the thread need no barrier. Barriers stand as far out as they can, and only where all threads of a block come by. If
    one is needed elsewhere, that is an error.

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
    The function takes the workspace as its last argument. `tilewright.workspace_bytes` says how large it is, unless
    that depends on symbolic extents: then the furthest end of a view is the size. Each temporary starts at a multiple
    of 256 bytes.

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
  let dependentDialects = ["tilewright::ProgramDialect", "mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

#endif // TILEWRIGHT_LOOPS_TO_GPU_PASSES
