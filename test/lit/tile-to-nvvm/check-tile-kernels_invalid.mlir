// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(gpu.func(check-tile-kernels)))' -split-input-file -verify-diagnostics

gpu.module @block {
  // expected-error@+1 {{expected known_block_size of whole warps along x alone for a kernel of tiles}}
  gpu.func @f() kernel attributes {known_block_size = array<i32: 32, 4, 1>} {
    tile.fence_async
    gpu.return
  }
}

// -----

gpu.module @cluster {
  // expected-error@+1 {{expected a cluster along x and y for a kernel of tiles, got 2 blocks along z}}
  gpu.func @f() kernel attributes {known_block_size = array<i32: 128, 1, 1>, known_cluster_size = array<i32: 1, 1, 2>} {
    tile.fence_async
    gpu.return
  }
}

// -----

gpu.module @threads {
  gpu.func @f() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error@+1 {{'tile.roles' op expected roles for the block's 256 threads, got 384}}
    tile.roles {
      tile.role "all" warps 12 {
        tile.fence_async
      }
    }
    gpu.return
  }
}

// -----

gpu.module @top {
  gpu.func @f(%c: i1) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    scf.if %c {
      // expected-error@+1 {{'tile.alloc' op expected at the top of the kernel}}
      %b = tile.alloc at 0 : !tile.buffer<8x16xf32>
    }
    gpu.return
  }
}

// -----

gpu.module @place {
  gpu.func @f() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // expected-error@+1 {{'tile.ring' op expected a place in shared memory: plan-tile-memory gives one}}
    %r = tile.ring consumers 1 : !tile.ring<1, !tile.buffer<8x16xf32>>
    gpu.return
  }
}

// -----

gpu.module @alone {
  gpu.func @f(%s: i32) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = tile.ring consumers 1 at 0 barriers at 512 : !tile.ring<1, !tile.buffer<8x16xf32>>
    // expected-error@+1 {{'tile.commit' op expected one thread to do this, in tile.elect}}
    tile.commit %r[%s] : !tile.ring<1, !tile.buffer<8x16xf32>>
    gpu.return
  }
}

// -----

gpu.module @together {
  gpu.func @f() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    tile.elect role {
      // expected-error@+1 {{'tile.wgmma_commit' op expected all threads of a warpgroup to do this, not one in tile.elect}}
      tile.wgmma_commit
    }
    gpu.return
  }
}

// -----

!b = !tile.buffer<64x64xbf16, swizzle = 128>
gpu.module @multicast {
  gpu.func @f(%m: !tile.tensor_map<64x64xbf16, swizzle = 128>, %s: i32, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = tile.ring consumers 1 at 0 barriers at 8192 : !tile.ring<1, !b>
    tile.elect role {
      %b = tile.acquire %r[%s, %s] : !tile.ring<1, !b>
      // expected-error@+1 {{'tile.tma_load' op expected a cluster of several blocks along y for a multicast}}
      tile.tma_load %m[%i, %i] to %b signal %r[%s] multicast y : !tile.tensor_map<64x64xbf16, swizzle = 128>, !b, !tile.ring<1, !b>
      tile.commit %r[%s] : !tile.ring<1, !b>
    }
    gpu.return
  }
}

// -----

!b = !tile.buffer<64x64xbf16, swizzle = 128>
gpu.module @slot {
  gpu.func @f(%m: !tile.tensor_map<64x64xbf16, swizzle = 128>, %s: i32, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = tile.ring consumers 1 at 0 barriers at 8192 : !tile.ring<1, !b>
    %c = tile.alloc at 16384 : !b
    tile.elect role {
      // expected-error@+1 {{'tile.tma_load' op expected a buffer of the acquired slot that is signalled}}
      tile.tma_load %m[%i, %i] to %c signal %r[%s] : !tile.tensor_map<64x64xbf16, swizzle = 128>, !b, !tile.ring<1, !b>
    }
    gpu.return
  }
}

// -----

