// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(check-tile-kernels)))' > %t
// RUN: tilewright-opt %s | diff - %t

// A kernel with nothing wrong stays as it is: memory at the top with its places, loads that fill the acquired slot, one
// thread where one is wanted, turns that are taken and passed, and as many consumers as release the ring.

!map = !tile.tensor_map<64x64xbf16, swizzle = 128>
!tile = !tile.buffer<64x64xbf16, swizzle = 128>
!ring = !tile.ring<2, !tile>

gpu.module @kernels {
  gpu.func @k(%map: !map) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    %c0 = arith.constant 0 : index
    %slot = arith.constant 0 : i32
    %ring = tile.ring consumers 1 at 0 barriers at 24576 : !ring
    %c = tile.alloc at 16384 : !tile
    tile.roles {
      tile.role "producer" warps 4 registers 40 {
      ^bb0(%warpgroup: index):
        tile.elect role {
          %into = tile.acquire %ring[%slot, %slot] : !ring
          tile.tma_load %map[%c0, %c0] to %into signal %ring[%slot] : !map, !tile, !ring
          tile.commit %ring[%slot] : !ring
        }
      }
      tile.role "consumer" warps 8 registers 232 turns 2 {
      ^bb0(%warpgroup: index):
        tile.take_turn %warpgroup of 2 warpgroups 1
        %a = tile.wait %ring[%slot, %slot] : !ring
        tile.release %ring[%slot] : !ring
        tile.pass_turn %warpgroup of 2 warpgroups 1
      }
    }
    gpu.return
  }
}
