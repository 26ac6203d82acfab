#ifndef TILEWRIGHT_TILE_TYPES
#define TILEWRIGHT_TILE_TYPES

include "mlir/IR/OpBase.td"
include "mlir/IR/DialectBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::tilewright::tile";
  let summary = "Asynchronous tiles: shared buffers, rings of them, TMA copies, tensor cores and the roles of warps";
  let description = [{
    What a kernel for Hopper is made of, one level above the instructions. A kernel at the gpu stage uses these ops
    beside scf and arith; they go nearly one to one to NVVM. What follows from the rest is not written down: barriers and
    their addresses, bytes to expect, descriptors, swizzled addresses, instruction shapes and register counts.

    A thread copies tiles to a ring's slots and others use them:

    ```mlir
    %ring = tile.ring consumers 2 : !tile.ring<3, !tile.buffer<128x64xbf16, swizzle = 128>>
    tile.roles {
      tile.role "producer" warps 4 registers 40 {
        tile.elect role {
          // for each k: the slot and its phase
          %a = tile.acquire %ring[%slot, %phase] : !tile.ring<3, !tile.buffer<128x64xbf16, swizzle = 128>>
          tile.tma_load %map[%m, %k] to %a signal %ring[%slot] : ...
          tile.commit %ring[%slot] : ...
        }
      }
      tile.role "consumer" warps 8 registers 232 {
      ^bb0(%warpgroup: index):
        // for each k
        %a = tile.wait %ring[%slot, %phase] : ...
        %sum = tile.wgmma %a, %b into %acc : ...
        tile.release %ring[%slot] : ...
      }
    }
    ```
    Slots and phases are i32 values. Both sides begin at slot 0 in phase 0 and go on with `tile.advance`.
  }];
  let usePropertiesForAttributes = 1;
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Tile_Type<string name, string mnemonicText> : TypeDef<Tile_Dialect, name> {
  let mnemonic = mnemonicText;
  let genVerifyDecl = 1;
}

def Tile_BufferType : Tile_Type<"Buffer", "buffer"> {
  let summary = "a tile in shared memory";
  let description = [{
    Rows and columns of elements. Without a swizzle, the rows stand one after the other. With a swizzle, the tile is cut
    into panels, which stand one after the other. A panel is as wide as the swizzle's span of 32, 64 or 128 bytes. In
    each row of a panel, the chunks of 16 bytes are permuted as the hardware does it. A chunk's number is combined by
    exclusive or with the lowest bits of the row's number. For a span of 64 bytes these are bits of half of that number,
    and for 32 bytes of a quarter.

    A part of a buffer has the panels of the whole: `panel_rows` says how many rows those have where it is more.

    ```mlir
    !tile.buffer<128x64xbf16, swizzle = 128>
    !tile.buffer<64x256xbf16, swizzle = 128, panel_rows = 128>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType, "int64_t":$swizzle,
                        "int64_t":$panelRows);

  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape()[0]; }
    int64_t getColumns() const { return getShape()[1]; }
    /// The bytes of a row of one panel, and the columns in them.
    int64_t getPanelRowBytes() const;
    int64_t getPanelColumns() const;
    /// The bytes from one panel to the next.
    int64_t getPanelBytes() const { return getPanelRows() * getPanelRowBytes(); }
    /// The bytes of the elements.
    int64_t getBytes() const;
    /// What the buffer's address must be a multiple of, so that the hardware's swizzle is the one meant.
    int64_t getAlignment() const;
  }];
}

def Tile_RingType : Tile_Type<"Ring", "ring"> {
  let summary = "a ring of slots in shared memory, each of the same buffers";
  let description = [{
    Each slot has two barriers: `full` ends a phase when the slot's data is there, `empty` when all that use it have
    released it.

    ```mlir
    !tile.ring<3, !tile.buffer<128x64xbf16, swizzle = 128>, !tile.buffer<256x64xbf16, swizzle = 128>>
    ```
  }];
  let parameters = (ins "int64_t":$depth, ArrayRefParameter<"::tilewright::tile::BufferType">:$buffers);
  let assemblyFormat = "`<` $depth `,` $buffers `>`";
  let extraClassDeclaration = [{
    /// Where in a slot a buffer lies.
    int64_t getBufferOffset(unsigned buffer) const;
    /// The bytes from one slot to the next.
    int64_t getSlotBytes() const;
    /// The bytes of a slot's elements: what its `full` barrier waits for.
    int64_t getDataBytes() const;
    int64_t getAlignment() const;
    /// The bytes of the barriers of all slots: first `full`, then `empty`.
    int64_t getBarrierBytes() const { return 16 * getDepth(); }
  }];
}

def Tile_TensorMapType : Tile_Type<"TensorMap", "tensor_map"> {
  let summary = "what TMA knows of a tensor in global memory";
  let description = [{
    The shape is that of the box which one instruction copies, outermost dimension first. The tensor's own extents and
    strides are in the map, which the host makes (`tile.encode`) and a kernel takes as an argument of 128 bytes.

    ```mlir
    !tile.tensor_map<128x64xbf16, swizzle = 128>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$box, "::mlir::Type":$elementType, "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    /// The rows that one box fills: all of its dimensions but the last are rows.
    int64_t getBoxRows() const;
  }];
}

