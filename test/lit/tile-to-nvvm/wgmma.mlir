// RUN: tilewright-opt %s --pass-pipeline='builtin.module(gpu.module(convert-kernels-to-nvvm))' | FileCheck %s

// All instructions of a tile.wgmma, one after the other along k, are one inline PTX: the registers of the result, the same
// ones as they were before, and descriptors of A and B for each instruction.
gpu.module @kernels {
  memref.global @shared_memory : memref<0xi8, #gpu.address_space<workgroup>> {alignment = 1024 : i64}

  // CHECK-LABEL: llvm.func @begins
  gpu.func @begins() kernel {
    %a = tile.alloc at 0 : <64x32xbf16, swizzle = 64>
    %b = tile.alloc at 4096 : <8x32xbf16, swizzle = 64>
    // Nothing is added to by the first of two.
    // CHECK: %[[NONE:.*]] = llvm.mlir.undef : f32
    // CHECK: nvvm.wgmma.fence.aligned
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-SAME: "{\0A.reg .pred p;\0Asetp.ne.b32 p, 0, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $8, $9, p, 1, 1, 0, 0;\0A}\0A
    // CHECK-SAME: {\0A.reg .pred p;\0Asetp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $10, $11, p, 1, 1, 0, 0;\0A}\0A"
    // CHECK-SAME: "=f,=f,=f,=f,0,1,2,3,l,l,l,l" %[[NONE]], %[[NONE]], %[[NONE]], %[[NONE]], %
    // CHECK-NOT: inline_asm
    %sum = tile.wgmma %a, %b : !tile.buffer<64x32xbf16, swizzle = 64>, !tile.buffer<8x32xbf16, swizzle = 64> -> !tile.accumulator<64x8xf32>
    gpu.return
  }

  // What both operands have as rows is summed over.
  // CHECK-LABEL: llvm.func @transposed
  gpu.func @transposed() kernel {
    %a = tile.alloc at 0 : <16x64xf16, swizzle = 128>
    %b = tile.alloc at 4096 : <16x16xf16, swizzle = 32>
    %zero = tile.zero : !tile.accumulator<64x16xf16>
    // CHECK: %[[ZERO:.*]] = llvm.mlir.zero : !llvm.struct<(i32, i32, i32, i32)>
    // CHECK: %[[FIRST:.*]] = llvm.extractvalue %[[ZERO]][0]
    // CHECK: llvm.inline_asm has_side_effects "{{.*}}setp.ne.b32 p, 1, 0;\0Awgmma.mma_async.sync.aligned.m64n16k16.f16.f16.f16 {$0, $1, $2, $3}, $8, $9, p, 1, 1, 1, 1;\0A}\0A", "=r,=r,=r,=r,0,1,2,3,l,l" %[[FIRST]],
    %sum = tile.wgmma %a mn_major, %b mn_major into %zero : !tile.buffer<16x64xf16, swizzle = 128>, !tile.buffer<16x16xf16, swizzle = 32> -> !tile.accumulator<64x16xf16>
    gpu.return
  }

  // Operand A of tf32 whose rows are summed over: each thread loads four elements for each instruction, of rows t and t + 4
  // and of columns g and g + 8.
  // CHECK-LABEL: llvm.func @across
  gpu.func @across() kernel {
    %a = tile.alloc at 0 : <16x64xtf32, swizzle = 128>
    %b = tile.alloc at 4096 : <8x16xtf32, swizzle = 64>
    // CHECK: %[[THREAD:.*]] = nvvm.read.ptx.sreg.tid.x
    // CHECK-COUNT-8: llvm.load %{{.*}} : !llvm.ptr<3> -> i32
    // CHECK-NOT: llvm.load
    // CHECK: nvvm.wgmma.fence.aligned
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1;\0A}\0A
    // CHECK-SAME: wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {$0, $1, $2, $3}, {$13, $14, $15, $16}, $17, p, 1, 1;\0A}\0A"
    // CHECK-SAME: "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,r,r,r,r,l"
    %sum = tile.wgmma %a mn_major, %b : !tile.buffer<16x64xtf32, swizzle = 128>, !tile.buffer<8x16xtf32, swizzle = 64> -> !tile.accumulator<64x8xf32>
    gpu.return
  }

  // Integers have no signs to change, and neither they nor 8-bit floats another order.
  // CHECK-LABEL: llvm.func @bytes
  gpu.func @bytes() kernel {
    %a = tile.alloc at 0 : <64x32xi8, swizzle = 32>
    %b = tile.alloc at 4096 : <8x32xi8, swizzle = 32>
    %c = tile.alloc at 8192 : <64x32xf8E4M3FN, swizzle = 32>
    %d = tile.alloc at 12288 : <8x32xf8E5M2, swizzle = 32>
    // CHECK: m64n8k32.s32.s8.s8 {$0, $1, $2, $3}, $8, $9, p;\0A}
    %0 = tile.wgmma %a, %b : !tile.buffer<64x32xi8, swizzle = 32>, !tile.buffer<8x32xi8, swizzle = 32> -> !tile.accumulator<64x8xi32>
    // CHECK: m64n8k32.f32.e4m3.e5m2 {$0, $1, $2, $3}, $8, $9, p, 1, 1;\0A}
    %1 = tile.wgmma %c, %d : !tile.buffer<64x32xf8E4M3FN, swizzle = 32>, !tile.buffer<8x32xf8E5M2, swizzle = 32> -> !tile.accumulator<64x8xf32>
    gpu.return
  }

  // Where more than 16 descriptors are of tiles that stay, each instruction adds its own to the first: they would be in
  // registers all the time.
  // CHECK-LABEL: llvm.func @held
  gpu.func @held() kernel {
    %a = tile.alloc at 0 : <64x144xbf16, swizzle = 32>
    %b = tile.alloc at 18432 : <8x144xbf16, swizzle = 32>
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-SAME: "{\0A.reg .pred p;\0Asetp.ne.b32 p, 0, 0;\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $8, $9, p, 1, 1, 0, 0;\0A}\0A
    // CHECK-SAME: setp.ne.b32 p, 1, 0;\0A.reg .b64 a;\0A.reg .b32 al, ah;\0Amov.b64 {al, ah}, $8;\0Aadd.s32 al, al, 128;\0Amov.b64 a, {al, ah};
    // CHECK-SAME: mov.b64 {bl, bh}, $9;\0Aadd.s32 bl, bl, 16;\0Amov.b64 b, {bl, bh};\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, a, b, p, 1, 1, 0, 0;
    // CHECK-SAME: add.s32 al, al, 1024;
    // CHECK-SAME: add.s32 bl, bl, 128;
    %sum = tile.wgmma %a, %b : !tile.buffer<64x144xbf16, swizzle = 32>, !tile.buffer<8x144xbf16, swizzle = 32> -> !tile.accumulator<64x8xf32>
    gpu.return
  }

  // An operand in registers gives four of them to each instruction.
  // CHECK-LABEL: llvm.func @registers
  gpu.func @registers(%x: bf16) kernel {
    %a = tile.assemble %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x : bf16 -> !tile.fragment<64x32xbf16>
    %b = tile.alloc at 0 : <8x32xbf16, swizzle = 64>
    // CHECK: llvm.inline_asm has_side_effects
    // CHECK-SAME: {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1, 0;
    // CHECK-SAME: {$0, $1, $2, $3}, {$13, $14, $15, $16}, $17, p, 1, 1, 0;
    // CHECK-SAME: "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,r,r,r,r,l"
    %sum = tile.wgmma %a, %b : !tile.fragment<64x32xbf16>, !tile.buffer<8x32xbf16, swizzle = 64> -> !tile.accumulator<64x8xf32>
    gpu.return
  }
  // Of 8-bit elements each register has four: two neighbours of 8 columns of a row, two of the next 8.
  // CHECK-LABEL: llvm.func @packed
  gpu.func @packed(%x: f32) kernel {
    %f = tile.assemble %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x : f32 -> !tile.fragment<64x32xf32>
    // CHECK: %[[F1:.*]] = llvm.extractvalue %{{.*}}[1]
    // CHECK-NEXT: %[[F0:.*]] = llvm.extractvalue %{{.*}}[0]
    // CHECK-NEXT: %[[P:.*]] = llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"(%[[F1]], %[[F0]]) : (f32, f32) -> i16
    // CHECK: %[[V:.*]] = llvm.insertelement %[[P]]
    // CHECK-NEXT: %[[F5:.*]] = llvm.extractvalue %{{.*}}[5]
    // CHECK-NEXT: %[[F4:.*]] = llvm.extractvalue %{{.*}}[4]
    // CHECK-NEXT: %[[Q:.*]] = llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"(%[[F5]], %[[F4]]) : (f32, f32) -> i16
    // CHECK: %[[W:.*]] = llvm.insertelement %[[Q]], %[[V]]
    // CHECK-NEXT: llvm.bitcast %[[W]] : vector<2xi16> to i32
    // CHECK: llvm.extractvalue %{{.*}}[3]
    // CHECK-NEXT: llvm.extractvalue %{{.*}}[2]
    // CHECK: llvm.extractvalue %{{.*}}[7]
    // CHECK-NEXT: llvm.extractvalue %{{.*}}[6]
    %a = tile.pack %f : !tile.fragment<64x32xf32> -> !tile.fragment<64x32xf8E4M3FN>
    %b = tile.alloc at 0 : <8x32xf8E4M3FN, swizzle = 32>
    // CHECK: m64n8k32.f32.e4m3.e4m3 {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1;
    %sum = tile.wgmma %a, %b : !tile.fragment<64x32xf8E4M3FN>, !tile.buffer<8x32xf8E4M3FN, swizzle = 32> -> !tile.accumulator<64x8xf32>
    gpu.return
  }
  // Integers of 8 bits: a register has two neighbours of a row, and two of the row 8 further down.
  // CHECK-LABEL: llvm.func @of_8_bits
  gpu.func @of_8_bits(%x: i8) kernel {
    // CHECK: llvm.bitcast %{{.*}} : vector<4xi8> to i32
    %f = tile.assemble %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x : i8 -> !tile.fragment<64x32xi8>
    %b = tile.alloc at 0 : <64x32xf8E5M2, swizzle = 32>
    // CHECK: %[[R:.*]] = llvm.extractvalue %{{.*}}[0] : !llvm.struct<(i32, i32, i32, i32)>
    // CHECK-NEXT: %[[UPPER:.*]] = llvm.trunc %[[R]] : i32 to i16
    // CHECK: llvm.store %[[UPPER]], %{{.*}} {alignment = 2 : i64} : i16, !llvm.ptr<3>
    // CHECK: llvm.extractvalue %{{.*}}[3] :
    // CHECK: %[[AGAIN:.*]] = llvm.extractvalue %{{.*}}[0] :
    // CHECK: %[[SHIFTED:.*]] = llvm.lshr %[[AGAIN]], %{{.*}} : i32
    // CHECK-NEXT: %[[LOWER:.*]] = llvm.trunc %[[SHIFTED]] : i32 to i16
    // CHECK: llvm.store %[[LOWER]], %{{.*}} {alignment = 2 : i64} : i16, !llvm.ptr<3>
    tile.store_fragment %f to %b : !tile.fragment<64x32xi8>, !tile.buffer<64x32xf8E5M2, swizzle = 32>
    gpu.return
  }
}
