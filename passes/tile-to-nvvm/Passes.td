#ifndef TILEWRIGHT_TILE_TO_NVVM_PASSES
#define TILEWRIGHT_TILE_TO_NVVM_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def PlanTileMemory : Pass<"plan-tile-memory", "mlir::ModuleOp"> {
  let summary = "Tiles, rings and barriers get their places in shared memory";
  let description = [{
    After the buffers that `plan-shared-memory` placed come the tiles and the slots of rings, in the order in which they
    stand, then all barriers. What has a place keeps it. The launches get the size of the whole, and `"shared"` in
    `tilewright.launch_origin` lists what takes it.

    ```mlir
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    %c = tile.alloc : !tile.buffer<64x64xbf16, swizzle = 128>
    ```
    becomes
    ```mlir
    %ring = tile.ring consumers 1 at 0 barriers at 24576 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    %c = tile.alloc at 16384 : !tile.buffer<64x64xbf16, swizzle = 128>
    ```
  }];
  let options = [Option<"sharedLimit", "shared-limit", "int64_t",
                        "::tilewright::findArchitecture(::tilewright::kDefaultArchitecture)->sharedLimit",
                        "bytes of shared memory that a block may have, by default those of sm_90a">];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::memref::MemRefDialect"];
}

def CheckTileKernels : Pass<"check-tile-kernels", "mlir::gpu::GPUFuncOp"> {
  let summary = "Refuse kernels whose asynchronous tiles cannot work";
  let description = [{
    Checks what an op's verifier cannot see. Arrivals must add up, and slots must be filled. Ops of one thread must not
    be executed by many, or the other way round. The roles must make up the block. The kernel is not changed.

    ```mlir
    %ring = tile.ring consumers 1 : ...  // error: expected 2 consumer warpgroups, which release the ring, got 1
    ```
  }];
}

def ExpandTileMaps : Pass<"expand-tile-maps", "mlir::gpu::GPUFuncOp"> {
  let summary = "Functions of fragments become those of the elements that a thread holds";
  let description = [{
    ```mlir
    %y = tile.map %x : !tile.fragment<64x8xf32> -> !tile.fragment<64x8xf32> {
    ^bb0(%e: f32, %row: index, %column: index):
      %f = arith.negf %e : f32
      tile.yield %f : f32
    }
    ```
    becomes
    ```mlir
    %e0 = tile.extract %x[0] : !tile.fragment<64x8xf32> -> f32
    %f0 = arith.negf %e0 : f32
    ...
    %y = tile.assemble %f0, %f1, %f2, %f3 : f32 -> !tile.fragment<64x8xf32>
    ```
    Rows are reduced by each thread, and then across the four threads that share a row, by shuffles. What is saved to global memory and restored from there is that too, four elements at a time.
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::scf::SCFDialect", "mlir::vector::VectorDialect"];
}

def ExpandTileRoles : Pass<"expand-tile-roles", "mlir::gpu::GPUFuncOp"> {
  let summary = "Roles and elected threads become conditions, and barriers are started";
  let description = [{
    Registers are handed out where a role begins. The first thread starts the barriers of all rings where the last of
    them is made; then the block, or the cluster, waits for it. In a cluster, no block leaves before the others are
    done, for they may still copy to it and signal its barriers. A block may leave if it has seen all slots released
    (`tile.acquire` of each, and no copy after). Without TMA, all threads copy what one of them would.

    ```mlir
    tile.roles {
      tile.role "producer" warps 4 registers 40 { ... }
      tile.role "consumer" warps 8 registers 232 {
      ^bb0(%warpgroup: index):
        ...
      }
    }
    ```
    becomes
    ```mlir
    %warp = arith.divui %thread_id_x, %c32 : index
    %0 = arith.cmpi ult, %warp, %c4 : index
    scf.if %0 {
      nvvm.setmaxregister decrease 40
      ...
    } else {
      nvvm.setmaxregister increase 232
      ...
    }
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", "::tilewright::kDefaultArchitecture.str()", "the GPU architecture">];
  let dependentDialects = ["mlir::LLVM::LLVMDialect", "mlir::NVVM::NVVMDialect", "mlir::arith::ArithDialect",
                           "mlir::scf::SCFDialect"];
}

#endif // TILEWRIGHT_TILE_TO_NVVM_PASSES