class Tile_RegisterTile<string name, string mnemonicText> : Tile_Type<name, mnemonicText> {
  let parameters = (ins ArrayRefParameter<"int64_t">:$shape, "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    int64_t getRows() const { return getShape()[0]; }
    int64_t getColumns() const { return getShape()[1]; }
    /// Elements that each thread of the warpgroup holds.
    int64_t getElementsPerThread() const { return isColumn() ? getRows() / 32 : getRows() * getColumns() / 128; }
    /// Whether it has one element a row.
    bool isColumn() const { return getColumns() == 1; }
  }];
}
def Tile_AccumulatorType : Tile_RegisterTile<"Accumulator", "accumulator"> {
  let summary = "a tile in the registers of a warpgroup to which wgmma may still add";
  let description = [{
    Nobody can read it: the tensor cores may be writing to it. `tile.wgmma_wait 0` makes a fragment of it.

    ```mlir
    !tile.accumulator<64x256xf32>
    ```
  }];
}
def Tile_FragmentType : Tile_RegisterTile<"Fragment", "fragment"> {
  let summary = "a tile in the registers of a warpgroup";
  let description = [{
    Warp w holds the rows 16 w to 16 w + 15. Its lane l holds rows l / 4 and l / 4 + 8 of them. Of the columns 8 j to 8
    j + 7, it holds column 2 (l mod 4) and the next.

    A fragment of one column has one element a row, which all four lanes of the row hold.

    A fragment of i8 goes to a buffer of any elements of 8 bits. One of f8E4M3FN is for operand A of wgmma alone. Of the columns 16 j to 16 j + 15, lane l holds 4 (l mod 4)
    and the next three, in one register. `tile.pack` makes it.

    ```mlir
    !tile.fragment<64x256xf32>
    !tile.fragment<64x1xf32>
    !tile.fragment<64x128xf8E4M3FN>
    ```
  }];
}

/// One element a row, which threads can exchange.
def Tile_ColumnType : ConfinedType<Tile_FragmentType, [CPred<[{
  ::llvm::cast<::tilewright::tile::FragmentType>($_self).isColumn() &&
  (::llvm::cast<::tilewright::tile::FragmentType>($_self).getElementType().isF32() ||
   ::llvm::cast<::tilewright::tile::FragmentType>($_self).getElementType().isSignlessInteger(32))}]>],
  "fragment of one column of f32 or i32", "::tilewright::tile::FragmentType">;

/// Operand A of a matmul.
def Tile_OperandType : AnyTypeOf<[Tile_BufferType, Tile_FragmentType]>;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

def Tile_ClusterAxis : I32EnumAttr<"ClusterAxis", "a dimension of the cluster of blocks", [
    I32EnumAttrCase<"X", 0, "x">, I32EnumAttrCase<"Y", 1, "y">]> {
  let cppNamespace = "::tilewright::tile";
}

def Tile_Raster : I32EnumAttr<"Raster", "in which order blocks go through a grid of tiles", [
    I32EnumAttrCase<"Row", 0, "row">, I32EnumAttrCase<"Grouped", 1, "grouped">, I32EnumAttrCase<"Hilbert", 2, "hilbert">,
    I32EnumAttrCase<"Linear", 3, "linear">]> {
  let cppNamespace = "::tilewright::tile";
  let genSpecializedAttr = 0;
}

def Tile_OrderAttr : AttrDef<Tile_Dialect, "Order"> {
  let mnemonic = "order";
  let summary = "how blocks that stay go through the tiles of a grid";
  let description = [{
    Up to `blocks` blocks go through all tiles: row by row, by groups of `group` rows of tiles, or in such groups on
    Hilbert's curve. A `linear` grid has its tiles along x alone, in the order in which blocks go through them. All
    blocks of a cluster then have the same number. With `stream_k`, blocks share the reductions of the last tiles. With
    `narrower`, some tiles are narrower by so many columns. There are then more tiles, so that each block has one in the
    last wave. With `serpentine_k`, every second tile's reduction begins at its end.

    ```mlir
    #tile.order<blocks = 132, raster = grouped, group = 8>
    ```
  }];
  let parameters = (ins "int64_t":$blocks, EnumParameter<Tile_Raster>:$raster, "int64_t":$group,
                        DefaultValuedParameter<"bool", "false">:$stream_k, DefaultValuedParameter<"int64_t", "0">:$narrower,
                        DefaultValuedParameter<"bool", "false">:$serpentine_k);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

#endif // TILEWRIGHT_TILE_TYPES
