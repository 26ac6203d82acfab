#ifndef TILEWRIGHT_TILE_PROGRAM_OPS
#define TILEWRIGHT_TILE_PROGRAM_OPS

include "dialects/Tile/TileBase.td"

// What a kernel computes, one tile at a time: ops that are done when they are passed, in the order in which they stand.
// Roles, rings and barriers come later: docs/rationale/tile-road.md.

def Tile_KernelOp : Tile_Op<"kernel", [NoTerminator, SingleBlock]> {
  let summary = "a grid of tiles, and what computes one of them";
  let description = [{
    The grid has `x` x `y` x `z` tiles. The region's arguments are a tile's place in the grid and the number of a
    warpgroup of the block that computes the tile. All `warpgroups` do what the region says: `tile.load` and `tile.store`
    name what all of them, or each of them, bring. With `cluster` so many neighbouring blocks share what they load alike.

    With `registers`, there is a producer warpgroup beside the consumer warpgroups of the region. The two numbers are
    the registers of a producer thread and of a consumer thread. With `pingpong`, there are so many sets of consumer
    warpgroups, which take the block's tiles alternately. With `order`, the kernel is launched with fewer blocks than
    tiles, and each block goes through several tiles. `axes` names the loops of the schedule that the grid comes from,
    for messages.

    ```mlir
    tile.kernel (%c32, %c16, %c1) cluster [2, 1, 1] warpgroups 2 registers [40, 232]
        order <blocks = 132, raster = grouped, group = 8> axes ["C.j.outer", "C.i.outer", ""] {
    ^bb0(%x: index, %y: index, %z: index, %warpgroup: index):
      ...
    }
    ```
  }];
  let arguments = (ins Index:$x, Index:$y, Index:$z, DenseI64ArrayAttr:$cluster,
                       ConfinedAttr<I64Attr, [IntPositive]>:$warpgroups, OptionalAttr<DenseI64ArrayAttr>:$registers,
                       DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$pingpong,
                       OptionalAttr<Tile_OrderAttr>:$order, StrArrayAttr:$axes);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $x `,` $y `,` $z `)` `cluster` $cluster `warpgroups` $warpgroups (`registers` $registers^)?
    (`pingpong` $pingpong^)? (`order` $order^)? `axes` $axes attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Value getPlace(unsigned dimension) { return getBody().front().getArgument(dimension); }
    ::mlir::Value getWarpgroup() { return getBody().front().getArgument(3); }
    /// The axis of a dimension of the grid, as messages quote it.
    std::string quoteAxis(unsigned dimension);
  }];
}

