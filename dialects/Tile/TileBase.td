#ifndef TILEWRIGHT_TILE_BASE
#define TILEWRIGHT_TILE_BASE

include "dialects/Tile/TileTypes.td"
include "dialects/Tile/TileInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Trait<string name> : NativeOpTrait<name> { let cppNamespace = "::tilewright::tile"; }
/// `place-tile-barriers` replaces the op: a launch has none.
def Tile_BeforeBarriers : Tile_Trait<"BeforeBarriers">;
/// All that run a kernel's role come to the op: no condition stands around it.
def Tile_Unconditional : Tile_Trait<"Unconditional">;
/// Goes by way of shared memory, for which no matmul may be under way.
def Tile_AfterMatmuls : Tile_Trait<"AfterMatmuls">;

/// Who does an op together. Of ops with neither trait each thread that gets to one does it by itself.
def Tile_WarpgroupCollective : Tile_Trait<"WarpgroupCollective">;
def Tile_SingleThread : Tile_Trait<"SingleThread">;
/// Stands at the top of a kernel.
def Tile_TopOfKernel : Tile_Trait<"TopOfKernel">;

/// Reads and writes buffers, barriers or registers that are under way: its place among such ops is part of the program.
defvar Tile_Effects = MemoryEffects<[MemRead, MemWrite]>;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

#endif // TILEWRIGHT_TILE_BASE
