#ifndef TILEWRIGHT_LOOPS_TO_TILE_PASSES
#define TILEWRIGHT_LOOPS_TO_TILE_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def FormTileKernels : Pass<"form-tile-kernels", "mlir::func::FuncOp"> {
  let summary = "Nests that multiply tiles by warpgroups become kernels of asynchronous tiles";
  let description = [{
    A nest with a product marked `schedule.instruction = "wgmma"` in a pipelined loop, whose buffers are filled by copies
    marked `schedule.copy_by`, becomes a launch of the dialect tile's ops: the loop's buffers are a ring, the copies bulk
    copies by tensor maps, the private buffer of the sums an accumulator, what is computed of it functions of a fragment,
    and a result that is copied from shared memory goes there in bulk. What cannot work is refused.

    ```mlir
    scf.for %ko = %c0 to %c64 step %c1 {
      %As = memref.alloc() {schedule.pipeline, te.stage = "As"} : memref<128x64xbf16, #gpu.address_space<workgroup>>
      ...  memref.store %a, %As[%i, %k] {schedule.copy_by = #schedule.copier<tma>, schedule.swizzle = 128 : i64} ...
      scf.for %m = %c0 to %c64 step %c1 { ... } {schedule.instruction = "wgmma"}
    } {schedule.pipeline = 3 : i64, schedule.specialize = array<i64: 40, 232>}
    ```
    becomes
    ```mlir
    %ring = tile.ring consumers 2 : !tile.ring<3, !tile.buffer<128x64xbf16, swizzle = 128>, ...>
    tile.roles {
      tile.role "producer" warps 4 registers 40 { ... tile.tma_load ... }
      tile.role "consumer" warps 8 registers 232 { ... tile.wgmma ... }
    }
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", "::tilewright::kDefaultArchitecture.str()", "the GPU architecture">];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::scf::SCFDialect", "tilewright::tile::TileDialect"];
}

#endif // TILEWRIGHT_LOOPS_TO_TILE_PASSES
