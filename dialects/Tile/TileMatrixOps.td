#ifndef TILEWRIGHT_TILE_MATRIX_OPS
#define TILEWRIGHT_TILE_MATRIX_OPS

include "dialects/Tile/TileBase.td"

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

def Tile_WgmmaOp : Tile_Op<"wgmma", [Tile_WarpgroupCollective, Tile_Effects]> {
  let summary = "a warpgroup starts to multiply two tiles and to add the result to an accumulator";
  let description = [{
    By all threads of a warpgroup. `a` has 64 rows, and `b` has as many rows as the accumulator has columns. The sum is
    over the columns of both (K-major, as in C = A Bᵀ). An operand marked `mn_major` has the dimension that is summed
    over as its rows. Without `into`, the accumulator begins at zero. There is one instruction for each 32 bytes of the
    dimension that is summed over. With `columns`, only so many columns of the accumulator are computed, from as many of
    b's; the others stay as they are. `a` may be a fragment of 16-bit elements, of f8E4M3FN or of f32, in
    registers. Where `a` is `mn_major` and of tf32, each thread first loads its part of it to registers.

    On a GPU without wgmma, operands of 16 bits are multiplied by the warps, each of which has 16 rows (`mma.sync`). What
    a lane holds of tiles in registers is the same. Such a matmul is done when the next op begins. On any GPU, f32 is
    multiplied so: each element is split in two of tf32, and a product is three of theirs. Other instructions add up the
    sums of 32 products each, as the tensor cores cut what they add.

    ```mlir
    %acc = tile.wgmma %a, %b : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<256x64xbf16, swizzle = 128>
        -> !tile.accumulator<64x256xf32>
    %acc1 = tile.wgmma %a1, %b1 mn_major into %acc : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x256xbf16, swizzle = 128>
        -> !tile.accumulator<64x256xf32>
    %acc2 = tile.wgmma %a2, %b2 into %acc1 columns 240 : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<256x64xbf16, swizzle = 128>
        -> !tile.accumulator<64x256xf32>
    %acc3 = tile.wgmma %weights, %values mn_major into %acc : !tile.fragment<64x128xbf16>, !tile.buffer<128x64xbf16, swizzle = 128>
        -> !tile.accumulator<64x64xf32>
    %acc4 = tile.wgmma %queries, %keys : !tile.buffer<64x32xf32, swizzle = 128>, !tile.buffer<64x32xf32, swizzle = 128>
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
    What a loop that adds up matmuls begins with. To matmuls that are unrolled one behind the other the first, without
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
  let summary = "waits until at most so many groups of wgmma are in flight";
  let description = [{
    With an accumulator, gives what it holds. None of the groups that may still be in flight may add to it.

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
    store of matrices writes them. Of i8, the buffer has any elements of 8 bits. A buffer of fewer columns takes those of the
    fragment `from` one on. If `transposed`, the fragment's columns are the buffer's rows, of 16 or 32 bits.

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

def Tile_StoreRowsOp : Tile_Op<"store_rows", [Tile_WarpgroupCollective, MemoryEffects<[MemRead]>]> {
  let summary = "the threads of a warpgroup store the rows of a buffer to a tensor in global memory";
  let description = [{
    A warp stores a row at a time, and neighbouring threads neighbouring elements. Rows of the tensor may begin at any
    element, where TMA needs multiples of 16 bytes. The box is that of `tile.store`, and what lies outside of the tensor is
    left out. A barrier must stand between this op and what writes to the buffer.

    ```mlir
    tile.store_rows %c to %C[%i, %j] box [64, 128] : !tile.buffer<64x128xbf16, swizzle = 128>, memref<1024x50257xbf16>
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer, Arg<AnyMemRef, "", [MemWrite]>:$tensor, Variadic<Index>:$coordinates,
                       DenseI64ArrayAttr:$box, OptionalAttr<DenseI64ArrayAttr>:$extents,
                       OptionalAttr<DenseI64ArrayAttr>:$strides);
  let assemblyFormat = [{
    $buffer `to` $tensor `[` $coordinates `]` `box` $box (`as` $extents^ `strides` $strides)? attr-dict
    `:` type($buffer) `,` type($tensor)
  }];
  let hasVerifier = 1;
}

def Tile_ReadElementOp : Tile_Op<"read_element", [MemoryEffects<[MemRead]>]> {
  let summary = "one element of a buffer";
  let description = [{
    `expand-tile-maps` makes these.

    ```mlir
    %x = tile.read_element %c[%row, %column] : !tile.buffer<64x128xbf16, swizzle = 128> -> bf16
    ```
  }];
  let arguments = (ins Tile_BufferType:$buffer, Index:$row, Index:$column);
  let results = (outs AnyType:$element);
  let assemblyFormat = "$buffer `[` $row `,` $column `]` attr-dict `:` type($buffer) `->` type($element)";
  let hasVerifier = 1;
}

def Tile_MapOp : Tile_Op<"map", [SingleBlock, Tile_WarpgroupCollective, RecursiveMemoryEffects]> {
  let summary = "computes each element of a fragment from those of others";
  let description = [{
    The region's arguments are the elements, and their row and column in the tile. Whatever the kernel can do, the region
    can: add a bias by the column, read a residual, apply a function, add up partial sums. Of no fragments it makes one of
    what the place alone says. Of a fragment of one column each element of the row has the row's.

    A result of f8E4M3FN is `interleaved`. The element in column 16 q + 4 t + 2 m + e is computed of those in column
    16 q + 8 m + 2 t + e. The same thread holds both. The column that the region gets is the latter.

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
  let arguments = (ins Variadic<Tile_FragmentType>:$fragments, UnitAttr:$interleaved);
  let results = (outs Tile_FragmentType:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "($fragments^ `:` type($fragments))? (`interleaved` $interleaved^)? attr-dict `->` type($result) $body";
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

def Tile_PackOp : Tile_Op<"pack", [Pure, Tile_WarpgroupCollective]> {
  let summary = "rounds a fragment to f8E4M3FN, for operand A of wgmma";
  let description = [{
    Rounds to nearest even. What is beyond 448 becomes 448, as the instruction has it. Each thread keeps what it holds: the
    columns are `interleaved` as in `tile.map`. `pack-fragments` makes these.

    ```mlir
    %weights8 = tile.pack %weights : !tile.fragment<64x128xf32> -> !tile.fragment<64x128xf8E4M3FN>
    ```
  }];
  let arguments = (ins Tile_FragmentType:$fragment);
  let results = (outs Tile_FragmentType:$result);
  let assemblyFormat = "$fragment attr-dict `:` type($fragment) `->` type($result)";
  let hasVerifier = 1;
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

#endif // TILEWRIGHT_TILE_MATRIX_OPS
