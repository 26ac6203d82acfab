#ifndef TILEWRIGHT_LOOPS_TO_TILE_PASSES
#define TILEWRIGHT_LOOPS_TO_TILE_PASSES

include "mlir/Pass/PassBase.td"

// In pipeline order; one def, one class, one file.

def RaiseToTileOps : Pass<"raise-to-tile-ops", "mlir::func::FuncOp"> {
  let summary = "Nests with matmuls by warpgroups become kernels of tiles";
  let description = [{
    A nest with a matmul marked `schedule.instruction = #schedule.instruction<wgmma, 64x256x64>` becomes a
    `tile.kernel`. Loops on blocks become its grid, and each statement in them becomes one op on tiles, at its place.
    Copies marked `schedule.copy` become `tile.load` and `tile.store`. Loops with `schedule.instruction` become
    `tile.matmul` of the operands that `schedule.operand` names. Loops that set all elements become `tile.fill`, and
    loops that compute elements from others become `tile.map`. Tiles in registers are values, which a loop carries that
    stores to them. The place of a loaded tile may be a number in memory, plus an index: one number for all of the tile.
    What cannot work is refused.

    ```mlir
    scf.for %ko = %c0 to %c64 step %c1 {
      %As = memref.alloc() {schedule.pipelined, te.stage = "As"} : memref<128x64xbf16, #gpu.address_space<workgroup>>
      ...  memref.store %a, %As[%i, %k] {schedule.copy = #schedule.copy<by = tma, swizzle = 128>} ...
      scf.for %m = %c0 to %c64 step %c1 { ... } {schedule.instruction = #schedule.instruction<wgmma, 64x256x64>}
    } {schedule.pipeline = #schedule.pipeline<stages = 3>}
    ```
    becomes
    ```mlir
    %sum = scf.for %ko = %c0 to %c64 step %c1 iter_args(%acc = %zeros) -> (!tile.fragment<64x256xf32>) {
      %As = tile.load %A[%i, %k] box [128, 64] : memref<4096x4096xbf16> -> !tile.buffer<128x64xbf16, swizzle = 128>
      ...
      %next = tile.matmul %mine, %Bs into %acc : ...
      scf.yield %next : !tile.fragment<64x256xf32>
    } {schedule.pipeline = #schedule.pipeline<stages = 3>}
    ```
  }];
  let options = [Option<"arch", "arch", "std::string", "::tilewright::kDefaultArchitecture.str()", "the GPU architecture">];
  let dependentDialects = ["tilewright::ProgramDialect", "tilewright::te::TEDialect", "mlir::affine::AffineDialect",
                           "mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "tilewright::tile::TileDialect"];
}

def RollReductions : Pass<"roll-reductions", "mlir::func::FuncOp"> {
  let summary = "Loops over the same tiles become one, of which one follows the other's result";
  let description = [{
    A loop marked `schedule.rolling = #schedule.rolling<of = "M">` reduces what it computes of M, the rows of an accumulator that another loop reduces.
    Both become one: what is reduced so far is repaired whenever M changes. The repair is found in the element, as
    `schedule.rolling_update` says. Tiles that both loops load, and matmuls that both compute, are there once. Elements are
    computed with a finite M: 0 in place of an infinite M, of rows that a mask has left nothing of so far. A factor is 1 where
    M stays, also where M stays infinite. A loop may also follow a loop of matmuls of which it reads nothing: so
    the gradients of keys and of values are one loop. Matmuls of loaded tiles then start together. Where the other loop is
    that of an earlier kernel with the same grid, both kernels become one before. What warpgroups share (`tile.share`) is
    then multiplied as soon as it is there. Where registers do not hold a fragment beside itself rounded, it is rounded
    behind the map that reads it, too.

    ```mlir
    %most = scf.for %j ... iter_args(%m = %lowest) { ...  %m1 = tile.row_reduce max %s into %m ... }
    %sum = scf.for %j ... iter_args(%l = %zeros) { ...  %p = tile.map %s, %most ...  %l1 = tile.row_reduce sum %p into %l ... } {schedule.rolling = #schedule.rolling<of = "M">}
    ```
    becomes
    ```mlir
    %most, %sum = scf.for %j ... iter_args(%m = %lowest, %l = %zeros) {
      ...
      %m1 = tile.row_reduce max %s into %m
      %finite = tile.map %m1 ...                    // 0 where m1 is infinite
      %factor = tile.map %m, %m1 ...                // m == m1 ? 1 : exp(m - m1)
      %l0 = tile.map %l, %factor ...
      %p = tile.map %s, %finite ...
      %l1 = tile.row_reduce sum %p into %l0
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::math::MathDialect", "mlir::scf::SCFDialect",
                           "tilewright::tile::TileDialect"];
}

def SkipMaskedTiles : Pass<"skip-masked-tiles", "mlir::func::FuncOp"> {
  let summary = "Loops end behind the last tile of which a mask leaves something";
  let description = [{
    A mask is a choice between an element and a constant, by a comparison of the element's place with another index. An
    iteration is left out, with its loads, where two things hold. The constant is chosen for a whole tile. The iteration
    then changes nothing of what the loop carries, such as a maximum with minus infinity or a sum of zeros. Such
    iterations are before the first tile and behind the last tile of which something is left. Tiles of the grid with
    more iterations come first. A compared number may be in memory, which the kernel does not write. At least one
    iteration is left. What is reduced counts as finite, as `roll-reductions` makes it.

    ```mlir
    scf.for %j = %c0 to %c32 step %c1 ... {   // keys 128 j + column up to query 128 x + row
    ```
    becomes
    ```mlir
    %last = arith.divui %reach, %c128 : index  // of 128 x + 127
    %end = arith.minui %last1, %c32 : index
    scf.for %j = %c0 to %end step %c1 ... {
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect"];
}

def NarrowTiles : Pass<"narrow-tiles", "mlir::func::FuncOp"> {
  let summary = "Some tiles become narrower, so that the last wave is full";
  let description = [{
    Of a kernel whose order has `narrower`: rows of tiles get one tile more, and others of such a row become narrower. Its
    grid is linear then: which widths there are and where tiles begin is computed from a tile's number.

    ```mlir
    tile.kernel (%c16, %c32, %c1) ... order <blocks = 132, raster = grouped, group = 8, narrower = 16>
    ```
    becomes
    ```mlir
    tile.kernel (%c528, %c1, %c1) ... order <blocks = 132, raster = linear, group = 1> {
      ... %s1 = tile.matmul %a, %b into %s width %width of [256, 240] : ...
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect"];
}

def RasterTiles : Pass<"raster-tiles", "mlir::func::FuncOp"> {
  let summary = "Grids of tiles become linear, in the order in which blocks go through them";
  let description = [{
    The place of a tile is computed from its number: row by row, in groups of rows, or on Hilbert's curve. A cluster has one
    number; what each of its blocks adds is its rank.

    ```mlir
    tile.kernel (%c4, %c2, %c1) ... order <blocks = 2, raster = row, group = 1> { ^bb0(%x: index, %y: index, ...
    ```
    becomes
    ```mlir
    tile.kernel (%c8, %c1, %c1) ... order <blocks = 2, raster = linear, group = 1> {
    ^bb0(%number: index, ...):
      %x = arith.remui %number, %c4 : index
      %y = arith.divui %number, %c4 : index
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect"];
}

def ShareIterations : Pass<"share-iterations", "mlir::func::FuncOp"> {
  let summary = "Blocks share the iterations of the last tiles (stream-K)";
  let description = [{
    For a kernel with a linear order that has `stream_k`. Each cluster first computes whole tiles, then its share of the
    iterations of the tiles that are left. The last to finish a part of a tile adds up all parts.
    [Why](../rationale/tile.md#stream-k-tiles-that-several-blocks-share).

    ```mlir
    %sum = scf.for %k = %c0 to %c64 step %c1 ...
    ```
    becomes
    ```mlir
    scf.for %turn = %c0 to %count step %c1 {
      %sum = scf.for %k = %first to %end step %c1 ...
      %whole:2 = scf.if %is_whole -> (i1, !tile.fragment<64x256xf32>) ...
      scf.if %whole#0 { ... }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::memref::MemRefDialect",
                           "mlir::scf::SCFDialect"];
}

def PersistTiles : Pass<"persist-tiles", "mlir::func::FuncOp"> {
  let summary = "Blocks that stay go through all tiles";
  let description = [{
    A kernel with a linear order gets a loop over the tiles of a block, and as many blocks as stay.

    ```mlir
    tile.kernel (%c8, %c1, %c1) ... order <blocks = 2, raster = linear, group = 1> { ^bb0(%number: index, ...
    ```
    becomes
    ```mlir
    tile.kernel (%c2, %c1, %c1) ... {
    ^bb0(%block: index, ...):
      scf.for %number = %block to %c8 step %c2 {
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect", "mlir::scf::SCFDialect"];
}

def AssignTileRoles : Pass<"assign-tile-roles", "mlir::func::FuncOp"> {
  let summary = "Who loads tiles, and who computes with them";
  let description = [{
    Tiles that one op needs first go by way of one ring. In a kernel with `registers`, a producer has the loads and the
    loops around them, and puts the loaded tiles into rings. Consumer warpgroups have everything else. With `pingpong`,
    sets of consumer warpgroups take tiles alternately. Without `registers`, one thread of those that compute loads
    ahead.

    ```mlir
    %a = tile.load %A[%i, %k] ...
    %s1 = tile.matmul %a, %b into %s : ...
    ```
    becomes
    ```mlir
    tile.role "producer" ... {
      scf.for %k ... { %a = tile.load %A[%i, %k] ...  tile.put %a, %b to %ring : ... }
    }
    tile.role "consumer" ... {
      scf.for %k ... { %a, %b = tile.get %ring : ...  %s1 = tile.matmul %a, %b into %s : ... }
    }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "tilewright::tile::TileDialect"];
}

def PipelineChains : Pass<"pipeline-chains", "mlir::func::FuncOp"> {
  let summary = "The second matmul of a chain goes to the next iteration";
  let description = [{
    Where an iteration multiplies what it computed from a matmul's accumulator, as attention does with its exponentials,
    the second matmul moves. It and the ops on its accumulator go behind the first matmul of the next iteration. It is
    under way while that iteration computes. This is done where a consumer thread has registers for both accumulators
    and for what is handed on.

    ```mlir
    %o = scf.for %j ... iter_args(%o0 = ...) {
      %s = tile.matmul %q, %k into %zeros : ...
      %p = tile.map %s ...
      %o1 = tile.matmul %p, %v into %o0 : ...
    ```
    becomes
    ```mlir
    %s0 = tile.matmul ...
    %p0 = tile.map %s0 ...
    %o, %p = scf.for %j ... iter_args(%o0 = ..., %p1 = %p0) {
      %s = tile.matmul %q, %k into %zeros : ...
      %o1 = tile.matmul %p1, %v into %o0 : ...
      %p2 = tile.map %s ...
    }
    %o2 = tile.matmul %p, %v into %o : ...
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "tilewright::tile::TileDialect"];
}

def SplitAccumulations : Pass<"split-accumulations", "mlir::func::FuncOp"> {
  let summary = "First iterations of matmuls begin an accumulator, and promoted accumulators are added up apart";
  let description = [{
    The first iteration of a loop whose accumulator begins at zero stands before the loop: nothing is added to in it. Where a
    matmul is `promoted`, so many iterations are a loop of their own, whose accumulator is added to the sum of all others.

    ```mlir
    %sum = scf.for %k = %c0 to %c64 step %c1 iter_args(%s = %zeros) ... { ... tile.matmul %a, %b into %s ... }
    ```
    becomes
    ```mlir
    %s0 = tile.matmul %a0, %b0 into %zeros : ...
    %sum = scf.for %k = %c1 to %c64 step %c1 iter_args(%s = %s0) ... { ... tile.matmul %a, %b into %s ... }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "tilewright::tile::TileDialect"];
}

def DeferStores : Pass<"defer-stores", "mlir::func::FuncOp"> {
  let summary = "Tiles are stored while a block's next one is computed";
  let description = [{
    The loop over tiles holds a `deferred` tile in registers, with its place. It is stored part by part behind the
    matmuls of the next tile. Several consumer warpgroups then begin their iterations one after the other.

    ```mlir
    scf.for %tile = ... { %sum = scf.for %k = ... ; tile.store %sum to %C[%i, %j] ... deferred : ... }
    ```
    becomes
    ```mlir
    %left:4 = scf.for %tile = ... iter_args(%held = %zeros, %is_there = %false, %i0 = %c0, %j0 = %c0) ... {
      %sum = scf.for %k = ... { ... scf.if ... { tile.store %held to %C[%i0, %j0] ... parts [1, 1] : ... } }
      scf.yield %sum, %true, %i, %j ...
    }
    scf.if %left#1 { tile.store %left#0 to %C[%left#2, %left#3] ... }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::scf::SCFDialect", "tilewright::tile::TileDialect"];
}

def PlaceTileBarriers : Pass<"place-tile-barriers", "mlir::func::FuncOp"> {
  let summary = "Gets, puts, matmuls and stores become asynchronous ops, with all that waits";
  let description = [{
    Each role has the slot and the phase of each ring that it uses, which loops carry. `tile.put` becomes an acquired
    slot that TMA fills, and `tile.get` a wait for one. Matmuls become groups of `tile.wgmma`. Where a loop only adds to
    an accumulator, one group is under way while the next is begun; elsewhere, groups are waited for. A slot is released
    as soon as the matmuls that read it are done. Stores go by way of shared memory; each but the first of a block waits
    until its buffer was read.

    ```mlir
    %a, %b = tile.get %ring : ...
    %s1 = tile.matmul %a, %b into %s : ...
    ```
    becomes
    ```mlir
    %a, %b = tile.wait %ring[%slot, %phase] : ...
    %s1 = tile.wgmma %a, %b into %s : ...
    tile.wgmma_commit
    tile.wgmma_wait 1
    %next, %phase1 = tile.advance %ring[%slot, %phase] : ...
    tile.release %ring[%before] : ...
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::gpu::GPUDialect",
                           "mlir::scf::SCFDialect", "tilewright::tile::TileDialect"];
}

def GuardMasks : Pass<"guard-masks", "mlir::func::FuncOp"> {
  let summary = "Masks are computed only for the tiles that they cut";
  let description = [{
    A mask is a choice by comparisons of an element's place. Where they hold for all elements of a tile, which the tile's place
    tells, the map is computed without them. Of two conditions, one of which has to hold, one such comparison is enough.
    A warpgroup decides this for its own rows. Equal masks of one fragment are computed once, also where they read memory
    that the kernel does not write.

    A second copy has to be fetched. A persistent kernel saves that time where a warpgroup computes 512 columns or more:
    its tiles, one after the other, times their columns. With less the map stays. Kernels with one tile of 256 columns
    lost time, as did two of 128. Two of 256 gained, and so did six of 128.

    ```mlir
    %masked = tile.map %s : ... {       // keys 64 j + column up to query row
      %sees = arith.cmpi sle, %key, %row : index
      %f = arith.select %sees, %e, %away : f32
    ```
    becomes
    ```mlir
    %whole = arith.cmpi sge, %margin, %c0 : index  // of -64 j - 63
    %masked = scf.if %whole -> (!tile.fragment<64x64xf32>) {
      scf.yield %s : !tile.fragment<64x64xf32>
    } else {
      %cut = tile.map %s : ... {
    ```
  }];
  let dependentDialects = ["mlir::affine::AffineDialect", "mlir::arith::ArithDialect", "mlir::scf::SCFDialect"];
}

def LoadWithinBounds : Pass<"load-within-bounds", "mlir::func::FuncOp"> {
  let summary = "Elements beyond a result are computed from its last row and column";
  let description = [{
    The last tiles of a result are cut: where an element lies beyond, nothing may be loaded for it. So each element of a
    map has a branch. Here the loads are those of the last place within the bounds, and the element is chosen away. Loads
    of one row are then equal to each other. This is done where nothing but the bounds decides. All places that are loaded
    have a bound, or do not follow from the element's place. A symbolic bound is an extent of what the kernel stores: where
    it is 0, the kernel has no tiles.

    ```mlir
    %y = scf.if %isInside -> (f32) {        // %row < 144
      %b = memref.load %bias[%row] : memref<144xf32>
      %s = arith.addf %x, %b : f32
      scf.yield %s : f32
    } else {
      scf.yield %zero : f32
    }
    ```
    becomes
    ```mlir
    %last = arith.minsi %row, %c143 : index
    %b = memref.load %bias[%last] : memref<144xf32>
    %s = arith.addf %x, %b : f32
    %y = arith.select %isInside, %s, %zero : f32
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect"];
}

def PackFragments : Pass<"pack-fragments", "mlir::func::FuncOp"> {
  let summary = "Maps to elements of 8 bits round them by tile.pack";
  let description = [{
    One instruction rounds two elements. A map would round each by itself, by integer arithmetic.

    ```mlir
    %p = tile.map %s : !tile.fragment<64x128xf32> interleaved -> <64x128xf8E4M3FN> {
    ^bb0(%x: f32, %row: index, %column: index):
      %e = math.exp2 %x : f32
      %y = arith.truncf %e : f32 to f8E4M3FN
      tile.yield %y : f8E4M3FN
    }
    ```
    becomes
    ```mlir
    %e = tile.map %s : !tile.fragment<64x128xf32> -> <64x128xf32> {
      ...
      tile.yield %e : f32
    }
    %p = tile.pack %e : !tile.fragment<64x128xf32> -> !tile.fragment<64x128xf8E4M3FN>
    ```
  }];
  let dependentDialects = ["tilewright::tile::TileDialect"];
}

def LaunchTileKernels : Pass<"launch-tile-kernels", "mlir::func::FuncOp"> {
  let summary = "Kernels of tiles become launches";
  let description = [{
    The grid is that of the kernel's blocks, in whole clusters, and a block has the threads of its warpgroups.

    ```mlir
    tile.kernel (%c2, %c1, %c1) cluster [1, 1, 1] warpgroups 2 registers [40, 232] ... { ... }
    ```
    becomes
    ```mlir
    gpu.launch blocks(...) in (%c2, %c1, %c1) threads(...) in (%c384, %c1, %c1) { ... gpu.terminator }
    ```
  }];
  let dependentDialects = ["mlir::arith::ArithDialect", "mlir::gpu::GPUDialect"];
}

#endif // TILEWRIGHT_LOOPS_TO_TILE_PASSES
