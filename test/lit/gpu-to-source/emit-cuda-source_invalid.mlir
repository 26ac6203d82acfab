// RUN: tilewright-opt %s --split-input-file --verify-diagnostics --emit-cuda-source

gpu.module @op {
  gpu.func @k(%a: memref<4xi32>, %x: i32, %i: index) kernel {
    // expected-error@+1 {{expected an atomic addition whose result is not used}}
    %0 = memref.atomic_rmw maxs %x, %a[%i] : (i32, memref<4xi32>) -> i32
    gpu.return
  }
}
// -----
gpu.module @module {
  // expected-error@+1 {{func.func has no form in CUDA C++}}
  func.func private @f()
}
// -----
gpu.module @rank_of_vector {
  gpu.func @k(%a: memref<4x4xf32>, %i: index) kernel {
    // expected-error@+1 {{vector.load has no form in CUDA C++}}
    %0 = vector.load %a[%i, %i] : memref<4x4xf32>, vector<2x2xf32>
    gpu.return
  }
}
// -----
gpu.module @integer {
  gpu.func @k(%a: memref<4xi32>, %x: i32, %i: index) kernel {
    // expected-error@+1 {{expected values of a type that CUDA C++ has}}
    %0 = arith.trunci %x : i32 to i5
    %1 = arith.extui %0 : i5 to i32
    memref.store %1, %a[%i] : memref<4xi32>
    memref.store %1, %a[%i] : memref<4xi32>
    %2 = arith.addi %0, %0 : i5
    gpu.return
  }
}
// -----
gpu.module @elements {
  gpu.func @k() kernel {
    // expected-error@+1 {{expected elements of a type that CUDA C++ has}}
    %0 = memref.alloca() : memref<4xi5, #gpu.address_space<private>>
    gpu.return
  }
}
// -----
gpu.module @arguments {
  // expected-error@+1 {{expected arguments of types that CUDA C++ has}}
  gpu.func @k(%a: memref<4xi5>) kernel { gpu.return }
}
// -----
gpu.module @attributions {
  // expected-error@+1 {{expected a kernel of one block, whose memory is allocated in its body}}
  gpu.func @k() workgroup(%a : memref<4xf32, #gpu.address_space<workgroup>>) kernel { gpu.return }
}
// -----
gpu.module @layout {
  gpu.func @k(%a: memref<4xf32, strided<[2], offset: 1>>, %x: f32, %i: index) kernel {
    // expected-error@+1 {{expected a row-major buffer}}
    memref.store %x, %a[%i] : memref<4xf32, strided<[2], offset: 1>>
    gpu.return
  }
}
// -----
gpu.module @shuffle {
  gpu.func @k(%a: memref<4xf32>, %x: f32, %o: i32, %i: index) kernel {
    %w = arith.constant 12 : i32
    // expected-error@+1 {{expected a shuffle of 2, 4, 8, 16 or 32 lanes, whose values alone are used}}
    %0, %1 = gpu.shuffle xor %x, %o, %w : f32
    memref.store %0, %a[%i] : memref<4xf32>
    gpu.return
  }
}
// -----
gpu.module @view {
  memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
  gpu.func @k(%i: index) kernel {
    %0 = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
    // expected-error@+1 {{expected a view at a constant offset in shared memory}}
    %1 = memref.view %0[%i][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<4xf32, #gpu.address_space<workgroup>>
    gpu.return
  }
}
// -----
gpu.module @alloca {
  gpu.func @k(%i: index) kernel {
    // expected-error@+1 {{expected a buffer of static shape}}
    %0 = memref.alloca(%i) : memref<?xf32, #gpu.address_space<private>>
    gpu.return
  }
}
// -----
gpu.module @copy {
  gpu.func @k(%a: memref<16xi8>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %0 = memref.get_global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>>
    %1 = memref.view %0[%c0][] : memref<0xi8, #gpu.address_space<workgroup>> to memref<16xi8, #gpu.address_space<workgroup>>
    // expected-error@+1 {{expected an asynchronous copy of 4, 8 or 16 bytes without a use of its token}}
    %2 = nvgpu.device_async_copy %a[%i], %1[%c0], 4 : memref<16xi8> to memref<16xi8, #gpu.address_space<workgroup>>
    %3 = nvgpu.device_async_create_group %2
    gpu.return
  }
  memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}
}
// -----
gpu.module @elected {
  gpu.func @k(%map: !tile.tensor_map<64x64xbf16, swizzle = 128>) kernel {
    // expected-error@+1 {{tile.elect has no form in CUDA C++: it becomes conditions first (expand-tile-roles)}}
    tile.elect role {
      tile.fence_async
    }
    gpu.return
  }
}
// -----
gpu.module @roles {
  gpu.func @k() kernel {
    // expected-error@+1 {{tile.roles has no form in CUDA C++: it becomes conditions first (expand-tile-roles)}}
    tile.roles {
      tile.role "one" warps 4 {
      }
    }
    gpu.return
  }
}
// -----
gpu.module @ring {
  gpu.func @k() kernel {
    // expected-error@+1 {{expected a ring with its place in shared memory (plan-tile-memory)}}
    %ring = tile.ring consumers 1 : !tile.ring<2, !tile.buffer<64x64xbf16, swizzle = 128>>
    gpu.return
  }
}
// -----
gpu.module @buffer {
  gpu.func @k() kernel {
    // expected-error@+1 {{expected a tile with its place in shared memory (plan-tile-memory)}}
    %c = tile.alloc : !tile.buffer<64x64xbf16, swizzle = 128>
    gpu.return
  }
}
// -----
gpu.module @product_of_tiles {
  gpu.func @k(%a: vector<4x1xf32>, %b: vector<2x1xf32>, %c: vector<2x2xf32>, %to: memref<2xf32>, %i: index) kernel {
    // expected-error@+1 {{expected an mma of a shape that schedules make: 16 x 8 x 16 of f16 or bf16, 16 x 8 x 8 of tf32, 16 x 8 x 32 of i8 or 8-bit floats}}
    %d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 8]} : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
    gpu.return
  }
}

