#map = affine_map<()[s0] -> (s0 * 128)>
#map1 = affine_map<(d0) -> (d0 * 64)>
#map2 = affine_map<()[s0] -> (s0 * 64)>
#map3 = affine_map<(d0, d1)[s0] -> (d0 * 64 + d1 + s0 * 128)>
#map4 = affine_map<(d0)[s0] -> (d0 + s0 * 64)>
module attributes {gpu.container_module} {
  gpu.module @hgemm_kernels {
    memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
    gpu.func @hgemm_kernel0(%arg0: memref<256x256xbf16> {te.name = "C"}, %arg1: !tile.tensor_map<128x64xbf16, swizzle = 128>, %arg2: !tile.tensor_map<64x64xbf16, swizzle = 128>) kernel attributes {known_block_size = array<i32: 384, 1, 1>, known_grid_size = array<i32: 4, 2, 1>} {
      %c0_i32 = arith.constant 0 : i32
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %block_id_x = gpu.block_id  x
      %block_id_y = gpu.block_id  y
      %ring = tile.ring consumers 2 at 0 barriers at 49152 : <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
      tile.roles {
        tile.role "producer" warps 4 registers 40 {
          tile.elect role {
            %0:2 = scf.for %arg3 = %c0 to %c4 step %c1 iter_args(%arg4 = %c0_i32, %arg5 = %c0_i32) -> (i32, i32) {
              %1:2 = tile.acquire %ring[%arg4, %arg5] : <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
              %2 = affine.apply #map()[%block_id_y]
              %3 = affine.apply #map1(%arg3)
              tile.tma_load %arg1[%2, %3] to %1#0 signal %ring[%arg4] : <128x64xbf16, swizzle = 128>, <128x64xbf16, swizzle = 128>, <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
              %4 = affine.apply #map2()[%block_id_x]
              tile.tma_load %arg2[%3, %4] to %1#1 signal %ring[%arg4] : <64x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>, <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
              tile.commit %ring[%arg4] : <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
              %nextSlot, %nextPhase = tile.advance %ring[%arg4, %arg5] : <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
              scf.yield %nextSlot, %nextPhase : i32, i32
            } {schedule.axis = #schedule.axis<"k.outer" of "P">}
          }
        }
        tile.role "consumer" warps 8 registers 232 {
        ^bb0(%arg3: index):
          %0:2 = tile.wait %ring[%c0_i32, %c0_i32] : <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
          %1 = tile.part %0#0[%arg3, %c0] : <128x64xbf16, swizzle = 128> -> <64x64xbf16, swizzle = 128>
          %2 = tile.wgmma %1, %0#1 mn_major : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.accumulator<64x64xf32>
          tile.wgmma_commit
          %nextSlot, %nextPhase = tile.advance %ring[%c0_i32, %c0_i32] : <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
          %3:4 = scf.for %arg4 = %c1 to %c4 step %c1 iter_args(%arg5 = %2, %arg6 = %nextSlot, %arg7 = %nextPhase, %arg8 = %c0_i32) -> (!tile.accumulator<64x64xf32>, i32, i32, i32) {
            %6:2 = tile.wait %ring[%arg6, %arg7] : <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
            %7 = tile.part %6#0[%arg3, %c0] : <128x64xbf16, swizzle = 128> -> <64x64xbf16, swizzle = 128>
            %8 = tile.wgmma %7, %6#1 mn_major into %arg5 : !tile.buffer<64x64xbf16, swizzle = 128>, !tile.buffer<64x64xbf16, swizzle = 128> -> !tile.accumulator<64x64xf32>
            tile.wgmma_commit
            tile.wgmma_wait 1
            %nextSlot_0, %nextPhase_1 = tile.advance %ring[%arg6, %arg7] : <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
            tile.release %ring[%arg8] : <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
            scf.yield %8, %nextSlot_0, %nextPhase_1, %arg6 : !tile.accumulator<64x64xf32>, i32, i32, i32
          }
          %4 = tile.wgmma_wait 0 for %3#0 : !tile.accumulator<64x64xf32> -> !tile.fragment<64x64xf32>
          tile.release %ring[%3#3] : <2, <128x64xbf16, swizzle = 128>, <64x64xbf16, swizzle = 128>>
          %5 = tile.map %4 : !tile.fragment<64x64xf32> {te.stage = "C"} -> <64x64xf32> {
          ^bb0(%arg4: f32, %arg5: index, %arg6: index):
            %6 = arith.truncf %arg4 : f32 to bf16
            %7 = affine.apply #map3(%arg3, %arg5)[%block_id_y]
            %8 = affine.apply #map4(%arg6)[%block_id_x]
            memref.store %6, %arg0[%7, %8] : memref<256x256xbf16>
            tile.yield %arg4 : f32
          }
        }
      }
      gpu.return
    }
  }
  func.func @hgemm(%arg0: memref<256x256xbf16> {te.dtype = bf16, te.name = "A"}, %arg1: memref<256x256xbf16> {te.dtype = bf16, te.name = "B"}, %arg2: memref<256x256xbf16> {te.dtype = bf16, te.name = "C", te.output}) {
    %c49184_i32 = arith.constant 49184 : i32
    %c384 = arith.constant 384 : index
    %c4 = arith.constant 4 : index
    %c2 = arith.constant 2 : index
    %c1 = arith.constant 1 : index
    %map = tile.encode %arg0 : memref<256x256xbf16> -> <128x64xbf16, swizzle = 128>
    %map_0 = tile.encode %arg1 : memref<256x256xbf16> -> <64x64xbf16, swizzle = 128>
    gpu.launch_func  @hgemm_kernels::@hgemm_kernel0 blocks in (%c4, %c2, %c1) threads in (%c384, %c1, %c1)  dynamic_shared_memory_size %c49184_i32 args(%arg2 : memref<256x256xbf16>, %map : !tile.tensor_map<128x64xbf16, swizzle = 128>, %map_0 : !tile.tensor_map<64x64xbf16, swizzle = 128>) {tilewright.launch_origin = {block.x = "a warpgroup that copies and 2 that multiply, 3-loops.mlir:24", grid.x = "j.outer of stage C, 3-loops.mlir:15", grid.y = "i.outer of stage C, 3-loops.mlir:14", shared = "ring of a loop (2 slots of 24576 bytes), barriers (32 bytes)"}}
    return
  }
}