def Tile_LoadOp : Tile_Op<"load", [Tile_BeforeBarriers]> {
  let summary = "a tile of a tensor in global memory, in shared memory";
  let description = [{
    All of the block's warpgroups have the same tile. The coordinates are those of the tile's first element in the
    tensor, outermost dimension first. The `box` says how many elements the tile takes along each dimension; all
    dimensions but the last are rows. What lies outside of the tensor is zero. A box may have dimensions of its own, as
    in `tile.encode`. With `multicast x`, all blocks of a cluster's row along x load the same tile.

    Along a `gathered` dimension the box's elements lie anywhere: each has a coordinate of its own, which is to be in the
    tensor. These coordinates stand behind one another, in place of the dimension's one. All other dimensions before a
    gathered one have an extent of 1.

    ```mlir
    %a = tile.load %A[%i, %k] box [128, 64] : memref<4096x4096xbf16> -> !tile.buffer<128x64xbf16, swizzle = 128>
    %k = tile.load %K[%page0, %page1, %i, %c0] box [2, 32, 64] gathered 0
        : memref<100x32x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Arg<AnyMemRef, "", [MemRead]>:$tensor, Variadic<Index>:$coordinates, DenseI64ArrayAttr:$box,
                       OptionalAttr<DenseI64ArrayAttr>:$extents, OptionalAttr<DenseI64ArrayAttr>:$strides,
                       OptionalAttr<DenseI64ArrayAttr>:$steps, OptionalAttr<Tile_ClusterAxis>:$multicast,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntNonNegative]>>:$gathered);
  let results = (outs Tile_BufferType:$tile);
  let assemblyFormat = [{
    $tensor `[` $coordinates `]` `box` $box (`as` $extents^ `strides` $strides `steps` $steps)?
    (`multicast` $multicast^)? (`gathered` $gathered^)? attr-dict `:` type($tensor) `->` type($tile)
  }];
  let extraClassDeclaration = [{
    /// How many coordinates the gathered dimension has; 1 where none is gathered.
    int64_t countGathered() { return getGathered() ? getBox()[*getGathered()] : 1; }
  }];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [Tile_BeforeBarriers, Tile_AfterMatmuls, AttrSizedOperandSegments]> {
  let summary = "stores a fragment to a tensor in global memory, by way of shared memory";
  let description = [{
    Each warpgroup stores its own. The box is that of the fragment, whose columns are, if `transposed`, the tensor's rows.
    What lies outside of the tensor is left out; f32 is rounded to the tensor's f16 or bf16. So many `columns` of the
    fragment are in shared memory at a time, in rows with a `swizzle`. If `deferred`, the tile is stored while the block's
    next tile is computed.

    With `reduce_add`, elements are added to the tensor's, of f32 or i32. Other blocks may add to them at the same time.

    With `parts [first, count]` only so many parts of the fragment are stored, of which each has the columns that are stored
    at once.

    Where tiles have several widths, `width` is the number of this tile's width. `narrow` lists the widths, the widest
    first. For each it has the width, the number of such tiles in a row of tiles, and the place where the first of them
    begins.

    TMA copies what is in shared memory, or, `by_threads`, the threads of the warpgroup. The tensor's rows may then begin
    at any element.

    ```mlir
    tile.store %sum to %C[%i, %j] box [64, 256] columns 128 swizzle 128 : !tile.fragment<64x256xf32>, memref<4096x4096xbf16>
    ```
  }];
  let arguments = (ins Tile_FragmentType:$fragment, Arg<AnyMemRef, "", [MemWrite]>:$tensor, Variadic<Index>:$coordinates,
                       Optional<Index>:$width, DenseI64ArrayAttr:$box, OptionalAttr<DenseI64ArrayAttr>:$extents,
                       OptionalAttr<DenseI64ArrayAttr>:$strides, OptionalAttr<DenseI64ArrayAttr>:$steps,
                       ConfinedAttr<I64Attr, [IntPositive]>:$columns, ConfinedAttr<I64Attr, [IntNonNegative]>:$swizzle,
                       UnitAttr:$transposed, UnitAttr:$deferred, UnitAttr:$reduceAdd,
                       OptionalAttr<DenseI64ArrayAttr>:$parts, OptionalAttr<DenseI64ArrayAttr>:$narrow,
                       UnitAttr:$byThreads);
  let assemblyFormat = [{
    $fragment (`transposed` $transposed^)? `to` $tensor `[` $coordinates `]` `box` $box
    (`as` $extents^ `strides` $strides `steps` $steps)? `columns` $columns `swizzle` $swizzle (`deferred` $deferred^)?
    (`reduce_add` $reduceAdd^)?
    (`parts` $parts^)? (`width` $width^ `of` $narrow)? (`by_threads` $byThreads^)? attr-dict
    `:` type($fragment) `,` type($tensor)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The columns of the fragment that one copy stores. With less than all columns in the buffer TMA reads one half of it
    /// while the other is written to. What is deferred goes by panels, each of which takes less time than an iteration.
    int64_t getPartColumns();
    int64_t countParts() { return getFragment().getType().getColumns() / getPartColumns(); }
    /// Of a buffer in shared memory for so many rows and columns of the fragment: its rows and columns.
    std::pair<int64_t, int64_t> getBufferShape(int64_t rows, int64_t columns) {
      return getTransposed() ? std::pair(columns, rows) : std::pair(rows, columns);
    }
  }];
}

def Tile_ShareOp : Tile_Op<"share", [Tile_BeforeBarriers, Tile_AfterMatmuls, Tile_Unconditional, Pure]> {
  let summary = "the fragments of a block's warpgroups as one tile in shared memory";
  let description = [{
    Rows of the first warpgroup's fragment come first. All warpgroups have the tile, until they share the next of the
    same `te.stage`. It serves as an operand that registers cannot be: a second one, or one whose rows are summed over.

    ```mlir
    %all = tile.share %mine : !tile.fragment<64x64xbf16> -> !tile.buffer<128x64xbf16, swizzle = 128>
    ```
  }];
  let arguments = (ins Tile_FragmentType:$fragment);
  let results = (outs Tile_BufferType:$tile);
  let assemblyFormat = "$fragment attr-dict `:` type($fragment) `->` type($tile)";
  let hasVerifier = 1;
}

def Tile_FillOp : Tile_Op<"fill", [Pure]> {
  let summary = "a fragment of one value";
  let description = [{
    ```mlir
    %none = tile.fill %zero : f32 -> !tile.fragment<64x256xf32>
    ```
  }];
  let arguments = (ins AnyType:$value);
  let results = (outs Tile_FragmentType:$fragment);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($fragment)";
  let hasVerifier = 1;
}

def Tile_MatmulOp : Tile_Op<"matmul", [Tile_BeforeBarriers, Tile_Unconditional, Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "multiplies two tiles and adds the result to a fragment";
  let description = [{
    Operands are those of `tile.wgmma`, the first in shared memory or a fragment. With `promoted`, the tensor cores add
    up only so many iterations of the loop around it. The warpgroup's threads add these sums to the others.

    Of tiles of several widths only so many columns are computed as `widths` has at the place `width`; the others keep what
    they are.

    ```mlir
    %sum1 = tile.matmul %a, %b into %sum : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<256x64xbf16, swizzle = 128>
        -> !tile.fragment<64x256xf32>
    ```
  }];
  let arguments = (ins Tile_OperandType:$a, Tile_BufferType:$b, Tile_FragmentType:$accumulator, Optional<Index>:$width,
                       UnitAttr:$mnMajorA, UnitAttr:$mnMajorB,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$promoted,
                       OptionalAttr<DenseI64ArrayAttr>:$widths);
  let results = (outs Tile_FragmentType:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$a, "::mlir::Value":$b, "::mlir::Value":$accumulator, "bool":$mnMajorA,
                                 "bool":$mnMajorB, "::mlir::IntegerAttr":$promoted), [{
    build($_builder, $_state, accumulator.getType(), a, b, accumulator, ::mlir::Value(), mnMajorA, mnMajorB, promoted,
          ::mlir::DenseI64ArrayAttr());
  }]>];
  let assemblyFormat = [{
    $a (`mn_major` $mnMajorA^)? `,` $b (`mn_major` $mnMajorB^)? `into` $accumulator (`promoted` $promoted^)?
    (`width` $width^ `of` $widths)? attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tile_PutOp : Tile_Op<"put", [Tile_BeforeBarriers, Tile_RingUserInterface, MemoryEffects<[MemWrite]>]> {
  let summary = "hands tiles to those that take them from a ring";
  let description = [{
    Tiles are taken in the order in which they were put. A tile that is put was loaded right before, and nobody else uses it.

    ```mlir
    tile.put %a, %b to %ring : !tile.buffer<128x64xbf16, swizzle = 128>, !tile.buffer<256x64xbf16, swizzle = 128> to !tile.ring<...>
    ```
  }];
  let arguments = (ins Variadic<Tile_BufferType>:$tiles, Tile_RingType:$ring);
  let extraClassDeclaration = [{ bool fillsSlots() { return true; } }];
  let assemblyFormat = "$tiles `to` $ring attr-dict `:` type($tiles) `to` type($ring)";
  let hasVerifier = 1;
}

def Tile_GetOp : Tile_Op<"get", [Tile_BeforeBarriers, Tile_Unconditional, Tile_RingUserInterface,
    DeclareOpInterfaceMethods<InferTypeOpInterface>, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "takes the next tiles of a ring";
  let description = [{
    They are there until the last op that reads them is done.

    ```mlir
    %a, %b = tile.get %ring : !tile.ring<3, !tile.buffer<...>, !tile.buffer<...>>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring);
  let results = (outs Variadic<Tile_BufferType>:$tiles);
  let extraClassDeclaration = [{ bool fillsSlots() { return false; } }];
  let assemblyFormat = "$ring attr-dict `:` type($ring)";
}

def Tile_SkipOp : Tile_Op<"skip", [Tile_BeforeBarriers, Tile_Unconditional, Tile_RingUserInterface, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "leaves the next tiles of a ring to others";
  let description = [{
    Passes over so many, or, with `times`, over so many for each of these, of which there are at most `most`.

    ```mlir
    tile.skip %ring by 64 : !tile.ring<...>
    tile.skip %ring by 64 times %set most 2 : !tile.ring<...>
    ```
  }];
  let arguments = (ins Tile_RingType:$ring, ConfinedAttr<I64Attr, [IntPositive]>:$by, Optional<Index>:$times,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$most);
  let extraClassDeclaration = [{ bool fillsSlots() { return false; } }];
  let assemblyFormat = "$ring `by` $by (`times` $times^ `most` $most)? attr-dict `:` type($ring)";
}

#endif // TILEWRIGHT_TILE_PROGRAM_OPS
