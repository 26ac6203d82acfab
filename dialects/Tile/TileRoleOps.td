#ifndef TILEWRIGHT_TILE_ROLE_OPS
#define TILEWRIGHT_TILE_ROLE_OPS

include "dialects/Tile/TileBase.td"

// What threads do together, and which of them go different ways.

def Tile_FenceAsyncOp : Tile_Op<"fence_async", [Tile_Effects]> {
  let summary = "what this thread wrote to shared memory is there for TMA copies and tensor cores";
  let description = [{
    These see memory by a way of their own. A barrier comes after it.
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_SyncWarpgroupOp : Tile_Op<"sync_warpgroup", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "a barrier for the 128 threads of a warpgroup, or for those of several";
  let description = [{
    With `of`, for the threads of so many warpgroups, all that the role has.

    ```mlir
    tile.sync_warpgroup of 2
    ```
  }];
  let arguments = (ins OptionalAttr<ConfinedAttr<I64Attr, [IntMinValue<2>, IntMaxValue<8>]>>:$warpgroups);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::IntegerAttr()); }]>];
  let assemblyFormat = "(`of` $warpgroups^)? attr-dict";
}

class Tile_TurnOp<string mnemonic, bit takes>
    : Tile_Op<mnemonic, [Tile_WarpgroupCollective, Tile_TurnInterface, Tile_Effects]> {
  let arguments = (ins Index:$set, ConfinedAttr<I64Attr, [IntMinValue<2>, IntMaxValue<7>]>:$sets,
                       ConfinedAttr<I64Attr, [IntPositive]>:$warpgroups);
  let assemblyFormat = "$set `of` $sets `warpgroups` $warpgroups attr-dict";
  let extraClassDeclaration = "bool takesTurn() { return "#!if(takes, "true", "false")#"; }";
}

def Tile_TakeTurnOp : Tile_TurnOp<"take_turn", 1> {
  let summary = "waits until the set of warpgroups before this one has passed the turn";
  let description = [{
    By all threads of the set, which has so many `warpgroups`; the sets are the role's. The first to have a turn waits for
    nobody: it leaves this out, or the last passes one before its first. A barrier, so what was done before the turn was
    passed is seen.

    ```mlir
    tile.take_turn %set of 2 warpgroups 1
    ```
  }];
}

def Tile_PassTurnOp : Tile_TurnOp<"pass_turn", 0> {
  let summary = "lets the next set of warpgroups have its turn, and goes on";
  let description = [{
    By all threads of the set. Whoever passes it has a next one that takes it: the last leaves this out, or the first takes
    one more at its end.

    ```mlir
    tile.pass_turn %set of 2 warpgroups 1
    ```
  }];
}

def Tile_ElectScope : I32EnumAttr<"ElectScope", "of what one thread is elected", [
    I32EnumAttrCase<"Role", 0, "role">, I32EnumAttrCase<"Warpgroup", 1, "warpgroup">]> {
  let cppNamespace = "::tilewright::tile";
}

def Tile_ElectOp : Tile_Op<"elect", [NoTerminator, SingleBlock, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "one thread alone, of the role (or, outside of one, of the block) or of each warpgroup";
  let description = [{
    Always the same thread. It is one of the first warp, all of whose threads must get here.

    ```mlir
    tile.elect role {
      tile.commit %ring[%slot] : !tile.ring<...>
    }
    ```
  }];
  let arguments = (ins Tile_ElectScope:$scope);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$scope $body attr-dict";
}

def Tile_RolesOp : Tile_Op<"roles", [Tile_TopOfKernel, NoTerminator, SingleBlock, NoRegionArguments, RecursiveMemoryEffects]> {
  let summary = "the warps of the block go different ways";
  let description = [{
    The roles take the block's warps one after the other, from warp 0 on, all of them. At the top of the kernel.
  }];
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$body attr-dict";
  let hasRegionVerifier = 1;
}

def Tile_RoleOp : Tile_Op<"role", [NoTerminator, SingleBlock, HasParent<"RolesOp">, RecursiveMemoryEffects]> {
  let summary = "what some of the block's warps do";
  let description = [{
    The region's argument is the number of the warpgroup within the role. With `registers` each thread may have so many
    from here on; the hardware moves them between warpgroups, so all roles have whole warpgroups then.

    With `turns`, the role's warpgroups are so many sets, and the first warpgroups are the first set. Each set computes
    whole tiles in turn (`tile.take_turn`): one set uses a slot of a ring. Without it, turns are within what all of them
    do.

    ```mlir
    tile.role "consumer" warps 8 registers 232 {
    ^bb0(%warpgroup: index):
      ...
    }
    tile.role "consumer" warps 8 registers 232 turns 2 {
      ...
    }
    ```
  }];
  let arguments = (ins StrAttr:$name, ConfinedAttr<I64Attr, [IntPositive]>:$warps, OptionalAttr<I64Attr>:$registers,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntMinValue<2>, IntMaxValue<7>]>>:$turns);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `warps` $warps (`registers` $registers^)? (`turns` $turns^)? $body attr-dict";
  let hasRegionVerifier = 1;
}

#endif // TILEWRIGHT_TILE_ROLE_OPS
