// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

!a = !tile.buffer<64x64xbf16, swizzle = 128>
!b = !tile.buffer<128x64xbf16, swizzle = 128>
func.func @accumulator(%a: !a, %b: !b, %c: !tile.accumulator<64x128xf16>) {
  // expected-error@+1 {{'tile.wgmma' op expected an accumulator of the result's type '!tile.accumulator<64x128xf32>', got '!tile.accumulator<64x128xf16>'}}
  %r = "tile.wgmma"(%a, %b, %c) : (!a, !b, !tile.accumulator<64x128xf16>) -> !tile.accumulator<64x128xf32>
  return
}

// -----

!a = !tile.buffer<64x64xbf16, swizzle = 128>
!b = !tile.buffer<128x64xbf16, swizzle = 128>
func.func @types(%a: !a, %b: !b) {
  // expected-error@+1 {{'tile.wgmma' op expected types that wgmma has an instruction for, got 'bf16' and 'bf16' to 'f16'}}
  %r = tile.wgmma %a, %b : !a, !b -> !tile.accumulator<64x128xf16>
  return
}

// -----

!a = !tile.buffer<64x64xbf16, swizzle = 128>
!b = !tile.buffer<128x64xbf16>
func.func @swizzle(%a: !a, %b: !b) {
  // expected-error@+1 {{'tile.wgmma' op expected operands with a swizzle, got '!tile.buffer<128x64xbf16>'}}
  %r = tile.wgmma %a, %b : !a, !b -> !tile.accumulator<64x128xf32>
  return
}

// -----

!a = !tile.buffer<64x128xi8, swizzle = 128>
!b = !tile.buffer<128x128xi8, swizzle = 128>
func.func @major(%a: !a, %b: !b) {
  // expected-error@+1 {{'tile.wgmma' op expected both operands with the dimension that is summed over as their columns, as wgmma wants it of 'i8'}}
  %r = tile.wgmma %a, %b mn_major : !a, !b -> !tile.accumulator<64x128xi32>
  return
}

// -----

!a = !tile.buffer<128x64xbf16, swizzle = 128>
!b = !tile.buffer<128x64xbf16, swizzle = 128>
func.func @rows(%a: !a, %b: !b) {
  // expected-error@+1 {{'tile.wgmma' op expected operand A to have the result's 64 rows, got 128}}
  %r = tile.wgmma %a, %b : !a, !b -> !tile.accumulator<64x128xf32>
  return
}

// -----

!a = !tile.buffer<64x64xbf16, swizzle = 128>
!b = !tile.buffer<128x64xbf16, swizzle = 128>
func.func @columns(%a: !a, %b: !b) {
  // expected-error@+1 {{'tile.wgmma' op expected operand B to have the result's 256 columns, got 128}}
  %r = tile.wgmma %a, %b : !a, !b -> !tile.accumulator<64x256xf32>
  return
}

// -----

!a = !tile.buffer<64x64xbf16, swizzle = 128>
!b = !tile.buffer<128x64xbf16, swizzle = 128>
func.func @agree(%a: !a, %b: !b) {
  // expected-error@+1 {{'tile.wgmma' op expected operands that agree in the dimension that is summed over, got 64 and 128}}
  %r = tile.wgmma %a, %b mn_major : !a, !b -> !tile.accumulator<64x64xf32>
  return
}

// -----

!a = !tile.buffer<8x64xbf16, swizzle = 128>
!b = !tile.buffer<8x64xbf16, swizzle = 128>
func.func @multiple(%a: !a, %b: !b) {
  // expected-error@+1 {{'tile.wgmma' op expected to sum over a multiple of 16 elements, got 8}}
  %r = tile.wgmma %a mn_major, %b mn_major : !a, !b -> !tile.accumulator<64x64xf32>
  return
}

// -----

func.func @fragment(%c: !tile.accumulator<64x128xf32>) {
  // expected-error@+1 {{'tile.wgmma_wait' op expected a fragment like '!tile.accumulator<64x128xf32>', got '!tile.fragment<64x64xf32>'}}
  %f = tile.wgmma_wait 0 for %c : !tile.accumulator<64x128xf32> -> !tile.fragment<64x64xf32>
  return
}

// -----

func.func @store_rows(%f: !tile.fragment<64x128xf32>, %b: !tile.buffer<32x128xf32>) {
  // expected-error@+1 {{'tile.store_fragment' op expected a buffer of the fragment's rows, got '!tile.buffer<32x128xf32>' for '!tile.fragment<64x128xf32>'}}
  tile.store_fragment %f to %b : !tile.fragment<64x128xf32>, !tile.buffer<32x128xf32>
  return
}

// -----