!b = !tile.buffer<128x64xbf16, swizzle = 128>
!half = !tile.buffer<64x64xbf16, swizzle = 128>
gpu.module @fill {
  gpu.func @f(%m: !tile.tensor_map<64x64xbf16, swizzle = 128>, %s: i32, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = tile.ring consumers 1 at 0 barriers at 65536 : !tile.ring<1, !b>
    tile.elect role {
      // expected-error@+1 {{'tile.acquire' op expected loads that fill buffer #0 of the slot with its 16384 bytes, got 8192}}
      %b = tile.acquire %r[%s, %s] : !tile.ring<1, !b>
      %p = tile.part %b[%i, %i] : !b -> !half
      tile.tma_load %m[%i, %i] to %p signal %r[%s] : !tile.tensor_map<64x64xbf16, swizzle = 128>, !half, !tile.ring<1, !b>
      tile.commit %r[%s] : !tile.ring<1, !b>
    }
    gpu.return
  }
}

// -----

!b = !tile.buffer<64x64xbf16, swizzle = 128>
gpu.module @commit {
  gpu.func @f(%m: !tile.tensor_map<64x64xbf16, swizzle = 128>, %s: i32, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %r = tile.ring consumers 1 at 0 barriers at 8192 : !tile.ring<1, !b>
    tile.elect role {
      // expected-error@+1 {{'tile.acquire' op expected tile.commit of the slot after it}}
      %b = tile.acquire %r[%s, %s] : !tile.ring<1, !b>
      tile.tma_load %m[%i, %i] to %b signal %r[%s] : !tile.tensor_map<64x64xbf16, swizzle = 128>, !b, !tile.ring<1, !b>
    }
    gpu.return
  }
}

// -----

!b = !tile.buffer<64x64xbf16, swizzle = 128>
gpu.module @arrivals {
  gpu.func @f(%s: i32) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    // expected-error@+1 {{'tile.ring' op expected 2 consumer warpgroups, which release the ring, got 1}}
    %r = tile.ring consumers 1 at 0 barriers at 8192 : !tile.ring<1, !b>
    tile.roles {
      tile.role "producer" warps 4 {
        tile.fence_async
      }
      tile.role "consumer" warps 8 {
        tile.release %r[%s] : !tile.ring<1, !b>
      }
    }
    gpu.return
  }
}

// -----

gpu.module @turn {
  gpu.func @f(%set: index) kernel attributes {known_block_size = array<i32: 384, 1, 1>} {
    tile.roles {
      tile.role "consumer" warps 12 {
        // expected-error@+1 {{'tile.take_turn' op expected a role with turns 2 of 1 warpgroups each around it}}
        tile.take_turn %set of 2 warpgroups 1
      }
    }
    gpu.return
  }
}

// -----

gpu.module @warpgroups {
  gpu.func @f(%set: index) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    tile.roles {
      tile.role "consumer" warps 16 turns 2 {
        tile.take_turn %set of 2 warpgroups 2
        // expected-error@+1 {{'tile.pass_turn' op expected a role with turns 2 of 1 warpgroups each around it}}
        tile.pass_turn %set of 2 warpgroups 1
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kept {
  gpu.func @f(%set: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    tile.roles {
      // expected-error@+1 {{'tile.role' op expected tile.take_turn and tile.pass_turn in a role with turns, got no tile.pass_turn}}
      tile.role "consumer" warps 8 turns 2 {
        tile.take_turn %set of 2 warpgroups 1
      }
    }
    gpu.return
  }
}

// -----

gpu.module @kept_within_a_tile {
  gpu.func @f(%set: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    tile.roles {
      // expected-error@+1 {{'tile.role' op expected tile.take_turn and tile.pass_turn in a role with turns, got no tile.pass_turn}}
      tile.role "consumer" warps 8 {
        tile.take_turn %set of 2 warpgroups 1
      }
    }
    gpu.return
  }
}

// -----

gpu.module @arrivals_of_turns {
  gpu.func @f(%set: index, %s: i32) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    // expected-error@+1 {{'tile.ring' op expected 1 consumer warpgroups, which release the ring, got 2}}
    %r = tile.ring consumers 2 at 0 barriers at 512 : !tile.ring<1, !tile.buffer<8x16xf32>>
    tile.roles {
      tile.role "consumer" warps 8 turns 2 {
        tile.take_turn %set of 2 warpgroups 1
        tile.release %r[%s] : !tile.ring<1, !tile.buffer<8x16xf32>>
        tile.pass_turn %set of 2 warpgroups 1
      }
    }
    gpu.return
  }
}
