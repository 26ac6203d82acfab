#ifndef TILEWRIGHT_TILE_INTERFACES
#define TILEWRIGHT_TILE_INTERFACES

include "mlir/IR/OpBase.td"

def Tile_SharedMemoryInterface : OpInterface<"SharedMemoryOpInterface"> {
  let description = "Has buffers in the block's shared memory. `plan-tile-memory` gives them their place.";
  let cppNamespace = "::tilewright::tile";
  let methods = [InterfaceMethod<"Whether it has its place.", "bool", "hasPlace">];
}

def Tile_RingUserInterface : OpInterface<"RingUserOpInterface"> {
  let description = "Goes on in a ring of tiles whose slots and barriers are still to be placed.";
  let cppNamespace = "::tilewright::tile";
  let methods = [
    InterfaceMethod<"The ring.", "::mlir::Value", "getUsedRing", (ins), [{ return $_op.getRing(); }]>,
    InterfaceMethod<"Whether it fills slots, which others read.", "bool", "fillsSlots">,
  ];
}

def Tile_TurnInterface : OpInterface<"TurnOpInterface"> {
  let description = "Takes a turn of a role's sets of warpgroups, or passes it on.";
  let cppNamespace = "::tilewright::tile";
  let methods = [
    InterfaceMethod<"How many sets take turns.", "int64_t", "countSets", (ins), [{ return $_op.getSets(); }]>,
    InterfaceMethod<"How many warpgroups a set has.", "int64_t", "countWarpgroups", (ins), [{ return $_op.getWarpgroups(); }]>,
    InterfaceMethod<"Whether it takes the turn: otherwise it passes it.", "bool", "takesTurn">,
  ];
}

#endif // TILEWRIGHT_TILE_INTERFACES