func.func @store_columns(%f: !tile.fragment<64x128xf32>, %b: !tile.buffer<64x64xf32>) {
  // expected-error@+1 {{'tile.store_fragment' op expected columns of the fragment, from a multiple of 16 on, got 64 from 80 of 128}}
  tile.store_fragment %f from 80 to %b : !tile.fragment<64x128xf32>, !tile.buffer<64x64xf32>
  return
}

// -----

func.func @store_transposed_rows(%f: !tile.fragment<64x128xf32>, %b: !tile.buffer<16x128xbf16>) {
  // expected-error@+1 {{'tile.store_fragment' op expected a buffer of the fragment's rows as its columns, got '!tile.buffer<16x128xbf16>' for '!tile.fragment<64x128xf32>'}}
  tile.store_fragment %f transposed to %b : !tile.fragment<64x128xf32>, !tile.buffer<16x128xbf16>
  return
}

// -----

func.func @store_transposed_columns(%f: !tile.fragment<64x128xf32>, %b: !tile.buffer<32x64xbf16>) {
  // expected-error@+1 {{'tile.store_fragment' op expected columns of the fragment, from a multiple of 16 on, got 32 from 112 of 128}}
  tile.store_fragment %f from 112 transposed to %b : !tile.fragment<64x128xf32>, !tile.buffer<32x64xbf16>
  return
}

// -----

func.func @store_type(%f: !tile.fragment<64x64xi32>, %b: !tile.buffer<64x64xbf16>) {
  // expected-error@+1 {{'tile.store_fragment' op expected a buffer of the fragment's elements, of f32 one of f16 or bf16, or of i8 one of 8 bits, got 'bf16' for 'i32'}}
  tile.store_fragment %f to %b : !tile.fragment<64x64xi32>, !tile.buffer<64x64xbf16>
  return
}

// -----

func.func @store_transposed_bytes(%f: !tile.fragment<64x64xi8>, %b: !tile.buffer<64x64xi8>) {
  // expected-error@+1 {{'tile.store_fragment' op expected transposed elements of 16 or 32 bits, got 'i8'}}
  tile.store_fragment %f transposed to %b : !tile.fragment<64x64xi8>, !tile.buffer<64x64xi8>
  return
}

// -----

func.func @save_elements(%f: !tile.fragment<64x64xf32>, %b: memref<4x4096xbf16>, %i: index) {
  // expected-error@+1 {{'tile.save_fragment' op expected a buffer in global memory with rows of 4096 elements of 'f32', got 'memref<4x4096xbf16>'}}
  tile.save_fragment %f to %b[%i] : !tile.fragment<64x64xf32>, memref<4x4096xbf16>
  return
}

// -----

func.func @restore_row(%b: memref<4x4000xf32>, %i: index) {
  // expected-error@+1 {{'tile.restore_fragment' op expected a buffer in global memory with rows of 4096 elements of 'f32', got 'memref<4x4000xf32>'}}
  %f = tile.restore_fragment %b[%i] : memref<4x4000xf32> -> !tile.fragment<64x64xf32>
  return
}

// -----

func.func @roles_only() {
  tile.roles {
    // expected-error@+1 {{'tile.fence_async' op expected roles only in tile.roles}}
    tile.fence_async
  }
  return
}

// -----

func.func @names() {
  tile.roles {
    tile.role "a" warps 1 {
      tile.fence_async
    }
    // expected-error@+1 {{'tile.role' op expected names that differ, got 'a' twice}}
    tile.role "a" warps 1 {
      tile.fence_async
    }
  }
  return
}

// -----

func.func @some_registers() {
  tile.roles {
    tile.role "a" warps 4 registers 40 {
      tile.fence_async
    }
    // expected-error@+1 {{'tile.role' op expected registers for all roles or for none}}
    tile.role "b" warps 4 {
      tile.fence_async
    }
  }
  return
}

// -----

func.func @first_warp() {
  tile.roles {
    tile.role "producer" warps 1 {
      tile.fence_async
    }
    // expected-error@+1 {{'tile.role' op expected role 'consumer' to start at a multiple of 4 warps, a warpgroup, which its ops are for, got warp 1}}
    tile.role "consumer" warps 4 {
      tile.wgmma_commit
    }
  }
  return
}

// -----

func.func @whole_warpgroups() {
  tile.roles {
    // expected-error@+1 {{'tile.role' op expected role 'producer' to have a multiple of 4 warps, warpgroups, which registers are handed out to, got 1}}
    tile.role "producer" warps 1 registers 40 {
      tile.fence_async
    }
  }
  return
}

// -----

func.func @registers() {
  tile.roles {
    // expected-error@+1 {{'tile.role' op expected a multiple of 8 registers from 24 to 240, got 250}}
    tile.role "producer" warps 4 registers 250 {
      tile.fence_async
    }
  }
  return
}

// -----

