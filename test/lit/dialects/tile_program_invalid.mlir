// RUN: tilewright-opt %s --split-input-file --verify-diagnostics

func.func @arguments(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  // expected-error @below {{'tile.kernel' op expected a region with four arguments of type index: x, y, z and the warpgroup}}
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index):
  }
  return
}

// -----

func.func @cluster(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  // expected-error @below {{'tile.kernel' op expected a cluster of three extents, of which the last is 1, got [1, 1, 2]}}
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 2] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}

// -----

func.func @axes(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  // expected-error @below {{'tile.kernel' op expected the names of three axes, got 1}}
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes [""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}

// -----

func.func @registers(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  // expected-error @below {{'tile.kernel' op expected the registers of a producer and of a consumer thread, got 1 numbers}}
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 registers [40] axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}

// -----

func.func @pingpong(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  // expected-error @below {{'tile.kernel' op expected registers for 2 sets of consumer warpgroups}}
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 pingpong 2 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}

// -----

func.func @order_blocks(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  // expected-error @below {{expected at least one block and one row of tiles in a group, got 0 and 1}}
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 0, raster = row, group = 1> axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}

// -----

func.func @order_narrower(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  // expected-error @below {{expected tiles narrower by a positive number of columns, or 0, got -8}}
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 1, raster = row, group = 1, narrower = -8> axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}

// -----

func.func @order_both(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  // expected-error @below {{expected narrower tiles or stream_k, got both}}
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 order <blocks = 1, raster = row, group = 1, stream_k = true, narrower = 8> axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}

// -----

func.func @coordinates(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  // expected-error @below {{'tile.load' op expected a coordinate for each of the box's 2 dimensions, got 1}}
    %a = tile.load %A[%x] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @shared_tensor(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  // expected-error @below {{'tile.load' op expected a tensor in global memory, got 'memref<64x64xbf16, #gpu.address_space<workgroup>>'}}
    %a = tile.load %S[%x, %y] box [64, 64] : memref<64x64xbf16, #gpu.address_space<workgroup>> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @own_dimensions(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  // expected-error @below {{'tile.load' op expected an extent, a stride and a step for each of the box's 2 dimensions, got 1}}
    %a = tile.load %A[%x, %y] box [64, 64] as [256] strides [256, 1] steps [1, 1] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @rank(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  // expected-error @below {{'tile.load' op expected a box of the tensor's 2 dimensions, got 3}}
    %a = tile.load %A[%x, %y, %z] box [1, 64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @tile_of_box(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  // expected-error @below {{'tile.load' op expected a tile with the box's 32 rows and 64 columns, got '!tile.buffer<64x64xbf16, swizzle = 128>'}}
    %a = tile.load %A[%x, %y] box [32, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @tile_elements(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  // expected-error @below {{'tile.load' op expected a tile of the tensor's 'bf16', got '!tile.buffer<64x64xf16, swizzle = 128>'}}
    %a = tile.load %A[%x, %y] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xf16, swizzle = 128>
  }
  return
}

// -----

func.func @store_box(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
  // expected-error @below {{'tile.store' op expected a box of the fragment's 64 rows and 64 columns, got 64 and 32}}
    tile.store %f to %C[%x, %y] box [64, 32] columns 32 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @store_elements(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %half = arith.truncf %zero : f32 to f16
    %h = tile.fill %half : f16 -> !tile.fragment<64x64xf16>
  // expected-error @below {{'tile.store' op expected a tensor of the fragment's elements, of f32 one of f16 or bf16, or of i8 one of 8 bits, got 'f32' for 'f16'}}
    tile.store %h to %C[%x, %y] box [64, 64] columns 32 swizzle 128 : !tile.fragment<64x64xf16>, memref<256x256xf32>
  }
  return
}

// -----

func.func @share(%c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c4) cluster [1, 1, 1] warpgroups 2 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %half = arith.truncf %zero : f32 to f16
    %f = tile.fill %half : f16 -> !tile.fragment<64x64xf16>
  // expected-error @below {{'tile.share' op expected a tile of a multiple of the fragment's 64 rows, with its 64 columns of 'f16', got '!tile.buffer<96x64xf16, swizzle = 128>'}}
    %t = tile.share %f : !tile.fragment<64x64xf16> -> !tile.buffer<96x64xf16, swizzle = 128>
  }
  return
}

// -----

func.func @store_additions(%C: memref<256x256xbf16>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
  // expected-error @below {{'tile.store' op expected elements of f32 or i32 for reduce_add, got 'bf16'}}
    tile.store %f to %C[%x, %y] box [64, 64] columns 32 swizzle 64 reduce_add : !tile.fragment<64x64xf32>, memref<256x256xbf16>
  }
  return
}

// -----

func.func @store_columns(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
  // expected-error @below {{'tile.store' op expected columns that divide the fragment's 64, got 48}}
    tile.store %f to %C[%x, %y] box [64, 64] columns 48 swizzle 128 : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @store_parts(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
  // expected-error @below {{'tile.store' op expected the first and the number of the 2 parts that are stored, got [1, 2]}}
    tile.store %f to %C[%x, %y] box [64, 64] columns 32 swizzle 128 parts [1, 2] : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @store_narrow(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
  // expected-error @below {{'tile.store' op expected a width, a number of tiles and a first column for each narrower width, got 2 numbers}}
    tile.store %f to %C[%x, %y] box [64, 64] columns 32 swizzle 128 width %z of [48, 1] : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @store_no_width(%C: memref<256x256xf32>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{'tile.store' op expected the widths of which the tile has one}}
    tile.store %f to %C[%x, %y] box [64, 64] columns 32 swizzle 128 width %z of [] : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @store_width_of_none(%C: memref<256x256xf32>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    // expected-error @below {{'tile.store' op expected positive widths and numbers of tiles, and first columns of 0 or more, got [64, 3, 0, 0, 2, 192]}}
    tile.store %f to %C[%x, %y] box [64, 64] columns 32 swizzle 128 width %z of [64, 3, 0, 0, 2, 192] : !tile.fragment<64x64xf32>, memref<256x256xf32>
  }
  return
}

// -----

func.func @fill(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  // expected-error @below {{'tile.fill' op expected a value of the fragment's 'f16', got 'f32'}}
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf16>
  }
  return
}

// -----

func.func @widths(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %a = tile.load %A[%x, %y] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
  // expected-error @below {{'tile.matmul' op expected a width and widths up to the result's 64 columns, or neither}}
    %s = tile.matmul %a, %a into %f width %z of [72] : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
  }
  return
}

// -----

func.func @operands(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %a = tile.load %A[%x, %y] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %b = tile.load %A[%x, %y] box [128, 64] : memref<256x256xbf16> -> !tile.buffer<128x64xbf16, swizzle = 128>
  // expected-error @below {{'tile.matmul' op expected operand A to have the result's 64 rows, got 128}}
    %s = tile.matmul %b, %a into %f : !tile.buffer<128x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
  }
  return
}

// -----

func.func @put_types(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    %a = tile.load %A[%x, %y] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  // expected-error @below {{'tile.put' op expected the tiles of '!tile.ring<2, <64x64xbf16, swizzle = 128>>', got '!tile.buffer<64x64xbf16, swizzle = 128>', '!tile.buffer<64x64xbf16, swizzle = 128>'}}
    tile.put %a, %a to %ring : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> to !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
  }
  return
}

// -----

func.func @put_used(%A: memref<256x256xbf16>, %C: memref<256x256xf32>, %S: memref<64x64xbf16, #gpu.address_space<workgroup>>, %c1: index, %c4: index, %zero: f32) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    %a = tile.load %A[%x, %y] box [64, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
    %f = tile.fill %zero : f32 -> !tile.fragment<64x64xf32>
    %s = tile.matmul %a, %a into %f : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.fragment<64x64xf32>
  // expected-error @below {{'tile.put' op expected tiles that are loaded right before it and that nobody else uses}}
    tile.put %a to %ring : !tile.buffer<64x64xbf16, swizzle = 128> to !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
  }
  return
}

