#ifndef TILEWRIGHT_GPU_TO_SIM_PASSES
#define TILEWRIGHT_GPU_TO_SIM_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def SynchronizeCopies : Pass<"synchronize-copies", "mlir::gpu::GPUModuleOp"> {
  let summary = "Asynchronous copies are done at once";
  let description = [{
    The simulator copies where the copy is begun, which is one of the moments at which a GPU may do it. The store is
    marked, so that the checks know that it may as well take place later, at the wait. An access to its destination
    before the wait is reported. Other threads see the copy after the wait and a barrier.

    ```mlir
    %token = nvgpu.device_async_copy %a[%i], %tile[%j], 4 : memref<64xf32> to memref<8xf32, #gpu.address_space<workgroup>>
    ```

    becomes

    ```mlir
    %x = vector.load %a[%i] : memref<64xf32>, vector<4xf32>
    vector.store %x, %tile[%j] {tilewright.copy} : memref<8xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    ```
  }];
  let dependentDialects = ["tilewright::ProgramDialect", "mlir::arith::ArithDialect", "mlir::memref::MemRefDialect", "mlir::scf::SCFDialect",
                           "mlir::vector::VectorDialect"];
}

def CutIndices : Pass<"cut-indices", "mlir::gpu::GPUModuleOp"> {
  let summary = "Arithmetic on indices is done in the bits that they have on a GPU";
  let description = [{
    On this machine an index has 64 bits. Where the module's data layout gives it fewer (`choose-index-widths`), each op
    of arith on indices becomes one on integers of that width. The simulator then shows an index that is cut. Expects no
    affine ops. Accesses keep 64 bits: their indices are within the buffer.

    ```mlir
    gpu.module @f_kernels attributes {dlti.dl_spec = #dlti.dl_spec<index = 32 : i64>} {
      ...
      %1 = arith.muli %0, %c4 : index
    ```

    becomes

    ```mlir
      %2 = arith.index_cast %0 : index to i32
      %3 = arith.index_cast %c4 : index to i32
      %4 = arith.muli %2, %3 : i32
      %1 = arith.index_cast %4 : i32 to index
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def ConvertGPUToSim : Pass<"convert-gpu-to-sim", "mlir::ModuleOp"> {
  let summary = "Each kernel becomes a function that runs one simulated thread";
  let description = [{
    The function takes the thread's state and the launch's parameters; runtime/sim/ABI.h says what is where. Thread and
    block numbers and the base of shared memory are words of the state. Barriers, shuffles and the end of a thread are
    calls of the run time. Each call has a site: a constant that holds a name and the source line. The host functions
    go; `@<kernel>_info` tells the run time what a kernel needs and takes.

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
  let dependentDialects = ["tilewright::ProgramDialect", "tilewright::te::TEDialect", "mlir::func::FuncDialect", "mlir::LLVM::LLVMDialect", "mlir::arith::ArithDialect"];
}

def InsertSimChecks : Pass<"insert-sim-checks", "mlir::ModuleOp"> {
  let summary = "A check before every access to memory, and of every division of integers";
  let description = [{
    Each index must be below its extent. The run time then checks the address: whether it is inside the buffer, and
    whether it was written before it is read. It also checks whether another thread of the block accesses the same bytes
    of shared memory with no barrier between. What is found is reported with the indices; the access is made all the
    same unless it is out of bounds. A local array has a byte beside each of its own, which is 1 once that is written,
    and 0 where the array's scope begins.

    A division of integers by zero is reported where its result is used. It is not reported where a `select` of the same
    block, or a condition that is already decided (`te.all`, `te.any`), discards the result.

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

def HoistLocalArrays : Pass<"hoist-local-arrays", "mlir::ModuleOp"> {
  let summary = "Local arrays are allocated at the top of their kernel";
  let description = [{
    A stack allocation inside a loop would grow the stack of a thread with each iteration.

    ```mlir
    scf.for %k = %c0 to %n step %c1 {
      %x = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
    ```

    becomes

    ```mlir
    %x = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
    scf.for %k = %c0 to %n step %c1 {
    ```
  }];
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

def ConvertTileToSim : Pass<"convert-tile-to-sim", "mlir::ModuleOp"> {
  let summary = "Functions, branches and tiles become those of the LLVM dialect, with calls of the run time";
  let description = [{
    Tiles become the ops of NVVM that they are on a GPU, by the same patterns. Each of these becomes a call of the
    simulator's run time with the instruction's operands: addresses in shared memory, parities, counts, masks,
    descriptors. Only an accumulator differs, whose registers nobody can read yet: it is the number of an accumulator
    that the run time keeps.

    ```mlir
    %a = tile.wait %ring[%slot, %phase] : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    ```

    becomes

    ```mlir
    %barrier = llvm.getelementptr %shared[...] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8
    llvm.call @tw_sim_wait_phase(%state, %site, %barrier, %phase) : (!llvm.ptr, !llvm.ptr, !llvm.ptr<3>, i32) -> ()
    ```
  }];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect"];
}

def KeepNarrowRounding : Pass<"keep-narrow-rounding"> {
  let summary = "Conversions between float types keep their rounding";
  let description = [{
    `arith-emulate-unsupported-floats` marks its conversions so that an extension undoes a truncation before it. A GPU
    rounds after each operation, and so do the simulator and target cpu.

    ```mlir
    %narrow = arith.truncf %x fastmath<contract> : f32 to bf16
    ```

    becomes

    ```mlir
    %narrow = arith.truncf %x : f32 to bf16
    ```
  }];
}

#endif // TILEWRIGHT_GPU_TO_SIM_PASSES