func.func @all_registers() {
  // expected-error@+1 {{'tile.roles' op expected roles with at most 64512 registers in all, which 384 threads are launched with, got 66560}}
  tile.roles {
    tile.role "producer" warps 4 registers 40 {
      tile.fence_async
    }
    tile.role "consumer" warps 8 registers 240 {
      tile.fence_async
    }
  }
  return
}

// -----

func.func @none() {
  // expected-error@+1 {{'tile.roles' op expected at least one role}}
  tile.roles {
  }
  return
}

// -----

func.func @argument() {
  tile.roles {
    // expected-error@+1 {{'tile.role' op expected at most one argument of its region, an index: the number of the warpgroup}}
    tile.role "a" warps 1 {
    ^bb0(%i: i32):
      tile.fence_async
    }
  }
  return
}

// -----

func.func @map_size(%f: !tile.fragment<64x128xf32>) {
  // expected-error@+1 {{'tile.map' op expected a result of the size of '!tile.fragment<64x128xf32>', got '!tile.fragment<64x64xf32>'}}
  %r = tile.map %f : !tile.fragment<64x128xf32> -> !tile.fragment<64x64xf32> {
  ^bb0(%x: f32, %row: index, %column: index):
    tile.yield %x : f32
  }
  return
}

// -----

func.func @map_arguments(%f: !tile.fragment<64x128xf32>) {
  // expected-error@+1 {{'tile.map' op expected a region with the arguments 'f32', 'index', 'index'}}
  %r = tile.map %f : !tile.fragment<64x128xf32> -> !tile.fragment<64x128xf32> {
  ^bb0(%x: f32):
    tile.yield %x : f32
  }
  return
}

// -----

func.func @map_yield(%f: !tile.fragment<64x128xf32>) {
  // expected-error@+1 {{'tile.map' op expected a region that ends in tile.yield of 'f16'}}
  %r = tile.map %f : !tile.fragment<64x128xf32> -> !tile.fragment<64x128xf16> {
  ^bb0(%x: f32, %row: index, %column: index):
    tile.yield %x : f32
  }
  return
}

// -----

func.func @extract(%f: !tile.fragment<64x8xf32>) {
  // expected-error@+1 {{'tile.extract' op expected one of the 4 elements of 'f32' that a thread holds, got number 4 of 'f32'}}
  %x = tile.extract %f[4] : !tile.fragment<64x8xf32> -> f32
  return
}

// -----

func.func @assemble(%x: f32) {
  // expected-error@+1 {{'tile.assemble' op expected the 4 elements that a thread holds, got 2}}
  %f = tile.assemble %x, %x : f32 -> !tile.fragment<64x8xf32>
  return
}

// -----

func.func @assemble_type(%x: f16) {
  // expected-error@+1 {{'tile.assemble' op expected elements of 'f32', got 'f16'}}
  %f = tile.assemble %x, %x, %x, %x : f16 -> !tile.fragment<64x8xf32>
  return
}

// -----

func.func @sets() {
  tile.roles {
    // expected-error@+1 {{'tile.role' op expected role 'consumer' to have a multiple of 8 warps, warpgroups that take 2 turns, got 12}}
    tile.role "consumer" warps 12 turns 2 {
    }
  }
  return
}

// -----

!a = !tile.buffer<64x64xbf16, swizzle = 128>
!b = !tile.buffer<128x64xbf16, swizzle = 128>
func.func @columns(%a: !a, %b: !b) {
  // expected-error@+1 {{'tile.wgmma' op expected a multiple of 8 columns up to the result's 128, got 12}}
  %r = tile.wgmma %a, %b columns 12 : !a, !b -> !tile.accumulator<64x128xf32>
  return
}

// -----

!a = !tile.buffer<64x64xbf16, swizzle = 128>
!b = !tile.buffer<128x64xbf16, swizzle = 128>
func.func @columns(%a: !a, %b: !b) {
  // expected-error@+1 {{'tile.wgmma' op expected a multiple of 8 columns up to the result's 128, got 136}}
  %r = tile.wgmma %a, %b columns 136 : !a, !b -> !tile.accumulator<64x128xf32>
  return
}

// -----

!a = !tile.buffer<64x128xi8, swizzle = 128>
!b = !tile.buffer<128x128xi8, swizzle = 128>
func.func @columns_of_integers(%a: !a, %b: !b) {
  // expected-error@+1 {{'tile.wgmma' op expected a multiple of 16 columns of 'i8', got 120}}
  %r = tile.wgmma %a, %b columns 120 : !a, !b -> !tile.accumulator<64x128xi32>
  return
}

// -----

