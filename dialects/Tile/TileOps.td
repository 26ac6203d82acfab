#ifndef TILEWRIGHT_TILE_OPS
#define TILEWRIGHT_TILE_OPS

include "dialects/Tile/TileProgramOps.td"
include "dialects/Tile/TileTypes.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Who does an op together. Of ops with neither trait each thread that gets to one does it by itself.
def Tile_WarpgroupCollective : Tile_Trait<"WarpgroupCollective">;
def Tile_SingleThread : Tile_Trait<"SingleThread">;

/// Reads and writes buffers, barriers or registers that are under way: its place among such ops is part of the program.
defvar Tile_Effects = MemoryEffects<[MemRead, MemWrite]>;

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

def Tile_AllocOp : Tile_Op<"alloc", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
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

def Tile_RingOp : Tile_Op<"ring", [DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
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
// Bulk copies
//===----------------------------------------------------------------------===//

def Tile_TMALoadOp : Tile_RingUse<"tma_load", [Tile_SingleThread, Tile_Effects]> {
  let summary = "copies a tile from global memory to a slot's buffer, in bulk";
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
  let summary = "copies a buffer to global memory, in bulk";
  let description = [{
    What lies outside of the tensor is left out. The copy is one of the group that the next `tile.commit_stores` of this
    thread ends. What threads wrote to the buffer must have been made visible with `tile.fence_async` before a barrier.

    ```mlir
    tile.tma_store %mine to %map[%m, %n] : !tile.buffer<64x256xbf16, swizzle = 128, panel_rows = 128>,
        !tile.tensor_map<64x64xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer, Tile_TensorMapType:$map, Variadic<Index>:$coordinates);
  let assemblyFormat = "$buffer `to` $map `[` $coordinates `]` attr-dict `:` type($buffer) `,` type($map)";
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

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

def Tile_WgmmaOp : Tile_Op<"wgmma", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "a warpgroup begins to multiply two tiles, and adds the matrix product to an accumulator";
  let description = [{
    By all threads of a warpgroup. `a` has 64 rows, and `b` has as many rows as the accumulator has columns. The sum is
    over the columns of both (K-major, as in C = A Bᵀ). An operand marked `mn_major` has the dimension that is summed
    over as its rows. Without `into`, the accumulator begins at zero. There is one instruction for each 32 bytes of the
    dimension that is summed over. With `columns`, only so many columns of the accumulator are computed, from as many of
    b's; the others stay as they are. `a` may be a fragment of 16-bit elements, in registers.

    ```mlir
    %acc = tile.wgmma %a, %b : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<256x64xbf16, swizzle = 128>
        -> !tile.accumulator<64x256xf32>
    %acc1 = tile.wgmma %a1, %b1 mn_major into %acc : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x256xbf16, swizzle = 128>
        -> !tile.accumulator<64x256xf32>
    %acc2 = tile.wgmma %a2, %b2 into %acc1 columns 240 : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<256x64xbf16, swizzle = 128>
        -> !tile.accumulator<64x256xf32>
    %acc3 = tile.wgmma %weights, %values mn_major into %acc : !tile.fragment<64x128xbf16>, !tile.buffer<128x64xbf16, swizzle = 128>
        -> !tile.accumulator<64x64xf32>
    ```
  }];
  let arguments = (ins Tile_OperandType:$a, Tile_BufferType:$b, Optional<Tile_AccumulatorType>:$accumulator,
                       UnitAttr:$mnMajorA, UnitAttr:$mnMajorB, OptionalAttr<I64Attr>:$columns);
  let results = (outs Tile_AccumulatorType:$result);
  let extraClassDeclaration = [{
    /// Of the accumulator, those that are computed.
    int64_t countColumns() { return getColumns().value_or(getResult().getType().getColumns()); }
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tile_ZeroOp : Tile_Op<"zero", [Pure]> {
  let summary = "an accumulator of zeros";
  let description = [{
    What a loop that adds up products begins with. To products that are written out one behind the other the first, without
    `into`, is as good, and costs nothing.

    ```mlir
    %none = tile.zero : !tile.accumulator<64x256xf32>
    ```
  }];
  let results = (outs Tile_AccumulatorType:$accumulator);
  let assemblyFormat = "attr-dict `:` type($accumulator)";
}

def Tile_ToAccumulatorOp : Tile_Op<"to_accumulator", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "an accumulator that begins with the elements of a fragment";
  let description = [{
    Of a sum that was computed with between two matmuls, as where it is rescaled.

    ```mlir
    %acc = tile.to_accumulator %rescaled : !tile.fragment<64x128xf32> -> !tile.accumulator<64x128xf32>
    ```
  }];
  let arguments = (ins Tile_FragmentType:$fragment);
  let results = (outs Tile_AccumulatorType:$accumulator);
  let assemblyFormat = "$fragment attr-dict `:` type($fragment) `->` type($accumulator)";
  let hasVerifier = 1;
}

def Tile_WgmmaCommitOp : Tile_Op<"wgmma_commit", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "ends a group of this warpgroup's `tile.wgmma`s";
  let assemblyFormat = "attr-dict";
}

def Tile_WgmmaWaitOp : Tile_Op<"wgmma_wait", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "waits until no more than so many groups of products are under way";
  let description = [{
    With an accumulator, gives what it holds. None of the groups that may still be under way may add to it.

    ```mlir
    tile.wgmma_wait 1
    %first = tile.wgmma_wait 1 for %acc0 : !tile.accumulator<64x256xf32> -> !tile.fragment<64x256xf32>
    %sum = tile.wgmma_wait 0 for %acc : !tile.accumulator<64x256xf32> -> !tile.fragment<64x256xf32>
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative, IntMaxValue<7>]>:$pending,
                       Optional<Tile_AccumulatorType>:$accumulator);
  let results = (outs Optional<Tile_FragmentType>:$fragment);
  let assemblyFormat = "$pending (`for` $accumulator^ `:` type($accumulator) `->` type($fragment))? attr-dict";
  let hasVerifier = 1;
}

def Tile_StoreFragmentOp : Tile_Op<"store_fragment", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "writes a fragment to a buffer in shared memory";
  let description = [{
    By all threads of a warpgroup. Where the buffer's elements are of 16 bits, f32 is rounded to them, and the hardware's
    store of matrices writes them. A buffer of fewer columns takes those of the fragment `from` one on. If `transposed`, the
    fragment's columns are the buffer's rows.

    ```mlir
    tile.store_fragment %sum to %c : !tile.fragment<64x256xf32>, !tile.buffer<64x256xbf16, swizzle = 128>
    tile.store_fragment %sum from 128 to %half : !tile.fragment<64x256xf32>, !tile.buffer<64x128xf32, swizzle = 128>
    tile.store_fragment %sum from 32 transposed to %rows : !tile.fragment<64x256xf32>, !tile.buffer<16x64xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Tile_FragmentType:$fragment, DefaultValuedAttr<I64Attr, "0">:$from, UnitAttr:$transposed,
                   Tile_BufferType:$buffer);
  let assemblyFormat = [{
    $fragment (`from` $from^)? (`transposed` $transposed^)? `to` $buffer attr-dict `:` type($fragment) `,` type($buffer)
  }];
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [SingleBlock, Tile_WarpgroupCollective, RecursiveMemoryEffects]> {
  let summary = "computes each element of a fragment from those of others";
  let description = [{
    The region's arguments are the elements, and their row and column in the tile. Whatever the kernel can do, the region
    can: add a bias by the column, read a residual, apply a function, add up partial sums. Of no fragments it makes one of
    what the place alone says. Of a fragment of one column each element of the row has the row's.

    ```mlir
    %biased = tile.map %sum : !tile.fragment<64x256xf32> -> !tile.fragment<64x256xf32> {
    ^bb0(%x: f32, %row: index, %column: index):
      %n = arith.addi %n0, %column : index
      %b = memref.load %bias[%n] : memref<4096xf32>
      %y = arith.addf %x, %b : f32
      tile.yield %y : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_FragmentType>:$fragments);
  let results = (outs Tile_FragmentType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "($fragments^ `:` type($fragments))? attr-dict `->` type($result) $body";
  let hasRegionVerifier = 1;
}

def Tile_Reduction : I32EnumAttr<"Reduction", "how elements are combined", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">, I32EnumAttrCase<"Min", 2, "min">]> {
  let cppNamespace = "::tilewright::tile";
}

def Tile_RowReduceOp : Tile_Op<"row_reduce", [Pure, Tile_WarpgroupCollective, AllTypesMatch<["init", "result"]>,
    AllMatchSameOperatorTrait<["fragment", "result"],
        "::llvm::cast<::tilewright::tile::FragmentType>($_self.getType()).getElementType()", "element type">]> {
  let summary = "reduces each row of a fragment to one element";
  let description = [{
    `into` has what the elements of a row are combined with, one element a row.

    ```mlir
    %most1 = tile.row_reduce max %scores into %most : !tile.fragment<64x128xf32> -> !tile.fragment<64x1xf32>
    ```
  }];
  let arguments = (ins Tile_Reduction:$kind, Tile_FragmentType:$fragment, Tile_ColumnType:$init);
  let results = (outs Tile_ColumnType:$result);
  let assemblyFormat = "$kind $fragment `into` $init attr-dict `:` type($fragment) `->` type($result)";
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, HasParent<"MapOp">]> {
  let summary = "the element that `tile.map` makes";
  let arguments = (ins AnyType:$element);
  let assemblyFormat = "$element attr-dict `:` type($element)";
}

def Tile_ExtractOp : Tile_Op<"extract", [Pure]> {
  let summary = "one of the elements of a fragment that this thread holds";
  let description = [{
    Of each 8 columns a thread holds four, in this order: two of the upper row, then two of the lower. `expand-tile-maps` makes these.

    ```mlir
    %x = tile.extract %sum[5] : !tile.fragment<64x256xf32> -> f32
    ```
  }];
  let arguments = (ins Tile_FragmentType:$fragment, ConfinedAttr<I64Attr, [IntNonNegative]>:$number);
  let results = (outs AnyType:$element);
  let assemblyFormat = "$fragment `[` $number `]` attr-dict `:` type($fragment) `->` type($element)";
  let hasVerifier = 1;
}

def Tile_AssembleOp : Tile_Op<"assemble", [Pure]> {
  let summary = "a fragment of the elements that this thread is to hold";
  let description = [{
    In the order of `tile.extract`.

    ```mlir
    %f = tile.assemble %x0, %x1, %x2, %x3 : f32 -> !tile.fragment<64x8xf32>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$elements);
  let results = (outs Tile_FragmentType:$fragment);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Parts of sums
//===----------------------------------------------------------------------===//

def Tile_SaveFragmentOp : Tile_Op<"save_fragment", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "writes a fragment to a row of a buffer in global memory, for `tile.restore_fragment`";
  let description = [{
    By all threads of a warpgroup, each 16 bytes at a time, neighbours beside each other. Where an element lies is known to
    `expand-tile-maps` alone.

    ```mlir
    tile.save_fragment %sum to %parts[%row] : !tile.fragment<64x256xf32>, memref<264x16384xf32>
    ```
  }];
  let arguments = (ins Tile_FragmentType:$fragment, MemRefRankOf<[AnyType], [2]>:$buffer, Index:$row);
  let assemblyFormat = "$fragment `to` $buffer `[` $row `]` attr-dict `:` type($fragment) `,` type($buffer)";
  let hasVerifier = 1;
}

def Tile_RestoreFragmentOp : Tile_Op<"restore_fragment", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "a fragment that a warpgroup has saved";
  let description = [{
    By all threads of a warpgroup, of this or of another block that has arrived since.

    ```mlir
    %part = tile.restore_fragment %parts[%row] : memref<264x16384xf32> -> !tile.fragment<64x256xf32>
    ```
  }];
  let arguments = (ins MemRefRankOf<[AnyType], [2]>:$buffer, Index:$row);
  let results = (outs Tile_FragmentType:$fragment);
  let assemblyFormat = "$buffer `[` $row `]` attr-dict `:` type($buffer) `->` type($fragment)";
  let hasVerifier = 1;
}

def Tile_ArriveOp : Tile_Op<"arrive", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "a warpgroup says that its part is done, and learns whether it is the last of so many";
  let description = [{
    By all threads of a warpgroup, of any block of the grid. The last to arrive may read what the others wrote to global
    memory. Nobody waits. Before the first arrives, an element of `counters` may hold anything but for one 64-bit value
    that nothing else has. After the last, its value does not matter.

    With `if_last` a warpgroup that is not the last has not arrived: it has its part still.

    ```mlir
    %last = tile.arrive %counters[%i] of %parts : memref<66xi64>
    ```
  }];
  let arguments = (ins MemRefRankOf<[I64], [1]>:$counters, Index:$index, Index:$parts,
                       UnitAttr:$ifLast);
  let results = (outs I1:$last);
  let assemblyFormat = "$counters `[` $index `]` `of` $parts (`if_last` $ifLast^)? attr-dict `:` type($counters)";
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

def Tile_FenceAsyncOp : Tile_Op<"fence_async", [Tile_Effects]> {
  let summary = "what this thread wrote to shared memory is there for bulk copies and tensor cores";
  let description = [{
    These see memory by a way of their own. A barrier comes after it.
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_SyncWarpgroupOp : Tile_Op<"sync_warpgroup", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "a barrier for the 128 threads of a warpgroup";
  let assemblyFormat = "attr-dict";
}

class Tile_TurnOp<string mnemonic> : Tile_Op<mnemonic, [Tile_WarpgroupCollective, Tile_Effects]> {
  let arguments = (ins Index:$set, ConfinedAttr<I64Attr, [IntMinValue<2>, IntMaxValue<7>]>:$sets,
                       ConfinedAttr<I64Attr, [IntPositive]>:$warpgroups);
  let assemblyFormat = "$set `of` $sets `warpgroups` $warpgroups attr-dict";
}

def Tile_TakeTurnOp : Tile_TurnOp<"take_turn"> {
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

def Tile_PassTurnOp : Tile_TurnOp<"pass_turn"> {
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

def Tile_RolesOp : Tile_Op<"roles", [NoTerminator, SingleBlock, NoRegionArguments, RecursiveMemoryEffects]> {
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

#endif // TILEWRIGHT_TILE_OPS
