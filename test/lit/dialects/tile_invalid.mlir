// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{expected swizzle or panel_rows, got 'swizzled'}}
func.func private @f(!tile.buffer<64x64xbf16, swizzled = 128>)

// -----

// expected-error@+1 {{expected a swizzle of 32, 64 or 128 bytes, got 48}}
func.func private @f(!tile.buffer<64x64xbf16, swizzle = 48>)

// -----

// expected-error@+1 {{expected elements of whole bytes, got 'i1'}}
func.func private @f(!tile.buffer<64x64xi1>)

// -----

// expected-error@+1 {{expected a buffer of rows and columns, got 3 dimensions}}
func.func private @f(!tile.buffer<2x64x64xbf16>)

// -----

// expected-error@+1 {{expected rows of a multiple of 16 bytes, got 24}}
func.func private @f(!tile.buffer<64x12xbf16>)

// -----

// expected-error@+1 {{expected rows of whole swizzle spans of 128 bytes, got 192 bytes}}
func.func private @f(!tile.buffer<64x96xbf16, swizzle = 128>)

// -----

// expected-error@+1 {{expected a multiple of 8 rows with a swizzle, got 60}}
func.func private @f(!tile.buffer<60x64xbf16, swizzle = 128>)

// -----

// expected-error@+1 {{expected panels of at least the buffer's 64 rows, got 32}}
func.func private @f(!tile.buffer<64x128xbf16, swizzle = 128, panel_rows = 32>)

// -----

// expected-error@+1 {{expected elements that TMA knows, got 'f8E8M0FNU'}}
func.func private @f(!tile.tensor_map<64x64xf8E8M0FNU>)

// -----

// expected-error@+1 {{expected a box of 1 to 5 dimensions, got 6}}
func.func private @f(!tile.tensor_map<1x1x1x1x64x64xbf16>)

// -----

// expected-error@+1 {{expected at most 256 elements in dimension 0 of the box, got 512}}
func.func private @f(!tile.tensor_map<512x64xbf16, swizzle = 128>)

// -----

// expected-error@+1 {{expected the box's innermost dimension to have a multiple of 16 bytes, got 4}}
func.func private @f(!tile.tensor_map<64x2xbf16>)

// -----

// expected-error@+1 {{expected the box's innermost dimension to be within the swizzle's span of 128 bytes, got 256}}
func.func private @f(!tile.tensor_map<64x128xbf16, swizzle = 128>)

// -----

// expected-error@+1 {{expected a ring of at least one slot of at least one buffer, got 0 of 1}}
func.func private @f(!tile.ring<0, !tile.buffer<64x64xbf16>>)

// -----

// expected-error@+1 {{expected a ring of whole buffers, got a part: '!tile.buffer<64x128xbf16, swizzle = 128, panel_rows = 128>'}}
func.func private @f(!tile.ring<2, !tile.buffer<64x128xbf16, swizzle = 128, panel_rows = 128>>)

// -----

// expected-error@+1 {{expected a tile of 64 rows, as one warpgroup holds}}
func.func private @f(!tile.accumulator<128x256xf32>)

// -----

// expected-error@+1 {{expected a multiple of 8 columns up to 256, got 100}}
func.func private @f(!tile.accumulator<64x100xf32>)

// -----

// expected-error@+1 {{expected a multiple of 8 columns up to 256, got 512}}
func.func private @f(!tile.fragment<64x512xf32>)

// -----

// expected-error@+1 {{expected elements of f32, f16 or i32, got 'bf16'}}
func.func private @f(!tile.accumulator<64x64xbf16>)

// -----

// expected-error@+1 {{expected elements of f32, f16, bf16 or i32, got 'f64'}}
func.func private @f(!tile.fragment<64x64xf64>)

// -----