func.func @registers_f32(%a: !tile.fragment<64x64xf16>, %b: !tile.buffer<64x64xf16, swizzle = 128>) {
  // expected-error@+1 {{'tile.wgmma' op expected operand A in registers of 16-bit elements, of f8E4M3FN or of f32, whose columns are summed over, got '!tile.fragment<64x64xf16>' mn_major}}
  %r = tile.wgmma %a mn_major, %b : !tile.fragment<64x64xf16>, !tile.buffer<64x64xf16, swizzle = 128> -> !tile.accumulator<64x64xf32>
  return
}

// -----

func.func @registers_k(%a: !tile.fragment<64x32xbf16>, %b: !tile.buffer<64x64xbf16, swizzle = 128>) {
  // expected-error@+1 {{'tile.wgmma' op expected operands that agree in the dimension that is summed over, got 32 and 64}}
  %r = tile.wgmma %a, %b : !tile.fragment<64x32xbf16>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.accumulator<64x64xf32>
  return
}

// -----

func.func @to_accumulator(%f: !tile.fragment<64x64xf32>) {
  // expected-error@+1 {{'tile.to_accumulator' op expected an accumulator like '!tile.fragment<64x64xf32>', got '!tile.accumulator<64x128xf32>'}}
  %r = tile.to_accumulator %f : !tile.fragment<64x64xf32> -> !tile.accumulator<64x128xf32>
  return
}

// -----

func.func @row_reduce_result(%f: !tile.fragment<64x64xf32>, %g: !tile.fragment<64x8xf32>) {
  // expected-error@+1 {{'tile.row_reduce' op operand #1 must be fragment of one column of f32 or i32, but got '!tile.fragment<64x8xf32>'}}
  %r = tile.row_reduce max %f into %g : !tile.fragment<64x64xf32> -> !tile.fragment<64x8xf32>
  return
}

// -----

func.func @row_reduce_elements(%f: !tile.fragment<64x64xf32>, %g: !tile.fragment<64x1xi32>) {
  // expected-error@+1 {{'tile.row_reduce' op failed to verify that all of {fragment, result} have same element type}}
  %r = tile.row_reduce max %f into %g : !tile.fragment<64x64xf32> -> !tile.fragment<64x1xi32>
  return
}

// -----

func.func @rows_rank(%b: !tile.buffer<64x64xf32>, %c: memref<96x77xf32>, %i: index) {
  // expected-error@+1 {{'tile.store_rows' op expected a coordinate for each dimension of a box like the tensor, of at least two, got 1 coordinates and a box of 2 dimensions of 2}}
  tile.store_rows %b to %c[%i] box [64, 64] : !tile.buffer<64x64xf32>, memref<96x77xf32>
  return
}

// -----

func.func @rows_strides(%b: !tile.buffer<64x64xf32>, %c: memref<96x77xf32>, %i: index) {
  // expected-error@+1 {{'tile.store_rows' op expected a stride for each of 2 dimensions, got 1}}
  tile.store_rows %b to %c[%i, %i] box [64, 64] as [96, 77] strides [77] : !tile.buffer<64x64xf32>, memref<96x77xf32>
  return
}

// -----

func.func @rows_layout(%b: !tile.buffer<64x64xf32>, %c: memref<96x77xf32, strided<[80, 1]>>, %i: index) {
  // expected-error@+1 {{'tile.store_rows' op expected a tensor in global memory, row-major if it has other dimensions, got 'memref<96x77xf32, strided<[80, 1]>>'}}
  tile.store_rows %b to %c[%i, %i] box [64, 64] as [96, 77] strides [77, 1] : !tile.buffer<64x64xf32>, memref<96x77xf32, strided<[80, 1]>>
  return
}

// -----

func.func @rows_box(%b: !tile.buffer<64x64xf32>, %c: memref<96x77xf32>, %i: index) {
  // expected-error@+1 {{'tile.store_rows' op expected a box of the buffer's 64 rows and 64 columns, got [64, 32]}}
  tile.store_rows %b to %c[%i, %i] box [64, 32] : !tile.buffer<64x64xf32>, memref<96x77xf32>
  return
}

// -----

func.func @rows_elements(%b: !tile.buffer<64x64xf32>, %c: memref<96x77xbf16>, %i: index) {
  // expected-error@+1 {{'tile.store_rows' op expected a tensor of the buffer's elements, got 'memref<96x77xbf16>' for '!tile.buffer<64x64xf32>'}}
  tile.store_rows %b to %c[%i, %i] box [64, 64] : !tile.buffer<64x64xf32>, memref<96x77xbf16>
  return
}

// -----

func.func @read_element(%b: !tile.buffer<64x64xf32>, %i: index) {
  // expected-error@+1 {{'tile.read_element' op expected an element of '!tile.buffer<64x64xf32>', got 'bf16'}}
  %x = tile.read_element %b[%i, %i] : !tile.buffer<64x64xf32> -> bf16
  return
}
