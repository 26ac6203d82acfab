#ifndef TILEWRIGHT_TILE_OPS
#define TILEWRIGHT_TILE_OPS

include "dialects/Tile/TileProgramOps.td"
include "dialects/Tile/TileMatrixOps.td"
include "dialects/Tile/TileRoleOps.td"

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_AllocOp : Tile_Op<"alloc", [Tile_TopOfKernel, Tile_SharedMemoryInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a buffer in the block's shared memory";
  let description = [{
    For the whole kernel. `plan-tile-memory` gives it its place, `at` bytes from the start.

    ```mlir
    %c = tile.alloc : !tile.buffer<128x256xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins OptionalAttr<I64Attr>:$offset);
  let results = (outs Res<Tile_BufferType, "", [MemAlloc]>:$buffer);
  let assemblyFormat = "(`at` $offset^)? attr-dict `:` type($buffer)";
  let extraClassDeclaration = [{ bool hasPlace() { return getOffset().has_value(); } }];
  let hasVerifier = 1;
}

def Tile_PartOp : Tile_Op<"part", [Pure]> {
  let summary = "a part of a buffer, counted in parts of its size";
  let description = [{
    The part in row `i` and column `j` of the parts that the buffer divides into. With a swizzle a part has whole panels,
    and rows in multiples of 8, so that the permutation of its rows is its own too. Parts that begin `every` so many rows may
    lie over each other.

    ```mlir
    %mine = tile.part %c[%warpgroup, %zero] : !tile.buffer<128x256xbf16, swizzle = 128>
        -> !tile.buffer<64x256xbf16, swizzle = 128, panel_rows = 128>
    %lower = tile.part %a[%row, %zero] every 8 : !tile.buffer<144x64xbf16, swizzle = 128>
        -> !tile.buffer<64x64xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Tile_BufferType:$source, Index:$row, Index:$column,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$every);
  let results = (outs Tile_BufferType:$part);
  let builders = [OpBuilder<(ins "::mlir::Type":$part, "::mlir::Value":$source, "::mlir::Value":$row, "::mlir::Value":$column),
                            [{ build($_builder, $_state, part, source, row, column, ::mlir::IntegerAttr()); }]>];
  let assemblyFormat = "$source `[` $row `,` $column `]` (`every` $every^)? attr-dict `:` type($source) `->` type($part)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

def Tile_RingOp : Tile_Op<"ring", [Tile_TopOfKernel, Tile_SharedMemoryInterface,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "a ring of buffers in shared memory, with its barriers";
  let description = [{
    `consumers` is how many times this block releases a slot for each time that it is filled: once by each warpgroup
    that uses it. It stands at the top of the kernel. `plan-tile-memory` gives the slots and the barriers their places.

    ```mlir
    %ring = tile.ring consumers 2 : !tile.ring<3, !tile.buffer<128x64xbf16, swizzle = 128>>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntPositive]>:$consumers, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$barriers);
  let results = (outs Res<Tile_RingType, "", [MemAlloc]>:$ring);
  let assemblyFormat = "`consumers` $consumers (`at` $offset^)? (`barriers` `at` $barriers^)? attr-dict `:` type($ring)";
  let extraClassDeclaration = [{ bool hasPlace() { return getOffset() && getBarriers(); } }];
  let hasVerifier = 1;
}

class Tile_RingUse<string mnemonic, list<Trait> traits = []> : Tile_Op<mnemonic, traits> { let hasVerifier = 1; }

class Tile_SlotOp<string mnemonic, list<Trait> traits = []>
    : Tile_RingUse<mnemonic, traits # [DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let arguments = (ins Tile_RingType:$ring, I32:$slot, I32:$phase);
  let results = (outs Variadic<Tile_BufferType>:$buffers);
  let assemblyFormat = "$ring `[` $slot `,` $phase `]` attr-dict `:` type($ring)";
}

def Tile_AcquireOp : Tile_SlotOp<"acquire", [Tile_SingleThread, Tile_Effects]> {
  let summary = "waits until a slot is free, and gives its buffers to be filled";
  let description = [{
    One thread does, in `tile.elect`. In the ring's first turn every slot is free.

    ```mlir
    %a, %b = tile.acquire %ring[%slot, %phase] : !tile.ring<3, !tile.buffer<...>, !tile.buffer<...>>
    ```
  }];
}

def Tile_WaitOp : Tile_SlotOp<"wait", [Tile_Effects]> {
  let summary = "waits until a slot is filled, and gives its buffers to be read";
  let description = [{
    ```mlir
    %a, %b = tile.wait %ring[%slot, %phase] : !tile.ring<3, !tile.buffer<...>, !tile.buffer<...>>
    ```
  }];
}

def Tile_CommitOp : Tile_RingUse<"commit", [Tile_SingleThread, Tile_Effects]> {
  let summary = "says that all copies to the slot have been issued";
  let description = [{
    The slot is full when their bytes are there, which are those of all its buffers. By the thread that acquired it.

    ```mlir
    tile.commit %ring[%slot] : !tile.ring<...>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, I32:$slot);
  let assemblyFormat = "$ring `[` $slot `]` attr-dict `:` type($ring)";
}

def Tile_ReleaseOp : Tile_RingUse<"release", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "a warpgroup no longer reads a slot";
  let description = [{
    By all threads of a warpgroup, when what reads the slot is done (`tile.wgmma_wait`). Where other blocks of the cluster
    copy to the ring, they are told too.

    ```mlir
    tile.release %ring[%slot] : !tile.ring<...>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, I32:$slot);
  let assemblyFormat = "$ring `[` $slot `]` attr-dict `:` type($ring)";
}

def Tile_AdvanceOp : Tile_Op<"advance", [Pure]> {
  let summary = "the slot after a slot, and its phase";
  let description = [{
    The phase changes with every turn of the ring. With `by` it is the slot so many slots later: those between are others'.

    ```mlir
    %next, %phase1 = tile.advance %ring[%slot, %phase] : !tile.ring<...>
    %mine, %phase2 = tile.advance %ring[%slot, %phase] by 64 : !tile.ring<...>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, I32:$slot, I32:$phase,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$by);
  let results = (outs I32:$nextSlot, I32:$nextPhase);
  let assemblyFormat = "$ring `[` $slot `,` $phase `]` (`by` $by^)? attr-dict `:` type($ring)";
}

def Tile_InitOp : Tile_RingUse<"init", [Tile_Effects]> {
  let summary = "starts a ring's barriers";
  let description = [{
    By one thread, before any other uses the ring. `expand-tile-roles` makes these, with what makes them visible to the
    block or the cluster.

    ```mlir
    tile.init %ring : !tile.ring<...>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring);
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

//===----------------------------------------------------------------------===//
// TMA copies
//===----------------------------------------------------------------------===//

def Tile_TMALoadOp : Tile_RingUse<"tma_load", [Tile_SingleThread, Tile_Effects]> {
  let summary = "loads a tile by TMA, from global memory into a slot's buffer";
  let description = [{
    The coordinates are those of the tile's first element in the tensor, outermost dimension first. What lies outside of
    the tensor is filled with zeros. One instruction copies one box of the map. As many instructions as needed are
    issued, side by side along the last two dimensions. All of a box's dimensions but the last are rows. By one thread,
    in `tile.elect`, between `tile.acquire` and `tile.commit`.

    `multicast x` copies to the same place of all blocks in the cluster's row of blocks along x, and their slots count the
    bytes too. Each of these blocks is to copy its part of the buffer.

    The coordinate of a `gathered` dimension is one that the program read: it is to be in the tensor.

    ```mlir
    %part = tile.part %b[%rank, %zero] : !tile.buffer<256x64xbf16, swizzle = 128> -> !tile.buffer<128x64xbf16, swizzle = 128>
    tile.tma_load %map[%n, %k] to %part signal %ring[%slot] multicast x
        : !tile.tensor_map<128x64xbf16, swizzle = 128>, !tile.buffer<128x64xbf16, swizzle = 128>, !tile.ring<...>
    ```
  }];
  let arguments = (ins Tile_TensorMapType:$map, Variadic<Index>:$coordinates, Tile_BufferType:$buffer, Tile_RingType:$ring,
                       I32:$slot, OptionalAttr<Tile_ClusterAxis>:$multicast,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$gathered);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $buffer `signal` $ring `[` $slot `]` (`multicast` $multicast^)?
    (`gathered` $gathered^)? attr-dict
    `:` type($map) `,` type($buffer) `,` type($ring)
  }];
}

def Tile_TMAStoreOp : Tile_Op<"tma_store", [Tile_SingleThread, Tile_Effects]> {
  let summary = "stores a buffer to global memory by TMA";
  let description = [{
    What lies outside of the tensor is left out. The copy is one of the group that the next `tile.commit_stores` of this
    thread ends. What threads wrote to the buffer must have been made visible with `tile.fence_async` before a barrier.
    With `reduce_add`, elements of f32 or i32 are added to the tensor's, each atomically.

    ```mlir
    tile.tma_store %mine to %map[%m, %n] : !tile.buffer<64x256xbf16, swizzle = 128, panel_rows = 128>,
        !tile.tensor_map<64x64xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer, Tile_TensorMapType:$map, Variadic<Index>:$coordinates,
                       UnitAttr:$reduceAdd);
  let assemblyFormat = [{
    $buffer `to` $map `[` $coordinates `]` (`reduce_add` $reduceAdd^)? attr-dict `:` type($buffer) `,` type($map)
  }];
  let hasVerifier = 1;
}

def Tile_CommitStoresOp : Tile_Op<"commit_stores", [Tile_SingleThread, Tile_Effects]> {
  let summary = "ends a group of this thread's `tile.tma_store`s";
  let assemblyFormat = "attr-dict";
}

def Tile_WaitStoresOp : Tile_Op<"wait_stores", [Tile_Effects]> {
  let summary = "waits until no more than so many groups of stores are under way";
  let description = [{
    With `read`, until their buffers have been read and may be written to again; without, until they are done. A thread
    waits for its own groups; one that has none goes on.

    ```mlir
    tile.wait_stores 0 read
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$pending, UnitAttr:$read);
  let assemblyFormat = "$pending (`read` $read^)? attr-dict";
}

def Tile_EncodeOp : Tile_Op<"encode", [Pure, DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "on the host: the tensor map of a row-major tensor in global memory";
  let description = [{
    The tensor's strides but the last must be multiples of 16 bytes.

    The map may have dimensions of its own. `as` has their extents, in another order or with elements that belong to
    several places. `strides` are in elements of the tensor. A box then takes every element along a dimension, or one in
    `steps`.

    ```mlir
    %map = tile.encode %A : memref<?x4096xbf16> -> !tile.tensor_map<128x64xbf16, swizzle = 128>
    %map1 = tile.encode %X as [32, 56, 56, 64] strides [200704, 3584, 64, 1] steps [1, 2, 2, 1]
        : memref<32x56x56x64xbf16> -> !tile.tensor_map<1x8x8x64xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins AnyMemRef:$tensor, OptionalAttr<DenseI64ArrayAttr>:$extents, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$steps);
  let results = (outs Tile_TensorMapType:$map);
  let builders = [OpBuilder<(ins "::mlir::Type":$map, "::mlir::Value":$tensor),
                            [{ build($_builder, $_state, map, tensor, nullptr, nullptr, nullptr); }]>];
  let assemblyFormat = [{
    $tensor (`as` $extents^ `strides` $strides `steps` $steps)? attr-dict `:` type($tensor) `->` type($map)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
  private:
    /// Of a map with dimensions of its own.
    ::llvm::LogicalResult verifyDimensions(::mlir::MemRefType tensor, ::mlir::Type stored, int64_t bytes);

  public:
  }];
}

#endif // TILEWRIGHT_TILE_OPS