func.func @place() {
  // expected-error@+1 {{'tile.alloc' op expected the buffer at a multiple of 1024 bytes, got 512}}
  %c = tile.alloc at 512 : !tile.buffer<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @whole() {
  // expected-error@+1 {{'tile.alloc' op expected a whole buffer, got a part: '!tile.buffer<64x128xbf16, swizzle = 128, panel_rows = 128>'}}
  %c = tile.alloc : !tile.buffer<64x128xbf16, swizzle = 128, panel_rows = 128>
  return
}

// -----

func.func @ring_place() {
  // expected-error@+1 {{'tile.ring' op expected the slots at a multiple of 1024 bytes, got 16}}
  %r = tile.ring consumers 1 at 16 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
  return
}

// -----

func.func @barrier_place() {
  // expected-error@+1 {{'tile.ring' op expected the barriers at a multiple of 8 bytes, got 4}}
  %r = tile.ring consumers 1 at 1024 barriers at 4 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
  return
}

// -----

func.func @part_elements(%b: !tile.buffer<128x64xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.part' op expected a part with the elements and the swizzle of '!tile.buffer<128x64xbf16, swizzle = 128>', got '!tile.buffer<64x64xbf16, swizzle = 64>'}}
  %p = tile.part %b[%i, %i] : !tile.buffer<128x64xbf16, swizzle = 128> -> !tile.buffer<64x64xbf16, swizzle = 64>
  return
}

// -----

func.func @part_rows(%b: !tile.buffer<128x64xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.part' op expected a number of rows that divides 128, got 48}}
  %p = tile.part %b[%i, %i] : !tile.buffer<128x64xbf16, swizzle = 128> -> !tile.buffer<48x64xbf16, swizzle = 128>
  return
}

// -----

func.func @part_columns(%b: !tile.buffer<128x192xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.part' op expected a number of columns that divides 192 columns, got 128}}
  %p = tile.part %b[%i, %i] : !tile.buffer<128x192xbf16, swizzle = 128> -> !tile.buffer<128x128xbf16, swizzle = 128>
  return
}

// -----

func.func @part_of_rows(%b: !tile.buffer<128x64xbf16>, %i: index) {
  // expected-error@+1 {{'tile.part' op expected whole rows of 64 columns, got 32}}
  %p = tile.part %b[%i, %i] : !tile.buffer<128x64xbf16> -> !tile.buffer<128x32xbf16>
  return
}

// -----

func.func @part_panels(%b: !tile.buffer<128x128xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.part' op expected a part with panel_rows of 128, got 64}}
  %p = tile.part %b[%i, %i] : !tile.buffer<128x128xbf16, swizzle = 128> -> !tile.buffer<64x128xbf16, swizzle = 128>
  return
}

// -----

func.func @ring(%ring: !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>, %s: i32) {
  // expected-error@+1 {{'tile.commit' op expected a ring that tile.ring made}}
  tile.commit %ring[%s] : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
  return
}

// -----

func.func @additions(%b: !tile.buffer<64x64xbf16, swizzle = 128>, %m: !tile.tensor_map<64x64xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.tma_store' op expected elements of f32 or i32 for reduce_add, got 'bf16'}}
  tile.tma_store %b to %m[%i, %i] reduce_add : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @coordinates(%b: !tile.buffer<64x64xbf16, swizzle = 128>, %m: !tile.tensor_map<64x64xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.tma_store' op expected 2 coordinates, one for each dimension of the box, got 1}}
  tile.tma_store %b to %m[%i] : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @map_swizzle(%b: !tile.buffer<64x64xbf16, swizzle = 128>, %m: !tile.tensor_map<64x64xbf16>, %i: index) {
  // expected-error@+1 {{'tile.tma_store' op expected a map with the elements and the swizzle of '!tile.buffer<64x64xbf16, swizzle = 128>', got '!tile.tensor_map<64x64xbf16>'}}
  tile.tma_store %b to %m[%i, %i] : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.tensor_map<64x64xbf16>
  return
}

// -----

func.func @box_columns(%b: !tile.buffer<64x64xbf16, swizzle = 128>, %m: !tile.tensor_map<64x32xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.tma_store' op expected a box as wide as the buffer's panels, 64 columns, got 32}}
  tile.tma_store %b to %m[%i, %i] : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.tensor_map<64x32xbf16, swizzle = 128>
  return
}

// -----

func.func @box_rows(%b: !tile.buffer<64x64xbf16, swizzle = 128>, %m: !tile.tensor_map<48x64xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.tma_store' op expected a box with a number of rows that divides the buffer's 64, got 48}}
  tile.tma_store %b to %m[%i, %i] : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.tensor_map<48x64xbf16, swizzle = 128>
  return
}

// -----

func.func @box_swizzled_rows(%b: !tile.buffer<64x64xbf16, swizzle = 128>, %m: !tile.tensor_map<4x64xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.tma_store' op expected a box with a multiple of 8 rows with a swizzle, got 4}}
  tile.tma_store %b to %m[%i, %i] : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.tensor_map<4x64xbf16, swizzle = 128>
  return
}

// -----

func.func @box_deep(%b: !tile.buffer<64x64xbf16, swizzle = 128>, %m: !tile.tensor_map<2x16x64xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.tma_store' op expected one box for all 64 rows, as they go along several dimensions, got '!tile.tensor_map<2x16x64xbf16, swizzle = 128>'}}
  tile.tma_store %b to %m[%i, %i, %i] : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.tensor_map<2x16x64xbf16, swizzle = 128>
  return
}

// -----