// -----

// expected-error@+1 {{expected an index of 32 or 64 bits in the data layout, got 0}}
gpu.module @width attributes {dlti.dl_spec = #dlti.dl_spec<index = -2147483648 : i64>} {
  gpu.func @k(%a: memref<4xf32>) kernel { gpu.return }
}

// -----

gpu.module @product {
  gpu.func @k(%a: vector<4x1xf32>, %b: vector<2x1xf32>, %c: vector<2x2xindex>) kernel {
    // expected-error@+1 {{expected an mma of a shape that schedules make: 16 x 8 x 16 of f16 or bf16, 16 x 8 x 8 of tf32, 16 x 8 x 32 of i8 or 8-bit floats}}
    %0 = "nvgpu.mma.sync"(%a, %b, %c) <{mmaShape = [16, 8, 8]}> : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xindex>) -> vector<2x2xindex>
    gpu.return
  }
}
// -----
gpu.module @number {
  // expected-error@+1 {{expected arguments of types that CUDA C++ has}}
  gpu.func @k(%x: i5) kernel { gpu.return }
}

// -----

gpu.module @of_float32 {
  gpu.func @k() kernel {
    %a = tile.alloc at 0 : <64x8xf32, swizzle = 32>
    %b = tile.alloc at 4096 : <8x8xf32, swizzle = 32>
    // expected-error@+1 {{expected a matmul of warpgroups, got one of f32, which warps multiply: the PTX has it}}
    %sum = tile.wgmma %a, %b : !tile.buffer<64x8xf32, swizzle = 32>, !tile.buffer<8x8xf32, swizzle = 32> -> !tile.accumulator<64x8xf32>
    gpu.return
  }
}