// -----

func.func @cluster_blocks(%c1: index, %c4: index) {
  // expected-error @below {{'tile.kernel' op expected a cluster of at most 16 blocks, got [2, 1099511627776, 1]}}
  tile.kernel (%c4, %c4, %c1) cluster [2, 1099511627776, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}

// -----

func.func @count(%A: memref<9223372036854775807x256xbf16>, %c1: index, %c4: index) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    // expected-error @below {{'tile.load' op expected a tensor of fewer than 2^63 elements, got 'memref<9223372036854775807x256xbf16>'}}
    %a = tile.load %A[%x, %y] box [64, 64] : memref<9223372036854775807x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @no_rows(%A: memref<256x256xbf16>, %c1: index) {
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    // expected-error @below {{'tile.load' op expected a box of rows and columns, at least one of each, got [64]}}
    %a = tile.load %A[%x] box [64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @empty_box(%A: memref<256x256xbf16>, %c1: index) {
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    // expected-error @below {{'tile.load' op expected a box of rows and columns, at least one of each, got [0, 64]}}
    %a = tile.load %A[%x, %y] box [0, 64] : memref<256x256xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @too_many_warpgroups(%c1: index) {
  // expected-error @below {{'tile.kernel' op expected at most 8 warpgroups in all sets, got 1 of 9223372036854775807}}
  tile.kernel (%c1, %c1, %c1) cluster [1, 1, 1] warpgroups 9223372036854775807 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
  }
  return
}

// -----

func.func @gathered_columns(%A: memref<9x2x32x64xbf16>, %c0: index, %c1: index, %c4: index) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    // expected-error @below {{'tile.load' op expected a gathered dimension of rows, before the last of 4, got 3}}
    %a = tile.load %A[%x, %x, %c0, %c0] box [1, 2, 32, 64] gathered 3 : memref<9x2x32x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @gathered_behind(%A: memref<9x2x32x64xbf16>, %c0: index, %c1: index, %c4: index) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    // expected-error @below {{'tile.load' op expected extents of 1 before the gathered dimension, got [2, 1, 32, 64]}}
    %a = tile.load %A[%x, %x, %c0, %c0] box [2, 1, 32, 64] gathered 1 : memref<9x2x32x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @gathered_multicast(%A: memref<9x2x32x64xbf16>, %c0: index, %c1: index, %c4: index) {
  tile.kernel (%c4, %c4, %c1) cluster [2, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    // expected-error @below {{'tile.load' op expected a load for one block of a gathered dimension, got a multicast}}
    %a = tile.load %A[%x, %x, %x, %c0, %c0] box [2, 1, 32, 64] multicast x gathered 0 : memref<9x2x32x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @gathered_coordinates(%A: memref<9x2x32x64xbf16>, %c0: index, %c1: index, %c4: index) {
  tile.kernel (%c4, %c4, %c1) cluster [1, 1, 1] warpgroups 1 axes ["", "", ""] {
  ^bb0(%x: index, %y: index, %z: index, %w: index):
    // expected-error @below {{'tile.load' op expected a coordinate for each of the box's 4 dimensions, got 3}}
    %a = tile.load %A[%x, %x, %c0, %c0] box [2, 1, 32, 64] gathered 0 : memref<9x2x32x64xbf16> -> !tile.buffer<64x64xbf16, swizzle = 128>
  }
  return
}

// -----

func.func @threads_add(%f: !tile.fragment<64x64xf32>, %C: memref<96x77xf32>, %i: index) {
  // expected-error @below {{'tile.store' op expected TMA to add to a tensor and to store tiles of several widths, got threads}}
  tile.store %f to %C[%i, %i] box [64, 64] columns 64 swizzle 128 reduce_add by_threads : !tile.fragment<64x64xf32>, memref<96x77xf32>
  return
}

// -----

func.func @threads_step(%f: !tile.fragment<64x64xf32>, %C: memref<128x77xf32>, %i: index) {
  // expected-error @below {{'tile.store' op expected threads to store every element of a box, got steps [2, 1]}}
  tile.store %f to %C[%i, %i] box [64, 64] as [128, 77] strides [77, 1] steps [2, 1] columns 64 swizzle 128 by_threads : !tile.fragment<64x64xf32>, memref<128x77xf32>
  return
}