func.func @part_too_large(%b: !tile.buffer<32x64xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.part' op expected at most 32 rows, got 64}}
  %p = tile.part %b[%i, %i] every 8 : !tile.buffer<32x64xbf16, swizzle = 128> -> !tile.buffer<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @part_every(%b: !tile.buffer<144x64xbf16, swizzle = 128>, %i: index) {
  // expected-error@+1 {{'tile.part' op expected parts that begin every multiple of 8 rows with a swizzle, got 4}}
  %p = tile.part %b[%i, %i] every 4 : !tile.buffer<144x64xbf16, swizzle = 128> -> !tile.buffer<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_no_dimension(%t: memref<bf16>) {
  // expected-error@+1 {{'tile.encode' op expected a tensor in global memory with rows of elements side by side, got 'memref<bf16>'}}
  %m = tile.encode %t : memref<bf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_as_type(%t: memref<64x64xf16>) {
  // expected-error@+1 {{'tile.encode' op expected a map with elements of 'f16', got '!tile.tensor_map<64x64xbf16, swizzle = 128>'}}
  %m = tile.encode %t as [64, 64] strides [64, 1] steps [1, 1] : memref<64x64xf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_as_rank(%t: memref<64x64xbf16>) {
  // expected-error@+1 {{'tile.encode' op expected an extent, a stride and a step for each of 2 dimensions, got 2, 3 and 1}}
  %m = tile.encode %t as [64, 64] strides [64, 64, 1] steps [1] : memref<64x64xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_as_last(%t: memref<64x64xbf16>) {
  // expected-error@+1 {{'tile.encode' op expected elements that lie together along the last dimension, got a stride of 64 and a step of 1}}
  %m = tile.encode %t as [64, 64] strides [64, 64] steps [1, 1] : memref<64x64xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_as_extent(%t: memref<64x64xbf16>) {
  // expected-error@+1 {{'tile.encode' op expected positive extents and strides, got 0 and 64 in dimension 0}}
  %m = tile.encode %t as [0, 64] strides [64, 1] steps [1, 1] : memref<64x64xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_as_stride(%t: memref<64x64xbf16>) {
  // expected-error@+1 {{'tile.encode' op expected strides of multiples of 16 bytes, got 8 in dimension 0}}
  %m = tile.encode %t as [64, 64] strides [4, 1] steps [1, 1] : memref<64x64xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_as_step(%t: memref<64x64xbf16>) {
  // expected-error@+1 {{'tile.encode' op expected steps of 1 to 8, got 9 in dimension 0}}
  %m = tile.encode %t as [64, 64] strides [64, 1] steps [9, 1] : memref<64x64xbf16> -> !tile.tensor_map<8x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_as_outside(%t: memref<64x64xbf16>) {
  // expected-error@+1 {{'tile.encode' op expected dimensions within the 4096 elements of 'memref<64x64xbf16>', got a last element 4159}}
  %m = tile.encode %t as [65, 64] strides [64, 1] steps [1, 1] : memref<64x64xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_columns(%t: memref<64x64xbf16, strided<[1, 64]>>) {
  // expected-error@+1 {{'tile.encode' op expected a tensor in global memory with rows of elements side by side, got 'memref<64x64xbf16, strided<[1, 64]>>'}}
  %m = tile.encode %t : memref<64x64xbf16, strided<[1, 64]>> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_strides(%t: memref<64x64xbf16, strided<[68, 1]>>) {
  // expected-error@+1 {{'tile.encode' op expected strides of multiples of 16 bytes, got 136 in dimension 0 of 'memref<64x64xbf16, strided<[68, 1]>>'}}
  %m = tile.encode %t : memref<64x64xbf16, strided<[68, 1]>> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_rank(%t: memref<2x64x64xbf16>) {
  // expected-error@+1 {{'tile.encode' op expected a map of 3 dimensions with elements of 'bf16', got '!tile.tensor_map<64x64xbf16, swizzle = 128>'}}
  %m = tile.encode %t : memref<2x64x64xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_stride(%t: memref<64x100xbf16>) {
  // expected-error@+1 {{'tile.encode' op expected strides of multiples of 16 bytes, got 200 in dimension 0 of 'memref<64x100xbf16>'}}
  %m = tile.encode %t : memref<64x100xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_count(%t: memref<9223372036854775807x256xf32>) {
  // expected-error@+1 {{'tile.encode' op expected a tensor of fewer than 2^63 elements, got 'memref<9223372036854775807x256xf32>'}}
  %m = tile.encode %t : memref<9223372036854775807x256xf32> -> !tile.tensor_map<64x32xf32, swizzle = 128>
  return
}

// -----

func.func @encode_as_stride(%t: memref<64x64xbf16>) {
  // expected-error@+1 {{'tile.encode' op expected dimensions of fewer than 2^63 elements, got an extent of 64 and a stride of 4611686018427387904 in dimension 0}}
  %m = tile.encode %t as [64, 64] strides [4611686018427387904, 1] steps [1, 1] : memref<64x64xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @encode_as_extent(%t: memref<64x64xbf16>) {
  // expected-error@+1 {{'tile.encode' op expected dimensions of fewer than 2^63 elements, got an extent of 9223372036854775807 and a stride of 64 in dimension 0}}
  %m = tile.encode %t as [9223372036854775807, 64] strides [64, 1] steps [1, 1] : memref<64x64xbf16> -> !tile.tensor_map<64x64xbf16, swizzle = 128>
  return
}

// -----

func.func @gathered(%m: !tile.tensor_map<64x64xbf16, swizzle = 128>, %s: i32, %i: index) {
  %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
  tile.elect role {
    %b = tile.acquire %ring[%s, %s] : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    // expected-error@+1 {{'tile.tma_load' op expected one of the 2 dimensions gathered, got 2}}
    tile.tma_load %m[%i, %i] to %b signal %ring[%s] gathered 2 : !tile.tensor_map<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128>, !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
  }
  return
}
